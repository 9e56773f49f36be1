"""Run files of sk_neighbours become columns; what is wrong is named with its line, what is missing is said."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, RunFileError
from scalkit.formats.experiments import holds_experiments, read_experiments
from scalkit.guidelines import assess

MOORE = {"op": "MPI_Neighbor_alltoall", "size_B": 8, "topology": "moore", "n_dim": 2, "n_finite": 0, "radius": 1}
CART = {"op": "MPI_Neighbor_alltoall", "size_B": 8, "topology": "cart", "n_dim": 2, "n_finite": 0}


def cell(experiment: dict[str, Any], number: int, t_ns: list[int], p: int = 4, **more: Any) -> dict[str, Any]:
    own = {"order": "rand"} if experiment is MOORE else {}
    n = {"n": len(t_ns), "t_ns": t_ns, "local_ns": [t - 1 for t in t_ns], "late_at": []}
    return {"rec": "cell", "experiment": number, "line": number + 2, "p": p, **experiment, **own, **n, **more}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def made(
        name: str, cells: list[dict[str, Any]], *, run_id: str = "abc-r00", p: int = 4, end: bool = True, **env: Any
    ) -> Path:
        first = {"rec": "env", "schema": 1, "run_id": run_id, "program": "sk_neighbours", "p": p, "experiments": 2}
        records = [first | env, *cells]
        records += [{"rec": "end", "records": len(records), "status": "complete"}] if end else []
        text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return made


def test_columns_have_what_an_experiment_has(write, tmp_path):
    write("a.jsonl", [cell(MOORE, 0, [1000, 3000, 2000]), cell(CART, 1, [500, 700])], oversubscribed=True)
    table = read_experiments(tmp_path)
    np.testing.assert_allclose(table["time"][0], [1e-6, 3e-6, 2e-6])
    np.testing.assert_allclose(table["time"][1], [5e-7, 7e-7])
    assert list(table["radius"].isna()) == [False, True]
    assert list(table["order"].isna()) == [False, True]
    assert list(table["size"]) == [8, 8]
    assert list(table["run"]) == [0, 0]
    assert list(table["p"]) == [4, 4]
    assert table["oversubscribed"].all()
    assert "library" not in table
    assert "work" not in table
    assert table.attrs["notes"] == []


def test_local_durations_are_the_other_value(write, tmp_path):
    write("a.jsonl", [cell(MOORE, 0, [1000, 3000])])
    np.testing.assert_allclose(read_experiments(tmp_path, value="local")["time"][0], [9.99e-7, 2.999e-6])
    with pytest.raises(DataError, match=r"^value is 'mean'; choose completion or local\.$"):
        read_experiments(tmp_path, value="mean")


@pytest.mark.parametrize(("late", "kept"), [([0, 3], 5), ([0, 1, 3], 7)])
def test_late_repetitions_count_only_where_too_few_would_remain(write, tmp_path, late, kept):
    write("a.jsonl", [cell(MOORE, 0, [1000] * 7, late_at=late)])
    assert np.isfinite(read_experiments(tmp_path)["time"][0]).sum() == kept


def test_folders_below_compressed_and_interrupted_files_are_read_jobs_are_not(write, tmp_path):
    write("one/a.jsonl", [cell(MOORE, 0, [1000])])
    write("one/a.jsonl.part", [cell(MOORE, 0, [9000])])
    write("two/b.jsonl.gz", [cell(MOORE, 0, [1000])], run_id="abc-r01")
    write("two/c.jsonl.part", [cell(MOORE, 0, [1000])], run_id="abc-r02", end=False)
    write("jobs/r01/b.jsonl", [cell(MOORE, 0, [1000])], run_id="abc-r01")
    table = read_experiments(tmp_path)
    assert list(table["run"]) == [0, 1, 2]
    np.testing.assert_allclose(np.concatenate(table["time"]), 1e-6)
    assert table.attrs["notes"] == ["c.jsonl.part is truncated: 1 of 2 experiments were measured, and count"]
    assert list(read_experiments([tmp_path / "one", tmp_path / "two" / "b.jsonl.gz"])["run"]) == [0, 1]


def test_a_line_that_was_cut_is_left_out(write, tmp_path):
    path = write("a.jsonl.part", [cell(MOORE, 0, [1000]), cell(CART, 1, [500])], end=False)
    path.write_bytes(path.read_bytes()[:-20])
    table = read_experiments(path)
    assert list(table["topology"]) == ["moore"]
    assert table.attrs["notes"] == ["a.jsonl.part is truncated: 1 of 2 experiments were measured, and count"]


def test_runs_with_different_experiments_are_said_and_count(write, tmp_path):
    write("a.jsonl", [cell(MOORE, 0, [1000]), cell(CART, 1, [500])])
    write("b.jsonl", [cell(CART, 1, [500])], run_id="abc-r01")
    table = read_experiments(tmp_path)
    assert len(table["time"]) == 3
    assert table.attrs["notes"] == [
        "runs with 4 processes differ in their experiments: run 1 lacks 1 of 2; what was measured counts"
    ]


def test_libraries_are_told_apart_and_runs_of_two_campaigns_too(write, tmp_path):
    write("a.jsonl", [cell(MOORE, 0, [1000])], mpi_library="MPICH Version:      5.0.2\nmore")
    write("b.jsonl", [cell(MOORE, 0, [1000])], mpi_library="Open MPI v5.0.11, package: Open MPI")
    table = read_experiments(tmp_path)
    assert list(table["library"]) == ["MPICH 5.0.2", "Open MPI v5.0.11"]
    assert list(table["run"]) == [0, 0]
    write("c.jsonl", [cell(MOORE, 0, [1000])], mpi_library="MPICH Version: 5.0.2", run_id="xyz-r00")
    assert sorted(read_experiments(tmp_path)["run"]) == ["abc-r00", "abc-r00", "xyz-r00"]


def test_what_was_wrong_is_left_out_and_said(write, tmp_path):
    wrong = {"rec": "skip", "op": "MPI_Neighbor_alltoall", "experiment": 1, "why": "process 0 has wrong sources"}
    write("a.jsonl", [cell(MOORE, 0, [1000]), wrong])
    (note,) = read_experiments(tmp_path).attrs["notes"]
    assert note == "a.jsonl: MPI_Neighbor_alltoall, experiment 1 was left out: process 0 has wrong sources"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": 8}, "line 2: p is 8, but the launch had 4 processes"),
        ({"op": ""}, "line 2: 'op' of the 'cell' record is ''"),
        ({"n": 3}, "line 2: t_ns does not have the 3 values that n says"),
        ({"t_ns": [1000, -1]}, "line 2: t_ns[1] is -1; a whole number of at least 1"),
        ({"t_ns": [1000, 1.5]}, "line 2: t_ns[1] is 1.5; a whole number"),
        ({"t_ns": [1000, True]}, "line 2: t_ns[1] is"),
        ({"late_at": [2]}, "line 2: late_at[0] is 2; a whole number from 0 to 1"),
        ({"radius": -1}, "line 2: 'radius' of the 'cell' record is -1"),
        ({"foreign_load": "much"}, "line 2: 'foreign_load'"),
    ],
)
def test_wrong_records_are_named_with_their_line(write, tmp_path, change, message):
    write("a.jsonl", [cell(MOORE, 0, [1000, 2000]) | change])
    with pytest.raises(RunFileError) as caught:
        read_experiments(tmp_path)
    assert str(caught.value).startswith(f"a.jsonl, {message}")


def test_files_that_contradict_themselves_are_refused(write, tmp_path):
    path = write("a.jsonl", [cell(MOORE, 0, [1000])])
    whole = path.read_text()
    for text, message in (
        (whole + whole, "line 4: there is more after the 'end' record"),
        (whole.replace('"records":2', '"records":5'), "line 3: the 'end' record counts 5 records before it, here are 2"),
        (whole.replace('"rec":"cell"', "nonsense"), "line 2: Expecting"),
        (whole.replace('"schema":1', '"schema":2'), "line 1: schema 2 is newer than 1"),
    ):
        path.write_text(text)
        with pytest.raises(RunFileError) as caught:
            read_experiments(tmp_path)
        assert str(caught.value).startswith(f"a.jsonl, {message}")


def test_other_readers_say_what_to_use(write, tmp_path):
    assert not holds_experiments(tmp_path)
    with pytest.raises(DataError, match=r"^there are no run files of sk_neighbours at .*; name another folder"):
        read_experiments(tmp_path)
    with pytest.raises(DataError, match="there are no measurements at 'nowhere'"):
        read_experiments("nowhere")
    write("a.jsonl", [cell(MOORE, 0, [1000])])
    assert holds_experiments(tmp_path)
    with pytest.raises(RunFileError, match=r"a\.jsonl holds experiments on neighbourhoods: read it with .*read_experiments"):
        sk.read(tmp_path)


def test_assessment_takes_the_columns(write, tmp_path):
    rng = np.random.default_rng(5)
    fmaj = {**MOORE, "order": "fmaj"}
    for run in range(12):
        fast, slow = (rng.normal(mean, 20, 9).astype(int).tolist() for mean in (1000, 1500))
        write(f"{run}.jsonl", [cell(MOORE, 0, fast), cell(fmaj, 1, slow)], run_id=f"abc-r{run:02d}")
    found = assess(read_experiments(tmp_path), "neighbourhood")
    assert found.headline == "1 of 1 test violated (GL11)"
    assert found.violations["ratio"].iloc[0] == pytest.approx(1.5, rel=0.05)
