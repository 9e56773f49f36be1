"""The notebook on one-sided communication records a run and says what the analysis finds; the bundled runs do, too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lessons import one_sided
from scalkit.errors import UsageError
from scalkit.reports import bundled
from scalkit.reports.kernel import execute
from scalkit.trace import TraceBuilder, over_processes
from scalkit.trace.views.timeline import Timeline


@pytest.mark.slow
def test_one_sided_notebook(tmp_path: Path) -> None:
    done = execute(bundled("notebooks/one_sided.ipynb"), {}, tmp_path)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    shown = "\n".join(str(text) for one in outputs for text in one.get("data", {}).values())
    for text in ("recorded here, just now", "<TimelineView: Timeline of simulated 2 processes over 60", "TraceExplorer"):
        assert text in shown
    assert "program grows as p instead of 1: " in shown
    assert "is waiting for progress" in shown


def test_bundled_run() -> None:
    run = one_sided.recorded(here=False)
    assert not run.is_from_here
    assert str(run).endswith("recorded on the machine that data/README.md describes: tcp and tcp-thread.")
    timeline = Timeline(run.trace)
    found = timeline.longest_wait("wait_for_progress")
    assert found is not None
    assert (found.region, found.metric) == ("MPI_Win_flush", "wait_for_progress")
    longest = timeline.longest_wait()
    assert longest is not None
    assert (longest.region, longest.metric, longest.wait >= found.wait) == ("MPI_Barrier", "wait_at_barrier", True)
    assert timeline.longest_wait("early_wait") is None
    with pytest.raises(UsageError, match="'time' is no wait; choose one of wait_for_progress, "):
        timeline.longest_wait("time")
    said, view = one_sided.longest_wait(run.trace)
    assert re.match(rf"Process {found.location} waits longest: [\d.]+ ms in MPI_Win_flush, which begins at ", said)
    assert view.window == pytest.approx([found.begin - found.length, found.begin + 2 * found.length], rel=1e-6)
    told = str(one_sided.thread(run))
    assert told.startswith("Of 875 ms in calls 153 ms is waiting for progress, 7.9 % of the time. With the thread")
    assert told.endswith("here it does not pay.")
    assert not [path for path in run.trace.iterdir() if path.name.startswith(("timeline", "."))]


def test_no_wait_is_called_the_longest(tmp_path: Path) -> None:
    trace = TraceBuilder(2)
    for one in range(2):
        trace.call(one, "MPI_Init", 0, 100)
    said, view = one_sided.longest_wait(trace.write(tmp_path))
    assert said == "Nobody waits for progress in this run; this is all of it."
    assert view.window == [0, view.timeline.span]


def test_by_hand() -> None:
    view = one_sided.by_hand()
    moment = view.timeline.at(0, 15)
    assert moment is not None
    assert (moment.region, moment.wait) == ("ARMCI_Get", 20)
    assert "of which 20 ns wait for progress" not in view._fallback_html()
    assert "waiting" in view._fallback_html()


def test_growth_of_the_bundled_runs() -> None:
    results = one_sided.simulated()
    figure = one_sided.over_processes_figure(results, "srumma")
    assert json.loads(figure.to_json())["layout"]["meta"]["alt"].startswith("On 36 processes a process spends, simulated, ")
    together = over_processes(results, of="sum")["wait_for_progress"].sel(function="program").values.ravel()
    assert (together[1:] / together[:-1]).max() < 2
    assert together[-1] / together[0] == pytest.approx(36 / 16 * 1.0, rel=0.2)
