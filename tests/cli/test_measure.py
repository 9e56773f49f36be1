"""`scalkit measure`: what it prints, its exit status, and its refusals."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scalkit.bench import find_mpi
from scalkit.bench.campaign.folder import Launch
from scalkit.bench.campaign.loop import Progress
from scalkit.cli import main
from scalkit.cli.terminal.progress import duration, progress_printer
from scalkit.errors import BuildError, LaunchError

WHAT = ["measure", "memory", "-n", "2,4", "--runs", "1", "--ops", "MPI_Comm_dup", "--budget", "600"]


@pytest.fixture
def mpi_here() -> None:
    try:
        find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")


@pytest.mark.mpi
@pytest.mark.usefixtures("mpi_here")
def test_measures_then_says_that_nothing_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "runs"
    assert main([*WHAT, "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Measuring memory of ")
    assert "A verdict needs 5 numbers of processes; here are 2.\n" in said.out
    assert said.out.endswith(f"\n2 launches in {out}\n")
    assert re.search(r"^\[1/2\] memory p=\d run 0: done; about .+ s left\n\[2/2\] .*: done; .+ s in all\n$", said.err)
    assert main([*WHAT, "--out", str(out)]) == 0
    assert capsys.readouterr().out.endswith(f"\nnothing was missing: 2 launches in {out}\n")
    assert main([*WHAT, "--out", str(out), "--size", "16"]) == 2
    assert "size was 8, is now 16" in capsys.readouterr().err


@pytest.mark.mpi
@pytest.mark.usefixtures("mpi_here")
def test_failed_launch_ends_with_two_and_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "mpiexec"
    wrong.write_text(f'#!/bin/sh\ncase "$*" in *np=4*) echo boom; exit 9;; esac\nexec \'{find_mpi().mpiexec}\' "$@"\n')
    wrong.chmod(0o755)
    command = [*WHAT, "--out", str(tmp_path / "runs"), "--mpi", find_mpi().mpicc, "--mpiexec", str(wrong)]
    assert main(command) == 2
    messages = capsys.readouterr().err
    assert "scalkit measure: memory-p0004-r00 ended with status 9. The last lines:\n  boom\n" in messages
    assert re.search(r"^\[\d/2\] memory p=4 run 0: failed: memory-p0004-r00 ended with status 9; ", messages, re.MULTILINE)
    assert messages.endswith(
        "scalkit measure: 1 of 2 launches are missing (memory-p0004-r00); the other 1 are kept in "
        f"{tmp_path / 'runs'}. The same command tries only what is missing.\n"
    )
    assert main([*command, "--json"]) == 2
    said = capsys.readouterr()
    outcome = json.loads(said.out)
    assert (outcome["status"], outcome["done"], outcome["fresh"], outcome["missing"]) == (2, 1, 0, ["memory-p0004-r00"])


@pytest.mark.mpi
@pytest.mark.usefixtures("mpi_here")
def test_bar_on_a_terminal(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    words = [*WHAT, "--out", str(tmp_path / "runs")]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-m", "scalkit", *words], stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        shown = _until_closed(master)
    assert process.returncode == 0
    assert b"memory p=" in shown
    assert re.search(rb"\d:\d\d:\d\d", shown), "the time left"


def _until_closed(master: int) -> bytes:
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            piece = b""
        if not piece:
            os.close(master)
            return shown
        shown += piece


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["memory", "-n", "2,x"], "-n 2,x: numbers of processes are needed, such as -n 2,4,8,16,32."),
        (["memory", "--timeout", "0"], "--timeout 0: a positive number of seconds is needed."),
        (["speed"], "what to measure: 'speed' is unknown; choose from collectives, memory."),
        (["memory", "--out", "x" * 300], f"--out '{'x' * 56}... cannot be used: File name too long; name another."),
        (["memory", "--runs", "0"], "--runs 0: a whole number from 1 to 99 is needed."),
    ],
)
def test_refusals_leave_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["measure", "--out", str(tmp_path / "runs"), *arguments]) == 2
    assert capsys.readouterr().err == f"scalkit measure: {message}\n"
    assert not (tmp_path / "runs").exists()


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59.4, 125, 3840)] == ["0 s", "59 s", "2 min 05 s", "1 h 04 min"]


def test_lines_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    launch = Launch("collectives", 8, 3)
    with progress_printer(stream) as show:
        show(Progress(0, 2, None, False, "", 0.0, None))
        show(Progress(0, 2, launch, False, "", 0.0, None))
        show(Progress(1, 3, launch, True, "it died. The last lines:\nmore", 2.0, None))
        show(Progress(2, 3, launch, True, "", 4.0, None, ("MPI_Bcast is wrong.",)))
        show(Progress(3, 3, launch, True, "", 70.0, 0.0))
    assert stream.getvalue() == (
        "[1/3] collectives p=8 run 3: failed: it died; 2 s so far\n"
        "[2/3] collectives p=8 run 3: done, with wrong results; 4 s so far\n"
        "[3/3] collectives p=8 run 3: done; 1 min 10 s in all\n"
    )
