"""What differs between the verdicts of two states, and a session as notebooks show it."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import pandas as pd

from scalkit.json_values import json_fields
from scalkit.markup import block, counted, details, paragraph, table
from scalkit.session.queries import SessionView
from scalkit.validation.answer import ANSWER_SYMBOLS
from scalkit.validation.judge.judge import Outcome
from scalkit.validation.judge.measured import AnyVerdict
from scalkit.validation.told.shown import verdicts_table


@dataclass(frozen=True)
class Difference:
    """One thing that differs in the verdict on a function and metric.

    `what`: ``"expectation"``, ``"model"``, ``"verdict"`` or ``"direction"``.
    `before`, `after`: empty where there is no verdict.
    """

    function: str
    metric: str
    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.function} ({self.metric}), {self.what}: {self.before or '–'} -> {self.after or '–'}"


@dataclass(frozen=True)
class Differences:
    """What differs between two states, in the order of the data. `before`, `after`: names of the states."""

    before: str
    after: str
    items: tuple[Difference, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.items)

    def __str__(self) -> str:
        head = f"{self.before} -> {self.after}"
        return "\n".join([f"{head}:", *(f"  {one}" for one in self.items)]) if self.items else f"{head}: no verdict differs"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each difference, as a pandas DataFrame."""
        rows = [(one.function, one.metric, one.what, one.before, one.after) for one in self.items]
        return pd.DataFrame(rows, columns=["function", "metric", "what", self.before, self.after])

    def __repr__(self) -> str:
        n = len(self.items)
        return f"<Differences {self.before} -> {self.after}: {n} {'is' if n == 1 else 'are'} different>"

    def _repr_html_(self) -> str:
        if not self.items:
            return block(paragraph(self))
        rows = [
            tuple(map(escape, (one.function, one.metric, one.what, one.before or "–", one.after or "–"))) for one in self.items
        ]
        return block(table(("function", "metric", "what", self.before, self.after), rows))


def differences(before: str, first: Outcome, after: str, second: Outcome) -> Differences:
    """Return what differs in the verdicts of two outcomes of the same data."""
    names = dict.fromkeys((*first.verdicts, *second.verdicts))
    found = []
    for function, metric in names:
        one, other = (_told(outcome.verdicts.get((function, metric))) for outcome in (first, second))
        for what in dict.fromkeys((*one, *other)):
            if one.get(what) != other.get(what):
                found.append(Difference(function, metric, what, one.get(what, ""), other.get(what, "")))
    return Differences(before, after, tuple(found))


def _told(verdict: AnyVerdict | None) -> dict[str, str]:
    if verdict is None:
        return {}
    return {"expectation": str(verdict.expectation.growth), **json_fields(verdict, "model answer direction")}


def session_html(session: SessionView) -> str:
    """Return what is selected in a session and what its steps are; all verdicts are folded."""
    function, metric = session.selected
    verdict, result = session.verdict, session.result
    said = f"{ANSWER_SYMBOLS[verdict.answer]} {verdict.sentence}" if verdict else session.problem
    steps = "".join(f"<li>{escape(name)}</li>" for name in session.history)
    return block(
        f"<p><b>{escape(str(session.source))}</b>: {escape(result.headline)}</p>",
        paragraph(f"{function} ({metric}): {said}"),
        details(counted(len(result), "verdict"), verdicts_table(result.verdicts)),
        details(counted(len(session.history), "step"), f"<ol>{steps}</ol>" if steps else ""),
    )
