"""Baselines over several parameters: the file, what changed point by point, and the growth as a whole."""

from __future__ import annotations

import copy
import itertools
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.judge.baseline import Baseline
from scalkit.judge.baseline.comparison import Change
from scalkit.judge.baseline.regression import regression
from scalkit.measure import combine, write_netcdf

SCHEMA = json.loads(resources.files("scalkit.judge").joinpath("baseline.schema.json").read_text(encoding="utf-8"))
P, S = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(3, 8)
POINTS = np.array(list(itertools.product(P, S)))
p, size = POINTS.T
TIME = 1e-6 * (2 + 3 * np.log2(p)) + 1e-9 * size
CLAIM = "log(p) + S"


def times(seed: int = 1, noise: float = 0.01, **values: np.ndarray) -> xr.Dataset:
    """Five runs of each function."""
    rng = np.random.default_rng(seed)
    return combine(
        [
            sk.measurements(POINTS, y[:, None] * rng.lognormal(0, noise, (len(y), 5)), parameter=["p", "S"], name=name)
            for name, y in values.items()
        ]
    )


def made(noise: float = 0.01) -> Baseline:
    return Baseline(sk.validate(times(f=TIME, gone=TIME, noise=noise), {"f": CLAIM, "gone": CLAIM}))


@pytest.fixture(scope="module")
def baseline() -> Baseline:
    return made()


def change_of(baseline: Baseline, y: np.ndarray, noise: float = 0.01) -> tuple[Change, int]:
    found = sk.validate(times(77, noise, f=y), baseline)
    assert found.comparison is not None
    return found.comparison["f", "time"], found.exit_status()


def test_the_round_trip_through_a_file(baseline: Baseline, tmp_path: Path) -> None:
    path = baseline.save(tmp_path / "baseline.json")
    loaded = Baseline.load(path)
    assert loaded.to_dict() == baseline.to_dict()
    for one, other in zip(loaded, baseline, strict=True):
        at = {"p": p, "S": size}
        assert one.model.by_formula(at) == pytest.approx(other.model.by_formula(at))
        assert (one.status_quo, one.points, one.parameters) == (other.status_quo, other.points, ("p", "S"))
        assert str(one.model) == str(other.model)
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA, cls=jsonschema.Draft202012Validator)
    assert [str(one.growth) for one in loaded.expectations().values()] == ["S + log(p)"] * 2
    assert "S" in loaded["f", "time"]._repr_html_()


def test_own_deviations_and_subtracted_terms_are_kept(tmp_path: Path) -> None:
    claim = {"expectation": CLAIM, "deviation": {"S": "S^(1/4)", "p": "1"}}
    result = sk.validate(times(f=1e-6 * (3 * np.log2(p) - 5) + 1e-9 * size), {"f": claim})
    entry = Baseline(result)["f", "time"]
    assert any(term.is_subtracted for term in entry.model.terms)
    loaded = Baseline.load(Baseline(result).save(tmp_path / "b.json"))["f", "time"]
    assert loaded.deviation == {"p": Growth(), "S": Growth("S^(1/4)")}
    assert loaded.status_quo.along["p"].limits == (Growth("log(p)"),) * 2
    assert str(loaded.model) == str(entry.model)


def test_the_same_again_is_the_same(baseline: Baseline) -> None:
    found = baseline.compare(sk.validate(times(9, f=TIME, gone=TIME), {"f": CLAIM, "gone": CLAIM}))
    assert [change.kind for change in found] == ["same", "same"]
    assert found["f", "time"].sentence.startswith("f (time) grows as before, S + log(p); ")
    assert " times the value of before at p = 128, S = 16384 (" in found["f", "time"].sentence


@pytest.mark.parametrize(
    ("factor", "kind", "words", "ratio"),
    [
        (1.5, "factor", "rose to 1.5 times the value of before everywhere, a constant factor", 1.5),
        (0.5, "factor", "fell to 0.5 times the value of before everywhere, a constant factor", 0.5),
        (np.where((p == 64) & (size == 1024), 2, 1), "factor", "times the value of before at p = 64, S = 1024 only", 2),
        (np.where(size >= 1024, 0.5, 1), "factor", "fell to 0.5 times the value of before from S = 1024 on", 0.5),
        (np.where(size <= 256, 2, 1), "factor", "rose to 2 times the value of before up to S = 256", 2),
        (np.where(size == 1024, 1.5, 1), "factor", "rose to 1.5 times the value of before at S = 1024 only", 1.5),
        (np.where(p >= 32, 2, 1), "worse", "; 2 times the value of before from p = 32 on", 2),
        ((p / 8) ** 0.5, "worse", "times the value of before from p = 8 to 128, and growing", 4),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_change_is_found_point_by_point(factor: Any, kind: str, words: str, ratio: float, noise: float) -> None:
    change, status = change_of(made(noise), TIME * factor, noise)
    assert change.kind == kind
    assert words in change.sentence
    assert change.ratio == pytest.approx(ratio, rel=0.05)
    assert status == int(ratio > 1)
    assert change.regression is not None
    expected = np.ones(25, dtype=bool) if np.ndim(factor) == 0 or change.regression.shape == "growing" else factor != 1
    assert change.regression.concerned.tolist() == expected.tolist()


def test_a_fall_hides_no_rise() -> None:
    change, status = change_of(made(), TIME * np.where(size == 1024, 0.5, np.where((p == 8) & (size == 64), 1.6, 1)))
    assert (change.place, status) == ({"p": 8.0, "S": 64.0}, 1)
    assert change.ratio == pytest.approx(1.6, rel=0.05)


def test_new_gone_and_plain_values(baseline: Baseline) -> None:
    found = sk.validate(times(5, f=TIME * 1.5, fresh=TIME), {"f": CLAIM, "fresh": CLAIM})
    compared = baseline.compare(found)
    assert {change.function: change.kind for change in compared} == {"f": "factor", "gone": "gone", "fresh": "new"}
    assert [change.sentence for change in compared][1:] == [
        "gone (time) is gone: it grew as S + log(p).",
        "fresh (time) is new: S + log(p).",
    ]
    content = json.loads(json.dumps(compared.to_dict(), allow_nan=False))["changes"]
    assert content[0]["parameters"] == ["p", "S"]
    assert content[0]["at"] == {"p": 128.0, "S": 16384.0}
    assert content[1]["at"] is None
    assert compared.exit_status() == 1


def test_a_growth_beyond_the_limits_is_worse_and_a_slower_one_better(baseline: Baseline) -> None:
    worse, status = change_of(baseline, TIME + 1e-9 * p * size)
    assert (worse.kind, worse.is_outside, status) == ("worse", True, 1)
    assert worse.sentence.startswith("f (time) got worse: it grows as S*p instead of S + log(p), outside the limits; ")
    better, status = change_of(baseline, 2e-6 + 0 * p)
    assert (better.kind, status) == ("better", 0)


def test_another_expectation_is_judged_again_about_the_status_quo(baseline: Baseline) -> None:
    assert baseline.compare(sk.validate(times(77, f=TIME), {"f": "p*S"}))["f", "time"].kind == "same"


def test_a_noisy_baseline_is_no_law() -> None:
    change, status = change_of(made(0.6), TIME)
    assert (change.kind, status) == ("cannot tell", 0)
    assert change.sentence == "f (time) cannot be compared: its baseline is too noisy to be a law; measure that again."


def test_the_models_are_compared_without_a_shared_point(baseline: Baseline) -> None:
    other = POINTS * 3
    y = 2 * (1e-6 * (2 + 3 * np.log2(other[:, 0])) + 1e-9 * other[:, 1])
    change = baseline.compare(sk.validate(sk.measurements(other, y, parameter=["p", "S"], name="f"), {"f": CLAIM}))["f", "time"]
    assert (change.kind, change.place) == ("factor", {})
    assert change.ratio == pytest.approx(2, rel=0.03)
    assert " times the value of before by the models (" in change.sentence


def test_the_order_of_the_parameters_does_not_matter(baseline: Baseline) -> None:
    swapped = sk.measurements(POINTS[:, ::-1], TIME * np.where(size >= 1024, 2, 1), parameter=["S", "p"], name="f")
    found = sk.validate(swapped, baseline).comparison
    assert found is not None
    assert found["f", "time"].parameters == ("S", "p")
    assert "from S = 1024 on" in found["f", "time"].sentence


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            {"S": 64},
            "the parameter of 'time' of 'f' is 'p', in the baseline 'p' and 'S'; measure at several values of S, too, or make a "
            "new baseline.",
        ),
        (
            {},
            "the parameters of 'time' of 'f' are 'p' and 'n', in the baseline 'p' and 'S'; compare measurements of the same "
            "kind, or make a new baseline.",
        ),
    ],
)
def test_other_parameters_are_refused(baseline: Baseline, select: dict[str, float], message: str) -> None:
    data = times(f=TIME).sel(select) if select else sk.measurements(POINTS, TIME, parameter=["p", "n"], name="f")
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        sk.validate(data, baseline)
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        baseline.compare(sk.validate(data, {"f": "log(p)"}))


def changed(content: dict, *path: object, to: object) -> bytes:
    content = copy.deepcopy(content)
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("parameters",), "p", 'entries[0].parameters is "p"; a list of 1 to 10 different names is needed.'),
        (("parameters",), [], "entries[0].parameters is []; a list of 1 to 10 different names is needed."),
        (("parameters",), ["p", "p"], 'entries[0].parameters has "p" twice; a list of 1 to 10 different names is needed.'),
        (("parameters", 1), 5, "entries[0].parameters[1] is 5; a text of up to 500 characters is needed."),
        (("x",), [1], '"x" is unknown; known are '),
        (("points",), [], "entries[0].points is []; a list of 1 to 10,000 points is needed."),
        (("points", 0), 3, "entries[0].points[0] is 3; a list of 1 to 10,000 numbers is needed."),
        (("points", 0), [3], "entries[0]: the point (3,) needs a positive value of each of p, S."),
        (("points", 0), [0, 1], "entries[0]: the point (0, 1) needs a positive value of each of p, S."),
        (("points", 1), [8, 64], "entries[0]: the points must ascend."),
        (("y",), [1], "entries[0]: there are 25 points, 1 values and 25 errors of these."),
        (("errors",), [1], "entries[0]: there are 25 points, 25 values and 1 errors of these."),
        (("expectation",), 3, "entries[0].expectation is 3; a text such as p*log(p) is needed."),
        (("expectation",), "p - S", "entries[0]: cannot read 'p - S': "),
        (("expectation",), "n", "entries[0]: a growth depends on 'n', the points on p, S."),
        (("deviation",), None, "entries[0].deviation is null; an object from parameter to text is needed."),
        (("deviation",), {"n": "n"}, "entries[0]: a growth depends on 'n', the points on p, S."),
        (("deviation",), {"p": "1/p"}, "entries[0]: deviation '1/p' falls; it must be 1 or grow, "),
        (("model", "terms"), [], "entries[0].model.terms is []; a list of 1 to 20 terms is needed."),
        (("model", "terms", 0), 1, "entries[0].model.terms[0] is 1; an object is needed."),
        (("model", "terms", 1, "growth"), "n", "entries[0]: the growth 'n' depends on 'n', the points "),
        (("model", "terms", 1, "growth"), "x(", "entries[0]: cannot "),
        (("model", "terms", 1, "is_subtracted"), 0, "entries[0].model.terms[1].is_subtracted is 0; true or "),
        (("model", "terms", 1, "log2_coefficient"), None, "entries[0]: the log2_coefficient of "),
        (("model", "rss"), -1, "entries[0].model.rss is -1; a number from 0 on is needed."),
    ],
)
def test_a_wrong_value_is_named(baseline: Baseline, tmp_path: Path, path: tuple, value: object, message: str) -> None:
    file = tmp_path / "b.json"
    file.write_bytes(changed(baseline.to_dict(), "entries", 0, *path, to=value))
    begin = re.escape(f"'{file}' is no baseline: {message}")
    with pytest.raises(DataError, match=f"^{begin}") as caught:
        Baseline.load(file)
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_change_of_a_file_is_read_or_refused(baseline: Baseline, tmp_path: Path, data: st.DataObject) -> None:
    content = baseline.to_dict()
    place: Any = content
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    file = tmp_path / "fuzz.json"
    file.write_bytes(json.dumps(content).encode())
    try:
        loaded = Baseline.load(file)
    except DataError:
        return
    jsonschema.validate(loaded.to_dict(), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_scattered_points_are_compared_point_by_point() -> None:
    rng = np.random.default_rng(3)
    points = np.unique(np.exp(rng.uniform(1, 9, (30, 3))).round(), axis=0)
    then = points.sum(axis=1)
    high = points[:, 1] >= np.median(points[:, 1])
    names = ["a", "b", "c"]
    found = regression(points, names, then, then * np.where(high, 1.4, 1), np.full(len(then), 0.01), 0.1)
    assert (found.shape, list(found.at)) == ("from", ["b"])
    assert found.factor == pytest.approx(1.4)
    assert found.concerned.tolist() == high.tolist()
    growing = regression(points, names, then, then * points[:, 2] ** 0.25, np.full(len(then), 0.01), 0.1)
    assert growing.where == f"from c = {points[:, 2].min():g} to {points[:, 2].max():g}, and growing"
    assert regression(points, names, then, then * 1.05, np.full(len(then), 0.01), 0.1).shape == ""


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    write_netcdf(times(1, f=TIME), tmp_path / "old.nc")
    write_netcdf(times(2, f=TIME * np.where(size >= 1024, 2, 1)), tmp_path / "new.nc")
    (tmp_path / "expect.toml").write_text(f'rules = ["f <= 2*f"]\n[expectations]\nf = "{CLAIM}"\n', encoding="utf-8")
    assert main(["validate", "old.nc", "--expect", "expect.toml", "--save-baseline", "base.json"]) == 0
    assert "  f <= 2*f holds as measured, and the models predict no violation.\n" in capsys.readouterr().out
    assert main(["validate", "new.nc", "--baseline", "base.json"]) == 1
    assert "Compared with base.json\n  f (time) rose to 2 times the value of before from S = 1024 on (" in capsys.readouterr().out
    assert main(["validate", "old.nc", "--baseline", "base.json"]) == 0
    assert "Compared with base.json\n  1 function as before.\n" in capsys.readouterr().out
