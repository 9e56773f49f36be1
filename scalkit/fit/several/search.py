"""Every sum of products of ticks over several parameters, fitted at once with relative weights, and how good each one is.

A hypothesis takes one tick for each parameter that acts, and a set of products of these ticks, such as ``{f, g}`` for
``c0 + c1*f(p) + c2*g(S)`` or ``{f, f*g}``, with or without a constant. Coefficients are non-negative: a least-squares
solution with a negative one is left out, because the set without that product competes too."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

import numpy as np

from scalkit.arrays import Floats, Ints
from scalkit.fit.several.points import Points


def inverses(matrices: Floats, least: float) -> Floats:
    """Return the inverse of each symmetric positive definite matrix, by Gauss-Jordan elimination without pivoting.

    `matrices` of shape (n, k, k).
    `least`: no eigenvalue is smaller, and so no pivot but by rounding.
    """
    left = np.moveaxis(matrices, 0, -1).copy()
    for i in range(len(left)):
        pivot = np.maximum(left[i, i], least)
        left[i, i] = 1.0
        left[i] /= pivot
        for j in range(len(left)):
            if j != i:
                factor = left[j, i].copy()
                left[j, i] = 0.0
                left[j] -= factor * left[i]
    return np.moveaxis(left, -1, 0)


def log_determinants(matrices: Floats, least: Floats) -> Floats:
    """Return the natural logarithm of the determinant of each symmetric positive definite matrix.

    `matrices` of shape (n, k, k).
    `least` of shape (n,): as of `inverses`, of each matrix.
    """
    left = np.moveaxis(matrices, 0, -1).copy()
    total = np.zeros(left.shape[-1])
    for i in range(len(left)):
        pivot = np.maximum(left[i, i], least)
        total += np.log(pivot)
        left[i + 1 :, i + 1 :] -= left[i + 1 :, i, None] * (left[i, i + 1 :] / pivot)
    return total


Criterion = Literal["evidence", "bic", "aicc", "loo"]

CRITERIA: tuple[Criterion, ...] = ("evidence", "bic", "aicc", "loo")
MAX_COMBINATIONS = 1000
MIXED_MASS = 0.2
"""Prior mass of the sets of products in which a parameter occurs more than once."""
_FLOOR = 1e-13
_NEGATIVE = -1e-9
_NOISE_TRUST = 0.5  # how many points' worth of residuals the scatter of the repetitions counts for, per point
_BLOCK_BYTES = 2**26
_MANY = 6


@dataclass(frozen=True, eq=False)
class Block:
    """All hypotheses of one set of products.

    `active`: columns of the parameters that act.
    `products`: columns that enter each product.
    `combinations`, shape (H, active): which tick of each.
    `score` of shape (H,): logarithm of the posterior mass, up to a constant; -inf with a negative coefficient.
    `prior`: logarithm of the prior mass of each, one for every combination of all ticks, kept or not.
    """

    active: tuple[int, ...]
    products: tuple[tuple[int, ...], ...]
    has_constant: bool
    combinations: Ints
    score: Floats
    prior: float


def shortlist(points: Points, column: int, ticks: Floats, size: int) -> Ints:
    """Return the indices of the `size` ticks that follow the lines along one parameter best.

    Each line has its own constant and coefficient, both non-negative, so no assumption on the other parameters enters.
    Without any line of three points all ticks compete in their order.

    `ticks` of shape (ticks, points).
    """
    rss = np.zeros(len(ticks))
    scale = points.error_scale()
    for line in points.lines(column):
        w = scale[line].min() / scale[line]
        target = points.y[line] / scale[line]
        t = ticks[:, line] * w
        a, b, c = float(w @ w), t @ w, (t * t).sum(axis=1)
        r, s = float(w @ target), t @ target
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (a * s - b * r) / (a * c - b * b)
            constant = (r - slope * b) / a
            both = target @ target - constant * r - slope * s
            alone = target @ target - np.minimum(np.inf, np.maximum(r * r / a, s * s / c))
        inside = (slope >= 0) & (constant >= 0)
        rss += np.maximum(np.where(inside, both, alone), 0.0)
    return np.sort(np.argsort(np.where(np.isnan(rss), np.inf, rss), kind="stable")[:size])


def search(
    points: Points, ticks: Sequence[Floats], criterion: Criterion = "evidence", always: Sequence[Sequence[int]] = ()
) -> Iterator[Block]:
    """Return the hypotheses of every set of products with their scores.

    `ticks` of shape (ticks, points): for each parameter, scaled to a largest value of about 1.
    `always`: for each parameter, ticks that are tried in any case.
    """
    n_parameters = len(ticks)
    size = max(2, int(MAX_COMBINATIONS ** (1 / n_parameters) + 1e-9))
    kept = [shortlist(points, i, t, size) for i, t in enumerate(ticks)]
    kept = [np.union1d(k, np.array(a, dtype=np.int64)) for k, a in zip(kept, always or [()] * n_parameters, strict=True)]
    for n_active in range(n_parameters + 1):
        for active in combinations(range(n_parameters), n_active):
            prior = -sum(math.log(max(len(ticks[i]), 1)) for i in active)
            picked = np.array(list(product(*(kept[i] for i in active))), dtype=np.int64)
            picked = picked.reshape(math.prod(len(kept[i]) for i in active), n_active)
            if len(picked):
                yield from _blocks(points, ticks, active, picked, prior, criterion)


def _blocks(
    points: Points, ticks: Sequence[Floats], active: tuple[int, ...], picked: Ints, prior: float, criterion: Criterion
) -> Iterator[Block]:
    products, sets = _sets(active)
    if not active:
        sets = [()]
    priors = dict(zip(sets, _set_priors(products, sets), strict=True))
    scores: dict[tuple[tuple[int, ...], bool], list[Floats]] = {}
    step = max(1, _BLOCK_BYTES // (8 * len(points.y) * len(products)))
    for start in range(0, len(picked), step):
        part = _Part(points, _columns(points, ticks, active, products, picked[start : start + step]))
        for members in sets:
            for has_constant in (True, False) if members else (True,):
                columns = (0, *members) if has_constant else members
                if len(columns) < len(points.y):
                    scores.setdefault((members, has_constant), []).append(part.score(columns, criterion))
    for (members, has_constant), found in scores.items():
        chosen = tuple(products[k] for k in members)
        each = prior + priors[members]
        yield Block(active, chosen, has_constant, picked, np.concatenate(found) + each, each)


def _set_priors(products: list[tuple[int, ...]], sets: list[tuple[int, ...]]) -> list[float]:
    """Return the logarithm of the prior mass of each set of products.

    Sets in which every parameter occurs once, such as ``f + g*h``, share most of it; those in which one occurs again, such
    as ``f + g + f*g``, share the rest, because a small term beside others is hard to exclude and rarely there.
    """
    mixed = [sum(len(products[k]) for k in members) > len({i for k in members for i in products[k]}) for members in sets]
    counts = {kind: mixed.count(kind) for kind in (False, True)}
    masses = {False: 1 - MIXED_MASS if counts[True] else 1.0, True: MIXED_MASS}
    return [math.log(masses[kind] / counts[kind]) for kind in mixed]


def _sets(active: tuple[int, ...]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return all products of active parameters, the empty one first, and the sets of them that need every parameter."""
    n = len(active)
    if n > _MANY:
        products = [(), *((i,) for i in active), active]
        return products, [tuple(range(1, n + 1)), (n + 1,)]
    products = [members for size in range(n + 1) for members in combinations(active, size)]
    most = min(3 if n <= 4 else 2, len(products) - 1)
    sets = [
        chosen
        for size in range(1, most + 1)
        for chosen in combinations(range(1, len(products)), size)
        if {i for k in chosen for i in products[k]} == set(active)
    ]
    return products, [*sets, *([tuple(range(1, n + 1))] if n > most else [])]  # the sum of all is always there


def _columns(
    points: Points, ticks: Sequence[Floats], active: tuple[int, ...], products: list[tuple[int, ...]], picked: Ints
) -> Floats:
    """Return the products over the error of each value, of shape (combinations, products, points), each of mean 1."""
    values = np.empty((len(picked), len(products), len(points.y)))
    scale = points.error_scale()
    for k, members in enumerate(products):
        values[:, k] = 1 / scale
        for i in members:
            values[:, k] *= ticks[i][picked[:, active.index(i)]]
    return np.asarray(values / values.mean(axis=2, keepdims=True))


class _Part:
    """Normal equations of some combinations of ticks, from which any set of products is solved."""

    def __init__(self, points: Points, columns: Floats) -> None:
        self.columns = columns
        self.target = points.y / points.error_scale()
        self.gram = columns @ columns.transpose(0, 2, 1)
        self.right = columns @ self.target
        self.square = float(self.target @ self.target)
        self.n = len(points.y)
        known = math.isfinite(points.relative_variance)
        self.freedom = min(float(points.n_more), _NOISE_TRUST * self.n) if known else 0.0
        self.spread = self.freedom * points.relative_variance if known else 0.0

    def score(self, columns: tuple[int, ...], criterion: Criterion) -> Floats:
        """Return the score of every combination with these products, -inf with a negative coefficient."""
        k, n = len(columns), self.n
        gram: Floats = self.gram[:, np.array(columns)[:, None], columns] + _FLOOR * np.eye(k)
        inverse = inverses(gram, _FLOOR)
        right = self.right[:, columns]
        shares = (inverse @ right[:, :, None])[:, :, 0]
        scores = np.full(len(gram), -np.inf)
        is_kept = (shares >= _NEGATIVE).all(axis=1)
        gram, inverse, right, shares = gram[is_kept], inverse[is_kept], right[is_kept], shares[is_kept]
        rss = np.maximum(self.square - (shares * right).sum(axis=1), 0.0) + _FLOOR * n
        if criterion == "loo":
            scores[is_kept] = -n / 2 * np.log(self._left_out(self.columns[is_kept][:, columns], shares, inverse))
        elif criterion == "evidence":
            scores[is_kept] = self._evidence(gram, inverse, shares, rss)
        else:
            total = n + self.freedom
            penalty = k / 2 * math.log(n) if criterion == "bic" else k + k * (k + 1) / max(total - k - 1, 0.5)
            scores[is_kept] = -total / 2 * np.log(rss + self.spread) - penalty
        return scores

    def _evidence(self, gram: Floats, inverse: Floats, shares: Floats, rss: Floats) -> Floats:
        """Return the logarithm of the marginal likelihood by Laplace's approximation.

        The shares of the terms have a uniform prior on the simplex, the variance of the noise an inverse chi-square one
        from the scatter of the repetitions. The normal approximation is cut off at zero shares, axis by axis, and is never
        wider than the prior.
        """
        from scipy.special import ndtr

        k = gram.shape[1]
        freedom = self.n - k + self.freedom
        variance = (rss + self.spread) / freedom
        log_det = log_determinants(gram + variance[:, None, None] * np.eye(k), _FLOOR + variance)
        deviation = np.sqrt(variance[:, None] * np.diagonal(inverse, axis1=1, axis2=2))
        with np.errstate(divide="ignore"):
            inside = np.log(ndtr(shares / np.maximum(deviation, 1e-300)).prod(axis=1))
        constant = math.lgamma(k) + math.lgamma(freedom / 2) + freedom / 2 * math.log(2) + k / 2 * math.log(2 * math.pi)
        return np.asarray(constant - log_det / 2 - freedom / 2 * np.log(rss + self.spread) + inside)

    def _left_out(self, z: Floats, shares: Floats, inverse: Floats) -> Floats:
        """Return the sum of squares of the residuals of left-out points, in closed form.

        `z` of shape (hypotheses, products, points).
        """
        leverage = np.einsum("hkn,hkl,hln->hn", z, inverse, z)
        residual = self.target - (shares[:, None, :] @ z)[:, 0]
        return np.asarray(((residual / np.maximum(1 - leverage, 1e-6)) ** 2).sum(axis=1) + _FLOOR * self.n)
