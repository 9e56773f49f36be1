"""Posterior masses of many series at once: noisy values by a grid of shapes, exact ones by the best weighted fits.

The logarithm of a setting's value is that of a shape plus a level plus noise; a flat prior on the level integrates it out,
so that a hypothesis is judged by the squares ``B`` of the centred residuals:
``likelihood = sum over variances of mass * v^(-(n-1)/2) * exp(-B / (2 v))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.growth import Growth
from scalkit.validation.exact import exact_evidence
from scalkit.validation.expectation import RANKS, Expectation
from scalkit.validation.hypotheses import (
    HIDDEN_MASS,
    HIDDEN_SHARES,
    SUM_MASS,
    Hypotheses,
    Prior,
    tick_mass,
)
from scalkit.validation.noise import Noise, Summary, widened

__all__ = ["Masses", "exact_masses", "likelihoods", "noisy_masses", "squared_residuals"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Singles = np.ndarray[Any, np.dtype[np.float32]]

_BLOCK = 32
_ROWS = 8  # series in one product
_OCTAVE_BITS = 18  # of a float32: exponent and 5 bits of the mantissa remain, 32 steps an octave
_LEVEL = 0.95
_SINGLE_THREAD = 200_000  # multiplications below which OpenBLAS starts no other thread


@dataclass(frozen=True, eq=False)
class Masses:
    """Posterior probabilities of many series about one expectation.

    Attributes
    ----------
    growth : ndarray of shape (series, K)
        Of each leading growth.
    hidden : ndarray of shape (series, K)
        The part of it that is a faster term beside the expected one.
    bound : ndarray of shape (series,)
        Largest share at the last setting of the slowest term outside the limits that the values do not exclude at 95 %;
        NaN if no term is.
    """

    growth: Floats
    hidden: Floats
    bound: Floats


def outside(hyp: Hypotheses) -> int | None:
    """Return the index of the slowest growth beyond the upper limit, the hardest one to see; None if there is none."""
    found = np.flatnonzero((hyp.rank == RANKS.index("none")) & hyp.is_faster)
    return int(found[0]) if found.size else None


def noisy_masses(summary: Summary, hyp: Hypotheses) -> Masses:
    """Return the masses of series that have a value at every setting."""
    k = len(hyp.growths)
    growth, hidden = np.zeros((len(summary.z), k)), np.zeros((len(summary.z), k))
    bound = np.full(len(summary.z), np.nan)
    for start in range(0, len(summary.z), _BLOCK):
        part = slice(start, start + _BLOCK)
        weights = _weights(summary.z[part], Noise(summary.noise.variances[part], summary.noise.masses), hyp)
        groups = np.add.reduceat(weights, hyp.starts, axis=1).astype(np.float64)
        groups /= groups.sum(axis=1, keepdims=True)
        for g, tick in enumerate(hyp.group_tick):
            growth[part, tick] += groups[:, g]
            if hyp.group_is_hidden[g]:
                hidden[part, tick] += groups[:, g]
        bound[part] = _bounds(weights, hyp)
    return Masses(growth, hidden, bound)


def exact_masses(
    x: Floats, y: Floats, growths: tuple[Growth, ...], expectation: Expectation, resolution: float, prior: Prior
) -> Masses:
    """Return the masses of one series without noise; `y` of shape (points,)."""
    rank = np.array([RANKS.index(expectation.rank(g)) for g in growths])
    if np.ptp(y) == 0:
        growth = np.array([[float(g.is_constant) for g in growths]])
        return Masses(growth, np.zeros_like(growth), np.zeros(1))
    evidence = exact_evidence(x, y, growths, expectation.growth, resolution)
    mass = tick_mass(growths, rank, expectation, prior)
    hides = np.array([g > expectation.growth and not expectation.growth.is_constant for g in growths]) * HIDDEN_MASS
    pairs = [not g.is_constant and any(not h.is_constant for h in growths[:k]) for k, g in enumerate(growths)]
    sums = np.array(pairs) * SUM_MASS
    top = max(float(each.max()) for each in (evidence.single, evidence.hidden, evidence.sums))
    single = mass * ((1 - hides - sums) * np.exp(evidence.single - top) + sums * np.exp(evidence.sums - top))
    hidden = mass * hides * np.exp(evidence.hidden - top)
    total = (single + hidden).sum()
    out = np.flatnonzero((rank == RANKS.index("none")) & np.array([g > expectation.growth for g in growths]))
    bound = np.array([evidence.bound[out[0]] if out.size else np.nan])
    return Masses((single + hidden)[None] / total, hidden[None] / total, bound)


def _weights(z: Floats, noise: Noise, hyp: Hypotheses) -> Singles:
    n, squares = z.shape[1], squared_residuals(z, hyp)
    weights = likelihoods(squares, widened(noise, squares.min(axis=1), n), n)
    weights *= hyp.prior.astype(np.float32)[None, :]
    return weights


def squared_residuals(z: Floats, hyp: Hypotheses) -> Singles:
    """Return B of shape (series, H): the summed squares of centred residuals; a series' row does not depend on the others."""
    centred = z - z.mean(axis=1, keepdims=True)
    squares = np.empty((len(z), len(hyp.shapes)))
    chunk = max(1, _SINGLE_THREAD // (_ROWS * z.shape[1]))
    for first in range(0, len(z), _ROWS):  # BLAS rounds by the shape of a product, so all products have the same one
        rows = np.zeros((_ROWS, z.shape[1]))
        filled = centred[first : first + _ROWS]
        np.multiply(filled, -2.0, out=rows[: len(filled)])
        for start in range(0, len(hyp.shapes), chunk):  # small products stay in one thread, which is faster here
            part = slice(start, start + chunk)
            squares[first : first + _ROWS, part] = np.matmul(rows, hyp.shapes[part].T)[: len(filled)]
    squares += (hyp.shapes**2).sum(axis=1)
    squares += (centred**2).sum(axis=1)[:, None]
    return squares.astype(np.float32)


def likelihoods(squares: Singles, noise: Noise, n: int) -> Singles:
    """Return the likelihood of each hypothesis, the largest about 1, of shape (series, H).

    The likelihood depends on B alone, so it is tabulated in steps of 1/32 octave of B for each series and looked up.
    """
    least = (noise.variances.min(axis=1) * 1e-2).astype(np.float32)
    most = np.maximum(noise.variances.max(axis=1) * 200.0, squares.max(axis=1)).astype(np.float32)
    first, last = least.view(np.int32) >> _OCTAVE_BITS, most.view(np.int32) >> _OCTAVE_BITS
    width = int((last - first).max()) + 1
    bits = (first[:, None] + np.arange(width, dtype=np.int32)[None, :]) << _OCTAVE_BITS
    centres = (bits + (1 << (_OCTAVE_BITS - 1))).astype(np.int32).view(np.float32)
    halves = (0.5 / noise.variances).astype(np.float32)
    scale = np.log(noise.masses)[None, :] - (n - 1) / 2 * np.log(noise.variances)
    best = squares.min(axis=1).clip(least)
    peak = (scale - best[:, None] / (2 * noise.variances)).max(axis=1, keepdims=True)
    heights = (scale - peak).astype(np.float32)
    table = np.zeros(centres.shape, dtype=np.float32)
    with np.errstate(under="ignore", over="ignore"):
        for q in range(halves.shape[1]):
            table += np.exp(heights[:, q : q + 1] - centres * halves[:, q : q + 1])
    place = squares.view(np.int32) >> _OCTAVE_BITS
    place -= first[:, None]
    np.clip(place, 0, width - 1, out=place)
    place += (np.arange(len(squares), dtype=np.int32) * width)[:, None]
    return np.asarray(table.ravel().take(place))


def _bounds(weights: Singles, hyp: Hypotheses) -> Floats:
    """Return the 95 % bound of the share of the slowest term outside the limits at the last setting, under a flat prior."""
    k = outside(hyp)
    if k is None:
        return np.full(len(weights), np.nan)
    is_pair = hyp.group_is_hidden & (hyp.group_tick == k)
    groups = np.flatnonzero(is_pair if is_pair.any() else hyp.group_tick == k)
    without = np.flatnonzero((hyp.group_tick == hyp.expected) & ~hyp.group_is_hidden)
    if not groups.size or not without.size:
        return np.full(len(weights), np.nan)
    shares, sums = _by_end_share(weights, hyp, int(groups[0]))
    zero = _marginal(weights, hyp, int(without[0]))
    shares = np.concatenate([[0.0], shares])
    density = np.concatenate([zero[:, None], sums], axis=1)
    steps = np.diff(shares)
    area = np.concatenate(
        [np.zeros((len(weights), 1)), np.cumsum((density[:, 1:] + density[:, :-1]) / 2 * steps, axis=1)], axis=1
    )
    goal = _LEVEL * area[:, -1:]
    above = np.argmax(area >= goal, axis=1)
    rows = np.arange(len(weights))
    low, high = area[rows, above - 1], area[rows, above]
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where(high > low, (goal[:, 0] - low) / (high - low), 0.0)
    return np.asarray(shares[above - 1] + inside * (shares[above] - shares[above - 1]))


def _by_end_share(weights: Singles, hyp: Hypotheses, group: int) -> tuple[Floats, Floats]:
    """Return the distinct shares at the last setting of a group, and the likelihood of each, of shape (series, shares)."""
    start, stop = hyp.span(group)
    width = (stop - start) // len(HIDDEN_SHARES) if hyp.group_is_hidden[group] else 1  # bases of equal hidden share
    prior = hyp.prior[start:stop].reshape(-1, width).sum(axis=1)
    sums = weights[:, start:stop].reshape(len(weights), -1, width).sum(axis=2, dtype=np.float64)
    return hyp.end_share[start:stop:width], sums / prior


def _marginal(weights: Singles, hyp: Hypotheses, group: int) -> Floats:
    start, stop = hyp.span(group)
    return np.asarray(weights[:, start:stop].sum(axis=1, dtype=np.float64) / hyp.prior[start:stop].sum())
