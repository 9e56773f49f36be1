"""Bad values and too few of them: each is said by name and place, or judged without a warning."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, ExpectationError
from scalkit.judge import Validation
from scalkit.judge.expectation import sure_match
from scalkit.measure import combine

ROOT = Path(__file__).resolve().parents[2]

P = 2.0 ** np.arange(1, 7)
Y = 3 + P


def judged(y: object, x: object = P, expectation: str = "p", parameter: str = "p", **options: object) -> Validation:
    return sk.validate(sk.measurements(x, y, parameter), {"f": expectation}, **options)  # type: ignore[arg-type]


def with_value(place: object, value: float, y: np.ndarray = Y) -> np.ndarray:
    changed = y.copy()
    changed[place] = value  # type: ignore[index]
    return changed


def test_nan_stands_for_what_was_not_measured() -> None:
    found = judged(with_value(2, np.nan))["f"]
    assert found.series.x.tolist() == [2, 4, 16, 32, 64]
    assert str(found.model) == "3.00 s + 1.00 s * p"
    repeated = np.stack([Y, Y, Y], axis=1)
    assert judged(with_value((2, 1), np.nan, repeated))["f"].series.x.tolist() == P.tolist()


ZERO = "is 0 s; it must be positive and finite. Drop that point or measure it again."
NEEDS = "fitting 'time' of 'f' needs 5 values of 'p', got"
FOUR = "measure more or set min_points=4 (--min-points 4)."
NOTHING = "there is no value to judge: 'time' is NaN everywhere, which stands for what was not measured; measure again."


@pytest.mark.parametrize(
    ("y", "x", "message"),
    [
        (with_value(2, 0.0), P, f"'time' of 'f' at p = 8 {ZERO}"),
        (0 * Y, P, f"'time' of 'f' at p = 2 {ZERO}"),
        (np.nan * Y, P, NOTHING),
        (Y[:4], P[:4], f"{NEEDS} 4 (2, 4, 8, 16); {FOUR}"),
        (with_value(2, np.nan)[:5], P[:5], f"{NEEDS} 4 (2, 4, 16, 32); {FOUR}"),
        (Y[:2], P[:2], f"{NEEDS} 2 (2, 4); measure more."),
        (Y, 0 * P + 4, f"{NEEDS} 1 (4); measure more."),
    ],
)
def test_what_cannot_be_judged_is_said(y: np.ndarray, x: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        judged(y, x)


def test_one_bad_series_leaves_the_others_judged() -> None:
    data = combine([sk.measurements(P, Y, name="good"), sk.measurements(P, with_value(2, 0.0), name="bad")])
    found = sk.validate(data, {"good": "p", "bad": "p"})
    assert [v.function for v in found.verdicts] == ["good"]
    (said,) = found.unjudged
    assert "'bad' at p = 8 is 0 s" in said


@pytest.mark.parametrize("n", [3, 4])
def test_few_settings_are_remarked(n: int) -> None:
    found = judged(Y[:n], P[:n], min_points=n)["f"]
    assert found.model.growth == sk.Growth("p")
    assert found.caveats == (f"the model rests on only {n} points of p; 5 are the least to rely on",)


def test_no_model_of_equal_values_has_an_adjusted_r2() -> None:
    """The average of these values differs from them by rounding."""
    rivals = sk.validate(ROOT / "data" / "regression", "mpi")["MPI_Comm_create"].rivals
    assert rivals
    assert all(np.isnan(model.adjusted_r2) for model in rivals)


@pytest.mark.parametrize("expectation", ["1", "p"])
def test_equal_values_are_constant(expectation: str) -> None:
    result = judged(0 * P + 3, expectation=expectation)
    assert result["f"].model.growth.is_constant
    assert np.isnan(result["f"].model.adjusted_r2)
    assert sure_match(result["f"].probability) == ("total" if expectation == "1" else "none")
    assert '"adjusted_r2": null' in result.to_json()
    assert "–" in result._repr_html_() or "—" in result._repr_html_()


def test_repeated_points_are_repetitions() -> None:
    both = judged(np.concatenate([Y, 1.1 * Y]), np.concatenate([P, P]))["f"]
    assert both.series.replicates.shape == (6, 2)
    assert str(both.model) == str(judged(np.stack([Y, 1.1 * Y], axis=1))["f"].model)


@pytest.mark.parametrize("first", [1.0, 100.0, 1000.0])
def test_two_to_the_k_never_overflows(first: float) -> None:
    k = first + np.arange(10)
    y = np.exp2(k - first)
    found = judged(y, k, "2^k", "k")["f"]
    assert (found.match, str(found.model.growth)) == ("total", "2^k")
    assert sure_match(found.probability) in ("total", "approximate")
    assert found.model.terms[-1].log2_coefficient == pytest.approx(-first, abs=1e-3)
    assert found.model(k) == pytest.approx(y, rel=1e-3)
    assert np.isfinite(found.interval(k)).all()
    assert np.isfinite(found.model.log2_value([1e6]))


def test_unknown_functions_have_nearest_names() -> None:
    data = sk.measurements(P, Y, name="MPI_Bcast")
    message = (
        "no measured function has an expectation: measured are MPI_Bcast; expectations name MPI_Bcst. Did you mean 'MPI_Bcast'?"
    )
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        sk.validate(data, {"MPI_Bcst": "p"})
    assert sk.validate(data, {"MPI_Bcast": "p", "MPI_Redce": "p"}).missing == ("MPI_Redce",)
