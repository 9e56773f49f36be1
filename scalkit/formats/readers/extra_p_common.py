"""What the files of Extra-P share: parameters by name, metrics without units, points."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from scalkit.errors import DataError
from scalkit.formats.readers.content import base_unit, shortened, split_unit
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier
from scalkit.units import scaled

MOST_PARAMETERS = 4
"""As many as Extra-P has."""

_TIME = re.compile(r"(min_|max_|mean_|avg_)?(run|wall|execution|exclusive_|inclusive_|cpu_|user_|system_)?_?time|duration", re.I)
_BYTES = re.compile(r"bytes(_\w+)?|\w+_bytes|memory(_\w+)?|\w+_memory", re.I)


@lru_cache(4096)
def unit_of_metric(name: str, said: str | None = None) -> tuple[str, float, str]:
    """Return name, factor and base unit of a metric: as said, else as in its name, else as names of metrics are used.

    Extra-P's files carry no units; times are in seconds there, as in CUBE files, bytes in bytes, all else are numbers.
    """
    if said is not None:
        return name, *base_unit(said)
    short, unit = split_unit(name)
    if unit is not None:
        return short, *base_unit(unit)
    if not name or _TIME.fullmatch(name):
        return name or "time", 1.0, "s"
    return name, 1.0, "B" if _BYTES.fullmatch(name) else "1"


@lru_cache(4096)
def callpath_of(text: str) -> str:
    """Return a call path without blanks around its arrows."""
    return "->".join(part.strip() for part in text.strip().split("->")) or "<root>"


def parameters_of_names(names: Sequence[object], where: str) -> tuple[str, ...]:
    """Return names that parameters can have. Raises DataError if there is none, there are more than 4, or two are alike."""
    found = tuple(identifier(str(name)) for name in names)
    if not 0 < len(found) <= MOST_PARAMETERS or len(set(found)) < len(found):
        raise DataError(
            f"{where} has the parameters {', '.join(map(repr, names)) or 'none'}; 1 to {MOST_PARAMETERS} with names of their "
            "own are needed."
        )
    return found


class Series:
    """Gathers measurements of Extra-P's kind: call path, metric, point, values."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.gathered = Gathered(where)
        self.missing = 0
        self.assumed: dict[str, str] = {}
        self.points: dict[tuple[str, str], dict[tuple[Setting, ...], None]] = {}

    def add(
        self,
        callpath: str,
        metric: str,
        parameters: Sequence[str],
        point: Sequence[float],
        values: Sequence[float],
        *,
        unit: str | None = None,
        run: int = 0,
        exact: bool = False,
    ) -> None:
        """Add repetitions; NaN stands for a missing one."""
        name, factor, base = unit_of_metric(metric, unit)
        if unit is None and split_unit(metric)[1] is None:
            self.assumed[name] = base
        self.missing += sum(value != value for value in values)
        settings: Mapping[str, Setting] = dict(zip(parameters, point, strict=True))
        function = callpath_of(callpath)
        self.points.setdefault((function, name), {})[tuple(point)] = None
        self.gathered.add(function, settings, [scaled(value, factor) for value in values], name, base, run=run, exact=exact)

    def beside(self, callpath: str, metric: str, settings: Mapping[str, Setting], value: float, what: str) -> None:
        """Add a detail of a measurement, such as its median."""
        name, factor, base = unit_of_metric(metric)
        self.gathered.add(callpath_of(callpath), settings, [scaled(value, factor)], f"{name}_{what}", base, role="detail")

    def notes(self) -> list[str]:
        """Return what a reader should know of units, missing values and points."""
        notes = []
        if self.assumed:
            told = ", ".join(f"{name} in {'numbers' if unit == '1' else unit}" for name, unit in self.assumed.items())
            notes.append(f"the file says no units; taken were {told}")
        if self.missing:
            notes.append(f"{self.missing} values are NaN and count as not measured")
        if (gap := ragged(self.points)) is not None:
            notes.append(gap)
        return notes


def ragged(points: Mapping[tuple[str, str], Mapping[tuple[Setting, ...], None]]) -> str | None:
    """Return a note where a call path lacks points that others have; None where all have all."""
    every = dict.fromkeys(point for found in points.values() for point in found)
    for (function, metric), found in points.items():
        for point in every:
            if point not in found:
                one = f"{shortened(metric)} of {shortened(function)} has none at {point}"
                return f"not every function has every point, for example {one}"
    return None


def found_in(kind: str, series: Series, parameters: Sequence[str], cut: str = "", **more: object) -> Found:
    """Return what was found in a file of Extra-P's."""
    return Found(kind, series.gathered.observed(), parameters=tuple(parameters), attrs=more, notes=series.notes(), cut=cut)
