"""The explorer of waits: what is chosen in one pane decides what the next shows, whatever the page asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from test_explorer import bare, living, press
from traced import HOSTILE, traced
from widget_page import from_page

import scalkit as sk
from scalkit import plots
from scalkit.errors import UsageError
from scalkit.trace import write_result
from scalkit.widgets import TraceExplorer

Wire = list[tuple[str, str, dict[str, Any]]]


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    return traced(tmp_path_factory.mktemp("traced"))


@pytest.fixture
def explorer(wire: Wire, ds: xr.Dataset) -> TraceExplorer:
    return TraceExplorer(ds)


def row(part: Any, name: str) -> dict[str, Any]:
    return next(one for one in part.rows if one["name"] == name)


def values(part: Any) -> dict[str, list[str]]:
    return {one["name"]: one["values"] for one in part.rows}


def test_it_begins_at_the_hottest_path_of_the_largest_wait(explorer: TraceExplorer) -> None:
    assert bare(explorer.head).startswith("simulated, 4 processes, 5 call paths")
    assert values(explorer.metrics)["wait at barrier"][0] == "600 ns"
    assert values(explorer.paths) == {"program": ["0 s"], "MPI_Barrier": ["600 ns"]}
    assert list(values(explorer.processes).values()) == [["300 ns"], ["200 ns"], ["100 ns"], ["0 s"]]
    assert "min 0 s median 150 ns mean 150 ns max 300 ns max at process 0 imbalance 100 %" in bare(explorer.processes)
    assert bare(explorer.chosen).startswith("wait at barrier in MPI_Barrier at all processes: 600 ns")
    assert [one["chosen"] for one in explorer.paths.rows] == [False, True]
    assert explorer.selection == {"metric": "wait_at_barrier", "paths": [4], "locations": [], "causers": []}


def test_panes_are_linked(explorer: TraceExplorer) -> None:
    press(explorer.metrics, "choose", key="wait_for_progress")
    assert bare(explorer.chosen).startswith("wait for progress in ARMCI_Get"), "as MPI_Barrier has none of it"
    assert list(values(explorer.processes).values()) == [["20 ns"], ["30 ns"], ["40 ns"], ["0 s"]]
    assert "all processes waited 90 ns" in bare(explorer.causes)
    assert [cell["cells"][2] for cell in (explorer.causes.row0, explorer.causes.row2)] == [
        '<span class="num">40 ns</span>',
        '<span class="num">20 ns</span>',
    ]
    press(explorer.processes, "choose", key="2", how="alone")
    press(explorer.processes, "choose", key="0", how="add")
    assert bare(explorer.chosen).startswith("wait for progress in ARMCI_Get at processes 2, 0: 60 ns")
    assert "processes 2, 0 waited 60 ns" in bare(explorer.causes)
    press(explorer.causes, "by", key="3")
    assert explorer.selection["causers"] == [3]
    assert "waited 40 ns for process 3" in bare(explorer.causes)
    press(explorer.processes, "everyone")
    assert values(explorer.metrics)["wait for progress"][0] == "90 ns"
    press(explorer.metrics, "choose", key="time")
    assert "All time is no wait" in bare(explorer.causes)
    assert "All time is not of pairs: choose a wait" in bare(explorer.pairs)
    assert explorer.matrix.layout.display == "none"
    press(explorer.metrics, "choose", key="rma_operations")
    assert explorer.matrix.figure["data"][0]["z"][0] == [None, 1, None, None]
    assert explorer.matrix.layout.display is None
    assert explorer.causes.order == []


def test_a_cell_of_the_matrix_chooses_both(explorer: TraceExplorer) -> None:
    assert explorer.matrix.alt == (
        "simulated: wait at barrier as a matrix, rows: who waited, columns: for whom; the largest value, 300 ns, is in the "
        "row of process 0 and the column of process 3"
    )
    from_page(explorer.matrix, clicked={"x": "3", "y": "1", "n": 1})
    assert (explorer.selection["locations"], explorer.selection["causers"]) == ([1], [3])
    assert "process 1 waited 200 ns for process 3" in bare(explorer.causes)
    assert len(explorer.matrix.figure["layout"]["shapes"]) == 2
    press(explorer.pairs, "near")
    assert explorer.matrix.figure["data"][0]["z"] == [[2e-7]]
    from_page(explorer.matrix, clicked={"x": "0", "y": "1", "n": 2})
    assert explorer.selection["causers"] == [3], "which is no column any more"
    press(explorer.pairs, "near")
    press(explorer.pairs, "what", key="bytes")
    assert explorer.matrix.figure["data"][0]["z"][2] == [None, None, None, 192]
    assert "process 2 process 3 192 B" in bare(explorer.pairs)
    press(explorer.pairs, "pair", key="2 3")
    assert (explorer.selection["locations"], explorer.selection["causers"]) == ([2], [3])


def test_trees_fold_and_search(explorer: TraceExplorer) -> None:
    press(explorer.metrics, "choose", key="waiting")
    press(explorer.metrics, "fold", key="waiting")
    assert "wait at barrier" not in values(explorer.metrics)
    press(explorer.metrics, "fold", key="time")
    assert explorer.selection["metric"] == "time", "which stands for what is folded"
    press(explorer.metrics, "choose", key="waiting")
    press(explorer.paths, "all")
    assert values(explorer.paths) == {"program": ["0 s"], HOSTILE: ["0 s"], "ARMCI_Get": ["90 ns"], "MPI_Barrier": ["600 ns"]}
    press(explorer.paths, "search", text="armci")
    assert "1 found" not in values(explorer.paths)
    assert "ARMCI_Put" not in values(explorer.paths), "which has no value"
    assert [one["name"] for one in explorer.paths.rows] == ["program", HOSTILE, "ARMCI_Get"]
    assert "2 found" in bare(explorer.paths)
    press(explorer.paths, "search", text="")
    press(explorer.paths, "none")
    press(explorer.paths, "choose", key="0", how="alone")
    press(explorer.paths, "fold", key="0")
    assert values(explorer.paths) == {"program": ["690 ns"]}


def test_several_are_chosen_without_a_key_to_hold(explorer: TraceExplorer) -> None:
    press(explorer.processes, "several")
    for key in ("1", "2", "1"):
        press(explorer.processes, "choose", key=key, how="alone")
    assert explorer.selection["locations"] == [2]
    press(explorer.processes, "several")
    press(explorer.processes, "choose", key="2", how="alone")
    assert explorer.selection["locations"] == []
    press(explorer.paths, "several")
    press(explorer.paths, "choose", key="0", how="alone")
    assert len(explorer.selection["paths"]) == 2


def test_nonsense_changes_nothing(explorer: TraceExplorer) -> None:
    before = explorer.selection
    for key in ("-1", "99", "x", "²", "", "1 ", HOSTILE):
        for part in (explorer.metrics, explorer.paths, explorer.processes):
            press(part, "choose", key=key)
            press(part, "fold", key=key)
        press(explorer.causes, "by", key=key)
        press(explorer.causes, "sort", key=key)
        press(explorer.pairs, "what", key=key)
        press(explorer.pairs, "pair", key=f"{key} 1")
    assert explorer.selection == before


def test_the_selection_may_be_set_and_observed(explorer: TraceExplorer) -> None:
    seen: list[Any] = []
    explorer.observe(lambda change: seen.append(change["new"]["metric"]), "selection")
    explorer.selection = {"metric": "wait_for_progress", "locations": [1]}
    assert explorer.selection["locations"] == [1]
    assert row(explorer.metrics, "wait for progress")["chosen"]
    assert row(explorer.processes, "process 1")["chosen"]
    press(explorer.metrics, "choose", key="time")
    assert seen[-1] == "time"
    with pytest.raises(UsageError, match=r"^there is no process 9; there are 0 to 3\.$"):
        explorer.selection = {"locations": [9]}
    assert explorer.selection["metric"] == "time"
    assert explorer.selection["locations"] == [1]


def test_names_of_regions_are_no_markup(explorer: TraceExplorer) -> None:
    press(explorer.metrics, "choose", key="wait_for_progress")
    press(explorer.paths, "search", text=HOSTILE)
    sent = [
        explorer.causes.row0,
        explorer.matrix.figure,
        *(part.pieces for part in (explorer.paths, explorer.chosen, explorer.causes, explorer.pairs)),
    ]
    assert "&lt;img" in str(sent)
    assert "<img" not in str(sent)
    texts = [part._fallback_html() for part in (explorer, explorer.paths, explorer.causes, explorer.pairs, explorer.metrics)]
    assert "&lt;img" in texts[0]
    assert [text for text in texts if "<img" in text] == []


def test_many_processes_are_cells(wire: Wire, tmp_path: Path) -> None:
    explorer = TraceExplorer(traced(tmp_path / "many", 100))
    assert len(explorer.processes.heat["shares"]) == 100
    assert explorer.processes.heat["texts"][98] == "100 ns"
    assert len(explorer.processes.rows) == 16
    press(explorer.processes, "choose", key="98", how="alone")
    assert explorer.processes.heat["chosen"] == [98]
    assert explorer.processes.rows[-1]["name"] == "process 98"
    axes = explorer.matrix.figure["layout"]["yaxis"]
    assert axes["tickvals"][1] == "14–15"
    from_page(explorer.matrix, clicked={"x": "98–99", "y": "14–15", "n": 1})
    assert (explorer.selection["locations"], explorer.selection["causers"]) == ([14, 15], [98, 99])


def test_it_is_closed_as_a_whole(wire: Wire, ds: xr.Dataset) -> None:
    TraceExplorer(ds).close()
    before = living()
    explorer = TraceExplorer(ds)
    assert living() > before + 10
    assert repr(explorer) == "<TraceExplorer: 4 processes, wait at barrier 600 ns>"
    explorer.close()
    assert living() == before


def test_the_figure_alone(ds: xr.Dataset, tmp_path: Path) -> None:
    figure = plots.trace_matrix(ds)
    write_result(ds, tmp_path / "w.nc")
    assert plots.trace_matrix(tmp_path / "w.nc").to_dict() == figure.to_dict()
    assert sk.plot(ds).to_dict() == figure.to_dict()
    assert figure.data[0].z[0] == [None, 2e-8, None, 3e-7]
    assert "simulated" in figure.layout.xaxis.title.text
    assert figure.data[0].hovertemplate.endswith("%{z:.3s}s<extra></extra>")
    operations = plots.trace_matrix(ds.assign_attrs(simulated=0), "operations")
    assert operations.data[0].z[1] == [None, None, 1, None]
    assert operations.layout.meta["alt"].startswith("one-sided operations as a matrix, rows: from, columns: to")
    assert plots.trace_matrix(ds, metrics=["late_post"]).layout.meta["alt"].endswith("all are 0")
