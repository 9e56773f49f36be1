"""Matrix multiplication by one-sided communication: what the analysis finds against the truth, and what recording costs.

python benchmarks/srumma.py truth      simulated, over a layer that tells when it served each request: 16, 64, 256 processes
python benchmarks/srumma.py scaling    simulated: one size of matrices on more and more processes, and the analysis of each run
python benchmarks/srumma.py delays     real, two processes: is every injected delay found? over TCP and in shared memory
python benchmarks/srumma.py overhead   real, two processes: every other multiplication is recorded; needs an idle machine
python benchmarks/srumma.py cost       real, two processes: ns that a recorded call takes more; needs an idle machine
python benchmarks/srumma.py thread     real, two processes over TCP: is a progress thread worth it?
python benchmarks/srumma.py armci --program ./ga_dgemm      real: Global Arrays, with the calls of ARMCI recorded
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from srumma_scaling import COUNTS, ROWS, strong_scaling  # which lets `onesided` be found
from srumma_truth import compare, each_request

from onesided import TCP, Simulator, delays, multiply, weigh_progress_thread
from scalkit.bench import find_mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.bench.process import run_program
from scalkit.support.native import build, sources
from scalkit.trace import Options, analyse
from scalkit.trace.local.part import load
from scalkit.trace.waits.each_wait import each_wait

Row = dict[str, Any]


def truth(args: argparse.Namespace) -> list[Row]:
    """Return found and true waits at each number of processes, with computations that differ by 20 %."""
    rows = []
    for processes in [p for p in (4, 16, 64, 256, 1024) if args.least <= p <= args.most]:
        for ahead in (0, 1):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                told = multiply(Simulator(), processes, "layer", trace=folder, noise=20, seed=1, ahead=ahead)
                found = compare(folder).to_dict()
                entering = compare(folder, Options(search="entering"))
            rows.append({"processes": processes, "ahead": ahead, "error": told.error, **found})
            rows[-1]["entering_found_ms"] = 1e-6 * int(entering.found.sum())
            rows[-1]["entering_above_truth"] = int((entering.gap < 0).sum())
            rows[-1]["latency_us"] = 1e6 * told.latency_s
            show(rows[-1], args)
    return rows


def scaling(args: argparse.Namespace) -> list[Row]:
    """Return the time of one multiplication, its share of waiting, and what the analysis takes."""
    rows: list[Row] = []
    counts = [p for p in COUNTS if args.least <= p <= args.most]
    for one in strong_scaling(counts, args.n or ROWS, args.keep):
        row = asdict(one)
        first = rows[0] if rows else row
        row["efficiency"] = first["application_s"] * first["processes"] / (one.application_s * one.processes)
        rows.append(row)
        show(row, args)
    return rows


def injected(args: argparse.Namespace) -> list[Row]:
    """Return how far what is found lies below what was injected, for each kind of transfer and transport."""
    mpi, rows = find_mpi(), []
    for transport, over, environment in (("tcp", "rma", TCP), ("shared memory", "rma", {}), ("tcp", "locks", TCP)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            made = delays(mpi, over, trace=folder, environment=environment, turns=args.turns)
            all_found = _found(folder, over)
        for kind in dict.fromkeys(one.kind for one in made):
            chosen = [k for k, one in enumerate(made) if one.kind == kind]
            outlived = [k for k in chosen if made[k].injected_ns > 0 and made[k].end > made[k].woke]
            below = np.array([made[k].injected_ns - int(all_found[k]) for k in outlived], dtype=np.int64)
            row: Row = {"transport": transport, "over": over, "kind": kind, "delays": len(chosen), "waited_for": len(outlived)}
            row["injected_ms"] = 1e-6 * float(np.mean([made[k].injected_ns for k in chosen]))
            row["transfer_ms"] = 1e-6 * float(np.mean([made[k].end - made[k].begin for k in chosen]))
            row["found_ms"] = 1e-6 * float(np.mean(all_found[chosen]))
            row["found_within_1_ms"] = int((np.abs(below) <= 1_000_000).sum())
            row["largest_difference_us"] = 1e-3 * float(np.abs(below).max(initial=0))
            rows.append(row)
            show(row, args)
    return rows


def _found(folder: Path, over: str) -> NDArray[np.int64]:
    """Return the wait for progress of each operation; over locks that for the grant of each lock."""
    if over == "rma":
        return each_request(folder)[1].found
    trace = load(folder)
    return each_wait(trace).wait[trace.is_call("MPI_Win_lock")]


def overhead(args: argparse.Namespace) -> list[Row]:
    """Return by how much multiplications that are recorded take longer than those before and after them, which are not.

    Every launch counts once, with the medians of its multiplications: where the system puts the processes makes more of a
    difference than recording.
    """
    mpi, rows, rng = find_mpi(), [], np.random.default_rng(1)
    for over in ("rma", "layer"):
        for n in args.sizes:
            repeat = 2 * min(max(100_000_000 // n**3, 4), 3000)
            medians = []
            for _ in range(args.turns):
                with tempfile.TemporaryDirectory() as name:
                    told = multiply(mpi, 2, over, trace=Path(name), n=n, repeat=repeat, check=0, alternate=1)
                times = np.array(told.times_s[repeat // 4 * 2 :])
                medians.append((np.median(times[::2]), np.median(times[1::2])))
            plain, recorded = np.array(medians).T
            drawn = np.median(rng.choice(recorded / plain, (4000, args.turns)), axis=1)
            row: Row = {"over": over, "n": n, "launches": args.turns, "multiplications": repeat}
            row |= {"plain_us": 1e6 * float(np.median(plain)), "recorded_us": 1e6 * float(np.median(recorded))}
            row["overhead_percent"] = 100 * float(np.median(recorded / plain) - 1)
            row["low_percent"], row["high_percent"] = (100 * (np.quantile(drawn, [0.05, 0.95]) - 1)).tolist()
            rows.append(row)
            show(row, args)
    return rows


def cost(args: argparse.Namespace) -> list[Row]:
    """Return what single calls take recorded and not, with messages in shared memory; of several launches the least."""
    mpi, rows = find_mpi(), []
    library = build(sources("microbench"), mpi.mpicc, makefile="trace/Makefile").program("libsktrace.so")
    given = {**mpi.environment, **settings(mpi.kind, oversubscribed=False)}
    least: dict[str, dict[bool, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "cost"
        source = Path(__file__).with_name("trace_cost.c")
        command = [mpi.mpicc, "-O2", f"-I{sources('microbench')}", str(source), "-o", str(program)]
        subprocess.run(command, check=True)
        for turn in range(2 * args.turns):
            recorded = turn % 4 in (1, 2)
            more = {"LD_PRELOAD": str(library), "SCALKIT_TRACE": f"{name}/trace"} if recorded else {}
            told = run_program(mpi.command(2, str(program), forward=more), timeout_s=100, environment=given | more)
            for what, ns in re.findall(r"^(.+): ([\d.]+)$", told.output, re.MULTILINE):
                found = least.setdefault(what, {})
                found[recorded] = min(float(ns), found.get(recorded, float(ns)))
    for what, found in least.items():
        row: Row = {"calls": what, "plain_ns": found[False], "recorded_ns": found[True]}
        rows.append(row | {"more_a_call_ns": found[True] - found[False]})
        show(rows[-1], args)
    return rows


def thread(args: argparse.Namespace) -> list[Row]:
    """Return what a progress thread saves and costs for several lengths of delays."""
    mpi, rows = find_mpi(), []
    for delay_us in (0, 1000, 5000, 20000):
        results = []
        for more in ({}, {"MPIR_CVAR_ASYNC_PROGRESS": "1"}):
            with tempfile.TemporaryDirectory() as name:
                multiply(
                    mpi,
                    2,
                    "rma",
                    trace=Path(name),
                    environment={**TCP, **more},
                    n=args.n or 256,
                    repeat=args.repeat,
                    delay_us=delay_us,
                    delay_every=2,
                    delay_rank=1,
                    check=0,
                )
                results.append(analyse(name))
        found = weigh_progress_thread(*results)
        names = ("computing_s", "computing_with_s", "calling_s", "calling_with_s", "waiting_s", "gain_s")
        row: Row = {"delay_us": delay_us, **{name: getattr(found, name) for name in names}}
        row |= {"waiting_share": found.waiting_share, "pays_above": found.pays_above, "could_pay": found.could_pay}
        rows.append(row)
        show(row, args)
    return rows


def armci(args: argparse.Namespace) -> list[Row]:
    """Return where a program of Global Arrays, with ARMCI's calls recorded, spends its time, over TCP and in shared memory."""
    mpi, rows = find_mpi(), []
    if args.program is None:
        raise SystemExit("name the program: --program ./ga_dgemm; benchmarks/srumma_global_arrays.c says how it is compiled.")
    library = build(sources("microbench"), mpi.mpicc, makefile="trace/Makefile").program("libsktrace.so")
    for transport, environment in (("shared memory", {}), ("tcp", TCP)):
        with tempfile.TemporaryDirectory() as name:
            more = {"LD_PRELOAD": str(library), "SCALKIT_TRACE": name, **environment}
            given = {**mpi.environment, **settings(mpi.kind, oversubscribed=args.processes > (os.cpu_count() or 1)), **more}
            command = mpi.command(args.processes, str(args.program), str(args.n or 512), str(args.repeat), forward=more)
            told = run_program(command, timeout_s=300, environment=given)
            if told.status != 0:
                raise SystemExit(f"{args.program} {told.ending}:\n{told.last_lines}")
            ds = analyse(name)
        severity, region = ds["severity"].sum("location"), ds["region"].values
        calls = np.array([str(one).lower().startswith("armci_") for one in region])
        row: Row = {"transport": transport, "processes": args.processes, "told": told.output.strip()}
        row["in_armci_ms"] = 1e-6 * int(severity.sel(metric="time").values[calls].sum())
        for one in ("ARMCI_Wait", "ARMCI_AllFence", "ARMCI_Barrier", "armci_msg_barrier"):
            row[f"{one}_ms"] = 1e-6 * int(severity.sel(metric="time").values[region == one].sum())
        for metric in ("wait_for_progress", "wait_for_progress_bound", "wait_at_barrier", "wait_at_nxn"):
            row[f"{metric}_ms"] = 1e-6 * int(severity.sel(metric=metric).sum())
        row["operations"] = int(severity.sel(metric="rma_operations").sum())
        row["MB"] = 1e-6 * int(severity.sel(metric="rma_bytes").sum())
        rows.append(row)
        show(row, args)
    return rows


def show(row: Row, args: argparse.Namespace) -> None:
    """Print a row, unless all are printed as JSON at the end."""
    if not args.json:
        shown = (f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())
        what = "simulated: " if args.what in ("truth", "scaling") else ""
        print(what + "  ".join(shown), flush=True)


WHAT: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "truth": truth,
    "scaling": scaling,
    "delays": injected,
    "overhead": overhead,
    "cost": cost,
    "thread": thread,
    "armci": armci,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(WHAT))
    parser.add_argument("--least", type=int, default=16, help="processes (truth, scaling)")
    parser.add_argument("--most", type=int, default=256, help="processes (truth, scaling)")
    parser.add_argument("--n", type=int, help="rows of the matrices (scaling: 1536, thread: 256)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder for the waits of each run and a table (scaling)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[32, 128], help="rows of the matrices (overhead)")
    parser.add_argument("--turns", type=int, default=5, help="runs of each kind (delays, overhead, cost)")
    parser.add_argument("--repeat", type=int, default=40, help="multiplications of a run (thread, armci)")
    parser.add_argument("--program", type=Path, help="of Global Arrays (armci)")
    parser.add_argument("--processes", type=int, default=4, help="that it runs on (armci)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    rows = WHAT[args.what](args)
    if args.json:
        told = {"what": args.what, "simulated": args.what in ("truth", "scaling"), "cores": os.cpu_count(), "rows": rows}
        print(json.dumps(told, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
