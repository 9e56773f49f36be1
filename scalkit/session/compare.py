"""What differs between the verdicts of two states."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import pandas as pd

from scalkit.markup import block, paragraph, table
from scalkit.validation.judge.choices import AnyVerdict
from scalkit.validation.judge.judge import Outcome


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
    """What differs between two states, in the order of the data.

    `before`, `after`: names of the states.
    """

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
    return {
        "expectation": str(verdict.expectation.growth),
        "model": str(verdict.model),
        "verdict": verdict.verdict,
        "direction": verdict.direction,
    }
