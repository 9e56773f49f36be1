"""A pytest plugin: progress as it happens, the first failure at once, and a summary for `run.py`.

`pytest --summary FILE` switches it on. Pytest's own dots are left out then: in a log they say neither how many tests there
are nor which ones are running.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from suite.parts import START, minutes

SECONDS_BETWEEN_LINES = 20
CPU = "cpu_s"
"""Name of the property of a test that holds its CPU seconds."""
CPU_SHARED = "cpu_s_shared"
"""Name of the property of the last test that holds the CPU seconds of browsers, servers and kernels."""
SHARED = "browsers, servers and kernels that tests share"
"""Name in the list of costs."""


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all processes that it started and that have ended."""
    return sum(os.times()[:4])


class CpuPerTest:
    """Adds to each report the CPU seconds of its phase; it works in the workers of pytest-xdist."""

    def __init__(self) -> None:
        self._before = 0.0
        self._is_last = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._before = cpu_seconds()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> None:
        self._is_last = nextitem is None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        report: pytest.TestReport = yield  # type: ignore[misc, assignment]
        now = cpu_seconds()
        # After the last test ends what all tests share: browsers, servers, kernels.
        name = CPU_SHARED if call.when == "teardown" and self._is_last else CPU
        report.user_properties = [*report.user_properties, (name, now - self._before)]
        self._before = now
        return report  # type: ignore[return-value]


class Progress:
    """Counts tests in the process that pytest was started in, and prints how far they are."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config, self._path = config, path
        # `run.py` has started earlier, and all lines of a run show the time since then.
        self._start_time = float(os.environ.get(START, time.monotonic()))
        self._total = 0
        self._done: set[str] = set()
        self._cpu: defaultdict[str, float] = defaultdict(float)
        self._failed: list[str] = []
        self._rerun: list[str] = []
        self._skipped: defaultdict[str, list[str]] = defaultdict(list)
        self._running: dict[str, float] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._print_now_and_then, daemon=True)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests where no workers run them."""
        if not hasattr(self._config, "workerinput") and session.items:
            self._start(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests that a worker has found; all workers find the same ones."""
        self._start(len(ids))

    def _start(self, total: int) -> None:
        if not self._total:
            self._total = total
            self._write(f"{total:,} tests")
            self._thread.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        self._cpu[report.nodeid] += properties.get(CPU, 0.0)
        self._cpu[SHARED] += properties.get(CPU_SHARED, 0.0)
        if report.outcome == "rerun":  # of pytest-rerunfailures
            self._rerun.append(report.nodeid)
        elif report.failed:
            self._fail(report)
        elif report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._skipped[reason.removeprefix("Skipped: ")].append(report.nodeid)
        if report.when in ("teardown", "???"):  # "???" if the worker crashed
            self._done.add(report.nodeid)
            self._running.pop(report.nodeid, None)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._fail(report)
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._skipped[reason.removeprefix("Skipped: ")].append(report.nodeid)

    def _fail(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Print the first failure with all that is known of it, and the name of each later one."""
        self._failed.append(report.nodeid)
        if len(self._failed) == 1:
            sections = "".join(f"\n---- {title}\n{text}" for title, text in report.sections)
            self._write(f"FAILED {report.nodeid}\n{report.longreprtext}{sections}")
        else:
            self._write(f"FAILED {report.nodeid} (its message comes at the end)")

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Iterator[None]:
        """Leave out pytest's letters; everything is still counted, and explained at the end."""
        category, _, _ = yield  # type: ignore[misc]
        return category, "", ""  # type: ignore[return-value]

    def _print_now_and_then(self) -> None:
        while not self._stop.wait(SECONDS_BETWEEN_LINES):
            done = len(self._done)
            share = f"{100 * done // self._total} %"
            now = time.monotonic()
            running = sorted(self._running.items(), key=lambda item: item[1])
            names = ", ".join(f"{nodeid.removeprefix('tests/')} ({now - start:.0f} s)" for nodeid, start in running[:3])
            failed = f", {len(set(self._failed))} FAILED" if self._failed else ""
            self._write(f"{done:,} of {self._total:,} tests done ({share}){failed}; running: {names or 'none'}")

    def _write(self, text: str) -> None:
        elapsed = minutes(time.monotonic() - self._start_time)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        with self._lock:
            reporter.ensure_newline()
            reporter.write_line(f"[{elapsed:>5}] {text}")
            reporter.flush()

    def pytest_sessionfinish(self) -> None:
        self._stop.set()
        costs = sorted(self._cpu.items(), key=lambda item: -item[1])
        summary: dict[str, Any] = {
            "tests": len(self._done),
            "total": self._total,
            "failed": list(dict.fromkeys(self._failed)),
            "rerun": self._rerun,
            "skipped": self._skipped,
            "cpu_s": {nodeid: round(seconds, 2) for nodeid, seconds in costs},
        }
        # In one step: if this process is killed, there is a whole summary or none.
        beside = self._path.with_suffix(".part")
        beside.write_text(json.dumps(summary), encoding="utf-8")
        beside.replace(self._path)
