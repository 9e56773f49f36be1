"""The entries of a user's file: errors know where they stand, keys and kinds of values are checked, expectations made of them."""

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from scalkit.errors import ExpectationError, ScalkitError
from scalkit.fit.several.model import GrowthSum
from scalkit.growth import Growth
from scalkit.toml.tables import EntryPath
from scalkit.validation.expectation import Expectation, HasGrowth
from scalkit.validation.several.expectation import SeveralExpectation


def made(text: object, deviation: object) -> Expectation | SeveralExpectation:
    """Return an expectation of one parameter, or of several where it or its deviation names several; of texts made once."""
    is_text = isinstance(text, str) and isinstance(deviation, str | None)
    return _made_of_texts(text, deviation) if is_text else _made(text, deviation)


def _made(text: object, deviation: object) -> Expectation | SeveralExpectation:
    given = text.growth if isinstance(text, HasGrowth) else text
    named = _parameters_in(given)
    if isinstance(deviation, Mapping):
        require_deviation(deviation)
        return SeveralExpectation(given, deviation, tuple(dict.fromkeys([*named, *map(str, deviation)])))
    allowed = () if deviation is None else _parameters_in(deviation)
    if len(named) > 1 or len(allowed) > 1:
        return SeveralExpectation(given, deviation, tuple(dict.fromkeys([*named, *allowed])))
    return Expectation(text, deviation)


_made_of_texts = lru_cache(maxsize=256)(_made)


def _parameters_in(text: object) -> tuple[str, ...]:
    try:
        return GrowthSum.parse(text).parameters
    except ExpectationError:
        return ()  # Expectation says what is wrong


def require_deviation(deviation: object) -> None:
    """Refuse an empty table, and what is no growth."""
    if isinstance(deviation, Mapping) and not deviation:
        raise ExpectationError("'deviation' is an empty table; name a parameter, as in { S = 'S^(1/4)' }, or leave it out.")
    for one in deviation.values() if isinstance(deviation, Mapping) else [deviation]:
        Growth.parse(one)


class AtEntry(Exception):  # noqa: N818
    """Carries an error to where the lines of the file are known."""

    def __init__(self, path: EntryPath, error: ScalkitError) -> None:
        super().__init__(path, error)
        self.path, self.error = path, error


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """Let errors inside say that they stand at a path of keys."""
    try:
        yield
    except ScalkitError as error:
        raise AtEntry(path, error) from error


def known_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str, path: EntryPath) -> None:
    """Refuse keys of a table that are not known; `where` says what it is, `path` where it stands."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(known)}."
            with at(*path, str(key)):
                raise ExpectationError(f"{where} has the unknown key '{key}'{hint}")


def is_by_metric(value: object, known: tuple[str, ...]) -> bool:
    """Return whether the entry of a function is a table from metric to entry; keys that look like `known` ones are none."""
    if not isinstance(value, Mapping) or not value:
        return False
    return not any(key in known or difflib.get_close_matches(str(key), known, 1) for key in value)


def typed(table: Mapping[str, Any], key: str, kind: type | tuple[type, ...], default: Any, words: str) -> Any:
    """Return a value of a table, or the default; refuse one that is not of a kind, which `words` describe."""
    value = table.get(key, default)
    with at(key):
        if value is not default and not isinstance(value, kind):
            raise ExpectationError(f"'{key}' is {value!r}; {words} is needed.")
    return value
