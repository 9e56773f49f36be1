"""Change points in the values of a series of commits: between levels of commits that agree."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from scalkit.history.levels import fitting, levels
from scalkit.judge.baseline import regression as baseline
from scalkit.judge.baseline.regression import BETWEEN, Regression
from scalkit.measure import Series
from scalkit.stats.pure_error import standard_error
from scalkit.support.arrays import Flags, Floats, Ints

STATISTIC: Final = "q1"
"""Stands for the repetitions, then the runs, of a commit: noise only adds."""

_LEAST_SCATTER = 6  # commits whose own scatter says more than their repetitions
_FEW_TOGETHER = 0.02  # twice BETWEEN, because fewer commits do not tell how far they differ
_NORMAL_MEDIAN = 1.4826 / math.sqrt(2)  # from the median difference of neighbours to a deviation
_SURE_OF_PLACE = 0.95
_COMMON = 2.0  # so much more than expected must all settings of a commit move together to count
_MOVES_TOGETHER = ("everywhere", "from", "up to", "growing")
_MOST_EXPLAINED = 0.25  # share of the commits that may be odd or begin a level
_FEW_EXPLAINED = 3  # as many may, however few commits there are
_LEAST_RUNS = 2
_MOST_RUNS = 0.75  # share of the runs above their first quartile, which is the value of a commit


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """The levels of a series of commits, and the changes between them.

    Attributes
    ----------
    logs : array of shape (n_commits, n_settings)
        Logarithms of the values.
    runs : tuple of arrays of shape (n_settings, n_runs)
        Of each commit the logarithms of its runs; NaN where a run has no value.
    points : array of shape (n_settings, 1)
    error : array of shape (n_settings,)
        Standard error of a logarithm of one commit.
    common : float
        Standard deviation of what moves all settings of a commit together.
    """

    logs: Floats
    runs: tuple[Floats, ...]
    points: Floats
    parameters: tuple[str, ...]
    error: Floats
    common: float
    tolerance: float
    is_exact: bool

    @classmethod
    def of(cls, each: Sequence[Series], x: Floats, tolerance: float) -> "ChangePoints":
        """Return the change points of commits that were measured at the same settings."""
        y = np.stack([one.y for one in each])
        least = y[y > 0].min() if (y > 0).any() else 1.0
        logs = np.log(np.where(y > 0, y, 0.5 * least))
        runs = tuple(np.log(np.where(one.values > 0, one.values, np.nan)) for one in each)
        is_exact = each[0].exact or each[0].virtual
        if is_exact:
            error = np.full(len(x), 1e-9)
        else:
            errors = [baseline.errors_of(one, standard_error(one, STATISTIC)) for one in each]
            error = np.asarray(np.median(errors, axis=0))
        points = x[:, np.newaxis]
        found = cls(logs, runs, points, each[0].parameters, error, 0.0, tolerance, is_exact)
        return found if is_exact else found._with_neighbours()._with_members()

    def _with_neighbours(self) -> "ChangePoints":
        """Return the same with an error that is not less than neighbouring commits differ by."""
        if len(self.logs) < _LEAST_SCATTER:
            return self
        differences = np.abs(np.diff(self.logs, axis=0))
        together = np.abs(np.diff(self.logs.mean(axis=1)))
        scatter = _NORMAL_MEDIAN * float(np.median(differences))
        return self._with_scatter(scatter, _NORMAL_MEDIAN * float(np.median(together)))

    def _with_members(self) -> "ChangePoints":
        """Return the same with an error that is not less than the members of a level differ by.

        Where many commits would be odd or begin a level, no levels explain the values: they differ
        by noise, as on a machine that is now fast and now slow.
        """
        found = levels(self._views, self._may_stand_alone)
        n_odd = len(self.logs) - sum(len(members) for members in found)
        if n_odd + len(found) - 1 > max(_MOST_EXPLAINED * len(self.logs), _FEW_EXPLAINED):
            found = [np.arange(len(self.logs))]
        freedom = sum(len(members) - 1 for members in found)
        if not freedom:
            return self
        rest = np.concatenate([self.logs[one] - self.logs[one].mean(axis=0) for one in found])
        scatter = math.sqrt(float((rest**2).sum()) / (freedom * len(self.points)))
        together = math.sqrt(float((rest.mean(axis=1) ** 2).sum()) / freedom)
        return self._with_scatter(scatter, together)

    def _with_scatter(self, scatter: float, together: float) -> "ChangePoints":
        """Return the same of commits that scatter by at least so much.

        Parameters
        ----------
        scatter, together : float
            Standard deviation at one setting, and of the mean of all settings.
        """
        error = np.maximum(self.error, scatter)
        expected = float((error**2).mean()) / len(self.points)
        is_common = together**2 > _COMMON * expected
        common = math.sqrt(together**2 - expected) if is_common else 0.0
        return replace(self, error=error, common=max(self.common, common))

    def means(self, members: Ints) -> Floats:
        """Return the values of some commits together."""
        return np.asarray(np.exp(self.logs[members].mean(axis=0)))

    def n_runs(self, commit: int) -> int:
        """Return the number of runs in which a commit was measured."""
        return len(self._runs(commit))

    def levels(self) -> list[Ints]:
        """Return the members of each level, such that the values change from each to the next.

        Levels that differ by less than the tolerance or by no more than chance are joined, the
        most alike first.
        """
        found = levels(self._views, self._may_stand_alone)
        between = [self._between(*pair) for pair in pairwise(found)]
        while alike := [k for k, (change, _) in enumerate(between) if change is None]:
            k = min(alike, key=lambda k: between[k][1])
            found[k : k + 2] = [self._joined(found[k], found[k + 1])]
            first = max(k - 1, 0)
            pairs = pairwise(found[first : k + 2])
            between[first : k + 2] = [self._between(*pair) for pair in pairs]
        return found

    def change(self, before: Ints, after: Ints) -> Regression | None:
        """Return the change between two levels.

        None if they do not differ, or if one of them is a commit alone whose runs do not agree.
        """
        found = self.difference(before, after)
        if found is None or self.is_exact:
            return found
        sides = ((before, after), (after, before))
        alone = [(int(one[0]), others) for one, others in sides if len(one) == 1]
        do_agree = all(self._runs_agree(commit, others, found) for commit, others in alone)
        return found if do_agree else None

    def difference(self, before: Ints, after: Ints) -> Regression | None:
        """Return the difference between two groups of commits; None for tolerance or chance."""
        weight = 1 / len(before) + 1 / len(after)
        found = baseline.regression(
            self.points,
            self.parameters,
            self.means(before),
            self.means(after),
            self.error * math.sqrt(weight),
            self.tolerance,
            is_exact=self.is_exact,
        )
        if not found.shape:
            return None
        shared = self.common * math.sqrt(weight) if found.shape in _MOVES_TOGETHER else 0.0
        whole = math.hypot(found.factor_error, shared)
        is_sure = abs(math.log(found.factor)) > found.z * whole
        return replace(found, factor_error=whole) if is_sure else None

    def range_of(self, before: Ints, after: Ints) -> tuple[int, int]:
        """Return the earliest and the latest commit of a change between two levels, with 95 %."""
        both = np.concatenate([before, after])
        gains = self._gains(both)
        weights = np.exp((gains - gains.max()) / 2)
        order = np.argsort(-weights)
        sure = np.cumsum(weights[order]) / weights.sum()
        kept = order[: int(np.searchsorted(sure, _SURE_OF_PLACE)) + 1]
        first = min(int(kept.min()), len(before) - 1)
        last = max(int(kept.max()), len(before) - 1)
        # Odd commits in between may be from before or after the change.
        return int(both[first]) + 1, int(both[last + 1])

    @property
    def _may_stand_alone(self) -> Flags:
        """Whether a commit may be a level of its own.

        Exact values may, because they repeat, and those of several runs at either end, because a
        second commit may not be measured yet.
        """
        alone = np.full(len(self.logs), self.is_exact)
        for end in (0, -1):
            alone[end] |= self.n_runs(end) >= _LEAST_RUNS
        return alone

    @cached_property
    def _precision(self) -> Floats:
        """The inverse of the covariance of the logarithms of one commit.

        Of shape (settings, settings). Two launches differ by BETWEEN at each setting, and by as
        much at all of them together.
        """
        if self.is_exact:
            return np.asarray(np.diag(1 / self.error**2))
        least = BETWEEN if len(self.logs) >= _LEAST_SCATTER else _FEW_TOGETHER
        covariance = np.diag(self.error**2 + BETWEEN**2) + max(self.common, least) ** 2
        return np.asarray(np.linalg.inv(covariance))

    @cached_property
    def _views(self) -> Floats:
        """The logarithms along every shape of a change, of shape (commits, shapes).

        Their noise has a standard deviation of 1.
        """
        shapes = np.stack(baseline.shapes(self.points), axis=1)
        weights = self._precision @ shapes
        return np.asarray(self.logs @ weights / np.sqrt((shapes * weights).sum(axis=0)))

    def _runs_agree(self, commit: int, others: Ints, change: Regression) -> bool:
        """Return whether the runs of a commit alone show its change from others.

        Two of them or more do, and three of four, by values that are nearer to that of the commit
        than to that of the others.
        """
        other = self.logs[others].mean(axis=0)
        step = np.where(change.concerned, self.logs[commit] - other, 0.0)
        runs = self._runs(commit)
        there = np.isfinite(runs)
        along = np.where(there, (runs - other) * step, 0.0).sum(axis=1)
        is_near = along > 0.5 * (there * step**2).sum(axis=1)
        return bool(is_near.sum() >= max(_LEAST_RUNS, _MOST_RUNS * len(runs)))

    def _runs(self, commit: int) -> Floats:
        """Return the logarithms of a commit's runs that have a value, of shape (runs, settings)."""
        runs = self.runs[commit].T
        return runs[np.isfinite(runs).any(axis=1)]

    def _joined(self, before: Ints, after: Ints) -> Ints:
        """Return two levels as one.

        Where they differ, but not surely, only those of the smaller one that fit are in it.
        """
        if self.difference(before, after) is None:
            return np.concatenate([before, after])
        more, fewer = (before, after) if len(before) >= len(after) else (after, before)
        return np.sort(np.concatenate([more, fitting(self._views, fewer, more)]))

    def _between(self, before: Ints, after: Ints) -> tuple[Regression | None, float]:
        """Return the change between two levels, and their distance in squared standard errors."""
        step = self._views[after].mean(axis=0) - self._views[before].mean(axis=0)
        scale = len(before) * len(after) / (len(before) + len(after))
        return self.change(before, after), float((step**2).max()) * scale

    def _gains(self, members: Ints) -> Floats:
        """Return the gain of a change before each member but the first over none."""
        views = self._views[members]
        n = np.arange(1, len(views))[:, np.newaxis]
        below = np.cumsum(views, axis=0)
        step = (below[-1] - below[:-1]) / (len(views) - n) - below[:-1] / n
        return np.asarray((step**2 * n * (len(views) - n) / len(views)).max(axis=1))
