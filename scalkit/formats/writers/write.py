"""`write`: a Dataset to a file of the format that is asked for, all or nothing, never over another file by accident."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.writers.cells import n_points, to_csv, to_extra_p_lines, values_of
from scalkit.measure.netcdf import write_netcdf
from scalkit.measure.schema import FUNCTION, check, metrics_of, parameters_of
from scalkit.support.files import whole_file


@dataclass(frozen=True)
class Kind:
    """A format to write.

    `text`: returns the content; None for netCDF, which is written by itself.
    """

    title: str
    text: Callable[[xr.Dataset], str] | None = None


FORMATS: Mapping[str, Kind] = {
    ".jsonl": Kind("Extra-P JSON Lines", to_extra_p_lines),
    ".csv": Kind("CSV", to_csv),
    ".nc": Kind("netCDF-3"),
}
"""The formats by the suffix of the file."""


@dataclass(frozen=True)
class Written:
    """What was written.

    `title`: of the format.
    `lost`: what the format does not keep.
    """

    path: Path
    title: str
    lost: tuple[str, ...]


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file, which says its format. Raises DataError if it says none."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(f"{name} ({kind.title})" for name, kind in FORMATS.items())
        raise DataError(f"the suffix of '{path}' says no format; known are {known}.")
    return suffix


def require_free(path: str | os.PathLike[str], force: bool = False) -> None:
    """Return nothing if a file can be written there without loss.

    Raises DataError if something is there already, or the folder is not.
    """
    target = Path(path)
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file in it.")
    if os.path.lexists(target) and not force:
        raise DataError(f"{target} is there already; choose another name, or replace it with --force.")
    if not target.absolute().parent.is_dir():
        raise DataError(f"the folder {str(target.parent)!r} is not there; make it first, or choose another one.")


def write(ds: xr.Dataset, path: str | os.PathLike[str], *, force: bool = False) -> Written:
    """Write a Dataset of measurements to a file that other programs read.

    `ds`: passes `check`.
    `path`: appears only when it is complete; its suffix says the format.
    `force`: replace an existing file.
    Returns: with what the format does not keep.
    Raises DataError if there is a file already, the format is unknown or cannot hold the measurements, or writing
    fails.
    """
    check(ds)
    suffix = suffix_of(path)
    title = FORMATS[suffix].title
    require_free(path, force)
    target = Path(path)
    text = FORMATS[suffix].text
    if text is None:
        write_netcdf(ds, target)
        return Written(target, title, ())
    if not any(np.isfinite(np.asarray(ds[name], dtype=np.float64)).any() for name in metrics_of(ds)):
        raise DataError("there is no value to write: all are NaN, which stands for what was not measured; measure again.")
    with whole_file(target, DataError) as part:
        part.write_text(text(ds), encoding="utf-8")
    return Written(target, title, _lost(ds, suffix))


def _lost(ds: xr.Dataset, suffix: str) -> tuple[str, ...]:
    """Return what a text format leaves behind, in words."""
    lost = []
    if suffix == ".jsonl" and _is_ragged(ds):
        lost.append("not every function has a value at every point; Extra-P refuses such a file, scalkit reads it")
    beside = [str(name) for name in ds.data_vars if ds[name].attrs.get("role") != "metric"]
    if beside:
        more = f" and {len(beside) - 6} more" if len(beside) > 6 else ""
        lost.append(f"left out: {', '.join(beside[:6])}{more}")
    kept = {"parameter", "title", "inputs", "source", "format", *(("clock", "virtual", "simulated") if suffix == ".csv" else ())}
    facts = sorted(set(map(str, ds.attrs)) - kept)
    if facts:
        lost.append(f"left out: what the file says of itself ({', '.join(facts[:6])}{' ...' if len(facts) > 6 else ''})")
    return tuple(lost)


def _is_ragged(ds: xr.Dataset) -> bool:
    points = values_of(ds)[["metric", FUNCTION, *parameters_of(ds)]].drop_duplicates()
    return bool((points.groupby(["metric", FUNCTION]).size() < n_points(ds)).any())
