"""Figures of guidelines: times, ratios with intervals, box plots of runs; what they say without being seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scalkit.errors import UsageError
from scalkit.guidelines import Assessment, Guideline, assess
from scalkit.guidelines.comparisons import repetitions
from scalkit.plots.guidelines.map import guideline_map
from scalkit.plots.guidelines.overview import guideline_focus, guideline_overview, guideline_ratios

RUNS, SIZES = 14, (8, 64, 512)
HOSTILE = "<b>%{x}"


def columns(slow: dict[int, float], names: tuple[str, ...] = ("a", "b")) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    rows = [(name, size, run) for name in names for size in SIZES for run in range(RUNS)]
    level = np.array([slow.get(size, 1.0) if name == names[0] else 1.0 for name, size, _ in rows])
    times = level[:, None] * 1e-6 * rng.lognormal(0, 0.01, (len(rows), 21))
    times[:, 20] *= 10
    found = {key: [row[k] for row in rows] for k, key in enumerate(("operation", "size", "run"))}
    return found | {"time": times}


@pytest.fixture(scope="module")
def found() -> Assessment:
    return assess(columns({64: 1.2}), "a <= b")


def worst(found: Assessment) -> int:
    return int(found.violations.index[0])


def test_overview_shows_medians_of_medians_and_where_it_is_violated(found: Assessment) -> None:
    figure = guideline_overview(found, worst(found))
    left, right, crosses = figure.data
    assert (left.name, right.name, crosses.name) == ("left: a", "right: b", "✗ violated")
    assert list(left.x) == list(right.x) == list(SIZES)
    order = np.argsort(found.to_frame()["size"])
    np.testing.assert_allclose(left.y, np.median(found.left[order], axis=1), rtol=1e-5)
    assert (list(crosses.x), list(crosses.y)) == ([64], [left.y[1]])
    assert figure.layout.xaxis.type == "log"
    assert "a <= b: violated at size = 64." in figure.layout.meta["alt"]


def test_ratios_have_the_interval_of_each_test(found: Assessment) -> None:
    figure = guideline_ratios(found, worst(found))
    frame = found.to_frame().set_index("size")
    by_state = {trace.name: trace for trace in figure.data}
    assert set(by_state) == {"✗ violated", "✓ compliant"}
    broken = by_state["✗ violated"]
    assert (list(broken.x), broken.marker.symbol) == ([64], "x")
    assert broken.y[0] == pytest.approx(frame["ratio"][64], rel=1e-5)
    assert broken.y[0] + broken.error_y.array[0] == pytest.approx(frame["ratio_high"][64], rel=1e-4)
    assert broken.y[0] - broken.error_y.arrayminus[0] == pytest.approx(frame["ratio_low"][64], rel=1e-4)
    assert {shape.y0 for shape in figure.layout.shapes} >= {1, 1.03}
    assert "64 1.20 violated" in figure.layout.meta["alt"]


def test_swapped_sides_show_the_inverse(found: Assessment) -> None:
    one = found.guidelines[0]
    back = assess(columns({64: 1.2}), replace(one, left=one.right, right=one.left))
    at = int(np.flatnonzero(back.to_frame()["size"] == 64)[0])
    one = next(trace for trace in guideline_ratios(back, at).data if 64 in trace.x)
    place = list(one.x).index(64)
    other = next(t for t in guideline_ratios(found, worst(found)).data if 64 in t.x)
    assert one.y[place] == pytest.approx(1 / other.y[0], rel=1e-4)


def test_focus_has_a_pair_of_boxes_for_each_run_without_outliers(found: Assessment) -> None:
    test = worst(found)
    figure = guideline_focus(found, test)
    left, right = figure.data
    unit = np.median(found.left[test])
    assert (left.type, len(left.x), len(right.x)) == ("box", RUNS, RUNS)
    np.testing.assert_allclose(np.array(left.median), found.left[test] / unit, rtol=1e-4)
    np.testing.assert_allclose(np.array(right.median), found.right[test] / unit, rtol=1e-4)
    assert max(left.upperfence) < 1.2
    lines = sorted(shape.y0 for shape in figure.layout.shapes)
    assert lines[1] == 1
    assert lines[0] == pytest.approx(np.median(found.right[test]) / unit)
    assert figure.layout.meta["alt"].startswith("14 runs of a <= b, size=64: in units of the left side's median")


def test_repetitions_of_sums_maxima_and_pieces() -> None:
    data = columns({}, ("a", "b", "c"))
    found = assess(data, ["a <= b + 2*c", "a <= max(b, c)", Guideline(kind="split", parameter="size")])
    for test in (0, 3, 6):
        left, right = repetitions(found, test)
        for run in (0, 7):
            assert np.median(left[run]) == pytest.approx(found.left[test, run], rel=0.02)
            assert np.median(right[run]) == pytest.approx(found.right[test, run], rel=0.02)
    split = guideline_overview(found, 6)
    assert split.data[0].name == "left: this size"
    assert len(guideline_focus(found, 6).data[0].x) == RUNS


def test_no_numbers_few_runs_and_hostile_names() -> None:
    data = columns({64: 1.5}, (f"{HOSTILE}a", f"{HOSTILE}b"))
    data["size"] = [{8: "s", 64: HOSTILE, 512: "l"}[size] for size in data["size"]]
    found = assess(data, f'"{HOSTILE}a" ~ "{HOSTILE}b"')
    for draw in (guideline_overview, guideline_ratios, guideline_focus):
        figure = draw(found, 0)
        assert HOSTILE not in str([trace.to_plotly_json() for trace in figure.data]) + str(figure.layout.xaxis)
        assert "&lt;b&gt;" in str([trace.to_plotly_json() for trace in figure.data])
    assert list(guideline_overview(found, 0).data[0].x) == [0, 1, 2]
    few = assess({key: value[::RUNS] for key, value in columns({64: 1.5}).items()}, "a <= b")
    (trace,) = guideline_ratios(few, 0).data
    assert (trace.name, trace.marker.symbol) == ("? undecidable", "circle-open")
    assert len(guideline_focus(few, 0).data[0].x) == 1
    with pytest.raises(UsageError, match="there is no test 9; the assessment has 3, numbered from 0"):
        guideline_focus(few, 9)


def test_simulated_measurements_say_so() -> None:
    import pandas as pd

    data = columns({64: 1.2})
    frame = pd.DataFrame({**data, "time": list(data["time"])})
    frame.attrs = {"simulated": True, "units": "s"}
    figure = guideline_overview(assess(frame, "a <= b"), 0)
    assert "(simulated, not measured)" in figure.layout.meta["alt"]
    assert figure.layout.yaxis.title.text == "time"
    assert any("µs" in text for text in figure.layout.yaxis.ticktext)


def test_map_has_a_panel_for_each_library_and_says_what_decides() -> None:
    rows = [
        (library, name, size, run, (1.0 + (name == "A") * slow) * (1 + run / 1000), crowded)
        for library, slow, crowded in (("x", 1.0, False), ("y<b>", 0.0, False), ("z", 1.0, True))
        for name in ("A", "B")
        for size in (8, 16, 4096)
        for run in range(RUNS)
    ]
    names = ("library", "operation", "size", "run", "time", "oversubscribed")
    found = assess(pd.DataFrame(rows, columns=names), "A <= B")
    figure = guideline_map(found)
    panels = figure.data
    assert [list(one.x) for one in panels] == [["8", "16", "4 Ki"]] * 3
    assert [list(one.text[0]) for one in panels] == [["1/1"] * 3, [""] * 3, ["(1)"] * 3]
    assert (min(panels[0].z[0]) > 0, set(panels[1].z[0]) == {-0.25}, set(panels[2].z[0]) == {-1}) == (True, True, True)
    assert figure.layout.xaxis2.title.text == "y&lt;b&gt;"
    assert "largest: 2.00 times at library=x, size=8" in panels[0].customdata[0][0]
    assert figure.layout.meta["alt"] == "Guidelines by size, in 3 panels: 3 of 9 tests violated: A <= B."
    with pytest.raises(UsageError, match="no guideline could be tested, so there is no map; measure both sides of one"):
        guideline_map(assess(pd.DataFrame(rows, columns=names), "A <= C"))


def test_map_puts_many_sizes_together_by_powers_of_eight() -> None:
    sizes = [8 * p for p in range(1, 12)]
    table = {"operation": ["A", "B"] * 11, "size": np.repeat(sizes, 2), "run": [0] * 22, "time": [1.0] * 22}
    (panel,) = guideline_map(assess(table, "A <= B")).data
    assert list(panel.x) == ["8+", "64+"]
    assert [words.rpartition(": ")[2] for words in panel.customdata[0]] == ["7 tests", "4 tests"]
