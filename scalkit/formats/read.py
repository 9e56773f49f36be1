"""`read`: files and tables become one Dataset of measurements; the content tells the format."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import xarray as xr
from pandas import DataFrame, Series

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, load
from scalkit.formats.readers.foreign import foreign_datasets, foreign_files, frame_dataset
from scalkit.measure.schema import check
from scalkit.measure.sources import Sources, without_measurements
from scalkit.support.arguments import each_of
from scalkit.support.bundled import here_or_bundled
from scalkit.support.text import brief, joined

PathLike = str | os.PathLike[str]

Table: TypeAlias = DataFrame | Series | Mapping[str, Any] | xr.DataArray | xr.Dataset
"""Measurements in memory that `read` takes."""

_WANTED = "name a run folder or a run file, a netCDF file, or another benchmark's file"


def read(
    path: PathLike | Sequence[PathLike] | Table, *, parameter: str | Sequence[str] | None = None, p: int | None = None
) -> xr.Dataset:
    """Return measurements as a Dataset.

    Parameters
    ----------
    path : path, sequence of paths, or table
        A folder of run files, run files, netCDF-3 files, files of other programs (docs/readers.md lists them), or a folder
        with these in it or in its folders. What a file is, is found by content, not by name; ``attrs["format"]`` says it.
        Or a table in memory: a DataFrame or Series of pandas, a mapping from column to values, a DataArray, or a Dataset
        of other origin. A Dataset of measurements is returned as it is.
    parameter : str or sequence of str, optional
        Which setting in files of other programs is the parameter; by default the number of processes, if it varies, else the
        one that varies in most functions. Several, as in ``["n", "k"]``, make a Dataset over several parameters. Of run files
        ``["p", "S"]`` makes the message size of each campaign the parameter ``S``. Other files say it themselves.
    p : int, optional
        The number of processes, for files that do not say it, such as those of the OSU benchmarks; by default it is taken from
        the name of the file or its folder, as in ``osu_bcast_p8.txt``.

    Returns
    -------
    xarray.Dataset
        As docs/file-formats.md describes. ``attrs["inputs"]`` has the SHA-256 of every file; a netCDF file that already
        says its ``inputs`` and ``source`` keeps them.

    Raises
    ------
    RunFileError
        If a run file is malformed; the text names file and line.
    DataError
        If there is nothing, or something else, or what there is cannot be one Dataset.
    """
    if p is not None and (not isinstance(p, int) or isinstance(p, bool) or not 0 < p < 2**31):
        raise DataError(f"p is {p!r:.40}; the number of processes, a whole number from 1 on, is needed.")
    each_of(parameter or (), str, "the parameter", "give its name, or a list of names")
    if isinstance(path, xr.Dataset) and "parameter" in path.attrs:
        return path
    if isinstance(path, DataFrame | Series | Mapping | xr.DataArray | xr.Dataset):
        ds = frame_dataset(_frame(path), parameter, _kind(path))
        check(ds)
        return ds
    given: list[PathLike] = list(path) if isinstance(path, list | tuple) else [path]  # type: ignore[list-item]
    if not given:
        raise DataError(f"read needs a path; {_WANTED}.")
    sources = Sources()
    contents: list[Content] = []
    for one in map(_path, given):
        if one.is_dir():
            contents += _folder(one, sources)
        elif not one.is_file():
            raise DataError(f"there are no measurements at {str(one)!r}; {_WANTED}.")
        elif not sources.add_file(one):
            contents.append(load(one))
    sources.others += foreign_datasets(contents, parameter, p)
    sources.hashes += [(content.path, content.sha256) for content in contents]
    return sources.dataset(", ".join(os.fspath(one) for one in given), parameter)


def _frame(table: Table) -> DataFrame:
    """Return a table as a DataFrame. Raises DataError if it is none."""
    if isinstance(table, DataFrame):
        return table
    if isinstance(table, Series):
        return table.to_frame(table.name or "time")
    if isinstance(table, xr.DataArray):
        table = table.to_dataset(name=table.name or "time")
    if isinstance(table, xr.Dataset):
        bare = [str(name) for name in table.dims if name not in table.coords]
        if bare or not table.dims:
            what = f"no values of {joined(bare)}" if bare else "no dimension"
            raise DataError(
                f"the {type(table).__name__} has {what}; give coordinates, as in xr.DataArray(times, coords={{'p': [2, 4, 8]}})."
            )
        units = {name: one.attrs.get("units") for name, one in table.data_vars.items()}
        names = {name: f"{name} [{unit}]" for name, unit in units.items() if unit}
        return table.to_dataframe().reset_index().rename(columns=names)
    try:
        return DataFrame(dict(table))
    except (ValueError, TypeError) as error:
        reason = str(error).rstrip(".")
        raise DataError(
            f"the columns {', '.join(map(str, table)) or '(none)'} are no table: {reason}; give arrays of one length."
        ) from error


def _kind(table: Table) -> str:
    """Return the name of a table's kind in messages."""
    return "dict" if isinstance(table, Mapping) and not isinstance(table, xr.Dataset) else type(table).__name__


def _folder(folder: Path, sources: Sources) -> list[Content]:
    """Read the run files of a folder; return the files of other programs where there are none."""
    try:
        if sources.add_folder(folder):
            return []
    except OSError as error:
        raise _unreadable(folder, error) from error
    contents, notes = foreign_files(folder)
    if not contents:
        raise without_measurements(folder)
    sources.notes += notes
    return contents


def _path(given: object) -> Path:
    """Return a path that the system can look up."""
    try:
        path = Path(given)  # type: ignore[arg-type]
        path.exists()
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(given, error) from error
    return here_or_bundled(path)


def _unreadable(path: object, error: Exception) -> DataError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    shown = repr(str(path)[:80]) if isinstance(path, str | os.PathLike) else brief(path)
    return DataError(f"cannot read {shown}: {reason}; {_WANTED}.")
