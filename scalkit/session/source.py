"""Where the measurements of a session come from, and whether they still are what they were."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.front import measurements_in

_METRIC_ATTRIBUTES = ("role", "units", "exact", "resolution")
_ATTRIBUTES = ("parameter", "truncated")


@dataclass(frozen=True)
class Source:
    """Where measurements come from.

    `paths`: as they were given; empty for data made in memory.
    `sha256`: of the content, whatever file it is in.
    `is_certain`: whether the paths hold that content for sure; those that a Dataset names may not.
    `holder`: the session file or report that the measurements came out of; empty if they did not.
    """

    paths: tuple[str, ...]
    sha256: str
    is_certain: bool = True
    holder: str = ""

    @property
    def is_there(self) -> bool:
        """Whether there are paths, and something at each of them now."""
        return bool(self.paths) and all(Path(one).exists() for one in self.paths)

    def __str__(self) -> str:
        return ", ".join(self.paths) or "data in memory"


def open_source(
    data: object, parameter: str | Sequence[str] | None = None, expectations: object = None
) -> tuple[xr.Dataset, Source]:
    """Return measurements and where they come from.

    `data`: a Dataset says which files it was read from; `confirmed` looks whether they hold the same.
    `parameter`, `expectations`: as for `scalkit.front.measurements_in`. Paths that hold something else without them do
    not count.
    Raises DataError if there are no measurements.
    """
    ds = measurements_in(data, parameter, expectations)
    if isinstance(data, xr.Dataset):
        paths: Sequence[str] = _named_paths(ds) if ds is data else ()
        return ds, Source(tuple(paths), content_hash(ds), is_certain=False)
    is_plain = parameter is None and expectations is None
    return ds, Source(tuple(_paths(data)), content_hash(ds), is_certain=is_plain)


def content_hash(ds: xr.Dataset) -> str:
    """Return the SHA-256 of what measurements say: all variables, not where they came from nor how numbers are kept."""
    digest = hashlib.sha256()
    head = {name: str(ds.attrs.get(name, "") or "") for name in _ATTRIBUTES}
    digest.update(json.dumps(head, sort_keys=True).encode())
    for name in sorted(map(str, ds.variables)):
        variable = ds[name]
        told = {key: str(variable.attrs[key]) for key in _METRIC_ATTRIBUTES if key in variable.attrs}
        what = [name, list(map(str, variable.dims)), list(variable.shape), sorted(told.items())]
        digest.update(json.dumps(what).encode())
        digest.update(_bytes(np.asarray(variable)))
    return digest.hexdigest()


def _bytes(values: np.ndarray[Any, Any]) -> bytes:
    if values.dtype.kind not in "biuf":
        return json.dumps([str(value) for value in values.ravel()]).encode()
    numbers = np.ascontiguousarray(values, dtype="<f8")
    return bytes(np.where(np.isnan(numbers), np.nan, numbers).tobytes())


def _paths(given: object) -> list[str]:
    """Return the paths that measurements were read from; empty for those in memory."""
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    if isinstance(given, Sequence) and all(isinstance(one, str | os.PathLike) for one in given):
        return [os.fspath(one) for one in given]
    return []


def confirmed(source: Source) -> Source:
    """Return the source, without its paths if reading them again gives something else."""
    if source.is_certain:
        return source
    paths = list(source.paths)
    try:
        is_same = bool(paths) and content_hash(read(paths[0] if len(paths) == 1 else paths)) == source.sha256
    except DataError:
        is_same = False
    return Source(source.paths if is_same else (), source.sha256)


def _named_paths(ds: xr.Dataset) -> tuple[str, ...]:
    """Return the paths that a Dataset names as its source, if all of them exist."""
    source = ds.attrs.get("source")
    if not isinstance(source, str) or not source:
        return ()
    paths = [source] if Path(source).exists() else source.split(", ")
    return tuple(paths) if all(Path(one).exists() for one in paths) else ()
