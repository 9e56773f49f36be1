"""The exercise's script in a bare page: typing, keys, hints, and nothing to find for those who look into the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from scalkit.widgets.exercise import ExerciseCard

pytestmark = pytest.mark.browser

Show = Callable[..., Any]
CHOICES = ("total: as expected", "none, grows slower: a long choice that does not fit into one line of a telephone", "`p`")


@pytest.fixture
def order() -> ExerciseCard:
    return ExerciseCard("How does `f` grow?", answer="p^(17/19)", hints=("one", "SECRET two"), why="SECRET why", name="01-order")


def follow(page: Any, card: ExerciseCard) -> None:
    """Do in Python what the page asked for last, and show the result."""
    asked = page.evaluate("sent.at(-1)")
    card._handle_msg({"content": {"data": {"method": "custom", "content": asked}}, "buffers": []})
    page.evaluate("(pieces) => model.set('pieces', pieces)", card.pieces)


def test_keyboard_alone(show: Show, order: ExerciseCard) -> None:
    page = show(order)
    page.keyboard.press("Tab")
    page.keyboard.type("p^2")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [{"name": "check", "value": {"answer": "p^2"}}]
    follow(page, order)
    assert page.locator(".said").text_content() == "✗ not yet (read as p2): It grows too fast for large p."
    assert page.evaluate("document.activeElement.name") == "answer"
    assert page.input_value("input") == "p^2"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    for text in ("one", "SECRET two"):
        page.keyboard.press("Enter")
        assert page.evaluate("sent.at(-1)") == {"name": "hint", "value": {}}
        follow(page, order)
        assert text in page.locator(".hints").inner_text()
    assert page.get_by_role("button", name="Next hint").is_disabled()
    assert page.evaluate("document.activeElement.name") == "answer", "where the hints end the focus is not lost"
    page.keyboard.press("Control+a")
    page.keyboard.type("p^(17/19) + 4")
    page.keyboard.press("Enter")
    follow(page, order)
    assert page.locator(".said").inner_text().startswith("✓ right")
    assert "solved" in page.locator(".foot").inner_text()


def test_choice_by_keyboard(show: Show) -> None:
    card = ExerciseCard("Which?", "choice", CHOICES[1], choices=CHOICES)
    page = show(card)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [{"name": "check", "value": {"answer": "2"}}]
    follow(page, card)
    assert page.locator(".said").inner_text() == "✓ right."
    assert page.locator("input:checked").get_attribute("value") == "2"


def test_keys_stay_in_the_card_and_shortcuts_away(show: Show, order: ExerciseCard) -> None:
    page = show(order)
    page.evaluate("() => { window.keys = 0; document.body.addEventListener('keydown', () => { window.keys++; }); }")
    page.fill("input", "x")
    page.keyboard.press("a")
    assert page.evaluate("keys") == 0
    left = "() => [...document.querySelectorAll('input, button')].filter((e) => e.dataset.lmSuppressShortcuts !== 'true').length"
    assert page.evaluate(left) == 0


def test_page_holds_neither_answer_nor_hints_to_come(show: Show, order: ExerciseCard) -> None:
    page = show(order)
    for text in ("p", "p^2", "nonsense("):
        page.fill("input", text)
        page.keyboard.press("Enter")
        follow(page, order)
    page.get_by_role("button", name="Hint").click()
    follow(page, order)
    found = page.content() + json.dumps(page.evaluate("[state, sent, log]"))
    assert "one" in found
    assert [secret for secret in ("17/19", "SECRET") if secret in found] == []


def test_what_is_typed_is_no_markup(show: Show, order: ExerciseCard) -> None:
    page = show(order)
    page.fill("input", "<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    follow(page, order)
    assert "<img src=x onerror=alert(1)>" in page.locator(".said").inner_text()
    assert page.locator("#el img").count() == 0


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 1000), ("light", 360), ("dark", 360)])
def test_axe_finds_nothing(show: Show, axe: Callable[[Any], list[Any]], order: ExerciseCard, theme: str, width: int) -> None:
    order.check("p")
    order.hint()
    choice = ExerciseCard("Which?", "choice", CHOICES[1], choices=CHOICES, name="02", hints=("h",))
    choice.check("2")
    order.pieces = {f"{k} {name}": text for k, card in enumerate((order, choice)) for name, text in card.pieces.items()}
    page = show(order, theme=theme, scheme=theme, width=width)
    assert axe(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_lost_kernel_is_said(show: Show, order: ExerciseCard) -> None:
    page = show(order)
    said = "() => getComputedStyle(document.querySelector('.foot'), '::after').content"
    assert page.evaluate(said) == "none"
    page.evaluate("() => document.querySelector('.sk-exercise').classList.add('jupyter-widgets-disconnected')")
    assert "Python does not listen any more" in page.evaluate(said)


def test_end_of_the_view_leaves_no_listener(show: Show, order: ExerciseCard) -> None:
    page = show(order)
    assert page.evaluate("listeners()") == 1
    page.evaluate("stop()")
    page.get_by_role("button", name="Hint").click()
    assert page.evaluate("[listeners(), sent.length]") == [0, 0]
