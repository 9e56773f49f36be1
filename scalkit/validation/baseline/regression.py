"""Did something get slower? A test of its own, setting by setting, beside the one of the growth."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.measure.reduce import Values

Shape = Literal["", "everywhere", "growing", "from", "up to", "at"]

ALARM = 5e-4
"""Probability of a false alarm about one function: below one in a thousand, whatever the number of settings."""

BETWEEN = 0.01
"""What two launches of the same program differ by at least, besides the scatter of their repetitions."""
_ROUNDING = 1e-9  # of exact values, which repeat to the last bit
_SHRINK = 4.0  # repetitions that the scatter of all settings counts for beside those of one setting
_LEAST_GROWING = 4  # settings
_NORMAL_QUARTILES = 1.349  # distance of the quartiles of the normal distribution in standard deviations


@dataclass(frozen=True, eq=False)
class Regression:
    """What two measurements at the same settings differ by.

    `x`, `ratio`, `error` of shape (settings,): value now over value then, and the standard error of its logarithm; `x`
    ascends.
    `z`: standard errors beyond which a difference is none of chance.
    `shape`: ``"everywhere"``, a constant factor; ``"growing"``, a faster growth; ``"from"`` or ``"up to"`` a setting
    on; ``"at"`` one setting; empty for no difference.
    `place`: the setting that `shape` speaks of; the last one otherwise.
    `factor`: value now over value then as the shape has it: on the settings concerned, for a growth over the whole
    range.
    `factor_error`: standard error of its logarithm.
    """

    x: Floats
    ratio: Floats
    error: Floats
    z: float
    shape: Shape
    place: float
    factor: float
    factor_error: float

    @property
    def is_slower(self) -> bool:
        """Whether the values rose."""
        return bool(self.shape) and self.factor > 1

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `factor`."""
        half = 1.96 * self.factor_error
        return self.factor * math.exp(-half), self.factor * math.exp(half)

    @property
    def concerned(self) -> Flags:
        """Which settings `shape` speaks of."""
        there = {"at": self.x == self.place, "from": self.x >= self.place, "up to": self.x <= self.place}
        return np.asarray(there.get(self.shape, self.x == self.x))

    def where(self, parameter: str) -> str:
        """Return the shape in words."""
        at = f"{parameter} = {self.place:g}"
        words = {
            "everywhere": "everywhere, a constant factor",
            "growing": f"from {parameter} = {self.x[0]:g} to {self.x[-1]:g}, and growing",
            "from": f"from {at} on",
            "up to": f"up to {at}",
            "at": f"at {at} only",
        }
        return words.get(self.shape, "")


def errors_of(series: Values, noise: float) -> tuple[float, ...]:
    """Return the relative standard error of each setting's value, from its own repetitions and the scatter of all.

    `noise`: relative standard error of a value, from the repetitions at all settings.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(np.where(series.replicates > 0, series.replicates, np.nan))
    count = np.isfinite(logs).sum(axis=1)
    if logs.shape[1] < 3 or not noise or (count < 1).any():
        return (noise,) * len(count)
    scatter = (np.nanquantile(logs, 0.75, axis=1) - np.nanquantile(logs, 0.25, axis=1)) / _NORMAL_QUARTILES
    pooled = float(np.median(scatter))
    if not pooled > 0:
        return (noise,) * len(count)
    own = np.sqrt((_SHRINK * pooled**2 + (count - 1) * scatter**2) / (_SHRINK + count - 1)) / pooled
    return tuple((noise * np.maximum(own, 1.0) * np.sqrt(np.median(count) / count)).tolist())


def regression(x: Floats, then: Floats, now: Floats, error: Floats, tolerance: float, *, is_exact: bool = False) -> Regression:
    """Return how values changed; a setting counts where it changed by more than `tolerance` and by more than chance.

    Of the shapes that explain the values better than no change does, by the Bayesian information criterion, the best one is
    taken if it is large enough, else the best rise that is. A fall hides no rise at other settings.

    `x`, `then`, `now` (shape (settings,)): settings, ascending, and positive values.
    `error` (shape (settings,)): relative standard error of now over then, 0 for exact values.
    `tolerance`: relative change that is none.
    `is_exact`: whether two launches give the same.
    """
    logs = np.log(now / then)
    error = np.hypot(error, _ROUNDING if is_exact else BETWEEN)
    shapes = sorted(_shapes(np.log(x), logs, error), key=lambda one: one[0])
    z = NormalDist().inv_cdf(1 - ALARM / (2 * len(shapes)))
    shape: Shape = ""
    place, change, change_error = -1, float(logs[-1]), float(error[-1])
    for order, (_, found, at, moved, moved_error) in enumerate(shapes):
        if not found:
            break
        if (moved > 0 or order == 0) and abs(moved) > max(math.log1p(tolerance), z * moved_error):
            shape, place, change, change_error = found, at, moved, moved_error
            break
    if change < 0 and shape:
        behind = (one for one in shapes if _is_rise(one, logs, math.log1p(tolerance), z))
        _, shape, place, change, change_error = next(behind, (0.0, shape, place, change, change_error))
    return Regression(x, np.exp(logs), error, z, shape, float(x[place]), math.exp(change), change_error)


_Found = tuple[float, Shape, int, float, float]
"""Criterion, shape, index of its setting or -1, change of the logarithm, its standard error."""


def _is_rise(one: _Found, logs: Floats, least: float, z: float) -> bool:
    """Return whether a shape is a rise at some settings that a fall at the others hides: each of them rose."""
    _, shape, place, moved, error = one
    there = {"at": logs[place : place + 1], "from": logs[place:], "up to": logs[: place + 1]}.get(shape)
    return there is not None and bool(there.min() > least) and moved > max(least, z * error)


def _shapes(at: Floats, logs: Floats, error: Floats) -> Iterator[_Found]:
    """Yield every shape of a change with its criterion."""
    n, price = len(logs), math.log(max(len(logs), 2))
    yield float(((logs / error) ** 2).sum()), "", -1, 0.0, 1.0
    everything = np.ones(n, dtype=bool)
    for shape, place, there in [("everywhere", -1, everything), *_parts(n)]:
        w = there / error**2
        mean = float((w * logs).sum() / w.sum())
        rest = float((((logs - mean * there) / error) ** 2).sum())
        cost = price * (1 if place < 0 else 2)
        yield rest + cost, shape, place, mean, float(1 / math.sqrt(w.sum()))
    if n >= _LEAST_GROWING:
        w = 1 / error**2
        middle = float((w * at).sum() / w.sum())
        mean = float((w * logs).sum() / w.sum())
        spread = float((w * (at - middle) ** 2).sum())
        slope = float((w * (at - middle) * logs).sum() / spread)
        rest = float((((logs - mean - slope * (at - middle)) / error) ** 2).sum())
        extent = float(at[-1] - at[0])
        yield rest + 2 * price, "growing", -1, slope * extent, extent / math.sqrt(spread)


def part_shapes(x: Floats) -> Iterator[tuple[Floats, bool]]:
    """Yield what each shape of a change does to the logarithm at the settings, and whether it has a place or a slope."""
    yield np.ones(len(x)), False
    yield from ((there.astype(np.float64), True) for _, _, there in _parts(len(x)))
    if len(x) >= _LEAST_GROWING:
        at = np.log(x)
        yield (at - at[0]) / (at[-1] - at[0]), True


def _parts(n: int) -> list[tuple[Shape, int, Flags]]:
    k = np.arange(n)
    found: list[tuple[Shape, int, Flags]] = [("at", i, k == i) for i in range(n)]
    found += [("from", i, k >= i) for i in range(1, n - 1)]
    return found + [("up to", i, k <= i) for i in range(1, n - 1)]
