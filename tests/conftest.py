"""What all tests share: a run in which nothing may be skipped, who runs beside whom, and Chromium."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("scalkit", deadline=None)
hypothesis.settings.load_profile("scalkit")

NO_SKIPS = os.environ.get("SCALKIT_NO_SKIPS") == "1"
_skipped: list[str] = []
CHROMIUM = os.environ.get("SCALKIT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

# MPI takes all cores already; the others start a server or an environment once for all their tests
TOGETHER = {"mpi": ("tests/bench", "tests/faults", "tests/microbench"), "packaging": ("tests/test_packaging",)}


def pytest_configure() -> None:
    """Signals end processes, also where a shell runs the tests in the background or under `nohup`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file stay in one worker, all tests with MPI in one and first, so that they never meet each other."""
    groups = {item: _group(item) for item in items}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    order = list(TOGETHER)
    items.sort(key=lambda item: order.index(groups[item]) if groups[item] in order else len(order))


def _group(item: pytest.Item) -> str:
    path = item.path.relative_to(item.config.rootpath).as_posix()
    if item.get_closest_marker("mpi"):
        return "mpi"
    if "lab" in getattr(item, "fixturenames", ()):
        return "lab"
    return next((name for name, places in TOGETHER.items() if path.startswith(places)), path)


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


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium on PATH; install it (make system-deps) or set SCALKIT_CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
