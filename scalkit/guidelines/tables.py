"""Where measurements for guidelines come from: run folders, files of other programs, CSV, and tables at hand."""

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from scalkit.arrays import Floats
from scalkit.bundled import here_or_bundled
from scalkit.errors import DataError, UsageError
from scalkit.files import require_own_files
from scalkit.formats.experiments.table import short_library
from scalkit.formats.remarks import attributes_of_remarks, remarks_of
from scalkit.guidelines.columns import flat_rows
from scalkit.guidelines.experiments import MISSING, Measured
from scalkit.markup import counted
from scalkit.measure.schema import parameters_of
from scalkit.measure.virtual_time import clock_attributes, machine_of

PathLike = str | os.PathLike[str]

_MOST_BYTES = 2_000_000_000
_LONGEST_LINE = 1_000_000
_MEASURED = re.compile(r"\.jsonl(\.gz|\.part)?$|\.nc$")


def read_tables(source: Any, *, value: str = "time") -> Any:
    """Return measurements as a table that `scalkit.guidelines.assess` takes.

    `source`: a CSV file; a run folder of a neighbourhood campaign; or whatever `scalkit.read` takes: campaign folders, also
    below a folder, run files of one or several message sizes and MPI libraries, netCDF, files of other programs. Several CSV
    files are put below each other. A Dataset of `scalkit.read` becomes a table (`scalkit.guidelines.tables.run_table`);
    other tables come back as they are.
    `value`: the measured metric.
    Raises DataError, RunFileError if something cannot be read; the text names the file.
    Raises UsageError if there is none.
    """
    if is_measurements(source):
        return run_table(source, value)
    if isinstance(source, str | os.PathLike):
        source = [source]
    if not isinstance(source, Sequence) or not all(isinstance(one, str | os.PathLike) for one in source):
        return source
    paths = [here_or_bundled(Path(one).expanduser()) for one in source]
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
    from scalkit.formats.experiments import holds_experiments

    return _neighbourhoods(paths, value) if holds_experiments(paths) else _runs(paths, value)


def _neighbourhoods(paths: Sequence[Path], value: str) -> Any:
    """Return run files of neighbourhood campaigns; ``local`` is the longest time that any process was inside the call."""
    from scalkit.formats.experiments import holds_experiments, read_experiments

    table = read_experiments([str(path) for path in paths], value="local" if value == "local" else "completion")
    if others := [file for path in paths for file in _files(path) if not holds_experiments(file)]:
        table.attrs["notes"].append(
            f"{counted(len(others), 'file')} with other measurements, as {others[0].name}, did not take part: sizes mean "
            "something else there; name them, or their folder, alone"
        )
    if value == "local":
        table[value] = table.pop("time")
    table.attrs["units"] = "s"
    return table


def example_table() -> Any:
    """Return a small simulated campaign, of which one guideline is violated: nothing in it is measured."""
    from scalkit.guidelines.simulated import neighbourhood_design, simulated_campaign

    design = neighbourhood_design(p=160, sizes=(1, 16, 256, 4096))
    slow = {"operation": "MPI_Neighbor_allgather", "topology": "moore", "n_dim": 2, "order": "fmaj"}
    return simulated_campaign(design[design["n_dim"] == 2], [(slow, 1.12)], seed=1, n_repetitions=15)


def _runs(paths: Sequence[Path], value: str) -> Any:
    """Return run files as one table, with a column ``library`` if they are of several MPI libraries."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        for part in _parts(path):
            groups.setdefault(_library(part), []).append(part)
    tables = {library: run_table(_read(group), value) for library, group in groups.items()}
    if len(tables) == 1:
        (table,) = tables.values()
        return table
    width = max(table[value].shape[1] for table in tables.values())
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    joined: dict[str, list[Any]] = {name: [] for name in ("library", *names)}
    for library, table in tables.items():
        n = len(table["run"])
        joined["library"].append(np.full(n, library, dtype=object))
        for name in names:
            column = table.get(name, np.full(n, None, dtype=object))
            if name == value:
                column = np.pad(column, ((0, 0), (0, width - column.shape[1])), constant_values=np.nan)
            joined[name].append(column)
    found = Columns({name: np.concatenate(parts) for name, parts in joined.items()})
    every = [table.attrs for table in tables.values()]
    found.attrs = {
        "simulated": any(one["simulated"] for one in every),
        **clock_attributes([machine_of(one) for one in every]),
        "units": every[0]["units"],
        "mpi_library": "; ".join(tables),
        "host": ", ".join(sorted({one["host"] for one in every} - {""})),
        "started": min((one["started"] for one in every if one.get("started")), default=""),
    }
    return found


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
    from scalkit.formats.read import read

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


def _read(paths: Sequence[Path]) -> Any:
    """Return run files of several message sizes, if they are that; else whatever they are."""
    from scalkit.formats.read import read

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


def read_csv(path: PathLike) -> Any:
    """Return a CSV file as a pandas DataFrame.

    `path`: the first line names the columns, with commas between; one is ``run``, one ``time``, all others are
    parameters. A row is one repetition, or one experiment in one run whose ``time`` holds several values with blanks
    between. Empty fields are missing. Lines that begin with ``#`` are remarks; ``# simulated`` says that nobody
    measured it, ``# unit: s`` names the unit, ``# virtual: {...}`` the machine of a virtual clock as JSON.
    Raises DataError if it cannot be read.
    """
    import pandas as pd

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
    if "time" in frame and not pd.api.types.is_numeric_dtype(frame["time"]):
        values = [_numbers(field, file, row) for row, field in enumerate(frame["time"])]
        frame["time"] = pd.Series(values, dtype=object)
    for name in frame.columns:
        column = frame[name]
        if name != "time" and column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
            frame[name] = column.astype("Int64")  # whole numbers beside missing ones
    units = [line.partition(":")[2].strip() for line in remarks if line.lstrip("# ").startswith("unit:")]
    frame.attrs["units"] = units[0] if units else ""
    frame.attrs |= attributes_of_remarks(remarks)
    return frame


def _numbers(field: Any, file: Path, row: int) -> Floats:
    try:
        return np.array(str(field).split(), dtype=np.float64)
    except ValueError:
        raise DataError(f"{file}: 'time' of row {row} is {str(field)!r:.60}; numbers with blanks between are needed.") from None


def _below_each_other(frames: Sequence[Any]) -> Any:
    import pandas as pd

    if len(frames) == 1:
        return frames[0]
    parts = [frame.assign() for frame in frames]
    if len({"time" in part and part["time"].dtype == object for part in parts}) > 1:
        parts = [part.explode("time").astype({"time": np.float64}) for part in parts]
    joined = pd.concat(parts, ignore_index=True)
    units = {frame.attrs["units"] for frame in frames}
    if len(units) > 1:
        raise DataError(f"the CSV files are in different units, {', '.join(sorted(units))}; convert them to one.")
    joined.attrs = {
        "simulated": any(frame.attrs["simulated"] for frame in frames),
        **clock_attributes([machine_of(frame.attrs) for frame in frames]),
        "units": units.pop(),
    }
    return joined


def csv_text(data: Measured) -> str:
    """Return measurements as a CSV file that `read_csv` reads: a row for each experiment in each run."""
    out = io.StringIO()
    out.write(remarks_of(data.machine, simulated=any("simulated" in caveat for caveat in data.caveats)))
    if data.unit:
        out.write(f"# unit: {data.unit}\n")
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*data.parameters, "run", "oversubscribed", "time"])
    for experiment, rows in enumerate(data.rows.tolist()):
        levels = [data.level(name, code) for name, code in zip(data.parameters, data.codes[experiment].tolist(), strict=True)]
        shown = ["" if level is None else level for level in levels]
        for run, row in enumerate(rows):
            if row != MISSING:
                values = data.values[row]
                text = " ".join(f"{x:.9g}" for x in values[np.isfinite(values)].tolist())
                writer.writerow([*shown, data.runs[run], bool(data.crowded[experiment]), text])
    return out.getvalue()


_BLOCKED = frozenset(f"{base}{form}" for base in ("gather", "scatter", "allgather", "alltoall") for form in ("", "v", "w"))
_BLOCKED_SUMS = frozenset({"reduce_scatter", "reduce_scatter_block"})
_NAME = re.compile(r"MPI_I?([a-z_]+)(?:\[.*\])?")


class Columns(dict[str, Any]):
    """Columns with what the measurements say of themselves."""

    attrs: dict[str, Any]


def is_measurements(table: object) -> bool:
    """Return whether something is a Dataset as `scalkit.read` returns it."""
    import xarray as xr

    return isinstance(table, xr.Dataset) and "function" in table.dims and "parameter" in table.attrs


def run_table(data: xr.Dataset, metric: str = "time") -> Columns:
    """Return columns for `scalkit.guidelines.assess`: ``operation``, parameters, ``size``, ``run``, ``oversubscribed``, ``time``.

    `data`: as `scalkit.read` returns it, of one message size or, with ``parameter=["p", "S"]``, of several.
    Returns: a row is one function in one run; the values, in the unit of the metric, have an axis of repetitions.
    ``size`` is in bytes and that of the whole vector: where a call has a message for each process, as ``MPI_Gather``
    and ``MPI_Scatter`` have, it is p times what run files call size. So ``MPI_Bcast <= MPI_Scatter + MPI_Allgather``
    compares calls that move the same data. What did not deliver right data is left out.
    Raises DataError if there is no such metric, or nothing is left.
    """
    if metric not in data:
        raise DataError(f"the measurements have no '{metric}'; they have {', '.join(map(str, data.data_vars)) or 'none'}.")
    array = data[metric]
    for name in ("run", "repetition"):
        array = array if name in array.dims else array.expand_dims(name)
    names = [str(name) for name in array.dims if name not in ("function", "run", "repetition")]
    if "verified" in data:
        array = array.where(data["verified"] != 0)
    values, at, beside = flat_rows(data, array, ("function", *names, "run"))
    if not len(values):
        raise DataError(f"the measurements have no value of '{metric}'.")
    operation = np.asarray(array["function"].values, dtype=object)[at["function"]]
    found = Columns(operation=operation)
    found |= {name: np.asarray(_labels(array, name))[at[name]] for name in names}
    _add_size(found, data, names)
    runs = np.asarray(array["run"].values) if "run" in array.coords else np.arange(array.sizes["run"])
    found["run"] = runs[at["run"]]
    found |= {metric: values, **beside}
    shown = {key: data.attrs[key] for key in ("mpi_library", "started") if data.attrs.get(key)}
    found.attrs = {
        "simulated": bool(data.attrs.get("simulated", 0)),
        **{key: data.attrs[key] for key in ("clock", "virtual") if key in data.attrs},
        "units": str(array.attrs.get("units", "")),
        "host": data.attrs.get("measured_on", ""),
        **shown,
    }
    return found


def _labels(array: xr.DataArray, name: str) -> Any:
    labels = array[name].values
    is_whole = labels.dtype.kind == "f" and (labels == np.floor(labels)).all()
    return labels.astype(np.int64) if is_whole else labels


def _add_size(found: dict[str, Any], data: xr.Dataset, names: list[str]) -> None:
    """Put the size of the whole vector in the place of that of a message."""
    parameters = [name for name in parameters_of(data) if name in names]
    other = [name for name in parameters if name != "p"]
    if "p" not in parameters or len(parameters) > 2:
        return
    if len(other) == 1:
        message = np.asarray(found.pop(other[0]))
    elif data.attrs.get("message_size_B"):
        message = np.full(len(found["operation"]), int(data.attrs["message_size_B"]))
    else:
        return
    is_blocked = np.array([_is_blocked(str(name)) for name in found["operation"]])
    found["size"] = np.where(is_blocked, message * np.asarray(found["p"]), message)


def _is_blocked(operation: str) -> bool:
    """Return whether a call has a message for each process."""
    match = _NAME.fullmatch(operation.lower().replace("mpi_", "MPI_", 1).replace("MPI_i", "MPI_I", 1))
    return match is not None and match.group(1) in _BLOCKED | _BLOCKED_SUMS
