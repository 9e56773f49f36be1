"""Measure the MPI library of this machine and write a report: what `make report` does.

Times of the virtual clock decide with any number of cores. Real times are taken if the library cannot run in virtual time. It
is here because it shares its progress lines, its table and its cleaning up with the test suite.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import leftovers
from parts import ROOT, Counts, Part, Run, table
from rich.console import Console

from scalkit.cli.options.measuring_rules import counts_of
from scalkit.errors import UsageError

SCALKIT = str(Path(sys.executable).parent / "scalkit")
LAUNCH = re.compile(r"\[\d+/\d+\] .*: (done|failed)")
"""The line that `scalkit measure` prints after each launch."""


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the MPI library of this machine and write a report.")
    parser.add_argument("--runs", required=True, help="folder of the measurements")
    parser.add_argument("--out", required=True, help="report to write")
    parser.add_argument("--counts", required=True, help="numbers of processes for memory: 2,4,8")
    parser.add_argument("--times", required=True, help="numbers of processes in virtual time: 2,3,4")
    parser.add_argument("--n-runs", required=True, help="runs of each number of processes, of real times")
    parser.add_argument("--budget", required=True, help="seconds for measuring where there is no virtual time")
    return parser


def has_virtual_time() -> bool:
    """Return whether the MPI library can run in virtual time here."""
    command = [SCALKIT, "doctor", "--need", "virtual"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def measuring(name: str, folder: str, words: Sequence[str]) -> Part:
    """Return a part that measures into a folder."""
    return Part(name, [SCALKIT, "measure", *words, "--out", folder, "--set-aside"], is_shown=True)


def counts(part: Part) -> Counts:
    """Count the launches of a part in its output."""
    endings = [match[1] for line in part.output if (match := LAUNCH.match(line))]
    n_failed = endings.count("failed") or int(not part.has_passed)
    return Counts(len(endings) if endings else None, n_failed)


def main() -> int:
    arguments = options().parse_args()
    try:
        counts_of(arguments.counts, "COUNTS")
        counts_of(arguments.times, "TIMES")
    except UsageError as error:
        print(f"make report: {error}", file=sys.stderr)
        return 2
    with leftovers.guarded() as environment:
        # What scalkit keeps there for a user without a home has to outlive this run.
        environment["TMPDIR"] = tempfile.gettempdir()
        return measure_and_write(arguments, environment)


def measure_and_write(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Run the parts of the report and print their table; return the exit status."""
    if has_virtual_time():
        words = ["-n", arguments.times, "--memory-n", arguments.counts, "--clock", "virtual"]
        measure = measuring("virtual times, memory", arguments.runs, ["collectives", "memory", *words])
    else:
        print(
            "make: the MPI library cannot run in virtual time here"
            " ('scalkit doctor --need virtual' says why); run times are real",
            flush=True,
        )
        words = ["-n", arguments.counts, "--runs", arguments.n_runs, "--budget", arguments.budget]
        measure = measuring("real times, memory", arguments.runs, ["collectives", "memory", *words])
    # A verdict that fails is what a report is for: status 1.
    write = Part("report", [SCALKIT, "report", arguments.runs], is_shown=True, passing_statuses=(0, 1))
    write.command += ["--out", arguments.out, "--force"]
    name = environment[leftovers.RUN_VARIABLE]
    run = Run([[[part]] for part in (measure, write)], environment, after_interruption=lambda: leftovers.end_processes(name))
    run.run_stage([[measure]])
    if measure.has_passed:
        run.run_stage([[write]])
    elif (ROOT / arguments.runs / "campaign.toml").exists():
        run.write(f"a report on what is there: scalkit report {arguments.runs}")
    Console(width=100).print(table(run, "Parts of the report", "launches", counts))
    if run.is_interrupted:
        return 130
    return 0 if write.has_passed else write.status or measure.status or 1


if __name__ == "__main__":
    sys.exit(main())
