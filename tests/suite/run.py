"""Run the parts of the test suite, print how far they are, and end with a table.

`python tests/suite/run.py` is `make test`; `--all` is `make test-all`. Options after `--` go to pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import leftovers
from parts import Counts, Part, Run, Stage, table
from rich.console import Console

from scalkit.native import without_blanks

SUITE = Path(__file__).resolve().parent
UNOPTIMISED = {"CFLAGS": "-O0 -g"}
"""Environment of `make test`: what tests compile is checked, not timed. `make test-all` compiles as users do."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment of all parts: workers fill the cores, and threads of a library for small matrices would wait in loops."""
N_EXPENSIVE = 10
"""So many of the most expensive tests are listed at the end."""
CORE = tuple(f"tests/{name}" for name in ("growth", "measure", "fit", "stats", "validation", "session"))
"""Folders of the tests of the core, which needs no extra."""


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
    """Return the stages. C checks come before all that takes long: their ranks wait in loops, which takes cores from others."""
    side_by_side = ["-n", str(given.workers or workers()), "--dist", "loadfile", "--no-loadscope-reorder"]
    style = [Part("style", python("ruff", "check", ".")), Part("format", python("ruff", "format", "--check", "."))]
    c_checks = Part("C checks", ["make", "--no-print-directory", "-C", "microbench", "check"], environment={"PATH": _path()})
    first: Stage = [style, [c_checks]]
    types = Part("types", python("mypy"))
    if not given.all:
        tests = pytest_part("tests", folder, [*side_by_side, "-m", "not slow", *given.pytest])
        tests.environment = UNOPTIMISED
        return [first, [[types], [tests]]]
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"The order of the tests is random: --seed {seed} repeats it.", flush=True)
    every = all_tests([*side_by_side, *random_order(seed), *given.pytest], folder)
    return [first, [[types], core_parts(side_by_side, folder)], [every]]


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
    return os.pathsep.join([os.environ.get("PATH", os.defpath), str(without_blanks(Path(sys.prefix)) / "bin")])


def counts(part: Part) -> Counts:
    """Count the tests of a part, if it is one that pytest runs."""
    found = part.results()
    n_failed = len(found.get("failed", [])) or int(not part.has_passed)
    if not found:
        return Counts(None, n_failed)
    return Counts(found["tests"], n_failed, len(found["rerun"]))


def report(run: Run, costs_file: Path | None) -> bool:
    """Print the tables and lists at the end; return whether everything passed."""
    console = Console(width=120)
    costs: dict[str, float] = {}
    rerun: list[str] = []
    skipped: dict[str, list[str]] = {}
    for part in run.parts:
        found = part.results()
        costs |= found.get("cpu_s", {})
        rerun += found.get("rerun", [])
        for reason, names in found.get("skipped", {}).items():
            skipped.setdefault(reason, []).extend(names)
    if costs_file:
        costs_file.write_text(json.dumps(costs, indent=0), encoding="utf-8")
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
            files = sorted({name.partition("::")[0].removeprefix("tests/") for name in names})
            text = f"  {reason}: {len(names)} tests in {', '.join(files)}"
            console.print(text, highlight=False, markup=False)
    console.print(table(run, "Parts of the test suite", "tests", counts))
    for part in run.parts:
        for name in part.results().get("failed", []):
            console.print(f"FAILED {name}", highlight=False, markup=False)
    is_strict = os.environ.get("SCALKIT_NO_SKIPS") == "1"
    if is_strict and skipped:
        console.print("SCALKIT_NO_SKIPS=1 lets no test be left out.")
    return all(part.has_passed for part in run.parts) and not (is_strict and skipped)


@contextmanager
def guarded() -> Iterator[dict[str, str]]:
    """Provide the environment of a run, and clean up after it, also if this process is killed."""
    name, folder = uuid.uuid4().hex, Path(tempfile.mkdtemp(prefix="scalkit-"))
    folder.chmod(0o711)  # munge, which Slurm needs, refuses a socket that other users cannot reach
    guard = subprocess.Popen(
        [sys.executable, leftovers.__file__, "--guard", name, str(folder)],
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
        own |= {"IPYTHONDIR": str(folder / "ipython"), leftovers.VARIABLE: name, "TMPDIR": str(folder)}
        yield {**os.environ, **ONE_THREAD, **own}
    finally:
        guard.stdin.close()
        guard.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the test suite of scalkit.")
    parser.add_argument("--all", action="store_true", help="add what is slow by nature (make test-all)")
    parser.add_argument("--workers", type=int, help="processes that run tests (default: one more than there are cores)")
    parser.add_argument("--costs", type=Path, metavar="FILE", help="write the CPU seconds of each test as JSON")
    parser.add_argument("--seed", type=int, help="seed of the random order of --all (default: a new one)")
    parser.add_argument("pytest", nargs="*", help="options of pytest, after --")
    given = parser.parse_args()
    with guarded() as environment:
        marked = environment[leftovers.VARIABLE]
        run = Run(
            stages(given, Path(environment["TMPDIR"])), environment, after_interruption=lambda: leftovers.end_processes(marked)
        )
        run.run()
        has_passed = report(run, given.costs)
    if run.is_interrupted:
        return 130
    return 0 if has_passed else 1


if __name__ == "__main__":
    sys.exit(main())
