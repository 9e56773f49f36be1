"""What an assessment shows: table, frame, JSON, HTML, sentences, exit status."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lessons.campaigns import neighbourhood_design, simulated_campaign
from scalkit.errors import UsageError
from scalkit.guidelines import Guideline, assess
from scalkit.guidelines.choices import remedies

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found():
    design = pd.concat([neighbourhood_design(p=p, sizes=(1, 64)) for p in (160, 320)], ignore_index=True)
    planted = [({"operation": "MPI_Neighbor_allgather", "topology": "moore", "n_dim": 2, "p": 160, "size": 64}, 1.2)]
    return assess(simulated_campaign(design, planted, seed=1, n_repetitions=9), ["neighbourhood", "a <= b"])


def few(n: int, factor: float = 1.0) -> dict:
    rng, sides = np.random.default_rng(n), (("a", factor), ("b", 1))
    rows = [(HOSTILE + op, HOSTILE, f"{op}{r}", f * rng.lognormal(0, 0.01)) for op, f in sides for r in range(n)]
    return {name: [row[i] for row in rows] for i, name in enumerate(("operation", "kind", "run", "time"))}


def test_table_as_the_paper_prints_it(found) -> None:
    name = "GL4: MPI_Neighbor_allgather <= MPI_Neighbor_alltoall"
    assert found.table()["violations"][name] == "12/448 (12/224)"
    by = found.table("p")
    assert list(by.columns) == ["p=160", "p=320"]
    assert by.loc[name].tolist() == ["12/224 (12/112)", "0/224 (0/112)"]
    with pytest.raises(UsageError, match="there is no parameter 'nodes'; choose from operation, p, size"):
        found.table("nodes")


def test_frame(found) -> None:
    frame = found.to_frame()
    assert len(frame) == len(found)
    assert frame["state"].value_counts().to_dict() == {k: v for k, v in found.counts.items() if v}
    assert {type(x) for x in frame["reorder"]} <= {int, type(None)}
    worst = found.violations["ratio"].to_numpy()
    assert (np.diff(worst) <= 0).all()
    assert len(found.to_frame("compliant")) == found.counts["compliant"]
    with pytest.raises(UsageError, match="the state 'fine' is unknown; choose from violated, compliant"):
        found.to_frame("fine")


def test_a_parameter_may_have_the_name_of_a_result() -> None:
    columns = {"operation": ["a", "b"], "p_value": [3, 3], "run": [0, 0], "time": [1.0, 2.0]}
    frame = assess(columns, "a <= b").to_frame()
    assert (frame["p_value_"][0], frame["p_value"][0]) == (3, 1.0)


def test_words(found) -> None:
    assert found.headline.startswith("12 of 1792 tests violated (GL4); ")
    assert repr(found) == f"<Assessment: {found.headline}>"
    test = int(found.violations.index[0])
    assert found.sentence(test).startswith(
        "GL4: MPI_Neighbor_allgather <= MPI_Neighbor_alltoall is violated at p=160, size=64, n_dim=2, "
    )
    assert "takes 1.22 times the right (95 %: 1.20 to 1.23), q = " in found.sentence(test)
    holds = int(found.to_frame("compliant").index[0])
    assert " holds at " in found.sentence(holds)
    assert found.warnings == (
        "These measurements are simulated.",
        "15 guidelines were not tested for lack of measurements (GL1, GL2, GL3, GL4, GL5, GL6, GL7, GL8, GL10, GL11, a <= b); "
        "not_tested says why.",
    )
    one = assess({"operation": ["a"], "run": [0], "time": [1.0]}, ["a <= b", "order=x <= order=y"])
    assert one.warnings == (
        "a <= b was not tested: b was not measured.",
        "order=x <= order=y was not tested: the measurements have no parameter 'order'.",
    )
    assert one.headline == "no guideline could be tested"
    assert one.table().empty
    assert one.to_frame().empty


def test_a_single_violation_among_many_needs_more_runs() -> None:
    rng = np.random.default_rng(1)
    rows = [(op, size, f"{op}{r}", rng.lognormal()) for size in range(100) for op in "ab" for r in range(7)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("operation", "size", "run", "time"))}
    assert assess(columns, "a <= b").warnings == (
        "a <= b: among 100 tests a single violation may go unseen with so few runs; 10 would show it.",
    )
    assert assess(columns, "a <= b", strictness="paper").warnings == ()


def test_runs_with_different_experiments_are_named_and_kept() -> None:
    rng = np.random.default_rng(1)
    rows = [(op, r, rng.lognormal(0, 0.01)) for r in range(14) for op in "ab" if (op, r) not in {("a", 3), ("b", 5)}]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("operation", "run", "time"))}
    found = assess(columns, "a <= b")
    assert found.warnings == (
        "2 of 14 runs lack experiments, as run 3, which lacks 1 of 2; each test takes the runs that there are.",
    )
    assert found.to_frame()["n_left"].tolist() == [12]


def test_json(found) -> None:
    read = json.loads(found.to_json())
    assert read["counts"] == found.counts
    assert read["exit_status"] == 1
    assert len(read["tests"]) == len(found)
    assert read["tests"][0]["state"] in found.counts
    gl9 = next(one for one in read["guidelines"] if one["name"] == "GL9")
    assert (gl9["metarule"], gl9["not_tested"], gl9["violations"]) == (2, None, "0/384 (0/192)")
    assert next(one for one in read["guidelines"] if one["name"] == "GL1")["not_tested"].endswith("were not measured")
    single = json.loads(assess(few(3), f'"{HOSTILE}a" <= "{HOSTILE}b"').to_json())
    assert single["tests"][0]["ratio_high"] is None
    assert single["tests"][0]["q_value"] is None


def test_exit_status(found) -> None:
    assert found.exit_status() == 1
    text = f'"{HOSTILE}a" <= "{HOSTILE}b"'
    fine = assess(few(20), text)
    assert fine.counts["compliant"] == 1
    assert fine.exit_status() == fine.exit_status(["inconclusive", "undecidable", "untested"]) == 0
    assert assess(few(20), [text, "c <= d"]).exit_status(["untested"]) == 1
    crowded = assess({**few(20, 1.3), "oversubscribed": [True] * 40}, text)
    assert crowded.counts["violated"] == 1
    assert crowded.exit_status("inconclusive") == 0
    with pytest.raises(UsageError, match="cannot fail on 'better'; choose from inconclusive, undecidable, untested"):
        fine.exit_status(["better"])


def test_crowded_runs_do_not_decide() -> None:
    text = f'"{HOSTILE}a" <= "{HOSTILE}b"'
    columns = few(20, 1.3)
    wide = {key: value * 2 for key, value in columns.items()} | {"p": [8] * 40 + [64] * 40}
    assert assess(wide, text).exit_status() == 1
    crowded = assess(wide | {"oversubscribed": [False] * 40 + [True] * 40}, text)
    assert crowded.to_frame()["decides"].tolist() == [True, False]
    assert (crowded.exit_status(), crowded.warnings[0][:46]) == (1, "Some runs had more processes than cores: their")
    assert assess(wide | {"oversubscribed": [True] * 80}, text).exit_status(["inconclusive"]) == 0
    larger = wide["time"][:40] + [t * (3 if k < 20 else 1) for k, t in enumerate(wide["time"][40:])]
    found = assess(wide | {"time": larger, "oversubscribed": [False] * 40 + [True] * 40}, text)
    assert found.violations["p"].tolist() == [8, 64]  # what decides comes first, also where it is smaller
    assert found.violations["ratio"].to_numpy()[1] > 3
    assert [one.decides for one in remedies(found)] == [True, False]


def test_html_is_escaped_and_says_what_the_text_says(found) -> None:
    html = found._repr_html_()
    assert "12/448 (12/224)" in html
    for n, factor in ((3, 1.0), (20, 1.3)):
        shown = assess(few(n, factor), Guideline.parse(f'"{HOSTILE}a" <= "{HOSTILE}b"', name=HOSTILE))._repr_html_()
        assert HOSTILE not in shown
        assert "&lt;script&gt;" in shown


def test_simulated_measurements_say_so() -> None:
    frame = pd.DataFrame(few(20))
    frame.attrs["simulated"] = True
    shown = assess(frame, f'"{HOSTILE}a" <= "{HOSTILE}b"')
    assert shown.warnings == ("These measurements are simulated.",)
    assert "These measurements are simulated." in shown._repr_html_()
