"""The state of a session, a value, so that undo is to put an older one in its place; and where its measurements come from."""

from __future__ import annotations

import hashlib
import json
import os
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from scalkit.errors import DataError, ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.measure import read
from scalkit.measure.foreign import is_frame
from scalkit.validation import ExpectationSet, SearchSpace, Validation
from scalkit.validation.judge.judge import Judge
from scalkit.validation.judge.measured import AnyExpectation, Choices, Rulers, Setting
from scalkit.validation.several.expectation import SeveralExpectation

_METRIC_ATTRIBUTES = ("role", "units", "exact", "resolution")
_ATTRIBUTES = ("parameter", "truncated")


@dataclass(frozen=True)
class Source:
    """Where measurements come from.

    `paths`: as they were given; empty for data made in memory.
    `sha256`: of the content, whatever file it is in.
    `is_certain`: whether the paths hold that content for sure; those that a Dataset names may not.
    `holder`: the session file or report that the measurements came out of; empty if they did not.
    """

    paths: tuple[str, ...]
    sha256: str
    is_certain: bool = True
    holder: str = ""

    @property
    def is_there(self) -> bool:
        """Whether there are paths, and something at each of them now."""
        return bool(self.paths) and all(Path(one).exists() for one in self.paths)

    def __str__(self) -> str:
        return ", ".join(self.paths) or "data in memory"


def open_source(data: object) -> tuple[xr.Dataset, Source]:
    """Return measurements and where they come from.

    `data`: a Dataset says which files it was read from; `confirmed` looks whether they hold the same.
    Raises DataError if there are no measurements.
    """
    if isinstance(data, xr.Dataset):
        return data, Source(_named_paths(data), content_hash(data), is_certain=False)
    paths = _paths(data)
    if is_frame(data):
        ds = read(data)
        return ds, Source((), content_hash(ds))
    if paths is None:
        raise DataError(
            f"a session needs a Dataset of measurements or a path, got {type(data).__name__}; read one with scalkit.read, "
            "or make one with scalkit.measurements."
        )
    ds = read(paths[0] if len(paths) == 1 else paths)
    return ds, Source(tuple(paths), content_hash(ds))


def content_hash(ds: xr.Dataset) -> str:
    """Return the SHA-256 of what measurements say: all variables, not where they came from nor how numbers are kept."""
    digest = hashlib.sha256()
    head = {name: str(ds.attrs.get(name, "") or "") for name in _ATTRIBUTES}
    digest.update(json.dumps(head, sort_keys=True).encode())
    for name in sorted(map(str, ds.variables)):
        variable = ds[name]
        told = {key: str(variable.attrs[key]) for key in _METRIC_ATTRIBUTES if key in variable.attrs}
        what = [name, list(map(str, variable.dims)), list(variable.shape), sorted(told.items())]
        digest.update(json.dumps(what).encode())
        digest.update(_bytes(np.asarray(variable)))
    return digest.hexdigest()


def _bytes(values: np.ndarray[Any, Any]) -> bytes:
    if values.dtype.kind not in "biuf":
        return json.dumps([str(value) for value in values.ravel()]).encode()
    numbers = np.ascontiguousarray(values, dtype="<f8")
    return bytes(np.where(np.isnan(numbers), np.nan, numbers).tobytes())


def _paths(given: object) -> list[str] | None:
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    if isinstance(given, Sequence) and given and all(isinstance(one, str | os.PathLike) for one in given):
        return [os.fspath(one) for one in given]
    return None


def confirmed(source: Source) -> Source:
    """Return the source, without its paths if reading them again gives something else."""
    if source.is_certain:
        return source
    paths = list(source.paths)
    try:
        is_same = bool(paths) and content_hash(read(paths[0] if len(paths) == 1 else paths)) == source.sha256
    except DataError:
        is_same = False
    return Source(source.paths if is_same else (), source.sha256)


def _named_paths(ds: xr.Dataset) -> tuple[str, ...]:
    """Return the paths that a Dataset names as its source, if all of them exist."""
    source = ds.attrs.get("source")
    if not isinstance(source, str) or not source:
        return ()
    paths = [source] if Path(source).exists() else source.split(", ")
    return tuple(paths) if all(Path(one).exists() for one in paths) else ()


Value = TypeVar("Value")
_ASPECT_OF = {"judging": "statistic", "expectations": "expectation", "rulers": "ruler", "shared": "ruler"}


@dataclass(frozen=True)
class State(Choices):
    """What a person chose, as far as it differs from what the session began with.

    `data`: hash of the measurements; empty for those that the session began with.
    Further attributes: those of `Choices`.
    """

    data: str = ""

    def expecting(self, function: str, expectation: AnyExpectation | None) -> State:
        """Return the state with the expectation of a function; None is the one it began with."""
        return replace(self, expectations=with_entry(self.expectations, function, expectation))

    def ruled(self, function: str, rulers: Rulers | None) -> State:
        """Return the state with the rulers of a function; without any it has those it began with."""
        return replace(self, rulers=with_entry(self.rulers, function, dict(rulers) if rulers else None))

    def excluding(self, function: str, settings: tuple[Setting, ...]) -> State:
        """Return the state where these settings of a function, and no others of it, are left out."""
        return replace(self, excluded=with_entry(self.excluded, function, settings or None))


def chosen_of(result: Validation) -> tuple[xr.Dataset, ExpectationSet, State]:
    """Return measurements, expectations and choices of a result. Raises DataError if it does not hold them."""
    if result.data is None or result.expected is None or result.choices is None:
        raise DataError("the result does not hold its measurements; write Session(data, expectations).")
    named = {one.name: getattr(result.choices, one.name) for one in fields(Choices)}
    return result.data, result.expected, State(**named)


def with_entry(mapping: Mapping[str, Value], key: str, value: Value | None) -> dict[str, Value]:
    """Return a mapping with an entry set, or without it where the value is None."""
    return without(mapping, key) if value is None else {**mapping, key: value}


def without(mapping: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return a mapping without an entry."""
    return {name: value for name, value in mapping.items() if name != key}


def own_deviation(expectation: AnyExpectation | None) -> object | None:
    """Return the deviation that was given, not derived; None if none was."""
    if expectation is None:
        return None
    if isinstance(expectation, SeveralExpectation):
        return expectation.own_deviations or None
    return expectation.deviation if expectation.has_own_deviation else None


def aspects(before: State, after: State) -> frozenset[str]:
    """Return what a step from one state to another is about, in the words that observers are told."""
    named = {f.name for f in fields(State) if getattr(before, f.name) != getattr(after, f.name)}
    found = {_ASPECT_OF.get(name, name) for name in named}
    if "expectation" in found:
        found.add("ruler")
    return frozenset({*found, "history", *(["result"] if found else [])})


@dataclass(frozen=True)
class Step:
    """One step: its name, and the state on its other side."""

    name: str
    state: State


@dataclass(frozen=True)
class History:
    """The present state, the steps that led to it, and those that were undone.

    `past`: oldest first; each with the state before it.
    `future`: what `redo` does next comes last; each with the state after it.
    """

    present: State
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()

    def did(self, name: str, state: State) -> History:
        """Return the history after one more step; a step that changes nothing is none."""
        if state == self.present:
            return self
        return History(state, (*self.past, Step(name, self.present)))

    def joined(self, name: str, since: int) -> History:
        """Return the history where all steps after the first `since` are one; one that ends where it began is none."""
        if len(self.past) <= since:
            return self
        before = self.past[since].state
        kept = self.past[:since]
        return replace(self, past=kept if before == self.present else (*kept, Step(name, before)))

    def undo(self) -> History:
        """Return the history before the last step. Raises UsageError if there is none."""
        if not self.past:
            raise UsageError("there is no step to undo; nothing was changed yet.")
        last = self.past[-1]
        return History(last.state, self.past[:-1], (*self.future, Step(last.name, self.present)))

    def redo(self) -> History:
        """Return the history after the step that was undone last. Raises UsageError if there is none."""
        if not self.future:
            raise UsageError("there is no step to redo; undo one first.")
        last = self.future[-1]
        return History(last.state, (*self.past, Step(last.name, self.present)), self.future[:-1])


def with_ruler(judge: Judge, state: State, key: str, space: SearchSpace) -> State:
    """Return the state with another ruler along a parameter: the shared one if rulers are shared, else that of `key`."""
    ruler = {space.parameter: space.ticks}
    if state.shared:
        return replace(state, shared={**state.shared, **ruler})
    return settled(judge, state.ruled(key, {**state.rulers.get(key, {}), **ruler}), key)


def settled(judge: Judge, state: State, key: str) -> State:
    """Return the state where a ruler by hand that equals the one that there would be anyway is none; see `Judge.key_of`."""
    rulers = state.rulers.get(key)
    if not rulers:
        return state
    bare = replace(state, shared={}).ruled(key, None)
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
    if expectation is None:
        return {}
    if isinstance(expectation, SeveralExpectation):
        return {name: one.growth for name, one in expectation.along.items()}
    return {expectation.parameter: expectation.growth}


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
            return Growth.constant()
        raise ExpectationError(f"the tick {tick!r} is no growth; write it as text, for example 'p^(1/2)'.")
    return Growth.parse(tick)


def moved(expected: Growth, old: Growth, new: Growth) -> Callable[[SearchSpace], SearchSpace]:
    """Return what moves a tick of a space.

    Raises ExpectationError when called, if the old one is not there, the new one is, or the old one is the expectation.
    """

    def move(space: SearchSpace) -> SearchSpace:
        refuse_expected(expected, old)
        if old not in space:
            return space.without_tick(old)  # says which there are
        refuse_double(space, new)
        ticks = [tick for tick in space.ticks if tick != old]
        insort(ticks, new)
        return replace(space, ticks=tuple(ticks))

    return move


def refuse_expected(expected: Growth, tick: Growth) -> None:
    """Raise if a tick is the expected growth, which always competes."""
    if tick == expected:
        raise ExpectationError(
            f"the tick '{tick}' is the expectation, which always competes; expect something else to be rid of it."
        )


def refuse_double(space: SearchSpace, tick: Growth) -> None:
    """Raise if a tick is there already."""
    if tick in space:
        raise ExpectationError(f"the ruler has the tick '{tick}' already; choose another place for it.")
