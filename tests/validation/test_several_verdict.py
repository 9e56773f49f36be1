"""Expectations over several parameters: along each, as a whole, from arrays and Datasets."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
import xarray as xr

from scalkit.errors import DataError, ExpectationError
from scalkit.fit.several_growth import GrowthSum
from scalkit.growth import Growth
from scalkit.validation.several import validate_several
from scalkit.validation.several_data import measurements_several, parameters_of, several_series
from scalkit.validation.several_expectation import SeveralExpectation
from scalkit.validation.several_verdict import SeveralVerdict

P, S = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(3, 8)
POINTS = np.array(list(itertools.product(P, S)))
SUM = 2e-6 + 3e-6 * np.log2(POINTS[:, 0]) + 1e-9 * POINTS[:, 1]
PRODUCT = 2e-6 + 1e-9 * POINTS[:, 0] * POINTS[:, 1]


def noisy(y: np.ndarray, seed: int = 3) -> np.ndarray:
    return y[:, None] * (1 + 0.02 * np.abs(np.random.default_rng(seed).standard_normal((len(y), 5))))


def judged(y: np.ndarray, expectation: object, points: np.ndarray = POINTS, **options: Any) -> SeveralVerdict:
    return validate_several((points, y), expectation, parameters=["p", "S"], **options)["f"]


def test_a_sum_that_grows_as_expected() -> None:
    v = judged(noisy(SUM), "log(p) + S")
    assert (v.verdict, v.rank, v.direction) == ("total", "total", "as expected")
    assert [one.verdict for one in v.along.values()] == ["total", "total"]
    assert not v.is_failure
    assert v.sentence.startswith("f grows as expected, S + log(p); along p it grows as expected, log(p)")
    assert v.probability["total"] == pytest.approx(1 - v.probability["none"] - v.probability["approximate"])
    assert 0 < v.effects["p"] < v.effects["S"] < 1


def test_a_product_where_a_sum_is_expected() -> None:
    v = judged(noisy(PRODUCT), "p + S")
    assert [one.verdict for one in v.along.values()] == ["total", "total"]
    assert (v.verdict, v.direction) == ("none", "grows faster")
    assert v.is_failure
    assert v.sentence.startswith("f grows faster than the limits allow: S*p instead of S + p")


def test_one_parameter_that_grows_faster() -> None:
    v = judged(noisy(PRODUCT), "log(p) * S")
    assert v.along["S"].verdict == "total"
    along = v.along["p"]
    assert (along.verdict, along.direction) == ("none", "grows faster")
    assert along.divergence == Growth.parse("p/log(p)")
    assert v.is_failure


def test_better_than_expected_is_no_failure() -> None:
    v = judged(noisy(SUM), "p*S")
    assert (v.verdict, v.direction) == ("none", "grows slower")
    assert not v.is_failure
    assert v.along["p"].crossing == pytest.approx(16.0)


def test_a_parameter_without_effect_is_expected_when_it_is_not_named() -> None:
    v = judged(noisy(2e-6 + 3e-6 * np.log2(POINTS[:, 0])), "log(p)")
    assert v.along["S"].growth == Growth.constant()
    assert v.along["S"].verdict == "total"
    assert v.effects["S"] == pytest.approx(0.0, abs=0.05)
    assert judged(noisy(SUM), "log(p)").along["S"].verdict == "none"


def test_sparse_design_decides() -> None:
    on_lines = np.equal(POINTS, POINTS[0]).any(axis=1) | np.equal(POINTS, [64.0, 4096.0]).all(axis=1)
    v = judged(PRODUCT[on_lines], "p*S", POINTS[on_lines])
    assert on_lines.sum() == 10
    assert v.model.growth == GrowthSum.parse("p*S")
    assert v.verdict == "total"


def test_noise_beyond_measure_is_undecided() -> None:
    rng = np.random.default_rng(11)
    y = SUM[:, None] * np.exp(0.5 * rng.standard_normal((25, 3)))
    v = judged(y, "log(p)*S")
    assert "undecided" in {v.verdict, *(one.verdict for one in v.along.values())}
    assert "undecided" in v.sentence


def test_dataset_holds_the_same_as_arrays() -> None:
    y = noisy(SUM)
    ds = measurements_several(POINTS, y * 1e6, ["p", "S"], unit="us", name="MPI_Bcast")
    assert ds["time"].dims == ("function", "p", "S", "run", "repetition")
    assert parameters_of(ds) == ("p", "S")
    v = validate_several(ds, {"MPI_Bcast": "log(p) + S"})["MPI_Bcast"]
    assert v.model(POINTS) == pytest.approx(judged(y, "log(p) + S").model(POINTS))
    assert json.loads(json.dumps(v.to_dict()))["along"]["p"]["verdict"] == "total"
    assert "<script" not in v._repr_html_()


def test_runs_are_replicates() -> None:
    one = measurements_several(POINTS, noisy(SUM), ["p", "S"])
    two = measurements_several(POINTS, noisy(SUM, 4), ["p", "S"]).assign_coords(run=[1])
    ds = xr.concat([one, two], "run", combine_attrs="override", data_vars="all", join="outer")
    (found,) = several_series(ds)
    assert found.values.shape == (25, 2)
    assert validate_several(ds, "log(p) + S")["f"].verdict == "total"


def test_exact_bytes_measured_once() -> None:
    y = 8856 + 8 * POINTS[:, 0] * POINTS[:, 1]
    ds = measurements_several(POINTS, y, ["p", "S"], metric="object_memory", unit="B", name="win")
    v = validate_several(ds, "p*S")["win"]
    assert v.verdict == "total"
    assert v.model.constant == pytest.approx(8856)


@pytest.mark.parametrize(
    ("expected", "found", "rank", "direction"),
    [
        ("log(p) + S", "log(p) + S", "total", "as expected"),
        ("p + S", "p*S", "none", "grows faster"),
        ("p*S", "p + S", "none", "grows slower"),
        ("p*S", "p^(3/2)*S", "approximate", "grows faster"),
        ("p*S", "p^(3/4)*S", "approximate", "grows slower"),
        ("p*S", "p^2*S", "none", "grows faster"),
        ("p + S", "p^(5/4) + S", "approximate", "grows faster"),
        ("p + S", "p", "none", "grows slower"),
        ("p*S", "p^2", "none", "grows faster"),
        ("p + S + n", "n + p + S", "total", "as expected"),
        ("1", "p", "none", "grows faster"),
    ],
)
def test_rank_as_a_whole(expected: str, found: str, rank: str, direction: str) -> None:
    expectation = SeveralExpectation(expected, parameters=["p", "S", "n"])
    assert expectation.rank(GrowthSum.parse(found)) == rank
    assert expectation.direction(GrowthSum.parse(found)) == direction


def test_deviations_are_given_as_product_or_by_parameter() -> None:
    product = SeveralExpectation("log(p) + S", "p^(1/2)")
    assert product.along["p"].deviation == Growth.parse("p^(1/2)")
    assert product.along["S"].deviation == Growth.parse("S^(1/2)")
    by_name = SeveralExpectation("log(p) + S", {"S": "S^(1/4)"})
    assert by_name.along["S"].limits[1] == Growth.parse("S^(5/4)")
    assert SeveralExpectation("p*S", 1).along["p"].deviation == Growth.constant()
    assert by_name == SeveralExpectation("S + log(p)", {"S": "S^(1/4)"})


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("log(q) + S",), {}, ExpectationError, "depends on 'q', the data on p, S"),
        (("p*S",), {"deviation": "q"}, ExpectationError, "deviation 'q' depends on 'q'"),
        (("p*S",), {"deviation": "2"}, ExpectationError, "deviation '2' is a number"),
        (("p*S",), {"deviation": {"q": "q"}}, ExpectationError, "there is a deviation for 'q'"),
        (("p*S",), {"space": {}}, ExpectationError, "there is no search space for 'p'"),
        (({"g": "p*S"},), {}, ExpectationError, "no measured function has an expectation: measured are f"),
        ((SeveralExpectation("p"),), {}, ExpectationError, "says nothing about 'S'"),
    ],
)
def test_bad_input_is_named(
    arguments: tuple[object], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        judged(PRODUCT, *arguments, **options)


def test_bad_data_are_named() -> None:
    with pytest.raises(DataError, match="needs a Dataset, or a tuple"):
        validate_several((POINTS, SUM), "p")
    with pytest.raises(DataError, match="this is no Dataset of measurements"):
        validate_several(xr.Dataset(), "p")
    with pytest.raises(DataError, match="a name of its own for each column"):
        measurements_several(POINTS, SUM, ["p"])
    with pytest.raises(DataError, match="must be positive and finite"):
        measurements_several(-POINTS, SUM, ["p", "S"])
    with pytest.raises(DataError, match="is no identifier"):
        measurements_several(POINTS, SUM, ["p", "a b"])
    far = np.random.default_rng(0).uniform(1, 2, (5000, 2))
    with pytest.raises(DataError, match="pass the arrays"):
        measurements_several(far, far[:, 0], ["p", "S"])
    ds = measurements_several(POINTS, SUM, ["p", "S"])
    with pytest.raises(DataError, match="Select or add 'node'"):
        list(several_series(ds.expand_dims("node", axis=1)))
