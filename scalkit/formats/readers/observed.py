"""What readers find: values with their settings, gathered one by one, and the file around them."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.content import finite, shortened
from scalkit.measure.schema import RESERVED
from scalkit.support.units import scaled

Setting = float | str
Column = tuple[str, str, float]
"""Name, base unit, and factor to it, of a column."""

RANGE = "give it a range of them, for example BENCHMARK(f)->Range(8, 8192) or @pytest.mark.parametrize('n', [100, 1000, ...])"
"""What to do where no argument of a benchmark varies."""

_MOST_ENTRIES = 2**19
_MOST_VALUES = 2**22
_LONGEST_NAME = 400


@dataclass(frozen=True)
class Observed:
    """The values of one quantity of one function at one setting.

    `function`: name without settings.
    `settings`: arguments by name; only positive numbers can be a parameter.
    `values` in `unit`: one for each repetition.
    `metric`: name of the quantity.
    `unit`: without prefix, as in ``"s"`` and ``"B"``.
    `role`: ``"metric"`` is judged, ``"detail"`` and ``"quality"`` stand beside it.
    `run`: which run of the file; 0 where it has but one.
    `exact`: whether the values are free of noise.
    """

    function: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    values: tuple[float, ...] = ()
    metric: str = "time"
    unit: str = "s"
    role: str = "metric"
    run: int = 0
    exact: bool = False


@dataclass(frozen=True)
class Found:
    """What a reader found in one file.

    `format`: what the file was taken for, with its version where it says one.
    `parameters`: all of them together are the parameters, as in Extra-P's files; empty where one is to be chosen.
    `first`: names to choose before others, if their values vary.
    `attrs`: ``title``, ``measured_on``, ``started``, ``mpi_library``, ``datatype``, ``clock``, ``virtual``,
    ``simulated``.
    `metadata`: what else the file says.
    `cut`: why the file is taken to be cut, for people; empty if it is whole.
    `incidental`: settings that are not worth a word in the function's name where they never vary.
    `needs_p`: whether the file has a number of processes that it does not say.
    `advice`: how to write a file with several values of a parameter.
    """

    format: str
    observed: Sequence[Observed]
    parameters: tuple[str, ...] = ()
    first: tuple[str, ...] = ("p", "S")
    attrs: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    cut: str = ""
    incidental: tuple[str, ...] = ()
    needs_p: bool = False
    advice: str = "measure at several values of it"


class Gathered:
    """Values gathered by function, metric and setting, in the order of their first appearance.

    `where`: the file, for messages.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._entries: dict[tuple[object, ...], tuple[Observed, list[float]]] = {}
        self._count = 0

    def add(
        self,
        function: str,
        settings: Mapping[str, Setting],
        values: Iterable[float],
        metric: str = "time",
        unit: str = "s",
        *,
        role: str = "metric",
        run: int = 0,
        exact: bool = False,
    ) -> None:
        """Add repetitions to what is known of the same function, metric, setting and run.

        Raises DataError if there are too many values or settings to keep, or the unit changes.
        """
        key = (function, metric, run, tuple(settings.items()))
        if key not in self._entries:
            if len(self._entries) >= _MOST_ENTRIES:
                raise DataError(
                    f"{self._where} holds more than {_MOST_ENTRIES} different settings of functions; split it, or leave "
                    "functions out."
                )
            described = Observed(function, dict(settings), (), metric, unit, role, run, exact)
            self._entries[key] = (described, [])
        described, known = self._entries[key]
        if described.unit != unit:
            raise DataError(
                f"{self._where}: {metric!r} of {function!r:.60} is in {described.unit!r} and in {unit!r}; convert one of them."
            )
        before = len(known)
        known.extend(values)
        self._count += len(known) - before
        if self._count > _MOST_VALUES:
            raise DataError(f"{self._where} holds more than {_MOST_VALUES} values; split it, or write fewer repetitions.")

    def add_row(
        self,
        function: str,
        settings: dict[str, Setting],
        cells: Iterable[tuple[Column, float]],
        times: Sequence[str],
        also: Sequence[str],
    ) -> str:
        """Add a row of a table: the first of `times` that it has is the run time; return its name.

        `also`: columns that are details as well, also where they are the run time. The column ``S`` is a setting.
        """
        values: dict[str, tuple[float, str]] = {}
        for (name, unit, factor), value in cells:
            if name == "S":
                settings = {**settings, "S": value}
            else:
                values[name] = (scaled(value, factor), unit)
        main = next((name for name in (*times, *values) if name in values and name != "n_repetitions"), "")
        if main:
            self.add(function, settings, [values[main][0]], "time" if main in times else main, values[main][1])
        for name, (value, unit) in values.items() if main else ():
            if name != main or name in also:
                role = "quality" if name == "n_repetitions" else "detail"
                self.add(function, settings, [value], name, unit, role=role)
        return main

    def __len__(self) -> int:
        return len(self._entries)

    def observed(self) -> list[Observed]:
        """Return what was gathered."""
        return [replace(one, values=tuple(values)) for one, values in self._entries.values()]


def identifier(text: str) -> str:
    """Return `text` as a name that a parameter can have."""
    name = re.sub(r"\W+", "_", text.strip())[:60] or "argument"
    name = name if name.isidentifier() else f"_{name}"
    return f"{name}_" if name in RESERVED or name.lower() in RESERVED else name


def setting_of(text: str) -> Setting:
    """Return what a text says as a setting: a number if it is one."""
    number = finite(text)
    return text[:60] if number is None else number


def named(function: str, settings: Mapping[str, Setting], parameters: Sequence[str]) -> str:
    """Return the function's name with all settings but the parameters, as in ``copy[rows=8]``.

    Of a name that is too long to keep, a hash stands for the middle.
    """
    others = [f"{name}={_shown(value)}" for name, value in settings.items() if name not in parameters]
    name = f"{function}[{', '.join(others)}]" if others else function
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", errors="replace")).hexdigest()[:12]
    return f"{name[: _LONGEST_NAME // 2]}...{digest}...{name[-_LONGEST_NAME // 2 :]}"


def number_from_json(value: object, what: str, needed: str = "a finite number") -> float:
    """Return a number of a JSON file. Raises DataError if it is none, or not finite."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if number - number == 0:
            return number
        value = number
    raise DataError(f"{what} is {shortened(value)}; {needed} is needed.")


def _shown(value: Setting) -> str:
    return f"{value:.15g}" if isinstance(value, float) else value


def duration_of(value: object, factor: float, what: str) -> float:
    """Return a number from a file as seconds. Raises DataError if it is no finite number, or negative."""
    number = number_from_json(value, what, "a duration, a number from 0 on,")
    if number < 0:
        raise DataError(f"{what} is {shortened(value)}; a duration, a number from 0 on, is needed.")
    return scaled(number, factor)


def records_in(benchmarks: Sequence[object], where: str, key: str = "name") -> list[Mapping[str, Any]]:
    """Return the records of a benchmark program, each with a text in `key` or in ``name``. Raises DataError if one has none."""
    records: list[Mapping[str, Any]] = [one if isinstance(one, dict) else {} for one in benchmarks]
    for number, one in enumerate(records, 1):
        if not isinstance(one.get(key, one.get("name")), str):
            raise DataError(f"{where}: benchmark {number} has no name in 'name'; write the file again.")
    return records


def facts_in(table: Mapping[str, Any]) -> dict[str, str]:
    """Return what a program says of its machine, as texts; tables and lists are left out."""
    return {str(key): str(value)[:200] for key, value in table.items() if isinstance(value, str | int | float)}
