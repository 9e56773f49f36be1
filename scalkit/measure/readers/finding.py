"""Tells the JSON files of benchmark programs apart by their content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.readers.google_benchmark import from_google_benchmark, is_google_benchmark
from scalkit.measure.readers.pytest_benchmark import from_pytest_benchmark, is_pytest_benchmark

__all__ = ["is_json", "read_benchmark_json"]


def is_json(head: bytes) -> bool:
    """Return whether a file that begins with `head` may be one JSON object."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def read_benchmark_json(path: Path, parameter: str | Sequence[str] | None = None) -> xr.Dataset:
    """Return the run times in a JSON file of Google Benchmark or pytest-benchmark.

    Parameters
    ----------
    path : Path
    parameter : str or sequence of str, optional
        Which of the benchmarks' arguments is the parameter, or several of them; by default the one that varies in most of
        them.

    Raises
    ------
    DataError
        If the file is damaged, of another kind, or no argument varies.
    """
    content = _content(path)
    if is_google_benchmark(content):
        return from_google_benchmark(content, str(path), parameter)
    if is_pytest_benchmark(content):
        return from_pytest_benchmark(content, str(path), parameter)
    keys = ", ".join(repr(key) for key in list(content)[:5]) or "none"
    raise DataError(
        f"{path} is JSON, but neither of Google Benchmark nor of pytest-benchmark (its keys are {keys}); name another file."
    )


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check its permissions.") from error
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno}, column {error.colno}: this is no valid JSON ({error.msg}); "
            "perhaps the benchmark was stopped while it wrote; run it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no readable JSON ({error}); write the file again.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path} holds a JSON {type(content).__name__}; an object of a benchmark program is needed.")
    return content
