"""Where what reads files and tables of other programs is; it is imported with the first of them, judging does without."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import xarray as xr

from scalkit.measure.schema import check


class ForeignFile(Protocol):
    """A file of another program: its bytes, of which nothing is understood yet."""

    @property
    def path(self) -> Path:
        """Return where it is."""

    @property
    def sha256(self) -> str:
        """Return the hash of its bytes."""


def readers() -> Any:
    """Return `scalkit.formats.readers`, a layer above this one."""
    return import_module("scalkit.formats.readers")


def frame_dataset(frame: object, parameter: str | Sequence[str] | None, metric: str | None = None) -> xr.Dataset:
    """Return a Dataset of a pandas DataFrame; docs/readers.md says what its columns are.

    Raises DataError if its columns cannot be told apart.
    """
    ds: xr.Dataset = readers().frame_dataset(frame, parameter, metric)
    check(ds)
    return ds


def is_frame(value: object) -> bool:
    """Return whether a value is a pandas DataFrame, without importing pandas."""
    kind = type(value)
    return any(base.__name__ == "DataFrame" and base.__module__.split(".")[0] == "pandas" for base in kind.__mro__)
