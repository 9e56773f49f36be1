"""Run files of a master and its workers: what their Dataset holds, and which files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import RunFileError

OP = "Master_worker[Waitany:20us]"


def units(workers: int, size: int = 64, number: int = 0, **more: Any) -> dict[str, Any]:
    """Return a record: 10 units for each worker, 100 ns for each of all units, of 50 the master waits."""
    n = 10 * workers
    base = {"rec": "units", "op": OP, "p": workers + 1, "size_B": size, "result_B": 16, "work_ns": 20000, "units": n}
    base |= {"pass": number, "verified": True, "foreign_load": 0.02, "t_ns": [100 * n, 120 * n]}
    base |= {"watched_ns": [200 * n, 100 * n], "collect_ns": [60 * n, 200 * n], "calls": [n, n], "ready_ns": [30, 10]}
    return {**base, "busy_ns": [150 * n * workers, 20 * n * workers], "worked_ns": [20000 * n, 20200 * n], **more}


def written(folder: Path, workers: int, *records: dict[str, Any], run: int = 0, **more: Any) -> Path:
    head = {"rec": "env", "schema": 1, "run_id": f"farm-r{run:02d}", "program": "sk_master_worker", "p": workers + 1}
    head |= {"parameter": {"workers": workers}, "mpi_library": "Some MPI 1.0", "oversubscribed": workers > 1, **more}
    end = {"rec": "end", "records": len(records) + 1, "status": "complete", "wall_s": 1.0}
    folder.mkdir(exist_ok=True)
    path = folder / f"master-worker-p{workers + 1:04d}-r{run:02d}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (head, *records, end)))
    return path


def test_time_of_a_unit_and_shares(tmp_path: Path) -> None:
    for workers in (1, 3):
        written(tmp_path, workers, units(workers), units(workers, number=1))
    ds = sk.read(tmp_path)
    assert (ds.attrs["parameter"], ds.attrs["message_size_B"]) == ("workers", 64)
    assert ds["workers"].values.tolist() == [1, 3]
    assert ds["oversubscribed"].values.tolist() == [False, True]
    for workers in (1, 3):
        one = ds.sel(function=OP, workers=workers, run=0)
        np.testing.assert_allclose(one["time"], 1e-9 * np.array([100, 120, 100, 120]))
        np.testing.assert_allclose(one["master_share"], [1 - 50 / 200, 0.0, 1 - 50 / 200, 0.0])
        np.testing.assert_allclose(one["idle_share"], [0.25, 0.8, 0.25, 0.8])
        assert float(one["time_work"]) == pytest.approx(20.1e-6)
        assert float(one["foreign_load"]) == pytest.approx(0.02)
        assert int(one["n_repetitions"]) == 4
    assert {ds[name].attrs["units"] for name in ("master_share", "idle_share")} == {"1"}


def test_over_the_size_over_both_and_a_single_one(tmp_path: Path) -> None:
    for workers in (1, 2):
        written(tmp_path, workers, units(workers), units(workers, 512), run=1)
    both = sk.read(tmp_path)
    assert both.attrs["parameter"] == "workers,S"
    assert both["time"].dims == ("function", "workers", "S", "run", "repetition")
    one = sk.read(tmp_path / "master-worker-p0003-r01.jsonl")
    assert (one.attrs["parameter"], one.attrs["workers"]) == ("S", 2)
    assert one["S"].values.tolist() == [64, 512]
    assert one["oversubscribed"].values.tolist() == [True, True]
    single = sk.read(written(tmp_path / "single", 4, units(4)))
    assert (single.attrs["parameter"], single["workers"].values.tolist()) == ("workers", [4])


def test_a_launch_that_broke_off_counts_and_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, 2, units(2))
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n")
    ds = sk.read(tmp_path)
    assert ds.attrs["truncated"] == path.name
    assert bool(ds["incomplete"].all())


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (units(2, busy_ns=[1]), "line 2: busy_ns has 1 values, and t_ns 2; restore the file or measure again."),
        (units(2, units=0), "line 2: 'units' of the 'units' record is 0; a whole number of at least 1 is needed."),
        (units(2, t_ns=[5, -1]), "line 2: t_ns[1] is -1; a whole number of at least 1 is needed."),
        (units(3), "line 2: p is 4, but the launch had 3 processes (line 1)."),
    ],
)
def test_records_that_are_wrong(tmp_path: Path, record: dict[str, Any], text: str) -> None:
    path = written(tmp_path, 2, record)
    with pytest.raises(RunFileError) as error:
        sk.read(path)
    assert text in str(error.value)


def test_a_pass_that_stands_there_twice(tmp_path: Path) -> None:
    path = written(tmp_path, 2, units(2), units(2, 512), units(2))
    with pytest.raises(RunFileError, match=r"line 4: pass 0 of .* with units of 64 B stands there a second time\."):
        sk.read(path)


def test_messages_are_read_elsewhere(tmp_path: Path) -> None:
    head = {"rec": "env", "schema": 1, "run_id": "m-r00", "program": "sk_p2p", "p": 2}
    trip = {"rec": "trip", "op": "Round_trip", "p": 2, "size_B": 8, "pass": 0, "t_ns": [5]}
    (tmp_path / "messages-p0002-r00.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (head, trip)))
    with pytest.raises(RunFileError, match=r"holds messages: read it with .* fit them with 'scalkit model fit'"):
        sk.read(tmp_path)
