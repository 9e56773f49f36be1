"""Tables: which column is what, in CSV and in pandas DataFrames; errors that say what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.measure import series
from scalkit.measure.schema import check


def written(tmp_path: Path, text: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "parameter", "function", "metrics"),
    [
        ("p,time", "p", "f", {"time": "s"}),
        ("p,time [us]", "p", "f", {"time": "s"}),
        ("nprocs;runtime_ms", "nprocs", "f", {"time": "s"}),
        ("n\telapsed(s)", "n", "f", {"time": "s"}),
        ("n|bandwidth [MB/s]", "n", "f", {"bandwidth": "B/s"}),
        ("x,y", "x", "y", {"value": "1"}),
        ("p,MPI_Bcast [us]", "p", "MPI_Bcast", {"time": "s"}),
        ("p,word_count", "p", "f", {"word_count": "1"}),
        ("p,bytes", "p", "f", {"bytes": "B"}),
        ("cells,t_max [s],memory_MiB", "cells", "f", {"t_max": "s", "memory": "B"}),
        ("p,rep,time", "p", "f", {"time": "s"}),
        ("nodes,value", "nodes", "f", {"time": "s"}),
        ("Num Tasks,flops", "Num_Tasks", "f", {"flops": "1"}),
    ],
)
def test_columns_by_name(tmp_path: Path, header: str, parameter: str, function: str, metrics: dict[str, str]) -> None:
    separator = re.sub(r"[\w \[\]()/]", "", header)[0]
    count = len(header.split(separator))
    rows = "".join(separator.join([str(2**i)] + [str(i + 1)] * (count - 1)) + "\n" for i in range(5))
    ds = read(written(tmp_path, f"{header}\n{rows}"))
    check(ds)
    assert (ds.attrs["parameter"], ds["function"].values.tolist()) == (parameter, [function])
    assert {name: ds[name].attrs["units"] for name in metrics} == metrics


def test_words_are_settings_and_empty_cells_are_missing(tmp_path: Path) -> None:
    cells = [(p, c) for p in (2, 4, 8) for c in ("gcc", "icx")]
    text = "kernel,p,compiler,time_us\n" + "".join(f"sort,{p},{c},{p if c == 'gcc' else ''}\n" for p, c in cells)
    text += "sort,2,icx,7\n"
    ds = read(written(tmp_path, text))
    assert ds["function"].values.tolist() == ["sort[compiler=gcc]", "sort[compiler=icx]"]
    assert series(ds)[1].x.tolist() == [2]


def test_runs_stay_apart(tmp_path: Path) -> None:
    rows = "".join(f"{p},{run},{p + run}\n" for run in (1, 3) for p in (2, 4))
    ds = read(written(tmp_path, "p,run,time\n" + rows))
    assert ds["run"].values.tolist() == [1, 3]
    assert ds["time"].sel(p=4, run=3).values.ravel()[0] == 7


def test_quoted_fields_may_have_separators_and_line_ends(tmp_path: Path) -> None:
    ds = read(written(tmp_path, 'function,p,time\n"sort, a\nlist",2,1\n"sort, a\nlist",4,2\n'))
    assert ds["function"].values.tolist() == ["sort, a\nlist"]


def test_a_quantity_as_a_parameter(tmp_path: Path) -> None:
    path = written(tmp_path, "memory_GB,time\n1,2\n2,3\n4,5\n")
    with pytest.raises(
        DataError, match=r"has no column of numbers that can be a parameter \(its columns are 'memory_GB', 'time'\)"
    ):
        read(path)
    assert read(path, parameter="memory_GB")["memory_GB"].values.tolist() == [1, 2, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p,time\n2,1\n4\n8,3\n", "{}, line 3: the row has 1 fields, the header has 2; the file was cut or edited there: correct "
         "it."),
        ("p,time\n2,1\n4,x\n8,2\n", "{}, line 3: 'time' is 'x'; a finite number, or nothing, is needed: correct the cell."),
        ("p,time\n2,1\n4,1e999\n8,2\n", "{}, line 3: 'time' is '1e999'; a finite number, or nothing, is needed: correct the "
         "cell."),
        ("p,run,time\n2,1e300,1\n", "{} has runs outside 0 to 2147483647; number them from 0 on."),
        ("p,time\n", "{} has a header (p, time) and no row; the file was cut: write it again."),
        ("p,p,time\n1,2,3\n", "{} has two columns 'p'; give each column a name of its own."),
        ("a,b,c\n1,2,3\n2,3,4\n", "{}: it is not clear which column holds measured values (columns of numbers are 'a', 'b', "
         "'c'); give it a name with a unit, as in 'time [us]', and name the parameters, as in parameter=['p', 'n']."),
        ("p,time\n2,-1\n4,1\n", "this is no Dataset of measurements: 'time' of 'f' at p = 2 is -1 s; durations are not negative: "
         "write NaN, or drop that point. See docs/file-formats.md."),
    ],
)  # fmt: skip
def test_wrong_tables(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=f"^{re.escape(message.format(path))}$"):
        read(path)


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("p,time,größe\n2,1,3\n".encode("latin-1"))
    message = f"{path}, line 1: byte 9 is no UTF-8 text; the file is damaged, or it has another encoding: save it as UTF-8."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(path)
    path.write_bytes(b"\xef\xbb\xbfp,time\r\n2,1\r\n4,2\r\n")
    assert read(path)["p"].values.tolist() == [2, 4]


def test_a_frame() -> None:
    frame = pd.DataFrame({"p": [2, 4, 8, 2, 4, 8], "op": ["a"] * 3 + ["b"] * 3, "time_us": [1.0, 2.5, np.nan, 4, 5, 6]})
    ds = read(frame)
    check(ds)
    assert (ds.attrs["format"], ds["function"].values.tolist()) == ("DataFrame", ["a", "b"])
    assert ds["time"].sel(function="a", p=4).item() == 2.5e-6
    assert np.isnan(ds["time"].sel(function="a", p=8).item())
    again = read(frame.set_index(["op", "p"]))
    assert again.identical(ds)
    assert sk.read(frame.rename(columns={"p": "memory_GB"}), parameter="memory_GB").attrs["parameter"] == "memory_GB"


def test_a_frame_with_missing_whole_numbers() -> None:
    frame = pd.DataFrame({"p": [2, 4, 8], "bytes": pd.array([8, None, 32], dtype="Int64")})
    assert series(read(frame))[0].x.tolist() == [2, 8]


def test_frames_over_two_parameters() -> None:
    frame = pd.DataFrame([(p, n, p * n * 1.0) for p in (2, 4) for n in (10, 20)], columns=["p", "n", "time"])
    ds = read(frame, parameter=["p", "n"])
    assert ds["time"].sel(p=4, n=20).item() == 80
    assert read(frame)["function"].values.tolist() == ["f[n=10]", "f[n=20]"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(), "the DataFrame is empty; rows of measurements are needed."),
        (pd.DataFrame([[1, 2]], columns=["p", "p"]), "the DataFrame has two columns 'p'; give each column a name of its own."),
        (pd.DataFrame({"p": ["a"], "time": [1.0]}), "the DataFrame has no column of numbers that can be a parameter (its columns "
         "are 'p', 'time'); add one, as in 'p' or 'n'."),
    ],
)  # fmt: skip
def test_wrong_frames(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(frame)


TIMES = [1.5e-6, 2.5e-6, 3.5e-6, 4.5e-6]


@pytest.mark.parametrize(
    "table",
    [
        {"p": [2, 4, 8, 16], "MPI_Bcast": TIMES},
        pd.DataFrame({"p": [2, 4, 8, 16], "MPI_Bcast": TIMES}),
        pd.DataFrame({"p": [2, 4, 8, 16], "MPI_Bcast [us]": [1e6 * time for time in TIMES]}),
        pd.DataFrame({"p": [2, 4, 8, 16], "MPI_Bcast": TIMES}).set_index("p"),
        pd.Series(TIMES, index=pd.Index([2, 4, 8, 16], name="p"), name="MPI_Bcast"),
        xr.DataArray(TIMES, coords={"p": [2, 4, 8, 16]}, name="MPI_Bcast"),
        xr.Dataset({"MPI_Bcast": ("p", TIMES)}, {"p": [2, 4, 8, 16]}),
        xr.Dataset({"MPI_Bcast": ("p", [1e6 * time for time in TIMES], {"units": "us"})}, {"p": [2, 4, 8, 16]}),
    ],
)
def test_tables_in_memory_whose_columns_name_functions(table: object) -> None:
    ds = read(table)  # type: ignore[arg-type]
    check(ds)
    assert ds["function"].values.tolist() == ["MPI_Bcast"]
    metric = "time" if "time" in ds else "value"  # without a unit nothing says that the numbers are times
    assert ds[metric].attrs["units"] == ("s" if metric == "time" else "1")
    assert ds[metric].values.ravel().tolist() == pytest.approx(TIMES, rel=1e-12)
    assert read(ds) is ds
    verdict = sk.validate(table, "log p", min_points=4)["MPI_Bcast"]
    assert (verdict.answer, verdict.metric) == ("fine", metric)


def test_several_columns_of_functions() -> None:
    fractions = {"p": [2, 4, 8, 16], "MPI_Bcast": TIMES, "MPI_Reduce": TIMES}
    ds = read(fractions)
    assert ds["function"].values.tolist() == ["MPI_Bcast", "MPI_Reduce"]
    assert ds["value"].attrs["units"] == "1"
    with_units = read({f"{name} [us]" if name != "p" else name: values for name, values in fractions.items()})
    assert with_units["time"].sel(function="MPI_Reduce", p=8).item() == pytest.approx(3.5e-12)
    # Whole numbers may be a parameter as well, and a mean has no parts: both are asked for.
    for other in ({"cells": [1, 2, 3, 4]}, {"mean": TIMES}):
        with pytest.raises(DataError, match=r"^the dict: it is not clear which column holds measured values"):
            read({"p": [2, 4, 8, 16], "MPI_Bcast": TIMES, **other})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (xr.DataArray([1.0, 2.0]), "the Dataset has no values of dim_0; give coordinates, as in xr.DataArray(times, "
         "coords={'p': [2, 4, 8]})."),
        (xr.Dataset(), "the Dataset has no dimension; give coordinates, as in xr.DataArray(times, coords={'p': [2, 4, 8]})."),
        (pd.Series([1.0, 2.0]), "the Series has no column of numbers that can be a parameter (its columns are 'time'); add one, "
         "as in 'p' or 'n'."),
        ({}, "the dict is empty; rows of measurements are needed."),
        ({"p": [1, 2], "time": [1, 2, 3]}, "the columns p, time are no table: All arrays must be of the same length; give arrays "
         "of one length."),
    ],
)  # fmt: skip
def test_wrong_tables_in_memory(table: object, message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(table)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [{"p": 3, "time": 4}, [pd.DataFrame({"p": [1]}), 3]])
def test_no_table_and_no_path(data: object) -> None:
    with pytest.raises(DataError) as caught:
        sk.validate(data, "p")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(("the columns p, time are no table", "cannot read <DataFrame>: "))
