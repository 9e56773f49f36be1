"""Effective bisection bandwidth: what each process gets while all exchange messages in random pairs, and how it decays."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.markup import block, paragraph, table
from scalkit.perfmodels.formulas.quantities import Range, format_value, level_in, seconds_in, values_in
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.text import as_percent

_DRAWS = 1999
"""With these the ends of a 90 % interval are those of the 100th and the 1,900th drawn value."""


@dataclass(frozen=True, repr=False)
class BisectionFit:
    """What `fit_bisection` returns.

    Attributes
    ----------
    size : float, in B
        Of the messages.
    processes : tuple of int
        Ascending.
    bandwidths : tuple of ndarray of shape (rounds, processes), in B/s
        What each process got in each random matching.
    effective, low, high : tuple of float, in B/s
        Mean over rounds and processes, with intervals from rounds drawn again.
    decay, decay_interval : float, (float, float)
        a in ``b * P^-a``; NaN with fewer than two numbers of processes.
    scale : float, in B/s
        b.
    peak : float, in B/s
        Of one message alone; NaN if it is not known.
    level : float
    """

    size: float
    processes: tuple[int, ...]
    bandwidths: tuple[Floats, ...]
    effective: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    decay: float
    decay_interval: tuple[float, float]
    scale: float
    peak: float
    level: float

    def model(self) -> ExactModel:
        """Return the average time of S bytes while all processes exchange them in random pairs: ``S*P^a/b``, without latency.

        Raises DataError if there is only one number of processes.
        """
        if not math.isfinite(self.decay):
            raise DataError("the decay of the bisection is not known; measure it with two numbers of processes or more.")
        ends = Range(float(self.processes[0]), float(self.processes[-1]))
        constants = {"b": f"{self.scale!r} B/s", "a": self.decay}
        return ExactModel("S*P^a/b", constants, {"P": ends}, "bisection", "effective bisection bandwidth")

    def histogram(self, k: int, bins: int = 20) -> tuple[Floats, Floats]:
        """Return counts and edges, in B/s, of all bandwidths with the k-th number of processes."""
        counts, edges = np.histogram(self.bandwidths[k], bins=bins)
        return np.asarray(counts, dtype=np.float64), np.asarray(edges)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return a row of texts for each number of processes: it, bandwidth, interval, share of the peak."""
        return [
            (
                str(p),
                format_value(mean, "B/s"),
                f"{format_value(low, 'B/s')} to {format_value(high, 'B/s')}",
                as_percent(mean / self.peak) if math.isfinite(self.peak) else "-",
            )
            for p, mean, low, high in zip(self.processes, self.effective, self.low, self.high, strict=True)
        ]

    def __str__(self) -> str:
        if not math.isfinite(self.decay):
            return f"{self.rows()[0][1]} with {self.processes[0]} processes"
        low, high = self.decay_interval
        return f"{format_value(self.scale, 'B/s')} * P^{-self.decay:.2f} (exponent {-high:.2f} to {-low:.2f})"

    def __repr__(self) -> str:
        return f"BisectionFit({self})"

    def _repr_html_(self) -> str:
        head = ("processes", "effective bisection bandwidth", f"interval of {as_percent(self.level, 'g')}", "of the peak")
        text = f"Messages of {format_value(self.size, 'B')} both ways at once; {self}."
        return block(table(head, self.rows()), paragraph(text))


def fit_bisection(
    size: float, times: Mapping[int, ArrayLike], *, per_byte: float = math.nan, level: float = 0.9, seed: int = 1
) -> BisectionFit:
    """Return the effective bisection bandwidth for each number of processes, and its decay.

    Parameters
    ----------
    size : float, in B
        Of each message, positive.
    times : mapping from number of processes to array_like of shape (rounds, processes), in s
        Time of an exchange with the partner of a round, both ways at once.
    per_byte : float, in s/B
        Of one message alone, G; its inverse is the peak.
    level : float
        Of the intervals.
    seed : int
        Of the draws.

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
    size, level = float(values_in(size, "S")), level_in(level)
    if not times or not size > 0:
        raise DataError(f"the bisection needs messages of a positive size and times, got {size:g} B and {len(times)} tables.")
    rng = np.random.default_rng(seed)
    processes = tuple(sorted(times))
    tables, drawn = [], []
    for p in processes:
        one = seconds_in(times[p], f"times of {p} processes")
        if one.ndim != 2 or one.shape[0] < 3 or one.shape[1] != p or not (one > 0).all():
            raise DataError(
                f"the times of {p} processes must be positive, of at least 3 rounds times {p}, got the shape {one.shape}."
            )
        tables.append(size / one)
        rounds = tables[-1].mean(axis=1)
        drawn.append(rounds[rng.integers(len(rounds), size=(_DRAWS, len(rounds)))].mean(axis=1))
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(np.array(drawn), ends, axis=1)
    means = np.array([one.mean() for one in tables])
    decay, interval, scale = math.nan, (math.nan, math.nan), float(means[0])
    if len(processes) > 1:
        logs = np.log(np.array(processes, dtype=np.float64))
        decay, scale = _power(logs, np.log(means))
        slopes = [_power(logs, row)[0] for row in np.log(np.array(drawn)).T]
        interval = (float(np.quantile(slopes, ends[0])), float(np.quantile(slopes, ends[1])))
    return BisectionFit(
        *(float(size), processes, tuple(tables), tuple(means.tolist()), tuple(low.tolist()), tuple(high.tolist())),
        decay=decay,
        decay_interval=interval,
        scale=scale,
        peak=1 / per_byte if per_byte > 0 else math.nan,
        level=level,
    )


def _power(logs: Floats, values: Floats) -> tuple[float, float]:
    """Return a and b of ``b * P^-a`` from logarithms."""
    slope, constant = np.polyfit(logs, values, 1)
    return -float(slope), math.exp(float(constant))
