"""Run files over another parameter than the number of processes, and counts of operations."""

from __future__ import annotations

from typing import Any

import pytest
from run_records import END, Writer, cell, env

import scalkit as sk
from scalkit.errors import DataError, RunFileError

AGAIN = "Restore the file or measure again."


def _count(op: str = "gen", operations: int = 1234, **more: Any) -> dict[str, Any]:
    return {"rec": "count", "op": op, "p": 1, "operations": operations, **more}


def _env(k: int, run: int = 0, **more: Any) -> dict[str, Any]:
    return env(p=1, run_id=f"camp-r{run:02d}", program="sk_mafia", parameter={"k": k}, mpi_library="", **more)


def test_parameter_and_counts_reach_the_dataset(write: Writer) -> None:
    paths = [
        write(_env(k, run), _count(operations=k), cell("gen", 1, t_ns=(k, k + 1)), END, name=f"k{k}-r{run}.jsonl")
        for k in (3, 5)
        for run in (0, 1)
    ]
    ds = sk.read(paths)
    assert (ds.attrs["parameter"], ds["k"].values.tolist()) == ("k", [3, 5])
    assert ds.attrs["title"] == "sk_mafia"
    assert ds["operations"].sel(function="gen").values.tolist() == [[3, 3], [5, 5]]
    assert {name: ds["operations"].attrs[name] for name in ("role", "units", "exact")} == {
        "role": "metric",
        "units": "op",
        "exact": 1,
    }
    assert ds["time"].sel(function="gen", k=5, run=1).values.tolist() == pytest.approx([5e-9, 6e-9])
    assert ds["oversubscribed"].dims == ("k",)


def test_counts_alone_are_measurements(write: Writer) -> None:
    write(_env(3), _count(verified=False), END)
    ds = sk.read(write(_env(4), _count("dedup"), END, name="k4.jsonl").parent)
    assert list(ds["function"].values) == ["gen", "dedup"]
    assert not ds["verified"].sel(function="gen", k=3).any()


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (
            [env(parameter={"k": 0})],
            f"line 1: 'k' of the 'env.parameter' record is 0; a whole number of at least 1 is needed. {AGAIN}",
        ),
        ([env(parameter={})], "line 1: 'parameter' has no entry; a name and its value are needed, as in {'k': 5}."),
        ([env(parameter="k")], f"line 1: 'parameter' of the 'env' record is 'k'; an object {{...}} is needed. {AGAIN}"),
        ([env(parameter={"run": 3})], "line 1: the parameter 'run' cannot have that name; use another, as in 'k'."),
        ([env(parameter={"a b": 3})], "line 1: the parameter 'a b' cannot have that name; use another, as in 'k'."),
        ([_env(3), _count(), _count()], f"line 3: the count of 'gen' stands there a second time. {AGAIN}"),
        ([_env(3), _count(p=2)], f"line 2: p is 2, but the launch had 1 processes (line 1). {AGAIN}"),
        (
            [_env(3), _count(operations=-1)],
            f"line 2: 'operations' of the 'count' record is -1; a whole number of at least 0 is needed. {AGAIN}",
        ),
    ],
)
def test_malformed_records_are_said(write: Writer, records: list[dict[str, Any]], message: str) -> None:
    path = write(*records, END)
    with pytest.raises(RunFileError) as caught:
        sk.read(path)
    assert str(caught.value) == f"{path.name}, {message}"


def test_two_launches_of_one_point_are_refused(write: Writer) -> None:
    one, two = (write(_env(3), _count(), END, name=f"{name}.jsonl") for name in "ab")
    with pytest.raises(DataError) as caught:
        sk.read([one, two])
    said = f"{one} and {two} are the same launch (run 'camp-r00', sk_mafia, k = 3); keep one of them."
    assert str(caught.value) == said


def test_files_over_different_parameters_are_refused(write: Writer) -> None:
    one = write(_env(3), _count(), END, name="a.jsonl")
    two = write(env(p=1, run_id="camp-r01", program="sk_mafia", mpi_library=""), _count(), END, name="b.jsonl")
    with pytest.raises(DataError) as caught:
        sk.read([one, two])
    assert str(caught.value) == (f"the run files in {one.parent} differ in their parameter: 'k' and 'p'; read them apart.")
