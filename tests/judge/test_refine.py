"""What lmfit adds to a model: errors, limits, free exponents, correlations, bands; and what is refused."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.judge.fit.model import Model
from scalkit.judge.fit.refine import refine
from scalkit.judge.fit.several.model import SeveralModel, Term

P = 2.0 ** np.arange(3, 11)


def noisy(y: np.ndarray, noise: float = 0.02, seed: int = 1) -> np.ndarray:
    return y * (1 + noise * np.random.default_rng(seed).standard_normal(y.shape))


def test_exact_values_come_back_with_their_report() -> None:
    fit = refine(P, 3.0 + 0.5 * P * np.log2(P), "p*log(p)")
    assert fit.names == ("constant", "coefficient")
    assert fit.values["constant"] == pytest.approx(3.0)
    assert fit.values["coefficient"] == pytest.approx(0.5)
    assert fit.r2 == pytest.approx(1.0)
    assert fit.limits["constant"] == (0.0, np.inf)
    assert "[[Fit Statistics]]" in fit.report
    assert "constant + coefficient * p*log(p)" in fit.report
    assert "coefficient = 0.5 +/-" in str(fit)


def test_errors_correlations_and_band_are_those_of_weighted_least_squares() -> None:
    y = noisy(3.0 + 0.5 * P)
    fit = refine(P, y, Growth("p"))
    design = np.stack([1 / y, P / y], axis=1)
    best, rss = np.linalg.lstsq(design, np.ones(8), rcond=None)[:2]
    covariance = np.linalg.inv(design.T @ design) * rss[0] / 6
    assert [fit.values[name] for name in fit.names] == pytest.approx(best.tolist(), rel=1e-9)
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-6)
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert fit.correlations == {("constant", "coefficient"): pytest.approx(expected)}
    at = np.array([100.0, 4096.0])
    low, high = fit.band(at, 0.9)
    row = np.stack([np.ones(2), at])
    wide = 1.9431802805153022 * np.sqrt(np.einsum("in,ij,jn->n", row, covariance, row))  # Student's t, 95 %, 6 degrees
    np.testing.assert_allclose(high - low, 2 * wide, rtol=1e-6)
    np.testing.assert_allclose(fit(at), (low + high) / 2)
    outer = fit.band(at, 0.9, of="value")
    assert (outer[1] > high).all()
    assert fit.interval("constant")[0] == pytest.approx(best[0] - 1.9431802805153022 * covariance[0, 0] ** 0.5)


def test_bands_cover_as_often_as_they_say() -> None:
    truth = 2.0 + 0.3 * P**1.5
    inside = 0
    for seed in range(200):
        low, high = refine(P, noisy(truth, seed=seed), "p^(3/2)", nonnegative=False).band(512.0, 0.9)
        inside += low <= 2.0 + 0.3 * 512**1.5 <= high
    assert 165 <= inside <= 195


def test_free_exponent_is_found_beside_a_fixed_logarithm() -> None:
    y = 1.0 + 0.01 * P**1.3 * np.log2(P)
    fit = refine(P, y, "p*log(p)", free_exponents=True)
    assert fit.values["exponent"] == pytest.approx(1.3, rel=1e-6)
    assert str(fit.formula) == "constant + coefficient * p^exponent * log(p)"
    assert fit.limits["exponent"] == (-np.inf, np.inf)
    noise = refine(P, noisy(y), "p*log(p)", free_exponents=True)
    low, high = noise.interval("exponent", 0.99)
    assert low < 1.3 < high


def test_coefficient_at_its_limit_is_fixed_there() -> None:
    y = noisy(0.5 * P) - 2.0
    assert refine(P, y, "p", nonnegative=False).values["constant"] < 0
    fit = refine(P, y, "p")
    assert fit.at_limit == ("constant",)
    assert fit.values["constant"] == 0.0
    assert np.isnan(fit.errors["constant"])
    assert np.isnan(fit.correlations["constant", "coefficient"])
    assert fit.n_free == 7
    assert "constant = 0 at its limit" in str(fit)
    assert np.isfinite(fit.band(P)).all()


def test_model_is_its_own_start() -> None:
    model = Model(3.0, 0.5, Growth("p"), "p", "s", 1.0, 0.0, -1.0)
    fit = refine(P, noisy(3.0 + 0.5 * P), model)
    assert fit.values["coefficient"] == pytest.approx(0.5, rel=0.05)
    constant = Model(3.0, 0.0, Growth(), "p", "s", np.nan, 0.0, -np.inf)
    assert refine(P, noisy(np.full(8, 3.0)), constant).names == ("constant",)


@pytest.mark.parametrize("free", [False, True])
def test_several_parameters(free: bool) -> None:
    points = np.array(list(itertools.product(2.0 ** np.arange(3, 8), 4.0 ** np.arange(2, 7))))
    y = noisy(1e-6 * (2 + 0.3 * points[:, 0] + 1e-2 * points[:, 0] * points[:, 1]), 0.01)
    terms = (Growth(), Growth("p"), Growth("p*S"))
    model = SeveralModel(("p", "S"), tuple(Term(growth, -20.0) for growth in terms), "s", 0.0)
    fit = refine(points, y, model, free_exponents=free)
    assert fit.residual_deviation == pytest.approx(0.01, rel=0.4)
    if free:
        assert fit.values["exponent_p"] == pytest.approx(1.0, abs=0.05)
        assert fit.values["exponent_S"] == pytest.approx(1.0, abs=0.05)
    low, high = fit.band({"p": 128.0, "S": 4096.0}, 0.99)
    assert low < 1e-6 * (2 + 0.3 * 128 + 1e-2 * 128 * 4096) < high
    assert fit(points).shape == (25,)


def test_sum_as_text_takes_columns_by_name() -> None:
    points = {"p": np.repeat(P, 2), "S": np.tile([8.0, 64.0], 8)}
    fit = refine(points, 1.0 + np.log2(points["p"]) + 2.0 * points["S"], "log(p) + S")
    assert fit.values["coefficient_1"] == pytest.approx(2.0)
    assert fit.values["coefficient_2"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((P, P[:-1], "p"), {}, DataError, "one value at each point is needed"),
        ((P, 0 * P, "p"), {}, DataError, "the value at p = 8 is 0; it must be positive and finite"),
        ((P, P * np.nan, "p"), {"weights": "none"}, DataError, "the value at p = 8 is nan; it must be finite"),
        ((P[:2], P[:2], "p"), {}, DataError, "needs more than 2 points"),
        ((P, P, "p"), {"weights": "square"}, UsageError, "the weights 'square' are unknown"),
        ((P, P, "p"), {"start": {"slope": 1.0}}, UsageError, "there is no value 'slope' to start from"),
        ((P, P, "log(p)"), {"free_exponents": True}, UsageError, "has no power of a parameter to free"),
        ((P * 100, P, "2^p"), {}, DataError, r"above 2\^1000 at a point"),
    ],
)
def test_bad_input_is_named(
    arguments: tuple[Any, Any, str], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        refine(*arguments, **options)


def test_bad_questions_are_named() -> None:
    fit = refine(P, noisy(1 + P), "p")
    with pytest.raises(UsageError, match="the level 2 is no probability"):
        fit.band(P, 2)
    with pytest.raises(UsageError, match="there is no value 'slope'; there are constant, coefficient"):
        fit.interval("slope")
    with pytest.raises(UsageError, match="a band of 'model' is unknown"):
        fit.band(P, of="model")  # type: ignore[arg-type]
    points = {"p": P, "S": P[::-1]}
    with pytest.raises(UsageError, match="'p' has several powers"):
        refine(points, P, "p*S^3 + p^2*S", free_exponents=True)


def test_lmfit_is_imported_at_first_use() -> None:
    code = "import sys, scalkit.judge.fit.refine; sys.exit('lmfit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
