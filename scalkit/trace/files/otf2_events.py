"""The events of an OTF2 archive that say what a location of a trace recorded, by the conventions of Score-P."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.support.arrays import Ints
from scalkit.trace.files.definitions import Definitions
from scalkit.trace.files.tables import BLOCKING, EXCLUSIVE, PUT, RECEIVE, SEND
from scalkit.trace.local.part import Table
from scalkit.trace.waits import functions

FIELDS = ("kind", "time", "a", "b", "c", "d", "e")
"""Columns of an event; microbench/trace/otf2/write.c says what the last five mean for each kind."""

UNDEFINED = (1 << 32) - 1

(ENTER, LEAVE, SENT, ISEND, ISEND_COMPLETE, IRECV_REQUEST, IRECV, RECV, COLLECTIVE_BEGIN, COLLECTIVE_END) = range(10)
OPERATION = 10  # a put, and behind it get, accumulate and fetch
(COMPLETE_BLOCKING, COMPLETED, RMA_BEGIN, RMA_END, GROUP_SYNC, LOCKED, UNLOCKED, SYNC, WIN_DESTROY) = range(14, 23)
(COMPLETE_REMOTE, COLLECTIVE_REQUEST, COLLECTIVE_COMPLETE) = range(23, 26)

_OPERATORS = {
    name: number
    for number, name in enumerate(
        (
            *("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall"),
            *("Alltoallv", "Alltoallw", "Allreduce", "Reduce", "Reduce_scatter", "Scan", "Exscan", "Reduce_scatter_block"),
        )
    )
}
_BEFORE_LEAVE = 1 << 40
_LEAVE = 1 << 41


class More(NamedTuple):
    """What ends in other calls of a location; all numbers are places in its tables.

    `landed`, `landed_in` of shape (n,): transfers that a call completed once more, at their target, and that call.
    `begun`, `ended_in` of shape (m,): calls that began a collective operation, and did not wait, and the call that completed
    it, or -1.
    """

    landed: Ints
    landed_in: Ints
    begun: Ints
    ended_in: Ints


class _Events:
    """Events with what orders them: the record that they stand before or at, and their place there."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def add(self, kind: Any, time: Ints, key: tuple[Any, ...], **fields: Any) -> None:
        given = (kind, time, *(fields.get(name, 0) for name in FIELDS[2:]), *key)
        self._parts.append(tuple(np.broadcast_to(np.asarray(one, dtype=np.int64), len(time)) for one in given))

    def ordered(self) -> Ints:
        """Return the rows of all events, of shape (n, 7), in their order."""
        columns = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        order = np.lexsort(tuple(reversed(columns[len(FIELDS) :])))
        return np.stack([column[order] for column in columns[: len(FIELDS)]], axis=1)


def events_of(
    location: int,
    begin: int,
    tables: tuple[Table, Table, Table],
    more: More,
    definitions: Definitions,
    numbers: Mapping[str, NDArray[Any]],
    groups: Mapping[int, int],
) -> Ints:
    """Return the events of a location, of shape (n, 7).

    `begin`: where its calls begin in those of all. `tables`, (Table, Table, Table): calls, transfers and marks of it.
    `numbers`, mapping from str to ndarray of int: ``"region"`` of each call path, ``"scope"`` the communicator or window of
    each scope, ``"window"`` its window.
    `groups`, mapping from int to int: number in the archive of each group that post and start took.
    Raises DataError if calls overlap without one being in the other, as those of threads do.
    """
    calls, transfers, marks = tables
    events = _Events()
    at_enter, at_leave = _regions(events, calls, marks, definitions, numbers["region"])
    _calls(events, calls, definitions, numbers["scope"], groups, at_enter, at_leave)
    _transfers(events, begin, calls, transfers, more, numbers, at_enter, at_leave)
    _begun(events, calls, len(transfers["call"]), more, definitions, numbers["scope"], at_enter, at_leave)
    found = events.ordered()
    if (np.diff(found[:, 1]) < 0).any():
        raise DataError(
            f"location {location}: calls overlap, as those of threads do, and OTF2 has no place for that in one location; "
            "record with one thread that calls MPI at a time."
        )
    return found


Keys = tuple[Ints, Ints, Ints]


def _regions(events: _Events, calls: Table, marks: Table, definitions: Definitions, region: NDArray[Any]) -> tuple[Keys, Keys]:
    """Add enters and leaves; return what orders the events at the enter, and before the leave, of each call."""
    depth_of = np.array([len(path) for path in definitions.paths], dtype=np.int64)
    n = len(calls["enter"])
    number = np.concatenate([calls["number"], marks["number"]]).astype(np.int64)
    order = np.argsort(number, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    depth = np.concatenate([depth_of[calls["path"]], depth_of[marks["own"]]])
    closes = np.full(len(order), len(order), dtype=np.int64)
    for one in np.unique(depth[:n]):
        shallow = np.flatnonzero(depth[order] <= one)
        mine = np.flatnonzero(depth[:n] == one)
        following = np.searchsorted(shallow, place[mine], side="right")
        found = np.append(shallow, len(order))[following]
        closes[mine] = found
    zero = np.zeros(n, dtype=np.int64)
    at_enter = (place[:n], zero + 1, zero)
    at_leave = (closes[:n], zero, -depth[:n])
    events.add(ENTER, calls["enter"], (*at_enter, 0), a=region[calls["path"]])
    events.add(LEAVE, calls["leave"], (*at_leave, _LEAVE), a=region[calls["path"]])
    kind = np.where(marks["entered"] >= 0, ENTER, LEAVE)
    events.add(kind, marks["time"], (place[n:], 1, 0, 0), a=region[marks["own"]])
    return at_enter, at_leave


def _calls(
    events: _Events,
    calls: Table,
    definitions: Definitions,
    scope: NDArray[Any],
    groups: Mapping[int, int],
    at_enter: Keys,
    at_leave: Keys,
) -> None:
    """Add what calls say of their communicator or window."""

    def of(names: frozenset[str]) -> NDArray[np.intp]:
        return np.flatnonzero(definitions.paths_in(names)[calls["path"]] & (calls["scope"] >= 0))

    def before_leave(kind: int, rows: NDArray[np.intp], **fields: Any) -> None:
        key = (*(one[rows] for one in at_leave), _BEFORE_LEAVE + (1 << 39))
        events.add(kind, calls["leave"][rows], key, b=scope[calls["scope"][rows]], **fields)

    def after_enter(kind: int, rows: NDArray[np.intp]) -> None:
        events.add(kind, calls["enter"][rows], (*(one[rows] for one in at_enter), 1))

    peer = np.where(calls["peer"] < 0, UNDEFINED, calls["peer"].astype(np.int64))
    collective = of((functions.COLLECTIVES - functions.FENCE - functions.NEIGHBOUR) | functions.INIT | functions.FINALIZE)
    operator = _operators(definitions)
    after_enter(COLLECTIVE_BEGIN, collective)
    before_leave(COLLECTIVE_END, collective, c=peer[collective], d=operator[calls["path"][collective]])
    fence = of(functions.FENCE | functions.WINDOW)
    after_enter(RMA_BEGIN, fence)
    before_leave(RMA_END, fence)
    lock = of(functions.LOCK)
    exclusive = calls["peer"][lock] >= EXCLUSIVE
    before_leave(LOCKED, lock, a=calls["peer"][lock] & (EXCLUSIVE - 1), d=exclusive)
    before_leave(LOCKED, of(functions.LOCK_ALL), a=UNDEFINED)
    unlock = of(functions.UNLOCK | functions.UNLOCK_ALL)
    before_leave(UNLOCKED, unlock, a=peer[unlock])
    flush = of((functions.FLUSH_ONE | functions.FLUSH_ALL) - functions.UNLOCK - functions.UNLOCK_ALL)
    before_leave(SYNC, flush, a=peer[flush])
    before_leave(WIN_DESTROY, of(frozenset({"MPI_Win_free"})))
    opens, ends = of(functions.POST | functions.START), of(functions.COMPLETE | functions.WAIT)
    before_leave(GROUP_SYNC, opens, a=np.array([groups.get(int(k), 0) for k in calls["peer"][opens]], dtype=np.int64))
    before_leave(GROUP_SYNC, ends, a=_groups_of_ends(calls, definitions, opens, ends, groups))


def _operators(definitions: Definitions) -> Ints:
    """Return the number that OTF2 gives to the collective operation of each call path; 0 where there is none."""
    names = [functions.base_name(definitions.region(k)).removeprefix("MPI_") for k in range(len(definitions.paths))]
    waiting = [name[1:].capitalize() if name[:1] == "I" else name for name in names]
    return np.array([_OPERATORS.get(name, 0) for name in waiting], dtype=np.int64)


def _begun(
    events: _Events,
    calls: Table,
    n_transfers: int,
    more: More,
    definitions: Definitions,
    scope: NDArray[Any],
    at_enter: Keys,
    at_leave: Keys,
) -> None:
    """Add the begin and the end of collective operations that do not wait."""
    on = np.flatnonzero(calls["scope"][more.begun] >= 0)
    call, done = more.begun[on], more.ended_in[on]
    request = n_transfers + np.arange(len(call), dtype=np.int64)
    events.add(COLLECTIVE_REQUEST, calls["enter"][call], (*(one[call] for one in at_enter), 1), e=request)
    ended = np.flatnonzero(done >= 0)
    call, done, request = call[ended], done[ended], request[ended]
    peer = np.where(calls["peer"][call] < 0, UNDEFINED, calls["peer"][call].astype(np.int64))
    key = (*(one[done] for one in at_leave), _BEFORE_LEAVE + (1 << 38) + request)
    fields = {"b": scope[calls["scope"][call]], "c": peer, "d": _operators(definitions)[calls["path"][call]]}
    events.add(COLLECTIVE_COMPLETE, calls["leave"][done], key, **fields, e=request)


def _groups_of_ends(
    calls: Table, definitions: Definitions, opens: NDArray[np.intp], ends: NDArray[np.intp], groups: Mapping[int, int]
) -> Ints:
    """Return the group of each complete and wait: that of the last start or post on its window."""
    posts, waits = (definitions.paths_in(names)[calls["path"]] for names in (functions.POST, functions.WAIT))
    last: dict[tuple[int, bool], int] = {}
    found = []
    is_end = set(ends.tolist())
    for row in np.sort(np.concatenate([opens, ends])).tolist():
        window = int(calls["scope"][row])
        if row in is_end:
            found.append(last.get((window, bool(waits[row])), 0))
        else:
            last[window, bool(posts[row])] = groups.get(int(calls["peer"][row]), 0)
    return np.array(found, dtype=np.int64)


def _transfers(
    events: _Events,
    begin: int,
    calls: Table,
    transfers: Table,
    more: More,
    numbers: Mapping[str, NDArray[Any]],
    at_enter: Keys,
    at_leave: Keys,
) -> None:
    """Add operations and messages in the calls that posted them, and their ends in those that completed them."""
    call = transfers["call"].astype(np.int64) - begin
    done = np.where(transfers["done"] >= 0, transfers["done"] - begin, -1).astype(np.int64)
    is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
    number = np.arange(len(call), dtype=np.int64)
    blocking = (transfers["kind"] & BLOCKING) != 0
    operation = transfers["kind"].astype(np.int64) & 0xFF

    scope = np.where(is_rma, numbers["window"][transfers["scope"]], numbers["scope"][transfers["scope"]])

    def add(kind: Any, chosen: NDArray[np.bool_], *, where: Ints, leaving: bool) -> None:
        row = np.flatnonzero(chosen)
        at = where[row]
        fields = {"a": transfers["peer"][row], "b": scope[row], "c": transfers["tag"][row]}
        key = (*(one[at] for one in (at_leave if leaving else at_enter)), (_BEFORE_LEAVE if leaving else 2) + number[row])
        time = calls["leave" if leaving else "enter"][at]
        given = kind[row] if isinstance(kind, np.ndarray) else kind
        events.add(given, time, key, **fields, d=transfers["bytes"][row], e=number[row])

    sends, receives, ended = operation == SEND, operation == RECEIVE, done >= 0
    add(SENT, sends & blocking, where=call, leaving=False)
    add(ISEND, sends & ~blocking, where=call, leaving=False)
    add(ISEND_COMPLETE, sends & ~blocking & ended, where=done, leaving=True)
    add(RECV, receives & blocking, where=call, leaving=True)
    add(IRECV_REQUEST, receives & ~blocking, where=call, leaving=False)
    add(IRECV, receives & ~blocking & ended, where=done, leaving=True)
    add(OPERATION + operation - PUT, is_rma, where=call, leaving=False)
    add(COMPLETE_BLOCKING, is_rma & blocking, where=call, leaving=True)
    add(COMPLETED, is_rma & ~blocking & ended, where=done, leaving=True)
    key = (*(one[more.landed_in] for one in at_leave), _BEFORE_LEAVE + len(call) + more.landed)
    time = calls["leave"][more.landed_in]
    events.add(COMPLETE_REMOTE, time, key, b=scope[more.landed], e=number[more.landed])
