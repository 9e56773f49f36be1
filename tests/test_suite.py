"""Tests of the tools in `tests/suite`: progress, hangs, and what a run leaves behind."""

from __future__ import annotations

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
from suite import leftovers
from suite.progress import SHARED
from waiting import wait_until

TESTS = Path(__file__).resolve().parent
SUITE = TESTS / "suite"

IDLE_SECONDS = 4.0
"""Idle time that ends a test here: far more than a machine with load 15 keeps a process waiting that wants to run."""
CONFTEST = f"""
import importlib.util
import sys
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from suite import progress, watch

watch.SECONDS_BETWEEN_LOOKS = 0.2
spec = importlib.util.spec_from_file_location("conftest_of_all", {str(TESTS / "conftest.py")!r})
conftest_of_all = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conftest_of_all)
pytest_collection_modifyitems = conftest_of_all.pytest_collection_modifyitems

def pytest_addoption(parser):
    parser.addoption("--summary", type=Path)

def pytest_configure(config):
    config.pluginmanager.register(progress.CpuPerTest())
    config.pluginmanager.register(watch.HangWatch(idle_seconds={IDLE_SECONDS}))
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
    assert summary.exists(), done.stdout + done.stderr
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


@pytest.mark.parametrize("words", [pytest.param((), marks=pytest.mark.slow), ("-n", "2")], ids=["alone", "workers"])
def test_the_first_failure_is_printed_at_once_and_all_tests_are_counted(words: tuple[str, ...], tmp_path: Path) -> None:
    output, summary = run_pytest(tmp_path, PASS_AND_FAIL, *words)
    assert "3 tests" in output
    at_once = output.index("FAILED test_it.py::test_wrong")
    assert at_once < output.index("one is not two") < output.index("= FAILURES =")
    assert (summary["tests"], summary["failed"]) == (3, ["test_it.py::test_wrong"])
    assert summary["skipped"] == {"no compiler": ["test_it.py::test_left_out"]}
    assert set(summary["cpu_s"]) - {SHARED} == {f"test_it.py::test_{name}" for name in ("right", "wrong", "left_out")}


FLAKY = """
import pathlib
import pytest

def fail_once(name, error):
    mark = pathlib.Path(name)
    if not mark.exists():
        mark.touch()
        raise error

@pytest.mark.mpi
@pytest.mark.parametrize("error", [TimeoutError("late"), ValueError("wrong"), AssertionError("TimeoutError")])
def test_with_mpi(error):
    fail_once(type(error).__name__, error)

def test_without():
    fail_once("without", TimeoutError("late"))
"""


def test_only_faults_of_the_environment_get_a_second_try(tmp_path: Path) -> None:
    _, summary = run_pytest(tmp_path, FLAKY)
    assert summary["rerun"] == ["test_it.py::test_with_mpi[error0]"]
    assert summary["failed"] == [f"test_it.py::test_{name}" for name in ("with_mpi[error1]", "with_mpi[error2]", "without")]


def test_a_hang_ends_and_names_its_command(tmp_path: Path) -> None:
    hangs = "import subprocess\n\ndef test_hangs():\n    subprocess.run(['sleep', '100000'])\n"
    output, summary = run_pytest(tmp_path, hangs + "\ndef test_next():\n    pass\n")
    assert summary["failed"] == ["test_it.py::test_hangs"]
    assert summary["tests"] == 2
    assert "HangError: test_it.py::test_hangs used next to no CPU time for" in output
    assert ": sleep 100000" in output


@pytest.mark.slow
def test_a_hang_without_a_process_names_the_place(tmp_path: Path) -> None:
    hangs = """
import threading

def test_hangs():
    try:
        threading.Event().wait()
    except Exception:
        pass
"""
    output, summary = run_pytest(tmp_path, hangs)
    assert summary["failed"] == ["test_it.py::test_hangs"]
    assert "in test_hangs" in output


@pytest.mark.slow
def test_a_hang_that_no_exception_ends_costs_one_worker(tmp_path: Path) -> None:
    hangs = """
import ctypes

def test_hangs():
    while True:
        try:
            ctypes.CDLL(None).sleep(100000)
        except BaseException:
            pass

def test_next():
    pass
"""
    output, summary = run_pytest(tmp_path, hangs, "-n", "1")
    assert summary["failed"] == ["test_it.py::test_hangs"]
    assert summary["tests"] == 2
    assert "This process ends, as the test did not." in output


GUARDED = f"""
import subprocess, sys
sys.path.insert(0, {str(SUITE)!r})
import leftovers

with leftovers.guarded() as environment:
    kept = subprocess.Popen(["sleep", "100000"], env=environment, start_new_session=True)
    print(kept.pid, environment["TMPDIR"], flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_run_that_ends_or_is_killed(number: signal.Signals | None) -> None:
    run = subprocess.Popen([sys.executable, "-c", GUARDED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout
    kept, folder = run.stdout.readline().split()
    assert Path(folder).exists()
    if number is not None:
        os.kill(run.pid, number)
    run.communicate()
    wait_until(lambda: not _is_running(int(kept)), "the end of the processes of the run")
    wait_until(lambda: not Path(folder).exists(), "the end of the folder of the run")


def _is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_shared_memory_stays_while_somebody_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "MPI_LAUNCHERS", ())  # other tests start ranks at the same time
    path = leftovers.SHARED_MEMORY / f"mpich_{uuid.uuid4().hex}"
    with path.open("w"):
        assert str(path) in leftovers.files_of_mpi()
        assert leftovers.unused({str(path)}) == []
    assert leftovers.unused({str(path)}) == [path]
    path.unlink()


def test_a_long_removal_says_how_far_it_is() -> None:
    lines = []
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:

        def note_and_end(line: str) -> None:
            lines.append(line)
            assert process.stdin
            process.stdin.close()

        leftovers.wait_with_progress(process, 0.1, note_and_end)
    assert lines[0] == "removing temporary files, for 0 s so far"


def test_leftovers_are_listed() -> None:
    """A process and a file that a command leaves are named, and its exit status says so."""
    name = f"scalkit-left-{uuid.uuid4().hex}"
    path = Path(tempfile.gettempdir()) / name
    # Its output goes nowhere: an open pipe would keep the test waiting for it.
    leaves = f"touch {path}; sleep {10**8 + uuid.uuid4().int % 10**8} >/dev/null 2>&1 & echo $!"
    command = [sys.executable, str(SUITE / "leftovers.py"), "--settle", "0", "--", "sh", "-c", leaves]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path.unlink()
    pid = int(done.stdout.splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    assert done.returncode == 1
    assert f"file {path}" in done.stdout
    assert f"process {pid}: " in done.stdout


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
wrong.is_required = True
run = parts.Run([[[quiet]], [[wrong, other]]], {{}})
run.run()
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
    output = "".join(lines)
    assert run.returncode == 0, output
    assert re.search(r"quiet: passed after \d+ s", output)
    assert re.search(r"wrong: FAILED \(.*exit status 3\)\n.*a broken pipe", output, re.DOTALL)
    table = output.partition("  Parts  ")[2]
    for expected in ("quiet │ - │ 0", "wrong │ - │ 1", "other │ not run"):
        assert expected in " ".join(table.split())


def test_an_interrupted_run_ends_its_parts() -> None:
    command = [sys.executable, "-u", "-c", RUN, "/nowhere"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.stdout
    for line in run.stdout:
        if "running: quiet" in line:
            run.send_signal(signal.SIGINT)
            break
    output = run.communicate()[0]
    assert "interrupted: ending what runs" in output
    assert re.search(r"quiet: interrupted after \d+ s", output)
    assert "wrong │ not run" in " ".join(output.split())


DAEMON = f"""
import sys
sys.path.insert(0, {str(SUITE)!r})
import parts

parts.SECONDS_TO_READ = 1
run = parts.Run([[[parts.Part("left", ["sh", "-c", "sleep 100000 & echo left to run"])]]], {{}})
run.run()
print(run.parts[0].output)
"""


def test_a_part_ends_although_a_process_of_it_runs_on() -> None:
    output = subprocess.run([sys.executable, "-c", DAEMON], capture_output=True, text=True, check=True).stdout
    assert "left: a process that it started is still running and is killed" in output
    assert output.endswith("['left to run\\n']\n")


REPORT = f"""
import json, pathlib, sys
sys.path.insert(0, {str(SUITE)!r})
import parts, run

summary = pathlib.Path(sys.argv[1])
part = parts.Part("tests", ["true"], summary=summary)
all_parts = parts.Run([[[part]]], {{}})
all_parts.run()
print("passed" if run.report(all_parts, None) else "failed")
"""


@pytest.mark.parametrize(("strict", "ending"), [("0", "passed"), ("1", "failed")])
def test_a_strict_run_lets_no_test_be_skipped(strict: str, ending: str, tmp_path: Path) -> None:
    summary = {
        "tests": 2,
        "failed": [],
        "rerun": ["tests/test_b.py::test_b"],
        "skipped": {"no gfortran": ["tests/test_a.py::test_a"]},
    }
    (tmp_path / "summary.json").write_text(json.dumps(summary | {"cpu_s": {"tests/test_b.py::test_b": 1.5}}))
    environment = {**os.environ, "SCALKIT_NO_SKIPS": strict}
    command = [sys.executable, "-c", REPORT, str(tmp_path / "summary.json")]
    output = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert output.splitlines()[-1] == ending
    assert "no gfortran: 1 tests in test_a.py" in output
    assert "Run once more, because the environment failed: 1\n  tests/test_b.py::test_b" in output
    assert "1.5  tests/test_b.py::test_b" in output


@pytest.mark.parametrize("name", ["COUNTS", "TIMES"])
def test_make_report_rejects_a_wrong_number_of_processes(name: str, tmp_path: Path) -> None:
    given = {"--counts": "2,4", "--times": "2,4", "--runs": str(tmp_path / "runs"), "--out": "a.html"}
    given |= {"--n-runs": "1", "--budget": "1", f"--{name.lower()}": "2,x"}
    words = [word for pair in given.items() for word in pair]
    command = [sys.executable, str(SUITE / "make_report.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    wanted = f"make report: {name} 2,x: numbers of processes are needed, such as {name} 2,4,8,16,32.\n"
    assert run.stderr == wanted
    assert not (tmp_path / "runs").exists()
