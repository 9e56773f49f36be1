"""Real processes that write and read one store at once, are killed, and find the disk full."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.store import index

WORKER = Path(__file__).with_name("store_worker.py")


def _worked(*arguments: object) -> str:
    command = [sys.executable, str(WORKER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_8_writers_and_4_readers_at_once(tmp_path: Path) -> None:
    assert _worked("together", tmp_path / "s", 8, 4, 96) == "96\n"


@pytest.mark.slow
def test_writers_killed_at_100_random_moments_leave_nothing_half_visible(tmp_path: Path) -> None:
    rounds, inside = map(int, _worked("kill", tmp_path / "s", 100).split())
    assert rounds == 100
    assert inside >= 10  # so many were killed within a file


def test_orphans_of_the_dead_are_swept_and_those_of_the_living_stay(tmp_path: Path) -> None:
    sk.store.open(tmp_path / "s").folder.prepare()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
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
    store = sk.store.open(tmp_path / "s")
    assert len(store.runs()) == 0
    assert {one.name for one in folder.iterdir()} == set(names.values())  # reading deletes nothing
    store.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"))
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


def _on_a_small_disk(tmp_path: Path) -> subprocess.CompletedProcess[str] | None:
    """Return what the worker said that filled a disk of half a megabyte; None where no disk can be made so small."""
    place = tmp_path / "small"
    place.mkdir()
    work = [sys.executable, str(WORKER), "fill"]
    for prefix in NAMESPACES:
        if shutil.which(prefix[0]) is None:
            continue
        able = [*prefix, "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
        if subprocess.run(able, capture_output=True).returncode == 0:
            inside = ["sh", "-c", MOUNTED, "sh", str(place), *work, str(place / "s")]
            return subprocess.run([*prefix, *inside], capture_output=True, text=True)
    space = os.statvfs("/dev/shm")
    if space.f_bavail * space.f_frsize > 256 << 20:
        return None
    with contextlib.contextmanager(_ballasted)() as folder:
        return subprocess.run([*work, str(folder / "s")], capture_output=True, text=True)


def test_full_disk(tmp_path: Path) -> None:
    """Where no small disk can be made, a limit on the size of files is what comes next to it."""
    done = _on_a_small_disk(tmp_path)
    if done is None:
        assert _worked("limited", tmp_path / "s") == "limited and as it was\n"
    else:
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("full and as it was ")


def test_a_file_larger_than_allowed(tmp_path: Path) -> None:
    assert _worked("limited", tmp_path / "s") == "limited and as it was\n"


def test_a_store_that_another_copy_took_the_place_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file has another stamp then, so that nothing of the old index is kept."""
    monkeypatch.setattr(index, "_FRESH_WRITTEN", 0)  # else so few runs are read without an index
    place, spare = tmp_path / "results", tmp_path / "spare"
    made = sk.store.open(place)
    made.put(sk.measurements([2, 4, 8], [[1.0] * 3] * 3, name="a"), machine="here")
    assert len(made.runs()) == 1
    shutil.copytree(place, spare)
    shutil.rmtree(place)
    shutil.copytree(spare, place, copy_function=shutil.copy)
    again = sk.store.open(place)
    again.put(sk.measurements([2, 4, 8], [[2.0] * 3] * 3, name="b"), machine="here")
    assert len(again.runs()) == 2
