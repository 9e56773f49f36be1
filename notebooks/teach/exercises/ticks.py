"""Answers that are a set of ticks, or a state that a learner brings a session to."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from exercises.answers import Outcome, Unread, read_growth, text_of
from scalkit.errors import DataError, ExpectationError, ScalkitError, UsageError
from scalkit.growth import Growth
from scalkit.judge import Verdict
from scalkit.session import Session

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
        is_several = isinstance(given, list | tuple | set | frozenset)
        parts = list(given) if is_several else re.split(r"[,;]", text_of(given))  # type: ignore[call-overload]
        named = [one for one in parts if not isinstance(one, str) or one.strip()]
        if not 0 < len(named) <= _MOST:
            raise Unread(f"Write 1 to {_MOST} growths with commas between, as in '1, log(p), p'.")
        parameters = tuple(sorted({name for tick in self.ticks for name in tick.parameters}))
        return frozenset(read_growth(one, parameters) for one in named)


@dataclass(frozen=True)
class GoalAnswer:
    """A state of a session that reaches a goal."""

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
        found = frozenset(Growth(one) for one in growths)
    except ExpectationError as error:
        raise UsageError(f"the answer of an exercise about ticks cannot be read: {error}") from error
    if not found:
        raise UsageError("the answer of an exercise about ticks is empty; give growths, or a goal.")
    return TicksAnswer(found)


def session_in(given: Any) -> Session | None:
    """Return a session: what was given, or the one that it shows."""
    found = getattr(given, "session", given)
    return found if isinstance(found, Session) else None


Goal = Callable[[Session], str]
"""Returns a hint; empty when the goal is reached."""


def goal_of(wanted: Mapping[str, Any]) -> Goal:
    """Return the goal of a mapping with its name under ``goal``, and with what it wants.

    Raises UsageError if there is no such goal, or it wants something else.
    """
    name, options = wanted.get("goal"), {key: value for key, value in wanted.items() if key != "goal"}
    if not isinstance(name, str) or name not in GOALS:
        raise UsageError(f"there is no goal {name!r:.60}; there are {', '.join(GOALS)}.")
    try:
        inspect.signature(GOALS[name]).bind(None, **options)
        for key in ("growth", "truth"):
            if key in options:
                Growth(options[key])
    except (TypeError, ScalkitError) as error:
        raise UsageError(f"the goal '{name}' cannot be used: {error}.") from error
    return partial(GOALS[name], **options)


def fit_misleads(session: Session, function: str, truth: str, at_least: float = 0.98) -> str:
    """Return why the fit of a function does not yet look good with a growth other than the true one.

    `truth`: the growth that the data were made from.
    `at_least`: adjusted R² that looks good.
    """
    verdict = session.verdict_of(function)
    if verdict is None:
        return session.problem_of(function)
    if session.state.excluded or session.state.judging.statistic != "q1":
        return "Move, add or remove ticks only: the measurements stay as they are."
    true = Growth(truth)
    if verdict.model.growth == true:
        return "The fit still finds the growth that the data were made from. When can it not win?"
    if str(verdict.expectation.growth) == str(true):
        return "What is expected always competes, whatever the ruler holds. Expect something else first."
    if not verdict.model.adjusted_r2 >= at_least:
        return (
            f"The true growth is out, but the fit looks poor (adjusted R² {verdict.model.adjusted_r2:.3f}). "
            "Leave a tick that comes closer to the measurements."
        )
    return ""


def model_is(session: Session, function: str, growth: str) -> str:
    """Return why the best model of a function is not yet of a growth."""
    verdict = session.verdict_of(function)
    if verdict is None:
        return session.problem_of(function)
    found, wanted = verdict.model.growth, Growth(growth)
    if found == wanted:
        return ""
    if isinstance(verdict, Verdict) and wanted not in verdict.space.ticks:
        return f"The best model so far grows as {found}. Only ticks on the ruler compete: put more of them around it."
    return f"The best model is {found}; it beats the one that is wanted. Is anything left out, or another statistic used?"


def answer_is(session: Session, function: str, answer: str, expectation: str = "", selected: bool = False) -> str:
    """Return why the answer on a function is not yet the one that is wanted, or the function not selected.

    `expectation`: what must be expected of the function; empty for anything.
    """
    known = {name for name, _ in session.names}
    if selected and session.selected[0] != function and function in known:
        return "Another function is selected, not the one that it is about."
    found = session.verdict_of(function)
    if found is None:
        return session.problem_of(function)
    if found.answer != answer:
        return f"The answer on {function} is '{found.answer}' so far. What decides it: the claim, the ruler or the data?"
    if expectation and str(found.expectation.growth) != str(Growth(expectation)):
        claim = found.expectation.growth
        return f"The answer is the one that is wanted, but {claim} is expected of {function}. Can it be sharper?"
    return ""


def ticks_differ(found: Set[Growth], wanted: Set[Growth]) -> str:
    """Return the numbers of missing and surplus ticks, in words; empty if the sets are equal."""
    missing, extra = len(wanted - found), len(found - wanted)
    parts = [f"{missing} {'is' if missing == 1 else 'are'} missing"] * bool(missing)
    parts += [f"{extra} {'does' if extra == 1 else 'do'} not belong"] * bool(extra)
    return f"Of the ticks, {' and '.join(parts)}." if parts else ""


GOALS: dict[str, Callable[..., str]] = {"fit misleads": fit_misleads, "model is": model_is, "answer is": answer_is}
