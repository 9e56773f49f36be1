"""Real processes that write and read one store at once, are killed, and find the disk full."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import scalkit as sk
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


MOUNTED = 'mount -t tmpfs -o size=512k tmpfs "$1" && cd "$1" && shift && exec "$@"'
NAMESPACES = (("unshare", "-m"), ("unshare", "-rm"), ("sudo", "-n", "-E", "unshare", "-m"))
"""A mount that only one process sees: as root, as a user who may be root in a namespace of its own, or by sudo."""


def _ballasted() -> Iterator[Path]:
    """Yield a folder of a small memory file system, as containers have one, with half a megabyte left."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        space = os.statvfs(memory)
        left = space.f_bavail * space.f_frsize
        assert left <= 256 << 20
        with (Path(folder) / "ballast").open("wb") as ballast:
            os.posix_fallocate(ballast.fileno(), 0, left - (512 << 10))
        yield Path(folder)


def _on_a_small_disk(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Return what the worker said that filled a disk of half a megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    work = [sys.executable, str(WORKER), "fill"]
    for prefix in NAMESPACES:
        if shutil.which(prefix[0]) is None:
            continue
        able = [*prefix, "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
        if subprocess.run(able, capture_output=True).returncode == 0:
            inside = ["sh", "-c", MOUNTED, "sh", str(place), *work, str(place / "s")]
            return subprocess.run([*prefix, *inside], capture_output=True, text=True, timeout=120)
    space = os.statvfs("/dev/shm")
    if space.f_bavail * space.f_frsize > 256 << 20:
        pytest.skip("a small disk needs unshare, sudo, or a small /dev/shm")
    with contextlib.contextmanager(_ballasted)() as folder:
        return subprocess.run([*work, str(folder / "s")], capture_output=True, text=True, timeout=120)


def test_full_disk(tmp_path: Path) -> None:
    done = _on_a_small_disk(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("full and as it was ")
