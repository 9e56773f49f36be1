"""Run the parts of the test suite, print how far they are, and end with a table.

`python tests/suite/run.py` is `make test`, with `--all` `make test-all`, with `--core` `make core`. Options after `--` go to
pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import leftovers
from folders import CORE
from parts import Counts, Part, Run, Stage, table
from rich.console import Console

from scalkit.bench.libraries.mpi import cores
from scalkit.support.native import without_blanks

SUITE = Path(__file__).resolve().parent
UNOPTIMISED = {"CFLAGS": "-O0 -g"}
"""Environment of `make test`: what tests compile is checked, not timed. `make test-all` compiles as users do."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment of all parts: workers fill the cores, and threads of a library for small matrices would wait in loops."""
NO_TESTS = 5
"""Exit status of pytest that found no tests."""
N_EXPENSIVE = 10
"""Number of the most expensive tests that are listed at the end."""


def python(*words: str) -> list[str]:
    return [sys.executable, "-m", *words]


def pytest_part(name: str, folder: Path, words: Sequence[str], start: Sequence[str] = (sys.executable, "-m")) -> Part:
    """Return a part that runs pytest; `start` is the beginning of its command."""
    summary = folder / f"{name.replace(' ', '-')}.json"
    command = [*start, "pytest", "-q", "--no-header", f"--summary={summary}", *words]
    return Part(name, command, is_shown=True, summary=summary)


def workers() -> int:
    """Return the number of pytest's workers: one more than there are cores, as many tests wait for a browser or a kernel."""
    return min(cores() + 1, 8)


def stages(arguments: argparse.Namespace, folder: Path) -> list[Stage]:
    """Return the stages. C checks come before all that takes long: their ranks wait in loops, which takes cores from others."""
    side_by_side = ["-n", str(arguments.workers or workers()), "--dist", "loadfile", "--no-loadscope-reorder"]
    style = [Part("style", python("ruff", "check", ".")), Part("format", python("ruff", "format", "--check", "."))]
    c_checks = Part("C checks", ["make", "--no-print-directory", "-C", "microbench", "check"], environment={"PATH": _path()})
    first: Stage = [style, [c_checks]]
    types = Part("types", python("mypy"))
    if arguments.core:
        return [[core_parts([*side_by_side, *arguments.pytest], folder)]]
    if not arguments.all:
        tests = pytest_part("tests", folder, [*side_by_side, "-m", "not slow", *arguments.pytest])
        tests.environment = UNOPTIMISED
        return [first, [[types], [tests]]]
    seed = arguments.seed if arguments.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"The order of the tests is random: --seed {seed} repeats it.", flush=True)
    every = all_tests([*side_by_side, *random_order(seed), *arguments.pytest], folder)
    return [first, [[types], core_parts([*side_by_side, *arguments.pytest], folder)], [every]]


def random_order(seed: int) -> list[str]:
    """Return the options of pytest for a random order, and for new examples of hypothesis."""
    return ["-p", "randomly", f"--randomly-seed={seed}", "--hypothesis-profile=new"]


def core_parts(options: Sequence[str], folder: Path) -> list[Part]:
    """Return the tests of the core in an environment without any extra, which is made before."""
    core = Path(sys.prefix) / "core"
    command = [sys.executable, "tests/core/environment.py", str(core)]
    environment = Part("environment of the core", command, is_required=True)
    start = (str(core / "bin" / "python"), "-m")
    tests = pytest_part("core without extras", folder, [*options, "-m", "core", *CORE], start)
    tests.passing_statuses = (0, NO_TESTS)  # if an option chooses tests of other folders
    return [environment, tests]


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
    results = part.results()
    n_failed = len(results.get("failed", [])) or int(not part.has_passed)
    if not results:
        return Counts(None, n_failed)
    return Counts(results["tests"], n_failed, len(results["rerun"]))


def report(run: Run, costs_file: Path | None) -> bool:
    """Print the tables and lists at the end; return whether everything passed."""
    console = Console(width=120)
    costs: defaultdict[str, float] = defaultdict(float)
    rerun: list[str] = []
    skipped: dict[str, list[str]] = {}
    for part in run.parts:
        results = part.results()
        for name, seconds in results.get("cpu_s", {}).items():
            costs[name] += seconds
        rerun += results.get("rerun", [])
        for reason, names in results.get("skipped", {}).items():
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
        console.print("With SCALKIT_NO_SKIPS=1, a skipped test fails the run.")
    return all(part.has_passed for part in run.parts) and not (is_strict and skipped)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the test suite of scalkit.")
    parser.add_argument("--all", action="store_true", help="add what is slow by nature (make test-all)")
    parser.add_argument("--core", action="store_true", help="only the tests of the core, without any extra (make core)")
    parser.add_argument("--workers", type=int, help="processes that run tests (default: one more than there are cores)")
    parser.add_argument("--costs", type=Path, metavar="FILE", help="write the CPU seconds of each test as JSON")
    parser.add_argument("--seed", type=int, help="seed of the random order of --all (default: a new one)")
    parser.add_argument("pytest", nargs="*", help="options of pytest, after --")
    arguments = parser.parse_args()
    with leftovers.guarded() as environment:
        name = environment[leftovers.RUN_VARIABLE]
        parts = stages(arguments, Path(environment["TMPDIR"]))
        run = Run(parts, environment | ONE_THREAD, after_interruption=lambda: leftovers.end_processes(name))
        run.run()
        has_passed = report(run, arguments.costs)
    if run.is_interrupted:
        return 130
    return 0 if has_passed else 1


if __name__ == "__main__":
    sys.exit(main())
