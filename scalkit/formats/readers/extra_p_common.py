"""What the files of Extra-P share: parameters by name, metrics without units, points."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.content import base_unit, shortened, split_unit
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier, number_from_json
from scalkit.measure.points import NAMES_OF_BYTES
from scalkit.support.units import scaled

MOST_PARAMETERS = 4
"""As many as Extra-P has."""

AGAIN = "the file is damaged: write it again"

_TIME = re.compile(r"(min_|max_|mean_|avg_)?(run|wall|execution|exclusive_|inclusive_|cpu_|user_|system_)?_?time|duration", re.I)
_NEEDED = {list: "a list with something in it", str: "a text", dict: "an object", int: "a whole number"}


def checked(value: Any, kind: type, what: str, needed: str = "") -> Any:
    """Return a value out of a file. Raises DataError if it is of another kind, or an empty list."""
    if not isinstance(value, kind) or isinstance(value, bool) or value == []:
        raise DataError(f"{what} is {shortened(value)}; {needed or _NEEDED[kind]} is needed: {AGAIN}.")
    return value


@lru_cache(4096)
def _unit_of_metric(name: str, said: str | None = None) -> tuple[str, float, str]:
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
    return name, 1.0, "B" if NAMES_OF_BYTES.fullmatch(name) else "1"


@lru_cache(4096)
def _callpath(text: str) -> str:
    """Return a call path without blanks around its arrows."""
    return "->".join(part.strip() for part in text.strip().split("->")) or "<root>"


class Series:
    """Gathers measurements of Extra-P's kind: call path, metric, point, values.

    `names`: of the parameters. Raises DataError if there is none, there are more than 4, or two are alike.
    """

    def __init__(self, where: str, names: Sequence[object]) -> None:
        self.where = where
        self.parameters = tuple(identifier(str(name)) for name in names)
        if not 0 < len(names) <= MOST_PARAMETERS or len(set(self.parameters)) < len(names):
            raise DataError(
                f"{where} has the parameters {', '.join(map(repr, names)) or 'none'}; 1 to {MOST_PARAMETERS} with names of their "
                "own are needed."
            )
        self.gathered = Gathered(where)
        self._missing = 0
        self._assumed: dict[str, str] = {}

    def add(
        self,
        callpath: str,
        metric: str,
        point: object,
        values: Sequence[object],
        where: str,
        *,
        unit: str | None = None,
        run: int = 0,
        exact: bool = False,
    ) -> dict[str, Setting]:
        """Add repetitions, where NaN stands for a missing one, and return the settings of the point.

        `where`: the place in the file, for messages.
        Raises DataError if the point is not one positive number for each parameter, or a value is no number.
        """
        place = tuple(number_from_json(one, f"{where}: a number of a point") for one in listed(point))
        if len(place) != len(self.parameters):
            raise DataError(
                f"{where}: the point {place} has {len(place)} numbers for {len(self.parameters)} parameters: {AGAIN}."
            )
        if min(place) <= 0:
            raise DataError(f"{where}: the point {place} is not positive; every value of a parameter must be: leave it out.")
        name, factor, base = _unit_of_metric(metric, unit)
        if unit is None and split_unit(metric)[1] is None:
            self._assumed[name] = base
        numbers = [one if one != one else number_from_json(one, f"{where}: a value") for one in values]
        self._missing += sum(number != number for number in numbers)
        settings: dict[str, Setting] = dict(zip(self.parameters, place, strict=True))
        scaled_numbers = [scaled(float(number), factor) for number in numbers]  # type: ignore[arg-type]
        self.gathered.add(_callpath(callpath), settings, scaled_numbers, name, base, run=run, exact=exact)
        return settings

    def beside(self, callpath: str, metric: str, settings: dict[str, Setting], value: float, what: str) -> None:
        """Add a detail of a measurement, such as its median."""
        name, factor, base = _unit_of_metric(metric)
        self.gathered.add(_callpath(callpath), settings, [scaled(value, factor)], f"{name}_{what}", base, role="detail")

    def found(self, kind: str, cut: str = "", notes: Sequence[str] = ()) -> Found:
        """Return the gathered values, with notes on assumed units and missing values."""
        told = []
        if self._assumed:
            units = ", ".join(f"{name} in {'numbers' if unit == '1' else unit}" for name, unit in self._assumed.items())
            told.append(f"the file says no units; taken were {units}")
        if self._missing:
            told.append(f"{self._missing} values are NaN and count as not measured")
        return Found(kind, self.gathered.observed(), parameters=self.parameters, notes=[*told, *notes], cut=cut)


def listed(value: object) -> Sequence[object]:
    """Return a list or tuple as it is, anything else as the only one in a list."""
    return value if isinstance(value, list | tuple) else [value]
