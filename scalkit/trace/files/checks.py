"""Finds the records of a location that cannot be right, so that they are refused or left out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.trace.files.definitions import LocalDefinitions
from scalkit.trace.files.tables import OPERATIONS, RECEIVE, SEND, Columns
from scalkit.trace.waits.functions import FIRST_TO_ALL, TO_ROOT, base_name, begun


@dataclass(frozen=True, order=True)
class Problem:
    """Something wrong at one place of a trace.

    `record`: number of the call or mark, as in the trace; -1 if it concerns the whole location.
    `kind`: ``"missing"``, ``"truncated"``, ``"damaged"``, ``"clock"``, ``"leave"``, ``"scope"`` or ``"target"``.
    `text`: what is wrong, without location and record.
    `count`: how many records of the location have it; `record` is the first.
    """

    location: int
    record: int
    kind: str
    text: str
    count: int = 1

    def __str__(self) -> str:
        place = f"location {self.location}" + (f", record {self.record}" if self.record >= 0 else "")
        more = f" (and {self.count - 1} more like it)" if self.count > 1 else ""
        return f"{place}: {self.text}{more}"


def refuse(problems: list[Problem], folder: object) -> DataError:
    """Return the error to raise for the first of `problems`."""
    others = len(problems) - 1
    more = f" {others} more problem{'s were' if others > 1 else ' was'} found." if others else ""
    return DataError(f"{folder}: {min(problems)}; record it again, or analyse the rest with --keep-going.{more}")


Mask = NDArray[np.bool_]


def checked(
    location: int, tables: dict[str, Columns], definitions: LocalDefinitions, *, is_whole: bool = True
) -> tuple[dict[str, Columns], list[Problem]]:
    """Return the tables in order of their numbers without what is wrong in them, and what that was.

    `tables`, dict of Columns: of one location, records in any order.
    `is_whole`: whether the file has its end: if not, calls that had not ended may be missing.
    Result: the tables, and a `Problem` for each kind that was met.
    """
    found = _Tables(location, dict(tables), [])
    found.order()
    if is_whole:
        found.check_calls()
    found.check_clock()
    found.check_times()
    found.check_paths(definitions)
    sizes = {number: size for number, (_, size, _, _) in definitions.scopes.items()}
    found.check_scopes(sizes)
    found.check_roots(definitions, sizes)
    found.drop_orphans()
    return found.tables, found.problems


class _Tables:
    """Tables of a location, from which what is wrong is dropped."""

    def __init__(self, location: int, tables: dict[str, Columns], problems: list[Problem]) -> None:
        self.location, self.tables, self.problems = location, tables, problems

    def note(self, name: str, bad: Mask, kind: str, text: str) -> None:
        """Keep as a problem what `bad` marks in a table; `text` may name columns in braces."""
        if bad.any():
            table = self.tables[name]
            first = int(np.flatnonzero(bad)[0])
            number = int(table["number" if "number" in table else "call"][first])
            values = {column: int(values[first]) for column, values in table.items()}
            self.problems.append(Problem(self.location, number, kind, text.format(**values), int(bad.sum())))

    def drop(self, name: str, bad: Mask, kind: str, text: str) -> None:
        """The same, and leave these records out."""
        self.note(name, bad, kind, text)
        if bad.any():
            self.tables[name] = {column: values[~bad] for column, values in self.tables[name].items()}

    def order(self) -> None:
        """Sort, so that the order of records in the file does not matter."""
        for name in ("calls", "marks"):
            self.tables[name] = _ordered(self.tables[name], ("number",))
            numbers = self.tables[name]["number"]
            twice = np.zeros(len(numbers), dtype=bool)
            twice[1:] = numbers[1:] == numbers[:-1]
            self.drop(name, twice, "damaged", "the record stands there twice")
        keys = ("call", "order", "kind", "scope", "peer", "tag", "bytes")
        self.tables["transfers"] = _ordered(self.tables["transfers"], keys)
        self.tables["completions"] = _ordered(self.tables["completions"], ("call", "posted"))

    def check_calls(self) -> None:
        """Everything belongs to calls that are there."""
        known = self.tables["calls"]["number"]
        for name, column, text in (
            ("transfers", "call", "a transfer belongs to call {call}, which is not recorded"),
            ("completions", "call", "call {posted} is completed by call {call}, which is not recorded"),
            ("completions", "posted", "call {call} completes call {posted}, which is not recorded"),
        ):
            self.drop(name, ~np.isin(self.tables[name][column], known), "damaged", text)

    def check_clock(self) -> None:
        """Correcting a clock must not turn its times around, as `clock.corrected` says."""
        clock = self.tables["clock"]
        local, offset = (np.asarray(clock[name], dtype=np.int64) for name in ("local", "offset"))
        if len(local) == 0:
            return
        order = np.argsort(local, kind="stable")
        common = (local + offset)[order]
        if (common[1:] <= common[:-1]).any():
            at = int(np.flatnonzero(common[1:] <= common[:-1])[0])
            text = f"the clock samples run backwards: {common[at + 1]} ns of all stands after {common[at]} ns"
            self.problems.append(Problem(self.location, -1, "clock", text))
            self.tables["clock"] = {name: values[:0] for name, values in clock.items()}

    def check_times(self) -> None:
        calls = self.tables["calls"]
        text = "the clock runs backwards: the call enters at {enter} ns and leaves at {leave} ns"
        self.drop("calls", np.asarray(calls["leave"] < calls["enter"]), "clock", text)
        for name, column in (("calls", "enter"), ("marks", "time")):
            text = f"the clock runs backwards: {{{column}}} ns stands after a later time"
            self.drop(name, _falls(self.tables[name][column]), "clock", text)

    def check_paths(self, definitions: LocalDefinitions) -> None:
        known = np.fromiter(definitions.paths, dtype=np.int64, count=len(definitions.paths))
        for name in ("calls", "marks"):
            unknown = ~np.isin(self.tables[name]["path"], known)
            self.drop(name, unknown, "damaged", "the call path {path} is not defined")
        text = "a region is left that was not entered (call path {path})"
        self.drop("marks", _unmatched(self.tables["marks"], definitions), "leave", text)

    def check_scopes(self, sizes: dict[int, int]) -> None:
        known = np.fromiter(sizes, dtype=np.int64, count=len(sizes))
        self.drop("transfers", ~np.isin(self._operation(), list(OPERATIONS)), "damaged", "the kind {kind} is unknown")
        self.drop("transfers", np.asarray(self.tables["transfers"]["bytes"]) < 0, "damaged", "{bytes} bytes are transferred")
        for is_message, what, who in ((False, "window", "target"), (True, "communicator", "rank")):
            unknown = (self._is_message() == is_message) & ~np.isin(self.tables["transfers"]["scope"], known)
            self.drop("transfers", unknown, "scope", f"the {what} {{scope}} is not defined")
            peer = np.asarray(self.tables["transfers"]["peer"])
            outside = (peer < 0) | (peer >= _values(self.tables["transfers"]["scope"], sizes))
            text = f"{who} {{peer}} is out of range in {what} {{scope}}"
            self.drop("transfers", outside & (self._is_message() == is_message), "target", text)
        scope = np.asarray(self.tables["calls"]["scope"])
        unknown = (scope >= 0) & ~np.isin(scope, known)
        if unknown.any():
            self.note("calls", unknown, "scope", "the window or communicator {scope} is not defined")
            self.tables["calls"] = {**self.tables["calls"], "scope": np.where(unknown, -1, scope)}

    def check_roots(self, definitions: LocalDefinitions, sizes: dict[int, int]) -> None:
        rooted = FIRST_TO_ALL | TO_ROOT | begun(FIRST_TO_ALL | TO_ROOT)
        paths = [
            number
            for number, (_, region, _) in definitions.paths.items()
            if base_name(definitions.regions.get(region, "")) in rooted
        ]
        calls = self.tables["calls"]
        peer = np.asarray(calls["peer"], dtype=np.int64)
        outside = (peer < 0) | (peer >= _values(calls["scope"], sizes))
        bad = outside & (np.asarray(calls["scope"]) >= 0) & np.isin(calls["path"], paths)
        self.note("calls", bad, "target", "root {peer} is out of range in communicator {scope}")

    def drop_orphans(self) -> None:
        """Leave out what belongs to a call that was left out, or that had not ended when the trace did."""
        known = self.tables["calls"]["number"]
        for name in ("transfers", "completions"):
            kept = np.isin(self.tables[name]["call"], known)
            if not kept.all():
                self.tables[name] = {column: values[kept] for column, values in self.tables[name].items()}

    def _operation(self) -> NDArray[np.int64]:
        return np.asarray(self.tables["transfers"]["kind"], dtype=np.int64) & 0xFF

    def _is_message(self) -> Mask:
        return np.isin(self._operation(), (SEND, RECEIVE))


def _ordered(table: Columns, keys: tuple[str, ...]) -> Columns:
    first = np.asarray(table[keys[0]])
    if len(keys) == 1 and (first[1:] >= first[:-1]).all():
        return table
    order = np.lexsort(tuple(table[key] for key in reversed(keys)))
    return {name: values[order] for name, values in table.items()}


def _falls(times: NDArray[np.integer[Any]]) -> Mask:
    values = np.asarray(times, dtype=np.int64)
    return np.asarray(values < np.maximum.accumulate(values)) if len(values) else np.zeros(0, dtype=bool)


def _values(keys: NDArray[np.integer[Any]], known: dict[int, int]) -> NDArray[np.int64]:
    """Return `known[key]` for each key, 0 where there is none."""
    each, place = np.unique(keys, return_inverse=True)
    return np.asarray(np.array([known.get(int(key), 0) for key in each], dtype=np.int64)[place.reshape(-1)])


def _unmatched(marks: Columns, definitions: LocalDefinitions) -> Mask:
    """Return which marks leave a region that is not open; a leave also closes what is open within its region."""
    path = np.asarray(marks["path"], dtype=np.int64)
    enters = np.asarray(marks["way"]) > 0
    bad = np.zeros(len(path), dtype=bool)
    parent = _values(path, {number: entry[0] for number, entry in definitions.paths.items()})
    before = np.zeros(len(path), dtype=np.int64)
    before[1:] = np.where(enters, path, parent)[:-1]
    if (before == np.where(enters, parent, path)).all():
        return bad
    stack: list[int] = []
    for place, (one, is_enter) in enumerate(zip(path.tolist(), enters.tolist(), strict=True)):
        if is_enter:
            stack.append(one)
        elif one in stack:
            while stack.pop() != one:
                pass
        else:
            bad[place] = True
    return bad
