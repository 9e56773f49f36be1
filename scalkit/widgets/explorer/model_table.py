"""All functions in a table: what was expected, what was found, the verdict; one of them is selected."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from scalkit.support.text import counted
from scalkit.widgets.base.part import Action, Grid, Part, number_of
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.base.wording import mark
from scalkit.widgets.explorer.call_tree import CallTree

COLUMNS = ("Function", "Metric", "Values", "Expected", "Model", "Answer")

KINDS: dict[str, str] = {**{answer: f"{ANSWER_SYMBOLS[answer]} {answer}" for answer in ANSWERS}, "unjudged": "– not judged"}
"""What the table can be filtered by."""

_SEVERITY = {kind: place for place, kind in enumerate(KINDS)}
_MOST_OPEN = 24  # rows; of a larger tree of calls, branches where all is fine are folded at first

Name = tuple[str, str]


@dataclass(frozen=True)
class Entry:
    """What the table knows of a function and metric."""

    name: Name
    verdict: AnyVerdict | None
    problem: str


def kind_of(entry: Entry) -> str:
    """Return the key of an entry in `KINDS`."""
    return "unjudged" if entry.verdict is None else entry.verdict.answer


@dataclass(frozen=True)
class Place:
    """Where a function stands in the tree of calls.

    `label`: its name below its caller.
    `below`: number of functions below it.
    """

    label: str
    depth: int = 0
    below: int = 0
    is_folded: bool = False


def row_of(k: int, entry: Entry, place: Place) -> dict[str, Any]:
    """Return the cells of a row as markup; the last one may stand for several columns."""
    (function, metric), verdict = entry.name, entry.verdict
    label = esc(place.label).replace("_", "_<wbr>").replace("[", "<wbr>[").replace("-&gt;", "-&gt;<wbr>")
    head = (
        f'<button type="button" data-press="select" data-value="{k}" data-key="row{k}" title="Show {esc(function)}">'
        f"<code>{label}</code></button>"
    )
    if place.below:
        what = f"{'Unfold' if place.is_folded else 'Fold'} {counted(place.below, 'function')} below {esc(function)}"
        head += (
            f'<button type="button" class="fold" data-press="fold" data-value="{k}" data-key="fold{k}" title="{what}" '
            f'aria-label="{what}" aria-expanded="{str(not place.is_folded).lower()}">{"▸" if place.is_folded else "▾"}</button>'
        )
    if place.depth:
        head = f'<div class="below" style="margin-inline-start:{min(place.depth, 9) * 0.9:.1f}em">{head}</div>'
    word = esc(METRIC_WORDS.get(metric, metric) if verdict is None else metric_word(verdict))
    cells = [f'{head}<span class="narrow quiet">{word}</span>', word]
    if verdict is None:
        return {"cells": [*cells, f'<span class="quiet">{esc(entry.problem)}</span>']}
    return {"cells": [*cells, picture(verdict), formula(verdict.expectation.growth), formula(verdict.model), mark(verdict)]}


def ordered(entries: Sequence[Entry], column: str, is_descending: bool, kind: str) -> list[int]:
    """Return which entries are shown and in which order; those without a verdict come last where it is asked for.

    `column`: one of `COLUMNS`, or empty for the worst answer first, then the order of the data.
    `kind`: one of `KINDS`, or empty for all.
    """
    shown = [k for k, entry in enumerate(entries) if kind in ("", kind_of(entry))]
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
    "Answer": lambda entry: _SEVERITY[kind_of(entry)],
}


class ModelTable(Part, Grid):
    """One row for each function and metric, with a small picture of its values; a press on its name selects it.

    The table is a grid: arrows, Home, End, Page Up and Page Down move in it, Enter selects a row or sorts by a column.
    Functions with call paths, as ``main->solve``, stand below their callers, which + and - unfold and fold.
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
        self._made: dict[int, tuple[Entry, Place, dict[str, Any]]] = {}
        self._entries: list[Entry] = []
        self._ordered: tuple[object, object] = ("", ())
        # The worst first, as it was when the data came: no row jumps while a claim is moved.
        self._urgent: list[int] = []
        self._tree = CallTree(())
        self._folded: set[int] = set()
        words = {"label": "Functions", "none": "No function has this answer."}
        super().__init__(session, **{"columns": list(COLUMNS), **words, **traits})
        self.observe(lambda _: self._arrange(), ["sort", "filter"])

    def refresh(self) -> None:
        """Show what the session holds now."""
        session = self.session
        entries = [Entry(name, session.verdict_of(name), session.problem_of(name)) for name in session.names]
        with self.hold_sync():
            self._have(range(len(entries)))
            shown = (session.source, session.names)
            if shown != self._ordered:
                self._ordered, self._urgent = shown, ordered(entries, "", False, "")
                self._grow(entries)
            self._put_rows(entries)
            self._forget(entries)
            self._entries = entries
            self.n_rows = len(entries)
            current = session.names.index(session.selected)
            if current != self.current:
                self._folded -= set(self._tree.callers(current))
            self.current = current
            self._arrange()

    def _grow(self, entries: Sequence[Entry]) -> None:
        """Make the tree of calls of new measurements."""
        tree = self._tree = CallTree([entry.name for entry in entries])
        is_fine = [one.verdict is not None and one.verdict.answer == "fine" for one in entries]
        is_large = len(entries) > _MOST_OPEN and not tree.is_flat
        callers = [k for k in tree.below if k >= 0] if is_large else []
        self._folded = {k for k in callers if all(is_fine[one] for one in tree.within(k)[1:])}
        urgent = tree.order([self._urgent.index(k) for k in range(len(entries))])
        self._urgent = self._urgent if tree.is_flat else urgent

    def _put_rows(self, entries: Sequence[Entry]) -> None:
        for k, entry in enumerate(entries):
            setattr(self, f"row{k}", self._row(k, entry))

    def _place(self, k: int, entry: Entry) -> Place:
        if self._tree.is_flat or self.sort[0] or self.filter:  # callers may be elsewhere, or not there
            return Place(entry.name[0])
        below = len(self._tree.within(k)) - 1
        return Place(self._tree.label(k), len(self._tree.callers(k)), below, k in self._folded)

    def _fold(self, values: Mapping[str, str]) -> None:
        k = number_of(values, len(self._entries))
        if k is not None:
            self._folded ^= {k}
            self._arrange()

    def _row(self, k: int, entry: Entry) -> dict[str, Any]:
        """Return a row; the same one while nothing that it is made of has changed."""
        place, known = self._place(k, entry), self._made.get(k)
        if known is None or known[:2] != (entry, place):
            known = self._made[k] = (entry, place, row_of(k, entry, place))
        return known[2]

    def _forget(self, entries: list[Entry]) -> None:
        """Let go of rows that other measurements had."""
        self._made = {k: made for k, made in self._made.items() if k < len(entries)}
        for k in range(len(entries), self.n_rows):
            setattr(self, f"row{k}", {})

    def _arrange(self) -> None:
        with self.hold_sync():
            order = ordered(self._entries, self.sort[0], self.sort[1] == "descending", self.filter)
            if not self.sort[0]:
                place = {k: n for n, k in enumerate(self._urgent)}
                hidden = set() if self.filter else {one for k in self._folded for one in self._tree.within(k)[1:]}
                order = sorted((k for k in order if k not in hidden), key=place.__getitem__)
            if not self._tree.is_flat:
                self._put_rows(self._entries)
            self.order = order
            super().refresh()

    def _drawn(self) -> dict[str, str]:
        counts = Counter(kind_of(entry) for entry in self._entries)
        words = {key: f"{words} ({counts[key]})" for key, words in KINDS.items() if counts[key] or key == self.filter}
        n = len(self._entries)
        return drawn("parts.html", part="table", n=n, words={"": f"all ({n})", **words}, filter=self.filter)

    def _actions(self) -> dict[str, Action]:
        return {"select": self._select, "fold": self._fold, "sort": self._sort_by, "filter": partial(self._filter_by, KINDS)}

    def _select(self, values: Mapping[str, str]) -> None:
        k = number_of(values, len(self.session.names))
        if k is not None:
            self.session.select(*self.session.names[k])
