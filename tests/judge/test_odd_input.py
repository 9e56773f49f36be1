"""Input that nobody should write and somebody will: each gives a verdict or a sentence that says what is wrong."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, ExpectationError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge import Verdict

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])


def verdict(x: object, y: object, expectation: object, parameter: str = "p", **kwargs: object) -> Verdict:
    result = sk.validate(sk.measurements(x, y, parameter, **kwargs), {"f": expectation})
    json.loads(result.to_json(), parse_constant=pytest.fail)
    assert result._repr_html_()
    assert len(result.to_frame()) == 1
    return result["f"]


def memory(**values: object) -> xr.Dataset:
    one = [sk.measurements(P, y, metric="object_memory", name=name) for name, y in values.items()]
    return xr.concat(one, "function", data_vars="all", coords="minimal", compat="override", join="exact")


@pytest.mark.parametrize(
    ("x", "y", "expectation", "parameter", "rank"),
    [
        ([1, 2, 4, 8, 16], [3, 5, 7, 9, 11], "log(p)", "p", "total"),  # log2 of 1 is 0
        ([0.1, 0.2, 0.4, 0.6, 0.8], [1, 2, 4, 6, 8], "p", "p", "total"),  # below 1 only powers can be fitted
        ([0.5, 1, 2, 4, 8], [0.5, 1, 2, 4, 8], "p", "p", "total"),
        (P, 1 / P, "1/k", "k", "total"),
        (P, 1 + 1 / P, "1/k", "k", "none"),  # a part that does not shrink makes the cost grow
        (P, P, "O", "O", "total"),
        (P, P, "O(O log O)", "O", "approximate"),
        (P, P, Growth.of("größe", power=1), "größe", "total"),
        (np.arange(3000, 3005), 2.0 ** np.arange(5), "2^k", "k", "total"),
        (np.arange(3000, 3005), 2.0 ** -np.arange(5), "1/2^k", "k", "total"),
        (P * 1e300, 2.0 ** np.arange(5), "2^k", "k", "none"),
        (P, P, "p^1000", "p", "none"),
        (P, P, "p^-1000", "p", "none"),
    ],
)
def test_odd_settings_are_judged(x: object, y: object, expectation: object, parameter: str, rank: str) -> None:
    assert verdict(x, y, expectation, parameter).match == rank


def test_data_and_expectation_in_different_parameters() -> None:
    message = "function 'f': the expectation 'p' is in terms of 'p', the data in terms of 'n'; write it in terms of n."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        verdict(P, P, "p", "n")


@pytest.mark.parametrize("deviation", [0.5, "0.5", 2, "2", "0.5*O(1)"])
def test_a_number_is_no_deviation(deviation: object) -> None:
    message = f"deviation '{deviation}' is a number; write a growth, for example 'p^(1/2)', or 1 to allow none."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        sk.Expectation("p", deviation)


@pytest.mark.parametrize("deviation", [1, "1", 1.0, "O(1)", Growth()])
def test_no_deviation_at_all(deviation: object) -> None:
    expectation = sk.Expectation("p", deviation)
    assert expectation.match(Growth.of("p", power=1)) == "total"
    assert expectation.match(Growth.of("p", power=1, log=1)) == "none"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "None holds no measurements; give a path, a Dataset, a DataFrame, a dict of arrays "),
        ("data/runs", "there are no measurements at 'data/runs'; name a run folder or a run file, "),
        ([1, 2], "cannot read 1: "),
    ],
)
def test_only_measurements_are_validated(data: object, message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        sk.validate(data, "mpi")


@pytest.mark.parametrize("key", [0, ("f", "time", "s"), None])
def test_a_key_that_names_no_verdict(key: object) -> None:
    result = sk.validate(sk.measurements(P, P), {"f": "p"})
    message = f"{key!r} names no verdict; ask by function, or by function and metric."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        result[key]  # type: ignore[index]


def test_a_function_whose_variant_was_measured_is_not_missing() -> None:
    data = sk.measurements(P, P, name="f[random]")
    assert sk.validate(data, {"f": "p"}).missing == ()
    assert sk.validate(data, {"f": "p", "f[random]": "p"}).missing == ("f",)


def test_rules_on_no_bytes_at_all() -> None:
    data = memory(nothing=0 * P, same=0 * P, much=8 * P)
    result = sk.validate(
        data, {"nothing": "1", "same": "1", "much": "p"}, ["nothing <= same", "nothing <= much", "much <= nothing"]
    )
    assert [rule.status for rule in result.rules] == ["holds", "holds", "violated"]
    assert [rule.predicted_from for rule in result.rules[:2]] == [None, None]
    assert np.isnan(result.rules[0].ratio).all()
    assert result.rules[2].violated_at == tuple(P)
    assert result.rules[2].sentence.endswith("the left side is up to inf times the right.")
    shown = json.loads(result.to_json(), parse_constant=pytest.fail)
    assert shown["rules"][2]["ratio"] == [None] * 5


def test_a_long_name_can_be_quoted_in_a_rule() -> None:
    relation = Relation(((1.0, "a b" * 150),), ((1.0, "B"),))
    assert Relation.parse(str(relation)) == relation


def test_a_growth_of_two_parameters_needs_both() -> None:
    with pytest.raises(ExpectationError, match=re.escape("'m*log(n)' needs a value of 'n'; there are m.")):
        Growth("m*log(n)")({"m": 4.0})
