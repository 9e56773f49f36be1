"""Times the timeline of simulated traces: opening it, and zooms and pans, in Python and in Chromium; beside reading all records.

Traces are made at random: locations get from others, complete that with a flush, put, and meet at barriers now and then. A record
is a call or a transfer, so that each call counts once, not for its begin and its end. A zoom in Chromium is a turn of the wheel,
and ends when the picture of the new window is on the screen; until then the old one is stretched. Peers: plotly's heatmap in the
same page, drawn anew from the same rasters, and a timeline that bins all records each time.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.trace.files.builder import write_header, write_location
from scalkit.trace.files.tables import GET, PUT, Columns
from scalkit.trace.views.raster import amounts, largest
from scalkit.trace.views.timeline import Timeline

CALLS = ("MPI_Get", "MPI_Win_flush", "MPI_Put", "MPI_Win_flush", "MPI_Barrier")
REGIONS = sorted(set(CALLS))
EACH = 10  # turns between barriers


def make_location(folder: Path, location: int, locations: int, turns: int, seed: int) -> int:
    """Write a location with so many turns of get, flush, put, flush; return its records."""
    rng, shared = np.random.default_rng([seed, location]), np.random.default_rng([seed, locations, turns])
    turns -= turns % EACH
    n = turns * 4 + turns // EACH
    path = np.concatenate([np.tile([1, 2, 3, 4], EACH), [5]])
    path = np.tile(path, turns // EACH)
    gaps = rng.integers(100, 2000, n) * np.repeat(shared.integers(1, 6, turns // EACH), 4 * EACH + 1)
    lengths = np.where(path % 2 == 1, rng.integers(40, 80, n), rng.integers(200, 6000, n))
    leave = np.cumsum(gaps + lengths)
    enter = leave - lengths
    number = np.arange(n)
    target = rng.integers(0, locations, n)
    target[path == 2], target[path == 4] = target[path == 1], target[path == 3]
    calls: Columns = {
        "enter": enter,
        "leave": leave,
        "number": number,
        "path": path,
        "scope": np.where(path == 5, 0, 1),
        "peer": np.where(path == 5, -1, target),
    }
    posts = np.flatnonzero((path == 1) | (path == 3))
    one = np.ones(len(posts), dtype=np.int64)
    transfers: Columns = {"bytes": 8 * one, "call": number[posts], "order": number[posts]}
    transfers |= {"kind": np.where(path[posts] == 1, GET, PUT), "scope": one, "peer": target[posts], "tag": 0 * one}
    definitions = {
        "regions": [[k, name] for k, name in enumerate(REGIONS)],
        "paths": [[k + 1, 0, REGIONS.index(name), -1] for k, name in enumerate(CALLS)],
        "scopes": [[0, "communicator", 0, 0, locations, location, "world"], [1, "window", 0, 1, locations, location, ""]],
    }
    definitions["paths"][3] = [4, 0, REGIONS.index("MPI_Win_flush"), 0]
    definitions["sites"] = [[0, "after the put"]]
    write_location(folder, location, {"calls": calls, "transfers": transfers}, definitions)
    return n + len(posts)


def windows(span: int, n: int, seed: int) -> list[tuple[int, int]]:
    """Return windows of random lengths, from the whole trace to a millionth of it, anywhere."""
    rng = np.random.default_rng(seed)
    found = []
    for length in (span * 10 ** rng.uniform(-6, 0, n)).astype(np.int64):
        begin = int(rng.integers(0, max(1, span - length)))
        found.append((begin, begin + int(max(length, 100))))
    return found


def in_python(timeline: Timeline, n: int, seed: int) -> dict[str, float]:
    """Return the time of a window as the widget asks for it: bars if few records are in it, else a raster."""
    times, used, bars = [], [], 0
    for begin, end in windows(timeline.span, n, seed):
        start, cpu = time.perf_counter(), time.process_time()
        found = timeline.bars(begin, end)
        if found is None:
            timeline.raster(begin, end, 1200, rows=480)
        bars += found is not None
        times.append(time.perf_counter() - start)
        used.append(time.process_time() - cpu)
    return {"median_ms": 1e3 * float(np.median(times)), "p95_ms": 1e3 * float(np.quantile(times, 0.95)),
            "most_ms": 1e3 * max(times), "p95_of_a_core_ms": 1e3 * float(np.quantile(used, 0.95)), "bars": bars}  # fmt: skip


def from_all_records(timeline: Timeline, n: int, seed: int) -> dict[str, float]:
    """Return the time of a raster made of all records each time, as without an index."""
    times = []
    steps, kind_of = timeline._index.steps, np.array(timeline.class_of_path)
    begins, ends = steps.columns["begin"], steps.columns["end"]
    for begin, end in windows(timeline.span, n, seed):
        start = time.perf_counter()
        row = np.repeat(np.arange(timeline.locations), np.diff(steps.offsets))
        kind = kind_of[steps.columns["path"]]
        bits = max(0, (-(-(end - begin) // 512) - 1).bit_length())
        inside = (ends > begin) & (begins < end)
        low, high = np.maximum(begins[inside] - begin, 0), np.minimum(ends[inside], end) - begin
        columns = ((end - begin - 1) >> bits) + 1
        shape = (len(timeline.classes), timeline.locations, columns)
        largest(amounts(low, high, row[inside], kind[inside], shape, bits))
        times.append(time.perf_counter() - start)
    return {"median_ms": 1e3 * float(np.median(times)), "p95_ms": 1e3 * float(np.quantile(times, 0.95))}


def memory_mb() -> float:
    """Return what this process holds that is no file, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(locations: int, records: int, args: argparse.Namespace) -> dict[str, Any]:
    """Make a trace, open it, look at windows."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_header(folder, locations, simulated=True)
        turns = int(records / locations / 6.1)
        made_records = sum(make_location(folder, one, locations, turns, args.seed) for one in range(locations))
        row: dict[str, Any] = {"locations": locations, "records": made_records}
        row["trace_MB"] = sum(path.stat().st_size for path in folder.glob("*.sktrace")) / 2**20
        start = time.perf_counter()
        timeline = Timeline(folder)
        row["open_s"] = time.perf_counter() - start
        before = memory_mb()
        row |= {f"python_{key}": value for key, value in in_python(timeline, args.windows, args.seed).items()}
        row["memory_of_windows_MB"] = memory_mb() - before
        if not args.no_peers:
            peer = from_all_records(timeline, max(3, args.windows // 40), args.seed)
            row |= {f"all_records_{key}": value for key, value in peer.items()}
        if not args.no_browser:
            from timeline_browser import in_browser

            row |= in_browser(timeline, args.gestures, not args.no_peers)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locations", type=int, nargs="+", default=[64, 1024])
    parser.add_argument("--records", type=float, default=1e7, help="calls and transfers of all locations")
    parser.add_argument("--windows", type=int, default=200, help="random ones, in Python")
    parser.add_argument("--gestures", type=int, default=40, help="zooms and pans in Chromium")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    rows = []
    for locations in args.locations:
        rows.append(measured(locations, int(args.records), args))
        if not args.json:
            shown = (f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in rows[-1].items())
            print("simulated: " + "  ".join(shown), flush=True)
    if args.json:
        print(json.dumps({"simulated": True, "rows": rows}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
