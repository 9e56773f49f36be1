"""What numbers in the tables mean: regions, call paths, communicators and windows, the same for all locations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.trace.waits.functions import base_name, is_library_call

Path = tuple[tuple[str, str], ...]
"""A call path: region and call site of every step from the outermost on; () is the program itself."""

ScopeKey = tuple[str, int, int]
"""Identity of a scope on all locations: kind, location of its rank 0, number that this one gave it."""

ROOT_NAME = "program"

LeftOut = dict[tuple[int, int, int, str, int], tuple[int, int]]
"""What is not recorded, by place in the order of calls, kind, scope, function or rank, and tag: how often, and ns of it."""


@dataclass
class LocalDefinitions:
    """What the definition blocks of one location say; ids are its own.

    `regions`, `sites`, dict from int to str. `paths`, dict from int to (parent, region, site).
    `scopes`, dict from int to (key, size, own rank, name).
    `groups`, dict from int to tuple of int: locations of the groups that post and start took.
    `functions`: regions that are functions of a communication library of the user.
    `run`: what tells the run from others; empty if nothing does. `left_out`: what the recorder was to leave out.
    """

    regions: dict[int, str] = field(default_factory=dict)
    sites: dict[int, str] = field(default_factory=dict)
    paths: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    scopes: dict[int, tuple[ScopeKey, int, int, str]] = field(default_factory=dict)
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict)
    functions: set[int] = field(default_factory=set)
    run: str = ""
    left_out: LeftOut = field(default_factory=dict)

    def add(self, block: Mapping[str, Any]) -> None:
        """Add what a block says.

        Raises DataError if an entry is not of the form that docs/file-formats.md gives; the text does not name the file.
        """
        try:
            self.run = str(block.get("run", self.run))
            self.regions |= {int(number): str(name) for number, name in block.get("regions", ())}
            self.sites |= {int(number): str(text) for number, text in block.get("sites", ())}
            self.paths |= {int(n): (int(parent), int(region), int(site)) for n, parent, region, site in block.get("paths", ())}
            for number, kind, root, serial, size, rank, name in block.get("scopes", ()):
                self.scopes[int(number)] = ((str(kind), int(root), int(serial)), int(size), int(rank), str(name))
            self.functions |= set(map(int, block.get("functions", ())))
            self.groups |= {int(number): tuple(map(int, members)) for number, members in block.get("groups", ())}
            for place, kind, scope, what, tag, count, ns in block.get("left_out", ()):
                self.left_out[int(place), int(kind), int(scope), str(what), int(tag)] = int(count), int(ns)
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            raise DataError(f"a definition is damaged ({error})") from error

    def full_paths(self) -> dict[int, Path]:
        """Return every call path from its outermost step on; path 0 is the program.

        Raises DataError if a path has no parent or region that is defined; the text does not name the file.
        """
        done: dict[int, Path] = {0: ()}
        for number in self.paths:
            chain = []
            at = number
            while at not in done:
                if at not in self.paths or at in chain:
                    raise DataError(f"call path {number} has no way to the program: path {at} is not defined")
                chain.append(at)
                at = self.paths[at][0]
            for one in reversed(chain):
                parent, region, site = self.paths[one]
                if region not in self.regions:
                    raise DataError(f"call path {one} is in region {region}, which is not defined")
                done[one] = (*done[parent], (self.regions[region], self.sites.get(site, "")))
        return done


@dataclass(frozen=True)
class Scope:
    """A communicator or window: `members` are the locations of its ranks, -1 where nobody says."""

    key: ScopeKey
    name: str
    members: NDArray[np.int64] = field(repr=False)

    @property
    def is_window(self) -> bool:
        """Whether it is a window."""
        return self.key[0] == "window"


@dataclass(frozen=True)
class Definitions:
    """Definitions of all locations together.

    `paths`: in order of the alphabet, so that a parent stands before its children; the first is the program.
    `parents` of shape (n_paths,): number of each parent; -1 for the program.
    `functions`: names of regions that are functions of a communication library of the user.
    """

    paths: tuple[Path, ...]
    parents: NDArray[np.int64]
    scopes: tuple[Scope, ...]
    functions: frozenset[str] = frozenset()

    @cached_property
    def around(self) -> NDArray[np.int64]:
        """Number of the step around each path that has time of its own: no function that was only seen on the stack."""
        found = self.parents.copy()
        for k, parent in enumerate(self.parents.tolist()):  # those around a path stand before it
            if parent >= 0 and self.region(parent).endswith("()"):
                found[k] = found[parent]
        return found

    def region(self, path: int) -> str:
        """Return the region at the end of a path."""
        return self.paths[path][-1][0] if self.paths[path] else ROOT_NAME

    def text(self, path: int) -> str:
        """Return a path as text, ``program/solve/MPI_Win_flush@solver+0x1c20``."""
        steps = (f"{region}@{site}" if site else region for region, site in self.paths[path])
        return "/".join((ROOT_NAME, *steps))

    def paths_in(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Return for every path whether its region, without the `_c` of large counts, is one of `names`."""
        wanted = frozenset(names)
        return np.array([base_name(self.region(k)) in wanted for k in range(len(self.paths))], dtype=bool)

    def library_calls(self, apart_from: Iterable[str] = ()) -> NDArray[np.bool_]:
        """Return for every path whether its region is a call of a communication library, and none of those named."""
        excluded = frozenset(map(base_name, apart_from))
        names = [base_name(self.region(k)) for k in range(len(self.paths))]
        return np.array([self.is_function(name) and name not in excluded for name in names], dtype=bool)

    def is_function(self, region: str) -> bool:
        """Return whether a region is a function of a communication library, which may progress what others have begun."""
        return is_library_call(region) or region in self.functions

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of members of each scope."""
        return np.array([len(scope.members) for scope in self.scopes], dtype=np.int64)


def merge(
    paths: Iterable[Path], scopes: Sequence[tuple[int, ScopeKey, int, int, str]], functions: frozenset[str] = frozenset()
) -> Definitions:
    """Return the definitions of all locations, in an order that does not depend on who read them.

    `paths`: of all locations; repeated ones are one.
    `scopes`, sequence of (location, key, size, rank, name): what each location says of each scope that it is in.
    `functions`: regions that are functions of a communication library of the user.
    """
    ordered = sorted({(), *(path[:k] for path in set(paths) for k in range(1, len(path) + 1))})
    number = {path: k for k, path in enumerate(ordered)}
    parents = np.array([number[path[:-1]] if path else -1 for path in ordered], dtype=np.int64)
    members: dict[ScopeKey, NDArray[np.int64]] = {}
    names: dict[ScopeKey, str] = {}
    for location, key, size, rank, name in sorted(scopes):
        if key not in members:
            is_world = key[1:] == (0, 0) and key[0] == "communicator"
            members[key] = np.arange(size) if is_world else np.full(size, -1, dtype=np.int64)
        if 0 <= rank < len(members[key]):
            members[key][rank] = location
        names[key] = max(names.get(key, ""), name)
    ranked = tuple(Scope(key, names[key], members[key]) for key in sorted(members))
    return Definitions(tuple(ordered), parents, ranked, functions)
