"""Running a program: its output, its end, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until

from scalkit.bench import process as running
from scalkit.bench.process import run_program

LONG_S = 6000
"""Of programs that are ended: far longer than any wait, so that their end is not their own."""


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_for_the_end_of(pids: list[int]) -> None:
    """Return when these processes are gone: one that is killed takes a moment to end."""
    wait_until(lambda: not any(map(_alive, pids)), f"the end of {pids}")


def test_output_of_both_channels_and_status() -> None:
    outcome = run_program(["sh", "-c", "echo out; echo err >&2; exit 7"], timeout_s=LONG_S)
    assert sorted(outcome.output.split()) == ["err", "out"]
    assert (outcome.status, outcome.ending) == (7, "ended with status 7")


def test_environment_is_added() -> None:
    assert run_program(["sh", "-c", "echo $A$HOME"], timeout_s=LONG_S, environment={"A": "x"}).output.strip() == (
        "x" + os.environ.get("HOME", "")
    )


def test_words_for_signals_and_silence() -> None:
    outcome = run_program(["sh", "-c", "kill -SEGV $$"], timeout_s=LONG_S)
    assert outcome.ending == "was killed by SIGSEGV"
    assert outcome.last_lines == "  (it printed nothing)"


def test_only_the_last_lines() -> None:
    outcome = run_program([sys.executable, "-c", "for i in range(100_000): print(i)"], timeout_s=LONG_S)
    assert len(outcome.output) <= 200_000
    assert outcome.last_lines.splitlines() == [f"  {i}" for i in range(99_988, 100_000)]


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
def test_time_limit_ends_the_whole_family(tmp_path: Path, stubborn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child, one in another session, and one that ignores the polite request."""
    file = tmp_path / "pids"
    file.touch()
    note, sleep = f"echo $! >> {file}", f"sleep {LONG_S}"
    script = f"{stubborn}{sleep} & {note}; setsid {sleep} & {note}; echo $$ >> {file}; wait; {sleep}"
    real = running._waited

    def is_complete() -> bool:
        pids = [int(word) for word in file.read_text().split()]
        return len(pids) == 3 and os.getsid(pids[1]) == pids[1]

    def waited(process: subprocess.Popen[bytes], timeout_s: float) -> int:
        """Let the time begin when the family is complete, which may take long on a busy machine."""
        wait_until(is_complete, "the whole family")
        return real(process, timeout_s)

    monkeypatch.setattr(running, "_waited", waited)
    outcome = run_program(["sh", "-c", script], timeout_s=0.1)
    assert outcome.status is None
    assert outcome.ending.startswith("did not end within ")
    _wait_for_the_end_of([int(word) for word in file.read_text().split()])


def test_children_of_a_program_that_ended_do_not_stay(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = f"sleep {LONG_S} & echo $! > {file}"
    assert run_program(["sh", "-c", script], timeout_s=LONG_S).status == 0
    _wait_for_the_end_of([int(file.read_text())])


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
        run_program(["sleep", str(LONG_S)], timeout_s=LONG_S)
    assert len(started) == 1
    _wait_for_the_end_of(started)
