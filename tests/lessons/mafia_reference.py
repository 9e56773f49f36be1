"""MAFIA by brute force: every combination of windows is counted point by point. Slow, and near to the definitions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import ceil

import numpy as np

Window = tuple[int, int, int]
"""Dimension, first bin, end bin."""

Unit = tuple[Window, ...]


@dataclass(frozen=True)
class Rules:
    bins: int = 200
    windows: int = 20
    uniform: int = 5
    alpha: float = 1.5
    beta: float = 0.25


def bins_of(column: np.ndarray, bins: int) -> np.ndarray | None:
    """Return the bin of each value; None if all are equal."""
    least, greatest = column.min(), column.max()
    half = greatest / 2 - least / 2
    if not half > 0:
        return None
    return np.minimum(((column / 2 - least / 2) / half * bins).astype(int), bins - 1)


def windows_of(histogram: np.ndarray, rules: Rules) -> list[tuple[int, int]]:
    """Return the adaptive windows of one dimension as first and end bin."""

    def equal(wanted: int) -> list[tuple[int, int]]:
        width = ceil(rules.bins / wanted)
        return [(first, min(first + width, rules.bins)) for first in range(0, rules.bins, width)]

    joined = equal(rules.windows)[:1]
    for window in equal(rules.windows)[1:]:
        heights = [histogram[slice(*joined[-1])].max(), histogram[slice(*window)].max()]
        if max(heights) - min(heights) <= rules.beta * max(heights):
            joined[-1] = (joined[-1][0], window[1])
        else:
            joined.append(window)
    return joined if len(joined) > 1 else equal(rules.uniform)


def search(points: np.ndarray, rules: Rules) -> tuple[list[Window], set[Unit], set[Unit]]:
    """Return the dense windows, all dense units and the terminal ones of points of shape (n, d)."""
    n, d = points.shape
    bins = [bins_of(points[:, j], rules.bins) for j in range(d)]
    inside: dict[Window, np.ndarray] = {}
    threshold: dict[Window, float] = {}
    for j, places in enumerate(bins):
        if places is None:
            continue
        histogram = np.bincount(places, minlength=rules.bins)
        for first, end in windows_of(histogram, rules):
            members = (places >= first) & (places < end)
            limit = rules.alpha * n * (end - first) / rules.bins
            if members.sum() > limit:
                inside[j, first, end], threshold[j, first, end] = members, limit
    dense: set[Unit] = set()
    by_dim = [[None, *(w for w in inside if w[0] == j)] for j in range(d)]
    for chosen in itertools.product(*by_dim):
        unit = tuple(window for window in chosen if window is not None)
        if unit:
            count = np.logical_and.reduce([inside[window] for window in unit]).sum()
            if all(count > threshold[window] for window in unit):
                dense.add(unit)
    parts = {part for unit in dense for part in itertools.combinations(unit, len(unit) - 1)}
    return list(inside), dense, dense - parts


def joins(dense: set[Unit]) -> list[Unit]:
    """Return what every two dense units make that share all but one window and differ in the dimension of the other."""
    made = []
    for a, b in itertools.combinations(sorted(dense), 2):
        both = tuple(sorted({*a, *b}))
        if len(a) == len(b) == len(both) - 1 and len({window[0] for window in both}) == len(both):
            made.append(both)
    return made
