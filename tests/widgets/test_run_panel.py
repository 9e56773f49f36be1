"""Measuring from the app: a real run of two processes, one that is cancelled, and what is said where none can be."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_explorer import bare, press
from waiting import wait_until

import scalkit as sk
from scalkit.bench.arguments import operations
from scalkit.native import sources
from scalkit.session import Session
from scalkit.widgets.explorer.run_choices import Choices
from scalkit.widgets.explorer.run_panel import RunPanel

Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> Session:
    return Session(sk.measurements(P, 1 + np.log2(P), name="MPI_Bcast"), {"MPI_Bcast": "log(p)"})


@pytest.fixture
def panel(wire: Wire, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPanel:
    monkeypatch.chdir(tmp_path)
    return RunPanel(session)


def chosen(**changed: str) -> dict[str, str]:
    fields = {"counts": "2", "runs": "1", "reps": "20", "budget": "1", "out": "runs/x", "op MPI_Bcast": "on"}
    return {name: value for name, value in {**fields, **changed}.items() if value != "-"}


def of_folder(folder: Path) -> list[str]:
    """Return the commands of other processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if (entry / "cwd").readlink().is_relative_to(folder):
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
    return found


@pytest.mark.mpi
def test_two_processes_are_measured_and_shown(panel: RunPanel, session: Session, tmp_path: Path) -> None:
    press(panel, "typing", **chosen())
    command = "scalkit measure collectives -n 2 --runs 1 --max-reps 20 --budget 1 --ops MPI_Bcast --out runs/x --json"
    assert panel.command == command
    assert command in bare(panel)
    press(panel, "start", **chosen())
    assert panel.is_running
    assert "disabled" in panel.pieces["form"]
    press(panel, "start", **chosen())
    assert "measures already" in panel.pieces["problem"]
    assert panel.wait()
    assert not panel.is_running
    assert "[1/1] collectives p=2 run 0: done" in bare(panel)
    assert "1 of 1 launches. Done: the session shows runs/x" in bare(panel)
    assert session.history == ("measurements runs/x",)
    assert session.data["p"].values.tolist() == [2]
    assert "1 of 5 needed settings" in session.problem
    assert [path.name for path in (tmp_path / "runs/x").glob("*.jsonl")] == ["time-p0002-r00.jsonl"]
    session.undo()
    assert session.settings == tuple(P)


@pytest.mark.mpi
def test_cancelled_run_keeps_what_it_measured(panel: RunPanel, session: Session, tmp_path: Path) -> None:
    press(panel, "start", **chosen(runs="90", budget=""))
    wait_until(lambda: panel.wait(0.02) or "[1/90]" in bare(panel), "the first of 90 launches")
    press(panel, "cancel")
    assert panel.wait()
    assert "Cancelled." in bare(panel)
    assert session.history == ()
    files = len(list((tmp_path / "runs/x").glob("*.jsonl")))
    assert 0 < files < 90
    assert f"{files} run files are kept in runs/x" in bare(panel)
    wait_until(lambda: of_folder(tmp_path) == [], "the end of all processes of the run")
    press(panel, "show")
    assert session.history == ("measurements runs/x",)
    assert session.data.sizes["run"] in (files, files + 1), "what broke off is readable, too"


@pytest.mark.mpi
def test_in_a_loop_the_loop_is_told_and_not_held_up(panel: RunPanel, session: Session) -> None:
    threads: list[threading.Thread] = []
    session.observe(lambda changed: threads.append(threading.current_thread()))
    turns = []

    async def go() -> None:
        press(panel, "start", **chosen())
        while panel.is_running:
            await asyncio.sleep(0.01)
            turns.append(1)

    own = threading.Thread(target=lambda: asyncio.run(go()))
    own.start()
    own.join()
    assert turns
    assert threads == [own]


def test_a_failure_is_said_with_the_last_line(panel: RunPanel, session: Session, tmp_path: Path) -> None:
    (tmp_path / "runs/x").mkdir(parents=True)
    (tmp_path / "runs/x" / "notes.txt").write_text("mine")
    press(panel, "start", **chosen())
    assert panel.wait()
    assert "It did not end well: scalkit measure: --out runs/x has other files but no campaign.toml" in bare(panel)
    assert session.history == ()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"counts": "2,x"}, "the ranks are '2,x'; numbers of processes are needed, such as 2,4,8,16,32."),
        ({"counts": "1,2"}, "whole numbers from 2 to"),
        ({"runs": ""}, "the number of runs is ''; a whole number is needed."),
        ({"reps": "3"}, "--max-reps 3"),
        ({"budget": "much"}, "the budget in seconds is 'much'; a number is needed"),
        ({"budget": "-1"}, "a positive number of seconds"),
        ({"out": " "}, "no folder is named"),
        ({"op MPI_Bcast": "-"}, "no function is chosen"),
    ],
)
def test_what_cannot_be_measured_is_said(panel: RunPanel, wrong: dict[str, str], sentence: str) -> None:
    form = panel.pieces["form"]
    press(panel, "typing", **chosen(**wrong))
    assert sentence in bare(panel).replace("&#x27;", "'")
    assert panel.pieces["form"] == form, "or the field would be drawn anew below the fingers"
    press(panel, "start", **chosen(**wrong))
    assert not panel.is_running
    assert sentence in panel.problem
    assert panel.command == ""


def test_command_says_only_what_differs() -> None:
    tree = sources("microbench")
    usual = (*operations(tree, "collectives", "paper"), *operations(tree, "memory", "paper"))
    words = Choices(usual, budget="", sets_aside=True).command()
    assert words == shlex.split("measure collectives memory -n 2,4,8,16,32 --runs 3 --out runs/app --set-aside --json")


def test_without_mpi_it_says_so(wire: Wire, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("scalkit.bench.libraries.mpi._own_folders", lambda: [str(tmp_path)])
    panel = RunPanel(session)
    assert "Nothing can be measured here: no MPI compiler" in bare(panel)
    assert "disabled" in panel.pieces["form"]
    press(panel, "start", **chosen())
    assert not panel.is_running
    assert "no MPI compiler" in panel.problem


def test_texts_of_the_page_are_no_markup(panel: RunPanel) -> None:
    press(panel, "typing", **chosen(out="<img src=x>"))
    assert "<img" not in json.dumps(panel.pieces)


@pytest.mark.mpi
def test_closing_ends_what_runs(panel: RunPanel, tmp_path: Path) -> None:
    press(panel, "start", **chosen(runs="90", budget=""))
    panel.close()
    assert panel.wait()
    wait_until(lambda: of_folder(tmp_path) == [], "the end of all processes of the run")
