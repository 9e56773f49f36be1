"""Tests of the tools in `tests/suite`: progress, hangs, and what a run leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import psutil
import pytest
from suite.progress import SHARED
from waiting import wait_until

TESTS = Path(__file__).resolve().parent
SUITE = TESTS / "suite"

CONFTEST = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from suite import progress, watch

watch.SECONDS_BETWEEN_LOOKS = 0.2

def pytest_addoption(parser):
    parser.addoption("--summary", type=Path)

def pytest_configure(config):
    config.pluginmanager.register(progress.CpuPerTest())
    config.pluginmanager.register(watch.HangWatch(idle_seconds=1.0))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(progress.Progress(config, config.option.summary))
"""


def run_pytest(folder: Path, text: str, *words: str) -> tuple[str, dict[str, object]]:
    """Run pytest on a file with this text; return its output and the summary."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(text)
    summary = folder / "summary.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", f"--summary={summary}", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, json.loads(summary.read_text())


PASS_AND_FAIL = """
import pytest

def test_right():
    pass

def test_wrong():
    assert 1 == 2, "one is not two"

@pytest.mark.skip(reason="no compiler")
def test_left_out():
    pass
"""


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "workers"])
def test_the_first_failure_is_printed_at_once_and_all_tests_are_counted(words: tuple[str, ...], tmp_path: Path) -> None:
    said, summary = run_pytest(tmp_path, PASS_AND_FAIL, *words)
    assert "3 tests" in said
    at_once = said.index("FAILED test_it.py::test_wrong")
    assert at_once < said.index("one is not two") < said.index("= FAILURES =")
    assert (summary["tests"], summary["failed"]) == (3, ["test_it.py::test_wrong"])
    assert summary["skipped"] == {"no compiler": ["test_it.py::test_left_out"]}
    assert set(summary["cpu_s"]) - {SHARED} == {f"test_it.py::test_{name}" for name in ("right", "wrong", "left_out")}


FLAKY = """
import pathlib
import pytest

@pytest.mark.flaky(reruns=1, only_rerun=["TimeoutError"])
@pytest.mark.parametrize("error", [TimeoutError, ValueError])
def test_second_time(error, pytestconfig):
    mark = pathlib.Path(pytestconfig.rootpath / error.__name__)
    if not mark.exists():
        mark.touch()
        raise error
"""


def test_a_rerun_is_named_and_wrong_values_get_none(tmp_path: Path) -> None:
    _, summary = run_pytest(tmp_path, FLAKY)
    assert summary["rerun"] == ["test_it.py::test_second_time[TimeoutError]"]
    assert summary["failed"] == ["test_it.py::test_second_time[ValueError]"]


def test_a_hang_ends_and_names_its_command(tmp_path: Path) -> None:
    hangs = "import subprocess\n\ndef test_hangs():\n    subprocess.run(['sleep', '100000'])\n"
    said, summary = run_pytest(tmp_path, hangs + "\ndef test_next():\n    pass\n")
    assert summary["failed"] == ["test_it.py::test_hangs"]
    assert summary["tests"] == 2
    assert "HangError: test_it.py::test_hangs used no CPU time for" in said
    assert ": sleep 100000" in said


def test_a_hang_without_a_process_names_the_place(tmp_path: Path) -> None:
    hangs = "import threading\n\ndef test_hangs():\n    threading.Event().wait()\n"
    said, summary = run_pytest(tmp_path, hangs)
    assert summary["failed"] == ["test_it.py::test_hangs"]
    assert "in test_hangs" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_run_that_is_killed(number: signal.Signals) -> None:
    run, folder = uuid.uuid4().hex, Path(tempfile.mkdtemp(prefix="scalkit-"))
    # It holds the guard's standard input open, as run.py does, and starts a process that nobody waits for.
    code = f"""
import subprocess, sys
guard = subprocess.Popen([sys.executable, {str(SUITE / "leftovers.py")!r}, "--guard", {run!r}, {str(folder)!r}],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
guard.stdout.readline()
kept = subprocess.Popen(["sleep", "100000"], env={{"SCALKIT_TEST_RUN": {run!r}}}, start_new_session=True)
print(kept.pid, guard.pid, flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    kept, guard = map(int, holder.stdout.readline().split())
    os.kill(holder.pid, number)
    holder.communicate()
    wait_until(lambda: not (_is_running(kept) or _is_running(guard)), "the end of the processes of the run")
    assert not folder.exists()


def _is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_leftovers_are_listed() -> None:
    """A process and a file that a command leaves are named, and its exit status says so."""
    name = f"scalkit-left-{uuid.uuid4().hex}"
    path = Path(tempfile.gettempdir()) / name
    # Its output goes nowhere: an open pipe would keep the test waiting for it.
    keeps = f"import os, pathlib; pathlib.Path({str(path)!r}).touch(); os.system('sleep 98765 >/dev/null 2>&1 &')"
    command = [sys.executable, str(SUITE / "leftovers.py"), "--settle", "0", "--", sys.executable, "-c", keeps]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path.unlink()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cmdline() == ["sleep", "98765"]:
                process.kill()
    assert done.returncode == 1
    assert f"file {path}" in done.stdout
    assert "sleep 98765" in done.stdout


RUN = f"""
import sys
sys.path.insert(0, {str(SUITE)!r})
import parts
from rich.console import Console

parts.SECONDS_BETWEEN_LINES = 0.1
folder = sys.argv[1]
quiet = "import pathlib, time\\nwhile not pathlib.Path(FOLDER, 'go').exists(): time.sleep(0.05)"
wrong = "print('a broken pipe'); raise SystemExit(3)"
quiet, wrong, other = (
    parts.Part(name, [sys.executable, "-c", code.replace("FOLDER", repr(folder))])
    for name, code in (("quiet", quiet), ("wrong", wrong), ("other", "pass"))
)
other.good = (0, 1)
run = parts.Run([[[quiet]], [[wrong]], [[other]]], {{}})
run.run_stage([[quiet]])
run.run_stage([[wrong]])
counted = lambda part: parts.Counts(None, int(not part.has_passed))
Console(width=80).print(parts.table(run, "Parts", "launches", counted))
"""


def test_parts_say_that_they_run_what_failed_and_what_did_not_run(tmp_path: Path) -> None:
    command = [sys.executable, "-u", "-c", RUN, str(tmp_path)]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        assert run.stdout
        for line in run.stdout:
            lines.append(line)
            if "running: quiet" in line:
                (tmp_path / "go").touch()
    said = "".join(lines)
    assert run.returncode == 0, said
    assert re.search(r"quiet: passed after \d+ s", said)
    assert re.search(r"wrong: FAILED \(.*exit status 3\)\n.*a broken pipe", said, re.DOTALL)
    table = said.partition("  Parts  ")[2]
    for expected in ("quiet │ - │ 0", "wrong │ - │ 1", "other │ not run"):
        assert expected in " ".join(table.split())


def test_an_interrupted_run_ends_its_parts() -> None:
    code = RUN.replace("run.run_stage([[wrong]])", "")
    command = [sys.executable, "-u", "-c", code, "/nowhere"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.stdout
    for line in run.stdout:
        if "running: quiet" in line:
            run.send_signal(signal.SIGINT)
            break
    said = run.communicate()[0]
    assert "interrupted: ending what runs" in said
    assert re.search(r"quiet: interrupted after \d+ s", said)


@pytest.mark.parametrize("name", ["COUNTS", "TIMES"])
def test_make_report_refuses_a_wrong_number_of_processes(name: str, tmp_path: Path) -> None:
    given = {"--counts": "2,4", "--times": "2,4", "--runs": str(tmp_path / "runs"), "--out": "a.html"}
    given |= {"--n-runs": "1", "--budget": "1", f"--{name.lower()}": "2,x"}
    words = [word for pair in given.items() for word in pair]
    command = [sys.executable, str(SUITE / "make_report.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    wanted = f"make report: {name} 2,x: numbers of processes are needed, such as {name} 2,4,8,16,32.\n"
    assert run.stderr == wanted
    assert not (tmp_path / "runs").exists()
