"""Writes a trace as JSON of Chrome's trace events, which Perfetto and chrome://tracing show."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from scalkit.errors import DataError
from scalkit.trace.files.tables import OPERATIONS, RECEIVE, SEND
from scalkit.trace.local.arrays import extent
from scalkit.trace.local.part import LocalTrace, load
from scalkit.trace.results.summary import TITLES, WAITS
from scalkit.trace.waits.each_wait import each_wait
from scalkit.trace.waits.messages import messages_of

Event = dict[str, Any]


def write_perfetto(folder: str | os.PathLike[str], file: str | os.PathLike[str], *, keep_going: bool = False) -> dict[str, int]:
    """Write a trace as one JSON file; returns how many calls, waits and messages stand in it.

    A process is a location, and its calls and regions are slices of it. The waiting of a call is a slice within it, from its
    begin on, which says for what; an arrow goes from each send to its receive. Times are in µs, to the ns.

    `folder`: of the trace. `file`: what is written. `keep_going`: leave out what is wrong with the trace.
    Raises DataError if there is no trace, something is wrong with it, or the file cannot be written.
    """
    trace = load(folder, keep_going=keep_going)
    found = {"calls": len(trace.calls["enter"]), "waits": 0, "messages": 0}
    try:
        with Path(file).open("w", encoding="utf-8") as stream:
            stream.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
            separator = ""
            for event in _events(trace, found):
                stream.write(separator + json.dumps(event))
                separator = ",\n"
            stream.write("\n]}\n")
    except OSError as error:
        raise DataError(f"cannot write {file}: {error.strerror or error}; choose another file.") from error
    return found


def _events(trace: LocalTrace, found: dict[str, int]) -> Iterator[Event]:
    kind = "simulated process" if trace.header.is_simulated else "process"
    for location in range(trace.header.locations):
        yield {"ph": "M", "name": "process_name", "pid": location, "tid": 0, "args": {"name": f"{kind} {location}"}}
    begin, _ = extent(trace.calls["enter"], trace.marks["time"])
    yield from _marks(trace, begin)
    yield from _calls(trace, begin, found)
    for number, (sent, received) in enumerate(_messages(trace)):
        found["messages"] += 1
        for place, way, time in ((sent, "s", "enter"), (received, "f", "leave")):
            at = int(trace.calls["location"][place])
            event = {"ph": way, "id": number, "cat": "message", "name": "message", "pid": at, "tid": 0}
            yield event | {"ts": (int(trace.calls[time][place]) - begin) / 1000} | ({"bp": "e"} if way == "f" else {})


def _marks(trace: LocalTrace, begin: int) -> Iterator[Event]:
    """Yield the regions of the user; those within are before their calls, so that slices lie in each other."""
    columns = (trace.marks[name].tolist() for name in ("location", "time", "entered", "own"))
    for location, time, entered, own in zip(*columns, strict=True):
        name = trace.definitions.region(own)
        yield {"ph": "B" if entered >= 0 else "E", "name": name, "pid": location, "tid": 0, "ts": (time - begin) / 1000}


def _calls(trace: LocalTrace, begin: int, found: dict[str, int]) -> Iterator[Event]:
    waits = each_wait(trace)
    moved = _moved(trace)
    sites = [path[-1] if path else ("program", "") for path in trace.definitions.paths]
    columns = (trace.calls[name].tolist() for name in ("location", "enter", "leave", "path"))
    each = zip(*columns, waits.wait.tolist(), waits.metric.tolist(), strict=True)
    for place, (location, enter, leave, path, wait, metric) in enumerate(each):
        name, site = sites[path]
        args = ({"site": site} if site else {}) | moved.get(place, {})
        slice_ = {"ph": "X", "pid": location, "tid": 0, "ts": (enter - begin) / 1000}
        yield slice_ | {"name": name, "cat": "call", "dur": (leave - enter) / 1000, "args": args}
        if wait > 0:
            found["waits"] += 1
            yield slice_ | {"name": TITLES[WAITS[metric]], "cat": "wait", "dur": wait / 1000}


def _moved(trace: LocalTrace) -> dict[int, Event]:
    """Return what each call transferred; of several transfers of a call, their number and all bytes."""
    columns = (trace.transfers[name].tolist() for name in ("call", "kind", "bytes", "scope", "peer"))
    found: dict[int, Event] = {}
    for call, kind, size, scope, peer in zip(*columns, strict=True):
        if call in found:
            found[call]["bytes"] += size
            found[call]["transfers"] = found[call].get("transfers", 1) + 1
        else:
            to = int(trace.definitions.scopes[scope].members[peer])
            found[call] = {"transfer": OPERATIONS[kind & 0xFF], "bytes": size, "peer": to}
    return found


def _messages(trace: LocalTrace) -> Iterator[tuple[int, int]]:
    """Yield the places of the calls that sent, and that completed the receive of, each message."""
    keys = ("scope", "target", "source", "tag", "ordinal")
    sends, receives = (messages_of(trace, kind) for kind in (SEND, RECEIVE))
    sent_rows, received_rows = (pd.MultiIndex.from_arrays([one[name] for name in keys]) for one in (sends, receives))
    place = received_rows.get_indexer(sent_rows)
    for sent, row in zip(sends["call"].tolist(), place.tolist(), strict=True):
        if row >= 0 and (done := int(receives["done"][row])) >= 0:
            yield sent, done
