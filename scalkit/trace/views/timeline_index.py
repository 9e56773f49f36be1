"""What a timeline is drawn from, made once of a trace: steps, waits, transfers, and when locations are in each class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.files.tables import RECEIVE
from scalkit.trace.local.arrays import Frame, extent
from scalkit.trace.local.joined import PLACE, Table, changes
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.waits.each_wait import EachWait, each_wait
from scalkit.trace.waits.requests import Progress, members

OUTSIDE = -1
"""Path of the last step of a location: nothing is recorded from there on."""


def steps_of(calls: Table, marks: Table, parents: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return from when on which call path is the innermost of a location.

    `calls`, `marks`: of one location, in order of their numbers, as `scalkit.trace.local.part.LocalTrace` has them.
    `parents` of shape (n_paths,).
    `time` of shape (n,), in ns: ascending, without equal ones. Calls that took no time are left out.
    `path` of shape (n,): the last one is `OUTSIDE`.
    """
    if not len(calls["enter"]) and not len(marks["time"]):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    begin, end = extent(calls["enter"], calls["leave"], marks["time"])
    lasting = calls["leave"] > calls["enter"]
    enter, leave, path, number = (calls[name][lasting] for name in ("enter", "leave", "path", "number"))
    after = parents[path].astype(PLACE)
    if not len(marks["time"]) and (enter[1:] >= leave[:-1]).all():
        time = np.stack([enter, leave], axis=1).ravel()
        state = np.stack([path, after], axis=1).ravel()
    else:
        time, state = changes(enter, leave, path, after, number.astype(np.int64), marks)
    time = np.concatenate([[begin], time, [end]])
    state = np.concatenate([[0], state, [OUTSIDE]]).astype(np.int32)
    is_last = np.append(time[1:] > time[:-1], True)
    return time[is_last], state[is_last]


def union_of(begin: Ints, end: Ints, what: NDArray[np.uint8]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
    """Return intervals without overlap, in order; those that overlap become one, with `what` of the first.

    `begin`, `end` of shape (n,). `what` of shape (n,).
    """
    if len(begin) == 0:
        return begin, end, what
    order = np.lexsort((-end, begin))
    begin, end, what = begin[order], np.maximum.accumulate(end[order]), what[order]
    is_new = np.append(True, begin[1:] >= end[:-1])
    starts = np.flatnonzero(is_new)
    return begin[starts], np.maximum.reduceat(end, starts), what[starts]


_COLOURED = 6


@dataclass(frozen=True)
class Records:
    """A table of all locations, one behind the other. `offsets` of shape (locations + 1,): where those of each begin."""

    columns: dict[str, NDArray[Any]]
    offsets: Ints

    def of(self, location: int) -> dict[str, NDArray[Any]]:
        """Return the rows of a location."""
        mine = slice(*self.offsets[location : location + 2].tolist())
        return {name: values[mine] for name, values in self.columns.items()}


@dataclass(frozen=True)
class Index:
    """What a timeline is drawn from; times in ns from the begin of the trace.

    `steps`: `time, path`. `waits`: `begin, end, metric`, without overlap. `transfers`: `begin, end, peer, kind`.
    `span`: of the trace, in ns. `classes`: names of what has a colour. `class_of_path`, `class_ns`: of each.
    `spent`: when each location is in each class but the first; `waited`: when it waits.
    """

    steps: Records
    waits: Records
    transfers: Records
    span: int
    classes: list[str]
    class_of_path: list[int]
    class_ns: list[float]
    spent: list[Progress]
    waited: Progress


def index_of(trace: LocalTrace) -> Index:
    """Return the index of a trace that one process has read whole."""
    found = each_wait(trace)
    begin, end = extent(trace.calls["enter"], trace.calls["leave"], trace.marks["time"])
    span = max(end - begin, 1)
    path_ns = np.zeros(len(trace.definitions.paths))
    parts: list[tuple[tuple[NDArray[Any], ...], ...]] = []
    for (calls, transfers, marks), at in zip(trace.parts(), trace.begins, strict=True):
        time, path = steps_of(calls, marks, trace.definitions.around)
        inside = path[:-1] >= 0
        path_ns += np.bincount(path[:-1][inside], weights=np.diff(time)[inside], minlength=len(path_ns))
        mine = slice(at, at + len(calls["enter"]))
        parts.append(((time - begin, path), _waits(calls, found, mine, begin), _transfers(trace, transfers, begin)))
    steps, waits, moved = (
        _records(names, [part[k] for part in parts])
        for k, names in enumerate((("time", "path"), ("begin", "end", "metric"), ("begin", "end", "peer", "kind")))
    )
    classes, of_path, class_ns = _classes(trace, path_ns)
    frame = Frame(0, 0, span.bit_length())
    kind_of = np.array([0, *of_path], np.uint8)
    spent = [_spent(frame, steps, kind_of == number) for number in range(1, len(classes))]
    each_wait_of = (waits.of(location) for location in range(trace.count))
    waiting = Progress(
        frame,
        len(waits.columns["begin"]),
        ((frame.key(k, one["begin"]), frame.key(k, one["end"])) for k, one in enumerate(each_wait_of)),
    )
    return Index(steps, waits, moved, span, classes, of_path, class_ns, spent, waiting)


def _records(names: Sequence[str], parts: Sequence[tuple[NDArray[Any], ...]]) -> Records:
    columns = {name: np.concatenate([part[k] for part in parts]) for k, name in enumerate(names)}
    return Records(columns, np.cumsum([0, *(len(part[0]) for part in parts)]))


def _waits(calls: Table, found: EachWait, mine: slice, begin: int) -> tuple[NDArray[Any], ...]:
    wait = found.wait[mine]
    waited = np.flatnonzero(wait)
    low = calls["enter"][waited] - begin
    return union_of(low, low + wait[waited], found.metric[mine][waited])


def _transfers(trace: LocalTrace, transfers: Table, begin: int) -> tuple[NDArray[Any], ...]:
    """Return begin, end, location at the other end, and kind of transfers, in the order in which they begin.

    Receives are left out: their sends are there.
    """
    transfers = {name: values[(transfers["kind"] & 0xFF) != RECEIVE] for name, values in transfers.items()}
    posted, done = transfers["call"], transfers["done"]
    low = trace.calls["enter"][posted] - begin
    high = np.maximum(trace.calls["leave"][np.where(done >= 0, done, posted)] - begin, low)
    peer = members(trace, transfers["scope"], transfers["peer"])
    order = np.argsort(low, kind="stable")
    columns = (low, high, peer.astype(PLACE), (transfers["kind"] & 0xFF).astype(np.uint8))
    return tuple(column[order] for column in columns)


def _classes(trace: LocalTrace, path_ns: NDArray[np.float64]) -> tuple[list[str], list[int], list[float]]:
    """Return names of what has a colour: the regions that take most of the time, and all others together.

    Class 0 is where nothing is recorded, class 1 the program outside of regions.
    """
    regions = [trace.definitions.region(k) for k in range(len(path_ns))]
    total: dict[str, float] = {}
    for region, ns in zip(regions[1:], path_ns[1:].tolist(), strict=True):
        total[region] = total.get(region, 0.0) + ns
    chosen = sorted(total, key=lambda name: (-total[name], name))[:_COLOURED]
    chosen = [name for name in chosen if total[name] > 0]
    names = ["not recorded", "outside of calls", *chosen]
    others = {}
    for label, is_call in (("other calls", True), ("other regions", False)):
        if any(trace.definitions.is_function(region) == is_call for region in total if region not in chosen):
            others[is_call] = len(names)
            names.append(label)
    number = {name: 2 + k for k, name in enumerate(chosen)}
    of_path = [1, *(number[r] if r in number else others[trace.definitions.is_function(r)] for r in regions[1:])]
    return names, of_path, np.bincount(of_path, weights=path_ns, minlength=len(names)).tolist()


def _spent(frame: Frame, steps: Records, is_kind: NDArray[np.bool_]) -> Progress:
    """Return when each location is in a call path of a kind; `is_kind`: of each path, after that of what is not recorded."""

    def spans() -> Iterator[tuple[Ints, Ints]]:
        for location in range(len(steps.offsets) - 1):
            mine = steps.of(location)
            place = np.flatnonzero(is_kind[mine["path"] + 1])
            yield frame.key(location, mine["time"][place]), frame.key(location, mine["time"][place + 1])

    return Progress(frame, int(is_kind[steps.columns["path"] + 1].sum()), spans())
