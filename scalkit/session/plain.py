"""Expectations and options as JSON values, and back; a wrong value is a ScalkitError, KeyError, TypeError or ValueError."""

from collections.abc import Mapping
from typing import Any, cast

from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge.catalogue import ExpectationSet, Expected
from scalkit.judge.expectation import Expectation
from scalkit.judge.measured import AnyExpectation
from scalkit.judge.several.expectation import SeveralExpectation, SeveralSpace, Space
from scalkit.judge.space import SearchSpace
from scalkit.support.options import Judging


def plain_set(given: ExpectationSet) -> dict[str, Any]:
    """Return a set of expectations as JSON values."""
    return {
        "name": given.name,
        "litmus": given.litmus,
        "rules": [str(rule) for rule in given.rules],
        "functions": {
            function: {**plain_expectation(one.expectation), "space": plain_space(one.space)}
            for function, one in given.functions.items()
        },
    }


def set_from_plain(plain: Mapping[str, Any]) -> ExpectationSet:
    """Return the set that `plain_set` wrote."""
    return ExpectationSet(
        functions={
            function: Expected(expectation_from(one), space_from(one["space"])) for function, one in plain["functions"].items()
        },
        rules=tuple(Relation.parse(rule) for rule in plain["rules"]),
        litmus=plain["litmus"],
        name=plain["name"],
    )


def plain_expectation(expectation: AnyExpectation) -> dict[str, Any]:
    """Return an expectation as JSON values: its growth, the deviation that was given, and its parameters."""
    plain: dict[str, Any] = {"expectation": str(expectation.growth), "deviation": None}
    if isinstance(expectation, SeveralExpectation):
        own = {name: str(deviation) for name, deviation in expectation.own_deviations.items()}
        return {**plain, "deviation": own or None, "parameters": list(expectation.parameters)}
    if expectation.has_own_deviation:
        plain["deviation"] = str(expectation.deviation)
    return {**plain, "parameter": expectation.parameter}


def expectation_from(plain: Any) -> AnyExpectation:
    """Return the expectation that `plain_expectation` wrote."""
    if "parameters" in plain:
        return SeveralExpectation(plain["expectation"], plain["deviation"], plain["parameters"])
    return Expectation(plain["expectation"], plain["deviation"], plain["parameter"])


def ticks_from(plain: Any, parameter: str | None = None) -> tuple[Growth, ...]:
    """Return growths out of a list of texts."""
    return tuple(Growth(one, parameter) for one in plain)


def plain_space(space: Space) -> Any:
    """Return what says which growths are tried as JSON values."""
    if isinstance(space, str):
        return space
    if isinstance(space, SeveralSpace):
        return {"base": space.name, **{key: [str(tick) for tick in getattr(space, key)] for key in ("ticks", "added", "removed")}}
    if isinstance(space, Mapping):
        return {"by": {name: plain_space(one) for name, one in space.items()}}
    return {"name": space.name, "parameter": space.parameter, "ticks": [str(tick) for tick in space.ticks]}


def space_from(plain: Any) -> Space:
    """Return what `plain_space` wrote."""
    if isinstance(plain, str):
        return plain
    if "by" in plain:
        return {name: cast("str | SearchSpace", space_from(one)) for name, one in plain["by"].items()}
    if "base" in plain:
        return SeveralSpace(plain["base"], *(ticks_from(plain[key]) for key in ("ticks", "added", "removed")))
    parameter = plain["parameter"]
    return SearchSpace.of(ticks_from(plain["ticks"], parameter), plain["name"], parameter)


def plain_options(judging: Judging) -> dict[str, Any]:
    """Return the options that are not as by default as JSON values."""
    found = judging.changed
    return found if "space" not in found else {**found, "space": plain_space(found["space"])}


def options_from(plain: Any) -> dict[str, Any]:
    """Return the options that `plain_options` wrote."""
    found = dict(plain)
    return found if found.get("space") is None else {**found, "space": space_from(found["space"])}
