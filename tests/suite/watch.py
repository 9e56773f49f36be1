"""A pytest plugin that ends tests that hang, and names the command that does.

A test that is slow on a busy machine still uses CPU time, as its processes do. A test hangs when all of them together use none
for minutes. Nothing here is a limit on how long a test may take, except one that only catches endless loops.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import tempfile
import threading
import time
from types import FrameType

import psutil
import pytest

SECONDS_BETWEEN_LOOKS = 5.0
IDLE_SECONDS = 240.0
"""Twenty times the longest time that a test was seen to sleep while it waits for a cluster or a server."""
IDLE_CPU_SECONDS = 0.1
"""Less than what a loop uses in `IDLE_SECONDS` that looks ten times a second whether something has happened."""
ENDLESS_SECONDS = 3600.0
"""Thirty times the slowest test on an idle machine; at load 30 on two cores it takes half of this."""


class HangError(Exception):
    """Raised in a test that makes no progress."""


class HangWatch:
    """Looks from a thread at the CPU time of the running test and of all processes below it."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS, endless_seconds: float = ENDLESS_SECONDS) -> None:
        self._idle_seconds, self._endless_seconds = idle_seconds, endless_seconds
        self._test = ""
        self._begin = self._last_progress = time.monotonic()
        self._begin_of_day = time.time()
        self._cpu = 0.0
        self._message = ""
        self._stop = threading.Event()

    def pytest_sessionstart(self) -> None:
        signal.signal(signal.SIGUSR2, self._raise)
        threading.Thread(target=self._watch, daemon=True).start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begin = self._last_progress = time.monotonic()
        self._begin_of_day = time.time()
        self._test = nodeid

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        self._test = ""

    def pytest_sessionfinish(self) -> None:
        self._stop.set()

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self._test:
            raise HangError(self._message)

    def _watch(self) -> None:
        while not self._stop.wait(SECONDS_BETWEEN_LOOKS):
            if self._test:
                self._look()

    def _look(self) -> None:
        """End the test if nothing moved for too long."""
        children = descendants()
        # Looking takes CPU time as well, in this thread.
        cpu = time.process_time() - time.thread_time() + sum(map(_cpu_seconds, children))
        now = time.monotonic()
        # Processes that end take their CPU time along, so that any change counts, not only growth.
        if abs(cpu - self._cpu) > IDLE_CPU_SECONDS:
            self._cpu, self._last_progress = cpu, now
        is_idle = now - self._last_progress > self._idle_seconds
        if is_idle or now - self._begin > self._endless_seconds:
            seconds = now - (self._last_progress if is_idle else self._begin)
            how = "used no CPU time for" if is_idle else "did not end within"
            commands = "\n".join(f"  {_command(child)}" for child in children) or f"  no process; it was in\n{_stacks()}"
            self._message = f"{self._test} {how} {seconds:.0f} s; what was running:\n{commands}"
            self._begin = self._last_progress = now
            for child in reversed(children):
                # A browser or a server that earlier tests used as well is not what hangs.
                if _begin(child) > self._begin_of_day:
                    _kill(child)
            os.kill(os.getpid(), signal.SIGUSR2)


def descendants() -> list[psutil.Process]:
    """Return all processes below this one, parents before their children."""
    return list(psutil.Process().children(recursive=True))


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _begin(process: psutil.Process) -> float:
    try:
        return float(process.create_time())
    except psutil.Error:
        return 0.0


def _command(process: psutil.Process) -> str:
    try:
        return f"{process.pid} ({process.status()}): {' '.join(process.cmdline())[:500]}"
    except psutil.Error:
        return f"{process.pid}: has ended"


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.Error):
        process.kill()


def _stacks() -> str:
    """Return what all threads of this process are doing."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        return file.read()
