"""Measure the MPI library of this machine and write a report: what `make report` does.

Run times of virtual time decide with any number of cores. Real ones are taken up to the number of cores and
shown beside them, or, where the library cannot run in virtual time, in their place.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from parts import ROOT, Counts, Part, Run, table
from rich.console import Console

from scalkit.bench.libraries.mpi import cores
from scalkit.cli.options.measuring_rules import counts_of
from scalkit.errors import UsageError

SCALKIT = str(Path(sys.executable).parent / "scalkit")
LAUNCH = re.compile(r"\[\d+/\d+\] .*: (done|failed)")
"""The line that `scalkit measure` prints after each launch."""
SECONDS_OF_REAL_TIMES = "20"
"""For the real times that are shown beside virtual ones and decide nothing."""


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


def real_times_beside(given: argparse.Namespace) -> Part | None:
    """Return the measuring of real times, None if no number of processes has a core for each."""
    counts = [str(n) for n in counts_of(given.times, "-n") if n <= cores()]
    if not counts:
        return None
    rules = ["--runs", given.n_runs, "--budget", SECONDS_OF_REAL_TIMES]
    return measuring("real times", f"{given.runs}-real", ["collectives", "-n", ",".join(counts), *rules])


def counts(part: Part) -> Counts:
    """Count the launches of a part in its output."""
    endings = [found[1] for line in part.output if (found := LAUNCH.match(line))]
    n_failed = endings.count("failed") or int(not part.has_passed)
    return Counts(len(endings) if endings else None, n_failed)


def main() -> int:
    given = options().parse_args()
    try:
        counts_of(given.counts, "COUNTS")
        counts_of(given.times, "TIMES")
    except UsageError as error:
        print(f"make report: {error}", file=sys.stderr)
        return 2
    beside = None
    if has_virtual_time():
        beside = real_times_beside(given)
        words = ["-n", given.times, "--memory-n", given.counts, "--clock", "virtual"]
        measure = measuring("virtual times, memory", given.runs, ["collectives", "memory", *words])
    else:
        print(
            "make: the MPI library cannot run in virtual time here"
            " ('scalkit doctor --need virtual' says why); run times are real",
            flush=True,
        )
        words = ["-n", given.counts, "--runs", given.n_runs, "--budget", given.budget]
        measure = measuring("real times, memory", given.runs, ["collectives", "memory", *words])
    # A verdict that fails is what a report is for: status 1.
    write = Part("report", [SCALKIT, "report", given.runs], is_shown=True, good=(0, 1))
    write.command += ["--out", given.out, "--force"]
    parts = [*([beside] if beside else []), measure, write]
    run = Run([[[part]] for part in parts], dict(os.environ))
    if beside:
        run.run_stage([[beside]])
        if beside.has_passed:
            write.command += ["--real-times", f"{given.runs}-real"]
        else:
            run.write("the report will show no real times")
    run.run_stage([[measure]])
    if measure.has_passed:
        run.run_stage([[write]])
    elif (ROOT / given.runs / "campaign.toml").exists():
        run.write(f"a report on what is there: scalkit report {given.runs}")
    Console(width=100).print(table(run, "Parts of the report", "launches", counts))
    if run.is_interrupted:
        return 130
    return 0 if write.has_passed else write.status or measure.status or 1


if __name__ == "__main__":
    sys.exit(main())
