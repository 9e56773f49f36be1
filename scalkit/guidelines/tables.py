"""Tables of measurements for guidelines: from run folders, files of other programs, CSV, and tables at hand."""

import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.formats.experiments import holds_experiments, read_experiments, short_library
from scalkit.formats.read import read
from scalkit.formats.remarks import attributes_of_remarks
from scalkit.measure.schema import parameters_of
from scalkit.measure.virtual_time import clock_attributes, machine_of
from scalkit.support.arguments import each_of
from scalkit.support.bundled import here_or_bundled
from scalkit.support.files import require_own_files
from scalkit.support.text import counted

PathLike = str | os.PathLike[str]

_MOST_BYTES = 2_000_000_000
_LONGEST_LINE = 1_000_000
_MEASURED = re.compile(r"\.jsonl(\.gz|\.part)?$|\.nc$")


def read_tables(source: Any, *, value: str = "time") -> pd.DataFrame:
    """Return measurements as one table, with what they say of themselves in ``attrs``.

    `source`: a CSV file; a run folder of a neighbourhood campaign; or whatever `scalkit.read` takes: campaign folders, also
    below a folder, run files of one or several message sizes and MPI libraries, netCDF, files of other programs. Several CSV
    files are put below each other. A Dataset of `scalkit.read` becomes a table, and so does a mapping of columns, of which
    that of the values may have a second axis; a DataFrame is one.
    `value`: the measured metric.
    Raises DataError, RunFileError if something cannot be read; the text names the file.
    Raises UsageError if there is none.
    """
    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, xr.Dataset):
        return _of_dataset(source, value)
    if isinstance(source, Mapping):
        return _of_columns(source)
    way_on = "give paths, a pandas DataFrame, a Dataset of sk.read or a mapping of columns"
    given = each_of(source, str | os.PathLike, "the measurements", way_on)
    paths = [here_or_bundled(Path(one).expanduser()) for one in given]
    if not paths:
        raise UsageError("there are no measurements; name a run folder or a CSV file.")
    for path in paths:
        if not path.exists():
            raise DataError(f"there is no file or folder {str(path)!r}; name measurements, such as a run folder or a CSV file.")
    is_csv = [path.is_file() and _is_csv(path) for path in paths]
    if all(is_csv):
        return _below_each_other([read_csv(path) for path in paths])
    if any(is_csv):
        raise UsageError("CSV files and run folders cannot be assessed together; give one kind, or put all into CSV files.")
    return _neighbourhoods(paths, value) if holds_experiments(paths) else _runs(paths, value)


def _of_columns(columns: Mapping[str, Any]) -> pd.DataFrame:
    shapes = {name: np.shape(column) for name, column in columns.items()}
    if many := [name for name, shape in shapes.items() if len(shape) > 2]:
        raise DataError(f"'{many[0]}' has {len(shapes[many[0]])} axes; one of rows and one of repetitions are possible.")
    try:
        return pd.DataFrame({name: list(one) if len(shapes[name]) == 2 else one for name, one in columns.items()})
    except ValueError as error:
        raise DataError(f"the columns are no table: {error}.") from error


def _neighbourhoods(paths: Sequence[Path], value: str) -> pd.DataFrame:
    """Return run files of neighbourhood campaigns; ``local`` is the longest time that any process was inside the call."""
    frame = read_experiments(paths, value="local" if value == "local" else "completion")
    if others := [file for path in paths for file in _files(path) if not holds_experiments(file)]:
        frame.attrs["notes"].append(
            f"{counted(len(others), 'file')} with other measurements, as {others[0].name}, did not take part: sizes mean "
            "something else there; name them, or their folder, alone"
        )
    return frame.rename(columns={"time": value}) if value == "local" else frame


def _runs(paths: Sequence[Path], value: str) -> pd.DataFrame:
    """Return run files as one table, with a column ``library`` if they are of several MPI libraries."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        for part in _parts(path):
            groups.setdefault(_library(part), []).append(part)
    tables = {library: _of_dataset(_read(group), value) for library, group in groups.items()}
    if len(tables) == 1:
        (table,) = tables.values()
        return table
    every = [table.attrs for table in tables.values()]
    for library, table in tables.items():
        table.insert(0, "library", library)
        table.attrs = {}
    joined = pd.concat(tables.values(), ignore_index=True)
    joined.attrs = {
        "simulated": any(one["simulated"] for one in every),
        **clock_attributes([machine_of(one) for one in every]),
        "units": every[0]["units"],
        "mpi_library": "; ".join(tables),
        "host": ", ".join(sorted({one["host"] for one in every} - {""})),
        "started": min((one["started"] for one in every if one.get("started")), default=""),
    }
    return joined


def _files(path: Path) -> list[Path]:
    """Return the run files and netCDF files at or below a path."""
    return [path] if path.is_file() else sorted(one for one in path.rglob("*") if _MEASURED.search(one.name))


def _parts(path: Path) -> list[Path]:
    """Return a file, a campaign folder, or the campaign folders and netCDF files below a folder that is none itself."""
    if path.is_file() or any(path.glob("*.jsonl*")):
        return [path]
    return sorted({file if file.suffix == ".nc" else file.parent for file in _files(path)}) or [path]


def _library(path: Path) -> str:
    """Return the MPI library of run files, or of a netCDF file, as one short text; empty where they do not say."""
    files = [path] if path.is_file() else sorted(path.glob("*.jsonl"))
    try:
        if path.suffix == ".nc":
            text = read(path).attrs.get("mpi_library", "")
        else:
            if path.is_dir():
                require_own_files(path, [file.name for file in files], hard_links=True)
            with files[0].open(encoding="utf-8", errors="replace") as opened:
                text = json.loads(opened.readline(_LONGEST_LINE)).get("mpi_library", "")
    except (OSError, ValueError, IndexError, AttributeError):
        return ""
    return short_library(str(text))


def _read(paths: Sequence[Path]) -> xr.Dataset:
    """Return run files of several message sizes, if they are that; else whatever they are."""
    try:
        return read([str(path) for path in paths], parameter=["p", "S"])
    except DataError:
        return read([str(path) for path in paths])


def _is_csv(path: Path) -> bool:
    """Return whether a file is a table of guidelines: its first line that is no remark names columns ``run`` and others."""
    if path.suffix.lower() not in (".csv", ".txt"):
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as opened:
            head = next((line for line in opened if line.strip() and not line.startswith("#")), "")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}.") from error
    names = [name.strip().strip('"') for name in head.split(",")]
    return "run" in names or path.suffix.lower() == ".csv"


def read_csv(path: PathLike) -> pd.DataFrame:
    """Return a CSV file as a table.

    `path`: the first line names the columns, with commas between; one is ``run``, one ``time``, all others are
    parameters. A row is one repetition. Empty fields are missing. Lines that begin with ``#`` are remarks; ``# simulated``
    says that nobody measured it, ``# unit: s`` names the unit, ``# virtual: {...}`` the machine of a virtual clock as JSON.
    Raises DataError if it cannot be read.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise DataError(f"{file} is larger than {_MOST_BYTES} bytes; split it into several files.")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise DataError(f"cannot read {file}: {reason}.") from error
    lines = text.splitlines(keepends=True)
    remarks = [line for line in lines if line.startswith("#")]
    body = "".join(line for line in lines if not line.startswith("#"))
    try:
        frame = pd.read_csv(io.StringIO(body), skipinitialspace=True)
    except (ValueError, pd.errors.ParserError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"{file} is no CSV table: {said}; its first line names the columns.") from error
    parameters = frame.columns.drop("time", errors="ignore")
    frame[parameters] = frame[parameters].convert_dtypes()  # whole numbers next to missing ones stay whole
    units = [line.partition(":")[2].strip() for line in remarks if line.lstrip("# ").startswith("unit:")]
    frame.attrs = {"units": units[0] if units else "", **attributes_of_remarks(remarks)}
    return frame


def _below_each_other(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if len(frames) == 1:
        return frames[0]
    every = [frame.attrs for frame in frames]
    units = {one["units"] for one in every}
    if len(units) > 1:
        raise DataError(f"the CSV files are in different units, {', '.join(sorted(units))}; convert them to one.")
    for frame in frames:
        frame.attrs = {}
    joined = pd.concat(frames, ignore_index=True)
    joined.attrs = {
        "simulated": any(one["simulated"] for one in every),
        **clock_attributes([machine_of(one) for one in every]),
        "units": units.pop(),
    }
    return joined


_BLOCKED = frozenset(f"{base}{form}" for base in ("gather", "scatter", "allgather", "alltoall") for form in ("", "v", "w"))
_BLOCKED_SUMS = frozenset({"reduce_scatter", "reduce_scatter_block"})
_NAME = re.compile(r"MPI_I?([a-z_]+)(?:\[.*\])?")


def _of_dataset(data: xr.Dataset, metric: str) -> pd.DataFrame:
    """Return a table of a Dataset of `scalkit.read`, of one message size or, with ``parameter=["p", "S"]``, of several.

    A row is one function in one run; its value is an array of the repetitions, in the unit of the metric. ``size`` is in bytes
    and that of the whole vector: where a call has a message for each process, as ``MPI_Gather`` and ``MPI_Scatter`` have, it
    is p times what run files call size. So ``MPI_Bcast <= MPI_Scatter + MPI_Allgather`` compares calls that move the same
    data. What did not deliver right data is left out.
    """
    if "function" not in data.dims or "parameter" not in data.attrs:
        raise DataError("the Dataset is none of sk.read; give one, or a pandas DataFrame with a row for each value.")
    if metric not in data:
        raise DataError(f"the measurements have no '{metric}'; they have {', '.join(map(str, data.data_vars)) or 'none'}.")
    array = data[metric].where(data["verified"] != 0) if "verified" in data else data[metric]
    for name in ("run", "repetition"):
        array = array if name in array.dims else array.expand_dims(name)
    names = [str(name) for name in array.dims if name not in ("function", "run", "repetition")]
    where = ["function", *names, "run"]
    array = array.transpose(*where, "repetition")
    marks = [name for name in ("oversubscribed", "foreign_load") if name in data.variables and {*data[name].dims} <= {*where}]
    first = array.isel(repetition=0).reset_coords(drop=True)
    labels = xr.Dataset({metric: first, **{name: data[name].variable for name in marks}})
    frame = labels.to_dataframe(dim_order=where).reset_index()[[*where, *marks]]
    values = array.values.reshape(len(frame), -1)
    frame[metric] = list(values)
    frame = frame[~np.isnan(values).all(axis=1)].rename(columns={"function": "operation"})
    if frame.empty:
        raise DataError(f"the measurements have no value of '{metric}'.")
    frame[names] = frame[names].convert_dtypes()
    _add_size(frame, data, names)
    frame.attrs = {
        "simulated": bool(data.attrs.get("simulated", 0)),
        "units": str(data[metric].attrs.get("units", "")),
        "host": data.attrs.get("measured_on", ""),
        **{key: data.attrs[key] for key in ("clock", "virtual", "mpi_library", "started") if data.attrs.get(key)},
    }
    return frame


def _add_size(frame: pd.DataFrame, data: xr.Dataset, names: Sequence[str]) -> None:
    """Put the size of the whole vector in the place of that of a message."""
    parameters = [name for name in parameters_of(data) if name in names]
    other = [name for name in parameters if name != "p"]
    message = frame.pop(other[0]) if "p" in parameters and len(other) == 1 else data.attrs.get("message_size_B")
    if "p" in parameters and len(other) <= 1 and message is not None:
        is_blocked = frame["operation"].map(_is_blocked)
        frame.insert(frame.columns.get_loc("run"), "size", message * frame["p"].where(is_blocked, 1))


def _is_blocked(operation: str) -> bool:
    """Return whether a call has a message for each process."""
    match = _NAME.fullmatch(operation.lower().replace("mpi_", "MPI_", 1).replace("MPI_i", "MPI_I", 1))
    return match is not None and match.group(1) in _BLOCKED | _BLOCKED_SUMS
