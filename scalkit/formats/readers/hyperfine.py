"""What hyperfine exports: JSON with every run of a command, CSV with their statistics."""

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, shortened
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier, number_from_json, setting_of

_NEEDED = ("command", "mean", "stddev", "median", "user", "system", "min", "max")
_DETAILS = ("mean", "median", "user", "system", "min", "max")
_ADVICE = "run it over several values, as in hyperfine -P n 1000 16000 -D 1000 './program {n}'"


def is_hyperfine(value: object) -> bool:
    """Return whether a JSON value has the shape of hyperfine's export."""
    results = value.get("results") if isinstance(value, dict) else None
    return isinstance(results, list) and bool(results) and all(isinstance(one, dict) and "command" in one for one in results)


def is_hyperfine_csv(content: Content) -> bool:
    """Return whether the first line is the header of hyperfine's CSV."""
    return content.head.startswith(",".join(_NEEDED))


def from_hyperfine(value: Mapping[str, Any], content: Content) -> Found:
    """Return the run times in hyperfine's JSON: wall time, each run a repetition; CPU time beside it.

    The value of a parameter becomes its name in braces again where it stands in the command.

    Raises DataError if a result is malformed.

    Source: hyperfine, README, "Export results" (docs/references.md).
    """
    gathered = Gathered(content.where)
    failed: dict[str, int] = {}
    summarised = 0
    for one in value["results"]:
        where = f"{content.where}: {shortened(one['command'])}"
        if not isinstance(one["command"], str):
            raise DataError(f"{where} is no command; a text is needed: run hyperfine again.")
        given = one.get("parameters") or {}
        if not isinstance(given, dict):
            raise DataError(f"{where}: 'parameters' is {shortened(given)}; an object is needed: run hyperfine again.")
        function, settings = _function(one["command"], {str(name): str(text) for name, text in given.items()})
        times = one.get("times")
        if isinstance(times, list) and times:
            seconds = [_duration(item, where) for item in times]
        else:
            summarised += 1
            seconds = [_duration(one.get("median", one.get("mean")), where)]
        gathered.add(function, settings, seconds)
        for name in _DETAILS:
            if one.get(name) is not None:
                gathered.add(function, settings, [_duration(one[name], where)], f"time_{name}", role="detail")
        codes = one.get("exit_codes")
        wrong = sum(code != 0 for code in codes) if isinstance(codes, list) else 0
        if wrong:
            failed[function] = failed.get(function, 0) + wrong
    notes = [f"{name}: {count} runs ended with another exit status than 0" for name, count in failed.items()]
    if summarised:
        notes.append(f"{summarised} commands have no single runs in the file; the median stands for them")
    return _found("hyperfine JSON", gathered, notes)


def read_hyperfine_csv(content: Content) -> Found:
    """Return the run times in hyperfine's CSV; of the runs only the median is there. Raises DataError if a row is damaged."""
    gathered = Gathered(content.where)
    damaged = "{}; the file is damaged there, run hyperfine again."
    for line, row in content.table(lambda text: next(csv.reader([text]), []), damaged, lambda fields: False):
        _row(content, line, row, gathered)
    note = "of the runs only the median is in the file; JSON keeps every run"
    return _found("hyperfine CSV", gathered, [note], content.cut)


def _row(content: Content, line: Line, row: Mapping[str, str], gathered: Gathered) -> None:
    given = {name.removeprefix("parameter_"): text for name, text in row.items() if name.startswith("parameter_")}
    function, settings = _function(row["command"], given)
    for name in _DETAILS:
        if row[name].strip():
            value = content.number(row[name], line, name)
            if value < 0:
                raise content.error(line, f"{name} is {value:g} s; durations are not negative, the file is damaged there.")
            if name == "median":
                gathered.add(function, settings, [value])
            gathered.add(function, settings, [value], f"time_{name}", role="detail")


def _found(kind: str, gathered: Gathered, notes: Sequence[str], cut: str = "") -> Found:
    return Found(kind, gathered.observed(), attrs={"title": "what hyperfine measured"}, notes=notes, cut=cut, advice=_ADVICE)


def _function(command: str, given: Mapping[str, str]) -> tuple[str, dict[str, Setting]]:
    """Return the command with the names of its parameters, and their values."""
    settings: dict[str, Setting] = {}
    for name, text in given.items():
        settings[identifier(name)] = setting_of(text)
        if text:
            pieces = re.split(rf"(?<![\w.]){re.escape(text)}(?![\w.])", command)
            command = f"{{{name}}}".join(pieces)
    return command.strip() or "command", settings


def _duration(value: object, where: str) -> float:
    number = number_from_json(value, f"{where}: a duration", "a number from 0 on")
    if number < 0:
        raise DataError(f"{where}: a duration is {number:g}; a number from 0 on is needed.")
    return number
