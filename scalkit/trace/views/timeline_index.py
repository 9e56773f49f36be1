"""What a timeline is drawn from, made once of a trace: steps, waits, transfers, and rasters of all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Floats, Ints
from scalkit.trace.files.tables import RECEIVE
from scalkit.trace.local.arrays import extent, ranges
from scalkit.trace.local.joined import PLACE, Table, changes
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.views.raster import amounts, as_share, halved, largest
from scalkit.trace.waits.each_wait import EachWait, each_wait
from scalkit.trace.waits.requests import members


def steps_of(calls: Table, marks: Table, parents: Ints) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """Return begin, end and path of the intervals with one innermost call path of a location.

    `calls`, `marks`: of one location, in order of their numbers, as `scalkit.trace.local.part.LocalTrace` has them.
    `parents` of shape (n_paths,).
    """
    if not len(calls["enter"]) and not len(marks["time"]):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    first, last = extent(calls["enter"], calls["leave"], marks["time"])
    begin, path = changes(calls, marks, parents, first)
    end = np.append(begin[1:], last)
    lasts = end > begin
    return begin[lasts], end[lasts], path[lasts].astype(np.int32)


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
_CELLS = 1 << 24
_MOST_BINS, _FEWEST_BINS = 1 << 17, 1 << 10
_FEW_STEPS = 400_000
"""Above this many steps rasters are prepared; fewer are drawn from the steps themselves."""


@dataclass(frozen=True)
class Records:
    """The rows of all locations, in the order of the locations.

    `offsets` of shape (locations + 1,): the first row of each location, then the number of rows.
    """

    columns: dict[str, NDArray[Any]]
    offsets: Ints

    def of(self, location: int) -> dict[str, NDArray[Any]]:
        """Return the rows of a location."""
        mine = slice(*self.offsets[location : location + 2].tolist())
        return {name: values[mine] for name, values in self.columns.items()}

    def near(self, key: str, locations: Ints, low: int, high: int) -> tuple[Ints, Ints]:
        """Return the first row of each location with `key` >= `low`, and the number of rows.

        The rows counted begin before `high`.
        """
        keys, begins = self.columns[key], self.columns["begin"]
        found = np.empty((2, len(locations)), dtype=np.int64)
        for row, location in enumerate(locations.tolist()):
            mine = slice(*self.offsets[location : location + 2].tolist())
            found[:, row] = keys[mine].searchsorted(low), begins[mine].searchsorted(high)
        first, last = found
        return first + self.offsets[locations], last - first

    def within(self, locations: Ints, low: int, high: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Return begin, end, location and place of the rows in a window.

        Begin and end are cut at the ends of the window and counted from `low`. The location is an
        index into `locations`.

        Rows of a location must not overlap.
        """
        row, place = ranges(*self.near("end", locations, low + 1, high))
        begin, end = (np.clip(self.columns[name][place] - low, 0, high - low) for name in ("begin", "end"))
        return begin, end, row, place


@dataclass(frozen=True)
class Index:
    """Data of a timeline; times in ns from the begin of the trace.

    `steps`: `begin, end, path`. `waits`: `begin, end, metric`, without overlap. `transfers`: `begin, end, peer, kind`.
    `span`: of the trace, in ns. `classes`: names of the coloured classes.
    `class_of_path`: class of each path.
    """

    steps: Records
    waits: Records
    transfers: Records
    span: int
    classes: list[str]
    class_of_path: list[int]

    def classes_within(self, locations: Ints, low: int, high: int) -> tuple[Ints, Ints, Ints, NDArray[np.uint8]]:
        """Return begin, end, row and class of the steps of locations in a window; see `Records.within`."""
        begin, end, row, place = self.steps.within(locations, low, high)
        return begin, end, row, np.array(self.class_of_path, dtype=np.uint8)[self.steps.columns["path"][place]]

    def amounts(self, locations: Ints, first: int, last: int, bits: int) -> tuple[Floats, Floats]:
        """Return the time of each class in each column and location, and the waiting time, in ns.

        `first`, `last`: range of columns of 2^`bits` ns; `last` is excluded.
        Returns: arrays of shape (n_classes, n_locations, n_columns) and (1, n_locations, n_columns).
        """
        low, high, shape = first << bits, last << bits, (len(locations), last - first)
        steps, waits = self.classes_within(locations, low, high), self.waits.within(locations, low, high)
        waited = amounts(*waits[:3], np.zeros(len(waits[0]), dtype=np.uint8), (1, *shape), bits)
        return amounts(*steps, (len(self.classes), *shape), bits), waited


def index_of(trace: LocalTrace) -> Index:
    """Return the index of a trace that one process has read whole."""
    found = each_wait(trace)
    begin, end = extent(trace.calls["enter"], trace.calls["leave"], trace.marks["time"])
    span = max(end - begin, 1)
    path_ns = np.zeros(len(trace.definitions.paths))
    parts: list[tuple[tuple[NDArray[Any], ...], ...]] = []
    for (calls, transfers, marks), at in zip(trace.parts(), trace.begins, strict=True):
        low, high, path = steps_of(calls, marks, trace.definitions.around)
        path_ns += np.bincount(path, weights=high - low, minlength=len(path_ns))
        mine = slice(at, at + len(calls["enter"]))
        parts.append(((low - begin, high - begin, path), _waits(calls, found, mine, begin), _transfers(trace, transfers, begin)))
    steps, waits, moved = (
        _records(names, [part[k] for part in parts])
        for k, names in enumerate((("begin", "end", "path"), ("begin", "end", "metric"), ("begin", "end", "peer", "kind")))
    )
    classes, of_path = _classes(trace, path_ns)
    return Index(steps, waits, moved, span, classes, of_path)


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


def _classes(trace: LocalTrace, path_ns: NDArray[np.float64]) -> tuple[list[str], list[int]]:
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
    return names, of_path


@dataclass(frozen=True)
class Levels:
    """Rasters of all locations: largest class and share of waiting, of 255, of columns of 2^`bits` ns, then of twice that, ..."""

    bits: int
    rasters: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]


def levels_of(index: Index) -> Levels:
    """Return rasters of a trace until one column is left; none if the trace has few steps."""
    if len(index.steps.columns["path"]) <= _FEW_STEPS:
        return Levels(0, [])
    n = len(index.steps.offsets) - 1
    bins = max(min(_CELLS // n, _MOST_BINS), _FEWEST_BINS)
    bits = max(0, (index.span - 1).bit_length() - (bins.bit_length() - 1))
    widths = [((index.span - 1) >> bits) + 1]
    while widths[-1] > 1:
        widths.append((widths[-1] + 1) // 2)
    rasters = [(np.empty((n, width), np.uint8), np.empty((n, width), np.uint8)) for width in widths]
    for location in range(n):
        amount, waited = index.amounts(np.array([location]), 0, widths[0], bits)
        for k, (classes, shares) in enumerate(rasters):
            classes[location], shares[location] = largest(amount)[0], as_share(waited[0, 0], bits + k)
            amount, waited = halved(amount), halved(waited)
    return Levels(bits, rasters)
