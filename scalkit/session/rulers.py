"""Ticks of the rulers of a session: which growths compete, as far as they were moved by hand."""

from __future__ import annotations

from collections.abc import Mapping

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.judge import SearchSpace
from scalkit.judge.judge import Judge
from scalkit.judge.measured import AnyExpectation
from scalkit.session.state import State


def with_ruler(judge: Judge, state: State, key: str, space: SearchSpace) -> State:
    """Return the state with another ruler along a parameter for the functions of a key; see `Judge.key_of`."""
    return settled(judge, state.ruled(key, {**state.rulers.get(key, {}), space.parameter: space.ticks}), key)


def settled(judge: Judge, state: State, key: str) -> State:
    """Return the state where a ruler by hand that equals the one that there would be anyway is none; see `Judge.key_of`."""
    rulers = state.rulers.get(key)
    if not rulers:
        return state
    bare = state.ruled(key, None)
    found = (judge.task_of(name, bare) for name in judge.names if judge.key_of(name) == key)
    tasks = [task for task in found if task is not None]
    kept = {
        parameter: ticks
        for parameter, ticks in rulers.items()
        # The growth that is expected is always there, with or without a tick.
        if not tasks
        or any({*ticks, growths_expected(one.expectation)[parameter]} != set(one.spaces[parameter].ticks) for one in tasks)
    }
    return state.ruled(key, kept)


def growths_expected(expectation: AnyExpectation | None) -> Mapping[str, Growth]:
    """Return the expected growth along each parameter."""
    return {} if expectation is None else {name: one.growth for name, one in expectation.along.items()}


def growth_along(growth: Growth, parameters: tuple[str, ...], parameter: str | None) -> str:
    """Return the parameter whose ruler a tick is on: the one that it names, or the one that is asked for.

    Raises ExpectationError if it names another one, or several.
    """
    named = growth.parameters
    wanted = parameter or (named[0] if named else parameters[0])
    if wanted not in parameters:
        raise ExpectationError(
            f"there is no ruler of '{wanted}'; the data have {', '.join(parameters)}, write ticks in terms of that."
        )
    if set(named) - {wanted}:
        raise ExpectationError(
            f"the tick '{growth}' is in terms of {', '.join(named)}, the ruler in terms of '{wanted}'; write it in terms of "
            f"{wanted} alone."
        )
    return wanted


def parse_tick(tick: object) -> Growth:
    """Return the growth of a tick, given as such or as text."""
    if isinstance(tick, bool | int | float):
        if tick == 1:
            return Growth()
        raise ExpectationError(f"the tick {tick!r} is no growth; write it as text, for example 'p^(1/2)'.")
    return Growth(tick)


def moved(space: SearchSpace, expected: Growth, old: Growth, new: Growth) -> SearchSpace:
    """Return the space with a tick elsewhere.

    Raises ExpectationError if the old one is not there, the new one is, or the old one is the expectation.
    """
    _refuse_double(space, new)
    return added(removed(space, expected, old), new)


def added(space: SearchSpace, tick: Growth) -> SearchSpace:
    """Return the space with one more tick. Raises ExpectationError if it is there already."""
    _refuse_double(space, tick)
    return space.with_tick(tick)


def removed(space: SearchSpace, expected: Growth, tick: Growth) -> SearchSpace:
    """Return the space without a tick. Raises ExpectationError if it is the expectation, or not there."""
    _refuse_expected(expected, tick)
    return space.without_tick(tick)


def _refuse_expected(expected: Growth, tick: Growth) -> None:
    """Raise if a tick is the expected growth, which always competes."""
    if tick == expected:
        raise ExpectationError(
            f"the tick '{tick}' is the expectation, which always competes; expect something else to be rid of it."
        )


def _refuse_double(space: SearchSpace, tick: Growth) -> None:
    """Raise if a tick is there already."""
    if tick in space:
        raise ExpectationError(f"the ruler has the tick '{tick}' already; choose another place for it.")
