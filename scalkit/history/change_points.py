"""Where the values of a series of commits change, setting by setting: binary segmentation over shapes of changes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scalkit.arrays import Floats
from scalkit.fit.pure_error import standard_error
from scalkit.measure import Series
from scalkit.validation.baseline.regression import BETWEEN, Regression, errors_of, part_shapes, regression

_LEAST_SCATTER = 6  # commits whose own scatter says more than their repetitions
_NORMAL_MEDIAN = 1.4826 / math.sqrt(2)  # from the median difference of neighbours to a standard deviation
_SURE_OF_PLACE = 0.95
_COMMON = 2.0  # so much more than expected must all settings of a commit move together to count
_MOVES_TOGETHER = ("everywhere", "from", "up to", "growing")


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """Finds change points in logarithms of shape (commits, settings)."""

    logs: Floats
    points: Floats
    parameters: tuple[str, ...]
    error: Floats
    """Of a value of one commit, of shape (settings,)."""
    common: float
    """What moves all settings of a commit together."""
    tolerance: float
    is_exact: bool

    @classmethod
    def of(cls, each: Sequence[Series], x: Floats, statistic: str, tolerance: float) -> "ChangePoints":
        """Return what finds change points in the values of commits at the same settings."""
        y = np.stack([one.y for one in each])
        least = y[y > 0].min() if (y > 0).any() else 1.0
        logs = np.log(np.where(y > 0, y, 0.5 * least))
        is_exact = each[0].exact or each[0].virtual
        if is_exact:
            return cls(logs, x[:, None], each[0].parameters, np.full(len(x), 1e-9), 0.0, tolerance, True)
        error = np.median([errors_of(one, standard_error(one, statistic)) for one in each], axis=0)
        common = 0.0
        if len(each) >= _LEAST_SCATTER:
            error = np.maximum(error, _NORMAL_MEDIAN * float(np.median(np.abs(np.diff(logs, axis=0)))))
            together = _NORMAL_MEDIAN * float(np.median(np.abs(np.diff(logs.mean(axis=1)))))
            expected = float((error**2).mean()) / len(x)
            common = math.sqrt(together**2 - expected) if together**2 > _COMMON * expected else 0.0
        return cls(logs, x[:, None], each[0].parameters, np.asarray(error), common, tolerance, False)

    def means(self, first: int, end: int) -> Floats:
        """Return the values of some commits together."""
        return np.asarray(np.exp(self.logs[first:end].mean(axis=0)))

    def cuts(self) -> list[tuple[int, Regression]]:
        """Return the first commit after each change, ascending, with the change between the segments beside it."""
        places = sorted(self._between(0, len(self.logs)))
        for _ in range(2):  # with its neighbours known, a place may move, or be none
            ends = [0, *places, len(self.logs)]
            moved = [self._best(a, b) for a, b in zip(ends[:-2], ends[2:], strict=True)]
            places = sorted({place for place in moved if place})
        ends = [0, *places, len(self.logs)]
        found = [(b, self.change((a, b), (b, c))) for a, b, c in zip(ends[:-2], ends[1:-1], ends[2:], strict=True)]
        return [(place, change) for place, change in found if change is not None]

    def change(self, before: tuple[int, int], after: tuple[int, int]) -> Regression | None:
        """Return the change between two groups of commits; None for none."""
        weight = 1 / (before[1] - before[0]) + 1 / (after[1] - after[0])
        then, now = self.means(*before), self.means(*after)
        error = self.error * math.sqrt(weight)
        found = regression(self.points, self.parameters, then, now, error, self.tolerance, is_exact=self.is_exact)
        if not found.shape:
            return None
        shared = self.common * math.sqrt(weight) if found.shape in _MOVES_TOGETHER else 0.0
        whole = math.hypot(found.factor_error, shared)
        return replace(found, factor_error=whole) if abs(math.log(found.factor)) > found.z * whole else None

    def range_of(self, first: int, place: int, end: int) -> tuple[int, int]:
        """Return the earliest and the latest commit at which a change may be, with 95 %."""
        gains = self._gains(first, end)
        weights = np.exp((gains - gains.max()) / 2)
        order = np.argsort(-weights)
        kept = order[: int(np.searchsorted(np.cumsum(weights[order]) / weights.sum(), _SURE_OF_PLACE)) + 1]
        found = first + 1 + kept
        return min(int(found.min()), place), max(int(found.max()), place)

    def _between(self, first: int, end: int) -> Iterator[int]:
        if place := self._best(first, end):
            yield place
            yield from self._between(first, place)
            yield from self._between(place, end)

    def _best(self, first: int, end: int) -> int:
        """Return the best place of a change between commits; 0 if there is none."""
        if end - first < 2:
            return 0
        place = first + 1 + int(np.argmax(self._gains(first, end)))
        return place if self.change((first, place), (place, end)) is not None else 0

    def _gains(self, first: int, end: int) -> Floats:
        """Return how much better each place explains the values than none, less the price of what it says."""
        logs = self.logs[first:end]
        n = np.arange(1, len(logs))
        below = np.cumsum(logs, axis=0)
        total = below[-1]
        step = (total - below[:-1]) / (len(logs) - n)[:, None] - below[:-1] / n[:, None]
        variance = self.error**2 + (0.0 if self.is_exact else BETWEEN**2)
        weight = 1 / variance
        scale, price, found = n * (len(logs) - n) / len(logs), math.log(max(len(self.points), 2)), []
        for shape, is_placed in part_shapes(self.points):
            norm = float((weight * shape**2).sum())
            along = step @ (weight * shape) / math.sqrt(norm)
            spread = 1 + self.common**2 * float((weight * shape).sum()) ** 2 / norm
            found.append(along**2 / spread * scale - (1 + is_placed) * price)
        return np.asarray(np.stack(found).max(axis=0))
