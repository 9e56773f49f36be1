"""Reading one run file: what is kept, and a sentence with file and line for everything that is wrong."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from run_records import END, Writer, cell, env, memory, own_memory

from scalkit.errors import RunFileError
from scalkit.measure.runfile import is_run_file, read_run_file

AGAIN = "Restore the file or measure again."


def test_everything_of_a_complete_file(write: Writer) -> None:
    path = write(env(), cell(), cell(number=1, t_ns=(40,), status="converged"), memory(), own_memory(), END)
    run = read_run_file(path)
    assert run.complete
    assert run.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [c.t_ns for c in run.cells] == [(10, 20, 30), (40,)]
    assert run.cells[1].status == "converged"
    assert run.memories[0].values["object_memory"] == 5400
    assert run.memories[0].values["pss_slope"] == 5500.5
    assert run.memories[1].values["process_memory"] == 11_000_000
    assert run.memories[1].values["pss_after_use"] == 1000
    assert (run.env.p, run.env.host, run.env.oversubscribed) == (4, "node1", True)
    assert run.notes == ()


def test_shape_becomes_part_of_the_name(write: Writer) -> None:
    records = [memory("MPI_Comm_create", shape="reverse"), memory("MPI_Comm_create[random]", shape="random")]
    names = [m.op for m in read_run_file(write(env(), *records, END)).memories]
    assert names == ["MPI_Comm_create[reverse]", "MPI_Comm_create[random]"]


def test_unknown_fields_and_kinds_and_skips_are_noted(write: Writer) -> None:
    skip = {"rec": "skip", "op": "MPI_Win_create", "why": "no windows here"}
    run = read_run_file(write(env(later=1), {"rec": "weather"}, cell(colour="red"), skip, {"rec": "weather"}, END))
    assert run.notes == (
        "time-p0004-r00.jsonl: ignored 2 records of the unknown kind 'weather'",
        "time-p0004-r00.jsonl: MPI_Win_create was skipped at 4 processes: no windows here",
    )
    assert run.skips[0].op == "MPI_Win_create"


def test_every_prefix_of_a_file_is_readable(write: Writer) -> None:
    path = write(env(), cell(), cell("MPI_Reduce"), END)
    content = path.read_bytes()
    first_line = content.index(b"\n") + 1
    for size in range(first_line, len(content) - 1):
        path.write_bytes(content[:size])
        assert len(read_run_file(path).cells) <= 2
    path.write_bytes(content[: content.rindex(b"{")])
    run = read_run_file(path)
    assert not run.complete
    assert len(run.cells) == 2


def test_content_decides_not_the_name() -> None:
    assert is_run_file(b'  {"rec": "env"}')
    assert not is_run_file(b'{"other": 1}')
    assert not is_run_file(b"CDF\x01")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([env(schema=2)], "line 1: schema 2 is newer than 1, the newest that this scalkit reads; update scalkit."),
        ([cell()], f"line 1: the first record is 'cell'; 'env' is needed. {AGAIN}"),
        ([env(), cell(p=8)], f"line 2: p is 8, but the launch had 4 processes (line 1). {AGAIN}"),
        ([env(), memory(p=2)], f"line 2: p is 2, but the launch had 4 processes (line 1). {AGAIN}"),
        ([env(), cell(), cell()], f"line 3: pass 0 of 'MPI_Bcast' stands there a second time. {AGAIN}"),
        ([env(), memory(), memory()], f"line 3: the memory of 'MPI_Comm_dup' stands there a second time. {AGAIN}"),
        ([env(), END, cell()], f"line 3: there is more after the 'end' record. {AGAIN}"),
        ([env(), env()], f"line 2: a second 'env' record; a run file is one launch. {AGAIN}"),
        ([env(), cell(n=4)], "line 2: n is 4, but t_ns has 3 values; restore the file or measure again."),
        ([env(), cell(status="odd")], "line 2: the status is 'odd'; open, converged, capped, budget are known. Update scalkit."),
    ],
)
def test_contradictions(write: Writer, records: list[dict[str, Any]], message: str) -> None:
    path = write(*records)
    with pytest.raises(RunFileError, match=f"^{re.escape(f'{path.name}, {message}')}$"):
        read_run_file(path)


@pytest.mark.parametrize(
    ("value", "shown"), [(1.5, "1.5"), (0, "0"), (-1, "-1"), (True, "True"), ("9", "'9'"), (None, "None"), ([1], "[1]")]
)
def test_times_are_whole_and_positive(write: Writer, value: object, shown: str) -> None:
    record = cell()
    record["t_ns"][1] = value
    message = f"line 2: t_ns[1] is {shown}; a whole number of at least 1 is needed. {AGAIN}"
    with pytest.raises(RunFileError, match=re.escape(message)):
        read_run_file(write(env(), record))


@pytest.mark.parametrize("value", [2**63, 10**400])
def test_times_have_64_bits(write: Writer, value: int) -> None:
    with pytest.raises(RunFileError, match=re.escape(f"; a whole number from 1 to {2**63 - 1} is needed. {AGAIN}")):
        read_run_file(write(env(), cell(t_ns=(value,))))
    with pytest.raises(RunFileError, match=re.escape(f"; a whole number of at most {2**63 - 1} is needed. {AGAIN}")):
        read_run_file(write(env(), cell(size_B=value)))


@pytest.mark.parametrize("given", [[env(), cell()], [env(), cell(), memory(), {"rec": "weather"}]])
def test_a_missing_record_is_noticed(write: Writer, given: list[dict[str, Any]]) -> None:
    end = {**END, "records": len(given)}
    assert read_run_file(write(*given, end)).complete
    path = write(*given[:-1], end)
    message = (
        f"{path.name}, line {len(given)}: the 'end' record counts {len(given)} records before it, here are "
        f"{len(given) - 1}. {AGAIN}"
    )
    with pytest.raises(RunFileError, match=f"^{re.escape(message)}$"):
        read_run_file(path)


def test_index_of_a_late_repetition_is_in_range(write: Writer) -> None:
    message = f"line 2: late_at[0] is 3; a whole number from 0 to 2 is needed. {AGAIN}"
    with pytest.raises(RunFileError, match=re.escape(message)):
        read_run_file(write(env(), cell(late_at=[3])))


@pytest.mark.parametrize(
    ("record", "key", "allowed"),
    [
        (cell, "op", "a text"),
        (cell, "p", "a whole number of at least 1"),
        (cell, "size_B", "a whole number of at least 0"),
        (cell, "t_ns", "a list of whole numbers"),
        (cell, "n", "a whole number of at least 0"),
        (memory, "steady_B", "a finite number"),
        (env, "run_id", "a text"),
        (env, "schema", "a whole number of at least 1"),
        (env, "p", "a whole number of at least 1"),
    ],
)
def test_missing_fields(write: Writer, record: Any, key: str, allowed: str) -> None:
    spoiled = record()
    del spoiled[key]
    records = [spoiled] if record is env else [env(), spoiled]
    message = f"line {len(records)}: {key!r} of the {spoiled['rec']!r} record is missing; {allowed} is needed. {AGAIN}"
    with pytest.raises(RunFileError, match=re.escape(message)):
        read_run_file(write(*records))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (cell(verified=1), "'verified' of the 'cell' record is 1; true or false is needed."),
        (cell(op=""), "'op' of the 'cell' record is ''; a name of 1 to 500 characters without NUL is needed."),
        (cell(op="a\0b"), "'op' of the 'cell' record is 'a\\x00b'; a name of 1 to 500 characters without NUL is needed."),
        (cell(foreign_load="much"), "'foreign_load' of the 'cell' record is 'much'; a finite number is needed."),
        (own_memory(after_use_B=[]), "'after_use_B' of the 'mem' record is []; an object {...} is needed."),
    ],
)
def test_fields_of_the_wrong_kind(write: Writer, record: dict[str, Any], message: str) -> None:
    with pytest.raises(RunFileError, match=re.escape(f"line 2: {message} {AGAIN}")):
        read_run_file(write(env(), record))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"rec": "cell", "t_ns": [1, NaN]}', "NaN is not allowed"),
        ('{"rec": "cell", "x": -Infinity}', "-Infinity is not allowed"),
        ('{"rec": "cell" "op": 1}', "Expecting ',' delimiter"),
        ("[1, 2]", "no object with a text 'rec'"),
        ('{"rec": "cell", "op": "f\\ud800"}', "half a character (a lone surrogate such as \\ud800) is not allowed"),
        ('{"rec": 5}', "no object with a text 'rec'"),
        ("[" * 100_000, "maximum recursion depth exceeded"),
        ('{"rec": "cell", "n": ' + "9" * 5000 + "}", "Exceeds the limit (4300 digits) for integer string conversion"),
    ],
)
def test_edited_lines(write: Writer, line: str, reason: str) -> None:
    path = write(env(), cell())
    path.write_text(path.read_text() + line + "\n" + json.dumps(END) + "\n")
    with pytest.raises(RunFileError, match=re.escape(f"{path.name}, line 3: {reason}")) as caught:
        read_run_file(path)
    assert str(caught.value).endswith(f"; each line must be one record. {AGAIN}")


def test_numbers_beyond_floats(write: Writer) -> None:
    path = write(env(), memory())
    path.write_text(path.read_text().replace("5500.5", "1e999"))
    with pytest.raises(RunFileError, match=re.escape("'pss_slope_B' of the 'mem' record is inf; a finite number is needed.")):
        read_run_file(path)


def test_bytes_that_are_no_text(write: Writer) -> None:
    path = write(env(), cell())
    path.write_bytes(path.read_bytes().replace(b"MPI_Bcast", b"MPI_\xff"))
    with pytest.raises(RunFileError, match=r"line 2: 'utf-8' codec can't decode byte 0xff"):
        read_run_file(path)


def test_nothing_was_written(tmp_path: Path) -> None:
    path = tmp_path / "time.jsonl"
    path.write_text('{"rec": "env", "sch')
    message = "time.jsonl has no complete line: the launch died at once. Delete the file or measure again."
    with pytest.raises(RunFileError, match=f"^{re.escape(message)}$"):
        read_run_file(path)


def test_unreadable_path(tmp_path: Path) -> None:
    message = f"cannot read {tmp_path}: Is a directory; check the path and its permissions."
    with pytest.raises(RunFileError, match=f"^{re.escape(message)}$"):
        read_run_file(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"t_ns": [', '"t_ns": [' + "9" * 400 + ", ", "t_ns[0] is a number of more than 60 digits"),
        ('"foreign_load": ', '"foreign_load": ' + "9" * 400 + ', "x": ', "'foreign_load' of the 'cell' record is a number"),
        ('"p": 4', '"p": ' + "1" + "0" * 30, "'p' of the 'env' record is 1000000000000000000000000000000"),
    ],
)
def test_numbers_that_no_machine_has(write: Writer, old: str, new: str, message: str) -> None:
    path = write(env(), cell())
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(RunFileError, match=re.escape(message)):
        read_run_file(path)
