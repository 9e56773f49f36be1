"""States as JSON values, and back; a wrong value is a ScalkitError, KeyError, TypeError or ValueError."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from scalkit.growth import Growth
from scalkit.measure import Statistic
from scalkit.options import MIN_POINTS, Judging
from scalkit.relation import Relation
from scalkit.session.state import State
from scalkit.validation import SearchSpace
from scalkit.validation.judge.choices import Rulers, Setting
from scalkit.validation.plain import (
    expectation_from,
    list_of,
    options_from,
    plain_expectation,
    plain_options,
    table_of,
    ticks_from,
)


def plain_state(state: State, min_points: int) -> dict[str, Any]:
    """Return a state as JSON values, in a file that says for all states how few points are enough."""
    judging = replace(state.judging, statistic="q1")
    own = {"min_points": judging.min_points} if judging.min_points != min_points else {}
    options = {**plain_options(replace(judging, min_points=MIN_POINTS)), **own}
    return {
        "statistic": state.judging.statistic,
        **({"judging": options} if options else {}),
        "rules": [str(rule) for rule in state.rules],
        "expectations": {function: plain_expectation(one) for function, one in state.expectations.items()},
        "rulers": {function: _plain_rulers(rulers) for function, rulers in state.rulers.items()},
        "shared": _plain_rulers(state.shared),
        "excluded": {
            function: [list(one) if isinstance(one, tuple) else one for one in settings]
            for function, settings in state.excluded.items()
        },
    }


def state_from_plain(plain: Mapping[str, Any], min_points: int) -> State:
    """Return the state that `plain_state` wrote."""
    if plain["statistic"] not in get_args(Statistic):
        raise ValueError(f"the statistic {plain['statistic']!r:.40}")
    own = options_from(plain.get("judging", {}))
    return State(
        judging=Judging.of({"statistic": plain["statistic"], "min_points": min_points, **own}),
        rules=tuple(Relation.parse(rule) for rule in list_of(plain["rules"])),
        expectations={function: expectation_from(one) for function, one in table_of(plain["expectations"]).items()},
        rulers={function: _rulers(one) for function, one in table_of(plain["rulers"]).items()},
        shared=_rulers(plain["shared"]),
        excluded={
            function: tuple(_setting(one) for one in list_of(settings))
            for function, settings in table_of(plain["excluded"]).items()
        },
    )


def _plain_rulers(rulers: Rulers) -> dict[str, list[str]]:
    return {parameter: [str(tick) for tick in ticks] for parameter, ticks in rulers.items()}


def _rulers(plain: Any) -> dict[str, tuple[Growth, ...]]:
    return {
        parameter: SearchSpace.of(ticks_from(ticks, parameter), "by hand", parameter).ticks
        for parameter, ticks in table_of(plain).items()
    }


def _setting(plain: Any) -> Setting:
    if isinstance(plain, list):
        return tuple(_number(one) for one in plain)
    return _number(plain)


def _number(plain: Any) -> float:
    if isinstance(plain, bool) or not isinstance(plain, int | float) or not math.isfinite(plain):
        raise TypeError(f"{plain!r:.40} stands where a number is needed")
    return float(plain)
