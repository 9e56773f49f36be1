"""`write`: a Dataset to a file of the format that is asked for, all or nothing, never over another file by accident."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.writers.cells import to_csv, to_extra_p_lines
from scalkit.measure.netcdf import write_netcdf
from scalkit.measure.schema import check, metrics_of
from scalkit.support.files import require_free, whole_file

FORMATS: Mapping[str, str] = {".jsonl": "Extra-P JSON Lines", ".csv": "CSV", ".nc": "netCDF-3"}
"""The formats by the suffix of the file. Only netCDF keeps all; the others keep the values, their names and units."""

_TEXTS: Mapping[str, Callable[[xr.Dataset], str]] = {".jsonl": to_extra_p_lines, ".csv": to_csv}


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file, which says its format. Raises DataError if it says none."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(f"{name} ({title})" for name, title in FORMATS.items())
        raise DataError(f"the suffix of '{path}' says no format; known are {known}.")
    return suffix


def write(ds: xr.Dataset, path: str | os.PathLike[str], *, force: bool = False) -> str:
    """Write a Dataset of measurements to a file that other programs read.

    `ds`: passes `check`.
    `path`: appears only when it is complete; its suffix says the format.
    `force`: replace an existing file.
    Returns: the title of the format.
    Raises DataError if there is a file already, the format is unknown or cannot hold the measurements, or writing
    fails.
    """
    check(ds)
    suffix = suffix_of(path)
    require_free(path, DataError, force=force)
    target = Path(path)
    if suffix not in _TEXTS:
        write_netcdf(ds, target)
        return FORMATS[suffix]
    if not any(np.isfinite(np.asarray(ds[name], dtype=np.float64)).any() for name in metrics_of(ds)):
        raise DataError("there is no value to write: all are NaN, which stands for what was not measured; measure again.")
    with whole_file(target, DataError) as part:
        part.write_text(_TEXTS[suffix](ds), encoding="utf-8")
    return FORMATS[suffix]
