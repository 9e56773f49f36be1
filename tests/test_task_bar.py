"""The bar of work that lasts: on a terminal and in a notebook, after a second."""

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
from waiting import PATIENCE_S

import scalkit as sk
from scalkit.measure import write_netcdf
from scalkit.support.task_bar import task_bar


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


def test_whoever_wants_none_gets_none() -> None:
    stream, clock = Terminal(), iter([0.0, 2.0, 4.0])
    with task_bar(stream, "judging", lambda: next(clock), wanted=False) as report:
        for done in range(3):
            report(done, 2)
    assert stream.getvalue() == ""


def test_what_is_printed_meanwhile_goes_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    stream, clock = Terminal(), iter([0.0, 2.0, 4.0])
    with task_bar(stream, "judging", lambda: next(clock)) as report:
        report(0, 2)
        report(1, 2)
        sys.stdout.write("42\n")
        report(2, 2)
    assert "judging" in stream.getvalue()
    assert capsys.readouterr().out == "42\n"


def test_a_terminal_that_cannot_redraw_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert shown(Terminal(), [0.0, 1.0, 2.0, 3.0, 4.0]) == ""


def test_a_bar_is_drawn_ten_times_a_second_at_most() -> None:
    stream, drawn = Terminal(), []
    clock = iter([0.0, *(2 + k / 1000 for k in range(99)), 3.0])
    with task_bar(stream, "judging", lambda: next(clock)) as report:
        for done in range(101):
            report(done, 100)
            drawn.append(len(stream.getvalue()))
    assert drawn[2:-1] == drawn[1:-2]
    assert "100%" in stream.getvalue()


IN_A_NOTEBOOK = """
import sys
import numpy as np, xarray as xr, scalkit as sk, scalkit.support.task_bar
scalkit.support.task_bar._PATIENCE_S = 0.0
x = 2.0 ** np.arange(1, 9)
y = (1 + x) * np.exp(0.05 * np.random.default_rng(1).standard_normal((70, 8)))
many = {f"f{k}": "p" for k in range(70)}
each = [sk.measurements(x, one, name=f"f{k}") for k, one in enumerate(y)]
data = xr.concat(each, "function", data_vars="all", coords="minimal", compat="override", join="exact")
sk.validate(data, many, progress=WANTED)
assert "rich" in sys.modules or not (ASKS and WANTED)
"""


def test_in_a_notebook_that_a_person_runs() -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=PATIENCE_S)
    try:
        for asks, wanted in ((True, True), (False, True), (True, False)):
            told: list[dict[str, object]] = []
            code = IN_A_NOTEBOOK.replace("WANTED", str(wanted)).replace("ASKS", str(asks))
            reply = client.execute_interactive(code, allow_stdin=asks, output_hook=told.append, timeout=PATIENCE_S)
            assert reply["content"]["status"] == "ok", reply["content"]
            shown = "".join(str(one["content"]) for one in told if one["msg_type"] == "display_data")
            assert ("validate" in shown) == (asks and wanted)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_short_validation_on_a_real_terminal_shows_nothing(tmp_path: Path) -> None:
    x = np.array([2, 4, 8, 16, 32])
    write_netcdf(sk.measurements(x, 1e-6 * x, name="f"), tmp_path / "run.nc")
    (tmp_path / "expect.toml").write_text('[expectations]\nf = "p"\n')
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "scalkit", "validate", "run.nc", "--expect", "expect.toml"]
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
    assert "No problem: 1 fine." in out
