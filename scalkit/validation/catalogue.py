"""Sets of expectations: the bundled ones and those in a user's TOML file.

::

    deviation = "p^(1/2)"            # for all functions; by default half of each expectation's class
    space = "ics15"                  # or "around" (default), "paper"
    litmus = "Bcast_binary_tree"     # the own implementation whose behaviour is known
    rules = ["MPI_Allreduce <= MPI_Reduce + MPI_Bcast"]

    [expectations]
    MPI_Barrier = "log(p)"
    MPI_Gather = { expectation = "p", deviation = "log(p)", space = "paper" }
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from scalkit.errors import ExpectationError, ScalkitError
from scalkit.relation import Relation
from scalkit.validation.expectation import Expectation
from scalkit.validation.space import SPACES, SearchSpace

__all__ = ["CATALOGUES", "ExpectationSet", "Expected", "expectation_set", "load_expectations"]

CATALOGUES = ("mpi", "mafia")
_KEYS = ("title", "deviation", "space", "litmus", "rules", "expectations")
_FUNCTION_KEYS = ("expectation", "deviation", "space")


@dataclass(frozen=True)
class Expected:
    """The expectation of one function and the name of its search space, or the space itself."""

    expectation: Expectation
    space: str | SearchSpace = "around"

    def search_space(self, parameter: str) -> tuple[Expectation, SearchSpace]:
        """Return the expectation in terms of `parameter` and the ticks to try."""
        expectation = self.expectation.in_parameter(parameter)
        if not isinstance(self.space, SearchSpace):
            return expectation, SearchSpace.named(self.space, expectation)
        if self.space.parameter != parameter:
            raise ExpectationError(
                f"the search space '{self.space.name}' is in terms of '{self.space.parameter}', the data in terms of "
                f"'{parameter}'; make it from an expectation in {parameter}."
            )
        return expectation, self.space


@dataclass(frozen=True)
class ExpectationSet:
    """Expectations by function name, rules between functions, and the litmus function."""

    functions: Mapping[str, Expected]
    rules: tuple[Relation, ...] = ()
    litmus: str | None = None
    name: str = ""

    def of(self, function: str) -> Expected | None:
        """Return the expectation of a function; a variant such as ``f[random]`` falls back to ``f``."""
        return self.functions.get(self.name_of(function))

    def name_of(self, function: str) -> str:
        """Return the name under which the set would know a function: its own, or that of ``f`` for ``f[random]``."""
        return function if function in self.functions else function.split("[", 1)[0]


def load_expectations(source: str | Path) -> ExpectationSet:
    """Return a bundled set (``"mpi"``, ``"mafia"``) or the one in a TOML file.

    Raises
    ------
    ExpectationError
        If the file cannot be read, is not TOML, or an entry is wrong; the text names the file, the entry and the value.
    """
    if source in CATALOGUES:
        text = resources.files("scalkit.validation").joinpath(f"catalogues/{source}.toml").read_text(encoding="utf-8")
        return _from_text(text, str(source))
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file in UTF-8"
        raise ExpectationError(
            f"cannot read the expectations {str(source)!r}: {reason}. Give a TOML file or one of {', '.join(CATALOGUES)}."
        ) from error
    return _from_text(text, str(source))


def expectation_set(source: object) -> ExpectationSet:
    """Return a set from a set, a name, a path, or a mapping from function to expectation.

    Values of a mapping are an Expectation, whatever `Expectation` takes, or a table with ``expectation``, ``deviation`` and
    ``space``.
    """
    if isinstance(source, ExpectationSet):
        return source
    if isinstance(source, (str, Path)):
        return load_expectations(source)
    if isinstance(source, Mapping):
        return ExpectationSet(
            {str(name): _expected(str(name), value, None, "around") for name, value in source.items()}
        )
    raise ExpectationError(
        f"expectations must be a mapping from function to text, a TOML file or one of {', '.join(CATALOGUES)}; "
        f"got {type(source).__name__}."
    )


def _from_text(text: str, name: str) -> ExpectationSet:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ExpectationError(f"{name} is not valid TOML: {error}.") from error
    try:
        return _from_table(table, name)
    except ScalkitError as error:
        raise type(error)(f"{name}: {error}") from error


def _from_table(table: Mapping[str, Any], name: str) -> ExpectationSet:
    _known_keys(table, _KEYS, "the file")
    functions = _typed(table, "expectations", dict, {}, "a table of functions")
    if not functions:
        raise ExpectationError(
            "there is no [expectations] table with a function; add one, for example MPI_Barrier = 'log(p)'."
        )
    deviation = _typed(table, "deviation", str, None, "text")
    space = _space(_typed(table, "space", str, "around", "text"))
    rules = _typed(table, "rules", list, [], "a list of texts")
    return ExpectationSet(
        functions={key: _expected(key, value, deviation, space) for key, value in functions.items()},
        rules=tuple(Relation.parse(rule) for rule in rules),
        litmus=_typed(table, "litmus", str, None, "the name of a function"),
        name=name,
    )


def _expected(function: str, value: object, deviation: object, space: str) -> Expected:
    if isinstance(value, Expectation):
        return Expected(value, space)
    entry: Mapping[str, Any] = value if isinstance(value, Mapping) else {"expectation": value}
    _known_keys(entry, _FUNCTION_KEYS, f"'{function}'")
    if "expectation" not in entry:
        raise ExpectationError(f"'{function}' has no key 'expectation'; add one, for example expectation = 'log(p)'.")
    if isinstance(entry["expectation"], (bool, list, dict)):
        raise ExpectationError(
            f"the expectation of '{function}' is {entry['expectation']!r}; write it as text, for example 'log(p)'."
        )
    own = entry.get("space", space)
    try:
        expectation = Expectation(entry["expectation"], entry.get("deviation", deviation))
    except ExpectationError as error:
        raise ExpectationError(f"function '{function}': {error}") from error
    return Expected(expectation, own if isinstance(own, SearchSpace) else _space(own))


def _space(name: object) -> str:
    if name not in SPACES:
        raise ExpectationError(f"the search space {name!r} is unknown; choose one of {', '.join(SPACES)}.")
    return str(name)


def _known_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(known)}."
            raise ExpectationError(f"{where} has the unknown key '{key}'{hint}")


def _typed(table: Mapping[str, Any], key: str, kind: type, default: Any, words: str) -> Any:
    value = table.get(key, default)
    if value is not default and not isinstance(value, kind):
        raise ExpectationError(f"'{key}' is {value!r}; {words} is needed.")
    return value
