"""Expectations as plain values, the form in which they travel to the notebook as a typed parameter, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from scalkit.growth import Growth
from scalkit.relation import Relation
from scalkit.validation import Expectation, ExpectationSet, Expected, SearchSpace
from scalkit.validation.catalogue import CATALOGUES, expectation_set
from scalkit.validation.several_expectation import SeveralExpectation
from scalkit.validation.several_space import SeveralSpace, Space

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
    expectation = expected.expectation
    if isinstance(expectation, SeveralExpectation):
        own = {name: str(deviation) for name, deviation in expectation.own_deviations.items()}
        of_it: dict[str, Any] = {"deviation": own or None, "parameters": list(expectation.parameters)}
    else:
        allowed = str(expectation.deviation) if expectation.has_own_deviation else None
        of_it = {"deviation": allowed, "parameter": expectation.parameter}
    return {"expectation": str(expectation.growth), **of_it, "space": _plain_space(expected.space)}


def _plain_space(space: Space) -> Any:
    if isinstance(space, str):
        return space
    if isinstance(space, SeveralSpace):
        changes = {key: [str(t) for t in getattr(space, key)] for key in ("ticks", "added", "removed")}
        return {"several": space.name, **changes}
    if isinstance(space, Mapping):
        return {"by": {name: _plain_space(one) for name, one in space.items()}}
    return {"name": space.name, "ticks": [str(t) for t in space.ticks], "parameter": space.parameter}


def _expected(entry: Mapping[str, Any]) -> Expected:
    space = _space(entry["space"])
    if "parameters" in entry:
        return Expected(SeveralExpectation(entry["expectation"], entry["deviation"], entry["parameters"]), space)
    return Expected(Expectation(entry["expectation"], entry["deviation"], entry["parameter"]), space)


def _space(plain: Any) -> Space:
    if isinstance(plain, str):
        return plain
    if "several" in plain:
        ticks = (tuple(Growth.parse(t) for t in plain[key]) for key in ("ticks", "added", "removed"))
        return SeveralSpace(plain["several"], *ticks)
    if "by" in plain:
        return {name: cast("str | SearchSpace", _space(one)) for name, one in plain["by"].items()}
    parameter = plain["parameter"]
    return SearchSpace.of((Growth.parse(tick, parameter) for tick in plain["ticks"]), plain["name"], parameter)
