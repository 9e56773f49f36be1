"""Shapes of hypotheses at given settings: one term with a constant of either sign, two terms, a hidden one.

They are computed once for the same settings and growths."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np

from scalkit.arrays import Floats
from scalkit.growth import Growth

Settings = tuple[float, ...]
Arrays = TypeVar("Arrays", bound=tuple[Floats, ...])

HIDDEN_SHARES = np.array([0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75])
_SLOWER_SHARES = np.array([0.25, 0.5, 0.75])
_LEAST_SHARE = 1e-3
_NEGATIVE = 0.99  # of the term at the first setting: the largest part that a negative constant takes off
_FINE = 1601
_LEAST_SEEN = -7.0  # natural logarithm: a constant below a thousandth of the value in the middle is none
_DIGITS = 1000.0
_CACHED = 256


def middle(x: Floats) -> float:
    """Return the geometric middle of the settings."""
    return float(np.exp(np.log(x).mean()))


def log_ticks(x: Floats, growth: Growth, at: float) -> Floats:
    """Return the natural logarithm of ``growth(x) / growth(at)``, at most a thousand binary digits either way."""
    with np.errstate(invalid="ignore"):
        value = growth.log2_value(x) - growth.log2_value(np.array([at]))
    return in_range(value)


def in_range(log2: Floats) -> Floats:
    """Return natural logarithms for binary ones, at most a thousand binary digits either way."""
    return np.asarray(np.clip(log2, -_DIGITS, _DIGITS) * np.log(2.0))


def log_mix(log_tick: Floats, shares: Floats) -> Floats:
    """Return ``log((1 - u) + u * tick)`` of shape (shares, points); beyond a share of 1 the constant is negative."""
    with np.errstate(divide="ignore"):
        low, high = np.log(np.abs(1 - shares))[:, None], np.log(shares)[:, None] + log_tick[None, :]
    if (shares > 1).any():
        return np.asarray(high + np.log(-np.expm1(low - high)))
    return np.asarray(np.logaddexp(low, high))


@lru_cache(maxsize=_CACHED)
def even_shares(settings: Settings, growth: Growth, step: float) -> tuple[Floats, Floats]:
    """Return shares whose shapes lie `step` apart, and their masses under a uniform prior on (0, 1)."""
    x = np.array(settings)
    fine = np.concatenate([np.linspace(0.0, 1.0, _FINE), _LEAST_SHARE * np.arange(1, 10) / 10])
    fine.sort()
    log_tick = log_ticks(x, growth, middle(x))
    shapes = log_mix(log_tick, fine)
    nothing = log_tick <= -_DIGITS * np.log(2.0)  # log(1): only the constant is left there, and shapes would be far apart
    shapes[:, nothing] = np.maximum(shapes[:, nothing], _LEAST_SEEN)
    shapes -= shapes.mean(axis=1, keepdims=True)
    along = np.concatenate([[0.0], np.cumsum(np.sqrt(((np.diff(shapes, axis=0)) ** 2).sum(axis=1)))])
    n = int(np.clip(np.ceil(along[-1] / step), 12, 2000))
    edges = np.interp(np.linspace(0.0, along[-1], n + 1), along, fine)
    centres = np.interp((np.arange(n) + 0.5) * along[-1] / n, along, fine)
    return _fixed((centres, np.diff(edges)))


@lru_cache(maxsize=_CACHED)
def single(settings: Settings, growth: Growth, step: float) -> tuple[Floats, Floats, Floats]:
    """Return shapes, shares and weights of one term beside a constant."""
    if growth.is_constant:
        return _fixed((np.zeros((1, len(settings))), np.zeros(1), np.ones(1)))
    x = np.array(settings)
    shares, weights = even_shares(settings, growth, step)
    return _fixed((log_mix(log_ticks(x, growth, middle(x)), shares), shares, weights / weights.sum()))


@lru_cache(maxsize=_CACHED)
def offset(settings: Settings, growth: Growth, step: float) -> tuple[Floats, Floats, Floats]:
    """Return shapes, shares above 1 and weights of one term less a constant, as the ``log2(p / 16)`` levels between nodes.

    The part of the term that the constant takes off at the smallest setting is uniform from 0 to 1.
    """
    x = np.array(settings)
    log_tick = log_ticks(x, growth, middle(x))
    taken = (np.arange(_FINE) + 0.5) / _FINE * _NEGATIVE
    shapes = log_mix(log_tick, 1 / (1 - taken * np.exp(log_tick[0])))
    shapes -= shapes.mean(axis=1, keepdims=True)
    along = np.concatenate([[0.0], np.cumsum(np.sqrt((np.diff(shapes, axis=0) ** 2).sum(axis=1)))])
    n = int(np.clip(np.ceil(along[-1] / step), 6, 200))
    edges = np.interp(np.linspace(0.0, along[-1], n + 1), along, taken)
    shares = 1 / (1 - np.interp((np.arange(n) + 0.5) * along[-1] / n, along, taken) * np.exp(log_tick[0]))
    return _fixed((log_mix(log_tick, shares), shares, np.diff(edges) / (edges[-1] - edges[0])))


def hidden(settings: Settings, expected: Growth, faster: Growth, step: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return shapes, hidden shares, base shares and weights of the expected term with a faster one."""
    base, bases, weights = single(settings, expected, step)
    log_tick = log_ticks(np.array(settings), faster, settings[-1])
    odds = np.log(HIDDEN_SHARES) - np.log1p(-HIDDEN_SHARES)
    added = odds[:, None] + log_tick[None, :]  # relative to the base at the last setting
    shapes = np.logaddexp(base[None, :, :] - base[None, :, -1:], added[:, None, :])
    n_shares, n_bases = len(HIDDEN_SHARES), len(bases)
    return _fixed(
        (
            shapes.reshape(n_shares * n_bases, len(settings)),
            np.repeat(HIDDEN_SHARES, n_bases),
            np.tile(bases, n_shares),
            np.tile(weights, n_shares) / n_shares,
        )
    )


def sums(settings: Settings, growth: Growth, slower: Growth, step: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return shapes, shares of the leading term, of the slower one in the rest, and weights of the sum of two terms."""
    x = np.array(settings)
    shares, weights = even_shares(settings, growth, step)
    n, m = len(shares), len(_SLOWER_SHARES)
    every, bases = np.tile(shares, m), np.repeat(_SLOWER_SHARES, n)
    base, tick = log_mix(log_ticks(x, slower, middle(x)), bases), log_ticks(x, growth, middle(x))
    with np.errstate(divide="ignore"):
        shapes = np.logaddexp(np.log1p(-every)[:, None] + base, np.log(every)[:, None] + tick[None, :])
    return _fixed((shapes, every, bases, np.tile(weights / weights.sum(), m) / m))


def _fixed(arrays: Arrays) -> Arrays:
    """Return arrays that nobody can change, because they are shared."""
    for array in arrays:
        array.flags.writeable = False
    return arrays


Kind = Literal["term", "offset", "hidden", "sum"]
"""One term, one less a constant, one that hides behind the expected one, and one with a slower one beside it."""

_BASES, _OFFSETS = 0.06, 0.03
_KEPT = 1024
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Family:
    """Hypotheses of one leading term and one kind.

    `growth`: the leading term.
    `other`: the second term; the expected one, where the leading term hides behind it.
    `shapes` of shape (H, n): natural logarithm of each shape, its mean over the settings subtracted.
    `offsets` of shape (H,): that mean.
    `shares` of shape (H,): of the leading term at the geometric middle, above 1 beside a negative constant; or of the
    hidden term at the last setting.
    `end_shares` of shape (H,): of the leading or hidden term at the last setting.
    `bases` of shape (H,): share of the second term in the base of two-term hypotheses, NaN for one term.
    `weights` of shape (H,): prior of each within the family; sums to 1.
    `parts` of shape (H, 3): what stands before 1, the other term and the leading one in each shape; terms are 1 at the
    geometric middle.
    """

    settings: Settings
    growth: Growth
    other: Growth | None
    kind: Kind
    shapes: Floats
    offsets: Floats
    shares: Floats
    end_shares: Floats
    bases: Floats
    weights: Floats
    parts: Floats


@lru_cache(maxsize=_KEPT)
def family(settings: Settings, growth: Growth, other: Growth | None, kind: Kind, step: float) -> Family:
    """Return a family; the same object for the same arguments, while it is among the last ones.

    `other`: None for one term beside the constant.
    `kind`: whether the leading term hides behind `other` or stands beside it in a sum; of one term, the sign of the
    constant.
    `step`: distance of neighbouring shapes of one term, root of the summed squares of their logarithms.
    """
    if other is None:
        made = offset(settings, growth, max(step, _OFFSETS)) if kind == "offset" else single(settings, growth, step)
        shapes, shares, weights = made
        bases = np.full(len(shares), np.nan)
    else:
        make = (hidden, (other, growth)) if kind == "hidden" else (sums, (growth, other))
        shapes, shares, bases, weights = make[0](settings, *make[1], max(step, _BASES))
    offsets = shapes.mean(axis=1)
    ends = shares
    if kind != "hidden" and not growth.is_constant:
        last = log_ticks(np.array(settings), growth, middle(np.array(settings)))[-1]
        ends = np.exp(np.log(np.maximum(shares, _LEAST)) + last - shapes[:, -1])
    centred = shapes - offsets[:, None]
    parts = _parts(settings, growth, other, kind, shares, bases)
    for array in (centred, offsets, shares, ends, bases, weights, parts):
        array.flags.writeable = False  # because they are shared
    return Family(settings, growth, other, kind, centred, offsets, shares, ends, bases, weights, parts)


def _parts(settings: Settings, growth: Growth, other: Growth | None, kind: Kind, shares: Floats, bases: Floats) -> Floats:
    """Return what stands before 1, the other term and the leading one, of shape (H, 3); terms are 1 at the middle."""
    nothing = np.zeros(len(shares))
    if other is None:
        return np.column_stack([1 - shares, nothing, nothing if growth.is_constant else shares])
    if kind == "sum":
        return np.column_stack([(1 - shares) * (1 - bases), (1 - shares) * bases, shares])
    x = np.array(settings)
    end, base_end = (float(np.exp(log_ticks(x[-1:], one, middle(x))[0])) for one in (growth, other))
    base = 1 - bases + bases * base_end
    return np.column_stack([(1 - bases) / base, bases / base, shares / (1 - shares) / end])
