"""Datasets to and from netCDF-3, the exchange format that needs no library beyond scipy."""

import os
from pathlib import Path

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.schema import check
from scalkit.support.files import whole_file


def is_netcdf3(head: bytes) -> bool:
    """Return whether a file that begins with `head` is netCDF-3."""
    return head[:3] == b"CDF" and head[3:4] in (b"\x01", b"\x02")


def is_hdf5(head: bytes) -> bool:
    """Return whether a file that begins with `head` is HDF5, and so perhaps netCDF-4."""
    return head[:8] == b"\x89HDF\r\n\x1a\n"


def write_netcdf(ds: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a Dataset of measurements, so that `read` returns an identical one.

    `ds`: passes `check`.
    `path`: appears only when it is complete; an existing file is replaced.
    Raises DataError if `ds` is no Dataset of measurements or the file cannot be written.
    """
    check(ds)
    with whole_file(path, DataError) as part:
        ds.to_netcdf(part, engine="scipy")


def read_netcdf(path: Path) -> xr.Dataset:
    """Return the Dataset in a netCDF-3 file, loaded and checked.

    Raises DataError if the file is damaged or holds something else.
    """
    try:
        with xr.open_dataset(path, engine="scipy", decode_times=False) as opened:
            ds = opened.load()
    except (OSError, ValueError, TypeError, KeyError, IndexError, AssertionError, EOFError, MemoryError) as error:
        raise DataError(f"cannot read {path} as netCDF-3: {type(error).__name__}: {error}; the file is damaged.") from error
    ds = _native(ds)
    check(ds)
    return ds


def _native(ds: xr.Dataset) -> xr.Dataset:
    """Return `ds` with the types that it had before netCDF-3 narrowed them, and without a trace of the file."""
    ds.encoding = {}
    for name, variable in ds.variables.items():
        variable.encoding = {}
        if variable.dtype.kind == "O":
            ds[name] = variable.astype(np.str_)
        elif variable.dtype.kind in "iu":
            ds[name] = variable.astype(np.int64)
    return ds
