"""Run files of several message sizes become a Dataset over processes and size."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_records import END, Writer, cell, env, memory

import scalkit as sk
from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.judge.expectation import sure_match
from scalkit.measure import write_netcdf
from scalkit.measure.schema import check

SIZES = (8, 64, 512, 4096, 32768)
COUNTS = (2, 4, 8, 16, 32)


@pytest.fixture
def folders(write: Writer, tmp_path: Path) -> list[Path]:
    found = []
    for size in SIZES:
        folder = tmp_path / f"size-{size}"
        folder.mkdir()
        for p in COUNTS:
            ns = int(2000 + 3000 * np.log2(p) + size)
            records = [cell(p=p, size_B=size, t_ns=(ns, ns + 3, ns + 9)), memory(p=p, steady=500 + 8 * p)]
            one = env(p, f"at-{size}-r00", oversubscribed=p > 16)
            write(one, *records, END, name=f"time-p{p:04d}-r00.jsonl", folder=folder)
        found.append(folder)
    return found


def test_the_size_is_a_parameter(folders: list[Path], tmp_path: Path) -> None:
    ds = read(folders, parameter=["p", "S"])
    check(ds)
    assert ds["time"].dims == ("function", "p", "S", "run", "repetition")
    assert ds["S"].values.tolist() == list(SIZES)
    assert ds["time"].sel(function="MPI_Bcast", p=4, S=512).values.ravel().tolist() == pytest.approx(
        [8.512e-6, 8.515e-6, 8.521e-6]
    )
    assert ds.sizes["run"] == 1
    assert "message_size_B" not in ds.attrs
    assert ds["oversubscribed"].sel(p=32).all()
    write_netcdf(ds, tmp_path / "all.nc")
    assert read(tmp_path / "all.nc").identical(ds)


def test_verdicts_along_both(folders: list[Path]) -> None:
    result = sk.validate(read(folders, parameter=["S", "p"]), {"MPI_Bcast": "log(p) + S", "MPI_Comm_dup": "p"})
    assert [(v.metric, sure_match(v.probability)) for v in result] == [("time", "total"), ("object_memory", "total")]
    assert result["MPI_Bcast"].parameters == ("S", "p")
    assert not result["MPI_Bcast"].decides
    assert "; and 2 more points" in result["MPI_Bcast"].caveats[0]


def test_one_size_alone_is_along_processes(folders: list[Path]) -> None:
    assert read(folders[0]).attrs["message_size_B"] == 8
    with pytest.raises(DataError, match=r"^measurements that differ in their message size cannot be combined: '8' and '64'"):
        read(folders[:2])


@pytest.mark.parametrize("names", [["p"], ["S", "n"], ["p", "S", "n"], ["p", "run"], ["p", "a b"], []])
def test_other_names(folders: list[Path], names: Any) -> None:
    shown = ", ".join(map(repr, names)) or "none"
    message = f"run files have the parameter 'p' and a message size, asked for are {shown}; name two, as in ['p', 'S']."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(folders, parameter=names)


@pytest.mark.parametrize(("records", "said"), [([memory()], "no messages"), ([cell(size_B=0)], "messages of 0 B")])
def test_files_without_a_size(write: Writer, records: list[Any], said: str) -> None:
    path = write(env(), *records, END)
    message = f"'S' is to be the message size, and some run files hold {said}; leave them out, or read them alone along 'p'."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(path, parameter=["p", "S"])
