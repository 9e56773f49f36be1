"""What can be filed: campaign folders, run files, Datasets, and files of other programs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalkit.errors import DataError
from scalkit.measure.runfile import is_run_file
from scalkit.measure.sources import CAMPAIGN, campaigns_in
from scalkit.store.filed.dataset import runs_of_dataset
from scalkit.store.filed.run_files import runs_of_files
from scalkit.store.runs.content import RunContent


def runs_of(source: Any, measured: Mapping[str, Any], filing: Mapping[str, Any]) -> list[RunContent]:
    """Return the runs in what a user names.

    Raises DataError if it is nothing of this kind, or empty.
    """
    if hasattr(source, "data_vars") and hasattr(source, "subtree"):
        found = [run for node in source.leaves for run in runs_of_dataset(node.to_dataset(), measured, filing)]
        if not found:
            raise DataError("the tree has no Dataset; there is nothing to file.")
        return found
    if hasattr(source, "data_vars"):
        return runs_of_dataset(source, measured, filing)
    given = list(source) if isinstance(source, list | tuple) else [source]
    if not given or not all(isinstance(one, str | os.PathLike) for one in given):
        raise DataError(f"put takes paths or a Dataset, got {source!r:.60}; name a campaign folder or run files.")
    paths = [inner for one in given for inner in _campaigns(Path(one))]
    ours = [path for path in paths if _is_ours(path)]
    found = runs_of_files(ours, measured, filing) if ours else []
    for path in paths:
        if path not in ours:
            from scalkit.measure import read

            found += runs_of_dataset(read(path), measured, filing)
    return found


def _campaigns(path: Path) -> list[Path]:
    """Return the campaign folders in a folder that is none itself; else the path."""
    if not path.is_dir() or (path / CAMPAIGN).is_file():
        return [path]
    return campaigns_in(path) or [path]


def _is_ours(path: Path) -> bool:
    """Return whether there are run files, or nothing at all: then the error is theirs."""
    if path.is_dir():
        return any(re.search(r"\.jsonl(\.part)?$", one.name) for one in path.iterdir()) or not any(path.iterdir())
    if not path.is_file():
        return True
    with path.open("rb") as stream:
        return is_run_file(stream.read(4096))
