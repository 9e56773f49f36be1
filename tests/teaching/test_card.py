"""The card of an exercise: answers and hints by its fields, and an answer that stays in Python."""

from __future__ import annotations

import json
from typing import Any

import ipywidgets as w
import pytest

from exercises import Exercise
from exercises.card import card

KINDS: dict[str, dict[str, Any]] = {
    "growth": {"answer": "p^(17/19)"},
    "number": {"answer": 424243, "unit": "processes"},
    "ticks": {"answer": "1, p^(17/19)"},
    "choice": {"answer": "blue", "choices": ("red", "blue")},
}
SECRETS = ("SECRET", "17/19", "424243")


def parts(shown: w.Widget) -> list[Any]:
    """Return a widget and those in it."""
    return [shown, *(inner for child in getattr(shown, "children", ()) for inner in parts(child))]


def sent(shown: w.Widget) -> str:
    """Return what the page knows."""
    values = [getattr(one, key, "") for one in parts(shown) for key in ("value", "placeholder", "description", "options")]
    return json.dumps([str(value) for value in values])


def button(shown: w.Widget, description: str) -> w.Button:
    return next(one for one in parts(shown) if isinstance(one, w.Button) and one.description == description)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_gets_neither_answer_nor_hints_to_come(kind: str) -> None:
    exercise = Exercise("What?", kind, **KINDS[kind], hints=("one", "SECRET two"), why="SECRET why")
    shown = card(exercise)
    button(shown, "Hint").click()
    assert exercise.hints == ("one",)
    assert "<li>one</li>" in sent(shown)
    assert not [secret for secret in SECRETS if secret in sent(shown)]


def test_answers_are_checked_where_they_are_typed() -> None:
    exercise = Exercise("How does `f` grow?", answer="p*log(p)", why="Because.", hints=("one",))
    shown = card(exercise)
    (field,) = (one for one in parts(shown) if isinstance(one, w.Text))
    field.value = "p"
    button(shown, "Check").click()
    assert "not yet" in sent(shown)
    field.value = "p log p"
    button(shown, "Check").click()
    assert exercise.is_solved
    assert "Because." in sent(shown)
    assert "2 attempts, 0 of 1 hints · <b>solved</b>" in sent(shown).encode().decode("unicode_escape")
    assert "<code>f</code>" in sent(shown)


def test_a_choice_that_is_not_made_is_no_attempt() -> None:
    exercise = Exercise("Which?", "choice", "blue", choices=("red", "blue"))
    shown = card(exercise)
    (field,) = (one for one in parts(shown) if isinstance(one, w.RadioButtons))
    button(shown, "Check").click()
    assert exercise.attempts == 0
    field.value = "blue"
    button(shown, "Check").click()
    assert exercise.is_solved


def test_a_check_in_a_cell_is_shown_in_the_card() -> None:
    exercise = Exercise("What?", answer="p", hints=("one",))
    shown = card(exercise)
    exercise.check("p^2")
    assert "It grows too fast for large p." in sent(shown)
    exercise.hint()
    assert button(shown, "Hint").disabled


def test_markup_of_an_exercise_is_text() -> None:
    shown = card(Exercise("<b>?</b> `<i>`", answer="p", hints=("<s>",), name="<q>"))
    assert "&lt;b&gt;?&lt;/b&gt; <code>&lt;i&gt;</code>" in sent(shown)
    assert "Exercise &lt;q&gt;" in sent(shown)


def test_a_notebook_shows_the_card_and_a_terminal_the_text() -> None:
    exercise = Exercise("What?", answer="p", name="9")
    bundle = exercise._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == repr(exercise) == "Exercise 9: What?\nAnswer with check('...'); 0 attempts."
