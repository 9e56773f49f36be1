"""Times of single processes: in run files, in the Dataset, in a store, in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_records
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, RunFileError
from scalkit.formats.read import read
from scalkit.measure import combine, process_times, write_netcdf
from scalkit.measure.quarter_means import Cut, relative_error
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.table_checks import table_problems


def _cell(p: int, number: int, rows: list[list[int]], kept: int, **more: Any) -> dict[str, Any]:
    t_ns = tuple(max(row) for row in rows)
    given = {"root_ns": [row[0] for row in rows], "process_ns": rows[:kept], "process_median_ns": rows[0]}
    rules = {"warmup": 5, "rep_min": 4, "rep_max": 9, "allowed_stderr": 0.02, "cut": [1, 1], "auto_refined": False}
    return run_records.cell("MPI_Gather", p, number, t_ns, **given, **rules, **more)


def _written(folder: Path, *records: dict[str, Any], p: int = 2, run: int = 0) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [run_records.env(p, f"camp-r{run:02d}"), *records, run_records.END]
    path = folder / f"time-p{p:04d}-r{run:02d}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    first = [[900, 100], [1000, 120], [5000, 80], [800, 110]]
    second = [[950, 1300], [970, 100], [990, 90], [930, 130]]
    out = tmp_path / "runs"
    _written(out, _cell(2, 0, first, 3, late_at=[2]), _cell(2, 1, second, 2))
    other = [[900, 100, 200], [700, 100, 800], [650, 60, 900], [640, 50, 500]]
    _written(out, _cell(3, 0, other, 4, number_of=3), p=3)
    return out


def test_in_the_dataset(folder: Path) -> None:
    ds = read(folder)
    assert dict(ds["process_time"].sizes) == {"function": 1, "p": 2, "run": 1, "process": 3}
    at = ds.sel(function="MPI_Gather", run=0)
    np.testing.assert_allclose(at["root_time"].sel(p=2)[:8] * 1e9, [900, 1000, np.nan, 800, 950, 970, 990, 930])
    # of the repetitions whose times were kept, the late one does not count: 900, 1000, 950, 970 and 100, 120, 1300, 100
    np.testing.assert_allclose(at["process_time"].sel(p=2) * 1e9, [960, 110, np.nan])
    np.testing.assert_allclose(at["process_last"].sel(p=2), [0.75, 0.25, np.nan])
    np.testing.assert_allclose(at["process_last"].sel(p=3), [0.5, 0, 0.5])
    assert (ds["root_time"].attrs["units"], ds["process_time"].attrs["role"]) == ("s", "detail")
    assert "process_time" not in read(Path(sk.__file__).parents[1] / "data" / "quickstart"), "older files stay as they were"


def test_in_words(folder: Path) -> None:
    two, three = process_times(read(folder))
    assert str(two) == (
        "MPI_Gather, p = 2: process 0 is done after 960 ns, it is the slowest; mostly process 0 is the last (75 %)."
    )
    assert str(three).startswith("MPI_Gather, p = 3: process 0 is done after 675 ns, it is the slowest; most often process 0")
    assert (two.root, two.slowest, three.times.shape) == (pytest.approx(960e-9), 0, (1, 3))
    with pytest.raises(DataError, match=r"^the times of the processes were not kept; set per_process in a campaign file\.$"):
        process_times(sk.measurements([2, 4, 8], [1.0, 2.0, 3.0]))
    grid = sk.measurements([[2, 8], [4, 8], [2, 64]], [1.0, 2.0, 3.0], parameter=["p", "S"])
    with pytest.raises(DataError, match=r"^times of processes are along one parameter, the Dataset is over p, S; select one\.$"):
        process_times(grid)


def test_they_survive_files_and_joining(folder: Path, tmp_path: Path) -> None:
    ds = read(folder)
    write_netcdf(ds, tmp_path / "a.nc")
    xr.testing.assert_equal(read(tmp_path / "a.nc")["process_time"], ds["process_time"])
    parts = [ds.sel(p=[2]).isel(process=slice(2)), ds.sel(p=[3])]
    joined = combine(parts)
    for name in ("root_time", "process_time", "process_last"):
        xr.testing.assert_equal(joined[name], ds[name])


@pytest.mark.extra
def test_a_store_gives_them_back(folder: Path, tmp_path: Path) -> None:
    import pyarrow as pa

    store = sk.store.open(tmp_path / "store")
    (run_id,) = store.put(folder).added
    ds, loaded = read(folder), store.load()
    for name in ("time", "root_time", "process_time", "process_last"):
        xr.testing.assert_identical(loaded[name], ds[name])
    rows = store.table(run_id).to_pylist()
    (row,) = [one for one in rows if one["p"] == 2]
    wanted = ("rep_min", "rep_max", "allowed_stderr", "cut", "auto_refined", "status", "process_at")
    assert [row[key] for key in wanted] == [4, 9, 0.02, "1,4", False, "open", [0, 1, 2, 4, 5]]
    in_time = [900, 1000, 800, 1300, 970, 990, 930]  # all but the late one
    assert row["stderr"] == pytest.approx(relative_error(np.array(in_time), Cut(1, 1)))
    record = store.record(run_id)
    for column, value, code in (
        ("root_raw", row["root_raw"][1:], "count-mismatch"),
        ("process_raw", row["process_raw"][1:], "count-mismatch"),
        ("process_at", [0, 1, 2, 4, 99], "index-wrong"),
        ("process_raw", [-1, *row["process_raw"][1:]], "out-of-range"),
        ("cut", "2", "cut-unknown"),
        ("stderr", row["stderr"] / 2, "summary-mismatch"),
    ):
        table = store.table(run_id)
        changed = [value if one["p"] == 2 else one[column] for one in table.to_pylist()]
        place = table.column_names.index(column)
        table = table.set_column(place, table.schema.field(column), pa.array(changed, table.schema.field(column).type))
        assert code in [problem[0] for problem in table_problems(record, table, Policy())], column


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"root_ns": [1]}, "n is 2, but root_ns has 1 values; restore the file or measure again."),
        ({"process_ns": [[1, 2, 3]]}, "process_ns[0] is [1, 2, 3]; a list of 2 whole numbers of at least 0 is needed, one for"),
        ({"process_ns": [[1, -2]]}, "process_ns[0] is [1, -2]; a list of 2 whole numbers of at least 0 is needed, one for"),
        (
            {"process_ns": [[1, 2]] * 3},
            "'process_ns' of the 'cell' record is [[1, 2], [1, 2], [1, 2]]; a list of at most 2 lists",
        ),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    good = _cell(2, 0, [[1, 2], [3, 4]], 2)
    path = _written(tmp_path / "x", {**good, **change})
    with pytest.raises(RunFileError, match=f"^{re.escape(f'{path.name}, line 2: {message}')}"):
        read(path)
