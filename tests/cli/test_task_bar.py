"""The bar of a long validation: on a terminal, after a second."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli.task_bar import task_bar
from scalkit.measure import write_netcdf


class Terminal(io.StringIO):
    """Keeps what is written to it and claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, times: list[float]) -> str:
    """Return what a stream gets when four tasks begin at the first of these times and end at the others."""
    clock = iter(times)
    with task_bar(stream, "judging", lambda: next(clock)) as report:
        for done in range(5):
            report(done, 4)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_long_work_has_a_bar_that_goes_away() -> None:
    text = shown(Terminal(), [0.0, 0.9, 1.1, 2.0, 3.0])
    assert re.search(r"judging .* 50%", text)
    assert re.search(r"judging .*100%", text)
    assert text.endswith("\x1b[2K")


def test_short_work_and_the_end_of_work_show_nothing() -> None:
    assert shown(Terminal(), [0.0, 0.2, 0.4, 0.6, 0.8]) == ""
    assert shown(Terminal(), [9.0, 9.2, 9.4, 9.6, 15.0]) == ""


def test_elsewhere_nothing_is_shown() -> None:
    assert shown(io.StringIO(), [0.0, 1.0, 2.0, 3.0, 4.0]) == ""


def test_short_validation_on_a_real_terminal_shows_nothing(tmp_path: Path) -> None:
    x = np.array([2, 4, 8, 16, 32])
    write_netcdf(sk.measurements(x, 1e-6 * x, name="f"), tmp_path / "run.nc")
    (tmp_path / "expect.toml").write_text('[expectations]\nf = "p"\n')
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "scalkit.cli", "validate", "run.nc", "--expect", "expect.toml"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True) as started:
        out, _ = started.communicate()
    os.close(theirs)
    try:
        assert not select.select([ours], [], [], 0)[0] or os.read(ours, 100) == b""
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(ours)
    assert started.returncode == 0
    assert "1 verdict: 1 total" in out
