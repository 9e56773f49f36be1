"""Compares the waits for progress that the analysis finds with the truth: when the layer really served each request.

    python benchmarks/srumma_truth.py DIR      a trace over the layer, recorded with the truth beside it

The analysis never sees when a request was served, only when its target was in a call. What it finds must not exceed the truth.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.local.arrays import find_frame
from scalkit.trace.local.part import LocalTrace, load
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.options import Options
from scalkit.trace.waits.progress_waits import wait_for_one
from scalkit.trace.waits.requests import find_progress, find_requests

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class EachRequest:
    """Waits of calls with one target, in order of location and call; all in ns.

    Attributes
    ----------
    location, target : ndarray of int of shape (n,)
    enter, leave, found : ndarray of int of shape (n,)
        Of the completing call, and how long it waited as the analysis has it.
    call : ndarray of int of shape (n,)
        Place of the call in the trace.
    """

    location: Ints
    target: Ints
    enter: Ints
    leave: Ints
    found: Ints
    call: Ints


@dataclass(frozen=True)
class Comparison:
    """Found and true waits of all requests, and the time of the calls that completed them, in ns."""

    requests: int
    found: Ints
    true: Ints
    call_ns: int

    @property
    def gap(self) -> Ints:
        """True less found, of each request."""
        return self.true - self.found

    def to_dict(self) -> dict[str, Any]:
        """Sums in ms, gaps in us."""
        return {
            "requests": self.requests,
            "in_calls_ms": 1e-6 * self.call_ns,
            "found_ms": 1e-6 * int(self.found.sum()),
            "true_ms": 1e-6 * int(self.true.sum()),
            "above_truth": int((self.gap < 0).sum()),
            "least_gap_us": 1e-3 * int(self.gap.min()),
            "median_gap_us": 1e-3 * float(np.median(self.gap)),
            "largest_gap_us": 1e-3 * int(self.gap.max()),
        }


def each_request(folder: Path, options: Options | None = None) -> tuple[LocalTrace, EachRequest]:
    """Return a trace, and what the analysis finds for each call with one target."""
    ranks, options = Ranks(), options or Options()
    trace = load(folder)
    requests = find_requests(trace, options)
    progress = find_progress(trace, find_frame(trace, ranks), options)
    one = requests.is_single
    call, target = requests.call[one], requests.target[one]
    enter, leave = trace.calls["enter"][call], trace.calls["leave"][call]
    found, _ = wait_for_one(enter, leave, progress.first(target, requests.since[one]))
    return trace, EachRequest(trace.calls["location"][call], target, enter, leave, found, call)


def compare(folder: Path, options: Options | None = None) -> Comparison:
    """Return found and true waits of a trace over the layer.

    The true wait of a request is the time from the begin of the call that completes it until its target took it up, at
    most until the end of the call; of several requests to a target the last one counts.
    """
    trace, rows = each_request(folder, options)
    served = _served(folder, trace.header.locations)
    is_rma = ~np.isin(trace.transfers["kind"] & 0xFF, (SEND, RECEIVE))
    posted, done = trace.transfers["call"][is_rma], trace.transfers["done"][is_rma]
    peer = trace.transfers["peer"][is_rma]
    row_of = {pair: k for k, pair in enumerate(zip(rows.call.tolist(), rows.target.tolist(), strict=True))}
    when = np.full(len(rows.call), -1, dtype=np.int64)
    numbers, locations = trace.calls["number"][posted], trace.calls["location"][posted]
    for place, target, origin, number in zip(done.tolist(), peer.tolist(), locations.tolist(), numbers.tolist(), strict=True):
        k = row_of.get((place, target))
        if k is not None:
            when[k] = max(int(when[k]), served[target, origin, number])
    if (when < 0).any():
        raise SystemExit(f"{int((when < 0).sum())} requests were never served; is {folder} a trace over the layer?")
    true = np.clip(when, rows.enter, rows.leave) - rows.enter
    return Comparison(len(when), rows.found, true, int((rows.leave - rows.enter).sum()))


def _served(folder: Path, locations: int) -> dict[tuple[int, int, int], int]:
    """Return when each target took up the request that an origin posted with a call."""
    found = {}
    for target in range(locations):
        path = folder / f"{target:06d}.served"
        if not path.is_file():
            raise SystemExit(f"there is no {path}; record a run over the layer with --truth={folder}.")
        for line in path.read_text(encoding="utf-8").splitlines():
            origin, number, time = map(int, line.split())
            found[target, origin, number] = time
    return found


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    told = compare(Path(sys.argv[1])).to_dict()
    print("\n".join(f"{name:15} {value:.6g}" for name, value in told.items()))
    return 1 if told["above_truth"] else 0


if __name__ == "__main__":
    sys.exit(main())
