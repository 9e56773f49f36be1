"""What a session expects as a TOML file, which the commands and `scalkit.validate` take."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError, ExpectationError
from scalkit.judge import Expected, SearchSpace
from scalkit.judge.measured import Rulers
from scalkit.judge.names import Name
from scalkit.judge.several.expectation import SeveralExpectation, SeveralSpace
from scalkit.session.code import expectation_entry
from scalkit.session.plain import plain_set
from scalkit.session.rulers import growths_expected
from scalkit.support.files import whole_file
from scalkit.support.toml.writer import to_toml

if TYPE_CHECKING:
    from scalkit.session.session import Session


def expectations_toml(session: Session) -> str:
    """Return the expectations, the ticks moved by hand and the rules of a session as a file of expectations.

    Raises ExpectationError if nothing is expected.
    """
    judge, state = session._judge, session.state
    functions = dict(judge.expected.functions)
    for name in judge.names:
        key = judge.key_of(name)
        own = state.rulers.get(key, {})
        if (own or key in state.expectations) and (now := judge.expected_of(name, state)) is not None:
            functions[key] = _ruled(session, name, now, own) if own else now
    measured = {judge.key_of(name) for name in judge.names}
    for key, one in state.expectations.items():
        if key not in measured:
            functions[key] = Expected(one, functions[key].space if key in functions else "around")
    if not functions:
        raise ExpectationError("the session expects nothing yet; expect something of a function first.")
    plain = plain_set(replace(judge.expected, functions=functions, rules=state.rules))
    content: dict[str, Any] = {"litmus": plain["litmus"]} if plain["litmus"] else {}
    content |= {"rules": plain["rules"]} if plain["rules"] else {}
    content |= {"expectations": {name: expectation_entry(one) for name, one in plain["functions"].items()}}
    return to_toml(content)


def write_expectations(session: Session, path: str | os.PathLike[str]) -> None:
    """Write `expectations_toml` to a file; an existing one is replaced. Raises DataError if it cannot be written."""
    text = expectations_toml(session)
    with whole_file(path, DataError, what=f"the expectations '{os.fspath(path)}'") as part:
        part.write_text(text, encoding="utf-8")


def _ruled(session: Session, name: Name, now: Expected, rulers: Rulers) -> Expected:
    """Return the expectation of a function with the rulers that were moved by hand, in terms of the data's parameters."""
    judge, state = session._judge, session.state
    given, key = judge.given(name, state), judge.key_of(name)
    tasks = (judge.task_of(one, state) for one in judge.names if judge.key_of(one) == key)
    competing = next((growths_expected(task.expectation) for task in tasks if task), growths_expected(given))
    ticks = {name: tuple(sorted({*rulers[name], growth})) for name, growth in competing.items() if name in rulers}
    if isinstance(given, SeveralExpectation):
        # A deviation for each parameter makes it one over all of them, also where it names only one.
        allowed = {name: one.deviation for name, one in given.along.items()}
        every = SeveralExpectation(given.growth, allowed, given.parameters)
        return Expected(every, SeveralSpace("around", tuple(tick for one in ticks.values() for tick in one)))
    (parameter,) = ticks
    return Expected(given or now.expectation, SearchSpace.of(ticks[parameter], "by hand", parameter))
