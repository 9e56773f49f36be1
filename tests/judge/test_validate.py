"""validate: verdicts, what they decide, what is listed, and how the result is written."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, ExpectationError, RuleError, UsageError
from scalkit.judge import SearchSpace, Validation
from scalkit.judge.told.junit import to_junit
from scalkit.measure import combine

P = np.array([2, 4, 8, 16, 32, 64])
LOG = np.log2(P)
HOSTILE = "<b onclick='x'>&\"f\x01"
SCHEMA = json.loads(resources.files("scalkit.judge").joinpath("verdict.schema.json").read_text(encoding="utf-8"))


def times(**values: object) -> xr.Dataset:
    return combine([sk.measurements(P, y, name=name) for name, y in values.items()])


@pytest.fixture(scope="module")
def data() -> xr.Dataset:
    named = times(as_expected=1e-6 * LOG, faster=1e-6 * P * LOG, slower=1e-5 * P**0.25, near=1e-6 * P**0.5, extra=LOG)
    hostile = sk.measurements(P, 1e-6 * LOG, name=HOSTILE.replace("\x01", ""))
    memory = sk.measurements(P, 8856 + 8 * P, metric="object_memory", name="MPI_Comm_dup")
    return combine([named, hostile, memory])


@pytest.fixture(scope="module")
def result(data: xr.Dataset) -> Validation:
    expectations = {
        "as_expected": "log(p)",
        "faster": {"expectation": "log(p)", "deviation": "p^(1/2)"},
        "slower": {"expectation": "p*log(p)", "deviation": "p^(1/2)"},
        "near": {"expectation": "log(p)", "deviation": "p^(1/2)"},
        HOSTILE.replace("\x01", ""): "log(p)",
        "MPI_Comm_dup": "1",
        "extrra": "1",
    }
    return sk.validate(data, expectations, ["near <= as_expected", "as_expected <= faster + near"], litmus="faster")


def test_ranks_directions_and_crossings(result: Validation) -> None:
    found = {v.function: (v.match, v.direction, str(v.model.growth), str(v.divergence)) for v in result.verdicts[:4]}
    assert found == {
        "as_expected": ("total", "as expected", "log(p)", "1"),
        "faster": ("none", "grows faster", "p*log(p)", "p"),
        "slower": ("none", "grows slower", "p^(1/4)", "1/p^(3/4)/log(p)"),
        "near": ("approximate", "grows faster", "p^(1/2)", "p^(1/2)/log(p)"),
    }
    assert math.isnan(result["near"].crossing)
    assert result["faster"].crossing == 1
    assert result["faster"].divergence([2, 4]).tolist() == [2, 4]


def test_sentences(result: Validation) -> None:
    sentences = {v.function: v.sentence for v in result}
    assert sentences["as_expected"] == "as_expected grows as claimed, log(p); anything faster than p^(1/4) is excluded."
    assert sentences["near"] == (
        "near grows as p^(1/2) instead of log(p), which is tolerated; anything faster than p^(3/4) is excluded."
    )
    assert sentences["faster"] == (
        "faster grows as p*log(p) instead of log(p); it grows faster than claimed with a probability of more than 99.9 %."
    )
    assert sentences["slower"] == (
        "slower grows slower than claimed, p^(1/4) instead of p*log(p), which is fine, and the claim could be sharper; "
        "anything faster than p^(7/4) is excluded."
    )
    assert repr(result["faster"]) == f"<Verdict: fix. {sentences['faster']}>"


@pytest.mark.parametrize(
    ("growth", "expectation", "crossing"), [(P**1.0, "log(p)", 16.0), (P**0.25 * LOG, "p", 65536.0), (P**0.5 / LOG, "1", 982.0)]
)
def test_the_divergence_leaves_the_limits_at_the_crossing(growth: np.ndarray, expectation: str, crossing: float) -> None:
    entry = {"expectation": expectation, "deviation": "p^(1/2)" if expectation != "1" else "p^(1/6)"}
    space = SearchSpace.preset("ics15").with_tick("p^(1/2)/log(p)")
    verdict = sk.validate(times(f=growth), {"f": {**entry, "space": space}})["f"]
    assert verdict.crossing == pytest.approx(crossing, rel=0.01)


def test_what_is_not_matched_is_listed(result: Validation) -> None:
    assert result.unexpected == ("extra",)
    assert result.missing == ("extrra",)
    assert "measured, but without an expectation: extra" in result.warnings
    assert "expected, but not measured: extrra" in result.warnings
    assert "extrra is expected and extra measured; write one like the other if they are the same" in result.warnings


def test_too_few_settings_beside_enough() -> None:
    few = sk.measurements(P[:4], LOG[:4], name="few")
    wanted = {"f": "log(p)", "few": "log(p)"}
    result = sk.validate(combine([times(f=LOG), few]), wanted, ["f <= 2 * few"])
    assert [v.function for v in result] == ["f"]
    assert result.unjudged == ("few (time) has 4 of 5 needed settings: p = 2, 4, 8, 16",)
    assert result.missing == result.unexpected == ()
    assert f"not judged: {result.unjudged[0]}" in result.warnings
    assert result.rules[0].status == "holds"
    case = ET.fromstring(to_junit(result)).find("testsuite/testcase[@classname='scalkit.unjudged']")
    assert case is not None
    assert case.get("name") == "few (time)"
    jsonschema.validate(result.to_dict(), SCHEMA)
    with pytest.raises(DataError, match="needs 5 values of 'p', got 4"):
        sk.validate(few, wanted)


def test_bytes_that_are_handed_out_in_steps_grow_as_claimed() -> None:
    data = sk.measurements(P[:5], [5752, 5800, 5912, 6136, 6584], metric="object_memory", name="MPI_Win_create")
    data["object_memory"].attrs["resolution"] = 16.0
    verdict = sk.validate(data, {"MPI_Win_create": "p"})["MPI_Win_create"]
    assert (verdict.answer, verdict.match, verdict.caveats) == ("fine", "total", ())
    assert verdict.model.coefficient == pytest.approx(28, rel=0.02)


def test_mapping_like(result: Validation) -> None:
    assert len(result) == 6
    assert [v.function for v in result][:2] == ["as_expected", "faster"]
    assert result["MPI_Comm_dup", "object_memory"] is result["MPI_Comm_dup"]
    assert "faster" in result
    assert ("faster", "time") in result
    assert result["faster"] in result
    assert "fster" not in result
    message = "there is no verdict on 'fster'; there are verdicts on as_expected, faster, slower, near, "
    with pytest.raises(DataError, match=f"^{re.escape(message)}.* Did you mean 'faster'\\?$"):
        result["fster"]


def test_one_function_with_two_metrics() -> None:
    both = combine([times(f=LOG), sk.measurements(P, 8 * P, metric="object_memory", name="f")])
    found = sk.validate(both, {"f": "log(p)"})
    assert found["f", "time"].match == "total"
    message = "'f' has verdicts on several metrics (time, object_memory); ask for one, as in result['f', 'time']."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        found["f"]


def test_exit_status(result: Validation) -> None:
    assert result.exit_status() == 1
    assert not result.ok
    better = replace(result, verdicts=(result["as_expected"], result["near"], result["slower"]), rules=())
    assert better.ok
    assert better.exit_status(["better"]) == 1
    assert better.exit_status(["predicted"]) == 0
    assert any("slower grows slower" in line for line in better.warnings)


def test_rules_decide(result: Validation) -> None:
    holds = [rule for rule in result.rules if rule.status == "holds"]
    violated = [rule for rule in result.rules if rule.status == "violated"]
    assert [str(rule.rule) for rule in holds] == ["as_expected <= faster + near"]
    assert [str(rule.rule) for rule in violated] == ["near <= as_expected"]
    alone = replace(result, verdicts=(result["as_expected"],), rules=tuple(violated))
    assert alone.exit_status() == 1
    data = times(a=1e-6 * P**0.5, b=10e-6 * LOG)
    predicted = sk.validate(data, {"a": "p^(1/2)", "b": "log(p)"}, "a <= b")
    assert predicted.rules[0].status == "predicted"
    assert (predicted.exit_status(), predicted.exit_status(["predicted"])) == (0, 1)


def test_unknown_words_to_fail_on(result: Validation) -> None:
    message = "cannot fail on 'worse'; choose from better, predicted, cannot-tell."
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        result.exit_status(["worse"])


def test_caveats_do_not_decide() -> None:
    data = times(f=1e-6 * P).assign_coords(oversubscribed=("p", P > 2))
    found = sk.validate(data, {"f": "1"})
    assert not found["f"].decides
    assert (found["f"].match, found.exit_status()) == ("none", 0)
    assert any("more processes than cores" in line for line in found.warnings)
    assert "<skipped" in to_junit(found)


def test_litmus(result: Validation) -> None:
    assert result.litmus is not None
    assert not result.litmus.passed
    assert result.litmus.sentence == (
        "The litmus test faster itself grows faster than its algorithm promises, outside the limits (p*log(p) instead of "
        "log(p)): machine, scheduling or benchmark, not the library alone, may explain the deviations of other run times."
    )
    passed = sk.validate(times(f=LOG), {"f": "log(p)"}, litmus="f").litmus
    assert passed is not None
    assert passed.passed
    assert passed.sentence == (
        "The litmus test f behaves as its algorithm promises (log(p)): where another run time grows too fast, "
        "suspect the library before the machine."
    )
    near = sk.validate(times(f=P**0.5), {"f": {"expectation": "log(p)", "deviation": "p^(1/2)"}}, litmus="f").litmus
    assert near is not None
    assert near.sentence.startswith(
        "The litmus test f grows faster than its algorithm promises, within the limits (p^(1/2) instead of log(p)): "
    )
    with pytest.raises(DataError, match=r"the litmus function 'ff' was not measured; measured are f\. Did you mean 'f'\?"):
        sk.validate(times(f=LOG), {"f": "log(p)"}, litmus="ff")
    assert sk.validate(times(f=LOG), {"f": "log(p)"}).litmus is None


def test_expectation_always_competes() -> None:
    verdict = sk.validate(times(f=LOG**2), {"f": "log(p)^2"}, space="ics15")["f"]
    assert (verdict.match, verdict.space.name) == ("total", "ics15+")


def test_remarks() -> None:
    few = sk.validate(sk.measurements(P[:3], P[:3], name="f"), {"f": "p"}, min_points=3)["f"]
    assert few.caveats == ("the model rests on only 3 points of p; 5 are the least to rely on",)
    steep = sk.validate(times(f=P**3.0), {"f": "1"})["f"]
    assert steep.caveats == ("the model is the fastest class of the search space, p^2*log(p); extend the space to see beyond it",)


def test_values_that_fall_are_fine_and_have_a_falling_model() -> None:
    falls = sk.validate(times(f=1 / P), {"f": "1"})["f"]
    assert (falls.answer, str(falls.model), falls.caveats) == ("fine", "1.00 s * 1/p", ())
    assert falls.sentence == ("f falls as 1/p where 1 is claimed, which is fine; anything faster than p^(1/4) is excluded.")


def test_truncated_files_are_noted() -> None:
    found = sk.validate(times(f=LOG).assign_attrs(truncated="a.jsonl"), {"f": "log(p)"})
    assert found.warnings == ("truncated files, read as far as they go: a.jsonl",)


def test_refused() -> None:
    data = times(MPI_Bcast=LOG, f=LOG)
    message = (
        "no measured function has an expectation: measured are MPI_Bcast, f; expectations name MPI_Bcst. "
        "Did you mean 'MPI_Bcast'?"
    )
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        sk.validate(data, {"MPI_Bcst": "log(p)"})
    message = "rule 'f <= MPI_Bcst' names 'MPI_Bcst', which is neither measured nor expected; did you mean 'MPI_Bcast'?"
    with pytest.raises(RuleError, match=f"^{re.escape(message)}$"):
        sk.validate(data, {"f": "log(p)"}, ["f <= MPI_Bcst"])
    message = "function 'f': the expectation 'n' is in terms of 'n', the data in terms of 'p'; write it in terms of p."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        sk.validate(data, {"f": "n"})


def test_typos_in_a_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "expectations.toml"
    file.write_text('litmus = "g"\n[expectations]\nf = "log(p)"\ng = "1"\n')
    assert sk.validate(times(f=LOG), file).litmus is None
    file.write_text('rules = ["ff <= g"]\n[expectations]\nf = "log(p)"\ng = "1"\n')
    with pytest.raises(RuleError, match="names 'ff', which is neither measured nor expected; did you mean 'f'"):
        sk.validate(times(f=LOG), file)
    file.write_text('litmus = "ff"\n[expectations]\nf = "log(p)"\n')
    with pytest.raises(DataError, match="the litmus function 'ff' was not measured; measured are f"):
        sk.validate(times(f=LOG), file)


def test_arguments_of_another_kind() -> None:
    assert sk.validate(times(f=LOG), {"f": "log(p)"}, None).exit_status(None) == 0  # type: ignore[arg-type]
    with pytest.raises(DataError, match="min_points is 'a'; a whole number of at least 3 is needed"):
        sk.validate(times(f=LOG), {"f": "log(p)"}, min_points="a")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the expectation cannot be 'p'; write Expectation"):
        SearchSpace.paper("p")  # type: ignore[arg-type]
    with pytest.raises(ExpectationError, match="the depth of the ruler is 'a'"):
        SearchSpace.paper(sk.Expectation("p"), "a")  # type: ignore[arg-type]
    with pytest.raises(ExpectationError, match="cannot refine the space 'a' times"):
        SearchSpace.preset("ics15").refine("a")  # type: ignore[arg-type]


def test_claims_that_fall_are_about_the_product() -> None:
    data = times(f=1 / P)
    result = sk.validate(data, {"f": "1/p"})
    assert (result["f"].metric, result["f"].match) == ("p*time", "total")
    assert result.notes == ("the claim 1/p about f falls, so p*time is judged, p times the time, with the claim 1",)
    assert result["f"].sentence == "p*time of f stays constant, as claimed; anything faster than p^(1/4) is excluded."
    assert sk.validate(data, {"f": "1/p"}, scaling="weak")["f"].metric == "time"
    with pytest.raises(UsageError, match="the scaling 'fast' is unknown; choose auto or weak"):
        sk.validate(data, {"f": "1/p"}, scaling="fast")


def test_a_baseline_is_an_expectation() -> None:
    baseline = sk.Baseline(sk.validate(times(f=LOG, g=P), {"f": "p", "g": "p"}))
    same = sk.validate(times(f=LOG, g=P), baseline)
    assert (same.exit_status(), same["f"].expectation.growth) == (0, sk.Growth("log(p)"))
    worse = sk.validate(times(f=P, g=P), baseline)
    assert worse.exit_status() == 1
    assert worse.comparison is not None
    assert worse.comparison.is_failure
    assert worse.comparison.headline in worse.warnings
    jsonschema.validate(worse.to_dict(), SCHEMA)


def test_statistic_is_a_choice() -> None:
    y = np.column_stack([P, P, P, 9 * LOG])
    data = sk.measurements(P, y, name="f")
    assert sk.validate(data, {"f": "p"}, statistic="median").statistic == "median"
    assert sk.validate(data, {"f": "p"}, statistic="median")["f"].match == "total"


def test_json_fits_its_schema(result: Validation) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for found in (result, replace(result, litmus=None, rules=()), sk.validate(times(f=0 * LOG + 1), {"f": "1"}, "f <= f")):
        content = json.loads(found.to_json())
        jsonschema.validate(content, SCHEMA, cls=jsonschema.Draft202012Validator)
        assert content == found.to_dict()
    content = result.to_dict()
    assert content["verdicts"][0]["model"]["growth"] == "p*log(p)"
    assert content["verdicts"][0]["space"]["ticks"] == [str(t) for t in result["faster"].space.ticks]
    assert content["verdicts"][0]["match"] == "none"


def test_every_field_of_the_schema_is_described() -> None:
    fields = dict(SCHEMA["properties"])
    for definition in ("model", "verdict", "rule"):
        fields |= {f"{definition}.{k}": v for k, v in SCHEMA["$defs"][definition]["properties"].items()}
    assert [name for name, field in fields.items() if not field.get("description")] == []


def test_frame(result: Validation) -> None:
    frame = result.to_frame()
    assert list(frame["function"])[:2] == ["as_expected", "faster"]
    assert list(frame["match"])[:4] == ["total", "none", "none", "approximate"]
    assert {"metric", "expectation", "model", "adjusted_r2", "divergence", "crossing", "decides"} <= set(frame.columns)


def test_html_shows_names_letter_by_letter(result: Validation) -> None:
    text = result._repr_html_()
    assert "<b onclick" not in text
    assert "&lt;b onclick=&#x27;x&#x27;&gt;&amp;&quot;f" in text


def test_junit(result: Validation) -> None:
    root = ET.fromstring(to_junit(result))
    suite = root[0]
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8",
        "failures": "3",
        "errors": "0",
        "skipped": "0",
    }
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["faster", "MPI_Comm_dup", "near <= as_expected"]
    stricter = ET.fromstring(to_junit(result, fail_on=["better"]))[0]
    assert stricter.get("failures") == "4"


def test_junit_of_what_xml_cannot_hold(result: Validation) -> None:
    verdict = result["as_expected"]
    series = replace(verdict.series, function=HOSTILE)
    hostile = replace(verdict, evidence=replace(verdict.evidence, series=series))
    case = ET.fromstring(to_junit(replace(result, verdicts=(hostile,), rules=())))[0][0]
    assert case.get("name") == HOSTILE.replace("\x01", "\ufffd")


def test_unknown_rules_are_skipped_in_junit() -> None:
    found = sk.validate(times(f=LOG), {"f": "log(p)", "g": "1"}, "f <= g")
    assert found.rules[0].status == "unknown"
    assert "f &lt;= g cannot be checked: g was not measured." in to_junit(found)
    assert found.exit_status() == 0


def test_no_statistics_or_algebra_library_is_loaded() -> None:
    code = (
        "import sys, scalkit as sk;"
        "res = sk.validate(sk.measurements([2, 4, 8, 16, 32], [3, 2, 3, 4, 5], name='f'), {'f': 'log(p)'});"
        "res.to_json();"
        "print(sorted({'sympy', 'scipy.stats', 'scipy.optimize'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
