"""Expectations over several parameters: along each, as a whole, and what a user does with the result."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge import Validation, load_expectations
from scalkit.judge.expectation import sure_match
from scalkit.judge.several.expectation import GrowthRatio, SeveralExpectation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.told.annotations import to_github
from scalkit.judge.told.junit import to_junit
from scalkit.judge.told.sentences import sentence_of
from scalkit.measure import combine, several_series
from scalkit.reports.inputs import from_plain, plain_expectations

SCHEMA = json.loads(resources.files("scalkit.judge").joinpath("verdict.schema.json").read_text(encoding="utf-8"))

P, S = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(3, 8)
POINTS = np.array(list(itertools.product(P, S)))
SUM = 2e-6 + 3e-6 * np.log2(POINTS[:, 0]) + 1e-9 * POINTS[:, 1]
PRODUCT = 2e-6 + 1e-9 * POINTS[:, 0] * POINTS[:, 1]


def noisy(y: np.ndarray, seed: int = 3) -> np.ndarray:
    return y[:, None] * (1 + 0.02 * np.abs(np.random.default_rng(seed).standard_normal((len(y), 5))))


def measured(y: np.ndarray, points: np.ndarray = POINTS, **options: Any) -> xr.Dataset:
    return sk.measurements(points, y, **{"parameter": ["p", "S"], **options})


def judged(y: np.ndarray, expectation: object, points: np.ndarray = POINTS, **options: Any) -> SeveralVerdict:
    found = sk.validate(measured(y, points), {"f": expectation}, **options)["f"]
    assert isinstance(found, SeveralVerdict)
    return found


def test_a_sum_that_grows_as_expected() -> None:
    v = judged(noisy(SUM), "log(p) + S")
    assert (sure_match(v.probability), v.match, v.direction) == ("total", "total", "as expected")
    assert [sure_match(one.probability) for one in v.along.values()] == ["total", "total"]
    assert v.answer != "fix"
    assert v.sentence == (
        "f grows as claimed, S + log(p); anything faster than p^(1/4) along p or faster than S^(5/4) along S is excluded."
    )
    assert sentence_of(v, in_short=True) == "f grows as claimed, S + log(p)."
    assert v.probability["total"] == pytest.approx(1 - v.probability["none"] - v.probability["approximate"])
    assert 0 < v.along["p"].effect < v.along["S"].effect < 1


def test_a_product_where_a_sum_is_expected() -> None:
    v = judged(noisy(PRODUCT), "p + S")
    assert [sure_match(one.probability) for one in v.along.values()] == ["total", "total"]
    assert (sure_match(v.probability), v.direction) == ("none", "grows faster")
    assert v.answer == "fix"
    assert v.answer == "fix"
    assert v.sentence.startswith("f grows as S*p instead of S + p; it grows faster than claimed with a probability of")
    assert v.problem.startswith("f grows as S*p instead of S + p: ")
    assert v.problem.endswith(" at p = 512, S = 65536")


def test_one_parameter_that_grows_faster() -> None:
    v = judged(noisy(PRODUCT), "log(p) * S")
    assert sure_match(v.along["S"].probability) == "total"
    along = v.along["p"]
    assert (sure_match(along.probability), along.direction) == ("none", "grows faster")
    assert along.divergence == Growth("p/log(p)")
    assert v.answer == "fix"


def test_better_than_expected_is_no_failure() -> None:
    v = judged(noisy(SUM), "p*S")
    assert (sure_match(v.probability), v.direction) == ("none", "grows slower")
    assert v.answer != "fix"
    assert v.along["p"].crossing == pytest.approx(16.0)


def test_a_parameter_without_effect_is_expected_when_it_is_not_named() -> None:
    v = judged(noisy(2e-6 + 3e-6 * np.log2(POINTS[:, 0])), "log(p)")
    assert v.along["S"].growth == Growth()
    assert sure_match(v.along["S"].probability) == "total"
    assert v.along["S"].effect == pytest.approx(0.0, abs=0.05)
    assert sure_match(judged(noisy(SUM), "log(p)").along["S"].probability) == "none"


def test_sparse_design_decides() -> None:
    on_lines = np.equal(POINTS, POINTS[0]).any(axis=1) | np.equal(POINTS, [64.0, 4096.0]).all(axis=1)
    v = judged(PRODUCT[on_lines], "p*S", POINTS[on_lines])
    assert on_lines.sum() == 10
    assert v.model.growth == GrowthSum.parse("p*S")
    assert sure_match(v.probability) == "total"


def test_with_noise_beyond_measure_cannot_tell() -> None:
    rng = np.random.default_rng(11)
    y = SUM[:, None] * np.exp(0.5 * rng.standard_normal((25, 3)))
    v = judged(y, "log(p)*S")
    assert None in {sure_match(v.probability), *(sure_match(one.probability) for one in v.along.values())}
    assert v.answer != "fix"


def test_the_machine_explains_more_along_sizes_than_along_processes() -> None:
    over_p = judged(noisy(PRODUCT), "log(p) * S")
    assert (over_p.answer, over_p.evidence.machine_factor) == ("fix", 1.25)
    over_s = judged(noisy(2e-6 + 1e-9 * POINTS[:, 0] * POINTS[:, 1] ** 1.25), "p*S")
    assert (over_s.answer, over_s.evidence.machine_factor) == ("fix", 2.0)
    assert judged(noisy(2e-6 + 1e-9 * POINTS[:, 0] * POINTS[:, 1] ** 1.1), "p*S").answer != "fix"


@pytest.mark.parametrize(("size", "answer"), [("S", "fine"), ("nodes", "fix")])
def test_caches_explain_a_rise_with_a_drift_along_sizes_only(size: str, answer: str) -> None:
    rise = np.interp(POINTS[:, 1], S, [1, 1, 1.8, 1.9, 3.2])  # no law
    data = measured(noisy(PRODUCT * rise), parameter=["p", size])
    found = sk.validate(data, {"f": f"p*{size}"})["f"]
    assert (found.answer, found.posterior.too_fast(found.evidence.bounds) > 0.95) == (answer, True)
    assert found.evidence.excess == pytest.approx(3.2, rel=0.1)


def test_an_excess_is_along_the_parameter_that_is_outgrown() -> None:
    """The values are largest where the claim holds: few processes, a large problem."""
    p, size = POINTS.T
    v = judged(noisy(1e-6 * (size / p + 50 * np.log2(p))), "S/p")
    assert v.answer == "fix"
    assert v.evidence.excess > 10


@pytest.mark.parametrize("seed", range(5))
def test_a_true_claim_about_scattered_values_is_no_violation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scattered = 1e-6 * np.log2(POINTS).sum(axis=1) * rng.lognormal(0, 0.8, len(POINTS))
    v = judged(scattered[:, None] * rng.lognormal(0, 0.02, (len(POINTS), 5)), "log(p) + log(S)")
    assert v.answer != "fix"


def with_noise(y: np.ndarray, noise: float, seed: int = 11) -> np.ndarray:
    return y[:, None] * np.random.default_rng(seed).lognormal(0, noise, (len(y), 5))


p, n = POINTS[:, 0], POINTS[:, 1] + 40.0


@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize(
    ("truth", "claim", "answers"),
    [
        (n / p + 50 * np.log2(p), "n/p", {"fix"}),
        (n / p + 50 * np.log2(p), "n/p + log(p)", {"fine"}),
        (n * np.log2(n) / p, "n*log(n)/p", {"fine"}),
        (n * np.log2(n) / p**0.5, "n*log(n)/p", {"fix"}),
        (n + 50, "n", {"fine"}),
        (n + 50, "p*n", {"fine"}),
        (n + 50, "n/p", {"fix"}),
        (7 + 0 * n, "1", {"fine"}),
        (7 + 0 * n, "1/p", {"fix"}),
        (n / p, "n", {"fine"}),
        (p * n, "p + n", {"fix"}),
        (p * n * np.where(p < 20, 1.3, 1), "p*n", {"fine"}),
        (p * n * np.where(n > 1000, 1.6, 1), "p*n", {"fine", "cannot tell"}),
        (p * n * np.where(np.arange(25) == 12, 3, 1), "p*n", {"fine"}),
        (p * n * np.where(np.arange(25) == 24, 3, 1), "p*n", {"cannot tell"}),
        (p**1.5 * n * np.where(np.arange(25) == 24, 1 / 3, 1), "p*n", {"fix"}),
    ],
)
def test_answers(truth: np.ndarray, claim: str, answers: set[str], noise: float) -> None:
    points = np.column_stack([p, n])
    ds = sk.measurements(points, with_noise(truth, noise), parameter=["p", "n"])
    assert sk.validate(ds, {"f": claim})["f"].answer in answers


@pytest.mark.parametrize(
    ("truth", "claim", "answer"),
    [
        (p * n * (n - 1) / 2, "p*n^2", "fine"),
        (p * n + n * np.log2(p), "p*n", "fine"),
        (p * n * np.log2(p), "p*n", "fix"),
        (p * np.round(n**1.25), "p*n", "fix"),
    ],
)
def test_counts(truth: np.ndarray, claim: str, answer: str) -> None:
    ds = sk.measurements(np.column_stack([p, n]), truth, parameter=["p", "n"], metric="object_memory", unit="B")
    v = sk.validate(ds, {"f": claim})["f"]
    assert v.series.exact
    assert v.answer == answer


def test_a_largest_point_that_is_off_decides_nothing() -> None:
    y = with_noise(PRODUCT, 0.01)
    y[24] *= 3
    v = judged(y, "p*S")
    assert v.answer == "cannot tell"
    assert v.evidence.hanging_point is not None
    assert v.evidence.hanging_point.tolist() == [128.0, 16384.0]
    assert v.sentence == "f: the answer hangs on the value at p = 128, S = 16384 alone; measure it again, and larger ones."


def test_intervals_and_predictions() -> None:
    v = judged(noisy(SUM), "log(p) + S")
    truth = 2e-6 + 3e-6 * 9 + 1e-9 * 65536
    low, high = v.interval({"p": 512, "S": 65536})
    assert low < truth * 1.01 < high
    assert v.model([512, 65536]) == pytest.approx(truth * 1.01, rel=0.03)
    assert v.interval([[512, 65536], [8, 64]], 0.5).shape == (2, 2)
    assert v.model(p=512, S=65536) == pytest.approx(v.model([512, 65536]))
    with pytest.raises(UsageError, match="the setting p = -1 is not positive"):
        v.interval({"p": -1, "S": 8})
    with pytest.raises(DataError, match="a value of 'S' is missing"):
        v.interval({"p": 8})
    with pytest.raises(UsageError, match="is no probability between 0 and 1"):
        v.interval({"p": 8, "S": 64}, 2)


@pytest.mark.parametrize(
    ("resolution", "answer"), [("p^(1/2)*S^(1/2)", "fine"), ("S^(1/4)", "fine"), ("p^(1/100)", "cannot tell")]
)
def test_a_required_resolution(resolution: str, answer: str) -> None:
    assert judged(noisy(SUM), "log(p) + S", resolution=resolution).answer == answer


def test_a_resolution_that_is_too_coarse_is_said() -> None:
    assert judged(noisy(SUM), "log(p) + S", resolution="p^(1/100)").sentence == (
        "f grows as claimed, S + log(p), but only what is faster than p^(1/4) along p or faster than S^(5/4) along S is "
        "excluded; measure larger points, or more repetitions."
    )


@pytest.mark.parametrize("resolution", ["q^(1/2)", "2", "1/p", "!"])
def test_a_resolution_that_is_none(resolution: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"the resolution {resolution!r} is no growth in p and S; write one such as")):
        judged(noisy(SUM), "log(p) + S", resolution=resolution)


def test_zeros_do_not_stop_the_others() -> None:
    ds = combine([measured(noisy(SUM)), measured(0 * SUM, name="nothing")])
    found = sk.validate(ds, {"f": "log(p) + S", "nothing": "1"})
    assert found["f"].answer == "fine"
    assert found.unjudged == (
        "'time' of 'nothing' at p = 8, S = 64 is 0 s; it must be positive and finite. Drop that point or measure it again",
    )


def test_many_points_are_thinned() -> None:
    points = np.array(list(itertools.product(2.0 ** np.arange(3, 17), 2.0 ** np.arange(2, 16))))
    v = judged(1e-6 * (1 + np.log2(points[:, 0]) * points[:, 1]), "log(p)*S", points)
    assert (v.answer, len(v.series.points), len(v.posterior.y)) == ("fine", 196, 98)
    assert "98 of the 196 points are judged, evenly spread" in v.caveats


def test_runs_are_replicates() -> None:
    ds = combine([measured(noisy(SUM)), measured(noisy(SUM, 4))])
    (found,) = several_series(ds)
    assert found.values.shape == found.replicates.shape == (25, 2)
    assert 0 < found.noise < 0.05
    assert sure_match(sk.validate(ds, {"f": "log(p) + S"})["f"].probability) == "total"


def test_exact_bytes_measured_once() -> None:
    y = 8856 + 8 * POINTS[:, 0] * POINTS[:, 1]
    v = sk.validate(measured(y, metric="object_memory", unit="B", name="win"), {"win": "p*S"})["win"]
    assert sure_match(v.probability) == "total"
    assert v.model.constant == pytest.approx(8856)


def test_points_in_a_list_give_the_same_verdict() -> None:
    rng = np.random.default_rng(7)
    points = np.column_stack([rng.uniform(8, 512, 300), rng.uniform(64, 65536, 300)])
    ds = measured(2e-6 + 1e-9 * points[:, 0] * points[:, 1], points)
    assert ds["time"].dims == ("function", "point", "run", "repetition")
    assert sure_match(sk.validate(ds, {"f": "p*S"})["f"].probability) == "total"


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
    assert expectation.match(GrowthSum.parse(found)) == rank
    assert expectation.direction(GrowthSum.parse(found)) == direction


def test_deviations_are_given_as_product_or_by_parameter() -> None:
    product = SeveralExpectation("log(p) + S", "p^(1/2)")
    assert product.along["p"].deviation == Growth("p^(1/2)")
    assert product.along["S"].deviation == Growth("S^(1/2)")
    by_name = SeveralExpectation("log(p) + S", {"S": "S^(1/4)"})
    assert by_name.along["S"].limits[1] == Growth("S^(5/4)")
    assert SeveralExpectation("p*S", 1).along["p"].deviation == Growth()
    assert by_name == SeveralExpectation("S + log(p)", {"S": "S^(1/4)"})


def test_an_expectation_of_one_parameter_allows_no_effect_of_the_others() -> None:
    own = {"expectation": "log(p)", "deviation": "p^(1/4)"}
    v = judged(noisy(SUM), own)
    assert v.along["p"].expectation.deviation == Growth("p^(1/4)")
    assert (v.along["S"].expectation.growth, sure_match(v.along["S"].probability)) == (Growth(), "none")


def test_a_selected_parameter_leaves_the_term_along_the_other() -> None:
    ds = measured(noisy(SUM))
    result = sk.validate(ds.sel(p=8), {"f": "log(p) + S"})
    assert (result["f"].parameter, str(result["f"].expectation.growth)) == ("S", "S")
    assert "judged at p = 8" in result.warnings
    assert str(sk.validate(ds.sel(p=8), {"f": "log(p)"})["f"].expectation.growth) == "1"


@pytest.mark.parametrize(
    ("space", "along_p", "along_S"),
    [
        ("paper", "paper", "paper"),
        (sk.SearchSpace.of(map(Growth, ["1", "log(p)", "p"]), "mine", "p"), "mine", "around"),
        ({"S": "ics15"}, "around", "ics15"),
    ],
)
def test_spaces(space: Any, along_p: str, along_S: str) -> None:
    v = judged(noisy(SUM), "log(p) + S", space=space)
    assert [one.space.name for one in v.along.values()] == [along_p, along_S]


FILE = """
deviation = { p = "p^(1/2)" }
add_ticks = ["S^(1/8)"]
litmus = "f"
rules = ["f <= 2*f"]
[expectations]
f = { expectation = "log(p) + S", deviation = { S = "S^(1/4)" }, remove_ticks = ["p^2"] }
g = { expectation = "p*S", ticks = ["1", "log(p)", "p", "S^(1/2)", "S"] }
"""


def test_expectations_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(FILE, encoding="utf-8")
    data = combine([measured(noisy(SUM)), measured(noisy(PRODUCT), name="g")])
    for expected in (load_expectations(path), from_plain(json.loads(json.dumps(plain_expectations(load_expectations(path)))))):
        result = sk.validate(data, expected)
        f, g = result["f"].along, result["g"].along
        assert (str(f["p"].expectation.deviation), str(f["S"].expectation.deviation)) == ("log(p)^(1/2)", "S^(1/4)")
        assert Growth("p^2") not in f["p"].space.ticks
        assert Growth("S^(1/8)") in f["S"].space.ticks
        assert str(g["p"].expectation.deviation) == "p^(1/2)"
        assert [str(tick) for tick in g["S"].space.ticks] == ["1", "S^(1/2)", "S"]
        assert result.litmus is not None
        assert result.litmus.passed
        assert [rule.sentence for rule in result.rules] == ["f <= 2*f holds as measured, and the models predict no violation."]


def test_values_without_meaning_are_no_violation() -> None:
    words = []
    for seed in range(8):
        y = SUM[:, None] * np.exp(0.5 * np.random.default_rng(seed).standard_normal((25, 5)))
        words.append(sure_match(judged(y, "log(p) + S").probability))
    assert "none" not in words


def test_four_parameters_are_judged() -> None:
    names = ["a", "b", "c", "d"]
    base = np.full((17, 4), 2.0)
    for i in range(4):
        base[4 * i : 4 * i + 4, i] = [4, 8, 16, 32]
    points = np.vstack([base, np.full(4, 8.0)])
    ds = sk.measurements(points, 1.0 + points.sum(axis=1), parameter=names)
    v = sk.validate(ds, {"f": "a + b + c + d"})["f"]
    assert sure_match(v.probability) == "total"
    assert sum(v.probability.values()) == pytest.approx(1)


def test_the_file_in_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "several-parameters.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    schema = resources.files("scalkit.judge").joinpath("expectations.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(tomllib.loads(text), json.loads(schema))
    (tmp_path / "expectations.toml").write_text(text, encoding="utf-8")
    expected = load_expectations(tmp_path / "expectations.toml")
    expectation, spaces = expected.functions["MPI_Alltoall"].search_spaces(["p", "S"])
    assert expectation.along["S"].deviation == Growth("S^(1/4)")
    assert Growth("p^(1/8)") in spaces["p"].ticks


@pytest.fixture(scope="module")
def result() -> Validation:
    names = {"as_expected": SUM, "faster": PRODUCT, "slower": SUM[0] + 0 * SUM}
    data = combine([measured(noisy(y), name=name) for name, y in names.items()])
    return sk.validate(data, {"as_expected": "log(p) + S", "faster": "p + S", "slower": "p*S", "gone": "p"})


def test_what_the_result_says(result: Validation) -> None:
    assert result.headline == "1 problem: faster grows as S*p instead of S + p: 33.9 ms at p = 512, S = 65536. Beside it: 2 fine"
    assert (result.exit_status(), result.missing) == (1, ("gone",))
    assert [v.answer == "fix" for v in result] == [False, True, False]
    assert result["faster"].divergence == GrowthRatio(GrowthSum.parse("p*S"), GrowthSum.parse("p + S"))
    assert str(result["faster"].divergence) == "(S*p)/(S + p)"
    assert str(result["slower"].divergence) == "1/S/p"
    assert np.isnan(result["slower"].model.adjusted_r2)
    assert 0.99 < result["as_expected"].model.adjusted_r2 < 1
    assert result["faster"].model.growth.to_mathml() in result._repr_html_()


def test_json_fits_its_schema(result: Validation) -> None:
    content = json.loads(result.to_json())
    jsonschema.validate(content, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert content["verdicts"][0]["along"]["S"]["match"] == "total"
    assert content["verdicts"][1]["parameters"] == ["p", "S"]
    assert len(content["verdicts"][1]["points"]) == len(content["verdicts"][1]["y"]) == 25


def test_frame_has_columns_along_each_parameter(result: Validation) -> None:
    frame = result.to_frame()
    assert list(frame["answer"]) == ["fine", "fix", "fine"]
    assert list(frame["match"])[:2] == ["total", "none"]
    assert list(frame["growth_S"]) == ["S", "S", "1"]
    assert list(frame["answer_p"])[:2] == ["fine", "fine"]


def test_junit_and_annotations(result: Validation) -> None:
    assert re.findall(r'name="(\w+)">\s*<failure', to_junit(result)) == ["faster"]
    assert "divergence (S*p)/(S + p)" in to_junit(result)
    assert (
        to_github(result).splitlines()[0].startswith("::error title=faster (time)%3A fix::faster grows as S*p instead of S + p")
    )


def test_a_caveat_takes_the_decision_away() -> None:
    ds = measured(noisy(PRODUCT)).assign_coords(oversubscribed=("p", P > 64))
    found = sk.validate(ds, {"f": "p + S"})
    assert found.exit_status() == 0
    assert not found["f"].decides
    assert found["f"].caveats[0].startswith("more processes than cores at p = 128, S = 64; p = 128, S = 256; p = 128, S = 1024; "
                                            "and 2 more points")  # fmt: skip
    assert "<skipped" in to_junit(found)


def test_remarks() -> None:
    star = np.equal(POINTS, POINTS[0]).any(axis=1)
    words = judged(PRODUCT[star], "p*S", POINTS[star]).caveats
    assert [w for w in words if "all points lie on lines through one point" in w]
    few = POINTS[:, 0] < 100
    v = judged(PRODUCT[few], "p*S", POINTS[few], min_points=4)
    assert "the model rests on only 4 points of p; 5 are the least to rely on" in v.caveats


def test_too_few_values_beside_enough() -> None:
    few = POINTS[:, 1] < 300
    data = combine([measured(SUM), measured(SUM[few], POINTS[few], name="g")])
    found = sk.validate(data, {"f": "log(p) + S", "g": "p"})
    assert found.unjudged == ("g (time) has 2 of 5 needed settings: S = 64, 256",)
    assert 'classname="scalkit.unjudged" name="g (time)"' in to_junit(found)


def test_refine() -> None:
    v = judged(noisy(SUM), "log(p) + S")
    fit = v.refine(free_exponents=True)
    assert fit.params["exponent_S"].value == pytest.approx(1, abs=0.05)
    assert v.refine().params["coefficient_2"].value == pytest.approx(1e-9, rel=0.05)
    along = sk.validate(measured(noisy(SUM)).sel(S=64), {"f": "log(p)"})["f"].refine()
    assert along.params["coefficient"].value == pytest.approx(3e-6, rel=0.05)


@pytest.mark.parametrize(
    ("expectation", "options", "error", "message"),
    [
        ("log(q) + S", {}, ExpectationError, "function 'f': expectation 'S + log(q)' depends on 'q', the data on p, S; write it "
         "in terms of p, S."),
        ({"expectation": "p*S", "deviation": "q"}, {}, ExpectationError, "function 'f': there is a deviation for 'q', the "
         "parameters are p, S; name one of these."),
        ({"expectation": "p*S", "deviation": "2"}, {}, ExpectationError, "function 'f': deviation '2' is a number; write a "
         "growth, or 1 to allow none."),
        ({"expectation": "p*S", "deviation": {"q": "q"}}, {}, ExpectationError, "function 'f': there is a deviation for 'q', the "
         "parameters are p, S; name one of these."),
        ({"expectation": "p*S", "deviation": {}}, {}, ExpectationError, "function 'f': 'deviation' is an empty table; name a "
         "parameter, as in { S = 'S^(1/4)' }, or leave it out."),
        ("p*S", {"space": "papr"}, ExpectationError, "function 'f': the search space 'papr' is unknown; choose one of around, "
         "paper, ics15."),
    ],
)  # fmt: skip
def test_bad_input_is_named(expectation: object, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        judged(PRODUCT, expectation, **options)


def test_too_few_values_of_a_parameter_are_named() -> None:
    ds = measured(SUM)
    for values, message in (
        ([64], "'time' of 'f' was measured at one value of 'S' only, 64, so nothing tells how it grows along S; select that "
         "value, data.sel(S=64), to validate along p alone, or measure more of them."),
        ([64, 256], "fitting 'time' of 'f' needs 5 values of 'S', got 2 (64, 256); measure more or select one, data.sel(S=256)."),
        ([64, 256, 1024], "fitting 'time' of 'f' needs 5 values of 'S', got 3 (64, 256, 1024); measure more or set "
         "min_points=3 (--min-points 3)."),
    ):  # fmt: skip
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            sk.validate(ds.sel(S=values), {"f": "log(p) + S"})
    with pytest.raises(DataError, match=r"^'time' of 'f' at p = 8, S = 64 is 0 s; it must be positive and finite\."):
        sk.validate(measured(0 * SUM), {"f": "1"})
    zeros = measured(0 * SUM, metric="object_memory", unit="B")
    with pytest.raises(DataError, match=r"^all values of 'object_memory' of 'f' are zero, so there is nothing to model"):
        sk.validate(zeros, {"f": {"object_memory": "1"}})


ONE_ONLY = (
    "'as_expected' was measured over p, S, and this is for functions of one parameter; select one value of the others, as in "
    "data.sel(S=64), and validate that."
)


@pytest.mark.parametrize(
    "use", [lambda r: sk.plots.scaling(r), lambda r: r["as_expected"].parameter, lambda r: r["as_expected"].space]
)
def test_what_is_for_one_parameter_says_so(result: Validation, use: Callable[[Validation], object]) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(ONE_ONLY)}$"):
        use(result)


def test_baseline_of_one_parameter_against_several() -> None:
    ds = measured(noisy(SUM))
    baseline = sk.Baseline(sk.validate(ds.sel(S=64), {"f": "log(p)"}))
    message = (
        "the parameters of 'time' of 'f' are 'p' and 'S', in the baseline 'p'; select one value of S, as in data.sel(S=...), "
        "or make a new baseline."
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        sk.validate(ds, baseline)


def test_several_expected_where_one_was_measured() -> None:
    message = (
        "function 'f': the expectation 'S + log(p)' is in terms of S and p, the data in terms of 'p' alone; write it in terms "
        "of p, or, if S varied as well, read the data over p and S: parameter=['p', 'S'] (--parameter p,S)."
    )
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        sk.validate(sk.measurements(P, P), {"f": "log(p) + S"})
