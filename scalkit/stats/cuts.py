"""Where to cut the range of the parameter: exact dynamic programming over all segments, and the criterion to choose by."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.growth.growth import log2_values
from scalkit.stats.pure_error import Noise
from scalkit.support.arrays import Floats

MIN_SETTINGS = 3
_CHANGE_POINT = 3
_BLOCK = 1_000_000
_ROUNDING = 1e-13
_RIDGE = 1e-12
_LARGEST = 2.0**500
_SMALLEST = 1e-300

_Steps = dict[tuple[int, int, int], tuple[Any, Any]]


@dataclass(frozen=True)
class Cuts:
    """A segmentation: for each segment the index after its last setting, and whether it grows.

    `bic`, `bic_single`, `bic_several`: criterion of this segmentation, of the best single segment and of the best with
    a change point; infinite where there is none, as for a single segment across a known change point.
    """

    pieces: tuple[tuple[int, bool], ...]
    bic: float
    bic_single: float
    bic_several: float


def best_cuts(
    x: Floats,
    y: Floats,
    ticks: Sequence[Growth],
    noise: Sequence[Noise],
    *,
    max_segments: int | None = None,
    switches: Sequence[float] = (),
) -> list[Cuts]:
    """Return the best segmentation of many series over the same settings, without models.

    `x` of shape (points,).
    `y` of shape (series, points): positive.
    `ticks`: None of them constant.
    `max_segments`: as many as the settings allow by default.
    `switches`: change points that are known.
    Raises DataError if the known change points leave too few settings between them.
    """
    n_series, n = y.shape
    most = max(1, n // MIN_SETTINGS if max_segments is None else min(max_segments, n // MIN_SETTINGS))
    part = np.searchsorted(np.sort(np.asarray(switches, dtype=np.float64)), x)
    costs = _segment_costs(x, y, ticks, part)
    tables = [np.full((1, n_series, n + 1), np.inf)]
    tables[0][0, :, 0] = 0.0
    back: _Steps = {}
    scores: list[list[Floats]] = [[] for _ in noise]
    for m in range(1, most + 1):
        tables.append(_one_more(costs, tables[-1], m, back))
        for s, one in enumerate(noise):
            scores[s].append(_criterion(tables[m][:, s, n], m, one, n, len(ticks)))
        if all(_is_settled(found, m + 1, one, n) for found, one in zip(scores, noise, strict=True)):
            break
    return [_cuts(scores[s], back, s, n, max_segments) for s in range(n_series)]


def _cuts(scores: list[Floats], back: _Steps, s: int, n: int, max_segments: int | None) -> Cuts:
    least = [float(found.min()) for found in scores]
    m = int(np.argmin(least))
    if not math.isfinite(least[m]):
        raise DataError(
            f"the known change points leave a segment of fewer than {MIN_SETTINGS} settings, or need more than "
            f"{max_segments or n // MIN_SETTINGS} segments; measure more around them, leave one out, or raise max_segments."
        )
    pieces = _pieces(back, s, m + 1, int(np.argmin(scores[m])), n)
    return Cuts(pieces, least[m], least[0], min(least[1:], default=math.inf))


def _is_settled(scores: list[Floats], m: int, noise: Noise, n: int) -> bool:
    """Return whether no segmentation into `m` or more can be better than the best of two or more so far."""
    best = min((float(found.min()) for found in scores[1:]), default=math.inf)
    return math.isfinite(best) and float(noise.misfit(0.0, n)) + penalty(m, 0, n, 1) >= best


def penalty(m: Any, g: Any, n: int, n_ticks: int) -> Any:
    """Return what `m` segments, `g` of them growing, cost in the criterion, over `n` settings."""
    return (m + g + _CHANGE_POINT * (m - 1)) * math.log(n) + 2 * g * math.log(max(n_ticks, 1))


def _criterion(residuals: Floats, m: int, noise: Noise, n: int, n_ticks: int) -> Floats:
    """Return the criterion of `m` segments for every number of growing ones; infinite where there is none."""
    found = noise.misfit(residuals, n) + penalty(m, np.arange(len(residuals)), n, n_ticks)
    return np.where(np.isfinite(residuals), found, np.inf)


def _one_more(costs: Floats, before: Floats, m: int, back: _Steps) -> Floats:
    """Return the least residual of m segments, g of them growing, over the first j settings: (m + 1, series, n + 1)."""
    table = np.full((m + 1, *before.shape[1:]), np.inf)
    for g in range(m + 1):
        for grown in (0, 1):
            if not 0 <= g - grown < len(before):
                continue
            totals = before[g - grown][:, :, np.newaxis] + costs[grown]
            start = np.argmin(totals, axis=1)
            least = np.take_along_axis(totals, start[:, np.newaxis], axis=1)[:, 0]
            better = least < table[g]
            table[g] = np.where(better, least, table[g])
            back[m, g, grown] = (start, better)
    return table


def _pieces(back: _Steps, s: int, m: int, g: int, end: int) -> tuple[tuple[int, bool], ...]:
    pieces = []
    while m:
        grown = 1 if (m, g, 1) in back and back[m, g, 1][1][s, end] else 0
        pieces.append((end, bool(grown)))
        end = int(back[m, g, grown][0][s, end])
        m, g = m - 1, g - grown
    return tuple(reversed(pieces))


def _segment_costs(x: Floats, y: Floats, ticks: Sequence[Growth], part: Any) -> Floats:
    """Return the squared relative residuals of segments i to j - 1: of shape (2, series, n + 1, n + 1), constant and grown."""
    n_series, n = y.shape
    costs = np.full((2, n_series, n + 1, n + 1), np.inf)
    first, end = (
        np.array([(i, j) for i in range(n) for j in range(i + MIN_SETTINGS, n + 1) if part[i] == part[j - 1]], dtype=np.int64)
        .reshape(-1, 2)
        .T
    )
    log2 = log2_values(tuple(x.tolist()), tuple(ticks))
    scaled = _scaled(y)
    for rows in _blocks(len(first), n_series * max(1, len(ticks)) * n):
        inside = (np.arange(n) >= first[rows, None]) & (np.arange(n) < end[rows, None])
        flat, grown = _residuals(inside, scaled, log2)
        costs[0][:, first[rows], end[rows]] = flat
        if ticks:
            costs[1][:, first[rows], end[rows]] = grown.min(axis=2)
    return costs


def _blocks(n_windows: int, per_window: int) -> Iterator[slice]:
    step = max(1, _BLOCK // per_window)
    return (slice(start, start + step) for start in range(0, n_windows, step))


def _residuals(inside: Any, y: Floats, log2: Floats) -> tuple[Floats, Floats]:
    """Return the squared residuals of a constant (series, windows) and of every tick (series, windows, ticks).

    The fits are those of `scalkit.judge.fit.paper.fit_growths`, for many windows of the settings at once.
    """
    with np.errstate(invalid="ignore"):
        windows = np.where(inside[:, None, :], log2[None], -np.inf)
        scales = windows.max(axis=2, initial=-np.inf)
        t = np.exp2(windows - scales[:, :, None])
    usable = (np.isfinite(t) | ~inside[:, None, :]).all(axis=2) & np.isfinite(scales)
    t = np.where(usable[:, :, None] & inside[:, None, :], t, 0.0)
    root = np.where(inside[None], 1 / y[:, None, :], 0.0)
    w = root**2
    total = w.sum(axis=2)
    mean_y = (w * y[:, None, :]).sum(axis=2) / total
    off = y[:, None, :] - mean_y[:, :, None]
    flat = ((off * root) ** 2).sum(axis=2)
    mean_t = np.einsum("swn,whn->swh", w, t) / total[:, :, None]
    away = t[None] - mean_t[:, :, :, None]
    variance = np.einsum("swn,swhn,swhn->swh", w, away, away)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(variance > 0, np.einsum("swn,swhn,swn->swh", w, away, off) / variance, -1.0)
        through_zero = np.einsum("swn,whn->swh", root, t) / np.einsum("swn,whn,whn->swh", w, t, t)
    constant = mean_y[:, :, None] - slope * mean_t
    negative = constant < _ROUNDING * mean_y[:, :, None]
    slope = np.where(negative & (slope > 0), through_zero, slope)
    constant = np.where(negative, 0.0, constant)
    residual = (y[:, None, None, :] - constant[..., None] - slope[..., None] * t[None]) * root[:, :, None, :]
    rss = np.einsum("swhn,swhn->swh", residual, residual)
    return flat, np.where((slope > 0) & usable[None], rss, np.inf)


def _scaled(y: Floats) -> Floats:
    """Return the values of each series over a power of two near the least, so that no square overflows."""
    exponent = np.floor(np.log2(y.min(axis=-1, keepdims=True))).astype(np.int64)
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(np.ldexp(y, -exponent), _LARGEST))


def least_without(x: Floats, y: Floats, ticks: Sequence[Growth], n_strays: int) -> tuple[float, float]:
    """Return the least squared relative residual of a constant, and of a tick, where up to `n_strays` settings do not count.

    `x`, `y` of shape (points,): `y` positive.
    `ticks`: None of them constant.
    `n_strays`: fewer than the points by four.
    """
    n = len(x)
    strays = np.array(list(combinations(range(n), n_strays)), dtype=np.int64)
    inside = np.ones((len(strays), n), dtype=bool)
    np.put_along_axis(inside, strays, False, axis=1)
    log2, scaled = log2_values(tuple(x.tolist()), tuple(ticks)), _scaled(y[None])
    parts = [_residuals(inside[rows], scaled, log2) for rows in _blocks(len(inside), max(1, len(ticks)) * n)]
    flat, grown = (min(float(part[k].min(initial=np.inf)) for part in parts) for k in (0, 1))
    return flat, grown


def least_of_sums(x: Floats, y: Floats, ticks: Sequence[Growth]) -> float:
    """Return the least squared relative residual of a constant and two ticks, no coefficient negative; infinite if none fits.

    `x`, `y` of shape (points,): `y` positive.
    `ticks`: None of them constant.
    """
    log2 = log2_values(tuple(x.tolist()), tuple(ticks))
    with np.errstate(invalid="ignore"):
        t = np.exp2(log2 - log2.max(axis=1, keepdims=True, initial=-np.inf))
    t = t[np.isfinite(t).all(axis=1)] * (y.min() / y)
    pairs = np.array(list(combinations(range(len(t)), 2)), dtype=np.int64).reshape(-1, 2)
    if not len(pairs):
        return math.inf
    both = np.stack([t[pairs[:, 0]], t[pairs[:, 1]]], axis=1)
    constant = np.broadcast_to(y.min() / y, (len(pairs), 1, len(x)))
    return min(_least_positive(np.concatenate([constant, both], axis=1)), _least_positive(both))


def _least_positive(columns: Floats) -> float:
    """Return the least squared distance of ones from a combination of columns (pairs, terms, points) with positive weights."""
    columns = columns / np.maximum(np.linalg.norm(columns, axis=2, keepdims=True), _SMALLEST)
    square = columns @ columns.transpose(0, 2, 1) + _RIDGE * np.eye(columns.shape[1])
    weights = np.linalg.solve(square, columns.sum(axis=2)[:, :, None])[:, :, 0]
    off = 1 - np.einsum("pt,ptn->pn", weights, columns)
    return float(np.where((weights > 0).all(axis=1), (off**2).sum(axis=1), np.inf).min())
