"""States and expectations as JSON values, and back; a wrong value is a ScalkitError, KeyError, TypeError or ValueError."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast, get_args

from scalkit.growth import Growth
from scalkit.measure import Statistic
from scalkit.relation import Relation
from scalkit.session.state import AnyExpectation, Rulers, Setting, State
from scalkit.validation import Expectation, ExpectationSet, Expected, SearchSpace
from scalkit.validation.several_expectation import SeveralExpectation
from scalkit.validation.several_space import SeveralSpace, Space

__all__ = ["plain_expectation", "plain_set", "plain_state", "set_from_plain", "state_from_plain"]


def plain_state(state: State) -> dict[str, Any]:
    """Return a state as JSON values."""
    return {
        "statistic": state.statistic,
        "rules": [str(rule) for rule in state.rules],
        "expectations": {function: plain_expectation(one) for function, one in state.expectations.items()},
        "rulers": {function: _plain_rulers(rulers) for function, rulers in state.rulers.items()},
        "shared": _plain_rulers(state.shared),
        "excluded": {
            function: [list(one) if isinstance(one, tuple) else one for one in settings]
            for function, settings in state.excluded.items()
        },
    }


def state_from_plain(plain: Mapping[str, Any]) -> State:
    """Return the state that `plain_state` wrote."""
    if plain["statistic"] not in get_args(Statistic):
        raise ValueError(f"the statistic {plain['statistic']!r:.40}")
    return State(
        statistic=plain["statistic"],
        rules=tuple(Relation.parse(rule) for rule in _list(plain["rules"])),
        expectations={function: _expectation(one) for function, one in _table(plain["expectations"]).items()},
        rulers={function: _rulers(one) for function, one in _table(plain["rulers"]).items()},
        shared=_rulers(plain["shared"]),
        excluded={
            function: tuple(_setting(one) for one in _list(settings))
            for function, settings in _table(plain["excluded"]).items()
        },
    )


def plain_set(given: ExpectationSet) -> dict[str, Any]:
    """Return a set of expectations as JSON values."""
    return {
        "name": given.name,
        "litmus": given.litmus,
        "rules": [str(rule) for rule in given.rules],
        "functions": {
            function: {**plain_expectation(one.expectation), "space": _plain_space(one.space)}
            for function, one in given.functions.items()
        },
    }


def set_from_plain(plain: Mapping[str, Any]) -> ExpectationSet:
    """Return the set that `plain_set` wrote."""
    return ExpectationSet(
        functions={
            function: Expected(_expectation(one), _space(one["space"]))
            for function, one in _table(plain["functions"]).items()
        },
        rules=tuple(Relation.parse(rule) for rule in _list(plain["rules"])),
        litmus=None if plain["litmus"] is None else _text(plain["litmus"]),
        name=_text(plain["name"]),
    )


def plain_expectation(expectation: AnyExpectation) -> dict[str, Any]:
    """Return an expectation as JSON values: its growth, the deviation that was given, and its parameters."""
    if isinstance(expectation, SeveralExpectation):
        own = {name: str(deviation) for name, deviation in expectation.own_deviations.items()}
        deviation: Any = own or None
        parameters = list(expectation.parameters)
    else:
        deviation = str(expectation.deviation) if expectation.has_own_deviation else None
        parameters = [expectation.parameter]
    several = isinstance(expectation, SeveralExpectation)
    return {
        "expectation": str(expectation.growth),
        "deviation": deviation,
        "parameters" if several else "parameter": parameters if several else parameters[0],
    }


def _expectation(plain: Any) -> AnyExpectation:
    text = _text(plain["expectation"])
    if "parameters" in plain:
        allowed = None if plain["deviation"] is None else _table(plain["deviation"])
        return SeveralExpectation(text, allowed, [_text(one) for one in _list(plain["parameters"])])
    own = None if plain["deviation"] is None else _text(plain["deviation"])
    return Expectation(text, own, _text(plain["parameter"]))


def _plain_rulers(rulers: Rulers) -> dict[str, list[str]]:
    return {parameter: [str(tick) for tick in ticks] for parameter, ticks in rulers.items()}


def _rulers(plain: Any) -> dict[str, tuple[Growth, ...]]:
    return {
        parameter: SearchSpace.of(_ticks(ticks, parameter), "by hand", parameter).ticks
        for parameter, ticks in _table(plain).items()
    }


def _ticks(plain: Any, parameter: str | None = None) -> tuple[Growth, ...]:
    return tuple(Growth.parse(_text(one), parameter) for one in _list(plain))


def _plain_space(space: Space) -> Any:
    if isinstance(space, str):
        return space
    if isinstance(space, SeveralSpace):
        return {
            "base": space.name,
            **{key: [str(tick) for tick in getattr(space, key)] for key in ("ticks", "added", "removed")},
        }
    if isinstance(space, Mapping):
        return {"by": {name: _plain_space(one) for name, one in space.items()}}
    return {"name": space.name, "parameter": space.parameter, "ticks": [str(tick) for tick in space.ticks]}


def _space(plain: Any) -> Space:
    if isinstance(plain, str):
        return plain
    if "by" in plain:
        return {name: cast("str | SearchSpace", _space(one)) for name, one in _table(plain["by"]).items()}
    if "base" in plain:
        return SeveralSpace(_text(plain["base"]), *(_ticks(plain[key]) for key in ("ticks", "added", "removed")))
    parameter = _text(plain["parameter"])
    return SearchSpace.of(_ticks(plain["ticks"], parameter), _text(plain["name"]), parameter)


def _setting(plain: Any) -> Setting:
    if isinstance(plain, list):
        return tuple(_number(one) for one in plain)
    return _number(plain)


def _number(plain: Any) -> float:
    if isinstance(plain, bool) or not isinstance(plain, int | float) or not math.isfinite(plain):
        raise TypeError(f"{plain!r:.40} stands where a number is needed")
    return float(plain)


def _text(plain: Any) -> str:
    if not isinstance(plain, str):
        raise TypeError(f"{plain!r:.40} stands where a text is needed")
    return plain


def _list(plain: Any) -> list[Any]:
    if not isinstance(plain, list):
        raise TypeError(f"{plain!r:.40} stands where a list is needed")
    return plain


def _table(plain: Any) -> dict[str, Any]:
    if not isinstance(plain, dict):
        raise TypeError(f"{plain!r:.40} stands where an object is needed")
    return plain
