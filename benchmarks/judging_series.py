"""Generates series whose true growth is known, to measure how well a judge judges them.

A judge gets a series of one parameter and a claim, such as n log n, and says whether the values
grow faster. Five groups of series try it:

- ``plain``: a constant plus one term, with noise;
- ``between``: powers between the usual ones, sums of two terms, negative constants and lower terms;
- ``adversarial``: what goes wrong on real machines: drifts, steps, cache cliffs, coarse clocks,
  points that are off;
- ``hard``: few points of a slow growth that a constant hides, half of them with such trouble;
- ``systematic``: exact counts, falling values, a bounded rise by the memory hierarchy;
- ``limit``: a small family with a known prior, for which `judging_limit` computes what the best
  judge could say.

A case depends on its group, the seed and its number only: more cases of the same seed begin with
the same ones. Nothing here depends on how a judge works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Term = tuple[float, float]
"""Exponents (a, b) of x**a * log2(x)**b; terms compare as growths do."""
Array = NDArray[np.float64]
Law = Callable[[Array], Array]

TRUE = "true"
STEEP = "too optimistic by n^(1/2) and more"
LESS = "too optimistic by less"
ONE_CLASS, TWO_CLASSES = "too optimistic by one class", "too optimistic by two classes"

AHEAD = (2, 4, 16)
"""The truth is known and measured anew at so many times the largest point."""
STARTS = (16, 64, 256, 1024)
REPETITIONS = 5
CLASSES: tuple[Term, ...] = (
    (0, 0), (0, 1), (0.5, 0), (1, 0), (1, 1), (1.5, 0), (2, 0), (2, 1), (3, 0),
)  # fmt: skip
USUAL = CLASSES + CLASSES[:6]
"""Slow growths twice: judging them is harder, and they are more common."""
RARER: tuple[Term, ...] = (
    (0.25, 0), (1 / 3, 0), (2 / 3, 0), (0.5, 1), (0.75, 0), (4 / 3, 0), (1, 2), (1.25, 0),
    (2.5, 0),
)  # fmt: skip
BETWEEN: tuple[Term, ...] = (
    (0.4, 0), (0.6, 0), (0.9, 0), (1.15, 0), (1.37, 0), (1.8, 0), (2.2, 0), (0.4, 1), (0.9, 1),
    (1.37, 1),
)  # fmt: skip
SUMS: tuple[tuple[Term, Term], ...] = (
    ((1, 1), (1, 0)), ((2, 0), (1, 0)), ((1, 0), (0.5, 0)), ((1, 0), (0, 1)), ((1.5, 0), (1, 0)),
    ((0.5, 0), (0, 1)), ((2, 0), (1, 1)), ((3, 0), (2, 0)), ((2, 1), (2, 0)),
)  # fmt: skip
GROUPS = ("plain", "between", "adversarial", "systematic", "limit", "hard")


@dataclass(frozen=True)
class Case:
    """One series, what is claimed about it, and what is true.

    Parameters
    ----------
    group, row : where it belongs
    kind : how the claim relates to the truth
    noise : relative standard deviation of a repetition; 0 for exact values
    claim, truth : leading terms
    x : points, ascending
    repetitions : values, of shape (points, repetitions)
    later : noiseless truth at 2, 4 and 16 times the largest point; what is transient is gone there
    fresh : medians of new repetitions at these points
    """

    group: str
    row: str
    kind: str
    noise: float
    claim: Term
    truth: Term
    x: Array
    repetitions: Array
    later: Array
    fresh: Array


def term_values(term: Term, x: Array) -> Array:
    """Return x**a * log2(x)**b."""
    return np.asarray(np.power(x, term[0]) * np.power(np.log2(x), term[1]))


def is_steep(truth: Term, claim: Term) -> bool:
    """Return whether the truth outgrows the claim by n^(1/2) and more."""
    return (truth[0] - 0.5, truth[1]) >= claim


def claims_of(truth: Term, kind: str) -> list[Term]:
    """Return the claims of that kind about a truth, fastest first; there may be none."""
    if kind == TRUE:
        return [truth]
    slower = [term for term in CLASSES[::-1] if term < truth]
    if kind == STEEP:
        return [term for term in slower if is_steep(truth, term)][:2]
    if kind in (ONE_CLASS, TWO_CLASSES):
        return slower[kind == TWO_CLASSES :][:1]
    a, b = truth
    near = {term for term in slower if not is_steep(truth, term)}
    if b >= 1:
        near.add((a, b - 1))
    elif a >= 0.25:
        near.add((a - 0.25, b))
    return sorted(near, reverse=True)


def draw_truth(rng: np.random.Generator, terms: Iterable[Term], kind: str) -> tuple[Term, Term]:
    """Return a term about which there are claims of that kind, and one of these claims."""
    possible = [term for term in terms if claims_of(term, kind)]
    truth = possible[rng.integers(len(possible))]
    claims = claims_of(truth, kind)
    return truth, claims[rng.integers(len(claims))]


def draw_points(rng: np.random.Generator, fewest: int = 5, most: int = 8) -> Array:
    """Return points that double."""
    start = STARTS[rng.integers(len(STARTS))]
    return np.asarray(start * 2.0 ** np.arange(rng.integers(fewest, most + 1)), np.float64)


def mixed(parts: Iterable[tuple[float, Term]], constant: float, x: Array, scale: float) -> Law:
    """Return a law: a constant, and terms that are given by their values at the first point."""
    weights = [(value / term_values(term, x[:1])[0], term) for value, term in parts]

    def law(at: Array) -> Array:
        values = np.full(len(at), float(constant))
        for weight, term in weights:
            values += weight * term_values(term, at)
        return scale * values

    return law


def draw_scale(rng: np.random.Generator) -> float:
    """Return the size of the values, from microseconds to seconds."""
    return float(10 ** rng.uniform(-6, 0))


def plain_law(
    rng: np.random.Generator, x: Array, truth: Term, dominated: float = 0.4, shares: tuple[float, float] = (0.2, 1.0)
) -> Law:
    """Return a constant plus the term.

    The constant is up to half of the first value, except in a part of the series, `dominated`:
    there `shares` are the smallest and the largest share of the term at the middle.
    """
    if rng.random() < dominated:
        share = rng.uniform(*shares)
        middle = np.exp(np.log(x).mean(keepdims=True))
        growth = float(term_values(truth, middle)[0] / term_values(truth, x[:1])[0])
        constant = (1 - share) / share * growth
    else:
        part = rng.uniform(0, 0.5)
        constant = part / (1 - part)
    return mixed([(1, truth)], constant, x, draw_scale(rng))


def measured(rng: np.random.Generator, values: Array, noise: float | Array, repetitions: int = REPETITIONS) -> Array:
    """Return repetitions of the values with log-normal noise; their median is the value."""
    normal = rng.normal(size=(len(values), repetitions))
    runs: Array = values[:, None] * np.exp(np.broadcast_to(noise, values.shape)[:, None] * normal)
    return runs


def ahead_of(x: Array) -> Array:
    """Return the points, and those at which predictions are held against the truth."""
    return np.concatenate([x, x[-1] * np.array(AHEAD)])


def simple_case(
    rng: np.random.Generator,
    labels: tuple[str, str, str, float],
    terms: tuple[Term, Term],
    x: Array,
    law: Law,
    repetitions: int = REPETITIONS,
) -> Case:
    """Return a case without disturbances.

    Parameters
    ----------
    labels : group, row, kind and noise
    terms : truth and claim
    """
    values = law(ahead_of(x))
    if values.min() <= 0:
        raise ValueError(f"values of {labels} are not positive: {values}")
    runs, n = measured(rng, values, labels[3], repetitions), len(x)
    truth, claim = terms
    return Case(*labels, claim, truth, x, runs[:n], values[n:], np.median(runs[n:], axis=1))


def pick(number: int, *choices: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return one of each choice, such that successive numbers go through all combinations."""
    combinations = list(product(*choices))
    # A step of 41 lets the first cases of a group vary in all choices, too.
    return combinations[41 * number % len(combinations)]


def plain(rng: np.random.Generator, number: int) -> Case:
    """Return a constant plus one term, whose share at the middle is 10 to 100 %."""
    kind, noise = pick(number, (TRUE, STEEP, LESS), (0.01, 0.02, 0.05, 0.1))
    x = draw_points(rng)
    truth, claim = draw_truth(rng, (*CLASSES, *RARER), kind)
    law = plain_law(rng, x, truth, dominated=1.0, shares=(0.1, 1.0))
    return simple_case(rng, ("plain", "any constant", kind, noise), (truth, claim), x, law)


def between(rng: np.random.Generator, number: int) -> Case:
    """Return a power between the usual ones, a sum of two terms, or one with a negative part."""
    rows = ("power", "power, rounded claim", "sum", "negative constant", "negative lower term")
    row, kind, noise = pick(number, rows, (TRUE, STEEP, LESS), (0.01, 0.02, 0.05, 0.1))
    labels = ("between", row, kind, noise)
    x = draw_points(rng)
    if row.startswith("power"):
        truth, claim = draw_truth(rng, BETWEEN, kind)
        if kind == TRUE and row != "power":  # n^0.9 is in O(n), too
            claim = min(term for term in CLASSES if term >= truth)
        return simple_case(rng, labels, (truth, claim), x, plain_law(rng, x, truth))
    if row == "negative constant":
        truth, claim = draw_truth(rng, CLASSES[1:], kind)
        law = mixed([(1, truth)], -rng.uniform(0.2, 0.85), x, draw_scale(rng))
    else:
        truth, claim = draw_truth(rng, sorted({leading for leading, _ in SUMS}), kind)
        lower = [below for leading, below in SUMS if leading == truth]
        share = rng.uniform(0.2, 0.8)
        weights = (1 - share, share) if row == "sum" else (1.0, -share)
        constant = rng.uniform(0, 0.3) * sum(weights) * rng.integers(2)
        parts = zip(weights, (truth, lower[rng.integers(len(lower))]), strict=True)
        law = mixed(parts, constant, x, draw_scale(rng))
    return simple_case(rng, labels, (truth, claim), x, law)


ADVERSARIAL = (
    "drift of 20 %", "step of 1.3", "spikes", "correlated", "coarse clock", "cache cliff",
    "plateau", "growing noise", "last point x1.3", "last point x10", "one point x1.5",
    "one slow run", "3 repetitions", "1 repetition",
)  # fmt: skip


def adversarial(rng: np.random.Generator, number: int) -> Case:
    """Return a series with one kind of trouble."""
    row, kind, noise = pick(number, ADVERSARIAL, (TRUE, STEEP), (0.01, 0.02, 0.05))
    x = draw_points(rng, 6 if row == "plateau" else 5)
    terms = draw_truth(rng, USUAL, kind)
    law = plain_law(rng, x, terms[0])
    return troubled(rng, ("adversarial", row, kind, noise), terms, x, law)


def hard(rng: np.random.Generator, number: int) -> Case:
    """Return few points of a slow growth that a constant hides, half of them with trouble."""
    trouble = ("", "drift of 20 %", "", "correlated", "", "cache cliff", "", "last point x1.3")
    row, kind, noise = pick(number, trouble, (TRUE, STEEP, LESS), (0.01, 0.02, 0.05))
    x = draw_points(rng, 5, 6)
    truth, claim = draw_truth(rng, CLASSES[:6], kind)
    if kind == STEEP:
        claim = claims_of(truth, kind)[0]
    law = plain_law(rng, x, truth, dominated=1.0, shares=(0.1, 0.5))
    labels = ("hard", row or "undisturbed", kind, noise)
    return troubled(rng, labels, (truth, claim), x, law)


def troubled(rng: np.random.Generator, labels: tuple[str, str, str, float], terms: tuple[Term, Term], x: Array, law: Law) -> Case:
    """Return a case with the trouble that its row, the second of the labels, names.

    Steps, cliffs and plateaus last, also beyond the largest point; all else is gone there.
    """
    group, row, kind, noise = labels
    truth, claim = terms
    n, at = len(x), ahead_of(x)
    values = law(at)
    place = np.arange(n + len(AHEAD))
    transient = np.ones(len(at))
    noises: float | Array = noise
    if row == "drift of 20 %":
        transient[:n] = np.linspace(1, 1.2, n) ** rng.choice([-1, 1])
    elif row == "step of 1.3":
        values *= np.where(place >= rng.integers(1, n), 1.3, 1)
    elif row == "cache cliff":
        width = rng.integers(1, 3)
        start = rng.integers(0, n - width)
        values *= rng.uniform(1.6, 2.2) ** np.clip((np.log2(at / x[0]) - start) / width, 0, 1)
    elif row == "plateau":
        values = np.maximum(values, values[rng.integers(1, 4)])
    elif row == "correlated":
        transient, noise = np.exp(rng.normal(0, 0.05, len(at))), 0.01
        noises = noise
    elif row == "growing noise":
        noises = 0.01 * 20 ** np.minimum(place / (n - 1), 1)
        noise = 0.2
    elif row.startswith("last point"):
        transient[n - 1] = float(row.split("x")[1])
    elif row == "one point x1.5":
        transient[rng.integers(n)] = 1.5
    elif row == "1 repetition":
        noises = noise = 0.01
    repetitions = int(row[0]) if row in ("3 repetitions", "1 repetition") else REPETITIONS
    runs = measured(rng, values * transient, noises, repetitions)
    if row == "spikes":
        struck = rng.random(runs.shape) < 0.05
        runs *= np.where(struck, 1 + np.abs(rng.standard_cauchy(runs.shape)), 1)
    elif row == "one slow run":
        runs[:, rng.integers(repetitions)] *= rng.uniform(1.3, 3)
    elif row == "coarse clock":
        tick = runs.min() / 3
        runs = np.maximum(np.round(runs / tick), 1) * tick
    fresh = np.median(runs[n:], axis=1)
    return Case(group, row, kind, noise, claim, truth, x, runs[:n], values[n:], fresh)


COUNTS: tuple[tuple[Term, Law], ...] = (
    ((1, 1), lambda n: 2 * n * np.log2(n) - n + 100),
    ((1, 1), lambda n: n * np.log2(n) - n + 1),
    ((1, 1), lambda n: 1.5 * n * np.log2(n) + 12 * n),
    ((2, 0), lambda n: n * (n - 1) / 2),
    ((2, 0), lambda n: n**2 - n + 40),
    ((1, 0), lambda n: 3 * n - 2 * np.log2(n)),
    ((1, 0), lambda n: 4 * n + 5000),
    ((0, 1), lambda n: 435 * np.log2(n) - 1331),
    ((3, 0), lambda n: (n**3 - n) / 3),
)
TREES: tuple[tuple[Term, Law], ...] = (
    ((1, 0), lambda n: n - 1),
    ((1, 0), lambda n: 2 * n - 2),
    ((2, 0), lambda n: n * (n - 1)),
    ((0, 1), lambda n: np.log2(n) - 1),
    ((1, 1), lambda n: (n - 1) * np.log2(n)),
)


def systematic(rng: np.random.Generator, number: int) -> Case:
    """Return falling values, counts, trees less their root, or a rise by the memory hierarchy."""
    rows = ("falling", "counts", "tree less its root", "memory hierarchy")
    row, kind, noise = pick(number, rows, (TRUE, STEEP, LESS), (0.0, 0.01, 0.05))
    x = draw_points(rng)
    if row == "falling":  # any claim that does not fall is true
        falling = ((-1.0, 0.0), (-0.5, 0.0), (-0.25, 0.0), (0.0, -1.0))[rng.integers(4)]
        constant = rng.uniform(0.05, 1) * rng.integers(2)
        law = mixed([(1, falling)], constant, x, draw_scale(rng))
        terms = ((0.0, 0.0) if constant else falling, CLASSES[rng.integers(4)])
        return simple_case(rng, ("systematic", row, TRUE, noise), terms, x, law)
    if row == "memory hierarchy":
        truth, claim = draw_truth(rng, CLASSES[:7], kind)
        smooth = plain_law(rng, x, truth, dominated=0.0)
        steps = [(rng.uniform(1.2, 1.8), rng.uniform(0, len(x) - 1), rng.uniform(0.4, 1.2)) for _ in range(rng.integers(1, 3))]

        def law(at: Array) -> Array:
            rise = np.ones(len(at))
            for factor, middle, width in steps:  # in doublings: a level no longer holds the data
                rise *= factor ** (1 / (1 + np.exp(-(np.log2(at / x[0]) - middle) / width)))
            return smooth(at) * rise

    else:
        table = COUNTS if row == "counts" else TREES
        truth, claim = draw_truth(rng, sorted({term for term, _ in table}), kind)
        laws = [formula for term, formula in table if term == truth]
        law = laws[rng.integers(len(laws))]
    return simple_case(rng, ("systematic", row, kind, noise), (truth, claim), x, law)


LIMIT_POINTS = 6
SMALL_CONSTANT, ANY_CONSTANT = "small constant", "any constant"
LARGEST_CONSTANT = 0.5
LIMIT_SHARES = (0.1, 1.0)


def limit_constant(row: str, quantile: Array, truth: Term, x: Array) -> Array:
    """Return quantiles of the constant in units of the first value of the term.

    A small constant is uniform from 0 to 1/2; of any constant, the share of the term at the middle
    is uniform from 10 to 100 %.
    """
    if row == SMALL_CONSTANT:
        return LARGEST_CONSTANT * quantile
    low, high = LIMIT_SHARES
    share = high - (high - low) * quantile
    middle = np.exp(np.log(x).mean(keepdims=True))
    growth = term_values(truth, middle) / term_values(truth, x[:1])
    return np.asarray((1 - share) / share * growth)


def limit(rng: np.random.Generator, number: int) -> Case:
    """Return a class plus a constant of a known distribution, at six points."""
    rows, kinds = (SMALL_CONSTANT, ANY_CONSTANT), (TRUE, ONE_CLASS, TWO_CLASSES)
    row, noise, kind = pick(number, rows, (0.01, 0.05, 0.1), kinds)
    x = draw_points(rng, LIMIT_POINTS, LIMIT_POINTS)
    truth, claim = draw_truth(rng, CLASSES, kind)
    constant = limit_constant(row, rng.random(1), truth, x)
    law = mixed([(1, truth)], float(constant[0]), x, draw_scale(rng))
    return simple_case(rng, ("limit", row, kind, noise), (truth, claim), x, law)


MAKERS = dict(zip(GROUPS, (plain, between, adversarial, systematic, limit, hard), strict=True))


def generate(group: str, count: int, seed: int = 0, start: int = 0) -> list[Case]:
    """Return cases of a group; case i is the same whatever the count is."""
    maker, place = MAKERS[group], GROUPS.index(group)
    return [maker(np.random.default_rng([seed, place, i]), i) for i in range(start, start + count)]


def batches(cases: list[Case]) -> Iterator[list[int]]:
    """Yield the places of cases with equal points, equal numbers of repetitions, exact or not."""
    found: dict[tuple[object, ...], list[int]] = {}
    for i, case in enumerate(cases):
        key = (case.x.tobytes(), case.repetitions.shape, case.noise == 0)
        found.setdefault(key, []).append(i)
    yield from found.values()
