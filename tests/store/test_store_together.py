"""Real processes that write and read one store at once, are killed, and find the disk full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import StoreError
from scalkit.store.content import content_id, decoded

WORKER = Path(__file__).with_name("store_worker.py")
WRITERS, READERS, RUNS = 3, 1, 15
KILLS = 3


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(WORKER), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_writers_and_readers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s"
    each = RUNS // WRITERS
    writers = [_start("write", path, k * each, (k + 1) * each) for k in range(WRITERS)]
    readers = [_start("read", path, RUNS) for _ in range(READERS)]
    written: dict[int, str] = {}
    for process in writers:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        written |= {int(number): run_id for number, run_id in (line.split() for line in out.splitlines())}
    for process in readers:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out) == (0, ""), out + err
    assert sorted(written) == list(range(RUNS))
    store = sk.store.open(path)
    assert set(store.folder.run_ids()) == set(written.values()) == set(store.runs()["run_id"])
    assert len(store.points()) == RUNS * 20
    assert store.problems == ()
    assert list((path / "tmp").iterdir()) == []


def test_killed_writers_leave_nothing_half_visible(tmp_path: Path) -> None:
    path = tmp_path / "s"
    sk.store.open(path)
    rng = random.Random(7)
    said: set[str] = set()
    for round_number in range(KILLS):
        process = _start("write", path, round_number * 1000, round_number * 1000 + 1000)
        assert process.stdout is not None
        said.add(process.stdout.readline().split()[1])  # it has begun to write
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        said |= {line.split()[1] for line in out.splitlines() if line.count(" ") == 1 and line[-32:].isalnum()}
    store = sk.store.open(path)
    assert list((path / "tmp").iterdir()) == []
    there = set(store.folder.run_ids())
    assert said <= there  # what a writer was told to be filed is there
    assert there == {one.name[:32] for one in store.folder.runs.iterdir()}
    for run_id in there:
        record, table = decoded(store.folder.file_of(run_id), run_id)
        assert content_id(record["measured"], table) == run_id
    assert len(store.points()) == 20 * len(there)


def test_orphans_of_the_dead_are_swept_and_those_of_the_living_stay(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = store.folder._temporary("x").name.split(".")[1]
    folder = tmp_path / "s" / "tmp"
    names = {
        "dead": f"a.parquet.{host}.{dead.pid}.0000",
        "living": f"a.parquet.{host}.{os.getpid()}.0000",
        "elsewhere": "a.parquet.another.1.0000",
        "old": "a.parquet.another.2.0000",
    }
    for name in names.values():
        (folder / name).write_bytes(b"half")
    os.utime(folder / names["old"], (0, 0))
    sk.store.open(tmp_path / "s")
    assert {one.name for one in folder.iterdir()} == {names["living"], names["elsewhere"]}


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    path = tmp_path / "small"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(path)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk needs root and mount")
    return path


def _fill(store: sk.store.Store, ds: xr.Dataset) -> None:
    for number in range(1000):
        store.put(ds, machine=f"machine {number}")


def test_full_disk(small_disk: Path) -> None:
    try:
        store = sk.store.open(small_disk / "s")
        ds = sk.measurements([2, 4, 8], [[1e-6 * k for k in range(1, 4000)]] * 3, name="MPI_Bcast")
        full = (
            r"^cannot write runs/[0-9a-f]{32}\.parquet in '.*': the disk is full; .* MB are needed; "
            r"make room and do it again, the store is as it was\.$"
        )
        with pytest.raises(StoreError, match=full):
            _fill(store, ds)
        there = len(store)
        assert there > 3
        again = sk.store.open(small_disk / "s")
        assert list((small_disk / "s" / "tmp").iterdir()) == []
        assert len(again.runs()) == there
        for run_id in again.folder.run_ids():
            record, table = decoded(again.folder.file_of(run_id), run_id)
            assert content_id(record["measured"], table) == run_id
        (small_disk / "s" / "runs" / f"{again.folder.run_ids()[0]}.parquet").unlink()
        assert len(store.put(ds, machine="with room").added) == 1
    finally:
        subprocess.run(["umount", "-l", str(small_disk)], check=True)
