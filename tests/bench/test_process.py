"""Running a program: its output, its end, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scalkit.bench.process import run_program


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _gone(pids: list[int]) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def test_output_of_both_channels_and_status() -> None:
    outcome = run_program(["sh", "-c", "echo out; echo err >&2; exit 7"], timeout_s=30)
    assert sorted(outcome.output.split()) == ["err", "out"]
    assert (outcome.status, outcome.ending) == (7, "ended with status 7")


def test_environment_is_added() -> None:
    assert run_program(["sh", "-c", "echo $A$HOME"], timeout_s=30, environment={"A": "x"}).output.strip() == (
        "x" + os.environ.get("HOME", "")
    )


def test_words_for_signals_and_silence() -> None:
    outcome = run_program(["sh", "-c", "kill -SEGV $$"], timeout_s=30)
    assert outcome.ending == "was killed by SIGSEGV"
    assert outcome.last_lines == "  (it printed nothing)"


def test_only_the_last_lines() -> None:
    outcome = run_program([sys.executable, "-c", "for i in range(100_000): print(i)"], timeout_s=60)
    assert len(outcome.output) <= 200_000
    assert outcome.last_lines.splitlines() == [f"  {i}" for i in range(99_988, 100_000)]


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
def test_time_limit_ends_the_whole_family(tmp_path: Path, stubborn: str) -> None:
    """A child, one in another session, and one that ignores the polite request."""
    file = tmp_path / "pids"
    note = f"echo $! >> {file}"
    script = f"{stubborn}sleep 60 & {note}; setsid sleep 60 & {note}; echo $$ >> {file}; wait; wait; sleep 60"
    outcome = run_program(["sh", "-c", script], timeout_s=0.5)
    assert outcome.status is None
    assert outcome.ending.startswith("did not end within ")
    pids = [int(word) for word in file.read_text().split()]
    assert len(pids) == 3
    assert _gone(pids)


def test_children_of_a_program_that_ended_do_not_stay(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    assert run_program(["sh", "-c", f"sleep 60 & echo $! > {file}"], timeout_s=30).status == 0
    assert _gone([int(file.read_text())])


def test_interrupted_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes when the process exists but is not known yet."""
    started: list[int] = []
    real = subprocess.Popen

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = real(*words, **options)
        started.append(process.pid)
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(KeyboardInterrupt):
        run_program(["sleep", "60"], timeout_s=60)
    assert len(started) == 1
    assert _gone(started)
