"""All functions in a table: what was expected, what was found, the verdict; one of them is selected."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import traitlets as t

from scalkit.growth import Growth
from scalkit.judge import AnyVerdict
from scalkit.judge.answer import ANSWER_SYMBOLS, ANSWERS
from scalkit.judge.told.picture import picture
from scalkit.plots.style import METRIC_WORDS, metric_word
from scalkit.session import Session
from scalkit.support.markup import esc, formula
from scalkit.widgets.base.part import Action, Grid, Part, number_of
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.base.wording import mark

COLUMNS = ("Function", "Metric", "Values", "Expected", "Model", "Answer")

KINDS: dict[str, str] = {**{answer: f"{ANSWER_SYMBOLS[answer]} {answer}" for answer in ANSWERS}, "unjudged": "– not judged"}
"""What the table can be filtered by."""

_SEVERITY = {kind: place for place, kind in enumerate(KINDS)}

Name = tuple[str, str]


@dataclass(frozen=True)
class Entry:
    """What the table knows of a function and metric."""

    name: Name
    verdict: AnyVerdict | None
    problem: str

    @property
    def kind(self) -> str:
        """Key in `KINDS`."""
        return "unjudged" if self.verdict is None else self.verdict.answer


@lru_cache(1024)
def row_of(k: int, entry: Entry) -> list[str]:
    """Return the cells of a row as markup; the last one may stand for several columns."""
    (function, metric), verdict = entry.name, entry.verdict
    label = esc(function).replace("_", "_<wbr>").replace("[", "<wbr>[").replace("-&gt;", "-&gt;<wbr>")
    head = (
        f'<button type="button" data-press="select" data-value="{k}" data-key="row{k}" title="Show {esc(function)}">'
        f"<code>{label}</code></button>"
    )
    word = esc(METRIC_WORDS.get(metric, metric) if verdict is None else metric_word(verdict))
    cells = [f'{head}<span class="narrow quiet">{word}</span>', word]
    if verdict is None:
        return [*cells, f'<span class="quiet">{esc(entry.problem)}</span>']
    return [*cells, picture(verdict), formula(verdict.expectation.growth), formula(verdict.model), mark(verdict)]


def ordered(entries: Sequence[Entry], column: str, is_descending: bool, kind: str) -> list[int]:
    """Return which entries are shown and in which order; those without a verdict come last where it is asked for.

    `column`: one of `COLUMNS`, or empty for the worst answer first, then the order of the data.
    `kind`: one of `KINDS`, or empty for all.
    """
    shown = [k for k, entry in enumerate(entries) if kind in ("", entry.kind)]
    if column not in COLUMNS:
        return sorted(shown, key=lambda k: _urgency(entries[k]))
    key = _KEYS[column]
    with_value = [k for k in shown if column in ("Function", "Metric", "Answer") or entries[k].verdict is not None]
    found = sorted(with_value, key=lambda k: key(entries[k]), reverse=is_descending)
    return [*found, *(k for k in shown if k not in set(found))]


def _urgency(entry: Entry) -> tuple[int, float]:
    """Return by what entries are sorted unless told otherwise: fix, cannot tell, no verdict, fine; the largest excess first."""
    if entry.verdict is None:
        return 1, 1.0
    answer = entry.verdict.answer
    return 2 * ANSWERS.index(answer) - (answer == "cannot tell"), -entry.verdict.evidence.excess if answer == "fix" else 0.0


def _growth(growth: object) -> tuple[int, Any]:
    """Return by what growths are sorted: exactly, by how fast they grow; sums over several parameters by their text."""
    return (0, growth) if isinstance(growth, Growth) else (1, str(growth))


def _gain(entry: Entry) -> float:
    """Return how many times the first value the last one is."""
    assert entry.verdict is not None
    y = np.asarray(entry.verdict.series.y, dtype=float)
    return float(y[-1] / y[0]) if len(y) and y[0] else 0.0


_KEYS: dict[str, Callable[[Entry], Any]] = {
    "Function": lambda entry: entry.name[0].casefold(),
    "Metric": lambda entry: METRIC_WORDS.get(entry.name[1], entry.name[1]),
    "Values": _gain,
    "Expected": lambda entry: _growth(entry.verdict.expectation.growth) if entry.verdict else (2, ""),
    "Model": lambda entry: _growth(entry.verdict.model.growth) if entry.verdict else (2, ""),
    "Answer": lambda entry: _SEVERITY[entry.kind],
}


class ModelTable(Part, Grid):
    """One row for each function and metric, with a small picture of its values; a press on its name selects it.

    The table is a grid: arrows, Home, End, Page Up and Page Down move in it, Enter selects a row or sorts by a column.
    Each row is a trait of its own, ``row0`` and so on, so that a change sends only the rows that it changes.

    Attributes
    ----------
    sort : list of two str
        A column and ``"ascending"`` or ``"descending"``; empty texts for the worst answer first.
    filter : str
        Only rows with this answer, ``"fix"``, ``"cannot tell"`` or ``"fine"``, or ``"unjudged"`` ones; empty for all.
    order : list of int
        The rows that are shown, in their order.
    current : int
        The row that is selected.
    n_rows : int
    """

    shown = frozenset({"selected", "result", "expectation", "data"})

    filter = t.Enum(["", *KINDS], default_value="").tag(sync=True)

    def __init__(self, session: Session, **traits: Any) -> None:
        self._entries: list[Entry] = []
        self._ordered: tuple[object, object] = ("", ())
        # The worst first, as it was when the data came: no row jumps while a claim is moved.
        self._urgent: list[int] = []
        words = {"label": "Functions", "none": "No function has this answer."}
        super().__init__(session, **{"columns": list(COLUMNS), **words, **traits})
        self.observe(lambda _: self.show(), ["sort", "filter"])

    def show(self) -> None:
        """Show what the session holds now."""
        session = self.session
        entries = self._entries = [Entry(name, session.verdict_of(name), session.problem_of(name)) for name in session.names]
        if self._ordered != (session.source, session.names):
            self._ordered = session.source, session.names
            self._urgent = ordered(entries, "", False, "")
        order = ordered(entries, self.sort[0], self.sort[1] == "descending", self.filter)
        if not self.sort[0]:
            order.sort(key=self._urgent.index)
        with self.hold_sync():
            self.current = session.names.index(session.selected)
            self._put({k: row_of(k, entries[k]) for k in order})

    def _told(self, changed: frozenset[str]) -> None:
        if changed & self.shown:
            self.problem = ""
            self.show()

    def _drawn(self) -> dict[str, str]:
        counts = Counter(entry.kind for entry in self._entries)
        words = {key: f"{words} ({counts[key]})" for key, words in KINDS.items() if counts[key] or key == self.filter}
        n = len(self._entries)
        return drawn("parts.html", part="table", n=n, words={"": f"all ({n})", **words}, filter=self.filter)

    def _actions(self) -> dict[str, Action]:
        return {"select": self._select, "sort": self._sort_by, "filter": partial(self._filter_by, KINDS)}

    def _select(self, values: Mapping[str, str]) -> None:
        k = number_of(values, len(self.session.names))
        if k is not None:
            self.session.select(*self.session.names[k])
