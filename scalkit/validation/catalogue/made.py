"""Expectations from what an entry says: text or whatever has a growth, and a deviation."""

from collections.abc import Mapping
from functools import lru_cache

from scalkit.errors import ExpectationError
from scalkit.fit.several.growth import GrowthSum
from scalkit.growth import Growth
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
