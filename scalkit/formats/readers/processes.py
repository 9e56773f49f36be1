"""The number of processes where a file does not state it: as given, or from the names of file and folder."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scalkit.errors import DataError
from scalkit.formats.readers.observed import Found

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
    lacking = [found.needs_p for _, found in files]
    named = {path: p_in_name(path) for path, _ in files}
    distinct = {number for number in named.values() if number}
    silent = all("p" not in one.settings for _, found in files for one in found.observed)
    by_name = len(files) > 1 and silent and None not in named.values() and len(distinct) > 1
    result = []
    for (path, found), lacks in zip(files, lacking, strict=True):
        number = p or named[path]
        is_plain = not found.parameters
        if number and (lacks or ((by_name or p) and silent and is_plain)):
            result.append((path, _at(found, float(number))))
        elif lacks and (not wanted or "p" in wanted):
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
