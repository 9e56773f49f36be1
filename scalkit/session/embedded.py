"""Measurements as text inside a session file: netCDF-3, compressed, in base64."""

from __future__ import annotations

import base64
import gzip
import tempfile
import zlib
from pathlib import Path

import xarray as xr

from scalkit.errors import DataError
from scalkit.measure import write_netcdf
from scalkit.measure.netcdf import read_netcdf

_MAX_BYTES = 1_000_000_000
_GZIP = 31


def dataset_to_text(ds: xr.Dataset) -> str:
    """Return a Dataset of measurements as text; the same one gives the same text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.nc"
        write_netcdf(ds, path)
        return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode("ascii")


def dataset_from_text(text: object) -> xr.Dataset:
    """Return the Dataset that `dataset_to_text` wrote.

    Raises DataError if it is something else.
    """
    try:
        if not isinstance(text, str):
            raise TypeError(f"{text!r:.40} is no text")
        unpacker = zlib.decompressobj(_GZIP)
        content = unpacker.decompress(base64.b64decode(text, validate=True), _MAX_BYTES)
        if not unpacker.eof:
            raise ValueError("they end early or are too large")
    except (TypeError, ValueError, zlib.error) as error:
        raise DataError(
            f"the measurements inside the session cannot be read: {error}; give them, as in Session.load(path, data=...)."
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.nc"
        path.write_bytes(content)
        return read_netcdf(path)
