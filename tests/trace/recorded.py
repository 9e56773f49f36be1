"""Calls of a recorded trace as the oracle takes them: waits of a real run follow from its times.

How long somebody waits in a real run depends on what else the machine does. That the analysis finds
the waits that the time stamps of the same trace give does not.
"""

from __future__ import annotations

from collections import Counter

import oracle
import xarray as xr
from random_traces import Call

from scalkit.trace.files.tables import BLOCKING, OPERATIONS
from scalkit.trace.local.part import LocalTrace

KNOWN_AS = {
    "MPI_Win_allocate": "MPI_Win_create",
    "MPI_Neighbor_allgather": "MPI_Neighbor_alltoall",
    "MPI_Ineighbor_allgather": "MPI_Ineighbor_alltoall",
}
"""Functions whose waits are those of another one, which the oracle knows."""

_WAITS = ("late_sender", "late_receiver", "late_broadcast", "early_reduce")
FOR_OTHERS = tuple({*_WAITS, *oracle.SOME.values(), *oracle.MEETINGS.values()})
"""Metrics of `waits_for_others`."""

FOR_TARGETS = ("wait_for_progress", "without_progress")
"""Metrics of `waits_for_targets`."""


def calls_of(trace: LocalTrace) -> list[list[Call]]:
    """Return the calls of every location in the order of their begin, by names that the oracle knows."""
    columns = (trace.calls[name].tolist() for name in ("location", "path", "enter", "leave", "scope", "peer"))
    made = []
    for location, path, enter, leave, scope, peer in zip(*columns, strict=True):
        name = trace.definitions.region(path)
        is_window = scope >= 0 and trace.definitions.scopes[scope].is_window
        call = Call(location, KNOWN_AS.get(name, name), enter, leave, int(is_window), peer)
        if "eighbor_" in name:
            call.group = tuple(trace.groups[location][peer])
        made.append(call)
    columns = (trace.transfers[name].tolist() for name in ("call", "done", "kind", "peer", "tag"))
    for posting, done, kind, peer, tag in zip(*columns, strict=True):
        made[posting].transfers.append((OPERATIONS[kind & 0xFF], peer, tag))
        made[posting].is_blocking |= bool(kind & BLOCKING)
        if done not in (-1, posting):
            made[done].ends.append(made[posting])
    for table in (trace.collectives, trace.landings):
        for begin, done in zip(table["call"].tolist(), table["done"].tolist(), strict=True):
            if done >= 0:
                made[done].ends.append(made[begin])
    return [made[begin:end] for begin, end in zip(trace.begins, [*trace.begins[1:], len(made)], strict=True)]


def waits_for_others(trace: LocalTrace) -> Counter[tuple[str, int]]:
    """Return the waits in messages and collective operations, by metric and location, in ns."""
    everything = calls_of(trace)
    return +(oracle.messages(everything) + oracle.collectives(everything))


def waits_for_targets(trace: LocalTrace) -> Counter[tuple[str, int]]:
    """Return the waits for progress of calls with one target, in ns, and the number without progress.

    The oracle itself counts each ns, which takes too long for a real run.
    """
    everything = calls_of(trace)
    spans = [oracle.progress(calls, ()) for calls in everything]
    found: Counter[tuple[str, int]] = Counter()
    for calls in everything:
        for call, posted in oracle.requests(calls):
            ((target, since),) = posted.items()
            begin = next((begin for begin, end in spans[target] if end >= since), None)
            if begin is None or begin > call.leave:
                found["without_progress", call.location] += 1
            else:
                found["wait_for_progress", call.location] += max(0, begin - call.enter)
    return +found


def analysed(ds: xr.Dataset, metrics: tuple[str, ...]) -> Counter[tuple[str, int]]:
    """Return the same of what the analysis found."""
    found: Counter[tuple[str, int]] = Counter()
    for metric in metrics:
        for location, value in enumerate(ds["severity"].sel(metric=metric).sum("path").values.tolist()):
            found[metric, location] = value
    return +found
