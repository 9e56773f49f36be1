"""What lmfit adds to a model: errors, free exponents, correlations, bands; and what is refused."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.judge.fit.model import Model, Term
from scalkit.judge.fit.refine import refine

P = 2.0 ** np.arange(3, 11)


def noisy(y: np.ndarray, noise: float = 0.02, seed: int = 1) -> np.ndarray:
    return y * (1 + noise * np.random.default_rng(seed).standard_normal(y.shape))


def test_exact_values_come_back_with_their_report() -> None:
    fit = refine(P, 3.0 + 0.5 * P * np.log2(P), "p*log(p)")
    assert fit.best_values == pytest.approx({"constant": 3.0, "coefficient": 0.5})
    assert fit.rsquared == pytest.approx(1.0)
    assert "constant + coefficient * p*log(p)" in fit.fit_report()


def test_errors_correlations_and_band_are_those_of_weighted_least_squares() -> None:
    y = noisy(3.0 + 0.5 * P)
    fit = refine(P, y, Growth("p"))
    design = np.stack([1 / y, P / y], axis=1)
    best, rss = np.linalg.lstsq(design, np.ones(8), rcond=None)[:2]
    covariance = np.linalg.inv(design.T @ design) * rss[0] / 6
    assert list(fit.best_values.values()) == pytest.approx(best.tolist(), rel=1e-9)
    np.testing.assert_allclose(fit.covar, covariance, rtol=1e-6)
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert fit.params["constant"].correl == {"coefficient": pytest.approx(expected)}
    at = np.array([100.0, 4096.0])
    row = np.stack([np.ones(2), at])
    wide = 1.9431802805153022 * np.sqrt(np.einsum("in,ij,jn->n", row, covariance, row))  # Student's t, 95 %, 6 degrees
    np.testing.assert_allclose(fit.eval_uncertainty(p=at, sigma=0.9), wide, rtol=1e-6)


def test_small_coefficients_keep_their_digits() -> None:
    fit = refine(P, noisy(3e-12 + 0.5e-15 * P), "p")
    assert fit.params["coefficient"].value == pytest.approx(0.5e-15, rel=0.1)
    larger = refine(P, noisy(3.0 + 0.5e-3 * P), "p")
    assert fit.params["coefficient"].stderr == pytest.approx(1e-12 * larger.params["coefficient"].stderr, rel=1e-6)


def test_bands_cover_as_often_as_they_say() -> None:
    truth = 2.0 + 0.3 * P**1.5
    inside = 0
    for seed in range(200):
        fit = refine(P, noisy(truth, seed=seed), "p^(3/2)", nonnegative=False)
        off = abs(fit.eval(p=512.0) - (2.0 + 0.3 * 512**1.5))
        inside += bool(off <= fit.eval_uncertainty(p=512.0, sigma=0.9))
    assert 165 <= inside <= 195


def test_free_exponent_is_found_beside_a_fixed_logarithm() -> None:
    y = 1.0 + 0.01 * P**1.3 * np.log2(P)
    fit = refine(P, y, "p*log(p)", free_exponents=True)
    assert fit.params["exponent"].value == pytest.approx(1.3, rel=1e-6)
    assert "constant + coefficient * p^exponent * log(p)" in fit.fit_report()
    exponent = refine(P, noisy(y), "p*log(p)", free_exponents=True).params["exponent"]
    assert abs(exponent.value - 1.3) < 3 * exponent.stderr


def test_coefficient_that_would_be_negative_is_fixed_at_0() -> None:
    y = noisy(0.5 * P) - 2.0
    assert refine(P, y, "p", nonnegative=False).params["constant"].value < 0
    fit = refine(P, y, "p")
    assert (fit.params["constant"].value, fit.params["constant"].vary) == (0.0, False)
    assert fit.nfree == 7
    assert np.isfinite(fit.eval_uncertainty(p=P)).all()


def test_terms_of_a_model_are_fitted() -> None:
    model = Model(("p",), (Term.of(Growth(), 3.0), Term.of(Growth("p"), 0.5)), "s", 0.0)
    fit = refine(P, noisy(3.0 + 0.5 * P), model)
    assert fit.params["coefficient"].value == pytest.approx(0.5, rel=0.05)
    constant = Model(("p",), (Term.of(Growth(), 3.0),), "s", 0.0)
    assert list(refine(P, noisy(np.full(8, 3.0)), constant).params) == ["constant"]


@pytest.mark.parametrize("free", [False, True])
def test_several_parameters(free: bool) -> None:
    points = np.array(list(itertools.product(2.0 ** np.arange(3, 8), 4.0 ** np.arange(2, 7))))
    y = noisy(1e-6 * (2 + 0.3 * points[:, 0] + 1e-2 * points[:, 0] * points[:, 1]), 0.01)
    terms = (Growth(), Growth("p"), Growth("p*S"))
    model = Model(("p", "S"), tuple(Term(growth, -20.0) for growth in terms), "s", 0.0)
    fit = refine(points, y, model, free_exponents=free)
    assert fit.redchi**0.5 == pytest.approx(0.01, rel=0.4)
    if free:
        assert fit.params["exponent_p"].value == pytest.approx(1.0, abs=0.05)
        assert fit.params["exponent_S"].value == pytest.approx(1.0, abs=0.05)
    at = {"p": 128.0, "S": 4096.0}
    off = abs(fit.eval(**at) - 1e-6 * (2 + 0.3 * 128 + 1e-2 * 128 * 4096))
    assert off < fit.eval_uncertainty(**at, sigma=0.99)


def test_sum_as_text_takes_columns_by_name() -> None:
    points = {"p": np.repeat(P, 2), "S": np.tile([8.0, 64.0], 8)}
    fit = refine(points, 1.0 + np.log2(points["p"]) + 2.0 * points["S"], "log(p) + S")
    assert fit.best_values == pytest.approx({"constant": 1.0, "coefficient_1": 2.0, "coefficient_2": 1.0})


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((P, P[:-1], "p"), {}, DataError, "one value at each point is needed"),
        ((P, 0 * P, "p"), {}, DataError, "the value at p = 8 is 0; it must be positive and finite"),
        ((P, P * np.nan, "p"), {"weights": "none"}, DataError, "the value at p = 8 is nan; it must be finite"),
        ((P[:2], P[:2], "p"), {}, DataError, "needs more than 2 points"),
        ((P, P, "p"), {"weights": "square"}, UsageError, "the weights 'square' are unknown"),
        ((P, -P, "p"), {"weights": "none"}, DataError, "every value of 'constant [+] coefficient [*] p' would be negative"),
        ((P, P, "log(p)"), {"free_exponents": True}, UsageError, "has no power of a parameter to free"),
        ((P, 1.01 - 1e-3 * np.log2(P), "1/p"), {"free_exponents": True}, DataError, "leave the exponents fixed"),
        ((P * 100, P, "2^p"), {}, DataError, r"above 2\^1000 at a point"),
    ],
)
def test_bad_input_is_named(
    arguments: tuple[Any, Any, str], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        refine(*arguments, **options)


def test_different_powers_of_one_parameter_cannot_be_free() -> None:
    points = {"p": P, "S": P[::-1]}
    with pytest.raises(UsageError, match="'p' has several powers"):
        refine(points, P, "p*S^3 + p^2*S", free_exponents=True)


def test_lmfit_is_imported_at_first_use() -> None:
    code = "import sys, scalkit.judge.fit.refine; sys.exit('lmfit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
