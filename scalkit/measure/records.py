"""The records of a run file as values, each field checked; errors name file and line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scalkit.errors import RunFileError
from scalkit.measure.schema import RESERVED
from scalkit.measure.virtual_time import virtual_of
from scalkit.support.text import shortened

SCHEMA = 1
"""Newest schema version of run files that this version reads."""

_STATUSES = ("open", "converged", "capped", "budget")
_MISSING = object()
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Record:
    """One line of a run file, with its place for messages."""

    file: str
    line: int
    fields: Mapping[str, Any]

    def error(self, text: str) -> RunFileError:
        """Return the error that says `text` about this line."""
        return RunFileError(f"{self.file}, line {self.line}: {text}")

    def _wrong(self, key: str, allowed: str) -> RunFileError:
        value = self.fields.get(key, _MISSING)
        shown = "is missing" if value is _MISSING else f"is {_short(value)}"
        kind = self.fields.get("rec", "?")
        return self.error(f"{key!r} of the {kind!r} record {shown}; {allowed} is needed. Restore the file or measure again.")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text field."""
        value = self.fields.get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, "a text")
        return value

    def name(self, key: str) -> str:
        """Return a text field that names something: 1 to 500 characters without NUL."""
        value = self.text(key)
        if not value or len(value) > 500 or "\0" in value:
            raise self._wrong(key, "a name of 1 to 500 characters without NUL")
        return value

    def whole(self, key: str, default: int | None = None, least: int = 0) -> int:
        """Return a whole-number field from `least` to 2**63 - 1."""
        value = self.fields.get(key, default)
        if not _is_whole(value) or value < least:
            raise self._wrong(key, f"a whole number of at least {least}")
        if value > _LARGEST:
            raise self._wrong(key, f"a whole number of at most {_LARGEST}")
        return int(value)

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number; the default may be NaN."""
        if key not in self.fields and default is not None:
            return default
        value = self.fields.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise self._wrong(key, "a finite number")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return a field that is true or false."""
        value = self.fields.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def wholes(self, key: str, default: list[int] | None = None, least: int = 0, most: int = _LARGEST) -> tuple[int, ...]:
        """Return a list of whole numbers, each from `least` to `most`."""
        value = self.fields.get(key, default)
        if not isinstance(value, list):
            raise self._wrong(key, "a list of whole numbers")
        for place, item in enumerate(value):
            if not _is_whole(item) or not least <= item <= most:
                is_short = most == _LARGEST and (not _is_whole(item) or item < least)
                limit = f"of at least {least}" if is_short else f"from {least} to {most}"
                raise self.error(
                    f"{key}[{place}] is {_short(item)}; a whole number {limit} is needed. Restore the file or measure again."
                )
        return tuple(value)

    def rows(self, key: str, width: int, most: int) -> tuple[tuple[int, ...], ...]:
        """Return a list of at most `most` lists of `width` whole numbers each; empty if it is absent."""
        value = self.fields.get(key, [])
        if not isinstance(value, list) or len(value) > most:
            raise self._wrong(key, f"a list of at most {most} lists")
        for place, row in enumerate(value):
            if (
                not isinstance(row, list)
                or len(row) != width
                or not all(_is_whole(item) and 0 <= item <= _LARGEST for item in row)
            ):
                raise self.error(
                    f"{key}[{place}] is {_short(row)}; a list of {width} whole numbers of at least 0 is needed, one for each "
                    "process. Restore the file or measure again."
                )
        return tuple(tuple(row) for row in value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return a field that is an object; empty if it is absent."""
        value = self.fields.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, "an object {...}")
        return value

    def without(self, key: str) -> Record:
        """Return the same record without a field."""
        return Record(self.file, self.line, {name: value for name, value in self.fields.items() if name != key})

    def below(self, key: str) -> Record:
        """Return the object in field `key` as a record of the same line."""
        return Record(self.file, self.line, {"rec": f"{self.fields.get('rec')}.{key}", **self.mapping(key)})


@dataclass(frozen=True)
class Env:
    """Circumstances of one launch, the first line of its file; `point` is its value of `parameter`.

    In virtual time, where `virtual` has the numbers of the machine, processes never outnumber cores, and the nodes are its.
    """

    run_id: str
    program: str
    p: int
    host: str
    started: str
    mpi_library: str
    processes_per_node: int
    oversubscribed: bool
    simulated: bool
    parameter: str
    point: int
    fields: Mapping[str, Any] = field(repr=False)
    virtual: Mapping[str, Any] = field(repr=False, default_factory=dict)
    values: Mapping[str, int] = field(repr=False, default_factory=dict)
    """Of all parameters; several have no `point`."""

    @classmethod
    def of(cls, record: Record) -> Env:
        """Return the circumstances, after a check of the schema version."""
        schema = record.whole("schema", least=1)
        if schema > SCHEMA:
            raise record.error(f"schema {schema} is newer than {SCHEMA}, the newest that this scalkit reads; update scalkit.")
        p = record.whole("p", least=1)
        parameter, point, values = _point(record, p)
        virtual = virtual_of(record.fields)
        per_node = (
            min(p, Record(record.file, record.line, {"rec": "virtual", **virtual}).whole("per_node", 1, least=1))
            if virtual
            else p
        )
        return cls(
            run_id=record.name("run_id"),
            program=record.name("program"),
            p=p,
            host=record.text("host", ""),
            started=record.text("started", ""),
            mpi_library=record.text("mpi_library", ""),
            processes_per_node=per_node if virtual else record.whole("processes_per_node", p, least=1),
            oversubscribed=record.flag("oversubscribed", False) and not virtual,
            simulated=record.flag("simulated", False),
            parameter=parameter,
            point=point,
            fields=record.fields,
            virtual=virtual,
            values=values,
        )


def pass_of(record: Record, t_ns: tuple[int, ...]) -> dict[str, Any]:
    """Return what every pass of measurements says."""
    return {
        "op": record.name("op"),
        "p": record.whole("p", least=1),
        "size_bytes": record.whole("size_B"),
        "number": record.whole("pass", 0),
        "t_ns": t_ns,
        "verified": record.flag("verified", True),
        "foreign_load": math.nan if record.fields.get("foreign_load") is None else record.number("foreign_load"),
    }


@dataclass(frozen=True)
class Cell:
    """One pass of one timed operation: raw repetitions in ns, in order of execution."""

    op: str
    p: int
    size_bytes: int
    datatype: str
    number: int
    t_ns: tuple[int, ...]
    late_at: tuple[int, ...]
    overrun_at: tuple[int, ...]
    status: str
    verified: bool
    foreign_load: float
    first_ns: float
    involuntary_switches: float = math.nan
    pure_ns: tuple[int, ...] = ()
    """Of an overlap: call and wait without work beside them."""
    work_ns: tuple[int, ...] = ()
    """Of an overlap: the work alone."""
    root_ns: tuple[int, ...] = ()
    """When process 0 was done, of each repetition; empty if it was not kept."""
    process_ns: tuple[tuple[int, ...], ...] = ()
    """When each process was done, of the first repetitions of the pass."""
    messages: int = 0
    """Of a window: messages of all processes in a repetition."""

    @classmethod
    def of(cls, record: Record) -> Cell:
        """Return the pass, after a check that the counts agree with the lists."""
        t_ns = record.wholes("t_ns", least=1)
        n = record.whole("n")
        if n != len(t_ns):
            raise record.error(f"n is {n}, but t_ns has {len(t_ns)} values; restore the file or measure again.")
        status = record.text("status", "open")
        if status not in _STATUSES:
            raise record.error(f"the status is {_short(status)}; {', '.join(_STATUSES)} are known. Update scalkit.")
        return cls(
            **pass_of(record, t_ns),
            datatype=record.text("datatype", ""),
            late_at=record.wholes("late_at", [], most=n - 1),
            overrun_at=record.wholes("overrun_at", [], most=n - 1),
            status=status,
            involuntary_switches=record.number("involuntary_switches", math.nan),
            first_ns=record.number("first_ns", math.nan),
            pure_ns=record.wholes("pure_ns", []),
            work_ns=record.wholes("work_ns", []),
            root_ns=_of_root(record, n),
            process_ns=record.rows("process_ns", record.whole("p", least=1), n),
            messages=record.whole("messages", 0),
        )


@dataclass(frozen=True)
class Memory:
    """Bytes of one kind of object, or of the library itself, at one number of processes."""

    op: str
    p: int
    values: Mapping[str, float]
    bypassed: bool
    verified: bool

    @classmethod
    def of(cls, record: Record) -> Memory:
        """Return the values by the names of the Dataset's variables."""
        op, shape = record.name("op"), record.text("shape", "identity")
        if shape != "identity" and "[" not in op:
            op = f"{op}[{shape}]"
        own = "process_memory_B" in record.fields
        values = _own_memory(record) if own else _object_memory(record)
        return cls(op, record.whole("p", least=1), values, record.flag("bypassed", False), record.flag("verified", True))


@dataclass(frozen=True)
class Count:
    """How much one function did: the same number in every repetition."""

    op: str
    operations: int
    verified: bool

    @classmethod
    def of(cls, record: Record) -> Count:
        """Return the count."""
        return cls(record.name("op"), record.whole("operations"), record.flag("verified", True))


@dataclass(frozen=True)
class Region:
    """How often a part of a program was entered in a launch, and what it did to memory; NaN where that is unknown."""

    op: str
    values: Mapping[str, float]

    @classmethod
    def of(cls, record: Record) -> Region:
        """Return the numbers by the names of the Dataset's variables."""
        names = {"calls": "calls", "memory_kept": "kept_B", "memory_peak": "peak_B"}
        values = {name: record.number(key, math.nan) for name, key in names.items()}
        return cls(record.name("op"), {name: value for name, value in values.items() if not math.isnan(value)})


@dataclass(frozen=True)
class Skip:
    """Something that could not run, and why."""

    op: str
    why: str

    @classmethod
    def of(cls, record: Record) -> Skip:
        """Return what was skipped."""
        return cls(record.name("op"), record.text("why", ""))


def _point(record: Record, p: int) -> tuple[str, int, dict[str, int]]:
    """Return the parameter of a launch and its value: the number of processes, if it names no other; and all that it names.

    Of several parameters the names stand between commas, and there is no one value: 0.
    """
    if "parameter" not in record.fields:
        return "p", p, {"p": p}
    given = record.mapping("parameter")
    if not given:
        raise record.error("'parameter' has no entry; a name and its value are needed, as in {'k': 5}.")
    for name in given:
        if not name.isidentifier() or len(name) > 64 or name in RESERVED:
            raise record.error(f"the parameter {_short(name)} cannot have that name; use another, as in 'k'.")
    inner = record.below("parameter")
    values = {name: inner.whole(name, least=1) for name in given}
    return ",".join(values), (next(iter(values.values())) if len(values) == 1 else 0), values


def _object_memory(record: Record) -> dict[str, float]:
    details = ("first", "peak", "freed", "leaked", "steady_min")
    values = {"object_memory": record.number("steady_B")}
    values |= {f"object_memory_{name}": record.number(f"{name}_B", math.nan) for name in details}
    return values | {"pss_slope": record.number("pss_slope_B", math.nan)}


def _own_memory(record: Record) -> dict[str, float]:
    values = {"process_memory": record.number("process_memory_B"), "own_buffers": record.number("own_buffers_B", math.nan)}
    for stage in ("before_init", "after_init", "after_use"):
        inner = record.below(f"{stage}_B")
        values |= {f"{kind}_{stage}": inner.number(kind, math.nan) for kind in ("pss", "private", "rss")}
    return values


def _of_root(record: Record, n: int) -> tuple[int, ...]:
    found = record.wholes("root_ns", [])
    if len(found) not in (0, n):
        raise record.error(f"n is {n}, but root_ns has {len(found)} values; restore the file or measure again.")
    return found


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of more than 308 digits
        return False


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**60 else "a number of more than 60 digits"
    return shortened(text)
