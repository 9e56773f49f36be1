"""Bad traces: one message with location and record, and the rest analysed if asked to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.trace import Options, TraceBuilder, analyse, read_result, write_result
from scalkit.trace.files.builder import write_header, write_location
from scalkit.trace.files.reader import read_header
from scalkit.trace.files.tables import TABLES
from scalkit.trace.local.part import load
from scalkit.trace.local.ranks import Ranks

END = "; record it again, or analyse the rest with --keep-going."


def good() -> TraceBuilder:
    trace = TraceBuilder(2)
    for location in range(2):
        trace.enter(location, "solve", 0)
        for k in range(3):
            call = trace.call(location, "MPI_Put", 10 * k, 10 * k + 2, scope=1, peer=1 - location)
            trace.transfer(location, "put", call, 1 - location)
            trace.call(location, "MPI_Win_flush", 10 * k + 4, 10 * k + 8, scope=1, peer=1 - location)
        trace.leave(location, "solve", 40)
    return trace


def change(trace: TraceBuilder, table: str, row: int, column: str, value: int) -> None:
    rows = trace.locations[1].rows[table]
    place = [name for name, _ in TABLES[table]].index(column)
    rows[row] = (*rows[row][:place], value, *rows[row][place + 1 :])


def unknown_transfer(trace: TraceBuilder) -> None:
    change(trace, "transfers", 1, "scope", 9)


def unknown_call(trace: TraceBuilder) -> None:
    change(trace, "calls", 1, "scope", 9)


def out_of_range(trace: TraceBuilder) -> None:
    change(trace, "transfers", 1, "peer", 2)


def negative(trace: TraceBuilder) -> None:
    change(trace, "transfers", 1, "peer", -3)


def leaves_first(trace: TraceBuilder) -> None:
    change(trace, "calls", 2, "leave", 9)


def backwards(trace: TraceBuilder) -> None:
    change(trace, "calls", 2, "enter", 0)


def marks_backwards(trace: TraceBuilder) -> None:
    change(trace, "marks", 1, "time", -5)


def unmatched(trace: TraceBuilder) -> None:
    trace.leave(1, "other", 50)


def unknown_path(trace: TraceBuilder) -> None:
    change(trace, "calls", 2, "path", 77)


def unknown_kind(trace: TraceBuilder) -> None:
    change(trace, "transfers", 0, "kind", 99)


def twice(trace: TraceBuilder) -> None:
    change(trace, "calls", 3, "number", 3)


def negative_bytes(trace: TraceBuilder) -> None:
    change(trace, "transfers", 1, "bytes", -8)


def transfer_of_nothing(trace: TraceBuilder) -> None:
    change(trace, "transfers", 1, "call", 88)


def completed_by_nothing(trace: TraceBuilder) -> None:
    trace.locations[1].rows["completions"].append((88, 1))


def completes_nothing(trace: TraceBuilder) -> None:
    trace.locations[1].rows["completions"].append((2, 88))


def clock_backwards(trace: TraceBuilder) -> None:
    trace.locations[1].rows["clock"] = [(0, 0, 1), (100, -500, 1)]


def root_out_of_range(trace: TraceBuilder) -> None:
    for location in range(2):
        trace.call(location, "MPI_Bcast", 50, 60, scope=0, peer=7 * location)


def one_barrier_less(trace: TraceBuilder) -> None:
    for location in (0, 0, 1):
        trace.call(location, "MPI_Barrier", 60, 60, scope=0)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (negative_bytes, "location 1, record 3: -8 bytes are transferred"),
        (transfer_of_nothing, "location 1, record 88: a transfer belongs to call 88, which is not recorded"),
        (completed_by_nothing, "location 1, record 88: call 1 is completed by call 88, which is not recorded"),
        (completes_nothing, "location 1, record 2: call 2 completes call 88, which is not recorded"),
        (clock_backwards, "location 1: the clock samples run backwards: -400 ns of all stands after 0 ns"),
        (root_out_of_range, "location 1, record 8: root 7 is out of range in communicator 0"),
        (one_barrier_less, "location 1: it made 1 of the 2 collective calls on world that others made"),
        (unknown_transfer, "location 1, record 3: the window 9 is not defined"),
        (unknown_call, "location 1, record 2: the window or communicator 9 is not defined"),
        (out_of_range, "location 1, record 3: target 2 is out of range in window 1"),
        (negative, "location 1, record 3: target -3 is out of range in window 1"),
        (leaves_first, "location 1, record 3: the clock runs backwards: the call enters at 10 ns and leaves at 9 ns"),
        (backwards, "location 1, record 3: the clock runs backwards: 0 ns stands after a later time"),
        (marks_backwards, "location 1, record 7: the clock runs backwards: -5 ns stands after a later time"),
        (unmatched, "location 1, record 8: a region is left that was not entered (call path 4)"),
        (unknown_path, "location 1, record 3: the call path 77 is not defined"),
        (unknown_kind, "location 1, record 1: the kind 99 is unknown"),
        (twice, "location 1, record 3: the record stands there twice"),
    ],
)
def test_a_record_that_cannot_be_right(spoil: Callable[[TraceBuilder], None], message: str, tmp_path: Path) -> None:
    trace = good()
    spoil(trace)
    trace.write(tmp_path)
    with pytest.raises(DataError, match="^" + re.escape(f"{tmp_path}: {message}{END}") + "$"):
        analyse(tmp_path)
    ds = analyse(tmp_path, keep_going=True)
    assert json.loads(ds.attrs["problems"]) == [message]
    assert int(ds["severity"].sel(metric="visits", location=0).sum()) >= 7
    assert int(ds["severity"].sel(metric="visits", location=1).sum()) >= 6


def test_many_locations_without_files(tmp_path: Path) -> None:
    write_header(tmp_path, 1_000_000_000)
    with pytest.raises(
        DataError, match=r"says that there are 1,000,000,000 locations, and there are files of 0; record it again\.$"
    ):
        analyse(tmp_path, keep_going=True)


def test_problems_are_counted(tmp_path: Path) -> None:
    trace = good()
    for row in range(3):
        change(trace, "transfers", row, "peer", 5)
    unmatched(trace)
    trace.write(tmp_path)
    message = f"{tmp_path}: location 1, record 1: target 5 is out of range in window 1 (and 2 more like it){END}"
    with pytest.raises(DataError, match="^" + re.escape(f"{message} 1 more problem was found.") + "$"):
        analyse(tmp_path)


def test_a_location_is_missing(tmp_path: Path) -> None:
    good().write(tmp_path)
    (tmp_path / "000001.sktrace").unlink()
    message = "location 1: 000001.sktrace cannot be read (No such file or directory)"
    with pytest.raises(DataError, match="^" + re.escape(f"{tmp_path}: {message}{END}") + "$"):
        analyse(tmp_path)
    ds = analyse(tmp_path, keep_going=True)
    assert int(ds["severity"].sel(metric="visits", location=0).sum()) == 7
    assert int(ds["severity"].sel(location=1).sum()) == 0
    for metric in ("wait_for_progress_bound", "without_progress"):
        assert int(ds["severity"].sel(metric=metric).sum()) == 0


def test_a_truncated_location(tmp_path: Path) -> None:
    good().write(tmp_path, block=2)
    path = tmp_path / "000001.sktrace"
    whole = path.read_bytes()
    seen = set()
    for length in range(0, len(whole), 8):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=re.escape(f"{tmp_path}: location 1")):
            analyse(tmp_path)
        ds = analyse(tmp_path, keep_going=True)
        (problem,) = json.loads(ds.attrs["problems"])
        seen.add(problem)
        assert int(ds["severity"].sel(metric="visits", location=0).sum()) == 7
    assert "location 1: 000001.sktrace does not begin as the file of this location" in seen
    assert "location 1: 000001.sktrace ends within a block of definitions" in seen
    assert "location 1, record 2: 000001.sktrace ends within a block of calls" in seen
    assert "location 1, record 6: 000001.sktrace ends after this record, without an end" in seen


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (0, "location 1: 000001.sktrace does not begin as the file of this location"),
        (8, "location 1: 000001.sktrace does not begin as the file of this location"),
        (16, "location 1: 000001.sktrace holds no block at byte 16"),
        (20, "location 1: 000001.sktrace holds no block at byte 16"),
    ],
)
def test_a_damaged_file(at: int, message: str, tmp_path: Path) -> None:
    good().write(tmp_path)
    path = tmp_path / "000001.sktrace"
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="^" + re.escape(f"{tmp_path}: {message}{END}") + "$"):
        analyse(tmp_path)


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ({"paths": [[1, 5, 0, -1]], "regions": [[0, "f"]]}, "call path 1 has no way to the program: path 5 is not defined"),
        ({"paths": [[1, 0, 3, -1]]}, "call path 1 is in region 3, which is not defined"),
        ({"paths": [[1, 0, "x", -1]]}, "a definition is damaged (invalid literal for int() with base 10: 'x')"),
        ([], "a definition is damaged ('list' object has no attribute 'get')"),
        ({"groups": [[0, [float("inf")]]]}, "a definition is damaged (cannot convert float infinity to integer)"),
        ({"scopes": [[0, "window"]]}, "a definition is damaged (not enough values to unpack (expected 7, got 2))"),
    ],
)
def test_damaged_definitions(definitions: Any, message: str, tmp_path: Path) -> None:
    write_header(tmp_path, 1)
    write_location(tmp_path, 0, {}, definitions)
    with pytest.raises(DataError, match=re.escape(message)):
        analyse(tmp_path)
    assert int(analyse(tmp_path, keep_going=True)["severity"].sum()) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON object"),
        ('{"format": "else"}', "is not the header of a trace: its 'format' is not 'scalkit trace'."),
        ('{"format": "scalkit trace", "schema": 2}', "has schema 2, and this scalkit reads 1; use a newer scalkit."),
        (
            '{"format": "scalkit trace", "schema": 1, "locations": 0}',
            "says that there are 0 locations; a number from 1 on is needed.",
        ),
    ],
)
def test_a_damaged_header(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        read_header(tmp_path)


def test_no_trace(tmp_path: Path) -> None:
    message = f"there is no trace in '{tmp_path}' (trace.json: No such file or directory); name the folder of a recording."
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        analyse(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=re.escape(f"cannot write {tmp_path / 'file' / 'trace.json'}: ")):
        write_header(tmp_path / "file", 1)


def test_options() -> None:
    with pytest.raises(UsageError, match=r"^search is 'half'; it may be posting or entering\.$"):
        Options(search="half")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^chunk is 0; a positive whole number is needed\.$"):
        Options(chunk=0)


def test_a_function_that_is_not_called(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = str(good().write(tmp_path))
    assert main(["trace", "analyse", trace, "--no-progress", "MPI_Win_flash"]) == 2
    said = "no_progress names 'MPI_Win_flash', of which the trace has no call; did you mean 'MPI_Win_flush'? It calls "
    assert capsys.readouterr().err == f"scalkit trace: {said}MPI_Put, MPI_Win_flush.\n"
    with pytest.raises(UsageError, match=r"^no_progress names 'solve', of which .*; it calls MPI_Put, MPI_Win_flush\.$"):
        analyse(trace, Options(no_progress=("solve",)))
    analyse(trace, Options(no_progress=("MPI_Put_c",)))


def test_more_processes_than_locations(tmp_path: Path) -> None:
    good().write(tmp_path)
    ranks = Ranks()
    ranks.size = 3
    message = f"3 processes cannot share the 2 locations of {tmp_path}; start at most as many."
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        load(tmp_path, ranks)


def test_results_survive_a_file(tmp_path: Path) -> None:
    ds = analyse(good().write(tmp_path))
    write_result(ds, tmp_path / "result.nc")
    back = read_result(tmp_path / "result.nc")
    assert back.identical(ds)
    packed = tmp_path / "result.nc.gz"
    write_result(ds, packed)
    assert packed.stat().st_size < (tmp_path / "result.nc").stat().st_size / 2
    assert read_result(packed).identical(ds)
    packed.write_bytes(packed.read_bytes()[:-100])
    with pytest.raises(DataError, match=re.escape(f"cannot read {packed} as an analysis")):
        read_result(packed)
    assert {name: one.dtype for name, one in back.variables.items()} == {n: one.dtype for n, one in ds.variables.items()}
    ds["severity"][0, 0, 0] = (1 << 53) + 1
    with pytest.raises(DataError, match=re.escape("severity has a sum above 2^53, which netCDF-3 cannot hold")):
        write_result(ds, tmp_path / "large.nc")
    with pytest.raises(DataError, match=re.escape(f"cannot write {tmp_path / 'no' / 'x.nc'}: ")):
        write_result(analyse(tmp_path), tmp_path / "no" / "x.nc")
    (tmp_path / "text").write_text("text")
    with pytest.raises(DataError, match=re.escape(f"cannot read {tmp_path / 'text'} as an analysis")):
        read_result(tmp_path / "text")


def test_clocks_are_corrected(tmp_path: Path) -> None:
    plain = analyse(good().write(tmp_path / "plain"))
    skewed = good()
    rows = skewed.locations[1].rows
    rows["calls"] = [(enter - 1000, leave - 1000, *rest) for enter, leave, *rest in rows["calls"]]
    rows["marks"] = [(time - 1000, *rest) for time, *rest in rows["marks"]]
    skewed.clock(1, -1000, 1000)
    found = analyse(skewed.write(tmp_path / "skewed"))
    assert found.identical(plain)
    drifting = good()
    drifting.clock(1, 0, 0)
    drifting.clock(1, 10, 20)
    ds = analyse(drifting.write(tmp_path / "drifting"))
    assert ds["severity"].sel(metric="time").sum("path").values.tolist() == [40, 120]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    trace, out = good().write(tmp_path / "trace", rng=rng), tmp_path / "waits.nc"
    assert main(["trace", "analyse", str(trace), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 locations, 4 call paths, 80.0 ns of all locations together\n")
    assert main(["trace", "analyse", str(out)]) == 0
    assert capsys.readouterr().out == said
    assert main(["trace", "analyse", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["totals"]["rma_operations"] == 6
    assert main(["trace", "analyse", str(out), "--fail-above", "0"]) == int(told["totals"]["wait_for_progress"] > 0)
    capsys.readouterr()
    assert main(["trace", "analyse", str(out), "--search", "entering"]) == 2
    said = f"scalkit trace: {out} is no trace, and --search goes with one; leave it out.\n"
    assert capsys.readouterr().err == said
    for wrong in ("nan", "-3", "101", "half"):
        for words in (["analyse", str(out)], ["report", str(out)]):
            with pytest.raises(SystemExit, match=r"^2$"):
                main(["trace", *words, "--fail-above", wrong])
            assert f"{wrong!r} is no percentage; write a number from 0 to 100\n" in capsys.readouterr().err
    assert main(["trace", "run", "--dir", str(out), "--", "no-such-command"]) == 2
    assert capsys.readouterr().err == f"scalkit trace: {out} is a file; name a folder.\n"
    assert main(["trace", "run", "--dir", "/proc/no-such-folder", "--", "true"]) == 2
    said = "scalkit trace: /proc/no-such-folder cannot be written: No such file or directory; name another folder.\n"
    assert capsys.readouterr().err == said
    assert main(["trace", "run", "--dir", str(tmp_path), "--", "no-such-command"]) == 2
    assert "holds something that is no trace; name another folder.\n" in capsys.readouterr().err
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')  # of Chrome, and everything beside it is somebody's
    assert main(["trace", "run", "--dir", str(tmp_path), "--", "no-such-command"]) == 2
    assert "holds something that is no trace; name another folder.\n" in capsys.readouterr().err
    assert main(["trace", "run", "--dir", str(trace), "--", "no-such-command"]) == 2
    said = "scalkit trace: there is no command 'no-such-command'; write what starts the program after --.\n"
    assert capsys.readouterr().err == said


def test_names_of_a_trace_do_not_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = TraceBuilder(2)
    for location in range(2):
        trace.enter(location, "solve\x1b[2J", 0)
        trace.call(location, "MPI_Barrier", 10 * location, 30, scope=0)
    assert main(["trace", "analyse", str(trace.write(tmp_path / "trace"))]) == 0
    said = capsys.readouterr().out
    assert "program/solve\\u001b[2J/MPI_Barrier" in said
    assert "\x1b" not in said


def test_a_wait_that_is_above_its_bound_is_no_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One target is in another call while the origin waits for the other one."""
    trace = TraceBuilder(3)
    for target in (1, 2):
        trace.transfer(0, "put", trace.call(0, "MPI_Put", target, target, scope=1, peer=target), target)
    trace.call(0, "MPI_Win_flush_all", 10, 50, scope=1)
    for begin, end in ((0, 8), (12, 15), (16, 19)):
        trace.call(1, "MPI_Iprobe", begin, end)
    trace.call(2, "MPI_Iprobe", 20, 50)
    assert main(["trace", "analyse", str(trace.write(tmp_path))]) == 0
    said = "\nWaiting for progress is 10.0 ns, in 4.00 ns of which at most no target was in any call.\n"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("drift", [-200e-6, 37e-6])
def test_drift_between_two_measurements_is_taken_out(drift: float, tmp_path: Path) -> None:
    """A clock that is 1.7 s off and gains or loses some us each second: records of 5 s come back to within 1 ns."""
    second = 1_000_000_000
    begins = np.arange(0, 5 * second, second // 50)

    def local(true: int) -> int:
        return round(true * (1 + drift)) - 1_700_000_000

    def made(folder: Path, *, is_skewed: bool) -> Path:
        trace = TraceBuilder(2, simulated=True)
        for begin in begins.tolist():
            trace.call(0, "MPI_Barrier", begin, begin + 9_000_000, scope=0)
            enter, leave = begin + 2_000_000, begin + 9_000_000
            here = (local(enter), local(leave)) if is_skewed else (enter, leave)
            trace.call(1, "MPI_Barrier", *here, scope=0)
        for true in (0, 5 * second) if is_skewed else ():
            trace.clock(1, local(true), true - local(true))
        return trace.write(folder)

    plain, skewed = (analyse(made(tmp_path / "plain", is_skewed=False)), analyse(made(tmp_path / "skewed", is_skewed=True)))
    waits = [int(ds["severity"].sel(metric="wait_at_barrier", location=0).sum()) for ds in (plain, skewed)]
    assert waits[0] == 250 * 2_000_000
    assert abs(waits[1] - waits[0]) <= 250
