"""Expectations as plain values, the form in which they travel to the notebook as a typed parameter, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalkit.growth import Growth
from scalkit.relation import Relation
from scalkit.validation import Expectation, ExpectationSet, Expected, SearchSpace
from scalkit.validation.catalogue import CATALOGUES, expectation_set

__all__ = ["from_plain", "to_plain"]


def to_plain(source: object) -> str | dict[str, Any]:
    """Return expectations as JSON values.

    Parameters
    ----------
    source : str, path, mapping, ExpectationSet, or None
        Whatever `scalkit.validate` takes; None is the bundled catalogue ``"mpi"``.

    Returns
    -------
    str or dict
        The name of a catalogue or the absolute path of a file; otherwise a mapping that `from_plain` reads.

    Raises
    ------
    ExpectationError
        If a mapping cannot be read.
    """
    if source is None:
        return "mpi"
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        return text if text in CATALOGUES else str(Path(text).absolute())
    given = expectation_set(source)
    return {
        "name": given.name,
        "litmus": given.litmus,
        "rules": [str(rule) for rule in given.rules],
        "functions": {function: _entry(expected) for function, expected in given.functions.items()},
    }


def from_plain(source: str | Mapping[str, Any]) -> ExpectationSet:
    """Return the expectations that `to_plain` wrote.

    Raises
    ------
    ExpectationError
        If a file cannot be read.
    """
    if isinstance(source, str):
        return expectation_set(source)
    functions = {function: _expected(entry) for function, entry in source["functions"].items()}
    rules = tuple(Relation.parse(rule) for rule in source["rules"])
    return ExpectationSet(functions, rules, source["litmus"], source["name"])


def _entry(expected: Expected) -> dict[str, Any]:
    expectation, space = expected.expectation, expected.space
    return {
        "expectation": str(expectation.growth),
        "deviation": str(expectation.deviation) if expectation.has_own_deviation else None,
        "parameter": expectation.parameter,
        "space": space if isinstance(space, str) else {"name": space.name, "ticks": [str(t) for t in space.ticks]},
    }


def _expected(entry: Mapping[str, Any]) -> Expected:
    parameter, space = entry["parameter"], entry["space"]
    if not isinstance(space, str):
        ticks = (Growth.parse(tick, parameter) for tick in space["ticks"])
        space = SearchSpace.of(ticks, space["name"], parameter)
    return Expected(Expectation(entry["expectation"], entry["deviation"], parameter), space)
