"""What the processes of the tests of concurrency do: write runs, or read them again and again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

import scalkit as sk
from scalkit.errors import StoreError
from scalkit.store.content import content_id, decoded

FULL = (
    r"^cannot write runs/[0-9a-f]{32}\.parquet in '.*': the disk is full; .* MB are needed; "
    r"make room and do it again, the store is as it was\.$"
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
    while len(checked) < until:
        counts = store.points().groupby("run_id").size()
        if (counts != 20).any():
            print("torn in the index:", counts[counts != 20].to_dict(), flush=True)  # noqa: T201
            sys.exit(1)
        for run_id in set(store.folder.run_ids()) - checked:
            record, table = decoded(store.folder.file_of(run_id), run_id)
            if content_id(record["measured"], table) != run_id:
                print("torn:", run_id, flush=True)  # noqa: T201
                sys.exit(1)
            checked.add(run_id)
        if store.problems:
            print(store.problems, flush=True)  # noqa: T201
            sys.exit(1)


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
        record, table = decoded(again.folder.file_of(run_id), run_id)
        assert content_id(record["measured"], table) == run_id
    (path / "runs" / f"{again.folder.run_ids()[0]}.parquet").unlink()
    assert len(store.put(ds, machine="with room").added) == 1
    print("full and as it was", there, flush=True)  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(Path(sys.argv[2]))
    elif sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        read(Path(sys.argv[2]), int(sys.argv[3]))
