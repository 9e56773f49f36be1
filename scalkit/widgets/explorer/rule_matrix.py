"""Cross-function rules: where each holds, where it is violated, and from where on the models predict a violation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from scalkit.plots.style import METRIC_WORDS
from scalkit.session import Session
from scalkit.validation import RuleResult
from scalkit.validation.crossing import shown_scale
from scalkit.validation.rules import TOLERANCE
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.base.wording import state_mark

_STATES = {
    "holds": ("total", "✓", "holds"),
    "violated": ("none", "✗", "violated"),
    "predicted": ("approximate", "≈", "predicted"),
    "unknown": ("undecided", "?", "unknown"),
    "slower": ("approximate", "≈", "in doubt"),
}


class RuleMatrix(Part):
    """A row for each rule ``left <= right``, a column for each setting, and one for what the models predict beyond.

    A cell says in word, symbol and colour whether the rule is violated there, and how many times the right side the left
    side takes. Rules are added and removed as steps of the session.
    """

    shown = frozenset({"rules", "result", "data"})
    _typed = ""

    def __init__(self, session: Session, **traits: object) -> None:
        super().__init__(session, **{"title": "Rules between functions", **traits})

    def _drawn(self) -> dict[str, str]:
        session = self.session
        results = session.result.rules if len(session.parameters) == 1 else ()
        settings = sorted({float(x) for one in results for x in one.x})
        first = [function for function, _ in session.names][:2]
        return drawn(
            "rule_matrix.html",
            parameters=session.parameters,
            settings=settings,
            rows=[_row(one, settings) for one in results],
            states=_STATES,
            state_mark=state_mark,
            most=1 + TOLERANCE,
            typed=self._typed,
            example=f"{first[0]} <= 2*{first[-1]}",
        )

    def _actions(self) -> dict[str, Action]:
        return {"add": self._add, "remove": self._remove}

    def _add(self, values: Mapping[str, str]) -> None:
        self._typed = values.get("rule", "")
        self.session.add_rule(self._typed)
        self._typed = ""

    def _remove(self, values: Mapping[str, str]) -> None:
        # By its text: a second press that arrives late must not remove the next one.
        if (rule := values.get("key", "")) in self.session.rules:
            self.session.remove_rule(rule)


def _row(one: RuleResult, settings: list[float]) -> dict[str, Any]:
    left, _, right = str(one.rule).partition(" <= ")
    places = {float(x): float(ratio) for x, ratio in zip(one.x, one.ratio, strict=True)}
    return {
        "rule": str(one.rule),
        "left": left,
        "right": right,
        "metric": METRIC_WORDS.get(one.metric, one.metric),
        "sentence": one.sentence,
        "status": one.status,
        "doubt": "" if one.decides or one.status == "unknown" else "⚠ does not decide",
        "beyond": _beyond(one),
        "cells": [_cell(one, x, places.get(x)) for x in settings],
    }


def _cell(one: RuleResult, x: float, ratio: float | None) -> tuple[str, str] | None:
    """Return the state of a rule at a setting, and the ratio; None where it was not measured."""
    if ratio is None:
        return None
    times = "" if math.isnan(ratio) else "∞" if math.isinf(ratio) else f"{ratio:.3g}×"
    if bool(np.isin(x, one.violated_at)):
        return "violated", times
    return ("slower" if ratio > 1 + TOLERANCE else "holds"), times


def _beyond(one: RuleResult) -> tuple[str, ...]:
    """Return what the models say about larger settings."""
    if one.status == "unknown" or not one.has_models:
        return ("unknown",)
    if one.predicted_from is None:
        return ("holds",)
    return "predicted", f"from {one.parameter} = {shown_scale(one.predicted_from)}"
