"""Fills a store with simulated runs and measures size and speed against the bars; writers and readers at once; kill -9.

    python benchmarks/store.py                       1,000 runs of 40 suites, 20 points, 400 repetitions (some minutes)
    python benchmarks/store.py --runs 100            a tenth
    python benchmarks/store.py --only together       8 writers and 4 readers, 200 runs
    python benchmarks/store.py --only kill           100 writers, each killed at a random moment
    python benchmarks/store.py --only growth         opening 1,000, 10,000, 30,000 and 100,000 small runs; one more
    python benchmarks/store.py --store /tmp/s        keeps the simulated runs there, or takes those that are there

All times in the store are simulated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import scalkit as sk
from scalkit.store.filed.rows import Rows
from scalkit.store.index import _read as index_read
from scalkit.store.runs.content import RunContent, content_id, decoded, encoded
from scalkit.store.segments import FULL, add_segment, segments_of

WORKER = Path(__file__).resolve().parents[1] / "tests" / "store" / "store_worker.py"
SUITES, POINTS, REPETITIONS, RUNS_OF_A_MACHINE = 40, 20, 400, 20
BARS = {"share": 0.3, "joint_s": 0.1, "advise_s": 0.5}
SIZES = 2 ** np.arange(POINTS)
OPENED = """
import sys, time
import scalkit as sk
import duckdb, pandas, pyarrow.parquet
begin, used = time.perf_counter(), time.process_time()
store = sk.store.open(sys.argv[1], readonly=True)
runs = len(store.runs())
opened, opened_cpu = time.perf_counter() - begin, time.process_time() - used
chosen = {"op": "MPI_Gather", "metric": "time", "machine": "machine 00001*"}
points = len(store.arrays(("run_id", "platform", "x", "med"), chosen)["x"])
print(runs, round(opened, 3), round(opened_cpu, 3), points, round(time.perf_counter() - begin - opened, 3))
"""
"""From a Python with its libraries to the list of runs, then to the measurements of one operation on one machine."""

BAR_RUNS, BAR_OPEN_S = 100_000, 5.0
OPERATIONS = ("MPI_Gather", "Gather_send_recv", "Gather_isend_irecv_waitall")


def names() -> list[str]:
    return [*OPERATIONS, *(f"MPI_Operation_{k:02d}" for k in range(SUITES - len(OPERATIONS)))]


def simulated_run(number: int) -> RunContent:
    """Return a run of one of 50 machines: log-normal times in whole ns, with stragglers; the run itself varies, too."""
    machine, rng = number // RUNS_OF_A_MACHINE, np.random.default_rng([20261121, number])
    of_machine = np.random.default_rng([7, machine])
    rows = Rows()
    for place, op in enumerate(names()):
        latency, gap = of_machine.uniform(2e3, 2e4), of_machine.uniform(0.1, 1.0)
        centre = (latency * (1 + 0.1 * place) + gap * SIZES) * rng.lognormal(0, 0.03)
        times = centre[:, None] * rng.lognormal(0, 0.08, (POINTS, REPETITIONS))
        times *= np.where(rng.random(times.shape) < 0.01, rng.uniform(2, 10, times.shape), 1.0)
        for size, row in zip(SIZES.tolist(), np.rint(times).astype(np.int64), strict=True):
            rows.add(
                "med",
                op=op,
                pattern="collective",
                metric="time",
                unit="ns",
                role="subject" if op.startswith("MPI_") else "substitute",
                program="simulated",
                x=32,
                p=32,
                msg_By=size,
                seq=len(rows),
                passes=[REPETITIONS],
                raw=row,
            )
    launches = rows.launched("simulated")
    rows.over("p")
    measured = {
        "campaign": f"benchmark{machine}",
        "label": f"benchmark{machine}-r{number % RUNS_OF_A_MACHINE:02d}",
        "machine": f"machine {machine:02d}, simulated",
        "started": "2026-11-21T00:00:00Z",
        "mpi_impl": "MPI",
        "mpi_version": "1.0",
        "nodes": 1,
        "processes_per_node": 32,
        "clock": "simulated",
        "launches": launches,
    }
    return RunContent.of(measured, {"notes": "simulated by benchmarks/store.py"}, rows.table())


def file(path: str, number: int) -> int:
    content = encoded(run := simulated_run(number))
    sk.store.open(path).folder.add(run.run_id, content)
    return len(content)


def small_run(number: int) -> RunContent:
    """Return a run of 2 operations with 20 points and 20 repetitions each."""
    rows, rng = Rows(), np.random.default_rng(number)
    for op in OPERATIONS[:2]:
        for size in SIZES.tolist():
            raw = rng.lognormal(9, 0.1, 20).astype(np.int64)
            facts = {"op": op, "pattern": "collective", "metric": "time", "unit": "ns", "program": "simulated", "x": 32, "p": 32}
            rows.add("med", **facts, msg_By=size, seq=len(rows), passes=[20], raw=raw)
    launches = rows.launched("simulated")
    rows.over("p")
    measured = {"machine": f"machine {number}", "started": "2026-11-21T00:00:00Z", "clock": "simulated", "launches": launches}
    return RunContent.of(measured, {}, rows.table())


def index_generated(store: sk.store.Store, first: int, last: int) -> None:
    """Fill a store and its index up to a number of runs: rows of one run under other names, and links to its file."""
    import pyarrow as pa

    folder, run = store.folder, small_run(first)
    folder.add(run.run_id, encoded(run))
    source = folder.runs / f"{run.run_id}.parquet"
    runs, points, _ = index_read(folder, {run.run_id: folder.stamps()[run.run_id]})
    segments, there = segments_of(folder.index), folder.stamps()
    for begin in range(first + 1, last, FULL):
        numbers = range(begin, min(begin + FULL, last))
        names = {
            "run_id": [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in numbers],
            "machine": [f"machine {number // RUNS_OF_A_MACHINE:05d}, simulated" for number in numbers],
        }
        names["platform"] = [f"{machine}, MPI 1.0" for machine in names["machine"]]
        first_file, *others = ((folder.runs / f"{run_id}.parquet") for run_id in names["run_id"])
        shutil.copy2(source, first_file)
        for other in others:
            os.link(first_file, other)
        status = first_file.stat()
        names["stamp"] = [f"{status.st_size}:{status.st_mtime_ns}"] * len(numbers)
        there |= dict(zip(names["run_id"], names["stamp"], strict=True))
        tables = []
        for table in (runs, points):
            rows = np.tile(np.arange(len(table)), len(numbers))
            of = np.repeat(np.arange(len(numbers)), len(table))
            many = table.take(rows)
            for name in names.keys() & set(table.column_names):
                column = pa.array(names[name], pa.string()).take(pa.array(of))
                many = many.set_column(many.schema.get_field_index(name), name, column)
            tables.append(many)
        segments = add_segment(folder, segments, there, *tables)


def bytes_of(store: sk.store.Store) -> int:
    return sum(one.stat().st_size for one in store.folder.index.rglob("*.parquet"))


def one_more(store: sk.store.Store, first: int, last: int) -> dict[str, float]:
    """Return what the index writes, and how long the next question takes, after each of some runs that are filed one by one."""
    seen, written, took = {one.name for one in store.folder.index.iterdir()}, [], []
    for number in range(first, last):
        run = small_run(number)
        store.folder.add(run.run_id, encoded(run))
        begin = time.process_time()
        store.runs(machine="nowhere")
        took.append(time.process_time() - begin)
        now = {one.name: one for one in store.folder.index.iterdir() if one.is_dir()}
        written.append(sum(part.stat().st_size for name in now.keys() - seen for part in now[name].iterdir()))
        seen |= set(now)
    return {
        "index_written_mean_MB": float(np.mean(written)) / 1e6,
        "index_written_most_MB": max(written) / 1e6,
        "next_question_median_cpu_s": float(np.median(took)),
        "next_question_most_cpu_s": max(took),
    }


def growth(path: Path, numbers: list[int], more: int = 40) -> dict[str, object]:
    """Return what opening takes as a store grows, and what filing a run writes into the index."""
    found, there = [], 0
    store = sk.store.open(path)
    for runs in numbers:
        index_generated(store, there, runs)
        command = [sys.executable, "-c", OPENED, str(path)]
        told = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(3)]
        opened = min(told, key=lambda words: float(words[2]))
        facts = {
            "runs": int(opened[0]),
            "load": os.getloadavg()[0],
            "open_s": float(opened[1]),
            "open_cpu_s": float(opened[2]),
            "then_one_operation_of_one_machine_s": float(opened[4]),
            "segments": len(segments_of(store.folder.index)),
            "index_MB": bytes_of(store) / 1e6,
        }
        found.append({**facts, "a_run_more": one_more(store, runs + 10_000_000, runs + 10_000_000 + more)})
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
        there = runs + more
    small = [one for one in found if one["runs"] <= BAR_RUNS // 2]
    line = np.polyfit([one["runs"] for one in small], [one["open_cpu_s"] for one in small], 1)
    return {
        "measured": found,
        "extrapolated_from_those_below_half": {"runs": BAR_RUNS, "open_cpu_s": float(np.polyval(line, BAR_RUNS))},
        "bar_s": BAR_OPEN_S,
    }


def best(work: Callable[[], object], times: int = 7) -> dict[str, float]:
    """Return the shortest time of several, and the processor time of it, which other programs disturb less."""
    found = []
    for _ in range(times):
        begin, used = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - begin, time.process_time() - used))
    wall, cpu = min(found)
    return {"s": round(wall, 4), "cpu_s": round(cpu, 4)}


def filled(path: Path, runs: int) -> sk.store.Store:
    """Return the store of simulated runs at a path: made, or as it is if it has so many runs."""
    store = sk.store.open(path)
    if len(store) < runs:
        with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(file, [str(path)] * runs, range(runs), chunksize=10))
    return store


def size_and_speed(path: Path, runs: int) -> dict[str, object]:
    begin = time.perf_counter()
    store = filled(path, runs)
    made_s = time.perf_counter() - begin
    stored = sum(one.stat().st_size for one in store.folder.runs.iterdir())
    raw = runs * SUITES * POINTS * REPETITIONS * 8
    shutil.rmtree(store.folder.index, ignore_errors=True)
    index = best(lambda: sk.store.open(path).runs(), 1)  # reads every run
    chosen = {"op": "MPI_Gather", "metric": "time"}
    columns = ("run_id", "platform", "x", "med", "q1", "q3")
    cold = best(lambda: sk.store.open(path).arrays(columns, chosen))
    store.advise("MPI_Gather")
    run_id = store.folder.run_ids()[0]
    return {
        "runs": runs,
        "load": os.getloadavg()[0],
        "raw_MB": raw / 1e6,
        "stored_MB": stored / 1e6,
        "share": stored / raw,
        "index_MB": bytes_of(store) / 1e6,
        "made_s": made_s,
        "index": index,
        "joint_of_a_store_just_opened": cold,
        "joint": best(lambda: store.arrays(columns, chosen)),
        "points": len(store.arrays(("x",), chosen)["x"]),
        "advise": best(lambda: store.advise("MPI_Gather")),
        "advise_one_machine": best(lambda: store.advise("MPI_Gather", machine="machine 00*")),
        "list_runs": best(store.runs),
        "list_suites_of_a_run": best(lambda: store.suites(run=run_id)),
        "raw_of_one_point_of_a_run": best(lambda: store.load(run=run_id, op="MPI_Gather", p=32, msg_By=1024)),
    }


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(WORKER), *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def together(path: Path, writers: int = 8, readers: int = 4, runs: int = 200) -> dict[str, object]:
    begin, each = time.perf_counter(), runs // writers
    readings = [start("read", path, runs) for _ in range(readers)]
    writings = [start("write", path, k * each, (k + 1) * each) for k in range(writers)]
    told = [line.split()[1] for process in writings for line in process.communicate()[0].splitlines()]
    said = [process.communicate()[0] for process in readings]
    store = sk.store.open(path)
    return {
        "writers": writers,
        "readers": readers,
        "runs": runs,
        "lost": runs - len(set(told) & set(store.folder.run_ids())),
        "failed_writers": sum(process.returncode != 0 for process in writings),
        "failed_or_torn_reads": sum(process.returncode != 0 for process in readings) + sum(map(bool, said)),
        "unreadable": len(store.problems),
        "points_missing": runs * 20 - len(store.points()),
        "seconds": time.perf_counter() - begin,
    }


def killed(path: Path, rounds: int = 100) -> dict[str, object]:
    rng, told = random.Random(20261121), set()
    sk.store.open(path)
    orphans = 0
    for number in range(rounds):
        process = start("write", path, number * 1000, number * 1000 + 1000)
        assert process.stdout is not None
        told.add(process.stdout.readline().split()[1])
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        told |= {line.split()[1] for line in out.splitlines() if len(line.split()) == 2 and len(line.split()[1]) == 32}
        orphans += len(list((path / "tmp").iterdir()))
        sk.store.open(path)
    store = sk.store.open(path)
    there = set(store.folder.run_ids())
    torn = 0
    for run_id in there:
        record, table = decoded((store.folder.runs / f"{run_id}.parquet"), run_id)
        torn += content_id(record["measured"], table) != run_id
    return {
        "kills": rounds,
        "runs": len(there),
        "lost": len(told - there),
        "half_visible": torn + len(store.problems),
        "orphans_found": orphans,
        "orphans_left": len(list((path / "tmp").iterdir())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", choices=("size", "together", "kill", "growth"))
    parser.add_argument("--grown", default="1000,10000,30000,100000", metavar="N,N,...", help="numbers of runs for growth")
    parser.add_argument(
        "--store", metavar="FOLDER", help="make the store of simulated runs here and keep it, or measure the one that is there"
    )
    args = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="scalkit-benchmark-"))
    found: dict[str, object] = {"bars": BARS}
    try:
        simulated = Path(args.store or scratch / "size")
        if args.only in (None, "size"):
            found["size_and_speed"] = size_and_speed(simulated, args.runs)
        if args.only in (None, "growth"):
            found["growth"] = growth(scratch / "growth", [int(one) for one in args.grown.split(",")])
        if args.only in (None, "together"):
            found["together"] = together(scratch / "together")
        if args.only in (None, "kill"):
            found["kill"] = killed(scratch / "kill")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
