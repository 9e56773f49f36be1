"""The part of a trace that one process analyses: its locations behind each other, with the numbers that all processes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.trace.arrays import next_of_group, pack
from scalkit.trace.checks import checked
from scalkit.trace.clock import corrected
from scalkit.trace.definitions import Definitions, LocalDefinitions, Path, ScopeKey, merge
from scalkit.trace.problems import Problem, refuse
from scalkit.trace.ranks import Alone, Ints, Ranks
from scalkit.trace.reading import Header, LocationFile, read_header, read_location
from scalkit.trace.tables import BLOCKING, TABLES, Columns, empty

__all__ = ["LocalTrace", "Table", "load"]

Table = dict[str, Ints]
"""Columns of whole numbers, all of one length."""


@dataclass
class LocalTrace:
    """The locations of one process.

    Attributes
    ----------
    header : Header
    definitions : Definitions
        Of all locations.
    first, count : int
        Its locations are `first` to ``first + count - 1``.
    calls : Table
        `location, enter, leave, number, path, scope, peer`, in order of location and number; paths and scopes as in
        `definitions`, -1 for no scope. Times on the common clock, in ns.
    transfers : Table
        `location, call, done, order, kind, scope, peer, tag, bytes`; `call` and `done` are places in `calls`, `done` of the
        call that completed it, -1 if only a later call on its window does.
    marks : Table
        `location, time, path, entered`: from this time on `path` is the innermost region; `entered` is it if it is new, or -1.
    groups : list of dict
        For each location, the locations of each group that post and start took.
    problems : list of Problem
        Of all locations of all processes, in order.
    """

    header: Header
    definitions: Definitions
    first: int
    count: int
    calls: Table
    transfers: Table
    marks: Table
    groups: list[Mapping[int, tuple[int, ...]]] = field(repr=False)
    problems: list[Problem] = field(repr=False)

    def owner(self, location: NDArray[np.integer[Any]], size: int) -> Ints:
        """Return which of `size` processes has each location."""
        return np.asarray(location, dtype=np.int64) * size // self.header.locations

    def is_call(self, *names: str) -> NDArray[np.bool_]:
        """Return for each call whether it is of one of these functions."""
        return self.definitions.paths_in(names)[self.calls["path"]]


def load(folder: str | PathLike[str], ranks: Ranks | None = None, *, keep_going: bool = False) -> LocalTrace:
    """Return what this process analyses of a trace; all processes must call it.

    Parameters
    ----------
    folder : path
    ranks : Ranks, optional
        Who analyses; by default this process alone.
    keep_going : bool
        Leave out what is wrong, rather than refuse the trace.

    Raises
    ------
    DataError
        If there is no trace, there are more processes than locations, or something is wrong with it.
    """
    ranks = Alone() if ranks is None else ranks
    header = read_header(folder)
    if ranks.size > header.locations:
        raise DataError(
            f"{ranks.size} processes cannot share the {header.locations} locations of {folder}; start at most as many."
        )
    first, end = (-(-one * header.locations // ranks.size) for one in (ranks.rank, ranks.rank + 1))
    read = [_read(header, location) for location in range(first, end)]
    problems = sorted(one for part in ranks.gather([p for _, _, found in read for p in found]) for one in part)
    if problems and not keep_going:
        raise refuse(problems, folder)
    local = [(paths, one) for one, paths, _ in read]
    del read
    definitions = _share(ranks, first, local)
    numbers = (
        {path: k for k, path in enumerate(definitions.paths)},
        {one.key: k for k, one in enumerate(definitions.scopes)},
    )
    parts = [_global(first + k, one, paths, definitions, *numbers) for k, (paths, one) in enumerate(local)]
    groups: list[Mapping[int, tuple[int, ...]]] = [one.definitions.groups for _, one in local]
    del local
    calls, transfers, completions, marks = (_behind([part[k] for part in parts]) for k in range(4))
    _link(calls, transfers, completions)
    return LocalTrace(header, definitions, first, end - first, calls, transfers, marks, groups, problems)


def _read(header: Header, location: int) -> tuple[LocationFile, dict[int, Path], list[Problem]]:
    """Return a location without what is wrong in it, its call paths, and its problems."""
    found = read_location(header, location)
    try:
        paths = found.definitions.full_paths()
    except DataError as error:
        bad = Problem(location, -1, "damaged", str(error))
        return (
            LocationFile({name: empty(name) for name in TABLES}, LocalDefinitions(), []),
            {0: ()},
            [*found.problems, bad],
        )
    found.tables = found.tables or {name: empty(name) for name in TABLES}
    found.tables, more = checked(location, found.tables, found.definitions)
    return found, paths, [*found.problems, *more]


def _share(ranks: Ranks, first: int, local: list[tuple[dict[int, Path], LocationFile]]) -> Definitions:
    paths = {path for known, _ in local for path in known.values()}
    scopes = [(first + k, *entry) for k, (_, one) in enumerate(local) for entry in one.definitions.scopes.values()]
    everything = ranks.gather((paths, scopes))
    return merge(
        (path for known, _ in everything for path in known), [entry for _, entries in everything for entry in entries]
    )


def _global(
    location: int,
    one: LocationFile,
    paths: dict[int, Path],
    definitions: Definitions,
    path_number: Mapping[Path, int],
    scope_number: Mapping[ScopeKey, int],
) -> tuple[Table, Table, Table, Table]:
    """Return the tables of a location with the numbers and the clock that all share."""
    to_path = _mapping({number: path_number[path] for number, path in paths.items()})
    to_scope = _mapping({number: scope_number[entry[0]] for number, entry in one.definitions.scopes.items()})
    clock = one.tables["clock"]
    calls, transfers, completions, marks = (
        _widened(location, one.tables[name]) for name in ("calls", "transfers", "completions", "marks")
    )
    calls["enter"], calls["leave"] = corrected(calls["enter"], clock), corrected(calls["leave"], clock)
    calls["path"], calls["scope"] = _mapped(to_path, calls["path"]), _mapped(to_scope, calls["scope"])
    transfers["scope"] = _mapped(to_scope, transfers["scope"])
    path = _mapped(to_path, marks["path"])
    after = np.where(marks["way"] > 0, path, definitions.parents[path])
    entered = np.where(marks["way"] > 0, path, -1)
    kept = {"location": marks["location"], "time": corrected(marks["time"], clock), "path": after, "entered": entered}
    return calls, transfers, completions, kept


def _mapping(known: Mapping[int, int]) -> tuple[Ints, Ints]:
    keys = np.array(sorted(known), dtype=np.int64)
    return keys, np.array([known[int(key)] for key in keys], dtype=np.int64)


def _mapped(mapping: tuple[Ints, Ints], values: Ints) -> Ints:
    keys, to = mapping
    if len(keys) == 0:
        return np.full(len(values), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where(keys[place] == values, to[place], -1)


def _widened(location: int, table: Columns) -> Table:
    found: Table = {name: np.asarray(values, dtype=np.int64) for name, values in table.items()}
    length = len(next(iter(found.values())))
    return {"location": np.full(length, location, dtype=np.int64), **found}


def _behind(tables: list[Table]) -> Table:
    """Return the tables behind each other; they are empty then, so that no column is in memory twice for long."""
    return {name: np.concatenate([table.pop(name) for table in tables]) for name in list(tables[0])}


def _link(calls: Table, transfers: Table, completions: Table) -> None:
    """Replace numbers of calls by places in the table, and find the call that completed each transfer."""
    keys, posts = pack([calls["location"], calls["number"]], [transfers["location"], transfers["call"]])
    transfers["call"] = np.searchsorted(keys, posts).astype(np.int64)
    done = np.full(len(posts), -1, dtype=np.int64)
    if len(completions["call"]):
        number = calls["number"][transfers["call"]]
        whose = [completions["location"], completions["posted"]]
        explicit = next_of_group(whose, completions["call"], [transfers["location"], number], np.full(len(posts), -1))
        keys, ends = pack([calls["location"], calls["number"]], [completions["location"], completions["call"]])
        place = np.searchsorted(keys, ends)
        has = explicit >= 0
        done[has] = place[explicit[has]]
    blocking = (transfers["kind"] & BLOCKING) != 0
    transfers["done"] = np.where(blocking, transfers["call"], done)
