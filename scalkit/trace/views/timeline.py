"""A trace over time: any window of it as a raster, as bars and arrows where few are in view, or one moment in words."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import UsageError
from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import ranges
from scalkit.trace.local.part import load
from scalkit.trace.results.summary import WAITS
from scalkit.trace.views.raster import Bytes, as_share, largest, voted
from scalkit.trace.views.timeline_index import index_of, levels_of

_MOST_CELLS = 1 << 19
_MOST_WALKED = 1 << 16


@dataclass(frozen=True)
class Raster:
    """What is in view, in columns of 2^bits ns.

    `first`: the first column begins at ``first * 2**bits`` ns.
    `kind` of shape (rows, columns): number in `Timeline.classes` of what takes most of it.
    `wait` of shape (rows, columns): part of it that is waiting, of 255.
    `together`: locations of a row. If several, `kind` is that of most of them, and `wait` their mean.
    """

    bits: int
    first: int
    kind: NDArray[np.uint8]
    wait: NDArray[np.uint8]
    together: int


@dataclass(frozen=True)
class Bars:
    """Everything in view: steps, waits in them, and transfers that begin there. Times in ns from the begin of the trace.

    `row`, `begin`, `end`, `path` of shape (n,): of each step; rows count the locations that were asked for.
    `wait_row`, `wait_begin`, `wait_end` of shape (n_waits,).
    `from_row`, `to_row`, `from_time`, `to_time`, `operation` of shape (n_transfers,): who began a transfer when, and when it
    was completed; rows of others that are not in view are -1. Number of the operation as
    `scalkit.trace.files.tables.OPERATIONS` has it.
    """

    row: Ints
    begin: Ints
    end: Ints
    path: NDArray[np.int32]
    wait_row: Ints
    wait_begin: Ints
    wait_end: Ints
    from_row: Ints
    to_row: NDArray[np.int32]
    from_time: Ints
    to_time: Ints
    operation: NDArray[np.uint8]


@dataclass(frozen=True)
class Moment:
    """What a location does at a time.

    `begin`, `length` in ns: of the call, or of the time between calls. `wait` in ns: part of it that is waiting.
    `metric`: for what; empty if it does not wait.
    """

    location: int
    path: str
    region: str
    begin: int
    length: int
    wait: int
    metric: str


class Timeline:
    """A trace over time; times are in ns from its begin.

    A window is drawn from rasters that were made when the trace was opened, or, if it is small, from the records in it. The
    waiting of a call is drawn at its begin; of a call with several targets it may lie in parts of it.

    `folder`: of the trace. `keep_going`: leave out what is wrong with the trace.
    Raises DataError if there is no trace, or something is wrong with it.
    """

    def __init__(self, folder: str | os.PathLike[str], *, keep_going: bool = False) -> None:
        trace = load(folder, keep_going=keep_going)
        self._index, self._parents = index_of(trace), trace.definitions.parents.tolist()
        self._levels = levels_of(self._index)
        self.folder, self.locations, self.is_simulated = trace.header.folder, trace.header.locations, trace.header.is_simulated
        self.span = self._index.span
        self.classes = tuple(self._index.classes)
        n_paths = len(trace.definitions.paths)
        self.paths = tuple(trace.definitions.text(k) for k in range(n_paths))
        self.regions = tuple(trace.definitions.region(k) for k in range(n_paths))
        self.class_of_path = self._index.class_of_path

    def __len__(self) -> int:
        """Return the number of steps of all locations."""
        return len(self._index.steps.columns["path"])

    def __repr__(self) -> str:
        what = "simulated, " if self.is_simulated else ""
        return f"<Timeline: {what}{self.locations} locations, {1e-9 * self.span:.4g} s, {len(self)} steps>"

    def raster(
        self, begin: int, end: int, columns: int = 1024, locations: Sequence[int] | None = None, rows: int = 1 << 20
    ) -> Raster:
        """Return a window as a raster.

        `begin`, `end` in ns. `columns`: at most, and at least half of them; fewer if there are many locations.
        `locations`: all by default. `rows`: at most; if there are more locations, neighbours share a row.
        Raises UsageError if the window is empty, or there is no such location.
        """
        begin, end, chosen = self._window(begin, end, locations)
        columns = max(16, min(columns, 2048, _MOST_CELLS // len(chosen)))
        bits = max(0, (-(-(end - begin) // columns) - 1).bit_length())
        first, last = begin >> bits, ((end - 1) >> bits) + 1
        level = bits - self._levels.bits
        if 0 <= level < len(self._levels.rasters):
            kind, wait = (_cut(whole, chosen, first, last) for whole in self._levels.rasters[level])
        else:
            amount, waited = self._index.amounts(chosen, first, last, bits)
            kind, wait = largest(amount), as_share(waited[0], bits)
        together = -(-len(chosen) // max(1, rows))
        if together > 1:
            kind, wait = voted(kind, wait, together, len(self.classes))
        return Raster(bits, first, kind, wait, together)

    def bars(self, begin: int, end: int, locations: Sequence[int] | None = None, *, most: int = 4000) -> Bars | None:
        """Return everything in a window; None if that is more than `most` steps."""
        begin, end, chosen = self._window(begin, end, locations)
        steps, waits = self._index.steps, self._index.waits.columns
        starts, counts = steps.near("end", chosen, begin + 1, end)
        if counts.sum() > most:
            return None
        row, place = ranges(starts, counts)
        wait_row, wait_place = ranges(*self._index.waits.near("end", chosen, begin + 1, end))
        return Bars(
            row,
            steps.columns["begin"][place],
            steps.columns["end"][place],
            steps.columns["path"][place],
            wait_row,
            waits["begin"][wait_place],
            waits["end"][wait_place],
            *self._transfers(chosen, begin, end, most),
        )

    def at(self, location: int, time: int) -> Moment | None:
        """Return what a location does at a time; None if nothing is recorded. Raises UsageError if there is no such location."""
        self._window(0, 1, [location])
        steps, waits = self._index.steps.of(location), self._index.waits.of(location)
        place = int(np.searchsorted(steps["begin"], time, side="right")) - 1
        if place < 0 or time >= steps["end"][place]:
            return None
        path = int(steps["path"][place])
        first, last = self._extent(steps["path"], place)
        begin, end = int(steps["begin"][first]), int(steps["end"][last])
        low, high = waits["begin"], waits["end"]
        near = slice(int(np.searchsorted(high, begin, side="right")), int(np.searchsorted(low, end)))
        length = np.minimum(high[near], end) - np.maximum(low[near], begin)
        metric = WAITS[int(waits["metric"][near][int(length.argmax())])] if len(length) else ""
        wait = int(length.sum()) if path else 0
        return Moment(location, self.paths[path], self.regions[path], begin, end - begin, wait, metric if wait else "")

    def sums(self, begin: int, end: int, locations: Sequence[int] | None = None) -> dict[str, float]:
        """Return the time of all locations in a window by class, in s, the longest first; ``"waiting"`` is part of it."""
        begin, end, chosen = self._window(begin, end, locations)
        low, high, _, kind = self._index.classes_within(chosen, begin, end)
        amounts = 1e-9 * np.bincount(kind, high - low, len(self.classes))
        named = zip(self.classes, amounts.tolist(), strict=True)
        found = sorted((one for one in named if one[1]), key=lambda one: -one[1])
        low, high, _, _ = self._index.waits.within(chosen, begin, end)
        waiting = 1e-9 * float((high - low).sum())
        return dict(found) | ({"waiting": waiting} if waiting else {})

    def longest_wait(self, metric: str = "") -> Moment | None:
        """Return the call that waits longest, for anything or for one metric that is a wait; None if none does."""
        waits = self._index.waits.columns
        if metric and metric not in WAITS:
            raise UsageError(f"{metric!r} is no wait; choose one of {', '.join(WAITS)}.")
        length = waits["end"] - waits["begin"]
        if metric:
            length = np.where(waits["metric"] == WAITS.index(metric), length, 0)
        if not length.any():
            return None
        place = int(length.argmax())
        location = int(np.searchsorted(self._index.waits.offsets, place, side="right")) - 1
        return self.at(location, int(waits["begin"][place]))

    def _extent(self, paths: NDArray[np.int32], place: int) -> tuple[int, int]:
        """Return the first and the last step of the call that is innermost at a step; calls in it lie between."""
        parents, path = self._parents, int(paths[place])
        if path == 0:
            return place, place

        def is_within(one: int) -> bool:
            while one > 0 and one != path:
                one = parents[one]
            return one == path

        ends = []
        for step in (-1, 1):
            at = found = place
            for _ in range(_MOST_WALKED):
                at += step
                if not 0 <= at < len(paths) or not is_within(int(paths[at])):
                    break
                if int(paths[at]) == path:
                    if abs(at - found) == 1:  # another call of the same path right beside it
                        break
                    found = at
            ends.append(found)
        return ends[0], ends[1]

    def _window(self, begin: int, end: int, locations: Sequence[int] | None) -> tuple[int, int, NDArray[np.int64]]:
        if not end > begin:
            raise UsageError(f"a window from {begin} to {end} ns is empty; its end comes after its begin.")
        chosen = np.arange(self.locations) if locations is None else np.asarray(locations, dtype=np.int64)
        if len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= self.locations:
            raise UsageError(f"there are locations 0 to {self.locations - 1}; got {_shown(chosen)}.")
        return int(begin), int(end), chosen

    def _transfers(self, chosen: NDArray[np.int64], low: int, high: int, most: int) -> tuple[NDArray[Any], ...]:
        """Return the columns of `Bars` about transfers that begin in a window; none if there are too many."""
        row, place = ranges(*self._index.transfers.near("begin", chosen, low, high))
        if len(place) > most:
            row, place = row[:0], place[:0]
        row_of = np.full(self.locations + 1, -1, dtype=np.int32)
        row_of[chosen] = np.arange(len(chosen), dtype=np.int32)
        begin, end, peer, kind = (self._index.transfers.columns[name][place] for name in ("begin", "end", "peer", "kind"))
        return row, row_of[np.where(peer >= 0, peer, self.locations)], begin, end, kind


def _cut(whole: Bytes, chosen: NDArray[np.int64], first: int, last: int) -> Bytes:
    """Return columns of some rows of a raster; 0 where it has none."""
    part = np.zeros((len(chosen), last - first), dtype=np.uint8)
    low, high = max(first, 0), max(min(last, whole.shape[1]), max(first, 0))
    part[:, low - first : high - first] = whole[chosen, low:high]
    return part


def _shown(chosen: NDArray[np.int64]) -> str:
    return f"{chosen.min()} to {chosen.max()}" if len(chosen) else "none"
