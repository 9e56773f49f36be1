"""Files of other programs and pandas DataFrames become Datasets, one for each format."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, load
from scalkit.formats.readers.dataset import dataset_of
from scalkit.formats.readers.formats import is_expected, read_content
from scalkit.formats.readers.observed import Found
from scalkit.formats.readers.tables import read_frame

_NAMED = re.compile(
    r"(?:^|[^A-Za-z0-9])(?:p|np|nprocs?|procs?|ranks?|tasks|ntasks|processes)[=_\-]?0*([1-9]\d{0,9})(?=$|[^A-Za-z0-9])",
    re.IGNORECASE,
)


def p_in_name(path: Path) -> int | None:
    """Return the number of processes in the name of a file, else of its folder: ``osu_bcast_p8.txt``, ``np16/bcast.log``."""
    for name in (path.stem, path.name, path.absolute().parent.name):
        found = {int(text) for text in _NAMED.findall(name)}
        if len(found) == 1:
            return found.pop()
    return None


def with_processes(
    files: Sequence[tuple[Path, Found]], p: int | None, parameter: str | Sequence[str] | None
) -> list[tuple[Path, Found]]:
    """Return what was found, with the number of processes as the setting ``p`` where a file does not say it.

    `files`: all of one format.
    `p`: of all of them.
    `parameter`: if ``p`` is none of those asked for, it may stay unknown.
    Raises DataError if it is needed and unknown.
    """
    wanted = [parameter] if isinstance(parameter, str) else list(parameter or ())
    numbers = [p or p_in_name(path) for path, _ in files]
    are_told_apart = p is not None or (None not in numbers and len(set(numbers)) > 1)
    are_silent = all("p" not in one.settings for _, found in files for one in found.observed)
    result = []
    for (path, found), number in zip(files, numbers, strict=True):
        if number and (found.needs_p or (are_told_apart and are_silent and not found.parameters)):
            result.append((path, _at(found, float(number))))
        elif found.needs_p and (not wanted or "p" in wanted):
            raise DataError(
                f"{path} is a file of {found.format}, which does not say the number of processes; put it into the name of the "
                f"file or its folder, as in '{path.stem}_p8{path.suffix}', or say it: scalkit.read(path, p=8), scalkit convert "
                "--processes 8; or read along the message size with parameter='S'."
            )
        else:
            result.append((path, found))
    return result


def _at(found: Found, p: float) -> Found:
    observed = [one if "p" in one.settings else replace(one, settings={"p": p, **one.settings}) for one in found.observed]
    return replace(found, observed=observed)


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


def frame_dataset(frame: pd.DataFrame, parameter: str | Sequence[str] | None = None, kind: str = "DataFrame") -> xr.Dataset:
    """Return a Dataset of a pandas DataFrame. Raises DataError if its columns cannot be told apart.

    `kind`: what the DataFrame was made of.
    """
    where = f"the {kind}"
    return dataset_of([(where, read_frame(frame, parameter, kind))], where, parameter)


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
