"""What was chosen in a session, a value, so that undo is to put an older one in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from scalkit.errors import UsageError
from scalkit.judge.judge import Judge
from scalkit.judge.measured import AnyExpectation, Choices, Rulers, Setting
from scalkit.judge.several.expectation import SeveralExpectation

Value = TypeVar("Value")
_ASPECT_OF = {"judging": "statistic", "expectations": "expectation", "rulers": "ruler"}


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


def with_entry(mapping: Mapping[str, Value], key: str, value: Value | None) -> dict[str, Value]:
    """Return a mapping with an entry set, or without it where the value is None."""
    others = {name: one for name, one in mapping.items() if name != key}
    return others if value is None else {**mapping, key: value}


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

    @property
    def states(self) -> tuple[State, ...]:
        """All states that undo and redo lead to, and the present one."""
        return (self.present, *(step.state for step in (*self.past, *self.future)))

    def did(self, step: Step) -> History:
        """Return the history after a step to another state; a step that changes nothing is none."""
        if step.state == self.present:
            return self
        return History(step.state, (*self.past, Step(step.name, self.present)))

    def joined(self, name: str | None, since: int) -> History:
        """Return the history where all steps after the first `since` are one; one that ends where it began is none.

        `name`: of the one step; by default that of the last one.
        """
        if len(self.past) <= since:
            return self
        before = self.past[since].state
        kept = self.past[:since]
        return replace(self, past=kept if before == self.present else (*kept, Step(name or self.past[-1].name, before)))

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


def still_excluded(state: State, judge: Judge) -> dict[str, tuple[Setting, ...]]:
    """Return what is left out of a state, as far as it was measured; all that is left of a function stays."""
    found = {}
    for function, settings in state.excluded.items():
        if function not in judge.functions:
            continue
        measured = judge.measured.settings(function)
        gone = tuple(one for one in settings if one in measured)
        if gone and len(gone) < len(measured):
            found[function] = gone
    return found
