"""Inputs of a report as JSON values: paths stay as they were given, and data in memory become files."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import xarray as xr

from scalkit import measure
from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.judge import ExpectationSet
from scalkit.judge.baseline import Baseline
from scalkit.judge.catalogue import expectation_set
from scalkit.session import Session
from scalkit.session.file import FORMAT
from scalkit.session.plain import plain_set, plain_space, set_from_plain
from scalkit.support.arguments import each_of

MEMORY = "scalkit-data-in-memory"
"""Name of the folder for what no file of the user holds; it is the same in every run, because measurements name their files."""


def plain_inputs(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the arguments of a report as JSON values; those that say nothing are left out.

    `folder`: for the files of data in memory.
    Raises UsageError if `runs` or `baseline` is no source of measurements.
    """
    converters: dict[str, Callable[[Any], Any]] = {
        "runs": lambda value: _sets(value, folder) if isinstance(value, dict) else paths_of(value, folder),
        "baseline": lambda value: paths_of(value, folder, "baseline"),
        "expectations": plain_expectations,
        "space": plain_space,
        "rules": _texts,
        "guidelines": lambda value: [os.fspath(one) for one in ([value] if isinstance(value, str | os.PathLike) else value)],
        "fail_on": _texts,
    }
    found = {key: converters.get(key, _plain)(value) for key, value in given.items() if value is not None}
    return {key: value for key, value in found.items() if value not in ("", [], {}, ())}


def _plain(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def paths_of(source: object, folder: Path, stem: str = "measurements") -> list[str]:
    """Return the paths of one data set; what is in memory is written into a folder.

    `source`: a path or several, measurements, a session, or a baseline.
    `stem`: name of a file there.
    Raises UsageError if it is something else.
    """
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)]
    place = folder / MEMORY
    place.mkdir(exist_ok=True)
    if isinstance(source, xr.Dataset):
        measure.write_netcdf(source, place / f"{stem}.nc")
        return [str(place / f"{stem}.nc")]
    if isinstance(source, Session):
        source.save(place / f"{stem}.json", with_data=True)
        return [str(place / f"{stem}.json")]
    if isinstance(source, Baseline):
        return [str(source.save(place / f"{stem}.json"))]
    way_on = "give measurements of scalkit.read, a session, or the path of a run folder"
    return [os.fspath(path) for path in each_of(source, str | os.PathLike, "the subject of a report", way_on)]


def _sets(sources: Mapping[Any, Any], folder: Path) -> dict[str, list[str]]:
    """Return the paths of each data set to compare by its label."""
    if len(sources) < 2:
        raise UsageError(f"to compare, two data sets are needed, got {len(sources)}; name a run folder for each column.")
    return {str(label): paths_of(one, folder, f"measurements-{k}") for k, (label, one) in enumerate(sources.items(), 1)}


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, Iterable) and not isinstance(value, str) else [str(value)]


def shown(path: str) -> str:
    """Return how a report names a path."""
    return "data in memory" if MEMORY in Path(path).parts else path


def plain_expectations(source: object) -> Any:
    """Return expectations as JSON values: the name of a catalogue, a path, a growth, or what `from_plain` reads.

    Raises ExpectationError if a mapping cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return str(source) if isinstance(source, Growth) else plain_set(expectation_set(source))


def from_plain(source: str | Mapping[str, Any]) -> ExpectationSet:
    """Return the expectations that `plain_expectations` wrote. Raises ExpectationError if a file cannot be read."""
    return expectation_set(source) if isinstance(source, str) else set_from_plain(source)


Kind = Literal["measurements", "session", "baseline"]

_LARGEST = 200_000_000


def kind_of(path: str | Path) -> Kind:
    """Return what a path holds, by content; whatever is unknown counts as measurements, whose reader says what is wrong.

    A page in HTML counts as a session: a report has one inside.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(64).lstrip()
            if head.startswith(b"<"):
                return "session"
            if not head.startswith(b"{") or head.startswith(b'{"rec":'):
                return "measurements"
            file.seek(0)
            table = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return "measurements"
    if table.get("format") == FORMAT:
        return "session"
    return "baseline" if "entries" in table and "statistic" in table else "measurements"
