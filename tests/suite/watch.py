"""A pytest plugin that ends tests that hang, and names the command that does.

A test that is slow on a busy machine still uses CPU time, as its processes do. A test hangs when all of them together use
next to none for minutes. Nothing here is a limit on how long a test may take, except one that only catches endless loops.
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
IDLE_SHARE = 0.02
"""Share of a core between two looks below which nothing moves. Browsers and servers that wait use less, a process that
wants to work gets more even at load 30 on two cores."""
ENDLESS_SECONDS = 3600.0
"""Thirty times the slowest test on an idle machine; at load 30 on two cores it takes half of this."""
STATUS_OF_A_WORKER_THAT_HANGS = 70


class HangError(BaseException):
    """Raised in a test that makes no progress; no `except Exception` of what it tests may take it."""


class HangWatch:
    """Looks from a thread at the CPU time of the running test and of all processes below it.

    A test that hangs gets a HangError, and its processes are killed. If that does not end it, as in a call into C that does
    not return, its process ends; pytest-xdist then starts another worker.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS, endless_seconds: float = ENDLESS_SECONDS) -> None:
        self._idle_seconds, self._endless_seconds = idle_seconds, endless_seconds
        self._test = self._hung_test = ""
        self._test_start = self._last_progress = self._last_look = time.monotonic()
        self._test_start_of_day = time.time()
        self._cpu = 0.0
        self._message = ""
        self._stop = threading.Event()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._capture = session.config.pluginmanager.getplugin("capturemanager")
        signal.signal(signal.SIGUSR2, self._raise)
        threading.Thread(target=self._watch, daemon=True).start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test_start = self._last_progress = time.monotonic()
        self._test_start_of_day = time.time()
        self._hung_test = ""
        self._test = nodeid

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        self._test = ""

    def pytest_sessionfinish(self) -> None:
        self._stop.set()

    def _raise(self, number: int, frame: FrameType | None) -> None:
        # Another test may have begun before the signal arrived.
        if self._test and self._test == self._hung_test:
            raise HangError(self._message)

    def _watch(self) -> None:
        while not self._stop.wait(SECONDS_BETWEEN_LOOKS):
            if self._test:
                self._look()

    def _look(self) -> None:
        """End the test if nothing moved for too long."""
        test, children = self._test, descendants()
        # Looking takes CPU time as well, in this thread.
        cpu = time.process_time() - time.thread_time() + sum(map(_cpu_seconds, children))
        now = time.monotonic()
        # Processes that end take their CPU time along, so that any change counts, not only growth.
        if abs(cpu - self._cpu) > IDLE_SHARE * (now - self._last_look):
            self._last_progress = now
        self._cpu, self._last_look = cpu, now
        is_idle = now - self._last_progress > self._idle_seconds
        if is_idle or now - self._test_start > self._endless_seconds:
            seconds = now - (self._last_progress if is_idle else self._test_start)
            how = "used next to no CPU time for" if is_idle else "did not end within"
            commands = "\n".join(f"  {_command(child)}" for child in children) or f"  no process; it was in\n{_stacks()}"
            self._message = f"{test} {how} {seconds:.0f} s; these processes were running:\n{commands}"
            self._test_start = self._last_progress = now
            self._end(test, children)

    def _end(self, test: str, children: list[psutil.Process]) -> None:
        """Let the test fail and kill its processes; if it hangs for the second time, end this process."""
        if test == self._hung_test:
            for child in reversed(children):
                _kill(child)
            self._capture.suspend_global_capture()
            os.write(2, f"{self._message}\nThis process ends, as the test did not.\n{_stacks()}".encode())
            os._exit(STATUS_OF_A_WORKER_THAT_HANGS)
        self._hung_test = test
        # Before its processes end: the test would go on, and fail with another message, or pass.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        for child in reversed(children):
            # A browser or a server that earlier tests used as well is not what hangs.
            if _start(child) > self._test_start_of_day:
                _kill(child)


def descendants() -> list[psutil.Process]:
    """Return all processes below this one, parents before their children."""
    return list(psutil.Process().children(recursive=True))


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _start(process: psutil.Process) -> float:
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
    """Return the stack traces of all threads of this process."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        return file.read()
