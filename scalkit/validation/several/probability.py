"""Probabilities of the match ranks over several parameters: all hypotheses of a fit, with the ranks equally probable before.

The hypotheses of a fit have a prior of their own, the same for all ticks of a parameter. Most ticks lie beyond the limits, so
that values without meaning would be a match rank by their number alone. As for one parameter, total, approximate and none are
therefore weighed as equally probable before the measurements: the mass of each is divided by its prior mass.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Ints
from scalkit.fit.several import SeveralFit
from scalkit.fit.several.search import Block
from scalkit.growth import Growth
from scalkit.validation.expectation import RANKS, Expectation, Rank
from scalkit.validation.several.expectation import SeveralExpectation

Bools = Flags
Words = np.ndarray[Any, np.dtype[np.uint64]]
_ROWS, _LEAST_ROWS = 1_000_000, 200


@dataclass(frozen=True)
class WholeProbability:
    """What all hypotheses make probable as a whole.

    `faster`: of rank none: the share of hypotheses that grow faster.
    `too_fast`: probability of growth beyond what is tolerated.
    """

    ranks: Mapping[Rank, float]
    faster: float
    too_fast: float


def probability_along(fit: SeveralFit, expectation: Expectation) -> dict[Rank, float]:
    """Return the probability of each match rank along the parameter of an expectation. `fit`: with its blocks."""
    name = expectation.parameter
    column = fit.points.parameters.index(name)
    masses = [(column in b.active, math.exp(b.prior) * _n_combinations(fit, b.active)) for b in fit.blocks]
    active = sum(mass for is_active, mass in masses if is_active) / sum(mass for _, mass in masses)
    ticks = fit.ticks[name]
    mass, prior = dict.fromkeys(RANKS, 0.0), dict.fromkeys(RANKS, 0.0)
    for growth, weight in fit.weights[name].items():
        rank = expectation.rank(growth)
        mass[rank] += weight
        prior[rank] += 1 - active if growth.is_constant else active / len(ticks)
    return _weighed(mass, prior)


def probability_of_whole(fit: SeveralFit, expectation: SeveralExpectation, tolerance: Mapping[str, Growth]) -> WholeProbability:
    """Return the probability of each match rank as a whole; see `SeveralExpectation.rank`.

    `fit`: with its blocks.
    `expectation`: over the same parameters.
    `tolerance`: by which growth each expected term may be outgrown along it.
    """
    compare = _Comparison.of(fit, expectation, tolerance)
    top = max(float(block.score.max()) for block in fit.blocks)
    mass, prior, faster = dict.fromkeys(RANKS, 0.0), dict.fromkeys(RANKS, 0.0), 0.0
    beyond = dict.fromkeys(RANKS, 0.0)
    sets = {(block.active, block.products): block for block in fit.blocks}
    rows = max(_ROWS // len(sets), _LEAST_ROWS)
    shares = {key: _prior_shares(fit, compare, block, rows) for key, block in sets.items()}
    for block in fit.blocks:
        weight = np.exp(block.score - top)
        total, inside, above, too_fast = compare(block, block.combinations)
        for rank, there in zip(RANKS, (total, inside & ~total, ~inside), strict=True):
            mass[rank] += float(weight[there].sum())
            beyond[rank] += float(weight[there & too_fast].sum())
        faster += float(weight[~inside & above].sum())
        for rank, share in shares[block.active, block.products].items():
            prior[rank] += math.exp(block.prior) * _n_combinations(fit, block.active) * share
    ranks = _weighed(mass, prior)
    too_much = sum(ranks[rank] * beyond[rank] / mass[rank] for rank in RANKS if mass[rank])
    return WholeProbability(ranks, faster / mass["none"] if mass["none"] else 0.0, too_much)


def _weighed(mass: Mapping[Rank, float], prior: Mapping[Rank, float]) -> dict[Rank, float]:
    found = {rank: mass[rank] / prior[rank] if prior[rank] > 0 else 0.0 for rank in RANKS}
    total = sum(found.values())
    return {rank: value / total for rank, value in found.items()}


def _n_combinations(fit: SeveralFit, active: Sequence[int]) -> int:
    return math.prod(len(fit.ticks[fit.points.parameters[i]]) for i in active)


def _prior_shares(fit: SeveralFit, compare: "_Comparison", block: Block, rows: int) -> dict[Rank, float]:
    """Return the share of each rank among all combinations of ticks of a block; where these are more than `rows`, that of
    total matches is exact and the others come from a sample.
    """
    sizes = [len(fit.ticks[fit.points.parameters[i]]) for i in block.active]
    n = math.prod(sizes)
    if n <= rows:
        total, inside, _, _ = compare(block, np.indices(sizes).reshape(len(sizes), n).T)
        return _shares(float(total.mean()), float(inside.mean()))
    equal = np.array(list(product(*(compare.expected_ticks[i] for i in block.active))), dtype=np.int64)
    exact = float(compare(block, equal.reshape(-1, len(sizes)))[0].sum()) / n
    rng = np.random.default_rng(0)
    sample = np.stack([rng.integers(size, size=rows) for size in sizes], axis=1)
    return _shares(exact, max(exact, float(compare(block, sample)[1].mean())))


def _shares(total: float, inside: float) -> dict[Rank, float]:
    return {"total": total, "approximate": inside - total, "none": 1 - inside}


@dataclass(frozen=True)
class _Comparison:
    """Tables of how each tick of a parameter compares with that parameter in each expected term; the last row: no effect.

    `tables`, shape (ticks + 1, 5, words): for each parameter, a bit for each expected term: whether the tick is at most
    the term times the deviation; whether the tick times the deviation is at least the term; the same two without
    deviation; whether the tick is at most the term times what is tolerated.
    `every`, shape (words,): the bits of all expected terms.
    `expected_ticks`: for each parameter, the ticks that stand in an expected term.
    """

    tables: Sequence[Words]
    every: Words
    expected_ticks: Sequence[list[int]]

    @classmethod
    def of(cls, fit: SeveralFit, expectation: SeveralExpectation, tolerance: Mapping[str, Growth]) -> "_Comparison":
        one = Growth.constant()
        tables, found = [], []
        for name in fit.points.parameters:
            ticks = [*fit.ticks[name], one]
            terms = [Growth.product({name: term.exponents(name)}) for term in expectation.growth.terms]
            d = expectation.along[name].deviation
            compared = [
                [
                    [tick <= term * d for term in terms],
                    [tick * d >= term for term in terms],
                    [tick <= term for term in terms],
                    [tick >= term for term in terms],
                    [tick <= term * tolerance[name] for term in terms],
                ]
                for tick in ticks
            ]
            tables.append(_words(np.array(compared)))
            found.append([i for i, tick in enumerate(fit.ticks[name]) if tick in terms])
        every = _words(np.ones(len(expectation.growth.terms), dtype=bool))
        return cls(tables, every, found)

    def __call__(self, block: Block, combinations: Ints) -> tuple[Bools, Bools, Bools, Bools]:
        """Return whether each hypothesis is a total match, inside the limits, beyond the upper limit, and faster than is
        tolerated."""
        chosen = {i: self.tables[i][combinations[:, column]] for column, i in enumerate(block.active)}
        at_most = np.ones((len(combinations), 5), dtype=bool)  # every product at most some expected term
        covered = np.zeros((len(combinations), 5, len(self.every)), dtype=np.uint64)  # terms that some product reaches
        for members in block.products or ((),):
            code = np.broadcast_to(self.every, covered.shape)
            for i, table in enumerate(self.tables):
                code = code & (chosen[i] if i in members else table[-1])
            at_most &= code.any(axis=2)
            covered |= code
        at_least = (covered == self.every).all(axis=2)
        total, inside = at_most[:, 2] & at_least[:, 3], at_most[:, 0] & at_least[:, 1]
        return total, inside, ~at_most[:, 0], ~at_most[:, 4]


def _words(bits: Bools) -> Words:
    """Return the last axis of an array packed into words of 64 bits."""
    packed = np.packbits(bits, axis=-1)
    rest = -packed.shape[-1] % 8
    padded = np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, rest)])
    return np.ascontiguousarray(padded).view(np.uint64)
