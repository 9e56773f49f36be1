"""Cross-function rules: where each holds, where it is violated, and from where on the models predict a violation."""

import math
from collections.abc import Mapping
from typing import Any

from scalkit.judge import RuleResult
from scalkit.judge.crossing import shown_scale
from scalkit.judge.rules import TOLERANCE
from scalkit.plots.style import METRIC_WORDS
from scalkit.session import Session
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.base.wording import state_mark

_STATES = {
    "holds": ("fine", "✓", "holds"),
    "violated": ("fix", "✗", "violated"),
    "predicted": ("warning", "≈", "predicted"),
    "unknown": ("cannot tell", "?", "cannot be checked"),
    "slower": ("warning", "≈", "in doubt"),
}


class RuleMatrix(Part):
    """A row for each rule ``left <= right``, a column for each setting, and one for what the models predict beyond.

    A cell says in word, symbol and colour whether the rule is violated there, and how many times the right side the left
    side takes; there are no such columns over several parameters. Rules are added and removed as steps of the session.
    """

    shown = frozenset({"rules", "result", "data"})
    _typed = ""

    def __init__(self, session: Session, **traits: object) -> None:
        super().__init__(session, **{"title": "Rules between functions", **traits})

    def _drawn(self) -> dict[str, str]:
        session = self.session
        results = session.result.rules
        is_one = len(session.parameters) == 1
        settings = sorted({x for one in results for (x,) in one.points.tolist()}) if is_one else []
        first = [function for function, _ in session.names][:2]
        return drawn(
            "rule_matrix.html",
            parameter=session.parameters[0],
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
    found = zip(one.points.tolist(), one.ratio.tolist(), one.violated.tolist(), strict=True)
    places = {point[0]: _cell(ratio, is_violated=is_violated) for point, ratio, is_violated in found} if settings else {}
    return {
        "rule": str(one.rule),
        "left": left,
        "right": right,
        "metric": METRIC_WORDS.get(one.metric, one.metric),
        "sentence": one.sentence,
        "status": one.status,
        "doubt": "" if one.decides or one.status == "unknown" else "⚠ does not decide",
        "beyond": _beyond(one),
        "cells": [places.get(x) for x in settings],
    }


def _cell(ratio: float, *, is_violated: bool) -> tuple[str, str]:
    """Return the state of a rule at a point, and the ratio."""
    times = "" if math.isnan(ratio) else "∞" if math.isinf(ratio) else f"{ratio:.3g}×"
    if is_violated:
        return "violated", times
    return ("slower" if ratio > 1 + TOLERANCE else "holds"), times


def _beyond(one: RuleResult) -> tuple[str, ...]:
    """Return what the models say about larger points."""
    if one.status == "unknown" or not one.has_models:
        return ("unknown",)
    if one.prediction is None:
        return ("holds",)
    return "predicted", f"from {one.prediction.parameter} = {shown_scale(one.prediction.start)}"
