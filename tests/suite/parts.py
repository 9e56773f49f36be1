"""Commands that run one after the other or side by side, with progress as they run and a table at the end."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
START = "SCALKIT_TEST_START"
"""Environment variable with the start of the run, in seconds of `time.monotonic`."""
SECONDS_BETWEEN_LINES = 25
SECONDS_TO_END = 15
"""Time for a part to end in an orderly way after an interruption."""
SECONDS_TO_READ = 10
"""Time to read the rest of what a part printed after it has ended."""


@dataclass
class Part:
    """A command. What it prints is shown as it comes (`is_shown`), or only if it fails."""

    name: str
    command: list[str]
    is_shown: bool = False
    passing_statuses: tuple[int, ...] = (0,)
    is_required: bool = False
    """Whether the parts after it in the same stream cannot run without it."""
    summary: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None
    output: list[str] = field(default_factory=list)
    status: int | None = None
    cpu_s: float = 0.0
    start: float = 0.0
    wall_s: float = 0.0

    @property
    def has_passed(self) -> bool:
        return self.status in self.passing_statuses

    def results(self) -> dict[str, Any]:
        """Return the summary that pytest wrote, empty if there is none."""
        if self.summary is None or not self.summary.exists():
            return {}
        return dict(json.loads(self.summary.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Counts:
    """Number of tests or launches of a part; `n` is None if it has none."""

    n: int | None
    n_failed: int
    n_reruns: int | None = None


Stage = Sequence[Sequence[Part]]
"""Streams that run side by side; the parts of a stream run one after the other."""


class Run:
    """Stages that run one after the other, and the terminal that their parts share.

    Once created, it ends the running parts in an orderly way on SIGINT, SIGTERM and SIGHUP, and at once on a second one.
    """

    def __init__(
        self, stages: Sequence[Stage], environment: dict[str, str], after_interruption: Callable[[], object] = lambda: None
    ) -> None:
        self.stages, self.environment = stages, environment
        self.parts = [part for stage in stages for stream in stage for part in stream]
        self.is_interrupted = self._is_urgent = False
        self._after_interruption = after_interruption
        self._start = self._last_line = time.monotonic()
        self.environment[START] = str(self._start)
        self._lock = threading.Lock()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupt)

    @property
    def wall_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def write(self, text: str, *, has_time: bool = True) -> None:
        """Print a line, with the time since the start."""
        with self._lock:
            print(f"[{minutes(self.wall_s):>5}] {text}" if has_time else text, flush=True)
            self._last_line = time.monotonic()

    def run(self) -> None:
        """Run all stages."""
        for stage in self.stages:
            self.run_stage(stage)

    def run_stage(self, stage: Stage) -> None:
        """Run one of the stages, with a line from time to time while its parts print nothing."""
        threads = [threading.Thread(target=self._run_stream, args=(stream,)) for stream in stage]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            if time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
                now = time.monotonic()
                names = ", ".join(f"{part.name} ({now - part.start:.0f} s)" for part in self._running())
                self.write(f"running: {names}")

    def _run_stream(self, stream: Sequence[Part]) -> None:
        for part in stream:
            if self.is_interrupted:
                return
            self._run_part(part)
            if part.is_required and not part.has_passed:
                return

    def _run_part(self, part: Part) -> None:
        self.write(f"{part.name}: started")
        part.start = time.monotonic()
        # A session of its own: an interruption at the terminal reaches this program alone, which
        # ends the parts in order.
        part.process = subprocess.Popen(
            part.command,
            cwd=ROOT,
            env=self.environment | part.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        if self.is_interrupted:  # while it started
            os.killpg(part.process.pid, signal.SIGINT)
        reader = threading.Thread(target=self._read, args=(part,), daemon=True)
        reader.start()
        _, status, usage = os.wait4(part.process.pid, 0)
        reader.join(SECONDS_TO_READ)
        if reader.is_alive():
            self.write(f"{part.name}: a process that it started is still running and is killed")
            with contextlib.suppress(ProcessLookupError):
                os.killpg(part.process.pid, signal.SIGKILL)
            reader.join(SECONDS_TO_READ)
        part.process.returncode = part.status = os.waitstatus_to_exitcode(status)
        part.cpu_s, part.wall_s = usage.ru_utime + usage.ru_stime, time.monotonic() - part.start
        if not (part.has_passed or part.is_shown or self.is_interrupted):
            command = shown_command(part.command)
            self.write(f"{part.name}: FAILED ({command}, exit status {part.status})")
            self.write("".join(part.output[-300:]), has_time=False)
        self.write(f"{part.name}: {outcome(part, self.is_interrupted)} after {part.wall_s:.0f} s")

    def _read(self, part: Part) -> None:
        """Keep the output of a part, and show it as it comes if it is to be shown."""
        assert part.process
        assert part.process.stdout
        for line in part.process.stdout:
            part.output.append(line)
            if part.is_shown and not line.startswith("bringing up nodes"):
                self.write(line.rstrip("\n"), has_time=False)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.is_interrupted:
            self._is_urgent = True
            return
        self.is_interrupted = True
        threading.Thread(target=self._end_parts, daemon=True).start()

    def _end_parts(self) -> None:
        """Ask the parts to end, as Ctrl-C does, and kill what stays."""
        self.write("interrupted: ending what runs")
        for number, seconds in ((signal.SIGINT, SECONDS_TO_END), (signal.SIGKILL, 0)):
            for part in self._running():
                try:
                    os.killpg(part.process.pid, number)  # type: ignore[union-attr]
                except ProcessLookupError:
                    continue
            end = time.monotonic() + seconds
            while time.monotonic() < end and self._running() and not self._is_urgent:
                time.sleep(0.1)
        self._after_interruption()

    def _running(self) -> list[Part]:
        return [part for part in self.parts if part.process and part.status is None]


def outcome(part: Part, is_interrupted: bool) -> str:
    """Return the end of a part in a word."""
    if part.has_passed:
        return "passed"
    return "interrupted" if is_interrupted else "FAILED"


def shown_command(command: Sequence[str]) -> str:
    """Return a command as it can be typed at the root of the project."""
    return shlex.join(word.removeprefix(f"{ROOT}/") for word in command)


def minutes(seconds: float) -> str:
    """Return a time as minutes and seconds: "8:06"."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def table(run: Run, title: str, unit: str, counts: Callable[[Part], Counts]) -> Table:
    """Return the table that ends a run: the work of each part, and its cost.

    `unit`: what the parts are made of: "tests", "launches".
    `counts`: returns the tests or launches of a part.
    """
    rows = Table(title=title)
    counts_by_part = {part.name: counts(part) for part in run.parts if part.process}
    has_reruns = any(counted.n_reruns is not None for counted in counts_by_part.values())
    names = ("part", unit, "failures", *(["reruns"] if has_reruns else []), "CPU s", "wall")
    for name in names:
        rows.add_column(name, justify="left" if name == "part" else "right")
    for part in run.parts:
        if part.name not in counts_by_part:
            rows.add_row(part.name, "not run", style="dim")
            continue
        counted = counts_by_part[part.name]
        cells = [part.name, "-" if counted.n is None else f"{counted.n:,}", str(counted.n_failed)]
        if has_reruns:
            cells.append("-" if counted.n_reruns is None else str(counted.n_reruns))
        cells += [f"{part.cpu_s:.0f}", minutes(part.wall_s)]
        rows.add_row(*cells, style="red" if counted.n_failed else "")
    rows.add_section()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = f"{usage.ru_utime + usage.ru_stime:.0f}"
    rows.add_row("all", *[""] * (len(names) - 3), total, minutes(run.wall_s))
    return rows
