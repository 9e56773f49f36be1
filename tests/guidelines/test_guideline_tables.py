"""Where measurements come from: run folders of several sizes, CSV there and back, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from csv_files import csv_text

import scalkit as sk
from lessons.campaigns import neighbourhood_design, simulated_campaign
from scalkit.errors import DataError, UsageError
from scalkit.guidelines import assess
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.tables import read_csv, read_tables
from scalkit.measure import combine, write_netcdf
from scalkit.reports import bundled


def test_sizes_are_those_of_whole_vectors() -> None:
    points = [[p, s] for p in (2, 4) for s in (8, 16, 32)]
    names = ("MPI_Bcast", "MPI_Scatter", "MPI_Igather", "MPI_Allgather", "MPI_Reduce_scatter_block", "MPI_Allreduce")
    sets = [sk.measurements(points, [1e-6 * (1 + k)] * 6, parameter=["p", "S"], name=name) for k, name in enumerate(names)]
    found = read_tables(combine(sets))
    sizes = {
        name: sorted(set(part["size"] / (part["p"] if name in names[1:5] else 1))) for name, part in found.groupby("operation")
    }
    assert sizes == {name: [8, 16, 32] for name in names}
    data = measured(combine(sets))
    assert data.unit == "s"
    tested = assess(combine(sets), "MPI_Bcast <= MPI_Scatter + MPI_Allgather").to_frame()
    assert list(zip(tested["p"], tested["size"], strict=True)) == [(2, 16), (2, 32), (4, 32)]
    assert (tested["violation_ratio"] < 1).all()


def test_run_folders_of_one_and_of_several_sizes() -> None:
    found = read_tables(str(bundled("data/libraries-times/mpich-5.0.2")))
    assert set(found) == {"operation", "p", "size", "run", "time", "oversubscribed", "foreign_load"}
    data = measured(found)
    assert (data.levels["p"], len(data.runs)) == ((2, 4, 8, 16, 32), 5)
    bcast = data.codes[:, 0] == data.levels["operation"].index("MPI_Bcast")
    assert {data.levels["size"][code] for code in data.codes[bcast, 2]} == {8}
    alltoall = data.codes[:, 0] == data.levels["operation"].index("MPI_Alltoall")
    assert sorted(data.levels["size"][code] for code in data.codes[alltoall, 2]) == [16, 32, 64, 128, 256]
    more_than_cores = np.array([data.level("p", code) > 2 for code in data.codes[:, 1]])
    assert data.crowded[more_than_cores].all()
    assert not data.crowded[~more_than_cores].all()  # some were measured beside other programs
    assert np.isfinite(data.medians).all()


def test_csv_there_and_back(tmp_path: Path) -> None:
    design = neighbourhood_design(sizes=(1, 64))
    campaign = simulated_campaign(design[design["n_dim"] < 3], seed=1, n_runs=10, n_repetitions=5)
    first = assess(campaign, "neighbourhood")
    file = tmp_path / "c.csv"
    file.write_text(csv_text(first.data), encoding="utf-8")
    assert file.read_text(encoding="utf-8").startswith("# simulated, not measured\n# unit: s\n")
    again = assess(read_tables(file), "neighbourhood")
    keys = ["guideline", "size", "n_dim", "n_finite", "reorder", "operation", "topology", "order"]
    a, b = (one.to_frame().astype(dict.fromkeys(keys, str)).sort_values(keys) for one in (first, again))
    np.testing.assert_allclose(a["p_value"], b["p_value"], rtol=1e-6)
    assert a["state"].tolist() == b["state"].tolist()
    assert again.warnings[0] == "These measurements are simulated."
    assert again.data.unit == "s"
    assert set(again.data.levels["radius"]) == {1}


def test_a_row_is_a_repetition_and_files_add_up(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("operation,run,time\na,0,1\na,0,3\nb,0,2\n", encoding="utf-8")
    second.write_text('operation,run,time\n"a",1,1\n"a",1,3\n"b",1,2\n', encoding="utf-8")
    data = measured(read_tables([first, str(second)]))
    np.testing.assert_array_equal(data.medians, [[2, 2], [2, 2]])
    table = pd.DataFrame({"operation": ["a"], "run": [0], "time": [1.0]})
    assert read_tables(table) is table


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("operation,run,time\na,0,1 x\n", "'time' must hold numbers, or a list of numbers in each row."),
        ("", "c.csv is no CSV table: No columns to parse from file; its first line names the columns."),
        ('a,run\n"x', "c.csv is no CSV table: "),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "c.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(said)):
        measured(read_tables(file))


def test_refused(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_bytes(b"operation,run,time\n\xff,0,1\n")
    with pytest.raises(DataError, match=r"cannot read .*c\.csv: it is not text in UTF-8\."):
        read_csv(file)
    with pytest.raises(DataError, match="there is no file or folder 'nowhere'; name measurements"):
        read_tables("nowhere")
    with pytest.raises(UsageError, match="there are no measurements; name a run folder or a CSV file"):
        read_tables([])
    with pytest.raises(UsageError, match="CSV files and run folders cannot be assessed together"):
        read_tables([file, bundled("data/libraries-times/mpich-5.0.2")])
    other = tmp_path / "d.csv"
    file.write_text("# unit: s\noperation,run,time\na,0,1\n", encoding="utf-8")
    other.write_text("# unit: us\noperation,run,time\na,1,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="the CSV files are in different units, s, us; convert them to one"):
        read_tables([file, other])
    memory = sk.measurements([2, 4], [8, 16], metric="object_memory", unit="B", name="f")
    with pytest.raises(DataError, match="the measurements have no 'time'; they have"):
        measured(memory)
    assert measured(memory, value="object_memory").unit == "B"


def test_several_libraries_below_a_folder_are_told_apart(tmp_path: Path) -> None:
    for library in ("mpich", "openmpi"):
        for size in (8, 64):
            folder = tmp_path / library / str(size)
            folder.mkdir(parents=True)
            for file in sorted(bundled("data/libraries-times/mpich-5.0.2").glob("time-p000[24]-r0[01].jsonl")):
                text = file.read_text(encoding="utf-8").replace('"size_B":8', f'"size_B":{size}')
                version = "Open MPI v9, package: x" if library == "openmpi" else "MPICH Version:      5.0.2"
                first, _, rest = text.partition("\n")
                env = json.loads(first) | {"mpi_library": version}
                env["run_id"] = f"{library}{size}-{env['run_id'][-3:]}"
                (folder / file.name).write_text(json.dumps(env) + "\n" + rest, encoding="utf-8")
    data = measured(read_tables(tmp_path))
    assert data.levels["library"] == ("MPICH 5.0.2", "Open MPI v9")
    assert len(data.runs) == 2
    bcast = data.codes[:, data.parameters.index("operation")] == data.levels["operation"].index("MPI_Bcast")
    assert sorted(data.levels["size"][code] for code in data.codes[bcast, data.parameters.index("size")]) == [8] * 4 + [64] * 4


def test_netcdf_files_below_a_folder_are_told_apart_by_their_library(tmp_path: Path) -> None:
    inside = tmp_path / "deeper"
    inside.mkdir()
    for name, library in (("a", "MPICH Version:      5.0.2"), ("b", "Open MPI v9, package: x"), ("c", "Open MPI v9, package: x")):
        points = [[2, 8], [2, 64], [4, 8], [4, 64]] if name != "c" else [[8, 8], [8, 64]]
        one = sk.measurements(points, [1e-6] * len(points), parameter=["p", "S"], name="MPI_Gather")
        one.attrs |= {"mpi_library": library, "measured_on": "here"}
        write_netcdf(one, inside / f"{name}.nc")
    table = read_tables(tmp_path)
    data = measured(table)
    assert data.levels["library"] == ("MPICH 5.0.2", "Open MPI v9")
    assert (data.levels["p"], data.levels["size"]) == ((2, 4, 8), (16, 32, 64, 128, 256, 512))
    assert (table.attrs["mpi_library"], table.attrs["host"]) == ("MPICH 5.0.2; Open MPI v9", "here")


def test_other_measurements_beside_those_of_neighbourhoods_are_named(tmp_path: Path) -> None:
    env = {"rec": "env", "schema": 1, "run_id": "x-r00", "program": "sk_neighbours", "p": 2, "experiments": 1}
    cell = {"rec": "cell", "op": "work", "work": 3, "p": 2, "n": 1, "t_ns": [5], "local_ns": [5], "late_at": []}
    lines = [env, cell, {"rec": "end", "records": 2, "status": "complete"}]
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines)
    (tmp_path / "n.jsonl").write_text(text, encoding="utf-8")
    assert read_tables(tmp_path).attrs["notes"] == []
    other = bundled("data/libraries-times/mpich-5.0.2") / "time-p0002-r00.jsonl"
    (tmp_path / "other.jsonl").write_bytes(other.read_bytes())
    assert assess(read_tables(tmp_path), "work <= MPI_Bcast").warnings[0] == (
        "1 file with other measurements, as other.jsonl, did not take part: sizes mean something else there; name them, or "
        "their folder, alone."
    )
