"""What all tests share: a run in which nothing may be skipped, who runs beside whom, and Chromium."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from tabs import Tabs

from scalkit.schema_errors import load_jsonschema

hypothesis.settings.register_profile("scalkit", deadline=None)
hypothesis.settings.load_profile("scalkit")

NO_SKIPS = os.environ.get("SCALKIT_NO_SKIPS") == "1"
_skipped: list[str] = []
CHROMIUM = os.environ.get("SCALKIT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

# These tests tell something from real times, or must end within them: beside others the ranks would wait for a core. What
# starts ranks and looks at bytes, results or messages only runs beside others, and its ranks yield while they wait.
ALONE = (
    "tests/bench/test_campaign.py::test_launch_that_hangs",
    "tests/bench/test_campaign.py::test_memory_of_objects_repeats_exactly",
    "tests/bench/test_measuring_rules.py",
    "tests/bench/test_mpi.py::test_launcher_that_hangs",
    "tests/bench/test_point_to_point.py",
    "tests/faults/test_faults.py::test_memory_that_passes_malloc_by_is_reported",
    "tests/notebooks/test_learning_path.py::test_notebook[03_measure]",
    "tests/notebooks/test_one_sided_notebook.py::test_one_sided_notebook",
    "tests/onesided/test_real_delays.py",
    "tests/trace/test_recorder.py::test_clocks_are_measured_and_agree",
    "tests/trace/test_recorder.py::test_delays_are_found_where_they_are",
    "tests/trace/test_recorder.py::test_one_command_for_the_first_insight",
    "tests/trace/test_recorder.py::test_waiting_for_progress_is_real_with_tcp",
)
NOTEBOOKS = tuple(one for one in ALONE if one.startswith("tests/notebooks"))
YIELDING = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


CORE = tuple(f"tests/{name}/" for name in ("growth", "measure", "fit", "stats", "validation", "session"))
"""What `make core` runs without any extra; what needs one there is marked `extra`."""
OUTSIDE_CORE = re.compile(r"mark\.(mpi|browser|extra)\b")


def pytest_configure(config: pytest.Config) -> None:
    """Tests use one MPI library and a cache of their own, no make above them, and signals end processes, also under `nohup`."""
    for name in ("MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    folder = os.environ.get("SCALKIT_TEST_MPI") or os.path.dirname(sys.executable)
    if os.path.exists(os.path.join(folder, "mpicc")):  # else that of PATH
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", "")])
    if "SCALKIT_TEST_MPI" in os.environ:
        _name_for_mpi4py(os.path.join(folder, "mpicc"), config.rootpath / ".pytest_cache" / "mpi4py" / "libmpi.so.12")
    os.environ.setdefault(
        "PIP_CACHE_DIR", os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pip")
    )
    os.environ["XDG_CACHE_HOME"] = str(config.rootpath / ".pytest_cache" / "home")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    load_jsonschema()


def _name_for_mpi4py(mpicc: str, link: Path) -> None:
    """Let wheels of mpi4py find Debian's MPICH, which calls libmpich.so.12 what they know as libmpi.so.12."""
    said = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=False).stdout
    for place in re.findall(r"-L(\S+)", said) if "-lmpich" in said.split() else []:
        if (library := Path(place) / link.name.replace("mpi", "mpich")).exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                link.symlink_to(library)
            os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(link.parent), os.environ.get("LD_LIBRARY_PATH")]))


def _spins(item: pytest.Item) -> bool:
    """Whether a test starts ranks that wait for each other by the real clock: it is marked `mpi` or takes the library."""
    starts = item.get_closest_marker("mpi") or "mpi" in getattr(item, "fixturenames", ())
    return item.nodeid.startswith(NOTEBOOKS) or (bool(starts) and not item.path.name.startswith("test_virtual"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while the tests are read, and never among what was read: nearly all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no file that has none of the tests wanted: of those that run alone, that start ranks, or beside the core."""
    name, wanted = collection_path.relative_to(config.rootpath).as_posix(), config.option.markexpr
    if name in ("tests/data", "tests/vendor"):
        return True
    if wanted in ("alone", "mpi and alone"):
        files = [one.partition("::")[0] for one in ALONE]
        return None if any(file == name or file.startswith(f"{name}/") for file in files) else True
    if collection_path.suffix != ".py":
        return None
    if wanted.startswith("mpi and"):
        return None if "mark.mpi" in collection_path.read_text(encoding="utf-8") else True
    if "not core" in wanted and name.startswith(CORE):
        return None if OUTSIDE_CORE.search(collection_path.read_text(encoding="utf-8")) else True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that run beside no other; of those that run side by side, the longest come first."""
    for item in items:
        if item.nodeid.startswith(ALONE) and _spins(item):
            item.add_marker(pytest.mark.alone)
        elif item.nodeid.startswith(CORE) and not any(map(item.get_closest_marker, ("mpi", "browser", "extra"))):
            item.add_marker(pytest.mark.core)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if NO_SKIPS and _skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _skipped:
        rule = "none may be (SCALKIT_NO_SKIPS=1)" if NO_SKIPS else "the reasons stand above"
        terminalreporter.write_line(f"{len(_skipped)} tests were skipped; {rule}.", red=NO_SKIPS)


@pytest.fixture(scope="module", autouse=True)
def no_growth_class_stays() -> Iterator[None]:
    """Forget the growth classes that the tests of a file leave behind: those of another file mean something else by a name."""
    yield
    if growth := sys.modules.get("scalkit.growth"):
        for one in reversed(growth.registered_growths()):
            growth.forget_growth(one.name)


@pytest.fixture(autouse=True)
def ranks_yield(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ranks that wait leave their core to other tests, unless a test runs alone."""
    if _spins(request.node) and not request.node.get_closest_marker("alone"):
        for name, value in YIELDING.items():
            monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium on PATH; install it (make system-deps) or set SCALKIT_CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def all_tabs(chromium: Any) -> Tabs:
    return Tabs(chromium)


@pytest.fixture
def tabs(all_tabs: Tabs) -> Iterator[Tabs]:
    """Return the tabs of Chromium that stay open between tests; those that a test takes are emptied after it."""
    yield all_tabs
    all_tabs.give_back()
