"""Damaged files: whatever is done to a golden file, a reader answers with a Dataset that passes its check, or one sentence."""

from __future__ import annotations

import json
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_golden import ALL, DATA

from scalkit.errors import ScalkitError
from scalkit.formats.read import read
from scalkit.measure.schema import check

FILES = {name: (DATA / name).read_bytes() for name, _, _ in ALL if not name.startswith("cube")}
FILES["google_benchmark.json"] = (DATA.parent / "benchmarks" / "google_benchmark.json").read_bytes()
FILES["pytest_benchmark_summary.json"] = (DATA.parent / "benchmarks" / "pytest_benchmark_summary.json").read_bytes()
CUBE = "cube/set/demo.p4.r1/profile.cubex"
FILES[CUBE] = (DATA / CUBE).read_bytes()

NAMES = sorted(FILES)
SEED = settings(max_examples=30, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
ODD = (
    *(b"nan", b"NaN", b"inf", b"-1", b"0", b"1e999", b"9" * 400, b"1e308", b"1e-320", b"0x10", b"1_000", b"", b"<b>x</b>"),
    *(b"\x00", b"\xff", "٣".encode(), b"null", b"true", b'"', b"[" * 50, b"{}", b",", b"|", b"# "),
)


@contextmanager
def no_longer_than(seconds: int) -> Iterator[None]:
    """A reader that hangs ends with an error instead of holding up everything."""

    def stop(*_: object) -> None:
        raise RuntimeError("the reader hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(name: str, data: bytes):
    """Return the Dataset, or the error; anything but scalkit's own errors goes through."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.p4.r1" / Path(name).name
        path.parent.mkdir()
        path.write_bytes(data)
        with no_longer_than(60):
            try:
                ds = read(path)
            except ScalkitError as error:
                text = str(error)
                assert len(text) < 1000
                assert "\n" not in text.replace("\\n", "")
                return error
            check(ds)
            return ds


@pytest.mark.parametrize("name", NAMES)
def test_bytes_flipped_lines_doubled_numbers_replaced(name: str) -> None:
    data = FILES[name]
    numbers = [match.span() for match in re.finditer(rb"-?\d+(\.\d+)?", data)] or [(0, 1)]
    lines = data.splitlines(keepends=True)

    @SEED
    @given(st.data())
    def damaged(draw: st.DataObject) -> None:
        how = draw.draw(st.sampled_from(("flip", "number", "double", "drop", "swap", "insert")))
        if how == "flip":
            new = bytearray(data)
            for _ in range(draw.draw(st.integers(1, 4))):
                new[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
            outcome(name, bytes(new))
        elif how == "number":
            start, stop = draw.draw(st.sampled_from(numbers))
            outcome(name, data[:start] + draw.draw(st.sampled_from(ODD)) + data[stop:])
        elif how == "insert":
            place = draw.draw(st.integers(0, len(data)))
            outcome(name, data[:place] + draw.draw(st.sampled_from(ODD)) + data[place:])
        else:
            i, j = (draw.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            changed = {
                "double": [*lines[: i + 1], lines[i], *lines[i + 1 :]],
                "drop": [*lines[:i], *lines[i + 1 :]],
                "swap": [lines[j] if k == i else lines[i] if k == j else line for k, line in enumerate(lines)],
            }[how]
            outcome(name, b"".join(changed))

    damaged()


NO_END_MARK = ("osu/", "hyperfine/scan.csv", "reframe/", "jube/", "csv/", "extra-p/one.txt", "extra-p/two.txt",
               "extra-p/one.jsonl")  # fmt: skip
"""Formats in which a file that was cut exactly between two lines cannot be told from a whole one."""


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_file_is_refused_or_said_to_be_cut(name: str) -> None:
    data = FILES[name]
    end = len(data.rstrip())
    whole = outcome(name, data)

    @SEED
    @given(st.integers(1, end - 1))
    def cut(place: int) -> None:
        found = outcome(name, data[:place])
        ends = (b"\n", b"}") if name == "extra-p/one.jsonl" else b"\n"
        at_a_line_end = data[:place].endswith(ends) or not data[:place].split(b"\n")[-1].strip()
        if isinstance(found, ScalkitError) or (at_a_line_end and name.startswith(NO_END_MARK)):
            return
        if found.drop_attrs().identical(whole.drop_attrs()):  # only the end mark is cut
            return
        assert found.attrs.get("truncated"), (place, data[place - 40 : place], found.attrs)
        assert any(Path(name).name in note for note in json.loads(found.attrs["notes"]))

    cut()


@pytest.mark.parametrize("name", ["imb/mpi1.txt", "reprompi/raw.txt", "skampi/collectives_6.sko", "osu/osu_bw_p2.txt"])
def test_what_stands_before_the_cut_is_as_in_the_whole_file(name: str) -> None:
    lines = FILES[name].splitlines(keepends=True)
    whole = outcome(name, FILES[name])
    part = outcome(name, b"".join(lines[: len(lines) * 3 // 4]) + b"8   1")
    metric = "bandwidth" if "bw" in name else "time"
    common = [name for name in part["function"].values if name in whole["function"].values]
    axis = whole.attrs["parameter"]
    known = whole[metric].sel({"function": common, axis: part[axis].values}).values[..., : part.sizes["repetition"]]
    mine = part[metric].sel(function=common).values
    there = np.isfinite(mine)
    assert there.any()
    np.testing.assert_array_equal(mine[there], known[there])


def test_cut_in_the_middle_names_file_line_and_the_way_on(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes(b"".join(FILES["extra-p/one.txt"].splitlines(keepends=True)[:8]))
    with pytest.raises(ScalkitError) as caught:
        read(path)
    assert str(caught.value) == (f"{path}: 'main' has 2 DATA lines, for 5 POINTS; the file was cut or edited: write it again.")
    path = tmp_path / "mpi1.txt"
    path.write_bytes(FILES["imb/mpi1.txt"][:2500])
    ds = read(path)
    assert ds.attrs["truncated"] == "mpi1.txt"
    told = json.loads(ds.attrs["notes"])[0]
    assert re.fullmatch(r"mpi1\.txt: line \d+ has no line end, so the file was cut there; left out: '.*'", told)


def test_html_in_names_stays_text(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    path = tmp_path / "a.jsonl"
    rows = [{"params": {"p": p}, "callpath": name, "metric": "time", "value": [p, p + 1]} for p in (2, 4, 8, 16, 32)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read(path)["function"].values.tolist() == [name]
