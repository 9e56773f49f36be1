"""Files of other programs become Datasets, one for each format."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, load
from scalkit.formats.readers.dataset import dataset_of
from scalkit.formats.readers.formats import is_expected, read_content
from scalkit.formats.readers.frame import read_frame
from scalkit.formats.readers.observed import Found
from scalkit.formats.readers.processes import with_processes

_MOST_FILES = 10_000
_DEEPEST = 6
_SHOWN = 5


def foreign_datasets(
    contents: Sequence[Content], parameter: str | Sequence[str] | None = None, p: int | None = None
) -> list[xr.Dataset]:
    """Return a Dataset for each format among the files.

    `p`: the number of processes, for files that do not say it.
    Raises DataError if a file is of no known format, damaged, or lacks something.
    """
    groups: dict[str, list[tuple[Path, Found]]] = {}
    seen: dict[str, Path] = {}
    for content in contents:
        found = read_content(content, parameter)
        before = seen.setdefault(content.sha256, content.path)
        if before is not content.path:
            note = f"{content.path} is left out, as it is the same as {before}"
            family = groups[_family(found.format)]
            family[0] = (family[0][0], replace(family[0][1], notes=[*family[0][1].notes, note]))
            continue
        groups.setdefault(_family(found.format), []).append((content.path, found))
    return [_together(files, parameter, p) for files in groups.values()]


def frame_dataset(frame: object, parameter: str | Sequence[str] | None = None, metric: str | None = None) -> xr.Dataset:
    """Return a Dataset of a pandas DataFrame. Raises DataError if its columns cannot be told apart."""
    return dataset_of([("DataFrame", read_frame(frame, parameter, metric))], "the DataFrame", parameter)


def foreign_files(folder: Path) -> tuple[list[Content], list[str]]:
    """Return the files in a folder and its folders that a reader knows, and notes on the others.

    Raises DataError if there are too many files, or one is too large.
    """
    contents: list[Content] = []
    others: list[str] = []
    for path in _walked(folder):
        content = load(path)
        if is_expected(content):
            contents.append(content)
        else:
            others.append(str(path.relative_to(folder)))
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    notes = [f"ignored, as they are of no known format: {', '.join(others[:_SHOWN])}{more}"] if others else []
    return contents, notes


def _walked(folder: Path) -> list[Path]:
    """Return all files of a folder and of those in it, sorted, without hidden ones and links to folders."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__"))) if depth < _DEEPEST else []
        found += [Path(place) / name for name in sorted(names) if not name.startswith(".")]
        if len(found) > _MOST_FILES:
            raise DataError(f"the folder {str(folder)!r} has more than {_MOST_FILES} files; name those that are meant.")
    return [path for path in found if path.is_file()]


def _together(files: list[tuple[Path, Found]], parameter: str | Sequence[str] | None, p: int | None) -> xr.Dataset:
    complete = with_processes(files, p, parameter)
    where = str(files[0][0]) + (f" and {len(files) - 1} more" if len(files) > 1 else "")
    return dataset_of([(path.name, found) for path, found in complete], where, parameter)


def _family(name: str) -> str:
    """Return the format without its version, so that files of several versions go together."""
    return name.rstrip("0123456789., ")
