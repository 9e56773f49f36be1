"""Models of several parameters: sums and products come back from full grids and sparse designs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalkit.errors import DataError, UsageError
from scalkit.fit.several import SeveralFit, fit_several
from scalkit.fit.several.model import GrowthSum, SeveralModel, Term
from scalkit.fit.several.search import CRITERIA
from scalkit.growth import Growth

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


def fitted(names: tuple[str, ...], points: np.ndarray, y: Any, **options: Any) -> SeveralFit:
    return fit_several(points, y, names, {name: ticks(name) for name in names}, **options)


def values(text: str, points: np.ndarray, names: tuple[str, ...], constant: float = 1.0) -> np.ndarray:
    x = {name: points[:, i] for i, name in enumerate(names)}
    middle = {name: np.median(column) for name, column in x.items()}
    parts = GrowthSum.parse(text).terms
    return constant + sum(term(x) / term(middle) for term in parts)


@pytest.mark.parametrize("sparse", [False, True], ids=["full", "sparse"])
@pytest.mark.parametrize(
    "text", ["log(p) + S", "p*S", "p^(1/2)*log(S)", "p^2 + S^(3/4)*log(S)", "p", "S^(1/3)", "p^(4/3)*S^(7/4)"]
)
def test_two_parameters_without_noise(text: str, sparse: bool) -> None:
    names = ("p", "S")
    points = grid(names, sparse)
    fit = fitted(names, points, values(text, points, names))
    assert fit.model.growth == GrowthSum.parse(text)
    assert fit.model.constant == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(fit.model(points), values(text, points, names), rtol=1e-9)


@pytest.mark.parametrize("text", ["p*S*n", "log(p) + S + n^2", "p*S + n", "p*S", "n^(1/2)", "p + S*n^(1/2)"])
def test_three_parameters_without_noise(text: str) -> None:
    names = ("p", "S", "n")
    points = grid(names)
    assert fitted(names, points, values(text, points, names)).model.growth == GrowthSum.parse(text)


@pytest.mark.parametrize("text", ["p*S*n", "log(p) + S + n^2", "p*S + n", "p + S"])
def test_three_parameters_from_fourteen_points(text: str) -> None:
    names = ("p", "S", "n")
    points = grid(names, sparse=True)
    assert len(points) == 14
    fit = fitted(names, points, values(text, points, names))
    for name in names:
        assert fit.model.leading(name) == GrowthSum.parse(text).leading(name)


def test_four_parameters() -> None:
    names = ("p", "S", "n", "m")
    axes = [2.0 ** np.arange(2, 7), 2.0 ** np.arange(5, 10), 3.0 ** np.arange(1, 6), np.arange(5.0, 30.0, 5.0)]
    base = [axis[0] for axis in axes]
    lines = [[*base[:i], v, *base[i + 1 :]] for i, axis in enumerate(axes) for v in axis]
    points = np.unique(np.array([*lines, [a[4] for a in axes], [a[2] for a in axes]]), axis=0)
    y = 1e-3 * (5 + points[:, 0] * points[:, 1] / 16 + points[:, 3])
    fit = fit_several(points, y, names, {name: [Growth.of(name, power=a) for a in (1, 2)] for name in names})
    assert fit.model.growth == GrowthSum.parse("p*S + m")
    assert fit.model.leading("n").is_constant


@pytest.mark.parametrize("criterion", CRITERIA)
def test_noise_is_endured_with_every_criterion(criterion: Any) -> None:
    names = ("p", "S")
    points = grid(names)
    rng = np.random.default_rng(5)
    truth = values("log(p) + S", points, names)
    y = truth[:, None] * (1 + 0.01 * np.abs(rng.standard_normal((len(points), 5))))
    fit = fitted(names, points, y, criterion=criterion)
    assert fit.model.growth == GrowthSum.parse("log(p) + S")
    assert fit.model.weight == max(model.weight for model in (fit.model, *fit.rivals))


def test_weights_are_probabilities() -> None:
    names = ("p", "S")
    points = grid(names, sparse=True)
    rng = np.random.default_rng(6)
    y = values("p*S", points, names)[:, None] * (1 + 0.1 * rng.standard_normal((len(points), 5)))
    fit = fitted(names, points, y)
    for name in names:
        assert sum(fit.weights[name].values()) == pytest.approx(1.0)
        assert 0.01 < max(fit.weights[name].values()) < 0.999
    assert sum(weight for _, weight in fit.growths) == pytest.approx(1.0)
    assert len(fit.rivals) == 5


def test_constant_values_are_a_constant() -> None:
    points = grid(("p", "S"))
    fit = fitted(("p", "S"), points, np.full(len(points), 3.0))
    assert fit.model.growth == GrowthSum.of([])
    assert fit.model(points) == pytest.approx(3.0)


@settings(max_examples=10, deadline=None)
@given(st.integers(-9, 9), st.randoms(use_true_random=False))
def test_scale_and_order_of_points_change_nothing(exponent: int, random: Any) -> None:
    names = ("p", "S")
    points = grid(names)
    y = values("p^(1/2) + S", points, names)
    order = list(range(len(points)))
    random.shuffle(order)
    fit = fitted(names, points[order], 10.0**exponent * y[order])
    assert fit.model.growth == GrowthSum.parse("p^(1/2) + S")
    np.testing.assert_allclose(fit.model(points), 10.0**exponent * y, rtol=1e-9)


def test_repeated_points_are_repetitions() -> None:
    names = ("p", "S")
    points = grid(names)
    y = values("p*S", points, names)
    fit = fitted(names, np.concatenate([points, points]), np.concatenate([y, 1.5 * y]), statistic="min")
    assert fit.points.values.shape == (25, 2)
    np.testing.assert_allclose(fit.model(points), y, rtol=1e-9)


def test_exponentials_do_not_overflow() -> None:
    points = np.array(list(itertools.product([510.0, 610.0, 710.0, 810.0, 900.0], [1.0, 2.0, 3.0, 4.0, 5.0])))
    y = 2.0 ** (points[:, 0] - 990) * points[:, 1]
    candidates = {"k": [Growth.of("k", exponential=1), Growth.of("k", power=2)], "m": [Growth.of("m", power=1)]}
    fit = fit_several(points, y, ("k", "m"), candidates)
    assert str(fit.model.growth) == "2^k*m"
    np.testing.assert_allclose(fit.model(points), y, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_products_that_one_point_alone_tells_apart(criterion: Any) -> None:
    """2^p and 2^p*n are alike at the only point where they count, which rounding makes exactly alike."""
    line = np.unique(np.round(np.linspace(2, 64, 40)))
    lines = [(p, 2.0) for p in line] + [(2.0, n) for n in line[1:]] + [(4.0, 4.0), (8.0, 8.0)]
    points = np.array(lines)
    texts = ("{0}", "{0}^2", "{0}^3", "2^{0}", "log({0})", "{0}*log({0})")
    tried = {name: [Growth.parse(text.format(name)) for text in texts] for name in ("p", "n")}
    found = fit_several(points, 2.0 ** points[:, 0] + points[:, 1], ("p", "n"), tried, criterion=criterion)
    assert {str(term.growth) for term in found.model.terms} == {"2^p", "n"}
    assert not np.isnan(np.concatenate([block.score for block in found.blocks])).any()


def test_effects_share_the_value_at_the_largest_point() -> None:
    model = SeveralModel(("p", "S"), (Term(Growth.constant(), 0.0), Term(Growth.parse("p*S"), 0.0)), "s", 0.0)
    effects = model.effects([1.0, 1.0], [3.0, 3.0])
    assert effects["p"] == pytest.approx(0.4)
    assert effects["S"] == pytest.approx(0.4)
    assert str(model) == "1.00 s + 1.00 s * S*p"
    np.testing.assert_allclose(model({"p": [1.0, 2.0], "S": 3.0}), [4.0, 7.0])
    with pytest.raises(DataError, match="the point has no 'S'; give a value of each of p, S"):
        model({"p": 3.0})
    with pytest.raises(DataError, match="must have one entry for each of p, S"):
        model(3.0)


def test_model_as_latex_and_sympy() -> None:
    model = SeveralModel(("p", "S"), (Term(Growth.constant(), 1.0), Term(Growth.parse("p*S"), 2.0)), "s", 0.0)
    assert "\\cdot" in model.to_latex()
    assert {str(symbol) for symbol in model.to_sympy().free_symbols} == {"p", "S"}
    assert math.isnan(model.weight)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda x, y: (x[:, :1], y), DataError, r"points have shape \(25, 1\)"),
        (lambda x, y: (x, y[:-1]), DataError, r"points have shape \(25, 2\) and values \(24,\)"),
        (lambda x, y: (x, np.where(np.arange(25) == 3, -1.0, y)), DataError, "the value at p = 8, S = 1024 is -1"),
        (lambda x, y: (x, np.where(np.arange(25) == 3, np.inf, y)), DataError, "the value at p = 8, S = 1024 is inf"),
        (lambda x, y: (np.where(x == 8.0, 0.0, x), y), DataError, "the point p = 0, S = 16 is not positive"),
        (lambda x, y: (x[x[:, 1] == 16], y[x[:, 1] == 16]), DataError, r"'S' has one value \(16\)"),
        (lambda x, y: (x[x[:, 1] < 1000], y[x[:, 1] < 1000]), DataError, r"a model in 'S' needs 5 values of it, got 3"),
        (lambda x, y: (x, 0 * y), DataError, "all values are zero or missing"),
    ],
)
def test_bad_data_are_named(change: Any, error: type[Exception], message: str) -> None:
    points = grid(("p", "S"))
    with pytest.raises(error, match=message):
        fitted(("p", "S"), *change(points, values("p*S", points, ("p", "S"))))


def test_bad_options_are_named() -> None:
    points = grid(("p", "S"))
    y = values("p*S", points, ("p", "S"))
    with pytest.raises(UsageError, match="the criterion 'best' is unknown; choose one of evidence, bic, aicc, loo"):
        fitted(("p", "S"), points, y, criterion="best")
    with pytest.raises(UsageError, match="there are no ticks for the parameter 'S'; ticks are given for p"):
        fit_several(points, y, ("p", "S"), {"p": ticks("p")})
    with pytest.raises(DataError, match="min_points is 2"):
        fitted(("p", "S"), points, y, min_points=2)
    with pytest.raises(DataError, match="each must have a name of its own"):
        fit_several(points, y, ("p", "p"), {"p": ticks("p")})
