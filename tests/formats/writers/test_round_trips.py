"""What is written comes back: every format, every kind of Dataset; nothing is overwritten or left half-written."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.formats.writers import FORMATS, write
from scalkit.judge.expectation import sure_match
from scalkit.measure import combine, measurements, series, several_series

DATA = Path(__file__).parents[2] / "data" / "readers"
REAL = Path(__file__).parents[3] / "data" / "libraries-times" / "mpich-5.0.2"


def content(ds: xr.Dataset) -> list[tuple[object, ...]]:
    """Return all that a format must keep, to compare."""
    found = several_series(ds) if len(ds.attrs["parameter"].split(",")) > 1 else series(ds)
    rows: list[tuple[object, ...]] = []
    for one in found:
        points = getattr(one, "points", None)
        x = one.x.tolist() if points is None else points.tolist()
        rows.append((one.function, one.metric, one.unit, one.exact, x, one.n_repetitions.tolist(), str(one.values.tolist())))
    return sorted(rows, key=str)


def one_run(ds: xr.Dataset) -> xr.Dataset:
    return ds if ds.sizes.get("run", 1) == 1 else ds.isel(run=[0])


def datasets() -> dict[str, xr.Dataset]:
    memory = measurements([2, 4, 8], [16.0, 32.0, 64.0], metric="object_memory", name="MPI_Comm_dup")
    exact = combine([memory, measurements([2, 4, 8], [1, 2, 3], metric="visits", unit="1", exact=True, name="main")])
    two = measurements([[2, 10], [2, 20], [4, 10]], [[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]], parameter=["p", "n"], name="a->b")
    far = measurements([[i, i * 7] for i in range(1, 400)], np.arange(1.0, 400.0), parameter=["p", "n"])
    fraction = measurements([0.5, 1.5, 2.5], [1e-9, 1 / 3, 1e9], parameter="x", metric="rate", unit="1/s", name='a "b", c; d')
    return {
        "real": read(REAL),
        "exact": exact,
        "two": two,
        "far": far,
        "fraction": fraction,
        "imb": read(DATA / "imb" / "mpi1.txt"),
    }


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["real", "exact", "two", "far", "fraction", "imb"])
def test_round_trip(tmp_path: Path, kind: str, name: str) -> None:
    ds = datasets()[name]
    path = tmp_path / f"out{kind}"
    assert write(ds, path) == FORMATS[kind]
    assert os.listdir(tmp_path) == [path.name]
    parameter = None if len(ds.attrs["parameter"].split(",")) < 2 else ds.attrs["parameter"].split(",")
    again = read(path, parameter=parameter)
    assert content(again) == content(ds)
    if kind == ".nc":
        assert again.drop_attrs().identical(ds.drop_attrs())
    else:
        assert again.attrs["format"].startswith({".csv": "CSV", ".jsonl": "Extra-P JSON"}[kind])


@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(
    name=st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=30),
    values=st.lists(st.floats(0, 1e300), min_size=2, max_size=6),
    kind=st.sampled_from([kind for kind in FORMATS if kind != ".nc"]),
)
def test_any_name_and_value(tmp_path: Path, name: str, values: list[float], kind: str) -> None:
    ds = measurements(np.arange(1, len(values) + 1), values, name=name)
    path = tmp_path / f"any{kind}"
    if kind == ".csv" and name != name.strip():
        with pytest.raises(DataError, match="has blanks or line ends that"):
            write(ds, path, force=True)
        return
    write(ds, path, force=True)
    again = read(path)
    assert again["time"].values.ravel().tolist() == ds["time"].values.ravel().tolist()
    expected = "->".join(part.strip() for part in name.strip().split("->")) or "<root>"
    assert again["function"].item() in (name, expected)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("there.csv", "{} is there already; choose another name, or replace it with --force."),
        ("link.csv", "{} is there already; choose another name, or replace it with --force."),
        ("folder", "the suffix of '{}' says no format; known are .jsonl (Extra-P JSON Lines), .csv (CSV), .nc "
         "(netCDF-3)."),
        ("folder.csv", "{} is a folder; name a file in it."),
        ("none/a.csv", "the folder '{}' is not there; make it first, or choose another one."),
    ],
)  # fmt: skip
def test_places_that_are_refused(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "there.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    path = tmp_path / place
    shown = path.parent if "none" in place else path
    with pytest.raises(DataError, match=f"^{re.escape(message.format(shown))}$"):
        write(measurements([1, 2], [1.0, 2.0]), path)
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_force_replaces_only_by_what_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(DataError, match="has blanks or line ends that CSV does not keep"):
        write(measurements([2, 4], [1.0, 2.0], name="a\nb"), path, force=True)
    assert path.read_text() == "mine"
    write(measurements([2, 4], [1.0, 2.0]), path, force=True)
    assert read(path)["p"].values.tolist() == [2, 4]
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    ("ds", "kind", "message"),
    [
        (measurements([1, 2], [np.nan, np.nan]), ".csv", "there is no value to write: all are NaN, which stands for what was not "
         "measured; measure again."),
        (measurements([1, 2], [1.0, 2.0], name="a\nb"), ".csv", "the name 'a\\nb' has blanks or line ends that CSV does not "
         "keep; write netCDF, or JSON Lines, or rename it."),
        (measurements([1, 2], [1.0, 2.0], parameter="value"), ".csv", "the parameter 'value' has the name of a column of text "
         "formats; rename it, or write netCDF."),
        (measurements([[1, 2, 3, 4, 5]], [1.0], parameter=list("abcde")), ".jsonl", "Extra-P has up to 4 parameters, here are a, "
         "b, c, d, e; select one value of some, as in ds.sel(e=...), or write netCDF."),
    ],
)  # fmt: skip
def test_what_a_format_cannot_hold(tmp_path: Path, ds: xr.Dataset, kind: str, message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        write(ds, tmp_path / f"out{kind}")


def test_validate_says_the_same_of_what_was_converted(tmp_path: Path) -> None:
    ds = read([DATA / "osu" / f"p{p:02d}" for p in (2, 4, 8, 16, 32)])
    write(ds, tmp_path / "osu.jsonl")
    expected = {"MPI_Bcast": "log(p)", "MPI_Barrier": "log(p)"}
    before, after = (sk.validate(one, expected) for one in (ds, read(tmp_path / "osu.jsonl")))
    assert [(v.function, sure_match(v.probability)) for v in before.verdicts] == [
        (v.function, sure_match(v.probability)) for v in after.verdicts
    ]
