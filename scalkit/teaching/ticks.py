"""Answers that are a set of ticks, or a state that a learner brings a session to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scalkit.errors import DataError, ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.session import Session
from scalkit.teaching.answers import text_of
from scalkit.teaching.goals import Goal, goal_of, ticks_differ
from scalkit.teaching.growths import read_growth
from scalkit.teaching.outcome import Outcome, Unread

_MOST = 60


@dataclass(frozen=True)
class TicksAnswer:
    """A set of growths, given as text with commas between, or as growths."""

    ticks: frozenset[Growth]

    def judge(self, given: object) -> Outcome:
        """Return whether the ticks are the right ones, else how many are missing and how many too many."""
        found = self._read(given)
        shown = ", ".join(str(one) for one in sorted(found))
        difference = ticks_differ(found, self.ticks)
        return Outcome("wrong", difference, shown) if difference else Outcome("right", read_as=shown)

    def is_same(self, text: str, given: object) -> bool:
        """Return whether an answer of a learner is the set of ticks in `text`."""
        return self._read(given) == self._read(text)

    def _read(self, given: object) -> frozenset[Growth]:
        parts = re.split(r"[,;]", text_of(given)) if not _is_several(given) else list(given)  # type: ignore[call-overload]
        named = [one for one in parts if not isinstance(one, str) or one.strip()]
        if not 0 < len(named) <= _MOST:
            raise Unread(f"Write 1 to {_MOST} growths with commas between, as in '1, log(p), p'.")
        parameters = tuple(sorted({name for tick in self.ticks for name in tick.parameters}))
        return frozenset(read_growth(one, parameters) for one in named)


@dataclass(frozen=True)
class GoalAnswer:
    """A state of a session, told by a goal."""

    goal: Goal

    def judge(self, given: object) -> Outcome:
        """Return whether a session has reached the goal, else what to think about."""
        session = session_in(given)
        if session is None:
            raise Unread("This exercise looks at a session: hand it over, as in check(session).")
        try:
            thought = self.goal(session)
        except DataError as error:  # the function of the goal was not measured
            raise Unread("This session is about other measurements than the exercise.") from error
        return Outcome("wrong", thought) if thought else Outcome("right")

    def is_same(self, text: str, given: object) -> bool:
        """Return False: a session is no text."""
        return False


def ticks_or_goal(answer: object) -> TicksAnswer | GoalAnswer:
    """Return the answer from growths, or from a mapping with the name of a goal and what it wants.

    Raises UsageError if it is neither.
    """
    if isinstance(answer, Mapping):
        return GoalAnswer(goal_of({str(key): value for key, value in answer.items()}))
    growths = re.split(r"[,;]", answer) if isinstance(answer, str) else answer
    if not isinstance(growths, Iterable):
        raise UsageError(f"the answer of an exercise about ticks is {answer!r:.60}; give growths, or a goal.")
    try:
        found = frozenset(Growth.parse(one) for one in growths)
    except ExpectationError as error:
        raise UsageError(f"the answer of an exercise about ticks cannot be read: {error}") from error
    if not found:
        raise UsageError("the answer of an exercise about ticks is empty; give growths, or a goal.")
    return TicksAnswer(found)


def session_in(given: Any) -> Session | None:
    """Return a session: what was given, or the one that it shows."""
    found = getattr(given, "session", given)
    return found if isinstance(found, Session) else None


def _is_several(given: object) -> bool:
    return isinstance(given, list | tuple | set | frozenset)
