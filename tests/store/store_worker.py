"""What the processes of the tests of concurrency do: write runs, read them again and again, kill writers, fill a disk."""

from __future__ import annotations

import importlib
import os
import random
import re
import resource
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import scalkit as sk
from scalkit.errors import StoreError
from scalkit.store.filed.rows import Rows
from scalkit.store.folder import StoreFolder
from scalkit.store.runs.content import RunContent, content_id, decoded, encoded

FULL = (
    r"^cannot write runs/[0-9a-f]{32}\.parquet in '.*': the disk is full; .* MB are needed; "
    r"make room and do it again, the store is as it was\.$"
)
TOO_LARGE = (
    r"^cannot write runs/[0-9a-f]{32}\.parquet in '.*': its .* MB are more than this process may write into a file; "
    r"raise the limit \(ulimit -f\) and do it again, the store is as it was\.$"
)


def written(number: int) -> dict[str, object]:
    """Return the measurements of run `number`: every value follows from it, so that a torn run is seen."""
    rng = np.random.default_rng(number)
    y = np.round(rng.lognormal(np.log(1e4), 0.2, (20, 50))) * 1e-9
    return {"points": 2 ** np.arange(1, 21), "y": y, "name": "MPI_Bcast"}


def write(path: Path, first: int, last: int) -> None:
    store = sk.store.open(path)
    for number in range(first, last):
        given = written(number)
        ds = sk.measurements(given["points"], given["y"], name=str(given["name"]))
        for run_id in store.put(ds, machine=f"machine {number}").added:
            print(number, run_id, flush=True)  # noqa: T201


def read(path: Path, until: int) -> None:
    """Check every run that is there, until there are enough; say what is wrong."""
    checked: set[str] = set()
    store = sk.store.open(path)
    while not len(store):  # the first writer makes it
        time.sleep(0.01)
    while len(checked) < until:
        counts = store.points().groupby("run_id").size()
        if (counts != 20).any():
            print("torn in the index:", counts[counts != 20].to_dict(), flush=True)  # noqa: T201
            sys.exit(1)
        for run_id in set(store.folder.run_ids()) - checked:
            record, table = decoded((store.folder.runs / f"{run_id}.parquet"), run_id)
            if content_id(record["measured"], table) != run_id:
                print("torn:", run_id, flush=True)  # noqa: T201
                sys.exit(1)
            checked.add(run_id)
        if store.problems:
            print(store.problems, flush=True)  # noqa: T201
            sys.exit(1)
        time.sleep(0.05)


def together(path: Path, writers: int, readers: int, runs: int) -> None:
    """Let processes write and read at once; say how many runs were written. What goes wrong ends with its status."""
    for name in ("duckdb", "pandas", "pyarrow.parquet", "scalkit.store.filed.dataset", "xarray"):
        importlib.import_module(name)  # once, not in each process
    each = runs // writers
    told = path.with_name("told")
    told.mkdir()

    def writer(number: int) -> None:
        sys.stdout = (told / str(number)).open("w")
        write(path, number * each, (number + 1) * each)
        sys.stdout.flush()

    children = [_forked(lambda: read(path, runs)) for _ in range(readers)]
    children += [_forked(lambda number=number: writer(number)) for number in range(writers)]
    failed = [pid for pid in children if os.waitpid(pid, 0)[1] != 0]
    lines = [line.split() for one in told.iterdir() for line in one.read_text().splitlines()]
    assert not failed, failed
    assert sorted(int(number) for number, _ in lines) == list(range(runs))
    store = sk.store.open(path)
    assert {run_id for _, run_id in lines} == set(store.folder.run_ids()) == set(store.runs()["run_id"])
    assert len(store.points()) == runs * 20
    assert store.problems == ()
    assert list((path / "tmp").iterdir()) == []
    print(len(lines), flush=True)  # noqa: T201


def _forked(work: Callable[[], object]) -> int:
    """Start a process that does something and ends, as this one is; return its number."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


STEPS = ("open", "write", "fsync", "close", "replace")
"""All that a writer does to a disk; what it does between them is gone with it."""
N_FILES, N_STEPS = 24, 8
"""A file is opened, written, flushed, closed and moved into place; its folder is opened, flushed and closed."""


def kill(path: Path, rounds: int) -> None:
    """Kill a writer at a random step, again and again; after each time look at every file."""
    rng = random.Random(7)
    contents = dict(_contents(N_FILES))
    folder = StoreFolder.opened(path, readonly=False)
    there: set[str] = set()
    inside = 0
    for _ in range(rounds):
        for run_id in there:
            (folder.runs / f"{run_id}.parquet").unlink()
        ending, beginning = os.pipe()
        last, share = rng.randrange(1, N_FILES * N_STEPS + 1), rng.random()
        pid = _forked(partial(_add_all, path, contents, beginning, last, share))
        os.close(beginning)
        status = os.waitpid(pid, 0)[1]
        assert os.WIFSIGNALED(status), status
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        with os.fdopen(ending, "rb") as stream:
            said = stream.read().decode().split()
        inside += any((path / "tmp").iterdir())
        folder = StoreFolder.opened(path, readonly=False)
        folder.prepare()
        assert list((path / "tmp").iterdir()) == []
        there = set(folder.run_ids())
        assert set(said) <= there  # what a writer was told to be filed is there
        assert there == {one.name[:32] for one in folder.runs.iterdir()}
        for run_id in there:
            assert (folder.runs / f"{run_id}.parquet").read_bytes() == contents[run_id]
    store = sk.store.open(path)
    assert set(store.runs()["run_id"]) == there
    assert store.problems == ()
    print(rounds, inside, flush=True)  # noqa: T201


def _contents(number: int) -> list[tuple[str, bytes]]:
    """Return runs as their ids and files, made before anybody is killed: all of a killed process's time is writing."""
    found = []
    for one in range(number):
        rows = Rows()
        raw = np.random.default_rng(one).integers(1000, 100_000, 20_000)
        rows.add("med", op="MPI_Bcast", pattern="collective", metric="time", unit="ns", p=2, x=2, msg_By=8, raw=raw)
        launches = rows.launched("made up")
        rows.over("p")
        run = RunContent.of({"machine": f"machine {one}", "clock": "simulated", "launches": launches}, {}, rows.table())
        found.append((run.run_id, encoded(run)))
    return found


def _add_all(path: Path, contents: dict[str, bytes], told: int, last: int, share: float) -> None:
    """File runs and say which are there, until this process kills itself at its step `last`, within it if it writes."""
    folder = StoreFolder.opened(path, readonly=False)
    tell = os.write
    _kill_at(last, share)
    for run_id, content in contents.items():
        folder.add(run_id, content)
        tell(told, f"{run_id} ".encode())


def _kill_at(last: int, share: float) -> None:
    """Let this process kill itself in place of its step `last`; of what that was to write, a share is written."""
    left = last

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                if name == "write":
                    real(given[0], given[1][: int(share * len(given[1]))])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **options)

        return step

    for name in STEPS:
        setattr(os, name, counted(name, getattr(os, name)))


def limited(path: Path) -> None:
    """File a run that is larger than this process may write, and check what is there then, and without the limit."""
    small = sk.measurements([2, 4], [1e-6, 2e-6], name="MPI_Bcast")
    times = np.random.default_rng(1).integers(1000, 100_000, 100_000)
    large = sk.measurements([2], times[None, :] * 1e-9, name="MPI_Bcast")
    store = sk.store.open(path)
    (first,) = store.put(small).added
    before = {one: one.read_bytes() for one in path.rglob("*") if one.is_file()}
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        store.put(large)
        told = ""
    except StoreError as error:
        told = str(error)
    assert re.search(TOO_LARGE, told), told
    assert {one: one.read_bytes() for one in path.rglob("*") if one.is_file()} == before
    assert list(sk.store.open(path).runs()["run_id"]) == [first]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert len(store.put(large).added) == 1
    print("limited and as it was", flush=True)  # noqa: T201


def fill(path: Path) -> None:
    """Fill a small disk, and check what is there then and once there is room again."""
    store = sk.store.open(path)
    ds = sk.measurements([2, 4, 8], [[1e-6 * k for k in range(1, 4000)]] * 3, name="MPI_Bcast")
    told = ""
    for number in range(1000):
        try:
            store.put(ds, machine=f"machine {number}")
        except StoreError as error:
            told = str(error)
            break
    assert re.search(FULL, told), told
    there = len(store)
    assert there > 3
    again = sk.store.open(path)
    assert list((path / "tmp").iterdir()) == []
    assert len(again.runs()) == there
    for run_id in again.folder.run_ids():
        record, table = decoded((again.folder.runs / f"{run_id}.parquet"), run_id)
        assert content_id(record["measured"], table) == run_id
    (path / "runs" / f"{again.folder.run_ids()[0]}.parquet").unlink()
    assert len(store.put(ds, machine="with room").added) == 1
    print("full and as it was", there, flush=True)  # noqa: T201


WORK = {"write": write, "read": read, "together": together, "kill": kill, "fill": fill, "limited": limited}

if __name__ == "__main__":
    WORK[sys.argv[1]](Path(sys.argv[2]), *map(int, sys.argv[3:]))
