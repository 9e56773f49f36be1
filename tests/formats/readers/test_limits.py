"""Files made to exhaust memory or time are refused before they do; the reader runs in a process with little memory."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from test_golden import DATA

from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.formats.readers.content import LARGEST

MIB = 2**20
ROOM = 1200 * MIB
"""Address space beyond what Python and its libraries take."""

READ = """
import json, resource, sys
import numpy, xarray, pandas
import scalkit as sk
from scalkit.errors import ScalkitError
sk.measurements([[1, 1], [2, 3]], [1, 2], ["p", "n"])  # libraries reserve address space when they are first used
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[1]),) * 2)
for path in sys.argv[2:]:
    try:
        print(json.dumps(f"read {dict(sk.read(path).sizes)}"))
    except ScalkitError as error:
        print(json.dumps(f"refused {error}"))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a process with little memory says of each of the files."""
    paths = []
    for name, make, _ in BOMBS.values():
        path = tmp_path_factory.mktemp("bomb") / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(make())
        paths.append(str(path))
    command = [sys.executable, "-c", READ, str(ROOM), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(BOMBS, map(json.loads, done.stdout.splitlines()), strict=True))


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return stream.getvalue()


def cube(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name.replace("__", ".").strip("_"))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def packed_data(size: int) -> bytes:
    piece = zlib.compress(bytes(size), 9)
    return b"ZCUBEX.DATA" + struct.pack("<q", 1) + struct.pack("<3q", 0, 0, len(piece)) + piece


def text_bomb() -> bytes:
    """Return few lines that ask for a large table: one point with many repetitions, and many call paths."""
    head = "PARAMETER p\nPOINTS 2\nMETRIC time\nREGION a\nDATA " + "1 " * 20_000 + "\n"
    return (head + "".join(f"REGION f{i}\nDATA 1\n" for i in range(20_000))).encode()


def grid_bomb() -> bytes:
    """Return measurements on a diagonal: as a grid they would fill thousands of times as much."""
    points = range(1, 1001)
    lines = (f'{{"params":{{"p":{i},"n":{i}}},"callpath":"f{j}","metric":"time","value":1}}\n' for i in points for j in range(40))
    return "".join(lines).encode()


BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "deep JSON": ("a.json", lambda: b"[" * 2 * MIB, "refused .* is no readable JSON"),
    "deep object": ("a.json", lambda: b'{"a":' * 2 * MIB, "refused .* is no readable JSON"),
    "many lists": ("a.json", lambda: b'{"a":[' + b"[]," * 15 * MIB + b"[]]}", "refused .* is JSON of 31457283 values or more"),
    "deep line": ("a.jsonl", lambda: b'{"params":{"p":' + b"[" * 2 * MIB + b"\n", "refused .*, line 1: brackets too deep"),
    "large": ("a.txt", lambda: b"PARAMETER p\n" + bytes(LARGEST),
        "refused .* has 64 MiB, files of others are read up to 64 MiB"),
    "gzip": ("a.json.gz", lambda: gzip.compress(bytes(300 * MIB), 1), r"refused .* is compressed \(gzip\)"),
    "zip": ("a.extra-p", lambda: zipped(experiment__json=b" " * 300 * MIB), "refused .* would unpack to 300 MiB"),
    "zip of spaces": ("a.extra-p", lambda: zipped(experiment__json=b" " * 50 * MIB), "refused .*: this is no valid JSON"),
    "cube": (
        "x.p2/a.cubex",
        lambda: cube(anchor__xml=b"<?xml version='1.0'?><cube/>", _0__data=packed_data(200 * MIB)),
        "refused .* 0.data unpacks to more than 64 MiB",
    ),
    "cube anchor": (
        "x.p2/a.cubex",
        lambda: cube(anchor__xml=gzip.compress(bytes(200 * MIB), 1)),
        "refused .* anchor.xml is too large or declares entities",
    ),
    "laughs": (
        "x.p2/a.cubex",
        lambda: cube(anchor__xml=b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><cube>&c;</cube>'),
        "refused .* anchor.xml is too large or declares entities",
    ),
    "deep calls": (
        "x.p2/a.cubex",
        lambda: cube(anchor__xml=b"<?xml version='1.0'?><cube>" + b"<cnode id='1'>" * 100_000),
        "refused .* has call paths of more than 200 functions",
    ),
    "table": ("a.txt", text_bomb, r"refused .* would fill a table of 400020000 values"),
    "grid": ("a.jsonl", grid_bomb, "read .*'point': 1000"),
    "long line": (
        "a.txt", lambda: b"# OSU MPI Broadcast Latency Test v7.4\n" + b"v " * 20 * MIB + b"\n",
        "refused .*, line 2: the line has",
    ),
    "columns": ("a.csv", lambda: b"a," * 5 * MIB + b"b\n" + b"1," * 5 * MIB + b"2\n", "refused .* has 5242881 columns"),
    "long name": (
        "a.csv", lambda: b"p,ti" + b"m" * 5 * MIB + b"e\n1,2\n",
        "refused .* has a column whose name has 5242883 characters",
    ),
    "lines of data": (
        "a.txt", lambda: b"PARAMETER p\nPOINTS 2\nREGION a\n" + b"DATA 1\n" * 4 * MIB,
        "refused .*, line 5: DATA number 2",
    ),
    "rows": ("a.csv", lambda: b"p,time\n" + b"1,2\n" * 2 * MIB, "refused .* has more than 2097152 cells"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", [pytest.param(one, marks=[pytest.mark.extra] if "cubex" in BOMBS[one][0] else []) for one in BOMBS]
)
def test_bombs_are_refused(answers: dict[str, str], what: str) -> None:
    assert re.match(BOMBS[what][2], answers[what])


def test_arrays_that_claim_more_than_is_there(tmp_path: Path) -> None:
    with zipfile.ZipFile(DATA / "extra-p" / "kept.extra-p") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["values/0.vals"] = members["values/0.vals"].replace(b"(3,), }          ", b"(99999999999,), }", 1)
    path = tmp_path / "a.extra-p"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(DataError, match=r"its values are damaged \(99999999999 values of type float64 do not stand there\)"):
        read(path)


def test_more_settings_than_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalkit.formats.readers.observed._MOST_ENTRIES", 3)
    path = tmp_path / "a.csv"
    path.write_text("p,time\n" + "".join(f"{p},1\n" for p in range(1, 9)))
    with pytest.raises(DataError, match=f"^{re.escape(str(path))} holds more than 3 different settings of functions; split it"):
        read(path)


def test_a_folder_of_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalkit.formats.readers.foreign._MOST_FILES", 3)
    for i in range(5):
        (tmp_path / f"{i}.txt").write_text("x")
    with pytest.raises(DataError, match=r"has more than 3 files; name those that are meant\.$"):
        read(tmp_path)


def test_many_functions_are_quick(tmp_path: Path) -> None:
    """10,000 call paths: what grows with their square would not end."""
    path = tmp_path / "a.json"
    measured = {f"main->f{i}": {"time": [{"point": [p], "values": [i + p]} for p in (2, 4)]} for i in range(10_000)}
    path.write_text(json.dumps({"parameters": ["p"], "measurements": measured}))
    assert read(path).sizes["function"] == 10_000
