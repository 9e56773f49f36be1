"""A Dataset from timed calls that carry their settings as labels, as foreign benchmark programs write them."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.combining import combine
from scalkit.measure.points import measurements
from scalkit.measure.schema import RESERVED

__all__ = ["Setting", "Timed", "duration_of", "identifier", "timed_dataset"]

Setting = float | str


@dataclass(frozen=True)
class Timed:
    """The durations of one benchmark at one setting.

    Attributes
    ----------
    function : str
        Name without settings.
    settings : mapping of str to float or str
        Arguments by name; only positive numbers can be a parameter.
    seconds : tuple of float
        One for each repetition.
    """

    function: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()

    def without(self, parameters: Sequence[str]) -> str:
        """Return the function's name with all settings but the parameters, as in ``copy[rows=8]``."""
        others = [f"{name}={_shown(value)}" for name, value in self.settings.items() if name not in parameters]
        return f"{self.function}[{', '.join(others)}]" if others else self.function

    def at(self, parameters: Sequence[str]) -> tuple[float, ...] | None:
        """Return the values of the parameters; None where one is missing or no positive number."""
        values = [self.settings.get(name) for name in parameters]
        numbers = [value for value in values if isinstance(value, float) and 0 < value < math.inf]
        return tuple(numbers) if len(numbers) == len(values) else None


def timed_dataset(
    timed: Sequence[Timed],
    where: str,
    parameter: str | Sequence[str] | None = None,
    attrs: Mapping[str, object] | None = None,
) -> xr.Dataset:
    """Return a Dataset of all benchmarks that have the parameters; ``attrs["notes"]`` names the others.

    Parameters
    ----------
    timed : sequence of Timed
    where : str
        The file, for messages.
    parameter : str or sequence of str, optional
        Several make a Dataset over several parameters. By default the argument that varies in most functions; of several,
        the one with most values.
    attrs : mapping, optional
        Attributes to add; ``notes``, a sequence of texts, is completed.

    Raises
    ------
    DataError
        If no argument varies, or `parameter` is none of them.
    """
    if not timed:
        raise DataError(f"{where} has no benchmark with a run time; run some, without errors.")
    chosen = _parameters(timed, where, parameter)
    groups: dict[str, list[tuple[tuple[float, ...], tuple[float, ...]]]] = {}
    left: list[str] = []
    for one in timed:
        point = one.at(chosen)
        if point is None:
            left.append(one.function)
        else:
            groups.setdefault(one.without(chosen), []).append((point, one.seconds))
    if not groups:
        raise DataError(
            f"{where} has no benchmark with a positive number for each of {', '.join(map(repr, chosen))}; name one of them, or "
            "run benchmarks that have all."
        )
    ds = combine(_one(name, chosen, points) for name, points in groups.items())
    given = dict(attrs or {})
    notes = [str(note) for note in _listed(given.pop("notes", ()))]
    if left:
        names = list(dict.fromkeys(left))
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        needed = " and ".join(map(repr, chosen))
        notes.append(f"left out, as they have no positive number for {needed}: {', '.join(names[:6])}{more}")
    ds.attrs |= given | ({"notes": json.dumps(notes)} if notes else {})
    return ds


def identifier(text: str) -> str:
    """Return `text` as a name that a parameter can have."""
    name = re.sub(r"\W+", "_", text.strip())[:60] or "argument"
    name = f"_{name}" if name[0].isdigit() else name
    return f"{name}_" if name in RESERVED else name


def duration_of(value: object, factor: float, what: str) -> float:
    """Return a number from a file as seconds.

    Raises
    ------
    DataError
        If it is no finite number, or negative.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise DataError(f"{what} is {_cut(value)}; a duration, a number from 0 on, is needed.")
    return float(value) * factor


def _one(
    name: str, parameters: Sequence[str], points: Sequence[tuple[tuple[float, ...], tuple[float, ...]]]
) -> xr.Dataset:
    depth = max(len(seconds) for _, seconds in points)
    rows = [[*seconds, *[math.nan] * (depth - len(seconds))] for _, seconds in points]
    return measurements([point for point, _ in points], rows, parameter=parameters, name=name)


def _parameters(timed: Sequence[Timed], where: str, wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the wanted parameters, if all are there; without a wish the one that varies most."""
    if wanted is None or isinstance(wanted, str):
        return (_parameter(timed, where, wanted),)
    if not wanted:
        raise DataError("the parameters are an empty list; name one or more arguments of the benchmarks.")
    return tuple(_parameter(timed, where, name) for name in wanted)


def _parameter(timed: Sequence[Timed], where: str, wanted: str | None) -> str:
    """Return the wanted parameter if there is one of that name, else the one that varies most."""
    values: dict[str, dict[str, set[float]]] = {}
    for one in timed:
        for name, value in one.settings.items():
            if isinstance(value, float) and value > 0:
                values.setdefault(name, {}).setdefault(one.function, set()).add(value)
    if wanted is not None:
        if wanted in values:
            return wanted
        near = difflib.get_close_matches(wanted, values, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(repr(name) for name in values) or "none"
        raise DataError(
            f"{where} has no benchmark with a number for {wanted!r}; arguments with numbers are {known}.{hint}"
        )
    varying = {
        name: (sum(len(v) > 1 for v in found.values()), max(len(v) for v in found.values()))
        for name, found in values.items()
    }
    best = max(varying, key=lambda name: varying[name], default=None)
    if best is None or varying[best][0] == 0:
        raise DataError(
            f"{where} has no benchmark that ran with several values of one argument; give it a range of them, "
            "for example BENCHMARK(f)->Range(8, 8192) or @pytest.mark.parametrize('n', [100, 1000, ...])."
        )
    return best


def _listed(notes: object) -> Sequence[object]:
    return notes if isinstance(notes, list | tuple) else [notes]


def _shown(value: Setting) -> str:
    return f"{value:.15g}" if isinstance(value, float) else value


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
