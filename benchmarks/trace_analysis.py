"""Times the analysis of simulated traces: requests a second with one target and with several, uniform and to one hot target.

Traces are made at random: each location gets from others and completes with a flush, or puts to several and completes with a
flush of all. What is timed is what `scalkit trace analyse` does, from the files on. Start it under mpiexec to share the work.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.cli.terminal.ranks import launched
from scalkit.trace.analysis import analyse
from scalkit.trace.files.builder import write_header, write_location
from scalkit.trace.files.tables import GET, Columns
from scalkit.trace.local.arrays import find_frame
from scalkit.trace.local.part import load
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.options import Options
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.progress_waits import Analysis, wait_for_progress
from scalkit.trace.waits.surroundings import Surroundings


def make_location(folder: Path, location: int, locations: int, n: int, several: int, hot: float, seed: int) -> int:
    """Write a location with `n` completing calls, each for `several` operations; return the bytes."""
    rng = np.random.default_rng([seed, location])
    per = several + 1
    gaps = rng.integers(100, 2000, (n, per))
    lengths = np.full((n, per), 50, dtype=np.int64)
    lengths[:, -1] = rng.integers(200, 3000, n)
    leave = np.cumsum(gaps + lengths).reshape(n, per)
    target = rng.integers(0, locations, (n, several))
    target[rng.random((n, several)) < hot] = 0
    number = np.arange(n * per, dtype=np.int64).reshape(n, per)
    peer = np.concatenate([target, target[:, -1:] if several == 1 else np.full((n, 1), -1)], axis=1)
    path = np.where(np.arange(per) < several, 1, 2)
    calls: Columns = {
        "enter": (leave - lengths).ravel(),
        "leave": leave.ravel(),
        "number": number.ravel(),
        "path": np.broadcast_to(path, (n, per)).ravel(),
        "scope": np.ones(n * per, dtype=np.int64),
        "peer": peer.ravel(),
    }
    posted = number[:, :several].ravel()
    one = np.ones(len(posted), dtype=np.int64)
    transfers: Columns = {"bytes": 8 * one, "call": posted, "order": posted, "kind": GET * one}
    transfers |= {"scope": one, "peer": target.ravel(), "tag": 0 * one}
    flush = "MPI_Win_flush" if several == 1 else "MPI_Win_flush_all"
    definitions = {
        "regions": [[0, "MPI_Get"], [1, flush]],
        "paths": [[1, 0, 0, -1], [2, 0, 1, -1]],
        "scopes": [[1, "window", 0, 1, locations, location, ""]],
    }
    write_location(folder, location, {"calls": calls, "transfers": transfers}, definitions)
    return sum(values.nbytes for table in (calls, transfers) for values in table.values())


def memory(field: str, *, reset: bool = False) -> int:
    """Return what the kernel says of this process, in bytes; with `reset`, its largest size counts from now on."""
    if reset:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def local_files(ranks: Ranks, folder: Path) -> list[Path]:
    """Return the files that this process analyses."""
    files = sorted(folder.glob("*.sktrace"))
    first, end = (-(-one * len(files) // ranks.size) for one in (ranks.rank, ranks.rank + 1))
    return files[first:end]


def timed(ranks: Ranks, folder: Path, requests: int, chunk: int, causes: bool) -> dict[str, Any]:
    """Return the speed of the whole analysis, and of Wait for Progress alone when the trace is in memory."""
    alone = time_of_the_exchange(ranks, folder, chunk)
    before = memory("VmRSS", reset=True)
    wall, cpu = time.perf_counter(), time.process_time()
    ds = analyse(folder, Options(chunk=chunk), comm=ranks.comm, causes=causes)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    used = memory("VmHWM") - before
    local = sum(path.stat().st_size for path in local_files(ranks, folder))
    worst = max(ranks.gather((used / local, used, local)))
    spent = sum(ranks.gather(cpu))
    return {
        "requests": requests,
        "wall_s": wall,
        "requests_per_s": requests / wall,
        "requests_per_cpu_s": requests / spent,
        "exchange_per_s": requests / alone[0],
        "exchange_per_cpu_s": requests / alone[1],
        "memory_MB": worst[1] / 2**20,
        "local_trace_MB": worst[2] / 2**20,
        "chunk_MB": chunk * 6 * 8 / 2**20,
        "memory_over_trace": worst[0],
        "wait_ns": int(ds["severity"].sel(metric="wait_for_progress").sum()),
    }


def time_of_the_exchange(ranks: Ranks, folder: Path, chunk: int) -> tuple[float, float]:
    """Return the time of Wait for Progress, and what all processes together used of their cores, in s."""
    trace = load(folder, ranks)
    frame = find_frame(trace, ranks)
    waits = Waits(trace.header.locations, len(trace.definitions.paths))
    analysis = Analysis(trace, ranks, Options(chunk=chunk), frame, Surroundings(frame, trace), waits)
    ranks.gather(None)
    wall, cpu = time.perf_counter(), time.process_time()
    wait_for_progress(analysis)
    spent = sum(ranks.gather(time.process_time() - cpu))
    return time.perf_counter() - wall, spent


def from_otf2(locations: int, requests: int, chunk: int) -> dict[str, Any]:
    """Return the speed of reading an archive, of analysing what was read, and of both together."""
    from scalkit.trace.files.otf2 import read_otf2, write_otf2

    with tempfile.TemporaryDirectory() as made:
        plain, archive, back = (Path(made) / name for name in ("plain", "archive", "back"))
        write_header(plain, locations, simulated=True)
        for one in range(locations):
            make_location(plain, one, locations, requests // locations, 1, 0.0, seed=1)
        begin = time.perf_counter()
        events = write_otf2(plain, archive)
        written = time.perf_counter() - begin
        begin, cpu = time.perf_counter(), sum(os.times()[:4])
        read_otf2(archive / "traces.otf2", back)
        read = time.perf_counter() - begin
        ds = analyse(back, Options(chunk=chunk), causes=False)
        wall, cpu = time.perf_counter() - begin, sum(os.times()[:4]) - cpu
        same = int(ds["severity"].sel(metric="wait_for_progress").sum())
    n = requests // locations * locations
    return {
        "requests": n,
        "events": events,
        "written_events_per_s": events / written,
        "read_events_per_s": events / read,
        "read_requests_per_s": n / read,
        "requests_per_s": n / wall,
        "requests_per_cpu_s": n / cpu,
        "wait_ns": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locations", type=int, default=64)
    parser.add_argument("--requests", type=int, default=2_000_000, help="of all locations")
    parser.add_argument("--several", type=int, default=4, help="targets of a call with several")
    parser.add_argument("--chunk", type=int, default=1 << 16)
    parser.add_argument("--causes", action="store_true", help="critical path and delay costs, too")
    parser.add_argument("--only", choices=("one", "hot", "several", "otf2"))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    ranks = Ranks()
    if launched() is not None:
        from mpi4py import MPI

        ranks = Ranks(MPI.COMM_WORLD)
    found = {}
    if args.only in (None, "otf2") and ranks.size == 1:
        found["otf2"] = from_otf2(args.locations, args.requests, args.chunk)
    for name, several, hot in (("one", 1, 0.0), ("hot", 1, 0.9), ("several", args.several, 0.0)):
        if args.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(ranks.gather(made)[0])
            n = args.requests // args.locations // several
            if ranks.rank == 0:
                write_header(folder, args.locations, simulated=True)
            sizes = [
                make_location(folder, one, args.locations, n, several, hot, seed=1)
                for one in range(ranks.rank, args.locations, ranks.size)
            ]
            total = sum(sum(part) for part in ranks.gather(sizes))
            del sizes
            requests = n * several * args.locations
            found[name] = timed(ranks, folder, requests, args.chunk, args.causes)
            found[name]["trace_MB"] = total / 2**20
            ranks.gather(None)
    if ranks.rank == 0:
        if args.json:
            print(json.dumps(found))
        for name, row in {} if args.json else found.items():
            print(f"simulated, {name:8}" + "".join(f"  {key} {value:.4g}" for key, value in row.items()))


if __name__ == "__main__":
    main()
