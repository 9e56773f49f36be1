"""The part of a trace that one process analyses: its locations behind each other, with the numbers that all processes share."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.support.arrays import Ints
from scalkit.support.text import counted
from scalkit.support.units import format_quantity
from scalkit.trace.files.checks import Problem, checked, refuse
from scalkit.trace.files.definitions import Definitions, LeftOut, LocalDefinitions, Path, ScopeKey, merge
from scalkit.trace.files.reader import Header, LocationFile, read_header, read_location
from scalkit.trace.files.tables import COLLECTIVE, RECEIVE, SEND, Columns, empty_tables
from scalkit.trace.local.joined import PLACE, Table, bounds, complete_on_windows, entered, joined, link
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.results.summary import FACTS
from scalkit.trace.waits.functions import COLLECTIVES, IN_ORDER, base_name, begun

__all__ = ["LocalTrace", "Table", "load"]

Sizes = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass
class LocalTrace:
    """The locations of one process.

    `definitions`: of all locations. `first`, `count`: its locations are `first` to ``first + count - 1``.
    `calls`: `location, enter, leave, number, path, scope, peer`, in order of location and number; paths and scopes as in
    `definitions`, -1 for no scope. Times on the common clock, in ns.
    `transfers`: `location, call, done, order, kind, scope, peer, tag, bytes`; `call` and `done` are places in `calls`, `done`
    of the call that completed it, or -1.
    `marks`: `location, time, number, path, entered, own`: from this time on `path` is the innermost region; `entered` is it if
    it is new, or -1; `own` is the region that is entered or left.
    `landings`: `location, call, done, scope, peer, transfer`: one-sided transfers that `done` completed once more, at their
    target; `transfer` is their place in `transfers`, as loaded.
    `collectives`: `call, done`: calls that began a collective operation and did not wait, and the call that completed it, or
    -1. `groups`: for each location, the locations of each group that post and start took.
    `problems`: of all locations of all processes, in order.
    `sizes`, list of (ndarray of int, ndarray of int): for each location, numbers of calls of collective operations, and what
    it gives in them, in bytes. `left_out`: of all locations of all processes, what the recorder was to leave out.
    """

    header: Header
    definitions: Definitions
    first: int
    count: int
    calls: Table
    transfers: Table
    marks: Table
    landings: Table
    collectives: Table
    groups: list[Mapping[int, tuple[int, ...]]] = field(repr=False)
    problems: list[Problem] = field(repr=False)
    sizes: list[Sizes] = field(repr=False)
    left_out: list[LeftOut] = field(default_factory=list, repr=False)

    @property
    def begins(self) -> list[int]:
        """Where the calls of each location begin."""
        return [one.start for one in bounds(self.calls, self.first, self.count)]

    def parts(self) -> Iterator[tuple[Table, Table, Table]]:
        """Yield calls, transfers and marks of each location, without copies."""
        tables = (self.calls, self.transfers, self.marks)
        for places in zip(*(bounds(one, self.first, self.count) for one in tables), strict=True):
            calls, transfers, marks = (
                {name: values[place] for name, values in table.items()} for table, place in zip(tables, places, strict=True)
            )
            yield calls, transfers, marks

    def owner(self, location: NDArray[np.integer[Any]], size: int) -> NDArray[Any]:
        """Return which of `size` processes has each location."""
        owners = np.arange(self.header.locations, dtype=np.int64) * size // self.header.locations
        return np.asarray(owners.astype(np.int16 if size < 1 << 15 else PLACE)[location])

    def is_call(self, *names: str) -> NDArray[np.bool_]:
        """Return for each call whether it is of one of these functions."""
        return self.definitions.paths_in(names)[self.calls["path"]]

    def forget_one_sided(self) -> None:
        """Keep messages only of the transfers, when nobody needs the others any more."""
        kept = np.isin(self.transfers["kind"] & 0xFF, (SEND, RECEIVE))
        self.transfers = {name: values[kept] for name, values in self.transfers.items()}


def load(folder: str | PathLike[str], ranks: Ranks | None = None, *, keep_going: bool = False) -> LocalTrace:
    """Return what this process analyses of a trace; all processes must call it.

    `ranks`: who analyses; by default this process alone. `keep_going`: leave out what is wrong, rather than refuse the trace.
    Raises DataError if there is no trace, there are more processes than locations, or something is wrong with it.
    """
    ranks = ranks or Ranks()
    header = read_header(folder)
    if ranks.size > header.locations:
        raise DataError(
            f"{ranks.size} processes cannot share the {header.locations} locations of {folder}; start at most as many."
        )
    first, end = (-(-one * header.locations // ranks.size) for one in (ranks.rank, ranks.rank + 1))
    parts: list[dict[str, Columns]] = []
    known: list[tuple[dict[int, Path], LocalDefinitions]] = []
    mine: list[Problem] = []
    sizes: list[Sizes] = []
    for location in range(first, end):
        one, paths, found, size = _read(header, location)
        sizes.append(size)
        parts.append(one.tables)
        known.append((paths, one.definitions))
        mine += found
    problems = sorted(one for part in ranks.gather(mine) for one in part)
    if problems and not keep_going:
        raise refuse(problems, folder)
    definitions = _share(ranks, first, known)
    path_number = {path: k for k, path in enumerate(definitions.paths)}
    scope_number = {one.key: k for k, one in enumerate(definitions.scopes)}
    numbers = [
        {
            "path": {number: path_number[path] for number, path in paths.items()},
            "scope": {number: scope_number[entry[0]] for number, entry in local.scopes.items()},
        }
        for paths, local in known
    ]
    left_out = [one for part in ranks.gather([_with_scopes(local, scope_number) for _, local in known]) for one in part]
    groups: list[Mapping[int, tuple[int, ...]]] = [local.groups for _, local in known]
    calls, transfers, completions, marks = (
        joined(name, parts, first, numbers) for name in ("calls", "transfers", "completions", "marks")
    )
    marks = entered(marks, definitions)
    ended, again = link(calls, transfers, completions, first, end - first)
    complete_on_windows(calls, transfers, definitions, first, end - first)
    landings = {name: transfers[name][again["transfer"]] for name in ("location", "call", "scope", "peer")} | again
    problems += _uneven(ranks, definitions, calls, {one.location for one in problems}, left_out)
    if problems and not keep_going:
        raise refuse(problems, folder)
    begins = np.flatnonzero(definitions.paths_in(begun(COLLECTIVES))[calls["path"]])
    collectives = {"call": begins, "done": ended[begins].astype(np.int64)}
    tables = (calls, transfers, marks, landings, collectives)
    return LocalTrace(header, definitions, first, end - first, *tables, groups, problems, sizes, left_out)


def _with_scopes(local: LocalDefinitions, scope_number: Mapping[ScopeKey, int]) -> LeftOut:
    """Return what a location left out, with the numbers that all locations have for scopes."""
    numbers = {number: scope_number[entry[0]] for number, entry in local.scopes.items()}
    rows = local.left_out.items()
    return {(place, kind, numbers.get(scope, -1), what, tag): n for (place, kind, scope, what, tag), n in rows}


def _read(header: Header, location: int) -> tuple[LocationFile, dict[int, Path], list[Problem], Sizes]:
    """Return a location without what is wrong in it, its call paths, its problems, and sizes of collective operations."""
    found = read_location(header, location)
    try:
        paths = found.definitions.full_paths()
    except DataError as error:
        bad = Problem(location, -1, "damaged", str(error))
        nothing = np.empty(0, np.int64)
        return LocationFile(empty_tables(), LocalDefinitions(), []), {0: ()}, [*found.problems, bad], (nothing, nothing)
    is_whole = not any(one.kind in ("truncated", "missing", "damaged") for one in found.problems)
    found.tables, more = checked(location, found.tables, found.definitions, is_whole=is_whole)
    rows = found.tables["transfers"]
    is_size = (rows["kind"] & 0xFF) == COLLECTIVE
    sizes = rows["call"][is_size].astype(np.int64), rows["bytes"][is_size].astype(np.int64)
    found.tables["transfers"] = {name: values[~is_size] for name, values in rows.items()}
    return found, paths, [*found.problems, *more], sizes


def _uneven(ranks: Ranks, definitions: Definitions, calls: Table, incomplete: set[int], left_out: list[LeftOut]) -> list[Problem]:
    """Return which locations lack a collective call that other members of a communicator or window have."""
    is_collective = definitions.paths_in(IN_ORDER | begun(COLLECTIVES))[calls["path"]] & (calls["scope"] >= 0)
    pairs = np.stack([calls["scope"][is_collective], calls["location"][is_collective]])
    each, times = np.unique(pairs, axis=1, return_counts=True)
    counted = {(int(scope), int(at)): int(n) for (scope, at), n in zip(each.T, times, strict=True)}
    counts = {pair: n for part in ranks.gather(counted) for pair, n in part.items()}
    for at, left in enumerate(left_out):
        for number, n in collective_calls(left).items():
            counts[number, at] = counts.get((number, at), 0) + n
    found = []
    for number in sorted({scope for scope, _ in counts}):
        scope = definitions.scopes[number]
        whole = [at for at in scope.members.tolist() if at >= 0 and at not in incomplete]
        most = max((counts.get((number, at), 0) for at in whole), default=0)
        what = scope.name or f"the {scope.key[0]} number {scope.key[2]} of location {scope.key[1]}"
        for at in whole:
            if (n := counts.get((number, at), 0)) < most:
                text = f"it made {n} of the {most} collective calls on {what} that others made"
                found.append(Problem(at, -1, "scope", text))
    return found


def _share(ranks: Ranks, first: int, local: list[tuple[dict[int, Path], LocalDefinitions]]) -> Definitions:
    paths = {path for known, _ in local for path in known.values()}
    scopes = [(first + k, *entry) for k, (_, one) in enumerate(local) for entry in one.scopes.values()]
    functions = {one.regions[number] for _, one in local for number in one.functions if number in one.regions}
    everything = ranks.gather((paths, scopes, functions))
    return merge(
        (path for known, _, _ in everything for path in known),
        [entry for _, entries, _ in everything for entry in entries],
        frozenset(name for _, _, names in everything for name in names),
    )


CALLS, SMALL = 100, 101
"""Kinds of what is left out, beside those of messages."""


def missing_before(trace: LocalTrace, rows: Mapping[str, Ints], keys: Mapping[str, Ints], by: str, kind: int) -> Ints:
    """Return for each row how many of the same `keys` are left out before it.

    `keys`: ``location`` and ``scope``, for messages also ``peer`` and ``tag``.
    `by`: the column with the place in the order of calls.
    """
    found = np.zeros(len(rows[by]), dtype=np.int64)
    chosen = begun(COLLECTIVES) | IN_ORDER
    for k, left in enumerate(trace.left_out):
        for (place, what, scope, which, tag), (count, _) in left.items():
            if place == 0 or what != kind or (kind == CALLS and base_name(which) not in chosen):
                continue
            same: NDArray[np.bool_] = (keys["location"] == k) & (keys["scope"] == scope) & (rows[by] >= place)
            if kind != CALLS:
                same &= (keys["peer"] == int(which)) & (keys["tag"] == tag)
            found[same] += count
    return found


def collective_calls(left: LeftOut) -> dict[int, int]:
    """Return how many collective calls on each scope a location did not record in pauses."""
    found: dict[int, int] = defaultdict(int)
    for (place, kind, scope, which, _), (count, _) in left.items():
        if place and kind == CALLS and base_name(which) in begun(COLLECTIVES) | IN_ORDER:
            found[scope] += count
    return dict(found)


def lacks_messages(each: Iterable[LeftOut]) -> bool:
    """Return whether messages are missing of which nobody knows where: those of functions that are left out."""
    return any(place == 0 and kind in (SEND, RECEIVE) for left in each for place, kind, *_ in left)


def absent_metrics(each: Iterable[LeftOut]) -> frozenset[str]:
    """Return the metrics that nobody can tell of what is left."""
    everywhere = list(each)
    if not any(everywhere):
        return frozenset()
    windows = {name for name, one in FACTS.items() if one.of_progress or one.awaits == "windows"} - {
        "wait_at_fence",
        "wait_at_window",
    }
    messages = {name for name, one in FACTS.items() if one.awaits == "messages"}
    return frozenset(windows | (messages if lacks_messages(everywhere) else set()))


def sentences(each: Iterable[LeftOut]) -> list[str]:
    """Return what all locations left out, and what that means for the result."""
    calls: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    small = 0
    everywhere = list(each)
    for (_, kind, _, which, _), (count, ns) in (one for left in everywhere for one in left.items()):
        if kind == CALLS:
            calls[which][0] += count
            calls[which][1] += ns
        small += count * (kind == SMALL)
    found = [f"{counted(n, 'call')} of {name}, {format_quantity(1e-9 * ns, 's')}" for name, (n, ns) in sorted(calls.items())]
    found += [f"{counted(small, 'transfer')} of fewer bytes than asked for"] if small else []
    if not found:
        return []
    found.append("so waits in one-sided communication and causes are not looked for")
    found += ["the time of these calls is that of what is around them"] if calls else []
    if lacks_messages(everywhere):
        found.append("so waits for senders and receivers are not looked for")
    return [f"as asked: {one}" for one in found]


def require_all_calls(trace: LocalTrace, what: str) -> None:
    """Raise DataError if the recorder was to leave something out, which `what` needs."""
    if any(trace.left_out):
        raise DataError(
            f"{trace.header.folder}: the recorder left calls out, as asked, and {what} needs all; record without that."
        )
