"""Cells that are run again in a real kernel leave no widgets behind, whichever part of the app they show."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from waiting import PATIENCE_S

Run = Callable[..., Any]

SETUP = """import tempfile

import ipywidgets
import numpy as np
import scalkit as sk
from scalkit import plots, widgets
from scalkit.session import Session
from scalkit.widgets.explorer.data_picker import DataPicker
from scalkit.widgets.explorer.expectation_editor import ExpectationEditor
from scalkit.widgets.explorer.model_table import ModelTable
from scalkit.widgets.explorer.plot_panel import PlotPanel
from scalkit.widgets.explorer.report_panel import ReportPanel
from scalkit.widgets.explorer.rule_matrix import RuleMatrix
from scalkit.widgets.explorer.session_bar import CodePanel, HistoryBar, SessionBar
from scalkit.widgets.explorer.verdict_badge import Headline, HypothesisList, VerdictBadge

p, s = np.meshgrid(2.0 ** np.arange(1, 6), 10.0 ** np.arange(1, 6))
points = np.stack([p.ravel(), s.ravel()], axis=1)
session = Session(sk.measurements([2, 4, 8, 16, 32], [2, 3, 4, 5, 6.5], name="f"), {"f": "log(p)"})
over_two = Session(sk.measurements(points, (p * s).ravel(), parameter=["p", "S"], name="g"), {"g": "p*S"})"""

PARTS = {
    "Ruler": "widgets.Ruler(session=session)",
    "Ruler alone": "sk.Ruler(expectation='p')",
    "PlotView": "widgets.PlotView(plots.fit(session.verdict))",
    "PlotPanel": "PlotPanel(session)",
    "SessionBar": "SessionBar(session, print)",
    "Explorer": "widgets.Explorer(over_two)",
    **{
        name: f"{name}(session)"
        for name in (
            "CodePanel", "DataPicker", "ExpectationEditor", "Headline", "HistoryBar", "HypothesisList", "ModelTable",
            "ReportPanel", "RuleMatrix", "VerdictBadge",
        )
    },
}  # fmt: skip

APPS = ("Explorer",)
"""It is made of many widgets: running it again is slow."""

WITHOUT_SESSION = ("TimelineView", "TraceExplorer")  # these have tests of their own
COUNT = "len(ipywidgets.widgets.widget._instances)"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Return a function that runs a cell by its id, as JupyterLab does, and returns what an expression is then."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(startup_timeout=PATIENCE_S)

    def go(code: str, cell: str, expression: str = "None") -> Any:
        content = {
            "code": code,
            "silent": False,
            "store_history": False,
            "user_expressions": {"value": f"__import__('json').dumps({expression})"},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        message = client.session.msg("execute_request", content, metadata={"cellId": cell})
        client.shell_channel.send(message)
        while (answer := client.get_shell_msg(timeout=PATIENCE_S))["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            pass
        assert answer["content"]["status"] == "ok", answer["content"]
        return json.loads(ast.literal_eval(answer["content"]["user_expressions"]["value"]["data"]["text/plain"]))

    try:
        go(f"FOLDER = {str(tmp_path_factory.mktemp('filed'))!r}\n{SETUP}", "setup")
        yield go
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_every_part_is_tried() -> None:
    from scalkit import widgets

    made = {name for name in widgets.__all__ if isinstance(getattr(widgets, name), type)}
    assert made - {*WITHOUT_SESSION} <= set(PARTS)


@pytest.mark.slow
def test_parts_in_cells_that_run_again_do_not_pile_up(run: Run) -> None:
    for name, code in PARTS.items():
        run(f"shown = {code}\nshown", name)
    first = run("", "count", COUNT)
    watching = run("", "count", "len(session._observers._callbacks)")
    for _ in range(20):
        for name, code in PARTS.items():
            if name not in APPS:
                run(f"shown = {code}\nshown", name)
    assert run("", "count", COUNT) == first
    assert run("", "count", "len(session._observers._callbacks)") == watching
    for name in APPS:
        for _ in range(3):
            run(f"shown = {PARTS[name]}\nshown", name)
        assert run("", "count", COUNT) == first, name


@pytest.mark.slow
def test_parts_of_one_run_live_together_and_an_app_keeps_its_own(run: Run) -> None:
    alive = "[one.comm is not None for one in shown]"
    code = "shown = [sk.Ruler(expectation='p'), VerdictBadge(session), PlotPanel(session)]"
    assert run(code, "several", alive) == [True, True, True]
    run(f"before = shown\n{code}", "several")
    assert run("", "count", "[one.comm is not None for one in before + shown]") == [False] * 3 + [True] * 3
    run("app = widgets.Explorer(over_two)", "app")
    run("app.session = session", "other")
    run("sk.Ruler(expectation='p')", "other")
    parts = "[one.comm is not None for one in (app, app.table, app.plots, app.plots.fit, *app.rulers)]"
    assert run("", "count", parts) == [True] * 5
