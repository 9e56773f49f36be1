"""The command as a process: whatever goes wrong besides a verdict ends with 2 and one sentence, never with 1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiers import slow_unless

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import write_netcdf

P = np.array([2, 4, 8, 16, 32])
FULL = "cannot write the output: No space left on device; make room, or send it to another place."
WRONG = "import sys, scalkit.cli.doctor as d; d.run = lambda args: 1 / 0; import scalkit.cli as c; sys.exit(c.main())"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measurements of which a verdict fails: status 1, if only it can be printed."""
    path = tmp_path_factory.mktemp("run") / "run.nc"
    write_netcdf(sk.measurements(P, 1e-6 * P**2, name="bad"), path)
    path.with_name("expect.toml").write_text('[expectations]\nbad = "log(p)"\n')
    return path


def _words(command: str, run: Path) -> list[str]:
    words = [f"--expect={run.with_name('expect.toml')}" if word == "EXPECT" else word for word in command.split()]
    return [str(run) if word == "RUN" else word for word in words]


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "scalkit", *words]


COMMANDS = ["validate RUN EXPECT", "validate RUN EXPECT --json", "doctor --need python", "doctor --need python --json", "--help"]


def _environment(unbuffered: str = "") -> dict[str, str]:
    names = ("PYTHONUNBUFFERED", "SCALKIT_DEBUG")
    own = {name: value for name, value in os.environ.items() if name not in names}
    return {**own, "PYTHONUNBUFFERED": unbuffered} if unbuffered else own


@pytest.mark.parametrize(("command", "unbuffered"), [*((one, "") for one in COMMANDS), (COMMANDS[1], "1")])
def test_full_disk_under_the_output(run: Path, command: str, unbuffered: str) -> None:
    words, environment = _words(command, run), _environment(unbuffered)
    with open("/dev/full", "w") as full:
        done = subprocess.run(_command(*words), stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    name = "scalkit" if words[0] == "--help" else f"scalkit {words[0]}"
    assert (done.returncode, done.stderr) == (2, f"{name}: {FULL}\n")


@pytest.mark.parametrize("command", [slow_unless(command, COMMANDS[0], COMMANDS[4]) for command in COMMANDS])
def test_reader_that_went_away(run: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        words = _command(*_words(command, run))
        done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, env=_environment())
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (2, "")


def test_messages_that_cannot_be_written(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(_command("validate", str(tmp_path / "no")), stdout=full, stderr=full)
    assert done.returncode == 2


def test_error_that_no_command_foresees() -> None:
    message = (
        "scalkit doctor: internal error: ZeroDivisionError: division by zero; please report it with the command and what "
        "SCALKIT_DEBUG=1 adds to this.\n"
    )
    for more, start in (({}, message), ({"SCALKIT_DEBUG": "1"}, "Traceback (most recent call last):\n")):
        command = [sys.executable, "-c", WRONG, "doctor"]
        done = subprocess.run(command, capture_output=True, text=True, env={**_environment(), **more})
        assert done.returncode == 2
        assert done.stderr.startswith(start)
        assert done.stderr.endswith(message)


def test_interrupted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("scalkit.cli.doctor.run", interrupted)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "scalkit doctor: interrupted\n"
