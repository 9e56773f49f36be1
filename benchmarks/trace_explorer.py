"""Times what the explorer of waits does in the kernel when something is chosen, on a made-up result of many processes.

A reaction is timed from the message of the page until all parts hold what they show, and so is what they send. Values are made
up at random, with a seed; call paths are a tree of `--paths` in which each has a few below it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import comm
import numpy as np
import xarray as xr
from comm.base_comm import BaseComm

from scalkit.trace.results.dataset import CAUSES, TRAFFIC
from scalkit.trace.results.summary import FACTS, WAITS
from scalkit.widgets import TraceExplorer


def made_up(locations: int, paths: int, partners: int, seed: int) -> xr.Dataset:
    """Return a result at random: a tenth of all call paths wait, each location for `partners` others in every metric."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *((k - 1) // 3 for k in range(1, paths))])
    names = ["program"]
    for k in range(1, paths):
        names.append(f"{names[parents[k]]}/region_{k:04d}@library+0x{64 * k:x}")
    severity = rng.integers(0, 1_000_000, (len(FACTS), paths, locations))
    waits = [list(FACTS).index(name) for name in WAITS]
    severity[np.ix_(waits, np.flatnonzero(rng.random(paths) < 0.9))] = 0
    metric, location, by = (one.ravel() for one in np.meshgrid(waits, range(locations), range(partners), indexing="ij"))
    by = (location + 1 + by * 7) % locations
    n = len(by)
    causes = (metric, location, by, rng.integers(0, paths, n), rng.integers(1, 1_000_000, n))
    origin, peer = (one.ravel() for one in np.meshgrid(range(locations), range(partners), indexing="ij"))
    peer = (origin + 1 + peer * 7) % locations
    traffic = (origin, peer, *(rng.integers(1, 1000, len(peer)) for _ in range(4)))
    return xr.Dataset(
        {
            "severity": (("metric", "path", "location"), severity),
            "unit": ("metric", [one.unit for one in FACTS.values()]),
            "path_name": ("path", names),
            "region": ("path", ["program", *(f"region_{k:04d}" for k in range(1, paths))]),
            "parent": ("path", parents),
            **{name: ("cause", column) for name, column in zip(CAUSES, causes, strict=True)},
            **{name: ("traffic", column) for name, column in zip(TRAFFIC, traffic, strict=True)},
        },
        coords={"metric": list(FACTS), "path": np.arange(paths), "location": np.arange(locations)},
        attrs={"format": "scalkit trace analysis", "simulated": 1, "problems": "[]"},
    )


class Counting(BaseComm):
    """A connection to a page that only counts what is sent."""

    sent = 0

    def publish_msg(self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any) -> None:
        Counting.sent += len(json.dumps(data))


def timed(action: Callable[[], object], repeat: int) -> dict[str, float]:
    """Return median and largest ms of an action, and the bytes that were sent for the last one."""
    found = []
    for _ in range(repeat):
        Counting.sent = 0
        begin = time.perf_counter()
        action()
        found.append(1e3 * (time.perf_counter() - begin))
    return {"median_ms": round(float(np.median(found)), 1), "max_ms": round(max(found), 1), "bytes": Counting.sent}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locations", type=int, default=1024)
    parser.add_argument("--paths", type=int, default=300)
    parser.add_argument("--partners", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=7)
    args = parser.parse_args()
    comm.create_comm = lambda **options: Counting(**options)
    ds = made_up(args.locations, args.paths, args.partners, args.seed)
    begin = time.perf_counter()
    explorer = TraceExplorer(ds)
    found: dict[str, Any] = {"made up": vars(args), "causes": int(ds.sizes["cause"])}
    found["start_ms"] = round(1e3 * (time.perf_counter() - begin), 1)

    def press(part: Any, name: str, *values: dict[str, str]) -> None:
        turn = iter(range(1 << 30))

        def action() -> None:
            content = {"name": name, "value": values[next(turn) % len(values)] if values else {}}
            part._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})

        label = f"{type(part).__name__} {name}"
        found[label if label not in found else f"{label}, all unfolded"] = timed(action, args.repeat)

    press(explorer.metrics, "choose", {"key": "waiting"}, {"key": "late_sender"}, {"key": "time"}, {"key": "waiting"})
    press(explorer.paths, "choose", {"key": "0"}, {"key": "1"})
    press(explorer.paths, "all")
    press(explorer.paths, "fold", {"key": "1"})
    press(explorer.paths, "hottest")
    press(explorer.paths, "search", {"text": "region_02"}, {"text": ""})
    press(explorer.paths, "all")
    press(explorer.metrics, "choose", {"key": "waiting"}, {"key": "late_sender"}, {"key": "time"})
    press(explorer.processes, "choose", {"key": "17", "how": "alone"}, {"key": "99", "how": "add"})
    press(explorer.processes, "everyone")
    press(explorer.causes, "by", {"key": "3"}, {"key": "5"})
    press(explorer.pairs, "what", {"key": "bytes"}, {"key": "messages"})
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
