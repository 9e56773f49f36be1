"""Fits latency and bandwidth to times of messages, with the sizes where the protocol switches found by exact change points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.perfmodels.fits.affine import LEVEL, Affine, fit_affine, relative_squares
from scalkit.perfmodels.formulas.quantities import Range, format_value, seconds_in, values_in
from scalkit.perfmodels.models.point_to_point import PointToPoint, Protocol
from scalkit.stats.cuts import MIN_SETTINGS, best_cuts
from scalkit.stats.pure_error import Noise, pure_error
from scalkit.support.arguments import require_positive
from scalkit.support.arrays import Floats

_TICKS = (Growth.of("S", power=1),)
_MOST_SIZES = 200
"""The exact change points take time with the square of the number of sizes."""

_FAR = 2.5
"""In standard deviations: of normal values one in 80 is further away."""

_SPIKE = 3.5
"""The same for a spike, which does not count at all: of normal values one in 2,000."""

_LEAST_S, _MOST_S = 1e-18, 1e12
STATISTICS = {"median": 0.5, "q1": 0.25, "min": 0.0}
"""Quantiles of the repetitions that make one time."""


@dataclass(frozen=True)
class FittedProtocol:
    """One range of sizes with its latency and time per byte.

    `first`, `last` in B: sizes that were measured, both included.
    `fit`: its ``constant`` is the latency in s, its ``slope`` the time per byte in s/B, both with intervals.
    """

    first: float
    last: float
    n_sizes: int
    fit: Affine

    @property
    def bandwidth(self) -> float:
        """Bytes per second for very large messages; infinite where no time per byte was found."""
        return 1 / self.fit.slope if self.fit.slope > 0 else math.inf


@dataclass(frozen=True)
class Switch:
    """The protocol switches above `after` and no later than `before`, which are neighbouring sizes in B.

    `interval`: where the switch lies with a probability of 90 %, the other switches staying where they
    are.
    `step`: time of the larger protocol over that of the smaller one, both at `before`.
    """

    after: float
    before: float
    interval: tuple[float, float]
    step: float


@dataclass(frozen=True, repr=False)
class MessageFit:
    """What `fit_messages` returns.

    Attributes
    ----------
    protocols : tuple of FittedProtocol
        Ascending in size.
    switches : tuple of Switch
    sizes, times : tuple of float, in B and s
        What was fitted: one time a size.
    noise : float
        Relative standard error of a time that was fitted.
    probability : float
        Of a switch, against one protocol for all sizes.
    """

    protocols: tuple[FittedProtocol, ...]
    switches: tuple[Switch, ...]
    sizes: tuple[float, ...]
    times: tuple[float, ...]
    noise: float
    probability: float

    def __call__(self, S: ArrayLike) -> Floats:
        """Return the fitted time at sizes in B, in s; the outer protocols continue beyond the data."""
        at = values_in(S, "S")
        which = np.searchsorted([one.after for one in self.switches], at)
        return np.asarray(np.choose(which, [one.fit(at) for one in self.protocols]))

    @property
    def residuals(self) -> Floats:
        """Time over fit minus one, at each size."""
        return np.asarray(np.array(self.times) / self(np.array(self.sizes)) - 1)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know: bounded fits, or that no switch was found."""
        found = [] if self.switches else ["No protocol switch is visible: one latency and bandwidth explain all sizes."]
        for one in self.protocols:
            for name in one.fit.bounded:
                what = "latency" if name == "constant" else "time per byte"
                sizes = f"{format_value(one.first, 'B')} to {format_value(one.last, 'B')}"
                found.append(f"The {what} for S = {sizes} came out negative without a bound; it is held at zero.")
        return tuple(found)

    def point_to_point(self, *, beyond: bool = False, name: str = "") -> PointToPoint:
        """Return the model of a message, from 0 B to the largest size measured.

        `beyond`: whether it may be used for larger messages, too.
        `name`: see `PointToPoint`.
        """
        ends = [0.0, *(one.after for one in self.switches), math.inf if beyond else self.sizes[-1]]
        protocols = [
            Protocol(Range(low, high, open_low=k > 0), one.fit.constant, one.fit.slope)
            for k, ((low, high), one) in enumerate(zip(pairwise(ends), self.protocols, strict=True))
        ]
        source = f"fitted to {len(self.sizes)} sizes"
        return PointToPoint.of_protocols(protocols, name=name or "fitted point-to-point", source=source)

    def __str__(self) -> str:
        return "; ".join(
            f"{format_value(one.first, 'B')} to {format_value(one.last, 'B')}: {format_value(one.fit.constant, 's')} + "
            f"{format_value(one.fit.slope, 's/B')} * S"
            for one in self.protocols
        )

    def __repr__(self) -> str:
        return f"MessageFit({self})"


def fit_messages(
    sizes: ArrayLike, times: ArrayLike, *, statistic: str = "median", max_protocols: int | None = None, scatter: bool = False
) -> MessageFit:
    """Return latency and bandwidth of each protocol, and the sizes where the protocol switches.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
        Each once.
    times : array_like of shape (sizes,) or (sizes, repetitions), in s
        Positive; NaN where a repetition is missing.
    statistic : {"median", "q1", "min"}
        What makes one time of the repetitions.
    max_protocols : int, optional
        As many as there is room for by default; each has at least three sizes.
    scatter : bool
        Whether each size may be off by up to 16 % more than its repetitions tell, as on real machines, where alignment and copy
        loops differ from size to size: small steps do not count as switches then.

    Raises
    ------
    DataError
        If there are fewer than three sizes, sizes repeat, or a time is not positive.
    UsageError
        If an option makes no sense.

    Notes
    -----
    The noise is that between repetitions, of which those beyond 2.5 standard deviations, by the median deviation, are moved
    there. The cuts are exact: `scalkit.stats.cuts.best_cuts` over segments of a constant plus a term in S, weighted by relative
    errors.

    References
    ----------
    Bellman 1961; Zhang, Siegmund 2007 (docs/references.md).
    """
    if statistic not in tuple(STATISTICS):
        raise UsageError(f"the statistic is {statistic!r:.40}; choose one of {', '.join(STATISTICS)}.")
    if max_protocols is not None:
        require_positive(max_protocols, "max_protocols", whole=True)
    at, table = checked_times(sizes, times)
    values = np.asarray(np.nanquantile(_far_left_out(table), STATISTICS[statistic], axis=-1))
    error = replace(pure_error(_without_spikes(table), statistic), is_all=not scatter)
    cuts = best_cuts(at, values[None], _TICKS, [error], max_segments=max_protocols)[0]
    bounds = [0, *(end for end, _ in cuts.pieces)]
    protocols = tuple(
        FittedProtocol(float(at[i]), float(at[j - 1]), j - i, fit_affine(at[i:j], values[i:j], error))
        for i, j in pairwise(bounds)
    )
    return MessageFit(
        protocols,
        tuple(_switch(k, bounds, at, values, protocols, error) for k in range(1, len(bounds) - 1)),
        tuple(at.tolist()),
        tuple(values.tolist()),
        error.error,
        _probability(cuts.bic_several, cuts.bic_single),
    )


def _probability(several: float, single: float) -> float:
    return 1 / (1 + math.exp(min(max(several - single, -1400.0), 1400.0) / 2)) if math.isfinite(several) else 0.0


def _switch(k: int, bounds: Sequence[int], at: Floats, y: Floats, protocols: Sequence[FittedProtocol], error: Noise) -> Switch:
    """Return the switch at the k-th bound; its interval from the likelihood of all places between the neighbouring ones."""
    left, right = protocols[k - 1], protocols[k]
    step = float(right.fit(right.first) / left.fit(right.first))
    first, last = bounds[k - 1], bounds[k + 1]
    others = sum(_rss(at[i:j], y[i:j]) for i, j in pairwise(bounds) if j <= first or i >= last)
    places = np.arange(first + MIN_SETTINGS, last - MIN_SETTINGS + 1)
    rss = np.array([_rss(at[first:j], y[first:j]) + _rss(at[j:last], y[j:last]) for j in places])
    misfit = error.misfit(rss + others, len(at))
    shares = np.cumsum(np.exp(-(misfit - misfit.min()) / 2))
    low, high = np.searchsorted(shares / shares[-1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Switch(left.last, right.first, (float(at[places[low] - 1]), float(at[places[high]])), step)


def _rss(x: Floats, y: Floats) -> float:
    return relative_squares(np.stack([np.ones_like(x), x], axis=1), y)[1] ** 2


def _without_spikes(table: Floats) -> Floats:
    """Return repetitions no further from the median of their size than noise explains: a spike shall not pass for noise."""
    middle = np.nanmedian(table, axis=1, keepdims=True)
    logs = np.log(table / middle)
    far = _FAR * 1.4826 * float(np.nanmedian(np.abs(logs)))
    return np.asarray(middle * np.exp(np.clip(logs, -far, far))) if far > 0 else table


def _far_left_out(table: Floats) -> Floats:
    """Return repetitions with NaN for spikes, which move a quantile as well, though less: those further from the median of their
    size than noise explains, by the median deviation of all sizes or of this one.
    """
    logs = np.abs(np.log(table / np.nanmedian(table, axis=1, keepdims=True)))
    far = _SPIKE * 1.4826 * np.maximum(np.nanmedian(logs), np.nanmedian(logs, axis=1, keepdims=True))
    return np.asarray(np.where((logs <= far) | (far == 0), table, np.nan))


def spread_of(table: Floats) -> float:
    """Return the relative standard error of the median of repetitions, of shape (sizes, repetitions)."""
    return pure_error(_without_spikes(table), "median").error


def checked_times(sizes: ArrayLike, times: ArrayLike) -> tuple[Floats, Floats]:
    """Return sizes, ascending, and a table of times (sizes, repetitions); `fit_messages` says what is refused."""
    at = np.atleast_1d(values_in(sizes, "S"))
    table = seconds_in(times)
    table = table[:, None] if table.ndim == 1 else table
    if at.ndim != 1 or table.ndim != 2 or len(table) != len(at):
        raise DataError(f"there must be a row of times for each size, got shapes {at.shape} and {np.shape(times)}.")
    if not MIN_SETTINGS <= len(at) <= _MOST_SIZES:
        raise DataError(
            f"latency and bandwidth need {MIN_SETTINGS} to {_MOST_SIZES} sizes, got {len(at)}; measure more or thin them out."
        )
    order = np.argsort(at, kind="stable")
    at, table = at[order], table[order]
    if (same := np.flatnonzero(np.diff(at) == 0)).size:
        raise DataError(f"the size {at[same[0]]:g} B occurs twice; put its times into one row.")
    missing = np.isnan(table)
    bad = (~missing & ~((table > _LEAST_S) & (table < _MOST_S))) | missing.all(axis=1, keepdims=True)
    if bad.any():
        k, r = np.argwhere(bad)[0]
        raise DataError(f"a time of S = {at[k]:g} B is {table[k, r]:g}; times are positive and in s. Leave it out.")
    return at, table
