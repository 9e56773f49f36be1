"""A command that runs beside the kernel: its lines as they come, its end, and a way to end it early."""

import asyncio
import atexit
import contextlib
import contextvars
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from scalkit.errors import UsageError

_GRACE_S = 20.0
"""A command gets this long to end what it started, before it is ended by force."""

_MOST_OUTPUT = 20_000_000
_TURN_S = 0.05


@dataclass(frozen=True)
class Ending:
    """How a command ended. `status`: exit status, negative for a signal. `output`: what it wrote to standard output."""

    status: int
    output: str
    was_cancelled: bool


class Job:
    """Runs ``scalkit ...`` as a process of its own group; its standard error is passed on line by line.

    `arguments`: those of the command ``scalkit``.
    `on_line`: takes a line of standard error.
    `on_end`: takes an `Ending`, once, after the last line.
    Raises UsageError if the process cannot be started.

    In a notebook both are called by the loop of the kernel, between cells, or by `wait`; elsewhere by a thread of the
    job.
    """

    def __init__(self, arguments: Sequence[str], on_line: Callable[[str], object], on_end: Callable[[Ending], object]) -> None:
        self._on_line, self._on_end = on_line, on_end
        self._was_cancelled, self._lock = False, threading.Lock()
        self._queue: deque[tuple[Callable[[Any], object], object]] = deque()
        self._calling = threading.RLock()
        self._call_soon = _caller(self._drain)
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by the thread
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scalkit", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": _search_path(), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        except OSError as error:
            self._output.close()
            raise UsageError(f"cannot start scalkit: {error.strerror or error}; free memory or processes.") from error
        atexit.register(self._end_now)
        self._thread = threading.Thread(target=self._follow, name="scalkit job", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.poll() is None

    def cancel(self) -> None:
        """Ask the command and all that it started to end; by force, if they have not after a while."""
        with self._lock:
            if self._was_cancelled or not self.is_running:
                return
            self._was_cancelled = True
        self._signal(signal.SIGTERM)
        timer = threading.Timer(_GRACE_S, self._end_now)
        timer.daemon = True
        timer.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the process ended and all of it was told, or for some seconds; return whether it did."""
        end = None if seconds is None else time.monotonic() + seconds
        while self._thread.is_alive() and (end is None or time.monotonic() < end):
            self._thread.join(_TURN_S if end is None else min(_TURN_S, max(0.0, end - time.monotonic())))
            self._drain()
        self._drain()
        return not self._thread.is_alive()

    def _follow(self) -> None:
        """Tell the lines, then the end."""
        stream: IO[bytes] | None = self._process.stderr
        if stream is not None:
            with stream:
                for line in stream:
                    self._post(self._on_line, line.decode("utf-8", errors="replace").rstrip())
        status = self._process.wait()
        atexit.unregister(self._end_now)
        with self._output:
            self._output.seek(0)
            text = self._output.read(_MOST_OUTPUT).decode("utf-8", errors="replace")
        self._post(self._on_end, Ending(status, text, self._was_cancelled))

    def _post(self, function: Callable[[Any], object], value: object) -> None:
        self._queue.append((function, value))
        self._call_soon()

    def _drain(self) -> None:
        """Call what is to be told, in its order."""
        with self._calling:
            while self._queue:
                function, value = self._queue.popleft()
                function(value)

    def _end_now(self) -> None:
        if self.is_running:
            self._signal(signal.SIGTERM if not self._was_cancelled else signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def shown_command(arguments: Sequence[str]) -> str:
    """Return the command as a person would type it."""
    return shlex.join(["scalkit", *arguments])


def _search_path() -> str:
    """Return where Python looks for modules, with the folder of this package first: the command is of the same version."""
    here = str(Path(__file__).resolve().parents[3])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])


def _caller(function: Callable[[], object]) -> Callable[[], object]:
    """Return what calls a function from another thread: soon in the loop that runs here, or without one there at once."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return function
    context = contextvars.copy_context()

    def call() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it whoever would listen
            loop.call_soon_threadsafe(function, context=context)

    return call


class HoldsJob:
    """A widget that runs one command at a time beside the kernel, and ends it when it is closed."""

    _job: Job | None = None
    _lines: Sequence[str] = ()
    """What it said last."""

    def _keep(self, line: str, most: int = 20) -> None:
        if line.strip():
            self._lines = [*self._lines[-most:], line]

    def _why(self, ending: Ending) -> str:
        """Return why a command did not do what it should."""
        return self._lines[-1] if self._lines else f"it ended with status {ending.status}"

    @property
    def is_running(self) -> bool:
        """Whether the command runs now."""
        return self._job is not None

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end outside a notebook, or for some seconds; return whether it ended."""
        return self._job is None or self._job.wait(seconds)

    def close(self) -> None:
        """Close the widget and end what it runs."""
        if self._job is not None:
            self._job.cancel()
        widget: Any = super()
        widget.close()
