"""What hyperfine exports: JSON with every run of a command, CSV with their statistics."""

import csv
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, shortened
from scalkit.formats.readers.observed import Found, Gathered, Setting, duration_of, identifier, setting_of

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


def from_hyperfine(value: Mapping[str, Any], content: Content, kind: str = "hyperfine JSON", cut: str = "") -> Found:
    """Return the run times in hyperfine's JSON: wall time, each run a repetition; CPU time beside it.

    The value of a parameter becomes its name in braces again where it stands in the command.

    Raises DataError if a result is malformed.

    Source: hyperfine, README, "Export results" (docs/references.md).
    """
    gathered = Gathered(content.where)
    failed: Counter[str] = Counter()
    summarised = 0
    for one in value["results"]:
        where = f"{content.where}: {shortened(one['command'])}"
        given = one.get("parameters") or {}
        if not isinstance(one["command"], str) or not isinstance(given, dict):
            raise DataError(f"{where}: a command in text and an object of parameters are needed; run hyperfine again.")
        function, settings = _function(one["command"], {str(name): str(text) for name, text in given.items()})
        times = one.get("times")
        if not isinstance(times, list) or not times:
            summarised += 1
            times = [one.get("median", one.get("mean"))]
        gathered.add(function, settings, [duration_of(item, 1.0, f"{where}: a duration") for item in times])
        for name in _DETAILS:
            if one.get(name) is not None:
                seconds = duration_of(one[name], 1.0, f"{where}: {name}")
                gathered.add(function, settings, [seconds], f"time_{name}", role="detail")
        codes = one.get("exit_codes")
        wrong = sum(code != 0 for code in codes) if isinstance(codes, list) else 0
        if wrong:
            failed[function] += wrong
    notes = [f"{name}: {count} runs ended with another exit status than 0" for name, count in failed.items()]
    if summarised:
        notes.append(f"{summarised} commands have no single runs in the file, as JSON has; the median stands for them")
    attrs = {"title": "what hyperfine measured"}
    return Found(kind, gathered.observed(), attrs=attrs, notes=notes, cut=cut, advice=_ADVICE)


def read_hyperfine_csv(content: Content) -> Found:
    """Return the run times in hyperfine's CSV; of the runs only the median is there. Raises DataError if a row is damaged."""
    results = []
    for line, row in content.table(lambda text: next(csv.reader([text]), [])):
        given = {name.removeprefix("parameter_"): text for name, text in row.items() if name.startswith("parameter_")}
        numbers = {name: content.number(row[name], line, name) for name in _DETAILS if row[name].strip()}
        results.append({"command": row["command"], "parameters": given, **numbers})
    return from_hyperfine({"results": results}, content, "hyperfine CSV", content.cut)


def _function(command: str, given: Mapping[str, str]) -> tuple[str, dict[str, Setting]]:
    """Return the command with the names of its parameters, and their values."""
    settings: dict[str, Setting] = {}
    for name, text in given.items():
        settings[identifier(name)] = setting_of(text)
        if text:
            pieces = re.split(rf"(?<![\w.]){re.escape(text)}(?![\w.])", command)
            command = f"{{{name}}}".join(pieces)
    return command.strip() or "command", settings
