"""Cross-function rules: where each holds, where it is violated, and from where on the models predict a violation."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from scalkit.markup import esc
from scalkit.plots.style import METRIC_WORDS
from scalkit.session import Session
from scalkit.validation import RuleResult
from scalkit.validation.crossing import shown_scale
from scalkit.validation.rules import TOLERANCE
from scalkit.widgets.base.part import Action, Part
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

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"rules", "result", "data"})
    _typed = ""

    def __init__(self, session: Session, **traits: object) -> None:
        super().__init__(session, **{"title": "Rules between functions", **traits})

    def _drawn(self) -> dict[str, str]:
        session = self.session
        if len(session.parameters) > 1:
            names = ", ".join(session.parameters)
            return {"table": f'<p class="quiet">Rules are for one parameter; these data are over {esc(names)}.</p>'}
        results = session.result.rules
        return {"table": self._table(results), "form": self._form()}

    def _form(self) -> str:
        first = [function for function, _ in self.session.names][:2]
        example = " <= ".join([first[0], f"2*{first[-1]}"])
        return (
            '<form data-submit="add"><label>New rule <input name="rule" class="wide" data-key="rule" '
            f'value="{esc(self._typed)}" placeholder="{esc(example)}" autocomplete="off" spellcheck="false"></label>'
            '<button type="submit" title="Judge this rule too (Enter)">+ Add rule</button></form>'
        )

    def _table(self, results: tuple[RuleResult, ...]) -> str:
        if not results:
            return (
                '<p class="quiet">There is no rule yet. A rule says that one side never takes more than the other.</p>'
            )
        settings = sorted({float(x) for one in results for x in one.x})
        name = esc(self.session.parameters[0])
        heads = "".join(f'<th scope="col">{name} = {x:g}</th>' for x in settings)
        rows = "".join(self._row(one, settings) for one in results)
        return (
            '<div class="scroll" tabindex="0" role="region" aria-label="Rules"><table><thead><tr>'
            f'<th scope="col">Rule</th><th scope="col">Verdict</th><th scope="col">Models beyond</th>{heads}'
            f'<th scope="col"><span class="hidden">Remove</span></th></tr></thead><tbody>{rows}</tbody></table></div>'
            f'<p class="quiet">A number is how many times the right side the left side takes. Violated: more than '
            f"{1 + TOLERANCE:g} times, in every run; in doubt: not in every run.</p>"
        )

    def _row(self, one: RuleResult, settings: list[float]) -> str:
        left, _, right = str(one.rule).partition(" <= ")
        metric = METRIC_WORDS.get(one.metric, one.metric)
        doubt = "" if one.decides or one.status == "unknown" else "⚠ does not decide"
        places = {float(x): float(ratio) for x, ratio in zip(one.x, one.ratio, strict=True)}
        cells = "".join(f"<td>{_cell(one, x, places.get(x))}</td>" for x in settings)
        return (
            f'<tr><th scope="row" class="rule"><code>{esc(left)}</code> ≤ <code>{esc(right)}</code>'
            f'<details data-key="rule {esc(one.rule)}"><summary>{esc(metric)}</summary><p>{esc(one.sentence)}</p></details></th>'
            f"<td>{_mark(one.status, doubt)}</td><td>{_beyond(one)}</td>{cells}"
            f'<td><button type="button" data-press="remove" data-value="{esc(one.rule)}" data-key="remove {esc(one.rule)}" '
            f'title="Judge this rule no longer" aria-label="Remove {esc(one.rule)}">✕ Remove</button></td></tr>'
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


def _mark(state: str, more: str = "") -> str:
    rank, symbol, word = _STATES[state]
    return state_mark(rank, symbol, word, more)


def _cell(one: RuleResult, x: float, ratio: float | None) -> str:
    """Return the state of a rule at a setting."""
    if ratio is None:
        return '<span class="quiet">not measured</span>'
    times = "" if math.isnan(ratio) else "∞" if math.isinf(ratio) else f"{ratio:.3g}×"
    if bool(np.isin(x, one.violated_at)):
        return _mark("violated", times)
    return _mark("slower" if ratio > 1 + TOLERANCE else "holds", times)


def _beyond(one: RuleResult) -> str:
    """Return what the models say about larger settings."""
    if one.status == "unknown" or not one.has_models:
        return _mark("unknown")
    if one.predicted_from is None:
        return _mark("holds")
    return _mark("predicted", f"from {one.parameter} = {shown_scale(one.predicted_from)}")
