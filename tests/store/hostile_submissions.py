"""Makes submissions that must be refused or flagged, each from a good one with one thing wrong, and the code of each."""

from __future__ import annotations

import copy
import datetime as dt
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import scalkit as sk
from scalkit.store.runs.columns import arrow_schema, names
from scalkit.store.runs.content import KEY, canonical, content_id, decoded, sealed
from scalkit.store.runs.summaries import recomputed
from scalkit.store.submissions.containers import Policy

__all__ = ["CASES", "FLAGGED", "good"]

Make = Callable[[Path, Path], Path]

CASES: dict[str, tuple[str, Make]] = {}
"""Name of the case: the code of its refusal, and what makes it, given a good store and a folder, as a path."""

FLAGGED: dict[str, tuple[str, Make]] = {}
"""The same of cases that are taken over, and left out of all answers until a person accepts them."""


def good(path: Path) -> Path:
    """Make a store with one run that is valid."""
    rng = np.random.default_rng(1)
    y = np.round(rng.lognormal(np.log(2e4), 0.1, (4, 40))) * 1e-9
    ds = sk.measurements([2, 4, 8, 16], y, name="MPI_Gather").assign_attrs(message_size_B=1024)
    sk.store.open(path).put(ds, machine="good machine", user="somebody", site="here")
    return path


def _case(name: str, code: str, cases: dict[str, tuple[str, Make]] = CASES) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        cases[name] = (code, make)
        return make

    return register


def _run_of(store: Path) -> tuple[dict[str, Any], pa.Table]:
    path = next((store / "runs").iterdir())
    record, table = decoded(path, path.name)
    return copy.deepcopy(record), table


def _written(
    into: Path,
    record: dict[str, Any],
    table: pa.Table,
    *,
    text: bytes | None = None,
    rename: bool = True,
    metadata: dict[bytes, bytes] | None = None,
    **options: Any,
) -> Path:
    """Write a run with a name that fits its content, so that only what a case is about is wrong."""
    if rename and text is None:
        record["run_id"] = content_id(record["measured"], table)
    content = {KEY: text if text is not None else canonical(sealed(record)).encode()} if metadata is None else metadata
    path = into / f"{record['run_id']}.parquet"
    with pq.ParquetWriter(path, table.schema, **{"store_schema": False, "compression": "zstd", **options}) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(content)
    return path


def _set(table: pa.Table, column: str, values: Any) -> pa.Table:
    field = arrow_schema().field(column)
    listed = values if isinstance(values, list) else [values] * len(table)
    return table.set_column(table.column_names.index(column), field, pa.array(listed, type=field.type))


def _record_case(name: str, code: str, change: Callable[[dict[str, Any]], None]) -> None:
    def make(store: Path, into: Path) -> Path:
        record, table = _run_of(store)
        change(record)
        return _written(into, record, table)

    CASES[name] = (code, make)


def _table_case(name: str, code: str, change: Callable[[pa.Table], pa.Table]) -> None:
    def make(store: Path, into: Path) -> Path:
        record, table = _run_of(store)
        return _written(into, record, change(table))

    CASES[name] = (code, make)


def _measured(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda record: record["measured"].__setitem__(key, value)


def _column(column: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    return lambda table: _set(table, column, values)


def _row(column: str, change: Callable[[Any], Any]) -> Callable[[pa.Table], pa.Table]:
    """Return what changes the first row of a column."""

    def changed(table: pa.Table) -> pa.Table:
        values = table[column].to_pylist()
        return _set(table, column, [change(values[0]), *values[1:]])

    return changed


# ---- names and texts ----

_record_case("HTML in the machine's name", "markup-in-name", _measured("machine", "<img src=x onerror=alert(1)>"))
_record_case("script in the site's name", "markup-in-name", _measured("site", "javascript:alert(1)"))
_record_case("entity in the campaign's name", "markup-in-name", _measured("campaign", "a&#60;b"))
_record_case("formula as the machine's name", "formula-in-name", _measured("machine", '=HYPERLINK("x")'.replace('"', "'")))
_record_case("formula after a blank", "formula-in-name", _measured("site", "  +1+1"))
_record_case("formula with an at sign", "formula-in-name", _measured("label", "@SUM(A1)"))
_record_case("formula as the contributor", "formula-in-name", lambda r: r["filing"].update(contributor="-2+3|cmd"))
_record_case("control character", "text-control", _measured("machine", "a\x1b[31m"))
_record_case("text that runs backwards", "text-control", _measured("machine", "a\u202egnp.exe"))
_record_case("zero-width characters", "text-control", _measured("machine", "a\u200bb"))
_record_case("text not in normal form", "text-not-nfc", _measured("site", "Mu\u0308nchen"))
_record_case("very long text", "text-long", lambda r: r["filing"].update(notes="x" * 5000))
_record_case("name of blanks", "name-blank", _measured("machine", "   "))
_record_case("name of letters without a shape", "name-blank", _measured("machine", "\u3164\u3164"))
_record_case("variation selector in a name", "text-invisible", _measured("machine", "good\ufe0f machine"))
_record_case("variation selector of the supplement", "text-invisible", _measured("site", "here\U000e0100"))
_record_case("joiner of graphemes in a name", "text-invisible", _measured("label", "a\u034fb"))
_record_case("Mongolian variation selector", "text-invisible", _measured("campaign", "a\u180bb"))
_record_case("Hangul filler within a name", "text-invisible", _measured("machine", "good\u3164machine"))
_record_case("tag characters", "text-control", _measured("machine", "a\U000e0041"))
_record_case("heap of accents", "name-accents", _measured("machine", "q" + "\u0316" * 40))
_record_case("formula in wide letters", "formula-in-name", _measured("site", "\uff1d1+1"))
_record_case("markup in wide letters", "markup-in-name", _measured("site", "\uff1cb\uff1e"))
_table_case("Cyrillic a in an operation", "name-disguised", _column("op", "MPI_G\u0430ther"))
_record_case("Cyrillic a in a name", "name-disguised", _measured("machine", "d\u0430int"))
_record_case("Greek letter in a name", "name-disguised", _measured("site", "C\u039fRE"))
_table_case("operation in Cyrillic letters only", "name-disguised", _column("op", "\u0405\u0441\u0430\u0440"))
_table_case("operation in bold letters", "name-disguised", _column("op", "\U0001d40c\U0001d40f\U0001d408"))
_table_case("variation selector in an operation", "text-invisible", _column("op", "MPI_Gather\ufe0f"))
_table_case("Cherokee letters in an operation", "name-disguised", _column("op", "\u13b7PI_Gather"))
_table_case("operation in Cherokee letters only", "name-disguised", _column("op", "\u13aa\u13b7\u13e2"))
_table_case("long s in an operation", "name-disguised", _column("op", "MPI_\u017fcan"))
_table_case("ligature in an operation", "name-disguised", _column("op", "MPI_Pro\ufb01le"))
_table_case("Roman numeral in an operation", "name-disguised", _column("op", "MP\u2160_Gather"))
_table_case("Greek letter in an operation", "name-disguised", _column("op", "\u039cPI_Gather"))
_table_case("Armenian letter in an operation", "name-disguised", _column("op", "MPI_B\u057dast"))
_table_case("Coptic letter in an operation", "name-disguised", _column("op", "MPI_G\u2c9fther"))
_table_case("dotless i in an operation", "name-disguised", _column("op", "MPI_Al\u0131gn"))
_table_case("Lisu letter in an operation", "name-disguised", _column("op", "\ua4dfPI_Gather"))
_table_case("letter of phonetics in an operation", "name-disguised", _column("op", "MPI_\u0261ather"))
_table_case("digit of another script in an operation", "name-disguised", _column("op", "MPI_Gather_\u0966"))
_table_case("what is fixed, with a hidden space", "text-control", _column("fixed", '{"msg_By":1024,"a":"b\\u200bc"}'))
_table_case("what is fixed, in disguise", "name-disguised", _column("fixed", '{"msg_By":1024,"\\u0430lgorithm":"tree"}'))
_table_case("HTML in an operation", "markup-in-name", _column("op", "<script>alert(1)</script>"))
_table_case("formula in an operation", "formula-in-name", _column("op", "=cmd()"))
_table_case("newline in an operation", "text-control", _column("op", "MPI_Gather\nMPI_Send"))
_table_case("fixed parameters that are no JSON", "text-json", _column("fixed", "__import__('os')"))

_table_case("NaN in what is fixed", "text-json", _column("fixed", '{"msg_By":NaN}'))
_table_case("an infinite number in what is fixed", "text-json", _column("fixed", '{"msg_By":1024,"n":1e999}'))
_table_case("what is fixed twice", "text-json", _column("fixed", '{"msg_By":1024,"msg_By":8}'))
_record_case("terminal escapes in what a machine is", "text-control", _measured("machine_desc", {"network": "a\x1b[2J"}))
_record_case("terminal escapes in the name of a variable", "text-control", _measured("environment", {"A\x1b[2J": "x"}))

# ---- the record ----

_record_case("unknown field", "record-schema", _measured("command", "rm"))
_record_case("number as a text", "record-schema", _measured("nodes", "many"))
_record_case("empty machine", "record-schema", _measured("machine", ""))
_record_case("no launches", "record-schema", lambda r: r["measured"].pop("launches"))
_record_case("newer schema", "schema-newer", lambda r: r.update(schema_version=99))
_record_case("future date", "date-future", _measured("started", "2999-01-01T00:00:00Z"))
_record_case("date in wide digits", "date-wrong", _measured("started", "\uff12\uff10\uff12\uff16-01-01T00:00:00Z"))
_record_case("date before all time zones", "date-early", _measured("started", "0001-01-01T00:00:00+23:59"))
_record_case("link that takes bytes back", "record-schema", _measured("machine_desc", {"link_By_per_s": -1}))
_record_case("more processes than numbers", "record-schema", lambda r: r["measured"]["launches"][0].update(p=2**40))
_record_case(
    "ends in the future", "date-future", _measured("ended", (dt.datetime.now(dt.UTC) + dt.timedelta(days=2)).isoformat())
)
_record_case("date before MPI", "date-early", _measured("started", "1970-01-01T00:00:00Z"))
_record_case("no date", "date-wrong", _measured("started", "yesterday"))
_record_case(
    "begins after its end",
    "date-order",
    lambda r: r["measured"].update(started="2026-02-01T00:00:00Z", ended="2026-01-01T00:00:00Z"),
)
_record_case("more processes than nodes hold", "processes-beyond", lambda r: r["measured"].update(nodes=1, processes_per_node=1))


def _of_clock(store: Path, into: Path, **measured: Any) -> Path:
    record, table = _run_of(store)
    record["measured"] |= measured
    return _written(into, record, table)


@_case("virtual clock without its numbers", "clock-wrong")
def _(store: Path, into: Path) -> Path:
    return _of_clock(store, into, clock="virtual")


@_case("real clock with the numbers of a virtual one", "clock-wrong")
def _(store: Path, into: Path) -> Path:
    return _of_clock(store, into, simulation={"virtual": {"network": "mine", "L_s": 1e-6}})


@_case("real clock and a simulator", "clock-wrong")
def _(store: Path, into: Path) -> Path:
    return _of_clock(store, into, simulation={"platform": "juropa"})


@_case("another clock", "record-schema")
def _(store: Path, into: Path) -> Path:
    return _of_clock(store, into, clock="sundial")


def _lacking(part: str, field: str) -> None:
    """Add the case of a record without a field."""

    @_case(f"record without {part}.{field}", "record-schema")
    def _(store: Path, into: Path) -> Path:
        record, table = _run_of(store)
        del record[part][field]
        return _written(into, record, table)


for _part, _field in (("measured", "clock"), ("measured", "parameter"), ("filing", "filed")):
    _lacking(_part, _field)


@_case("filing whose time is written otherwise", "record-schema")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    record["filing"]["filed"] = "20260101T000000+05:00"
    return _written(into, record, table)


@_case("record nested without end", "record-deep")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=b'{"measured":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


@_case("record with NaN", "record-json")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=canonical(record).encode().replace(b'"nodes":0', b'"nodes":NaN'))


@_case("record with a number beyond all", "record-json")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=canonical(record).encode().replace(b'"nodes":0', b'"nodes":1e999'))


@_case("record with half a character", "text-control")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=canonical(record).encode().replace(b'"site":"here"', b'"site":"\\ud800"'))


@_case("record that does not fit its hash", "record-damaged")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=canonical(record).encode().replace(b"somebody", b"somebodi"))


@_case("record without its hash", "record-damaged")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    del record["sha256"]
    return _written(into, record, table, text=canonical(record).encode())


@_case("record with a key twice", "record-json")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=canonical(record).encode().replace(b'"nodes":0', b'"nodes":1,"nodes":2'))


@_case("record of 5 MB", "record-large")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, text=canonical(record).encode() + b" " * 5_000_000)


@_case("no record", "record-missing")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table, metadata={b"other": b"{}"})


@_case("record of another run", "id-mismatch")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, _row("foreign_load", lambda _: 0.5)(table), rename=False)


@_case("file under another name", "id-mismatch")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    path = _written(into, record, table)
    return path.rename(into / f"{'0' * 32}.parquet")


# ---- the measurements ----

_table_case("NaN in a summary", "not-finite", _row("mean", lambda _: float("nan")))
_table_case("infinity in a summary", "not-finite", _row("max", lambda _: float("inf")))
_table_case("time of nothing", "not-positive", _row("raw", lambda raw: [0, *raw[1:]]))
_table_case("negative time", "not-positive", _row("raw", lambda raw: [-5, *raw[1:]]))
_table_case("time beyond 64 bits' half", "out-of-range", _row("raw", lambda raw: [2**63 - 1, *raw[1:]]))
_table_case("median that does not follow", "summary-mismatch", _row("med", lambda med: med / 2))
_table_case("hash that does not follow", "summary-mismatch", _row("raw_hash", lambda number: number ^ 1))
_table_case("repetitions that are not there", "count-mismatch", _row("n", lambda n: n + 1))
_table_case("passes that do not add up", "count-mismatch", _row("passes", lambda passes: [*passes, 7]))
_table_case("late repetition that is not there", "index-wrong", _row("late_at", lambda _: [10_000]))
_table_case("least time where the median stands", "summary-mismatch", _column("statistic", "min"))
_table_case("late repetition before the first", "index-wrong", _row("late_at", lambda _: [-1]))
_table_case("late repetition twice", "summary-mismatch", _row("late_at", lambda _: [1, 1]))
_table_case("another size than what is fixed", "fixed-mismatch", _column("fixed", '{"msg_By":8}'))
_table_case("other processes than what is fixed", "fixed-mismatch", _column("fixed", '{"msg_By":1024,"p":999}'))
_table_case("root slower than all", "root-impossible", _column("root_raw", [[10**9] * 40] * 4))
_table_case("times of processes that are not there", "count-mismatch", _column("process_med", [[1]] * 4))
_table_case("least repetitions above most", "out-of-range", lambda t: _set(_set(t, "rep_min", 100), "rep_max", 10))
_table_case("fewer than no warm-ups", "out-of-range", _column("warmup", -1))
_table_case("negative load", "out-of-range", _column("foreign_load", -3.0))
_table_case("first time beyond all", "not-positive", _row("first", lambda _: 2**62 + 1))
_table_case("no processes", "out-of-range", _column("p", 0))
_table_case("unknown pattern", "pattern-unknown", _column("pattern", "teleport"))
_table_case("unknown status", "status-unknown", _column("status", "great"))
_table_case("time in furlongs", "unit-wrong", _column("unit", "furlong"))
_table_case("unknown unit", "unit-unknown", lambda t: _set(_set(t, "metric", "speed"), "unit", "furlong"))
_table_case("launch that is not there", "launch-wrong", _column("launch", 77))
_table_case("x that is not its parameter", "x-mismatch", _column("x", 3))
_table_case("one suite of two kinds", "suite-mixed", _row("datatype", lambda _: "MPI_INT"))
_table_case("measurement twice", "measurement-twice", lambda t: pa.concat_tables([t, t.slice(0, 1)]))
_table_case("no measurement", "empty", lambda t: t.slice(0, 0))
_table_case(
    "negative latency of another metric",
    "not-positive",
    lambda t: _row("raw", lambda r: [-5, *r[1:]])(_set(t, "metric", "latency")),
)
_table_case("negative first time", "not-positive", _row("first", lambda _: -1))
_table_case(
    "bandwidth of what calls itself a barrier",
    "bandwidth-impossible",
    lambda t: _set(_with_size(t, 10**12), "op", "Barrier_gather"),
)
_table_case("faster than cores talk", "latency-impossible", lambda t: _timed(t, lambda raw: [1 + time % 3 for time in raw]))
_table_case("impossible bandwidth", "bandwidth-impossible", lambda t: _with_size(t, 10**12))


def _timed(table: pa.Table, change: Callable[[list[int]], list[int]]) -> pa.Table:
    return recomputed(_set(table, "raw", [change(raw) for raw in table["raw"].to_pylist()]))


def _with_size(table: pa.Table, size: int) -> pa.Table:
    return _set(_set(table, "msg_By", size), "fixed", json.dumps({"msg_By": size}, separators=(",", ":")))


def _of_all_case(name: str, op: str, p: int, ns: int) -> None:
    """Add the case of an operation of all processes that is faster than any machine."""

    @_case(name, "latency-impossible")
    def _(store: Path, into: Path) -> Path:
        record, table = _run_of(store)
        for launch in record["measured"]["launches"]:
            launch["p"] = p
        table = _set(_set(_set(table, "op", op), "p", p), "x_name", "root")
        return _written(into, record, _timed(table, lambda raw: [ns + time % 3 for time in raw]))


_of_all_case("barrier of a million processes in 6 ns", "MPI_Barrier", 10**6, 6)
_of_all_case("barrier of 64 processes in 20 ns", "MPI_Barrier", 64, 20)
_of_all_case("reduction of 4,096 processes in 100 ns", "MPI_Allreduce", 4096, 100)


@_case("faster than its declared link", "bandwidth-impossible")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    record["measured"]["machine_desc"] = {"link_By_per_s": 1e6}
    return _written(into, record, table)


@_case("raw data twice in a run", "raw-duplicated")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    derived = ("raw", "raw_hash", "value", "min", "q1", "med", "q3", "max", "mean", "sd", "cut_mean")
    for column in derived:
        values = table[column].to_pylist()
        table = _set(table, column, [values[0], values[0], *values[2:]])
    return _written(into, record, table)


def _copy_case(name: str, code: str, change: Callable[[np.ndarray], Any] = lambda raw: raw, **of_table: Any) -> None:
    """Add the case of a run beside another one that has its repetitions, changed.

    `of_table`: columns of the copy, and the value of each.
    """

    def make(store: Path, into: Path) -> Path:
        record, table = _run_of(store)
        _written(into, copy.deepcopy(record), table)
        record["measured"].update(machine="another machine", label="other", started="2026-02-01T00:00:00Z")
        changed = [np.asarray(change(np.array(raw)), dtype=np.int64).tolist() for raw in table["raw"].to_pylist()]
        table = _set(_set(table, "n", [len(raw) for raw in changed]), "passes", [[len(raw)] for raw in changed])
        for column, value in of_table.items():
            table = _set(table, column, value)
        _written(into, record, recomputed(_set(table, "raw", changed)))
        return into

    FLAGGED[name] = (code, make)


def _shuffled(raw: np.ndarray) -> np.ndarray:
    return np.random.default_rng(int(raw[0])).permutation(raw)


def _noisy(raw: np.ndarray, share: float) -> np.ndarray:
    return np.rint(raw * (1 + share * np.random.default_rng(int(raw[0])).standard_normal(len(raw))))


_copy_case("raw data of another run of the submission", "raw-copied")
_copy_case("the same of another operation", "raw-copied", op="MPI_Scatter")
_copy_case("copy later by 1 ns", "raw-copied", lambda raw: raw + 1)
_copy_case("copy backwards", "raw-copied", lambda raw: raw[::-1])
_copy_case("copy half as long", "raw-copied", lambda raw: raw // 2)
_copy_case("copy of the first half", "raw-copied", lambda raw: raw[: len(raw) // 2])
_copy_case("copy shuffled", "raw-copied", _shuffled)
_copy_case("copy shuffled and 1.5 times as long", "raw-copied", lambda raw: np.rint(_shuffled(raw) * 1.5))
_copy_case("copy with one repetition of another length", "raw-copied", lambda raw: [*raw[:20], raw[20] * 2, *raw[21:]])
_copy_case("copy with a noise of 0.1 %", "raw-copied", lambda raw: _noisy(raw, 0.001))
_copy_case("copy with a noise of 1 %", "raw-copied", lambda raw: _noisy(raw, 0.01))
_copy_case("copy with a noise of 1 %, of another operation", "raw-copied", lambda raw: _noisy(raw, 0.01), op="MPI_Scatter")
_copy_case("copy with a noise of 1 %, 1.3 times as long", "raw-copied", lambda raw: _noisy(raw, 0.01) * 1.3)
_copy_case("copy shuffled, without one repetition", "raw-copied", lambda raw: _shuffled(raw)[1:])
_copy_case("copy shuffled, without one repetition, later by 3 ns", "raw-copied", lambda raw: _shuffled(raw)[1:] + 3)
_copy_case("copy of every second repetition", "raw-copied", lambda raw: raw[::2])
_copy_case("copy of every third repetition", "raw-copied", lambda raw: raw[::3])
_copy_case("copy of any half of the repetitions", "raw-copied", lambda raw: _shuffled(raw)[: len(raw) // 2])
_copy_case("copy of all repetitions without the longest", "raw-copied", lambda raw: np.delete(raw, raw.argmax()))


@_case("one measurement that another run of the submission has", "raw-copied", FLAGGED)
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    _written(into, copy.deepcopy(record), table)
    record["measured"].update(machine="another machine", label="other")
    others = np.random.default_rng(5).integers(10_000, 30_000, (3, 40)).tolist()
    _written(into, record, recomputed(_set(table, "raw", [*others, table["raw"].to_pylist()[3]])))
    return into


@_case("copy that calls itself simulated", "raw-copied", FLAGGED)
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    _written(into, copy.deepcopy(record), table)
    record["measured"].update(machine="another machine", clock="simulated", simulation={"platform": "juropa"})
    _written(into, record, table)
    return into


def _constant_case(name: str, code: str, times: list[list[int]], resolution_ns: int | None) -> None:
    @_case(name, code, FLAGGED)
    def _(store: Path, into: Path) -> Path:
        record, table = _run_of(store)
        if resolution_ns is not None:
            record["measured"]["timer"] = {"resolution_ns": resolution_ns}
        table = _set(_set(table, "n", [len(raw) for raw in times]), "passes", [[len(raw)] for raw in times])
        return _written(into, record, recomputed(_set(table, "raw", times)))


_TICKING = np.random.default_rng(6).integers(10_000, 90_000, (3, 60)).tolist()
_STILL = [[time] * 40 for time in (20_011, 30_017, 40_009, 50_021)]
_constant_case("round times, each the same, of a clock that ticks", "clock-stopped", [[k * 10_000] * 40 for k in range(1, 5)], 1)
_constant_case("a clock that stands still", "clock-stopped", _STILL, None)
_constant_case("a clock that stands still, and tells of long steps", "clock-stopped", _STILL, 10**12)
_constant_case("few repetitions that are all the same", "clock-stopped", [[20_000 + k] * 10 for k in range(4)], 1)
_constant_case("two times of a clock that ticks", "clock-coarse", [[20_011, 25_003] * 30, *_TICKING], 1)

# ---- the Parquet file ----


@_case("no Parquet", "not-parquet")
def _(store: Path, into: Path) -> Path:
    path = into / f"{'1' * 32}.parquet"
    path.write_bytes(b"PAR1" + os.urandom(500) + b"PAR1")
    return path


@_case("empty file", "not-parquet")
def _(store: Path, into: Path) -> Path:
    path = into / f"{'1' * 32}.parquet"
    path.write_bytes(b"")
    return path


@_case("truncated Parquet", "not-parquet")
def _(store: Path, into: Path) -> Path:
    path = next((store / "runs").iterdir())
    (into / path.name).write_bytes(path.read_bytes()[:-50])
    return into / path.name


@_case("Parquet with broken pages", "not-parquet")
def _(store: Path, into: Path) -> Path:
    path = next((store / "runs").iterdir())
    content = bytearray(path.read_bytes())
    content[100:400] = b"\xff" * 300
    (into / path.name).write_bytes(bytes(content))
    return into / path.name


@_case("footer that says it is huge", "not-parquet")
def _(store: Path, into: Path) -> Path:
    path = next((store / "runs").iterdir())
    content = bytearray(path.read_bytes())
    content[-8:-4] = (2**31 - 1).to_bytes(4, "little")
    (into / path.name).write_bytes(bytes(content))
    return into / path.name


@_case("repetition that is missing", "null-value")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    missing = _row("raw", lambda raw: [None, *raw[1:]])(table)
    return _written(into, record, missing, text=canonical(record).encode())


@_case("bomb of repetitions", "too-many-values")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    zeros = pa.ListArray.from_arrays(pa.array([0, 2_000_000], type=pa.int32()), pa.array(np.zeros(2_000_000, np.int64)))
    bomb = table.slice(0, 1)
    bomb = bomb.set_column(bomb.column_names.index("raw"), arrow_schema().field("raw"), zeros)
    return _written(into, record, bomb, text=canonical(record).encode(), use_dictionary=False, compression_level=1)


@_case("bomb of one text", "text-long")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, _set(table, "definition", "x" * 2_000_000), use_dictionary=names("string"))


@_case("type that runs code", "extension-type")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    storage = table["definition"].combine_chunks()
    opaque = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "evil", "vendor"), storage)
    table = table.set_column(table.column_names.index("definition"), "definition", opaque)
    return _written(into, record, table, text=canonical(record).encode(), store_schema=True)


@_case("column missing", "column-missing")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table.drop_columns(["raw"]))


@_case("column of another type", "column-type")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    narrow = table["p"].cast(pa.int32())
    return _written(into, record, table.set_column(table.column_names.index("p"), "p", narrow), text=canonical(record).encode())


@_case("times as floating point", "column-type")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    floats = table["raw"].cast(pa.list_(pa.float64()))
    return _written(
        into, record, table.set_column(table.column_names.index("raw"), "raw", floats), text=canonical(record).encode()
    )


@_case("column that nobody knows", "column-unknown")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    return _written(into, record, table.append_column("payload", pa.array(["x"] * len(table))))


@_case("hundred columns", "too-many-columns")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    for number in range(100):
        table = table.append_column(f"c{number}", pa.array([0] * len(table)))
    return _written(into, record, table)


@_case("two thousand row groups", "too-many-row-groups")
def _(store: Path, into: Path) -> Path:
    record, table = _run_of(store)
    path = into / f"{record['run_id']}.parquet"
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        for _ in range(2000):
            writer.write_table(table.slice(0, 1))
        writer.add_key_value_metadata({KEY: canonical(record).encode()})
    return path


# ---- folders and zips ----


def _zip(into: Path, members: dict[str, bytes], *, links: tuple[str, ...] = ()) -> Path:
    path = into / "submission.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if name in links else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


def _zip_case(name: str, code: str, members: dict[str, bytes], links: tuple[str, ...] = ()) -> None:
    CASES[name] = (code, lambda store, into: _zip(into, members, links=links))


_zip_case("zip that leads upwards", "zip-path", {"../../evil.parquet": b"x"})
_zip_case("zip with an absolute path", "zip-path", {"/etc/evil.parquet": b"x"})
_zip_case("zip with a path of Windows", "zip-path", {"..\\evil.parquet": b"x"})
_zip_case("zip with a link", "link", {"runs/a.parquet": b"/etc/passwd"}, ("runs/a.parquet",))
_zip_case("zip with a program", "unexpected-file", {"runs/run.sh": b"#!/bin/sh"})
_zip_case("zip with a pickle", "unexpected-file", {"runs/a.pkl": b"x"})
_zip_case("zip with a database", "unexpected-file", {"store.duckdb": b"x"})
_zip_case("zip with a notebook", "unexpected-file", {"a.ipynb": b"{}"})
_zip_case("zip with two names that are one", "zip-duplicate", {"runs/A.json": b"1", "runs/a.json": b"2"})
_zip_case("zip bomb", "zip-bomb", {"runs/a.parquet": bytes(20_000_000)})
_zip_case("zip without runs", "no-runs", {"README.md": b"hello"})
_zip_case("zip with very deep folders", "zip-path", {f"{'a/' * 50}x.json": b"1"})


@_case("zip with too many files", "too-many-files")
def _(store: Path, into: Path) -> Path:
    return _zip(into, {f"runs/f{number}.json": b"" for number in range(Policy().max_files + 1)})


@_case("no zip at all", "zip-broken")
def _(store: Path, into: Path) -> Path:
    path = into / "submission.zip"
    path.write_bytes(b"PK\x03\x04" + os.urandom(300))
    return path


@_case("zip whose sizes lie", "zip-broken")
def _(store: Path, into: Path) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("runs/a.json", bytes(100_000))
    content = bytearray(buffer.getvalue())
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path = into / "submission.zip"
    path.write_bytes(bytes(content))
    return path


@_case("folder with an index", "index-brought")
def _(store: Path, into: Path) -> Path:
    shutil.copytree(store, into / "s")
    (into / "s" / "index").mkdir()
    return into / "s"


@_case("zip with an index", "index-brought")
def _(store: Path, into: Path) -> Path:
    run = next((store / "runs").iterdir())
    return _zip(into, {f"runs/{run.name}": run.read_bytes(), "index/0/points.parquet": b"x"})


@_case("folder with a link", "link")
def _(store: Path, into: Path) -> Path:
    (into / "runs").mkdir()
    (into / "runs" / f"{'a' * 32}.parquet").symlink_to("/etc/passwd")
    return into


@_case("folder with a pipe", "special-file")
def _(store: Path, into: Path) -> Path:
    os.mkfifo(into / f"{'a' * 32}.parquet")
    return into


@_case("store of a newer schema", "schema-newer")
def _(store: Path, into: Path) -> Path:
    (into / "scalkit-store.json").write_text('{"scalkit_store": 1, "schema_version": 99}')
    return into
