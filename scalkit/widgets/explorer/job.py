"""A command that runs beside the kernel: its end, and a way to end it early."""

import asyncio
import atexit
import contextlib
import contextvars
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalkit.errors import UsageError

_GRACE_S = 20.0
"""A command gets this long to end what it started, before it is ended by force."""


@dataclass(frozen=True)
class Ending:
    """How a command ended. `status`: exit status, negative for a signal. `output`, `errors`: what it wrote."""

    status: int
    output: str
    errors: str
    was_cancelled: bool


class Job:
    """Runs ``scalkit ...`` as a process of its own group.

    `arguments`: those of the command ``scalkit``.
    `on_end`: takes an `Ending`, once. In a notebook it is called by the loop of the kernel, between cells, or by `wait`;
    elsewhere by a thread of the job.
    Raises UsageError if the process cannot be started.
    """

    def __init__(self, arguments: Sequence[str], on_end: Callable[[Ending], object]) -> None:
        self._on_end, self._was_cancelled = on_end, False
        self._ending: Ending | None = None
        self._lock = threading.RLock()
        self._call_soon = _caller(self._tell)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scalkit", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, "PYTHONPATH": _search_path()},
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"cannot start scalkit: {error.strerror or error}; free memory or processes.") from error
        atexit.register(self._signal, signal.SIGTERM)
        self._thread = threading.Thread(target=self._follow, name="scalkit job", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Ask the command and all that it started to end; by force, if they have not after a while."""
        if self._was_cancelled or self._process.poll() is not None:
            return
        self._was_cancelled = True
        self._signal(signal.SIGTERM)
        timer = threading.Timer(_GRACE_S, self._signal, [signal.SIGKILL])
        timer.daemon = True
        timer.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the process ended and this was told, or for some seconds; return whether it did."""
        self._thread.join(seconds)
        self._tell()
        return not self._thread.is_alive()

    def _follow(self) -> None:
        output, errors = self._process.communicate()
        atexit.unregister(self._signal)
        self._ending = Ending(self._process.returncode, output, errors, self._was_cancelled)
        self._call_soon()

    def _tell(self) -> None:
        """Tell the end, if it is there and was not told yet."""
        with self._lock:
            ending, self._ending = self._ending, None
            if ending is not None:
                self._on_end(ending)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


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
