"""Levels in a series of commits, among which single ones may be odd: the cheapest partition."""

import numpy as np

from scalkit.support.arrays import Flags, Floats, Ints

_ALARM = 5e-3
"""Probability of a change in a series without one; `baseline.regression` tests each change again."""
_ODD = 0.8
"""Price of an odd commit over that of a change.

Two odd commits cost less than a change and one back, three cost more.
"""
_SURE = 1.5
"""The same of a commit that may stand alone: more than a change, less than a change and one back."""


def levels(views: Floats, may_stand_alone: Flags) -> list[Ints]:
    """Return the members of each level: commits whose values are the same but for noise.

    A commit belongs to a level or is odd. A partition costs the squared distances of the members
    from the mean of their level, a price for each change from one level to the next, and a price
    for each odd commit. The cheapest one is taken. A level has two members or more, so a single odd
    commit is never a level.

    Parameters
    ----------
    views : array of shape (n_commits, n_views)
        Values of each commit, seen along every kind of change, with noise of standard deviation 1.
        The distance of two commits is the largest one of all views.
    may_stand_alone : array of bool of shape (n_commits,)
        Commits that may be a level of their own.

    Returns
    -------
    list of array of int
        The commits of each level, ascending; those in none are odd. If no two commits agree, one
        level holds all but the last.

    References
    ----------
    The price for an odd commit bounds its influence like the biweight loss of Fearnhead and Rigaill
    2019, "Changepoint detection in the presence of outliers", Journal of the American Statistical
    Association 114. The recursion is that of optimal partitioning, Jackson et al. 2005, "An
    algorithm for optimal partitioning of data on an interval", IEEE Signal Processing Letters 12,
    over the first commit of the last level. A commit joins a level where that costs less than to be
    odd, given the members before it.
    """
    change = _price(*views.shape)
    odd = change * np.where(may_stand_alone, _SURE, _ODD)
    # A commit joins by the members before it, so an odd one among the first may mislead. The other
    # way round it is among the last.
    there, found = _cheapest(views, may_stand_alone, change, odd)
    back, mirrored = _cheapest(views[::-1], may_stand_alone[::-1], change, odd[::-1])
    if back < there:
        found = [len(views) - 1 - members[::-1] for members in reversed(mirrored)]
    return found or [np.arange(max(len(views) - 1, 1))]


def fitting(views: Floats, commits: Ints, members: Ints) -> Ints:
    """Return those of some commits that are not odd where the members of a level are known."""
    distance = ((views[commits] - views[members].mean(axis=0)) ** 2).max(axis=1)
    scale = len(members) / (len(members) + 1)
    return np.asarray(commits[distance * scale < _ODD * _price(*views.shape)])


def _price(n_commits: int, n_views: int) -> float:
    """Return the price of a change, in squared standard deviations.

    Noise seldom saves as much, at any commit and in any view (Bonferroni).
    """
    from scipy.special import chdtri

    return float(chdtri(1, _ALARM / (n_commits * n_views)))


def _cheapest(views: Floats, may_stand_alone: Flags, change: float, odd: Floats) -> tuple[float, list[Ints]]:
    """Return the members of the levels of the cheapest partition; none if no two commits agree.

    For each commit `k` at which the last level may have begun, ``cost[k]`` is that of the cheapest
    partition up to now, and
    ``mean[k]`` and ``count[k]`` are those of the level.
    """
    n, n_views = views.shape
    mean, count, cost = np.zeros((n, n_views)), np.ones(n), np.full(n, np.inf)
    before, is_member = np.full(n, -1), np.eye(n, dtype=bool)
    for k, row in enumerate(views):
        is_level = (count[:k] > 1) | may_stand_alone[:k]
        complete = np.where(is_level, cost[:k], np.inf)
        distance = ((row - mean[:k]) ** 2).max(axis=1) * count[:k] / (count[:k] + 1)
        joins = distance < odd[k]
        cost[:k] += np.where(joins, distance, odd[k])
        count[:k] += joins
        mean[:k] += np.where(joins, 1 / count[:k], 0.0)[:, np.newaxis] * (row - mean[:k])
        is_member[:k, k] = joins
        # A level that begins here follows the cheapest one, or only odd commits.
        mean[k], cost[k] = row, odd[:k].sum()
        if k and complete.min() + change < cost[k]:
            before[k], cost[k] = int(np.argmin(complete)), complete.min() + change
    cost[(count < 2) & ~may_stand_alone] = np.inf
    found: list[Ints] = []
    begin, end = int(np.argmin(cost)) if np.isfinite(cost).any() else -1, n
    while begin >= 0:
        found.insert(0, begin + np.flatnonzero(is_member[begin, begin:end]))
        begin, end = int(before[begin]), begin
    return float(cost.min()), found
