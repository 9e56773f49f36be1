"""Effective bisection bandwidth: what each process gets while all exchange messages in random pairs, and how it decays."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.perfmodels.fits.affine import LEVEL
from scalkit.perfmodels.formulas.quantities import Range, seconds_in, values_in
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.support.arrays import Floats

_DRAWS = 1999
"""With these the ends of a 90 % interval are those of the 100th and the 1,900th drawn value."""


@dataclass(frozen=True)
class BisectionFit:
    """Effective bisection bandwidth for each number of processes, and its decay ``b * P^-a``.

    Attributes
    ----------
    size : float, in B
        Of the messages.
    processes : tuple of int
        Ascending.
    effective, low, high : tuple of float, in B/s
        Mean over rounds and processes, with intervals from rounds drawn again.
    decay, decay_interval : float, (float, float)
        a; NaN with fewer than two numbers of processes.
    scale : float, in B/s
        b.
    """

    size: float
    processes: tuple[int, ...]
    effective: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    decay: float
    decay_interval: tuple[float, float]
    scale: float

    def model(self) -> ExactModel:
        """Return the average time of S bytes while all processes exchange them in random pairs: ``S*P^a/b``, without latency.

        Raises DataError if there is only one number of processes.
        """
        if not math.isfinite(self.decay):
            raise DataError("the decay of the bisection is not known; measure it with two numbers of processes or more.")
        ends = Range(float(self.processes[0]), float(self.processes[-1]))
        constants = {"b": f"{self.scale!r} B/s", "a": self.decay}
        return ExactModel("S*P^a/b", constants, {"P": ends}, "bisection", "effective bisection bandwidth")


def fit_bisection(size: float, times: Mapping[int, ArrayLike]) -> BisectionFit:
    """Return the effective bisection bandwidth for each number of processes, and its decay.

    Parameters
    ----------
    size : float, in B
        Of each message, positive.
    times : mapping from number of processes to array_like of shape (rounds, processes), in s
        Time of an exchange with the partner of a round, both ways at once.

    Raises
    ------
    DataError
        If there are no times, fewer than three rounds, the size or a time is not positive.

    References
    ----------
    Hoefler, Schneider, Lumsdaine 2008: Multistage switches are not crossbars (docs/references.md).
    """
    if not isinstance(times, Mapping) or not all(isinstance(p, int | np.integer) for p in times):
        raise DataError(f"the times are {str(times)[:40]!r}; give a table for each number of processes, {{2: table, ...}}.")
    size = float(values_in(size, "S"))
    if not times or not size > 0:
        raise DataError(f"the bisection needs messages of a positive size and times, got {size:g} B and {len(times)} tables.")
    rng = np.random.default_rng(1)
    processes = tuple(sorted(times))
    means, drawn = [], []
    for p in processes:
        one = seconds_in(times[p], f"times of {p} processes")
        if one.ndim != 2 or one.shape[0] < 3 or one.shape[1] != p or not (one > 0).all():
            raise DataError(
                f"the times of {p} processes must be positive, of at least 3 rounds times {p}, got the shape {one.shape}."
            )
        rounds = (size / one).mean(axis=1)
        means.append(float(rounds.mean()))
        drawn.append(rounds[rng.integers(len(rounds), size=(_DRAWS, len(rounds)))].mean(axis=1))
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(np.array(drawn), ends, axis=1)
    decay, interval, scale = math.nan, (math.nan, math.nan), means[0]
    if len(processes) > 1:
        logs = np.log(np.array(processes, dtype=np.float64))
        decay, scale = _power(logs, np.log(means))
        slopes = [_power(logs, row)[0] for row in np.log(np.array(drawn)).T]
        interval = (float(np.quantile(slopes, ends[0])), float(np.quantile(slopes, ends[1])))
    low_ends, high_ends = tuple(low.tolist()), tuple(high.tolist())
    return BisectionFit(size, processes, tuple(means), low_ends, high_ends, decay, interval, scale)


def _power(logs: Floats, values: Floats) -> tuple[float, float]:
    """Return a and b of ``b * P^-a`` from logarithms."""
    slope, constant = np.polyfit(logs, values, 1)
    return -float(slope), math.exp(float(constant))
