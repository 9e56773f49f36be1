"""The hypotheses of a posterior: growth shapes with positive shares, one term or an expectation with a hidden faster term.

A shape is what a model looks like at the settings, up to a factor: ``(1 - u) + u * t / t(mid)`` for one term `t` with the
share `u` at the geometric middle of the settings; ``base + v / (1 - v) * base(end) * t / t(end)`` for a term `t` that grows
faster than the expected one and makes up the share `v` at the last setting; ``(1 - u) * ((1 - v) + v * s / s(mid)) + u * t /
t(mid)`` for a term `t` with a slower one `s` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from scalkit.growth import Growth
from scalkit.validation.expectation import RANKS, Expectation
from scalkit.validation.shapes import HIDDEN_SHARES, hidden, log_mix, log_ticks, middle, single, sums, sums_at

__all__ = ["HIDDEN_MASS", "HIDDEN_SHARES", "PRIORS", "SUM_MASS", "Hypotheses", "Prior", "hypotheses", "tick_mass"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Prior = Literal["ranks", "ticks", "expectation"]

PRIORS: tuple[Prior, ...] = ("ranks", "ticks", "expectation")
HIDDEN_MASS = 0.2
_BASES = 0.06
SUM_MASS = 0.15
_SLOWER = 3


@dataclass(frozen=True, eq=False)
class _Row:
    """The hypotheses of one group: the leading tick, the second term or -1, shapes, shares and weights."""

    tick: int
    beside: int
    is_hidden: bool
    shapes: Floats
    shares: Floats
    bases: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """All hypotheses about one expectation at given settings, one after the other, tick by tick.

    Attributes
    ----------
    growths : tuple of Growth, length K
        Leading terms; the constant among them. One that has no value at a setting (a logarithm below 1) has no hypothesis.
    shapes : ndarray of shape (H, points)
        Natural logarithm of each shape, its mean over the settings subtracted.
    prior : ndarray of shape (H,)
        Sums to 1.
    tick : ndarray of int, shape (H,)
        Which of `growths` leads.
    share : ndarray of shape (H,)
        Of the leading term at the geometric middle, or of the hidden term at the last setting.
    end_share : ndarray of shape (H,)
        Of the leading or hidden term at the last setting.
    base : ndarray of shape (H,)
        Share of the second term in the base of two-term hypotheses, NaN for one term.
    starts : ndarray of int, shape (G,)
        Where a group of equal tick and kind begins.
    group_tick : ndarray of int, shape (G,)
        Which of `growths` leads in it.
    group_is_hidden : ndarray of bool, shape (G,)
        Whether the leading term of the group hides behind the expected one.
    group_beside : ndarray of int, shape (G,)
        Which of `growths` is the second term, -1 without one.
    rank : ndarray of int, shape (K,)
        Index into ``RANKS`` of each growth.
    is_faster : ndarray of bool, shape (K,)
        Than the expected growth.
    offsets : ndarray of shape (H,)
        Mean logarithm that was subtracted from each shape.
    x : ndarray of shape (points,)
    expected : int
        Index of the expected growth.
    """

    growths: tuple[Growth, ...]
    shapes: Floats
    prior: Floats
    tick: Ints
    share: Floats
    end_share: Floats
    base: Floats
    starts: Ints
    group_tick: Ints
    group_is_hidden: np.ndarray[Any, np.dtype[np.bool_]]
    group_beside: Ints
    rank: Ints
    is_faster: np.ndarray[Any, np.dtype[np.bool_]]
    offsets: Floats
    x: Floats
    expected: int

    def span(self, group: int) -> tuple[int, int]:
        """Return the first hypothesis of a group and the first after it."""
        start = int(self.starts[group])
        return start, int(self.starts[group + 1]) if group + 1 < len(self.starts) else len(self.prior)

    def log_shapes_at(self, at: Floats) -> Floats:
        """Return the logarithm of every shape at `at`, of shape (H, len(at)), relative to its mean over the settings."""
        found = np.empty((len(self.prior), len(at)))
        for group, (tick, beside) in enumerate(zip(self.group_tick, self.group_beside, strict=True)):
            start, stop = self.span(group)
            growth, share, base = self.growths[tick], self.share[start:stop], self.base[start:stop]
            if self.group_is_hidden[group]:
                found[start:stop] = _pairs_at(at, self, growth, share, base)
            elif beside >= 0:
                found[start:stop] = sums_at(at, self.x, growth, self.growths[beside], share, base)
            else:
                found[start:stop] = _terms_at(at, self, growth, share)
        return found - self.offsets[:, None]


def hypotheses(
    x: Floats,
    expectation: Expectation,
    ticks: tuple[Growth, ...],
    step: float = 0.012,
    prior: Prior = "ranks",
    summed: tuple[Growth, ...] | None = None,
) -> Hypotheses:
    """Return the hypotheses about an expectation at the settings `x`.

    Parameters
    ----------
    x : ndarray of shape (points,)
    expectation : Expectation
    ticks : tuple of Growth
        The search space; the constant and the expectation always compete.
    step : float
        Distance of neighbouring shapes of one tick, root of the summed squares of their logarithms.
    prior : {"ranks", "ticks", "expectation"}
        Equal mass for total, approximate and none; for all ticks; or half of it for the expectation.
    summed : tuple of Growth, optional
        Ticks that also stand in sums with a slower one; all by default.
    """
    settings = tuple(np.asarray(x, dtype=float).tolist())
    return _hypotheses(settings, expectation, tuple(ticks), step, prior, None if summed is None else tuple(summed))


@lru_cache(maxsize=24)
def _hypotheses(
    settings: tuple[float, ...],
    expectation: Expectation,
    ticks: tuple[Growth, ...],
    step: float,
    prior: Prior,
    summed: tuple[Growth, ...] | None,
) -> Hypotheses:
    x = np.array(settings)
    growths = tuple(sorted({*ticks, Growth.constant(), expectation.growth}))
    rank = np.array([RANKS.index(expectation.rank(g)) for g in growths])
    is_faster = np.array([g > expectation.growth for g in growths])
    mass = tick_mass(growths, rank, expectation, prior)
    hidden_too = not expectation.growth.is_constant
    coarse = max(step, _BASES)
    rows: list[_Row] = []
    usable = [bool(np.isfinite(log_ticks(x, growth, middle(x))).all()) for growth in growths]
    hidden_too = hidden_too and usable[growths.index(expectation.growth)]
    for k, growth in enumerate(growths):
        if not usable[k]:
            continue
        hidden_mass = HIDDEN_MASS * (hidden_too and bool(is_faster[k]))
        taken = growths.index(expectation.growth) if hidden_mass else -1
        is_summed = not growth.is_constant and (summed is None or growth in summed)
        beside = _slower(growths[:k], usable, taken) if is_summed else []
        sum_mass = SUM_MASS * bool(beside)
        shapes, shares, weights = single(settings, growth, step)
        one = mass[k] * (1 - hidden_mass - sum_mass)
        rows.append(_Row(k, -1, False, shapes, shares, np.full(len(shares), np.nan), one * weights))
        if hidden_mass:
            shapes, shares, bases, weights = hidden(settings, expectation.growth, growth, coarse)
            expected = growths.index(expectation.growth)
            rows.append(_Row(k, expected, True, shapes, shares, bases, mass[k] * hidden_mass * weights))
        for s in beside:
            shapes, shares, bases, weights = sums(settings, growth, growths[s], coarse)
            rows.append(_Row(k, s, False, shapes, shares, bases, mass[k] * sum_mass / len(beside) * weights))
    sizes = [len(row.shares) for row in rows]
    logs = np.concatenate([row.shapes for row in rows])
    weights = np.concatenate([row.weights for row in rows])
    offsets = logs.mean(axis=1)
    ends = np.concatenate([_end_shares(x, row, growths) for row in rows])
    return Hypotheses(
        growths=growths,
        shapes=logs - offsets[:, None],
        prior=weights / weights.sum(),
        tick=np.repeat([row.tick for row in rows], sizes),
        share=np.concatenate([row.shares for row in rows]),
        end_share=ends,
        base=np.concatenate([row.bases for row in rows]),
        starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        group_tick=np.array([row.tick for row in rows]),
        group_is_hidden=np.array([row.is_hidden for row in rows]),
        group_beside=np.array([row.beside for row in rows]),
        rank=rank,
        is_faster=is_faster,
        offsets=offsets,
        x=x,
        expected=growths.index(expectation.growth),
    )


def tick_mass(growths: tuple[Growth, ...], rank: Ints, expectation: Expectation, prior: Prior) -> Floats:
    """Return the prior mass of each tick."""
    if prior == "ticks":
        return np.full(len(growths), 1 / len(growths))
    if prior == "expectation":
        others = max(len(growths) - 1, 1)
        return np.array([0.5 if g == expectation.growth else 0.5 / others for g in growths])
    counts = np.bincount(rank, minlength=len(RANKS))
    return np.asarray(1 / counts[rank] / np.count_nonzero(counts))


def _slower(slower: tuple[Growth, ...], usable: list[bool], taken: int) -> list[int]:
    """Return a few indices of common growths among the slower ones, evenly spread, without the constant and `taken`."""
    there = [i for i, growth in enumerate(slower) if usable[i] and i != taken and _is_common(growth)]
    places = np.linspace(0, len(there) - 1, min(len(there), _SLOWER)).round().astype(int)
    return [there[place] for place in places]


def _is_common(growth: Growth) -> bool:
    """Return whether algorithms often have such a term: log x, and half powers of x, perhaps times log x."""
    exponents = [e for _, e in growth.factors]
    return bool(exponents) and all(
        2 % e.power.denominator == 0 and e.log in (0, 1) and not e.exponential and not e.own for e in exponents
    )


def _end_shares(x: Floats, row: _Row, growths: tuple[Growth, ...]) -> Floats:
    """Return the share of the leading or hidden term at the last setting."""
    growth = growths[row.tick]
    if row.is_hidden or growth.is_constant:
        return row.shares
    log_tick = log_ticks(x, growth, middle(x))[-1]
    return np.asarray(np.exp(np.log(np.maximum(row.shares, 1e-300)) + log_tick - row.shapes[:, -1]))


def _terms_at(at: Floats, hyp: Hypotheses, growth: Growth, shares: Floats) -> Floats:
    if growth.is_constant:
        return np.zeros((len(shares), len(at)))
    return log_mix(log_ticks(at, growth, middle(hyp.x)), shares)


def _pairs_at(at: Floats, hyp: Hypotheses, growth: Growth, shares: Floats, bases: Floats) -> Floats:
    end = hyp.x[-1:]
    expected = hyp.growths[hyp.expected]
    base = _terms_at(at, hyp, expected, bases) - _terms_at(end, hyp, expected, bases)
    odds = np.log(shares) - np.log1p(-shares)
    return np.asarray(np.logaddexp(base, odds[:, None] + log_ticks(at, growth, float(end[0]))[None, :]))
