"""Did something get slower? A test of its own, point by point, beside the one of the growth."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from scalkit.measure.reduce import Values
from scalkit.support.arrays import Flags, Floats

Shape = Literal["", "everywhere", "growing", "from", "up to", "at"]

ALARM = 5e-4
"""Probability of a false alarm about one function: below one in a thousand, whatever the number of points."""

BETWEEN = 0.01
"""What two launches of the same program differ by at least, besides the scatter of their repetitions."""
_ROUNDING = 1e-9  # of exact values, which repeat to the last bit
_SHRINK = 4.0  # repetitions that the scatter of all settings counts for beside those of one setting
_LEAST_GROWING = 4  # values of the parameter
_NORMAL_QUARTILES = 1.349  # distance of the quartiles of the normal distribution in standard deviations


@dataclass(frozen=True, eq=False)
class Regression:
    """What two measurements at the same points differ by, over one parameter or several.

    `points` (shape (points, parameters)): ascending.
    `parameters`: names, in the order of the columns of the points.
    `ratio`, `error` (shape (points,)): value now over value then, and the standard error of its logarithm.
    `z`: standard errors beyond which a difference is none of chance.
    `shape`: ``"everywhere"``, a constant factor; ``"growing"``, a faster growth along a parameter; ``"from"`` or ``"up to"``
    a value of a parameter; ``"at"`` one point, or one value of a parameter; empty for no difference.
    `at`: the values that `shape` speaks of, by parameter; for a growth the largest value of its parameter, the last point
    otherwise.
    `factor`: value now over value then as the shape has it: on the points concerned, for a growth over the whole range.
    `factor_error`: standard error of its logarithm.
    """

    points: Floats
    parameters: tuple[str, ...]
    ratio: Floats
    error: Floats
    z: float
    shape: Shape
    at: Mapping[str, float]
    factor: float
    factor_error: float

    @property
    def place(self) -> float:
        """The value of the first parameter that `shape` speaks of; the only one if the points are along one."""
        return next(iter(self.at.values()))

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
        """The points that `shape` speaks of."""
        compare = {"at": np.equal, "from": np.greater_equal, "up to": np.less_equal}.get(self.shape)
        found = np.ones(len(self.points), dtype=bool)
        if compare is not None:
            for name, value in self.at.items():
                found &= compare(self.points[:, self.parameters.index(name)], value)
        return found

    @property
    def where(self) -> str:
        """The shape in words."""
        if self.shape == "growing":
            (name,) = self.at
            column = self.points[:, self.parameters.index(name)]
            return f"from {name} = {column.min():g} to {column.max():g}, and growing"
        at = named_values(self.at)
        words = {
            "everywhere": "everywhere, a constant factor",
            "from": f"from {at} on",
            "up to": f"up to {at}",
            "at": f"at {at} only",
        }
        return words.get(self.shape, "")


def named_values(at: Mapping[str, float]) -> str:
    """Return a point in words: ``p = 64, S = 1024``."""
    return ", ".join(f"{name} = {value:g}" for name, value in at.items())


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


def regression(
    points: Floats,
    parameters: Sequence[str],
    then: Floats,
    now: Floats,
    error: Floats,
    tolerance: float,
    *,
    is_exact: bool = False,
) -> Regression:
    """Return how values changed; a point counts where it changed by more than `tolerance` and by more than chance.

    Of the shapes that explain the values better than no change does, by the Bayesian information criterion, the best one is
    taken if it is large enough, else the best rise that is. A fall hides no rise at other points.

    `points` (shape (points, parameters)): ascending, none twice; of one parameter or several.
    `then`, `now` (shape (points,)): positive values.
    `error` (shape (points,)): relative standard error of now over then, 0 for exact values.
    `tolerance`: relative change that is none.
    `is_exact`: whether two launches give the same.
    """
    logs = np.log(now / then)
    error = np.hypot(error, _ROUNDING if is_exact else BETWEEN)
    candidates = sorted(_candidates(points, logs, error), key=lambda one: one.criterion)
    z = NormalDist().inv_cdf(1 - ALARM / (2 * len(candidates)))
    least = math.log1p(tolerance)
    chosen = _best(candidates, least, z)
    if chosen is not None and chosen.change < 0:
        chosen = next((one for one in candidates if _is_rise(one, logs, least, z)), chosen)
    last = dict(zip(parameters, points[-1].tolist(), strict=True))
    if chosen is None:
        return Regression(points, tuple(parameters), np.exp(logs), error, z, "", last, math.exp(logs[-1]), float(error[-1]))
    at = {parameters[column]: value for column, value in chosen.part.at} or last
    change, change_error = math.exp(chosen.change), chosen.error
    return Regression(points, tuple(parameters), np.exp(logs), error, z, chosen.part.shape, at, change, change_error)


@dataclass(frozen=True)
class _Part:
    """Shape of a change.

    `at`: columns of the points and values that it speaks of.
    `effect` (shape (points,)): what a change by 1 does to the logarithm at each point.
    """

    shape: Shape
    at: tuple[tuple[int, float], ...]
    effect: Floats


@dataclass(frozen=True)
class _Candidate:
    """Fit of a shape: its criterion, the change of the logarithm, and the standard error of that."""

    part: _Part
    criterion: float
    change: float
    error: float


def _best(candidates: Sequence[_Candidate], least: float, z: float) -> _Candidate | None:
    """Return the best candidate if it is large enough, else the best rise that is; only what is better than no change."""
    for order, one in enumerate(candidates):
        if not one.part.shape:
            return None
        if (one.change > 0 or order == 0) and abs(one.change) > max(least, z * one.error):
            return one
    return None


def _is_rise(one: _Candidate, logs: Floats, least: float, z: float) -> bool:
    """Return whether a shape is a rise at some points that a fall at the others hides: each of them rose."""
    if one.part.shape not in ("at", "from", "up to"):
        return False
    return bool(logs[one.part.effect > 0].min() > least) and one.change > max(least, z * one.error)


def _candidates(points: Floats, logs: Floats, error: Floats) -> Iterator[_Candidate]:
    """Yield the fit of every shape of a change, and of none."""
    n, price = len(logs), math.log(max(len(logs), 2))
    yield _Candidate(_Part("", (), np.zeros(n)), float(((logs / error) ** 2).sum()), 0.0, 1.0)
    weight = 1 / error**2
    for part in _parts(points):
        if part.shape == "growing":
            middle = float((weight * part.effect).sum() / weight.sum())
            mean = float((weight * logs).sum() / weight.sum())
            along = part.effect - middle
            spread = float((weight * along**2).sum())
            change = float((weight * along * logs).sum() / spread)
            rest = logs - mean - change * along
            precision = spread
        else:
            precision = float((weight * part.effect).sum())
            change = float((weight * part.effect * logs).sum() / precision)
            rest = logs - change * part.effect
        cost = price * (1 if part.shape == "everywhere" else 2)
        yield _Candidate(part, float(((rest / error) ** 2).sum()) + cost, change, 1 / math.sqrt(precision))


def shapes(points: Floats) -> list[Floats]:
    """Return the effect of each shape of a change on the logarithm at the points."""
    return [part.effect for part in _parts(points)]


def _parts(points: Floats) -> Iterator[_Part]:
    """Yield the shapes of a change, of the logarithm at points of shape (points, parameters)."""
    n, n_columns = points.shape
    yield _Part("everywhere", (), np.ones(n))
    for row, point in enumerate(points.tolist()):
        yield _Part("at", tuple(enumerate(point)), (np.arange(n) == row).astype(np.float64))
    shapes: tuple[tuple[Shape, Callable[[Floats, float], Flags]], ...] = (
        ("at", np.equal), ("from", np.greater_equal), ("up to", np.less_equal)
    )  # fmt: skip
    for shape, compare in shapes:
        for column in range(n_columns):
            x = points[:, column]
            for value in np.unique(x).tolist():
                there = compare(x, value)
                # One point, and all of them, are shapes of their own.
                if 1 < there.sum() < n:
                    yield _Part(shape, ((column, value),), there.astype(np.float64))
    for column in range(n_columns):
        at = np.log(points[:, column])
        if len(np.unique(at)) >= _LEAST_GROWING:
            largest = float(points[:, column].max())
            yield _Part("growing", ((column, largest),), (at - at.min()) / (at.max() - at.min()))
