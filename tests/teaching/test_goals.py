"""Goals: what a session is to be brought to, and what is said until it is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import scalkit as sk
from exercises import Exercise
from exercises.ticks import answer_is, fit_misleads, model_is, ticks_differ
from scalkit.errors import UsageError
from scalkit.measure import combine

P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> sk.Session:
    made = {"f": 5 + 1.5 * P, "g": 2 + P ** (3 / 8), "h": 2 + np.log2(P)}
    data = combine([sk.measurements(P, y, name=name) for name, y in made.items()])
    return sk.Session(data, {"f": "p", "g": {"expectation": "p", "space": "paper"}, "h": "p"})


def test_a_fit_is_made_to_mislead(session: sk.Session) -> None:
    def thought() -> str:
        return fit_misleads(session, "f", "p")

    assert thought() == "The fit still finds the growth that the data were made from. When can it not win?"
    session.exclude(128)
    assert thought() == "Move, add or remove ticks only: the measurements stay as they are."
    session.undo()
    session.expect("p^(1/2)")
    assert thought().startswith("The fit still finds")
    session.set_ticks(["1", "log(p)"])
    assert thought().startswith("The true growth is out, but the fit looks poor (adjusted R² 0.7")
    session.add_tick("p^(3/4)*log(p)")
    assert thought() == ""


def test_model_that_is_wanted(session: sk.Session) -> None:
    assert model_is(session, "f", "p") == ""
    assert model_is(session, "g", "p^(3/8)") == (
        "The best model so far grows as p^(1/2). Only ticks on the ruler compete: put more of them around it."
    )
    session.select("g").refine()
    assert model_is(session, "g", "p^(3/8)") == ""
    assert model_is(session, "g", "p^(1/2)") == (
        "The best model is p^(3/8); it beats the one that is wanted. Is anything left out, or another statistic used?"
    )


def test_answer_that_is_wanted(session: sk.Session) -> None:
    assert answer_is(session, "f", "fine") == ""
    assert answer_is(session, "f", "fix") == (
        "The answer on f is 'fine' so far. What decides it: the claim, the ruler or the data?"
    )
    claim = session.verdict_of("h").expectation.growth  # type: ignore[union-attr]
    assert answer_is(session, "h", "fine", str(claim)) == ""
    assert answer_is(session, "h", "fine", "1") == (
        f"The answer is the one that is wanted, but {claim} is expected of h. Can it be sharper?"
    )
    another = "Another function is selected, not the one that it is about."
    assert answer_is(session, "h", "fine", selected=True) == another
    assert answer_is(session.select("h"), "h", "fine", selected=True) == ""


def test_equal_ticks_need_no_words() -> None:
    assert ticks_differ(set(), set()) == ""


def test_problem_of_the_session_is_said(session: sk.Session) -> None:
    session.exclude(2, 4, 8)
    for goal in (fit_misleads, model_is):
        assert "4 of 5 needed settings" in goal(session, "f", "p")
    assert "4 of 5 needed settings" in answer_is(session, "f", "fine")


def test_session_about_something_else(session: sk.Session) -> None:
    exercise = Exercise("?", "ticks", {"goal": "model is", "function": "other", "growth": "p"})
    assert exercise.check(session).thought == "This session is about other measurements than the exercise."


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ({"goal": "eval", "text": "1"}, "there is no goal 'eval'; there are fit misleads, model is, answer is."),
        ({}, "there is no goal None; there are fit misleads, model is, answer is."),
        ({"goal": "model is", "function": "f"}, "the goal 'model is' cannot be used: missing a required argument: 'growth'."),
        (
            {"goal": "model is", "function": "f", "growth": "p", "x": 1},
            "the goal 'model is' cannot be used: got an unexpected keyword argument 'x'.",
        ),
    ],
)
def test_wrong_goals_are_refused(goal: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        Exercise("?", "ticks", goal)
    assert str(refused.value) == said
