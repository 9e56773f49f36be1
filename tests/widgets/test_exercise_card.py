"""The exercise as a widget, without a page: what is sent, what is asked for, and that the answer stays in Python."""

from __future__ import annotations

import gc
import json
from typing import Any

import ipywidgets
import pytest

import scalkit as sk
from scalkit.teaching import Exercise as Headless
from scalkit.widgets.base.cells import Cells
from scalkit.widgets.exercise import ExerciseCard

Wire = list[tuple[str, str, dict[str, Any]]]

SECRETS = ["17/19", "48271", "SECRET"]
KINDS: dict[str, dict[str, Any]] = {
    "growth": {"answer": "p^(17/19)"},
    "number": {"kind": "number", "answer": 48271.0},
    "ticks": {"kind": "ticks", "answer": "1, p^(17/19)"},
    "goal": {"kind": "ticks", "answer": {"goal": "model is", "function": "SECRET", "growth": "p^(17/19)"}},
}


def press(card: ExerciseCard, name: str, **value: object) -> None:
    """Do what arrives when a button of the page is pressed."""
    content = {"name": name, "value": value}
    card._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


def sent(card: ExerciseCard, wire: Wire) -> str:
    """Return all that a front end gets to see of a card, now and so far."""
    return json.dumps([card.get_state(), wire, str(card._repr_mimebundle_()), repr(card)], default=str)


@pytest.mark.parametrize("kind", KINDS)
def test_answer_and_hints_to_come_never_leave_python(wire: Wire, kind: str) -> None:
    card = ExerciseCard("What?", **KINDS[kind], hints=("one", "SECRET two"), why="SECRET why", remarks={})
    for given in ("p", "3", "", "x(", "1, p"):
        press(card, "check", answer=given)
    press(card, "hint")
    found = sent(card, wire)
    assert "one" in found
    assert [secret for secret in SECRETS if secret in found] == []


def test_choices_look_alike_whichever_is_right(wire: Wire) -> None:
    states = []
    for right in ("red", "blue", "green"):
        card = ExerciseCard("Which?", "choice", right, choices=("red", "blue", "green"), hints=("h",), why=f"{right}!")
        states.append((card.pieces, repr(card)))
    assert states[0] == states[1] == states[2]


def test_remark_and_reason_come_with_their_answers_only(wire: Wire) -> None:
    card = ExerciseCard("What?", answer="p^(17/19)", remarks={"p": "REMARK"}, why="REASON")
    press(card, "check", answer="p^2")
    assert "REMARK" not in sent(card, wire)
    press(card, "check", answer="2*p")
    assert "REMARK" in card.pieces["said"]
    assert "REASON" not in sent(card, wire)
    press(card, "check", answer="p^(17/19)")
    assert "REASON" in card.pieces["said"]
    assert "✓" in card.pieces["said"]
    assert "solved" in card.pieces["foot"]


def test_page_and_python_count_the_same(wire: Wire) -> None:
    card = ExerciseCard("What?", answer="p*log(p)", hints=("first", "second"))
    press(card, "check", answer="p")
    assert "✗" in card.pieces["said"]
    assert "<b>not yet</b>" in card.pieces["said"]
    assert card.check("p^2").kind == "wrong"
    assert "2 attempts, 0 of 2 hints" in card.pieces["foot"]
    assert card.hint() == "first"
    press(card, "hint")
    assert card.pieces["hints"].count("<li>") == 2
    assert "disabled" in card.pieces["foot"]
    press(card, "check", answer="O(p log p)")
    assert card.exercise.is_solved
    assert "3 attempts, 2 of 2 hints" in card.pieces["foot"]


@pytest.mark.parametrize(
    "content",
    [
        None,
        "check",
        [],
        {},
        {"name": None},
        {"name": "close"},
        {"name": "check"},
        {"name": "check", "value": None},
        {"name": "check", "value": [1]},
        {"name": "check", "value": {"answer": ["p"]}},
        {"name": "check", "value": {"answer": {"goal": "x"}}},
        {"name": "check", "value": {"answer": "p" * 100_000}},
        {"name": "check", "value": {"answer": "<img src=x onerror=alert(1)>"}},
    ],
)
def test_what_a_page_should_not_send_counts_nothing(wire: Wire, content: object) -> None:
    card = ExerciseCard("What?", answer="p")
    card._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    assert card.exercise.attempts == 0
    assert "<img" not in card.pieces["said"]
    assert len(card.pieces["said"]) < 1000


def test_markup_in_texts_is_shown_letter_by_letter(wire: Wire) -> None:
    card = ExerciseCard("<b>?</b> `<i>`", "choice", "<u>", choices=("<u>", "v"), hints=("<s>",), name="<q>", why="<w>")
    card.hint()
    card.check("<u>")
    text = "".join(card.pieces.values())
    assert not [one for one in ("<b>?", "<i>", "<u>", "<s>", "<q>", "<w>") if one in text]
    assert "<code>&lt;i&gt;</code>" in card.pieces["asked"]


def test_goal_is_checked_on_the_session_that_is_shown(wire: Wire) -> None:
    session = sk.Session(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f"), {"f": "log(p)"})
    goal = {"goal": "verdict is", "function": "f", "verdict": "none"}
    card = ExerciseCard("Bring it there.", "ticks", goal, session=session)
    press(card, "check")
    assert "✗" in card.pieces["said"]
    session.expect("p^2", "p^(1/4)")
    press(card, "check", answer="ignored")
    assert "✓" in card.pieces["said"]


def test_card_without_a_front_end_prints_itself() -> None:
    card = ExerciseCard("What?", answer="p", name="9")
    bundle: Any = card._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert bundle["text/plain"] == repr(card) == "Exercise 9: What?\nAnswer with check('...'); 0 attempts."


def test_closed_cards_still_check_and_cells_run_again_leave_nothing(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalkit.widgets.base.cells._CELLS", Cells())
    runs = iter(["1", "2", "3"])
    monkeypatch.setattr("scalkit.widgets.base.cells.running_cell", lambda: ("cell", next(runs)))
    first = ExerciseCard("What?", answer="p")
    gc.collect()
    before = len(ipywidgets.widgets.widget._instances)
    second = ExerciseCard(exercise=Headless.load("01-order"))
    gc.collect()
    assert len(ipywidgets.widgets.widget._instances) == before
    assert first.comm is None
    assert first.check("p").is_right
    assert second.comm is not None
