"""Posteriors over several parameters: sums and products come back from full grids and sparse designs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.fit.model import Model, Term
from scalkit.judge.fit.regression.priors import EXACT, TIMES, NoisePrior
from scalkit.judge.fit.regression.several.posterior import SumPosterior, sum_posterior

AXES = {"p": 2.0 ** np.arange(3, 8), "S": 4.0 ** np.arange(2, 7), "n": np.arange(10.0, 60.0, 10.0)}
POWERS = ["1/4", "1/3", "1/2", "2/3", "3/4", "1", "5/4", "4/3", "3/2", "5/3", "7/4", "2"]


def ticks(name: str) -> list[Growth]:
    logs = [Growth.of(name, log=1)]
    return logs + [Growth.of(name, power=a, log=b) for a in POWERS for b in (0, 1)]


def grid(names: tuple[str, ...], sparse: bool = False) -> np.ndarray:
    index = np.array(list(itertools.product(range(5), repeat=len(names))))
    if sparse:
        index = index[((index > 0).sum(axis=1) <= 1) | (index == 3).all(axis=1)]
    return np.stack([AXES[name][index[:, i]] for i, name in enumerate(names)], axis=1)


def posterior_of(
    names: tuple[str, ...],
    points: np.ndarray,
    y: np.ndarray,
    error: float = 0.0,
    noise: NoisePrior = EXACT,
    claim: str | None = None,
    candidates: dict[str, list[Growth]] | None = None,
) -> SumPosterior:
    terms = None if claim is None else GrowthSum.parse(claim).terms
    tried = candidates or {name: ticks(name) for name in names}
    return sum_posterior(points, names, y, np.full(len(y), error), tried, terms, noise)


def growth_of(posterior: SumPosterior) -> GrowthSum:
    return GrowthSum.of(term.growth for term in posterior.sum_at(posterior.order[0])[1:])


def values(text: str, points: np.ndarray, names: tuple[str, ...], middle: np.ndarray | None = None) -> np.ndarray:
    """Return one plus the terms of a sum, each over its value in the middle."""
    x = {name: points[:, i] for i, name in enumerate(names)}
    centre = np.median(points, axis=0) if middle is None else middle
    parts = GrowthSum.parse(text).terms
    return 1.0 + sum(term(x) / term(dict(zip(names, centre, strict=True))) for term in parts)


def ahead(text: str, points: np.ndarray, names: tuple[str, ...]) -> tuple[np.ndarray, float]:
    """Return the point at four times all coordinates, and the value of a sum there."""
    at = 4 * points.max(axis=0, keepdims=True)
    return at, float(values(text, at, names, np.median(points, axis=0))[0])


@pytest.mark.parametrize("noise", [EXACT, TIMES], ids=["exact", "times"])
@pytest.mark.parametrize("sparse", [False, True], ids=["full", "sparse"])
@pytest.mark.parametrize(
    "text",
    ["log(p) + S", "p*S", "p^(1/2)*log(S)", "p^2 + S^(3/4)*log(S)", "p", "S^(1/3)", "p^(4/3)*S^(7/4)", "p + p*S", "p^2*S + S^2"],
)
def test_two_parameters_without_noise(text: str, sparse: bool, noise: NoisePrior) -> None:
    names = ("p", "S")
    points = grid(names, sparse)
    found = posterior_of(names, points, values(text, points, names), noise=noise)
    assert growth_of(found) == GrowthSum.parse(text)
    at, value = ahead(text, points, names)
    assert found.predict(at)[0] == pytest.approx(value, rel=0.02)
    assert found.sum_at(found.order[0])[0].coefficient == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("sparse", [False, True], ids=["full", "sparse"])
@pytest.mark.parametrize("text", ["p*S*n", "log(p) + S + n^2", "p*S + n", "p*S", "n^(1/2)", "p + S*n^(1/2)", "p*n/S"])
def test_three_parameters_without_noise(text: str, sparse: bool) -> None:
    names = ("p", "S", "n")
    points = grid(names, sparse)
    assert len(points) == (14 if sparse else 125)
    found = posterior_of(names, points, values(text, points, names))
    assert growth_of(found) == GrowthSum.parse(text)


def test_four_parameters() -> None:
    names = ("p", "S", "n", "m")
    axes = [2.0 ** np.arange(2, 7), 2.0 ** np.arange(5, 10), 3.0 ** np.arange(1, 6), np.arange(5.0, 30.0, 5.0)]
    base = [axis[0] for axis in axes]
    lines = [[*base[:i], v, *base[i + 1 :]] for i, axis in enumerate(axes) for v in axis]
    points = np.unique(np.array([*lines, [a[4] for a in axes], [a[2] for a in axes]]), axis=0)
    y = 1e-3 * (5 + points[:, 0] * points[:, 1] / 16 + points[:, 3])
    tried = {name: [Growth.of(name, power=a) for a in (1, 2)] for name in names}
    found = posterior_of(names, points, y, candidates=tried)
    assert growth_of(found) == GrowthSum.parse("p*S + m")
    assert found.along("n")[Growth()] > 0.9


def test_eight_parameters_are_no_explosion() -> None:
    names = tuple("abcdefgh")
    base = np.full((33, 8), 2.0)
    for i in range(8):
        base[4 * i : 4 * i + 4, i] = [4, 8, 16, 32]
    points = np.vstack([base, np.full(8, 8.0), np.full(8, 4.0)])
    tried = {name: [Growth.of(name, power=1), Growth.of(name, log=1)] for name in names}
    found = posterior_of(names, points, 1.0 + points.prod(axis=1) / 1e3, candidates=tried)
    assert growth_of(found) == GrowthSum.parse("*".join(names))


def noisy(text: str, points: np.ndarray, noise: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return values(text, points, ("p", "S", "n")[: points.shape[1]]) * rng.lognormal(0, noise, len(points))


def test_probabilities_sum_to_one() -> None:
    names = ("p", "S")
    points = grid(names, sparse=True)
    found = posterior_of(names, points, noisy("p*S", points, 0.05, 6), 0.05, TIMES)
    for name in names:
        shares = found.along(name)
        assert sum(shares.values()) == pytest.approx(1.0)
        assert list(shares) == sorted(shares)
        assert 0.01 < max(shares.values()) < 0.999
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.weights.sum() == pytest.approx(1.0)


def test_constant_values_are_a_constant() -> None:
    points = grid(("p", "S"))
    found = posterior_of(("p", "S"), points, np.full(len(points), 3.0))
    assert len(found.sum_at(found.order[0])) == 1
    assert found.predict(4 * points[-1:]) == pytest.approx(3.0)


@settings(max_examples=10, deadline=None)
@given(st.integers(-9, 9), st.randoms(use_true_random=False))
def test_scale_and_order_of_points_change_nothing(exponent: int, random: Any) -> None:
    names = ("p", "S")
    points = grid(names)
    y = noisy("p^(1/2) + S", points, 0.02, 1)
    order = list(range(len(points)))
    random.shuffle(order)
    at = 4 * points[-1:]
    plain = posterior_of(names, points, y, 0.02, TIMES).predict(at)
    moved = posterior_of(names, points[order], 10.0**exponent * y[order], 0.02, TIMES).predict(at)
    np.testing.assert_allclose(moved, 10.0**exponent * plain, rtol=1e-3)  # ties may be kept or not


def test_exponentials_do_not_overflow() -> None:
    points = np.array(list(itertools.product([510.0, 610.0, 710.0, 810.0, 900.0], [1.0, 2.0, 3.0, 4.0, 5.0])))
    y = 2.0 ** (points[:, 0] - 990) * points[:, 1]
    candidates = {"k": [Growth.of("k", exponential=1), Growth.of("k", power=2)], "m": [Growth.of("m", power=1)]}
    found = posterior_of(("k", "m"), points, y, candidates=candidates)
    assert str(growth_of(found)) == "2^k*m"
    largest = y > 1e-10 * y.max()
    np.testing.assert_allclose(found.predict(points[largest]), y[largest], rtol=1e-3)


def test_intervals_cover() -> None:
    names, inside = ("p", "S"), []
    points = grid(names)
    for seed in range(20):
        for text in ("p*S", "log(p) + S", "p + p*S^(1/2)"):
            found = posterior_of(names, points, noisy(text, points, 0.03, seed), 0.03, TIMES)
            at, value = ahead(text, points, names)
            measured = value * np.random.default_rng(seed + 100).lognormal(0, 0.03)
            low, high = found.quantiles(at, (0.1, 0.9))[:, 0]
            inside.append(low <= measured <= high)
    assert 0.7 <= np.mean(inside) <= 0.95


@pytest.mark.parametrize(
    ("truth", "bounds", "is_too_fast"),
    [
        ("p*S", "p + S", True),
        ("p + S", "p*S", False),
        ("p*S", "p*S", False),
        ("S", "p*S", False),
        ("p^(3/2)*S", "p*S", True),
        ("S*log(p) + p", "S*log(p)", True),
        ("S", "S/p", True),
        ("S/p", "S", False),
    ],
)
def test_growth_as_a_whole(truth: str, bounds: str, is_too_fast: bool) -> None:
    names = ("p", "S")
    points = grid(names)
    terms = GrowthSum.parse(bounds).terms
    y = values(truth, points, names) - 1.0
    found = posterior_of(names, points, y * np.random.default_rng(2).lognormal(0, 0.005, len(y)), 0.005, TIMES, bounds)
    assert (found.too_fast(terms) > 0.95) is is_too_fast
    assert is_too_fast or found.too_fast(terms) < 0.1


def test_a_point_that_is_off_is_found_and_does_not_count() -> None:
    names = ("p", "S")
    points = grid(names)
    y = noisy("p*S", points, 0.01, 3)
    y[7] *= 3
    found = posterior_of(names, points, y, 0.01, TIMES)
    assert found.off.argmax() == 7
    assert found.off[7] > 0.95
    assert found.above[7] > 0.95
    at, value = ahead("p*S", points, names)
    assert found.predict(at)[0] == pytest.approx(value, rel=0.1)


def test_a_claim_of_more_terms_than_are_tried() -> None:
    names, claim = ("p", "S"), "p^3 + p^2*S + p*S^2 + S^3"
    points = grid(names)
    y = noisy(claim, points, 0.01, 4)
    found = posterior_of(names, points, y, 0.01, TIMES, claim)
    assert found.too_fast(GrowthSum.parse(claim).terms) < 0.25
    assert found.columns.shape[1:] == (4, 2)


def test_sets_of_columns_are_told_apart() -> None:
    names = ("p", "S", "n")
    design = posterior_of(names, grid(names, sparse=True), values("p*S", grid(names, sparse=True), names)).design
    terms = [np.arange(8)] * 6
    every = np.stack(np.meshgrid(*terms, indexing="ij"), axis=-1).reshape(-1, 2, 3)
    sets = {frozenset(map(tuple, rows)) - {(0, 0, 0)} for rows in every.tolist() if rows[0] != rows[1] or not any(rows[0])}
    found, keys = design.distinct(every)
    assert len(found) == len(np.unique(keys)) == len(sets)


@pytest.mark.parametrize("scatter", [0.1, 0.2, 0.5])
def test_scatter_is_no_growth(scatter: float) -> None:
    """A shift of all values must not explain a part of each with its error."""
    names, claim = ("p", "S"), "log(p) + log(S)"
    points = grid(names)
    faster = []
    for seed in range(10):
        y = noisy(claim, points, scatter, seed)
        faster.append(posterior_of(names, points, y, 0.01, TIMES, claim).too_fast(GrowthSum.parse(claim).terms))
    assert max(faster) < 0.95
    assert np.median(faster) < 0.3


def test_effects_share_the_value_at_the_largest_point() -> None:
    model = Model(("p", "S"), (Term(Growth(), 0.0), Term(Growth("p*S"), 0.0)), "s", 0.0)
    effects = model.effects([1.0, 1.0], [3.0, 3.0])
    assert effects["p"] == pytest.approx(0.4)
    assert effects["S"] == pytest.approx(0.4)
    assert str(model) == "1.00 s + 1.00 s * S*p"
    np.testing.assert_allclose(model({"p": [1.0, 2.0], "S": 3.0}), [4.0, 7.0])
    with pytest.raises(DataError, match="a value of 'S' is missing; give values of p, S"):
        model({"p": 3.0})
    with pytest.raises(DataError, match=r"no point of several parameters; name a value of each, as in p=8, S=8\."):
        model(3.0)


def test_model_as_sympy() -> None:
    model = Model(("p", "S"), (Term(Growth(), 1.0), Term(Growth("p*S"), 2.0)), "s", 0.0)
    assert {str(symbol) for symbol in model.to_sympy().free_symbols} == {"p", "S"}
    assert math.isnan(model.weight)


def test_a_model_with_a_negative_term() -> None:
    model = Model(("p", "S"), (Term(Growth(), 1.0, is_subtracted=True), Term(Growth("p*S"), 0.0)), "s", 0.0)
    assert model.constant == -2.0
    assert str(model) == "1.00 s * S*p - 2.00 s"
    np.testing.assert_allclose(model({"p": [1.0, 4.0], "S": 1.0}), [0.0, 2.0])
    other = Model(("p", "S"), model.terms[::-1], "s", 0.0)
    assert str(other) == "1.00 s * S*p - 2.00 s"
    assert "<mo>&#x2212;</mo>" in other.to_mathml()
