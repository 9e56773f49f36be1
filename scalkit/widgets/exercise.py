"""An exercise in a notebook: what is asked, a field for the answer, hints one by one, and what a check says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anywidget
import traitlets as t
from markupsafe import Markup

from scalkit.markup import esc
from scalkit.teaching import Exercise as Headless
from scalkit.teaching import Outcome
from scalkit.teaching.answers import MAX_LENGTH
from scalkit.widgets.base.cells import CellWidget
from scalkit.widgets.base.templates import drawn, source

_PLACEHOLDERS = {"growth": "for example p^(1/2)*log(p)", "ticks": "growths with commas between"}
_NUMBERS = {"s": "for example 3.5 ms", "B": "for example 2.5 GB"}


class ExerciseCard(CellWidget, anywidget.AnyWidget):
    """An exercise that checks itself. Where widgets are not shown, it prints itself, and `check` and `hint` do the same.

    `prompt`: what is asked; what stands in backticks is shown as code.
    `session`: what is looked at, where the answer is a state of a session.
    `exercise`: in place of all others.
    `**options`: as of `scalkit.teaching.Exercise`, such as ``hints=("Count the rounds.",)``.
    `pieces`: markup by name. It holds what was asked for so far, and neither the answer nor the hints to come.
    Raises UsageError if the exercise cannot be made of what was given.
    """

    _esm = source("base/kernel.js", "exercise.js")
    _css = source("base/kernel.css", "base/part.css", "exercise.css")

    pieces: t.Dict[Any, Any] = t.Dict().tag(sync=True)

    def __init__(
        self,
        prompt: str = "",
        kind: str = "growth",
        answer: object = None,
        *,
        session: Any = None,
        exercise: Headless | None = None,
        **options: Any,
    ) -> None:
        made = exercise or Headless(prompt, kind, answer, session=session, **options)
        super().__init__()
        self.exercise = made
        self.on_msg(self._asked)
        self._refresh()
        self._enter_cell()

    @classmethod
    def load(cls, name: str, *, session: Any = None) -> ExerciseCard:
        """Return an exercise that comes with scalkit, for example ``"01-order"``.

        Raises UsageError if there is none of that name.
        """
        return cls(exercise=Headless.load(name, session=session))

    def check(self, given: object = None) -> Outcome:
        """Return what an answer is worth, and show it; see `scalkit.teaching.Exercise.check`."""
        found = self.exercise.check(given)
        self._refresh()
        return found

    def hint(self) -> str:
        """Return the next hint, and show it."""
        found = self.exercise.hint()
        self._refresh()
        return found

    def __repr__(self) -> str:
        return repr(self.exercise) if hasattr(self, "exercise") else "Exercise()"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        found = super()._repr_mimebundle_(**options)
        bundle = found[0] if isinstance(found, tuple) else found
        if bundle is not None:
            bundle["text/plain"] = repr(self)
        return found

    def _refresh(self) -> None:
        if self.comm is not None:
            self.pieces = _pieces(self.exercise)

    def _asked(self, _widget: object, content: object, _buffers: object) -> None:
        """Carry out a request of the page."""
        if not isinstance(content, Mapping):
            return
        name, value = content.get("name"), content.get("value")
        if name == "check":
            self.check(None if self.exercise.looks_at_session else _typed(value))
        elif name == "hint":
            self.hint()


Exercise = ExerciseCard


def _typed(value: object) -> str:
    found = value.get("answer", "") if isinstance(value, Mapping) else ""
    return found if isinstance(found, str) else ""


def _pieces(exercise: Headless) -> dict[str, str]:
    """Return the markup: what is asked, the field, what a check said, the hints that were asked for, a button for more."""
    outcome = exercise.outcome
    if outcome is not None and exercise.choices:
        outcome = replace(outcome, read_as="")  # the choice is marked already
    hint = _PLACEHOLDERS.get(exercise.kind, _NUMBERS.get(exercise.unit, "a number"))
    values = {"exercise": exercise, "outcome": outcome, "hint": hint, "most": MAX_LENGTH, "coded": _coded}
    return drawn("exercise.html", **values)


def _coded(text: str) -> Markup:
    """Return a text as markup, what stands in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(text)))
