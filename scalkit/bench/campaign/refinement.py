"""Where the next point of a curve belongs: between two neighbours that lines from either side miss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.bench.limits import require_range
from scalkit.errors import UsageError
from scalkit.support.arguments import is_number
from scalkit.support.arrays import Floats, Ints

OVER = ("sizes", "processes")
"""What can be refined."""


_LEAST_POINTS, _MOST_POINTS = 3, 1000
_SURE = 2.0
"""A miss counts beyond so many of its standard errors."""


@dataclass(frozen=True)
class Refinement:
    """The rules of automatic refinement.

    Attributes
    ----------
    over : {"sizes", "processes"}
        The parameter whose range is refined.
    allowed : float
        Relative error, 0.1 for a tenth, that the continued lines may have; beyond it a point is inserted.
    smallest_step : float
        Neighbours are never closer than by this factor.
    max_points : int
        Points in all, those of the first pass included.

    Raises
    ------
    UsageError
        If one is not allowed.
    """

    over: str
    allowed: float = 0.1
    smallest_step: float = 1.05
    max_points: int = 40

    def __post_init__(self) -> None:
        if self.over not in OVER:
            raise UsageError(f"--refine {self.over!r:.40}: choose from {', '.join(OVER)}.")
        if not (is_number(self.allowed) and 0 < self.allowed <= 100):
            raise UsageError(f"allowed {self.allowed}: a number above 0 is needed, such as 0.1 for 10 %.")
        if not (is_number(self.smallest_step) and 1 < self.smallest_step <= 100):
            raise UsageError(f"smallest_step {self.smallest_step}: a factor above 1 is needed, such as 1.05.")
        require_range("max_points", self.max_points, _LEAST_POINTS, _MOST_POINTS)

    def require_points(self, first: Sequence[int]) -> None:
        """Return nothing if the first pass has points between which something can be inserted.

        Raises UsageError if they are fewer than three, or more than are allowed in all.
        """
        what = "--size" if self.over == "sizes" else "-n"
        shown = ",".join(map(str, first))
        if len(first) < _LEAST_POINTS:
            raise UsageError(f"{what} {shown}: refinement of {self.over} needs a first pass of at least {_LEAST_POINTS} of them.")
        if len(first) > self.max_points:
            raise UsageError(
                f"{what} {shown:.60}: the first pass has {len(first)} points, more than max_points {self.max_points}."
            )


def point_budget(budget_s: float | None, rules: Refinement | None, n_sizes: int, n_counts: int) -> float | None:
    """Return the budget, in s, of one folder of the first pass; each point has the same share, of all that may be measured.

    `n_sizes`, `n_counts`: message sizes, each with a folder, and numbers of processes in the first pass.
    """
    if budget_s is None or rules is None:
        return None if budget_s is None else budget_s / n_sizes
    return budget_s / rules.max_points * (1 if rules.over == "sizes" else n_counts / n_sizes)


@dataclass(frozen=True, eq=False)
class Curve:
    """What was measured along the parameter.

    `name`: for people: ``"MPI_Bcast, p = 2"``.
    `x` of shape (points,): ascending, positive.
    `y` of shape (points,): positive.
    `error` of shape (points,): relative standard error of each.
    """

    name: str
    x: Ints
    y: Floats
    error: Floats


@dataclass(frozen=True)
class Insertion:
    """A point that is to be measured.

    `low`, `high`: the neighbours that it lies between.
    `curve`: name of the one that bends most there.
    `miss`: by how much the better one of the two lines misses, as a share of the value, its uncertainty taken off.
    """

    x: int
    low: int
    high: int
    curve: str
    miss: float


def next_point(curves: Sequence[Curve], rules: Refinement, step: int = 1) -> Insertion | None:
    """Return the point that is to be measured next, or None if every curve is known well enough.

    A piece between two neighbours is refined where it bends: where the line through the points before it, continued, misses
    its end, and the line through the points behind it misses its begin, both by more than is allowed. The lines are straight
    in the logarithms. A jump or a corner is missed by both lines of its own piece and by one only of all others, so the search
    closes in on it. The point is the geometric middle of the piece where the smaller of the two misses is largest.

    `step`: points are multiples of it.

    Source: Reussner and Hunzelmann 2001, section 4 (docs/references.md): automatic parameter refinement of a suite.
    """
    allowed = math.log1p(rules.allowed)
    best: Insertion | None = None
    for curve in curves:
        for place, miss in enumerate(_misses(curve)):
            low, high = int(curve.x[place]), int(curve.x[place + 1])
            middle = _between(low, high, rules.smallest_step, step)
            if miss > allowed and middle is not None and (best is None or math.expm1(miss) > best.miss):
                best = Insertion(middle, low, high, curve.name, math.expm1(min(miss, 500.0)))
    return best


def _between(low: int, high: int, smallest: float, step: int) -> int | None:
    """Return the geometric middle of a piece as a multiple of `step`; None if neighbours would come too close."""
    if high < low * smallest**2:
        return None
    middle = step * round(math.sqrt(low * high) / step)
    far = low * smallest * (1 - 1e-9) <= middle <= high / smallest * (1 + 1e-9)
    return middle if low < middle < high and far else None


def _misses(curve: Curve) -> Floats:
    """Return how far lines from both sides miss each piece, in logarithms: the smaller miss less its uncertainty."""
    x, y = np.log(curve.x.astype(np.float64)), np.log(curve.y)
    n = len(x)
    left = np.array([_miss(x, y, curve.error, i, i + 1, range(i - 1, -1, -1)) for i in range(n - 1)])
    right = np.array([_miss(x, y, curve.error, i + 1, i, range(i + 2, n)) for i in range(n - 1)])
    found: Floats = np.fmin(left, right)  # at an end of the range there is one line only
    return np.nan_to_num(found, nan=0.0)


def _miss(x: Floats, y: Floats, error: Floats, near: int, target: int, others: range) -> float:
    """Return how far the line through a point and one of the others behind it misses the target.

    The other is the next one that is at least half as far away as the target, so that noise is not magnified much.
    """
    if not len(others):
        return math.nan
    wide = abs(x[target] - x[near])
    far: Any = next((k for k in others if abs(x[k] - x[near]) >= wide / 2), others[-1])
    share = (x[target] - x[near]) / (x[near] - x[far])
    miss = abs(y[target] - y[near] - share * (y[near] - y[far]))
    spread = math.sqrt(error[target] ** 2 + ((1 + share) * error[near]) ** 2 + (share * error[far]) ** 2)
    return float(max(0.0, miss - _SURE * spread))
