"""Fixtures and options that all tests share; `suite/` reports progress, watches for hangs and runs the parts."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest
from suite.folders import CORE
from suite.progress import CpuPerTest, Progress
from suite.watch import HangWatch
from tabs import Browser, Tabs

from scalkit.support.native import without_blanks
from scalkit.support.schema_errors import load_jsonschema

# `make test` tries the same examples every time, so that it fails for what changed alone; `make test-all` tries new ones.
# No limit on how long examples take to make: a busy machine would exceed it.
PATIENT = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("same", derandomize=True, **PATIENT)
hypothesis.settings.register_profile("new", **PATIENT)
hypothesis.settings.load_profile("same")

CHROMIUM = os.environ.get("SCALKIT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

YIELDING = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


FAULTS_OF_THE_ENVIRONMENT = [
    rf"(?s)^(?!AssertionError\b).*{fault}"
    for fault in ("HangError", "TargetClosedError", "TimeoutError", "Address already in use", "Cannot allocate memory")
]
"""Regular expressions for errors that say something about the machine, not about what is tested. No assertion is among them,
even if it quotes such an error."""


LONGEST = "tests/widgets/test_explorer_in_lab.py"
"""File that takes long and can be shared by no two workers: at the end, the others would wait for it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--summary", type=Path, help="print progress instead of dots, and write the results to this file")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the MPI library and the cache of the tests, and drop the variables of an outer make.

    The signal handlers are the default ones again, which `nohup` disables.
    """
    config.pluginmanager.register(CpuPerTest())
    has_workers = bool(getattr(config.option, "numprocesses", None))
    if hasattr(config, "workerinput") or not has_workers:  # the process that only waits for workers runs no test
        config.pluginmanager.register(HangWatch())
    if config.option.summary and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config, config.option.summary))
    os.environ.update(YIELDING)
    for name in ("MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    folder = os.environ.get("SCALKIT_TEST_MPI") or str(without_blanks(Path(sys.prefix)) / "bin")
    if os.path.exists(os.path.join(folder, "mpicc")):  # else that of PATH
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", "")])
    if "SCALKIT_TEST_MPI" in os.environ:
        _name_for_mpi4py(os.path.join(folder, "mpicc"), config.rootpath / ".pytest_cache" / "mpi4py" / "libmpi.so.12")
    os.environ.setdefault(
        "PIP_CACHE_DIR", os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pip")
    )
    os.environ["XDG_CACHE_HOME"] = str(config.rootpath / ".pytest_cache" / "home")
    os.environ["SCALKIT_SIGNERS"] = str(config.rootpath / ".pytest_cache" / "allowed_signers")  # nobody is trusted
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    load_jsonschema()


def _name_for_mpi4py(mpicc: str, link: Path) -> None:
    """Let mpi4py wheels, which load libmpi.so.12, find Debian's MPICH, where that library is called libmpich.so.12."""
    output = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=False).stdout
    for place in re.findall(r"-L(\S+)", output) if "-lmpich" in output.split() else []:
        if (library := Path(place) / link.name.replace("mpi", "mpich")).exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                link.symlink_to(library)
            os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(link.parent), os.environ.get("LD_LIBRARY_PATH")]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Disable garbage collection during collection, and exclude the collected objects from it: nearly all live to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Look for no tests among data and tools."""
    name = collection_path.relative_to(config.rootpath).as_posix()
    return True if name in ("tests/data", "tests/vendor", "tests/suite") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest file, mark the tests of the core, and let those that the environment can disturb run once more."""
    items.sort(key=lambda item: item.nodeid.partition("::")[0] != LONGEST)
    for item in items:
        if item.nodeid.startswith(CORE) and not any(map(item.get_closest_marker, ("mpi", "browser", "extra"))):
            item.add_marker(pytest.mark.core)
        if item.get_closest_marker("browser") or item.get_closest_marker("mpi"):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=FAULTS_OF_THE_ENVIRONMENT))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test was skipped and SCALKIT_NO_SKIPS=1 allows none."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    is_strict = os.environ.get("SCALKIT_NO_SKIPS") == "1" and not hasattr(session.config, "workerinput")
    if is_strict and reporter and reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line("With SCALKIT_NO_SKIPS=1, a skipped test fails the run.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _same_draws(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let each test draw the same numbers from the generator of its module, whichever tests ran before it."""
    module = getattr(request.node, "module", None)
    rng = getattr(module, "RNG", None)
    if not isinstance(module, ModuleType) or not isinstance(rng, np.random.Generator):
        yield
        return
    module.__dict__["RNG"] = copy.deepcopy(rng)
    yield
    module.__dict__["RNG"] = rng


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium on PATH; install it (make system-deps) or set SCALKIT_CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = Browser(lambda: playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS))
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
