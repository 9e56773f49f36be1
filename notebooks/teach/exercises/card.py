"""An exercise as a card in a notebook: a field for the answer, and buttons for checks and hints."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets as w

if TYPE_CHECKING:
    from exercises.exercise import Exercise

_PLACEHOLDERS = {"growth": "for example p^(1/2)*log(p)", "ticks": "growths with commas between"}
_NUMBERS = {"s": "for example 3.5 ms", "B": "for example 2.5 GB"}


def card(exercise: Exercise) -> w.VBox:
    """Return widgets that show an exercise, and follow it when a check or a hint comes from elsewhere.

    Neither the answer nor the hints to come are in them: what is right is known in Python only.
    """
    check, hint = w.Button(description="Check"), w.Button(description="Hint")
    said, hints, progress = w.HTML(), w.HTML(), w.HTML()
    field = _field(exercise)

    def answer(_event: object) -> None:
        exercise.check(None if field is None else (field.value or ""))

    def refresh() -> None:
        outcome = exercise.outcome
        said.value = f"<p>{outcome.to_html()}</p>" if outcome else ""
        items = "".join(f"<li>{_coded(text)}</li>" for text in exercise.hints)
        hints.value = f"Hints<ol>{items}</ol>" if items else ""
        hint.disabled = exercise.hints_used >= exercise.n_hints
        progress.value = f"{exercise.progress}{' · <b>solved</b>' if exercise.is_solved else ''}"

    check.on_click(answer)
    hint.on_click(lambda _event: exercise.hint())
    exercise.listeners.append(refresh)
    refresh()
    title = w.HTML(f"<b>Exercise {escape(exercise.name)}</b><p>{_coded(exercise.prompt)}</p>")
    buttons = w.HBox([check, hint, progress] if exercise.n_hints else [check, progress])
    return w.VBox([title, *([] if field is None else [field]), said, hints, buttons])


def _field(exercise: Exercise) -> Any:
    """Return the field for the answer; None where the answer is the state of a session."""
    if exercise.looks_at_session:
        return None
    if exercise.choices:
        return w.RadioButtons(options=exercise.choices, value=None, layout={"width": "max-content"})
    placeholder = _PLACEHOLDERS.get(exercise.kind, _NUMBERS.get(exercise.unit, "a number"))
    return w.Text(description="Answer", placeholder=placeholder)


def _coded(text: str) -> str:
    """Return a text as markup, with code where it has backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
