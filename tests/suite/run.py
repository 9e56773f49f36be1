"""Run the parts of the test suite, print how far they are, and end with a table.

`python tests/suite/run.py` is `make test`; `--all` is `make test-all`. Options after `--` go to pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import leftovers
from progress import BEGIN, N_EXPENSIVE
from rich.console import Console
from rich.table import Table

SUITE = Path(__file__).resolve().parent
ROOT = SUITE.parents[1]
CORE = tuple(f"tests/{name}" for name in ("growth", "measure", "fit", "stats", "validation", "session"))
"""Folders of the tests of the core, which needs no extra."""
SECONDS_BETWEEN_LINES = 25
SECONDS_TO_END = 15
"""Time for pytest to end its fixtures after an interruption."""


@dataclass
class Part:
    """A command of the suite. What it prints is shown as it comes (`is_shown`), or only if it fails."""

    name: str
    command: list[str]
    is_shown: bool = False
    summary: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None
    output: list[str] = field(default_factory=list)
    status: int | None = None
    cpu_s: float = 0.0
    begin: float = 0.0
    wall_s: float = 0.0

    def results(self) -> dict[str, Any]:
        """Return the summary that pytest wrote, empty if there is none."""
        if self.summary is None or not self.summary.exists():
            return {}
        return dict(json.loads(self.summary.read_text(encoding="utf-8")))


Stage = Sequence[Sequence[Part]]
"""Streams that run side by side; the parts of a stream run one after the other."""


class Suite:
    """The parts of one run, and the terminal that they share."""

    def __init__(self, stages: Sequence[Stage], environment: dict[str, str]) -> None:
        self.stages, self.environment = stages, environment
        self.parts = [part for stage in stages for stream in stage for part in stream]
        self._begin = self._last_line = time.monotonic()
        self.environment[BEGIN] = str(self._begin)
        self._lock = threading.Lock()
        self.is_interrupted = False

    def write(self, text: str, *, has_time: bool = True) -> None:
        """Print a line, with the time since the begin."""
        seconds = int(time.monotonic() - self._begin)
        with self._lock:
            print(f"[{seconds // 60:2d}:{seconds % 60:02d}] {text}" if has_time else text, flush=True)
            self._last_line = time.monotonic()

    def run(self) -> None:
        """Run the stages one after the other."""
        for stage in self.stages:
            self._run_stage(stage)

    def _run_stage(self, stage: Stage) -> None:
        threads = [threading.Thread(target=self._run_stream, args=(stream,)) for stream in stage]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            if time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
                running = [part for part in self.parts if part.process and part.status is None]
                now = time.monotonic()
                self.write("running: " + ", ".join(f"{part.name} ({now - part.begin:.0f} s)" for part in running))

    def _run_stream(self, stream: Sequence[Part]) -> None:
        for part in stream:
            if not self.is_interrupted:
                self._run_part(part)

    def _run_part(self, part: Part) -> None:
        self.write(f"{part.name}: begins")
        part.begin = time.monotonic()
        # A session of its own: an interruption at the terminal reaches this program alone, which ends the parts in order.
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
        assert part.process.stdout
        for line in part.process.stdout:
            part.output.append(line)
            if part.is_shown and not line.startswith("bringing up nodes"):
                self.write(line.rstrip("\n"), has_time=False)
        _, status, usage = os.wait4(part.process.pid, 0)
        part.process.returncode = part.status = os.waitstatus_to_exitcode(status)
        part.cpu_s, part.wall_s = usage.ru_utime + usage.ru_stime, time.monotonic() - part.begin
        if part.status and not part.is_shown and not self.is_interrupted:
            self.write(f"{part.name}: FAILED ({shown_command(part.command)}, exit status {part.status})")
            self.write("".join(part.output[-300:]), has_time=False)
        self.write(f"{part.name}: {outcome(part, self.is_interrupted)} after {part.wall_s:.0f} s")

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Ask the parts to end, as Ctrl-C does; what stays is killed by the guard."""
        if self.is_interrupted:
            return
        self.is_interrupted = True
        threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        self.write("interrupted: ending what runs")
        for number, seconds in ((signal.SIGINT, SECONDS_TO_END), (signal.SIGKILL, 0)):
            for part in self.parts:
                if part.process and part.status is None:
                    try:
                        os.killpg(part.process.pid, number)
                    except ProcessLookupError:
                        continue
            end = time.monotonic() + seconds
            while time.monotonic() < end and any(part.process and part.status is None for part in self.parts):
                time.sleep(0.1)
        leftovers.end_processes(self.environment[leftovers.VARIABLE])


def outcome(part: Part, is_interrupted: bool) -> str:
    """Return how a part ended, in a word."""
    if part.status == 0:
        return "passed"
    return "interrupted" if is_interrupted else "FAILED"


def shown_command(command: Sequence[str]) -> str:
    """Return a command as it can be typed at the root of the project."""
    return " ".join(word.removeprefix(f"{ROOT}/") for word in command)


def python(*words: str) -> list[str]:
    return [sys.executable, "-m", *words]


def pytest_part(name: str, folder: Path, words: Sequence[str], start: Sequence[str] = (sys.executable, "-m")) -> Part:
    """Return a part that runs pytest, which `start` begins."""
    summary = folder / f"{name.replace(' ', '-')}.json"
    command = [*start, "pytest", "-q", "--no-header", f"--summary={summary}", *words]
    return Part(name, command, is_shown=True, summary=summary)


def workers() -> int:
    """Return the number of pytest's workers: one more than there are cores, as many tests wait for a browser or a kernel."""
    return min(len(os.sched_getaffinity(0)) + 1, 8)


def stages(given: argparse.Namespace, folder: Path) -> list[Stage]:
    """Return what runs. C checks come before the tests: their ranks wait in loops, which takes cores from others."""
    side_by_side = ["-n", str(given.workers or workers()), "--dist", "loadfile", "--no-loadscope-reorder"]
    style = [
        Part("style", python("ruff", "check", ".")),
        Part("format", python("ruff", "format", "--check", ".")),
        Part("types", python("mypy")),
    ]
    c_checks = Part("C checks", ["make", "--no-print-directory", "-C", "microbench", "check"], environment={"PATH": _path()})
    checks: Stage = [style, [c_checks]]
    if not given.all:
        return [checks, [[pytest_part("tests", folder, [*side_by_side, "-m", "not slow", *given.pytest])]]]
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"The order of the tests is random: --seed {seed} repeats it.", flush=True)
    tests = all_tests([*side_by_side, *random_order(seed), *given.pytest], folder)
    return [checks, [core_parts(side_by_side, folder)], [tests]]


def random_order(seed: int) -> list[str]:
    """Return the options of pytest for a random order, and for new examples of hypothesis."""
    return ["-p", "randomly", f"--randomly-seed={seed}", "--hypothesis-profile=new"]


def core_parts(options: Sequence[str], folder: Path) -> list[Part]:
    """Return the tests of the core in an environment without any extra, which is made before."""
    core = Path(sys.prefix) / "core"
    environment = Part("environment of the core", [sys.executable, "tests/core/environment.py", str(core)])
    start = (str(core / "bin" / "python"), "-m")
    return [environment, pytest_part("core without extras", folder, [*options, "-m", "core", *CORE], start)]


def all_tests(options: Sequence[str], folder: Path) -> list[Part]:
    """Return the tests of both tiers, and the coverage that they reach."""
    data = folder / "coverage"
    data.mkdir()
    tests = pytest_part("tests", folder, options, python("coverage", "run", "-m"))
    tests.environment = {"COVERAGE_FILE": str(data / "data")}
    return [tests, Part("coverage", [sys.executable, str(SUITE / "coverage_table.py"), str(data)], is_shown=True)]


def _path() -> str:
    """Return a search path on which an MPI library of the system comes before the one of this environment."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])


def table(parts: Sequence[Part], wall_s: float) -> Table:
    """Return the table that ends a run."""
    made = Table(title="Parts of the test suite")
    for name in ("part", "tests", "failures", "reruns", "CPU s", "wall"):
        made.add_column(name, justify="left" if name == "part" else "right")
    for part in parts:
        if part.process is None:
            made.add_row(part.name, "not run", style="dim")
            continue
        found = part.results()
        n_failed = len(found.get("failed", [])) or int(bool(part.status))
        tests = f"{found['tests']:,}" if found else "-"
        minutes = f"{int(part.wall_s) // 60}:{int(part.wall_s) % 60:02d}"
        reruns = str(len(found["rerun"])) if found else "-"
        made.add_row(part.name, tests, str(n_failed), reruns, f"{part.cpu_s:.0f}", minutes, style="red" if n_failed else "")
    made.add_section()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes = f"{int(wall_s) // 60}:{int(wall_s) % 60:02d}"
    made.add_row("all", "", "", "", f"{usage.ru_utime + usage.ru_stime:.0f}", minutes)
    return made


def report(suite: Suite, wall_s: float) -> bool:
    """Print the tables and lists at the end; return whether everything passed."""
    console = Console(width=120)
    costs: dict[str, float] = {}
    rerun: list[str] = []
    skipped: dict[str, list[str]] = {}
    for part in suite.parts:
        found = part.results()
        costs |= found.get("cpu_s", {})
        rerun += found.get("rerun", [])
        for reason, names in found.get("skipped", {}).items():
            skipped.setdefault(reason, []).extend(names)
    if costs:
        console.print(f"The {N_EXPENSIVE} most expensive tests, in CPU seconds:")
        for name, seconds in sorted(costs.items(), key=lambda item: -item[1])[:N_EXPENSIVE]:
            console.print(f"  {seconds:6.1f}  {name}", highlight=False, markup=False)
    if rerun:
        console.print(f"Run once more, because the environment failed: {len(rerun)}")
        for name in rerun:
            console.print(f"  {name}", highlight=False, markup=False)
    if skipped:
        console.print("Not run here, because:")
        for reason, names in sorted(skipped.items()):
            console.print(f"  {reason}: {len(names)} tests, such as {names[0]}", highlight=False, markup=False)
    console.print(table(suite.parts, wall_s))
    for part in suite.parts:
        for name in part.results().get("failed", []):
            console.print(f"FAILED {name}", highlight=False, markup=False)
    is_strict = os.environ.get("SCALKIT_NO_SKIPS") == "1"
    if is_strict and skipped:
        console.print("SCALKIT_NO_SKIPS=1 lets no test be left out.")
    return all(part.status == 0 for part in suite.parts) and not (is_strict and skipped)


@contextmanager
def guarded() -> Iterator[dict[str, str]]:
    """Provide the environment of a run, and clean up after it, also if this process is killed."""
    run, folder = uuid.uuid4().hex, Path(tempfile.mkdtemp(prefix="scalkit-"))
    folder.chmod(0o711)  # munge, which Slurm needs, refuses a socket that other users cannot reach
    guard = subprocess.Popen(
        [sys.executable, leftovers.__file__, "--guard", run, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert guard.stdin
    assert guard.stdout
    guard.stdout.readline()
    try:
        # What Jupyter and IPython keep of their users goes with the run, too.
        own = {f"JUPYTER_{kind}_DIR": str(folder / "jupyter" / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        own |= {"IPYTHONDIR": str(folder / "ipython"), leftovers.VARIABLE: run, "TMPDIR": str(folder)}
        yield {**os.environ, **own}
    finally:
        guard.stdin.close()
        guard.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the test suite of scalkit.")
    parser.add_argument("--all", action="store_true", help="add what is slow by nature (make test-all)")
    parser.add_argument("--workers", type=int, help="processes that run tests (default: one more than there are cores)")
    parser.add_argument("--seed", type=int, help="seed of the random order of --all (default: a new one)")
    parser.add_argument("pytest", nargs="*", help="options of pytest, after --")
    given = parser.parse_args()
    begin = time.monotonic()
    with guarded() as environment:
        suite = Suite(stages(given, Path(environment["TMPDIR"])), environment)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, suite.interrupt)
        suite.run()
        has_passed = report(suite, time.monotonic() - begin)
    if suite.is_interrupted:
        return 130
    return 0 if has_passed else 1


if __name__ == "__main__":
    sys.exit(main())
