"""Runs one program with a time limit and leaves none of its processes behind."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.errors import LaunchError, ScalkitError

_GRACE_S = 3.0
"""A launcher gets this long to end its ranks by itself."""

LAST_LINES = "The last lines:"
"""What stands in a message before the end of a program's output."""

_LAST_LINES = 12
_MOST_OUTPUT = 200_000


@dataclass(frozen=True)
class Outcome:
    """How a program ended.

    `status`: exit status, negative for a signal; None if the time limit ended it.
    `wall_s` in s.
    `output`: what it printed on both channels, at most the last 200 kB.
    """

    status: int | None
    wall_s: float
    output: str

    @property
    def last_lines(self) -> str:
        """The end of the output, indented, for messages."""
        lines = [line for line in self.output.splitlines() if line.strip()]
        return "\n".join(f"  {line[:300]}" for line in lines[-_LAST_LINES:]) or "  (it printed nothing)"

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.status is None:
            return f"did not end within {self.wall_s:.0f} s"
        if self.status < 0:
            return f"was killed by {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"


def summary(message: str) -> str:
    """Return the first line of a message, without the announcement of the output that follows it."""
    line = message.strip().partition("\n")[0]
    return line.removesuffix(LAST_LINES).removesuffix("It ended with:").rstrip().removesuffix(".")


def run_program(
    command: Sequence[str], *, timeout_s: float, environment: Mapping[str, str] | None = None, inherited: Sequence[int] = ()
) -> Outcome:
    """Run a program and return how it ended; on the time limit and on Ctrl-C all its processes are ended.

    `timeout_s` in s.
    `environment`: added to the current one.
    `inherited`: file descriptors that stay open in the program.
    Raises OSError if the program cannot be started; KeyboardInterrupt after the processes were ended.
    """
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process: subprocess.Popen[bytes] | None = None
        status: int | None = None
        try:
            with _signals_held():
                process = subprocess.Popen(
                    list(command),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **(environment or {})},
                    start_new_session=True,
                    pass_fds=tuple(inherited),
                )
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = _waited(process, timeout_s)
        finally:
            wall_s = time.monotonic() - start
            if process is not None:
                _end(process)
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - _MOST_OUTPUT))
        text = output.read().decode("utf-8", errors="replace")
    return Outcome(status, wall_s, text)


def started(
    command: Sequence[str], kind: type[ScalkitError] = LaunchError, way: str = "; check that it may be run", **options: Any
) -> Outcome:
    """Return how a program ended, see `run_program`; one that cannot be started raises an error that names it."""
    try:
        return run_program(command, **options)
    except OSError as error:
        raise kind(f"cannot start {command[0]!r}: {error.strerror or error}{way}.") from error


def _waited(process: subprocess.Popen[bytes], timeout_s: float) -> int:
    """Return the status of a program as soon as it ends; `Popen.wait` looks only every 50 ms, which would show in its time."""
    with contextlib.suppress(AttributeError, OSError):  # neither exists on old kernels
        ending = os.pidfd_open(process.pid)
        try:
            ended = select.poll()
            ended.register(ending, select.POLLIN)
            ended.poll(min(1000 * timeout_s, 2**31 - 1))
        finally:
            os.close(ending)
        return process.wait(0.01)
    return process.wait(timeout_s)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Deliver a signal that ends this program only after the context, when the new process is known and can be ended.

    They are not blocked, since the new process would inherit that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    held = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in held:
        signal.signal(number, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and everything that it started: politely, then by force."""
    family = _family(process.pid)
    if process.poll() is None:
        _signal(family, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    left = [pid for pid in {*family, *_family(process.pid)} if pid != process.pid or process.poll() is None]
    _signal(left, signal.SIGKILL)
    process.wait()


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _family(root: int) -> list[int]:
    """Return the living processes of the session that `root` leads, and all descendants of any of them."""
    parents: dict[int, int] = {}
    found = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        state, parent, session = fields[0], int(fields[1]), int(fields[3])
        parents[int(entry.name)] = parent
        if session == root and state != "Z":
            found.append(int(entry.name))
    members = {root, *found}
    while True:
        more = {pid for pid, parent in parents.items() if parent in members} - members
        if not more:
            return sorted(members)
        members |= more
