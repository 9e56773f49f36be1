"""Baselines: the round trip through a file, the status quo as expectation, comparisons, and files nobody should trust."""

from __future__ import annotations

import copy
import json
import math
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
from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.judge.baseline import Baseline
from scalkit.judge.expectation import sure_match
from scalkit.measure import combine

P = 2.0 ** np.arange(1, 9)
LOG = np.log2(P)
SCHEMA = json.loads(resources.files("scalkit.judge").joinpath("baseline.schema.json").read_text(encoding="utf-8"))


def times(seed: int = 1, sigma: float = 0.01, x: np.ndarray = P, **values: np.ndarray) -> xr.Dataset:
    """Five runs of each function."""
    rng = np.random.default_rng(seed)
    return combine(
        [
            sk.measurements(x, 1e-6 * y[:, None] * np.exp(sigma * rng.standard_normal((len(x), 5))), name=name)
            for name, y in values.items()
        ]
    )


def result(data: xr.Dataset, **expectations: str) -> Any:
    return sk.validate(data, expectations)


@pytest.fixture(scope="module")
def baseline() -> Baseline:
    return Baseline(result(times(a=3 + LOG, b=3 + P, c=5 + 0 * P, gone=LOG), a="log(p)", b="p", c="1", gone="log(p)"))


def test_the_round_trip_through_a_file(baseline: Baseline, tmp_path: Path) -> None:
    path = baseline.save(tmp_path / "baseline.json")
    loaded = Baseline.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["baseline.json"]
    assert loaded.to_dict() == baseline.to_dict()
    for one, other in zip(loaded, baseline, strict=True):
        assert one.model(P) == pytest.approx(other.model.by_formula(P))
        assert one.status_quo == other.status_quo
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_a_negative_constant_comes_back(tmp_path: Path) -> None:
    p = 2.0 ** np.arange(4, 11)
    y = (1e-6 * (np.log2(p) - 3.5))[:, None] * np.random.default_rng(1).lognormal(0, 0.01, (7, 5))
    result = sk.validate(sk.measurements(p, y, name="f"), {"f": "log(p)"})
    baseline = Baseline(result)
    assert baseline["f", "time"].model.constant < 0
    again = Baseline.load(baseline.save(tmp_path / "b.json"))
    assert str(again["f", "time"].model) == str(baseline["f", "time"].model)
    assert again.compare(result)["f", "time"].kind == "same"


def test_a_second_term_comes_back(tmp_path: Path) -> None:
    y = 1e-6 * (40 * P + P**2)
    result = sk.validate(sk.measurements(P, y, name="f"), {"f": "p^2"})
    baseline = Baseline(result)
    assert str(baseline["f", "time"].model.terms[-2].growth) == "p"
    path = baseline.save(tmp_path / "b.json")
    again = Baseline.load(path)
    assert str(again["f", "time"].model) == str(baseline["f", "time"].model)
    assert again["f", "time"].model(P) == pytest.approx(baseline["f", "time"].model.by_formula(P))
    table = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(table, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_public_name_and_access(baseline: Baseline) -> None:
    assert sk.Baseline is Baseline
    assert len(baseline) == 4
    assert ("a", "time") in baseline
    assert baseline["a", "time"].expectation == Growth("log(p)")
    assert baseline.metrics == ("time",)
    with pytest.raises(DataError, match=r"^the baseline has no entry \('x', 'time'\); it has \('a', 'time'\), "):
        baseline["x", "time"]


def test_the_status_quo_is_the_expectation(baseline: Baseline) -> None:
    expected = baseline.expectations()
    assert {name: str(e.growth) for name, e in expected.items()} == {"a": "log(p)", "b": "p", "c": "1", "gone": "log(p)"}
    again = sk.validate(times(2, a=3 + LOG, b=3 + P), expected)
    assert [sure_match(v.probability) for v in again] == ["total", "total"]
    assert baseline.expectation_of("a", "time") == expected["a"]
    assert baseline.expectation_of("a", "memory") is None


def test_an_own_deviation_is_kept(tmp_path: Path) -> None:
    made = sk.validate(times(a=3 + LOG), {"a": sk.Expectation("log(p)", deviation="p^(1/3)")})
    loaded = Baseline.load(Baseline(made).save(tmp_path / "b.json"))
    assert loaded.expectations()["a"].deviation == Growth("p^(1/3)")


def several_metrics() -> Baseline:
    bytes_ = sk.measurements(P, 100 + 8 * P, metric="object_memory", name="a")
    return Baseline(result(combine([times(a=3 + LOG), bytes_]), a="p"))


def test_a_function_that_grows_differently_needs_the_metric() -> None:
    made = several_metrics()
    message = (
        "in the baseline 'a' grows as log(p) or p, depending on the metric; ask for one, as in expectations('object_memory')."
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        made.expectations()
    assert str(made.expectations("object_memory")["a"].growth) == "p"
    with pytest.raises(DataError, match=r"^the baseline has no metric 'energy'; it has time, object_memory\.$"):
        made.expectations("energy")


def test_the_same_again_is_the_same(baseline: Baseline) -> None:
    compared = baseline.compare(
        result(times(9, a=3 + LOG, b=3 + P, c=5 + 0 * P, gone=LOG), a="log(p)", b="p", c="1", gone="log(p)")
    )
    assert [change.kind for change in compared] == ["same"] * 4
    assert not compared.is_failure
    assert compared.headline == "compared with the baseline: 4 as before"
    assert compared["c", "time"].sentence.startswith("c (time) grows as before, 1; ")


def test_what_changed_is_said(baseline: Baseline) -> None:
    new = times(5, a=2 + 2 * P, b=3 + LOG, c=7.5 + 0 * P, fresh=LOG)
    compared = baseline.compare(result(new, a="log(p)", b="p", c="1", fresh="log(p)"))
    assert {change.function: change.kind for change in compared} == {
        "a": "worse",
        "b": "better",
        "c": "factor",
        "gone": "gone",
        "fresh": "new",
    }
    assert compared.is_failure
    assert (
        compared.headline
        == "compared with the baseline: 1 grows faster, 1 costs more, 1 grows slower, 1 new, 1 gone; worse: a, c"
    )
    sentences = [change.sentence for change in compared]
    assert sentences[0].startswith("a (time) got worse: it grows as p instead of log(p), outside the limits; ")
    assert sentences[1].startswith("b (time) got better: it grows as log(p) instead of p, outside the limits; ")
    assert re.fullmatch(
        r"c \(time\) rose to 1\.\d+ times the value of before everywhere, a constant factor \(± \d\.?\d* %\); "
        r"it grows as before, 1\.",
        sentences[2],
    )
    assert sentences[3:] == ["gone (time) is gone: it grew as log(p).", "fresh (time) is new: log(p)."]
    assert compared["c", "time"].ratio == pytest.approx(1.5, rel=0.05)
    content = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert content["changes"][3]["ratio"] is None
    assert "<li>a (time) got worse" in compared._repr_html_()
    assert repr(compared) == f"<Comparison: {compared.headline}>"


def test_what_fails_can_be_chosen(baseline: Baseline) -> None:
    dearer = baseline.compare(result(times(5, c=7.5 + 0 * P), c="1"))
    gone = baseline.compare(result(times(5, c=5 + 0 * P), c="1"))
    cheaper = baseline.compare(result(times(5, c=2.5 + 0 * P), c="1"))
    assert (dearer.exit_status(), cheaper.exit_status()) == (1, 0)
    assert (gone.exit_status(), gone.exit_status(["gone"])) == (0, 1)
    with pytest.raises(UsageError, match=r"^cannot fail on 'new'; choose from better, cannot-tell, gone\.$"):
        dearer.exit_status("new")
    with pytest.raises(DataError, match=r"^the comparison has no entry \('x', 'time'\); it has "):
        dearer["x", "time"]


def test_noise_hides_small_changes() -> None:
    noisy = Baseline(result(times(3, 0.2, a=5 + 0 * P), a="1"))
    assert noisy.compare(result(times(4, 0.2, a=5.8 + 0 * P), a="1"))["a", "time"].kind in ("same", "cannot tell")
    quiet = Baseline(result(times(3, 0.001, a=5 + 0 * P), a="1"))
    assert quiet.compare(result(times(4, 0.001, a=5.8 + 0 * P), a="1"))["a", "time"].kind == "factor"
    assert quiet.compare(result(times(4, 0.001, a=5.8 + 0 * P), a="1"), tolerance=0.2)["a", "time"].kind == "same"


def test_the_models_are_compared_without_a_shared_setting(baseline: Baseline) -> None:
    between = 3.0 * 2.0 ** np.arange(0, 7)
    change = baseline.compare(result(times(6, 0.01, between, b=6 + 2 * between), b="p"))["b", "time"]
    assert change.kind == "factor"
    assert math.isnan(change.at)
    assert change.ratio == pytest.approx(2.0, rel=0.05)
    assert " times the value of before by the models (" in change.sentence


def test_exact_metrics_change_by_bytes() -> None:
    def memory(slope: float) -> Any:
        return result(sk.measurements(P, 100 + slope * P, metric="object_memory", name="f"), f="p")

    quo = Baseline(memory(8))
    assert quo.compare(memory(8))["f", "object_memory"].kind == "same"
    assert quo.compare(memory(16))["f", "object_memory"].kind == "factor"


def test_other_units_cannot_be_compared(baseline: Baseline) -> None:
    joules = sk.validate(sk.measurements(P, 3 + LOG, metric="time", unit="s", name="a", parameter="n"), {"a": "log(n)"})
    message = (
        "the parameter of 'time' of 'a' is 'n', in the baseline 'p'; "
        "compare measurements of the same kind, or make a new baseline."
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        baseline.compare(joules)
    with pytest.raises(UsageError, match=r"^the tolerance is -1; a share such as 0\.1 for 10 % is needed\.$"):
        baseline.compare(joules, tolerance=-1)


def test_few_settings_can_be_compared(baseline: Baseline) -> None:
    few = sk.validate(times(7, x=P[:4], a=3 + LOG[:4]), {"a": "log(p)"}, min_points=4)
    assert baseline.compare(few)["a", "time"].kind in ("same", "cannot tell")


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
        (("schema",), 3, "schema is 3; 4 is needed."),
        (("schema",), True, "schema is true; 4 is needed."),
        (("schema",), [4], "schema is [4]; 4 is needed."),
        (("statistic",), "max", 'statistic is "max"; a statistic such as q1 or median is needed.'),
        (("statistic",), ["q1"], 'statistic is ["q1"]; a statistic such as q1 or median is needed.'),
        (("extra",), 1, '"extra" is unknown; known are entries, schema, statistic.'),
        (("entries",), [], "entries is []; a list of 1 to 10,000 entries is needed."),
        (("entries", 0), 5, "entries[0] is 5; an object is needed."),
        (("entries", 0), {}, "there is no 'deviation'; an object from parameter to text is needed."),
        (("entries", 0, "function"), 5, "entries[0].function is 5; a text of up to 500 characters is needed."),
        (("entries", 0, "function"), "", 'entries[0].function is ""; a text of up to 500 characters is needed.'),
        (("entries", 0, "metric"), "a\nb", "entries[0]: the name 'a\\nb' has characters that cannot be shown."),
        (("entries", 1, "function"), "a", "entries[1]: 'time' of 'a' appears twice."),
        (("entries", 0, "points"), [[1]], "entries[0]: there are 1 points, 8 values and 8 errors of these."),
        (("entries", 0, "points"), {}, "entries[0].points is {}; a list of 1 to 10,000 points is needed."),
        (("entries", 0, "points", 1), [1.0], "entries[0]: the points must ascend."),
        (("entries", 0, "points", 0), [0], "entries[0]: the point (0,) needs a positive value of each of p."),
        (("entries", 0, "y", 0), "1", 'entries[0].y[0] is "1"; a number from 0 on is needed.'),
        (("entries", 0, "y", 0), -1, "entries[0].y[0] is -1; a number from 0 on is needed."),
        (("entries", 0, "y", 0), 10**400, "it is nested too deep, or a number in it is too long."),
        (("entries", 0, "noise"), None, "entries[0].noise is null; a number from 0 on is needed."),
        (("entries", 0, "deviation"), {"p": "1/p"}, "entries[0]: deviation '1/p' falls; it must be 1 or grow, "),
        (("entries", 0, "expectation"), 3, "entries[0].expectation is 3; a text such as p*log(p) is needed."),
        (("entries", 0, "model", "terms", 0, "growth"), "__import__('os')", "entries[0]: cannot classify '__import__('os')': "),
        (("entries", 0, "model", "terms", 0, "growth"), "n", "entries[0]: expectation 'n' depends on n, but the "),
        (("entries", 0, "model", "terms", -1, "log2_coefficient"), None, "entries[0]: the log2_coefficient of log(p) is null; "),
        (
            ("entries", 0, "model", "terms", 0, "log2_coefficient"),
            -1e300,
            "entries[0].model.terms[0].log2_coefficient is -1e+300; a number from -1,000,000 to 1,000,000, or null, is needed.",
        ),
        (("entries", 0, "model", "adjusted_r2"), True, "entries[0].model.adjusted_r2 is true; a number or null is needed."),
        (("entries", 0, "model", "terms"), [], "entries[0].model.terms is []; a list of 1 to 20 terms is needed."),
        (("entries", 0, "model", "text"), 1, "entries[0].model.text is 1; a text of up to 500 characters is needed."),
    ],
)
def test_a_wrong_value_is_named(baseline: Baseline, tmp_path: Path, path: tuple, value: object, message: str) -> None:
    file = tmp_path / "b.json"
    file.write_bytes(changed(baseline.to_dict(), *path, to=value))
    begin = re.escape(f"'{file}' is no baseline: {message}")
    with pytest.raises(DataError, match=f"^{begin}") as caught:
        Baseline.load(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not JSON, Expecting value in line 1."),
        (b"[]", "its top is not an object; write one with Baseline.save."),
        (b"\xff\xfe", "it is not text in UTF-8."),
        (b"[" * 100_000, "it is nested too deep, or a number in it is too long."),
        (b"1" * 5000, "it is nested too deep, or a number in it is too long."),
        (b'{"schema": NaN}', "it holds the number NaN, which JSON does not know."),
        (b" " * 20_000_001, "it is larger than 20 MB."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_hostile_file_gets_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "b.json"
    file.write_bytes(content)
    whole = re.escape(f"'{file}' is no baseline: {message}")
    with pytest.raises(DataError, match=f"^{whole}$"):
        Baseline.load(file)


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
    loaded.expectations()
    jsonschema.validate(loaded.to_dict(), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_places_that_cannot_be_read_or_written(baseline: Baseline, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^cannot read the baseline '.*': No such file or directory; write one with "):
        Baseline.load(tmp_path / "none.json")
    with pytest.raises(
        DataError, match=r"^cannot write the baseline '.*none/b\.json': No such file or directory; make room or .*\.$"
    ):
        baseline.save(tmp_path / "none" / "b.json")


def test_a_result_without_verdicts_makes_no_baseline() -> None:
    with pytest.raises(DataError, match=r"^a baseline needs at least one verdict, this result has none\.$"):
        Baseline(sk.judge.Validation(()))


@pytest.mark.parametrize(
    ("then", "now", "shape", "place", "ratio"),
    [
        (3 + P, (3 + P) * np.where(P > 16, 3, 1), "from", 32, 3),
        (3 + P, (3 + P) * np.where(P == 2, 5.2, 1), "at", 2, 5.2),
        (3 + P, (3 + P) * 1.3, "everywhere", None, 1.3),
        (P, P * np.log2(P), "growing", None, 8),
        (3 + P, (3 + P) * np.where(P == 256, 1.5, 0.5), "at", 256, 1.5),
        (3 + P, (3 + P) * np.where(P > 32, 0.5, np.where(P == 4, 1.6, 1)), "at", 4, 1.6),
        (3 + P, 3 + P, "", None, 1),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_change_is_found_setting_by_setting(
    then: np.ndarray, now: np.ndarray, shape: str, place: float | None, ratio: float, noise: float
) -> None:
    quo = Baseline(result(times(1, noise, a=then), a="p"))
    found = sk.validate(times(2, noise, a=now), quo)
    assert found.comparison is not None
    change = found.comparison["a", "time"]
    assert change.regression is not None
    assert (change.regression.shape, found.exit_status()) == (shape, int(bool(shape)))
    assert change.ratio == pytest.approx(ratio, rel=0.15)
    assert place is None or change.at == place
    low, high = change.regression.interval
    assert low <= change.ratio <= high


def test_a_noisy_baseline_is_no_law() -> None:
    quo = Baseline(result(times(3, 0.6, a=5 + 0 * P), a="1"))
    change = quo.compare(result(times(4, 0.01, a=5 + 0 * P), a="1"))["a", "time"]
    assert change.sentence == "a (time) cannot be compared: its baseline is too noisy to be a law; measure that again."


def test_a_setting_that_is_zero_then_and_now_hides_no_change_at_the_others() -> None:
    p = 2.0 ** np.arange(1, 8)
    least = np.where(p == 2, 0, 16 * p)
    then, now = (
        sk.validate(sk.measurements(p, y, metric="leak", unit="B", name="f"), {"f": "p"}, progress=False)
        for y in (least, np.where(p < 128, 3 * least, least))
    )
    change = Baseline(then).compare(now)["f", "leak"]
    assert (change.kind, change.is_slower, round(change.ratio, 6)) == ("factor", True, 3)


def test_what_got_worse_is_to_be_fixed_in_every_view() -> None:
    """A function that costs more everywhere grows as before: its row, its count and the headline say *fix*."""
    p = 2.0 ** np.arange(1, 8)
    old = combine([sk.measurements(p, 1e-6 * y, name=name) for name, y in {"f": p, "g": np.log2(p)}.items()])
    now = {"f": 2 * p, "g": 0.4 * np.log2(p), "h": p}
    new = combine([sk.measurements(p, 1e-6 * y, name=name) for name, y in now.items()])
    baseline = sk.Baseline(sk.validate(old, {"f": "p", "g": "log p"}))
    result = sk.validate(new, baseline)
    assert result.answers == {"fix": 1, "cannot tell": 0, "fine": 1}
    assert {v.function: v.answer for v in result.worst_first} == {"f": "fix", "g": "fine"}
    assert result["f"].sentence.startswith("f (time) rose to 2 times the value of before everywhere")
    assert result.problems == (result["f"].problem,)
    assert result.headline.startswith("1 problem: f (time) rose to 2 times")
    assert result.headline.endswith("Beside it: 1 fine")
    assert "✗ fix   f" in repr(result)
    assert result.comparison is not None
    assert result.comparison.headline == "compared with the baseline: 1 costs more, 1 costs less, 1 new; worse: f"
    assert result.comparison.of("new")[0].sentence == "h is new: the baseline has nothing to compare it with."
    session = sk.Session(new, baseline)
    assert (session.result.answers, session.result.headline) == (result.answers, result.headline)
    assert session.verdict is not None
    assert session.verdict.answer == "fix"
    verdicts = {one["function"]: one["answer"] for one in json.loads(result.to_json())["verdicts"]}
    assert verdicts == {"f": "fix", "g": "fine"}
