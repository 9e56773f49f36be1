"""Assessments where the truth is planted, against scipy group by group, swapped, with few runs, and with gaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lessons.campaigns import neighbourhood_design, simulated_campaign
from scalkit.errors import DataError, RuleError, UsageError
from scalkit.guidelines import Guideline, assess, guidelines
from scalkit.guidelines.experiments import measured

PAPER = {"strictness": "paper"}
MOORE = {"operation": "MPI_Neighbor_allgather", "topology": "moore", "n_dim": 2, "order": "fmaj"}
GL4 = "MPI_Neighbor_allgather <= MPI_Neighbor_alltoall"
KEYS = ["size", "n_dim", "n_finite", "topology", "order", "reorder"]


@pytest.fixture(scope="module")
def design():
    return neighbourhood_design(sizes=(1, 64, 4096))


@pytest.fixture(scope="module")
def campaign(design):
    return simulated_campaign(design, [(MOORE, 1.12)], seed=3, n_repetitions=15)


def test_size_of_the_design() -> None:
    design = neighbourhood_design()
    assert len(design) == len(design.drop_duplicates()) == 3360


@pytest.mark.parametrize("options", [{}, PAPER], ids=["paired", "paper"])
def test_what_is_planted_is_found_and_nothing_else(campaign, options) -> None:
    found = assess(campaign, "neighbourhood", **options)
    frame = found.violations
    planted = (frame["topology"] == "moore") & (frame["n_dim"] == 2)
    assert planted.all()
    gl4 = frame[frame["name"] == "GL4"]
    assert len(gl4) == 2 * 2 * 3
    assert (gl4["order"] == "fmaj").all()
    gl11 = frame[frame["name"] == "GL11"]
    assert len(gl11) == 2 * 2 * 3
    relation = "<=" if options else "~"
    assert set(gl11["guideline"]) == {f"order=fmaj {relation} order=rand"}
    assert set(frame["name"]) == {"GL4", "GL11"}
    assert gl4["ratio"].between(1.08, 1.16).all()
    table = found.table()["violations"]
    assert table[f"GL4: {GL4}"] == "12/336 (4/112)"
    assert table[f"GL11: order=fmaj {relation} order=rand"] == "12/192 (4/64)"
    assert table[f"GL11: order=lmaj {relation} order=rand"] == "0/192 (0/64)"
    assert table["GL9: topology=cart <= topology=vonneumann"] == "0/288 (0/96)"
    assert table["GL12: reorder=1 <= reorder=0"] == "0/336 (0/112)"
    assert found.exit_status() == 1


def test_error_rate_without_violations(design) -> None:
    false = tests = 0
    for seed in range(4):
        campaign = simulated_campaign(design, seed=seed, n_runs=12, n_repetitions=5)
        for options in ({"v_threshold": 1.0 + 1e-12, **PAPER, "p_threshold": 0.05}, {"v_threshold": 1 + 1e-12}):
            found = assess(campaign, [GL4, "reorder=1 <= reorder=0"], **options)
            if options.get("strictness"):
                false, tests = false + found.counts["violated"], tests + len(found)
            else:
                assert found.counts["violated"] == 0
    # runs are shared, so the rank sum is conservative
    assert false / tests <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tests)


def test_rank_sum_holds_its_level_where_runs_are_not_shared(design) -> None:
    columns = simulated_campaign(design, seed=5, n_runs=10, n_repetitions=5, run_cv=0)
    found = assess(columns, GL4, **PAPER, p_threshold=0.05, v_threshold=1 + 1e-12)
    assert 0.02 <= found.counts["violated"] / len(found) <= 0.085


def test_pairs_see_what_runs_hide(design) -> None:
    columns = simulated_campaign(design, [(MOORE, 1.06)], seed=4, run_cv=0.2, n_repetitions=15)
    paired, ranks = assess(columns, GL4), assess(columns, GL4, **PAPER)
    assert (paired.counts["violated"], ranks.counts["violated"]) == (12, 0)


def test_answers_are_those_of_scipy_group_by_group(campaign) -> None:
    found = assess(campaign, GL4, **PAPER)
    frame, data = found.to_frame(), measured(campaign)
    own = data.parameters.index("operation")
    for test in range(0, len(frame), 7):
        medians = []
        for level in ("MPI_Neighbor_allgather", "MPI_Neighbor_alltoall"):
            wanted = found.codes[test].copy()
            wanted[own] = data.levels["operation"].index(level)
            (row,) = np.flatnonzero((data.codes == wanted).all(axis=1))
            medians.append(data.medians[row])
        p = stats.mannwhitneyu(*medians, alternative="greater", method="exact").pvalue
        assert frame["p_value"][test] == pytest.approx(p, rel=1e-9)
        assert frame["violation_ratio"][test] == pytest.approx(np.median(medians[0]) / np.median(medians[1]))
        np.testing.assert_array_equal(found.left[test], medians[0])


def swapped(one: Guideline) -> Guideline:
    return replace(one, left=one.right, right=one.left)


@pytest.mark.parametrize("options", [{}, PAPER])
def test_swapped_sides_invert_the_ratio(campaign, options) -> None:
    one = Guideline.parse(GL4)
    a, b = (assess(campaign, g, **options).to_frame().sort_values(KEYS) for g in (one, swapped(one)))
    for key, other in [("violation_ratio",) * 2, ("ratio",) * 2, ("ratio_low", "ratio_high")]:
        np.testing.assert_allclose(a[key], 1 / b[other].to_numpy())
    similar = Guideline.parse(GL4.replace("<=", "~"))
    a, b = (assess(campaign, g, **options).to_frame().sort_values(KEYS) for g in (similar, swapped(similar)))
    np.testing.assert_array_equal(a["state"], b["state"])
    np.testing.assert_allclose(a["p_value"], b["p_value"])


def table(*rows: tuple, names: tuple = ("operation", "size", "run", "time")) -> dict:
    return {name: np.array(column, dtype=object) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def one_size(n: int, *, factor: float = 1.5, spread: float = 0.001) -> dict:
    rng = np.random.default_rng(n)
    rows = [(op, 8, f"{op}{run}", f * rng.lognormal(0, spread)) for op, f in (("a", factor), ("b", 1.0)) for run in range(n)]
    return table(*rows)


@pytest.mark.parametrize(("n", "state"), [(1, "undecidable"), (6, "undecidable"), (7, "violated"), (30, "violated")])
def test_too_few_runs_are_undecidable(n: int, state: str) -> None:
    found = assess(one_size(n), "a <= b")
    assert found.to_frame()["state"].tolist() == [state]
    assert found.to_frame()["runs_needed"].tolist() == [7]
    if state == "undecidable":
        assert found.exit_status() == 0
        assert found.exit_status(["undecidable"]) == 1
        runs = "1 run" if n == 1 else "6 runs"
        assert found.sentence(0) == (
            f"a <= b cannot be decided at size=8: no values of {runs} reach p = 0.001; measure 7 runs of each side."
        )
        assert found.warnings == (
            "1 test had too few runs to ever reach p = 0.001; 7 runs of each side are needed. More repetitions do not help.",
        )


def test_repetitions_do_not_replace_runs() -> None:
    rng = np.random.default_rng(1)
    columns = {"operation": ["a", "b"] * 2, "run": [0, 0, 1, 1], "time": rng.lognormal(0, 0.1, (4, 1000))}
    columns["time"][::2] *= 2
    assert assess(columns, "a <= b").counts["undecidable"] == 1


def test_states() -> None:
    def state(factor: float, spread: float, text: str = "a <= b") -> str:
        return str(assess(one_size(20, factor=factor, spread=spread), text).to_frame()["state"][0])

    assert state(1.2, 0.01) == "violated"
    assert state(1.0, 0.01) == "compliant"
    assert state(0.7, 0.01) == "compliant"
    assert state(1.02, 0.05) == "inconclusive"
    assert state(1.0, 0.01, "a ~ b") == "compliant"
    assert state(0.7, 0.01, "a ~ b") == "violated"
    assert state(1.2, 0.01, "a ~ b") == "violated"


def test_severe_is_beyond_the_threshold_with_the_whole_interval() -> None:
    assert assess(one_size(20, factor=1.2, spread=0.01), "a <= b").to_frame()["is_severe"][0]
    mild = assess(one_size(30, factor=1.033, spread=0.01), "a <= b").to_frame()
    assert (mild["state"][0], bool(mild["is_severe"][0])) == ("violated", False)


def test_which_test() -> None:
    rng = np.random.default_rng(2)

    def used(n_a: int, n_b: int, shift: int = 0) -> tuple[str, int, int]:
        rows = [("a", run, rng.lognormal()) for run in range(n_a)]
        rows += [("b", run + shift, rng.lognormal()) for run in range(n_b)]
        row = assess(table(*rows, names=("operation", "run", "time")), "a <= b").to_frame().iloc[0]
        return row["test"], row["n_left"], row["n_right"]

    assert used(12, 12) == ("paired", 12, 12)
    assert used(12, 14) == ("paired", 12, 12)
    assert used(9, 9) == ("rank-sum", 9, 9)
    assert used(12, 12, shift=100) == ("rank-sum", 12, 12)
    assert used(30, 30, shift=18) == ("rank-sum", 30, 30)


def test_a_large_family_takes_the_test_that_can_show_one_violation() -> None:
    rng = np.random.default_rng(7)

    def assessed(n_runs: int, n_tests: int = 40, **options):
        rows = [
            (op, size, run, rng.lognormal(0, 0.02) * (1.5 if (op, size) == ("a", 3) else 1))
            for op in "ab"
            for size in range(n_tests)
            for run in range(n_runs)
        ]
        return assess(table(*rows), "a <= b", **options).to_frame()

    for n_runs, options, test, state in (
        (10, {}, "rank-sum", "violated"),  # pairs: 2^-10 = 0.001, times 40
        (10, PAPER, "rank-sum", "violated"),
        (15, {}, "rank-sum", "violated"),
        (16, {}, "paired", "violated"),  # 2^-16 times 40 is below 0.001
        (10, {"n_tests": 200}, "paired", "inconclusive"),  # neither can
    ):
        frame = assessed(n_runs, **options)
        assert set(frame["test"]) == {test}
        assert frame["state"][frame["size"] == 3].tolist() == [state]
        assert (frame["state"][frame["size"] != 3] != "violated").all()


def test_sums_and_maxima_are_taken_run_by_run() -> None:
    times = {"a": [10.0, 20, 30], "b": [1.0, 2, 3], "c": [5.0, 1, 9], "d": [4.0, 4, 4]}
    columns = table(*[(op, r, t) for op, ts in times.items() for r, t in enumerate(ts)], names=("operation", "run", "time"))
    found = assess(columns, ["a <= b + 2*c", "a <= max(b + c, d)", "a + b <= c"])
    np.testing.assert_array_equal(found.right, [[11, 4, 21], [6, 4, 12], [5, 1, 9]])
    np.testing.assert_array_equal(found.left[2], [11, 22, 33])


def test_missing_parameters_agree_with_all() -> None:
    rows = [("cart", None, r, 1.0) for r in range(3)]
    rows += [("graph", order, r, 2.0) for order in ("fmaj", "rand") for r in range(3)]
    found = assess(table(*rows, names=("topology", "order", "run", "time")), "topology=cart <= topology=graph")
    assert sorted(found.to_frame()["order"]) == ["fmaj", "rand"]
    work = table(
        *[("i", w, r, 3.0) for w in (10, 20) for r in range(2)],
        *[("blocking", None, r, 1.0) for r in range(2)],
        *[("work", w, r, float(w)) for w in (10, 20) for r in range(2)],
        names=("operation", "work", "run", "time"),
    )
    assert assess(work, "i <= max(blocking, work)").right[:, 0].tolist() == [10, 20]


def test_apart_from() -> None:
    names = ("operation", "topology", "run", "time")
    columns = table(*[(*op, r, 1.0) for op in (("a", "cart"), ("b", "graph")) for r in range(2)], names=names)
    assert len(assess(columns, Guideline.parse("a <= b"))) == 0
    found = assess(columns, Guideline.parse("a <= b", apart_from=("topology",)))
    assert found.to_frame()["topology"].tolist() == ["cart"]


def test_where() -> None:
    columns = table(*[(op, size, r, 1.0) for op in "ab" for size in (1, 2, 3) for r in range(2)])
    found = assess(columns, Guideline.parse("a <= b", where={"size": ("1", "3")}))
    assert sorted(found.to_frame()["size"]) == [1, 3]


def test_monotony_and_split() -> None:
    rng = np.random.default_rng(1)
    times = {0: 1.0, 1000: 2.0, 2000: 5.0, 3000: 4.0}
    columns = table(*[("a", s, r, t * rng.lognormal(0, 0.001)) for s, t in times.items() for r in range(12)])
    found = assess(columns, [Guideline(kind="monotony", parameter="size"), Guideline(kind="split", parameter="size")])
    frame = found.to_frame()
    first = frame[frame["guideline"] == "size <= the next larger size"]
    assert list(zip(first["size"], first["against"], first["state"], strict=True)) == [
        (0, 1000, "compliant"),
        (1000, 2000, "compliant"),
        (2000, 3000, "violated"),
    ]
    second = frame[frame["guideline"] != "size <= the next larger size"].sort_values(["size", "against"])
    assert list(zip(second["size"], second["against"], second["state"], strict=True)) == [
        (2000, 1000, "violated"),
        (3000, 1000, "compliant"),
        (3000, 2000, "compliant"),
    ]
    np.testing.assert_allclose(second["violation_ratio"], [5 / 4, 4 / 6, 4 / 10], rtol=0.01)
    assert "against size=3000" in found.sentence(2)
    named = table(*[("a", s, r, 1.0) for s in ("small", "large") for r in range(2)])
    with pytest.raises(DataError, match="'size' has levels that are no numbers; 'size <= the next larger size' needs sizes"):
        assess(named, Guideline(kind="monotony", parameter="size"))


@pytest.mark.parametrize(("rand", "state"), [(1.3, "compliant"), (0.7, "violated")])
def test_the_mode_of_the_paper_tests_orders_on_one_side(rand: float, state: str) -> None:
    rows = [
        (order, "MPI_Neighbor_allgather", run, level + run / 1000)
        for order, level in (("fmaj", 1.0), ("rand", rand))
        for run in range(12)
    ]
    table = dict(zip(("order", "operation", "run", "time"), zip(*rows, strict=True), strict=True))
    (gl11,) = (one for one in guidelines("neighbourhood") if str(one) == "order=fmaj ~ order=rand")
    assert assess(table, gl11).columns["state"].tolist() == ["violated"]
    paper = assess(table, gl11, **PAPER)
    assert str(paper.guidelines[0]) == "order=fmaj <= order=rand"
    assert paper.columns["state"].tolist() == [state]


def test_families_are_adjusted_apart() -> None:
    rows = []
    rng = np.random.default_rng(6)
    for size in range(40):
        for op in "abc":
            rows += [(op, size, f"{op}{r}", rng.lognormal(0, 0.1)) for r in range(8)]
    options = {"p_threshold": 0.05, "v_threshold": 1.001}
    texts = [Guideline.parse("a <= b", name="x"), Guideline.parse("a <= c", name="x"), Guideline.parse("b <= c")]
    frame = assess(table(*rows), texts, **options).to_frame()
    for rows in (frame["name"] == "x", frame["name"] == ""):
        wanted = stats.false_discovery_control(frame["p_value"][rows])
        np.testing.assert_allclose(frame["q_value"][rows], wanted)
    raw = assess(table_of_few(), texts[0], p_threshold=0.05, **PAPER).to_frame()
    np.testing.assert_array_equal(raw["p_value"], raw["q_value"])


def table_of_few() -> dict:
    return table(*[(op, 1, f"{op}{r}", 1.0 + r + (op == "a")) for op in "ab" for r in range(8)])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"strictness": "t"}, UsageError, "the strictness 't' is unknown; choose from strict, paper"),
        ({"p_threshold": 0}, UsageError, "the threshold of p is 0; it must lie between 0 and 1"),
        ({"v_threshold": 1}, UsageError, "the threshold of the ratio is 1; it must be above 1, as in 1.03"),
        ({"value": "speed"}, DataError, "there is no column 'speed' with the measured values"),
        ({"guideline": "a <="}, RuleError, "cannot read the guideline 'a <='"),
    ],
)
def test_refused(options, error, text) -> None:
    with pytest.raises(error, match=text):
        assess(one_size(3), **{"guideline": "a <= b", **options})


def test_table_without_a_value_is_refused() -> None:
    empty = {"operation": ["a", "b"], "run": [0, 0], "time": [np.nan, np.nan]}
    with pytest.raises(DataError, match="no row of the measurements has a 'time'"):
        assess(empty, "a <= b")


def test_nothing_can_be_planted_where_nothing_is(design) -> None:
    with pytest.raises(UsageError, match=r"nothing in the design has {'order': 'zigzag'}, so nothing can be planted there"):
        simulated_campaign(design, [({"order": "zigzag"}, 2)], seed=1)
