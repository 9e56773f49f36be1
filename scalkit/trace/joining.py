"""Puts the tables of locations behind each other, with numbers and times that all share, in as little memory as may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.trace.arrays import Ints
from scalkit.trace.clock import corrected
from scalkit.trace.definitions import Definitions, LocalDefinitions, Path, ScopeKey
from scalkit.trace.tables import BLOCKING, TABLES, Columns

__all__ = ["PLACE", "Local", "Table", "bounds", "entered", "joined", "link", "to_global"]

Table = dict[str, NDArray[Any]]
"""Columns of whole numbers, all of one length, each as narrow as its values allow."""

PLACE = np.int32
"""Type of a place in the calls of a process, of locations, call paths and scopes."""

_TIMES = ("enter", "leave", "time")


@dataclass
class Local:
    """A location as its file has it, and what its numbers of call paths and scopes mean to all."""

    location: int
    tables: dict[str, Columns]
    path: tuple[Ints, Ints]
    scope: tuple[Ints, Ints]

    def take(self, table: str, column: str) -> NDArray[Any]:
        """Return a column as all understand it, and forget it here."""
        values: NDArray[Any] = self.tables[table].pop(column)
        if column in _TIMES:
            return corrected(values, self.tables["clock"])
        if column in ("path", "scope"):
            return _mapped(self.path if column == "path" else self.scope, values)
        return values


def to_global(
    location: int,
    tables: dict[str, Columns],
    local: LocalDefinitions,
    paths: Mapping[int, Path],
    path_number: Mapping[Path, int],
    scope_number: Mapping[ScopeKey, int],
) -> Local:
    """Return a location with the way from its own numbers to those of all."""
    return Local(
        location,
        tables,
        _mapping({number: path_number[path] for number, path in paths.items()}),
        _mapping({number: scope_number[entry[0]] for number, entry in local.scopes.items()}),
    )


def joined(local: list[Local], table: str) -> Table:
    """Return a table of all locations; those that are given lose it, column by column, so that none is there twice."""
    lengths = [len(next(iter(one.tables[table].values()))) for one in local]
    numbers = np.array([one.location for one in local], dtype=PLACE)
    found: Table = {"location": np.repeat(numbers, lengths)}
    for name, kind in TABLES[table]:
        column = np.empty(sum(lengths), dtype=PLACE if name in ("path", "scope") else kind)
        at = 0
        for one, length in zip(local, lengths, strict=True):
            column[at : at + length] = one.take(table, name)
            at += length
        found[name] = column
    return found


def bounds(table: Table, first: int, count: int) -> list[slice]:
    """Return where each of `count` locations from `first` on stands in a table."""
    ends = np.searchsorted(table["location"], np.arange(first, first + count + 1, dtype=PLACE)).tolist()
    return [slice(low, high) for low, high in pairwise(ends)]


def entered(marks: Table, definitions: Definitions) -> Table:
    """Return the marks with the innermost region after each, and the region that is new, or -1."""
    path = marks["path"]
    after = np.where(marks["way"] > 0, path, definitions.parents[path]).astype(PLACE)
    new = np.where(marks["way"] > 0, path, -1).astype(PLACE)
    return {"location": marks["location"], "time": marks["time"], "path": after, "entered": new}


def link(calls: Table, transfers: Table, completions: Table, first: int, count: int) -> None:
    """Replace numbers of calls by places in the table, and find the call that completed each transfer."""
    place = np.empty(len(transfers["call"]), dtype=PLACE)
    done = np.full(len(place), -1, dtype=PLACE)
    for mine, posts, ends in zip(*(bounds(one, first, count) for one in (calls, transfers, completions)), strict=True):
        numbers, posted = calls["number"][mine], transfers["call"][posts]
        place[posts] = np.searchsorted(numbers, posted) + mine.start
        if ends.stop > ends.start:
            whose, by = completions["posted"][ends], completions["call"][ends]
            order = np.lexsort((by, whose))
            whose, by = whose[order], by[order]
            at = np.minimum(np.searchsorted(whose, posted), len(whose) - 1)
            done[posts] = np.where(whose[at] == posted, np.searchsorted(numbers, by[at]) + mine.start, -1)
    blocking = (transfers["kind"] & BLOCKING) != 0
    done[blocking] = place[blocking]
    transfers["call"], transfers["done"] = place, done


def _mapping(known: Mapping[int, int]) -> tuple[Ints, Ints]:
    keys = np.array(sorted(known), dtype=np.int64)
    return keys, np.array([known[int(key)] for key in keys], dtype=np.int64)


def _mapped(mapping: tuple[Ints, Ints], values: NDArray[Any]) -> NDArray[Any]:
    keys, to = mapping
    if len(keys) == 0:
        return np.full(len(values), -1, dtype=PLACE)
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where(keys[place] == values, to[place], -1).astype(PLACE)
