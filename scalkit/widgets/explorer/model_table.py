"""All functions in a table: what was expected, what was found, the verdict; one of them is selected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import traitlets as t

from scalkit.session import Session
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.source import source
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.explorer.model_rows import COLUMNS, KINDS, Entry, kind_of, ordered, row_of, seen_in_row

Name = tuple[str, str]

_NEXT = {"": "ascending", "ascending": "descending", "descending": ""}


class ModelTable(Part):
    """One row for each function and metric, with a small picture of its values; a press on its name selects it.

    The table is a grid: arrows, Home, End, Page Up and Page Down move in it, Enter selects a row or sorts by a column.
    Each row is a trait of its own, ``row0`` and so on, so that a change sends only the rows that it changes.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits below.

    Attributes
    ----------
    sort : list of two str
        A column and ``"ascending"`` or ``"descending"``; empty texts for the worst answer first.
    filter : str
        Only rows of this verdict: ``"total"``, ``"approximate"``, ``"none"``, ``"slower"``, ``"undecided"`` or ``"unjudged"``;
        empty for all.
    order : list of int
        The rows that are shown, in their order.
    current : int
        The row that is selected.
    n_rows : int
    """

    _esm = source("base/kernel.js", "base/part.js", "base/table.js")

    shown = frozenset({"selected", "result", "expectation", "data"})

    columns: t.List[Any] = t.List(list(COLUMNS)).tag(sync=True)
    sort: t.List[Any] = t.List(t.Unicode(), default_value=["", ""], minlen=2, maxlen=2).tag(sync=True)
    filter = t.Enum(["", *KINDS], default_value="").tag(sync=True)
    order: t.List[Any] = t.List(t.Int()).tag(sync=True)
    current = t.Int(-1).tag(sync=True)
    n_rows = t.Int(0).tag(sync=True)

    def __init__(self, session: Session, **traits: Any) -> None:
        self._made: dict[tuple[int, Name], tuple[Entry, tuple[object, ...], dict[str, Any]]] = {}
        self._entries: list[Entry] = []
        self._ordered: tuple[object, object] = ("", ())
        self._urgent: list[
            int
        ] = []  # the worst first, as it was when the data came: no row jumps while a claim is moved
        super().__init__(session, **traits)
        self.observe(lambda _: self._arrange(), ["sort", "filter"])

    def refresh(self) -> None:
        """Show what the session holds now."""
        session = self.session
        entries = [Entry(name, session.verdict_of(name), session.problem_of(name)) for name in session.names]
        new = {f"row{k}": t.Dict().tag(sync=True) for k in range(len(entries)) if not self.has_trait(f"row{k}")}
        with self.hold_sync():
            if new:
                self.add_traits(**new)
            for k, entry in enumerate(entries):
                row = self._row(k, entry)
                if getattr(self, f"row{k}") is not row:
                    setattr(self, f"row{k}", row)
            self._forget(entries)
            shown = (session.source, session.names)
            if shown != self._ordered:
                self._ordered, self._urgent = shown, ordered(entries, "", False, "")
            self._entries = entries
            self.n_rows = len(entries)
            self.current = session.names.index(session.selected)
            self._arrange()

    def _row(self, k: int, entry: Entry) -> dict[str, Any]:
        """Return a row; the same one while nothing that is seen in it has changed."""
        before, seen, row = self._made.get((k, entry.name), (None, None, {}))
        if before is None or before.verdict is not entry.verdict or before.problem != entry.problem:
            now = seen_in_row(entry)
            if now != seen:
                row = row_of(k, entry)
            self._made[k, entry.name] = (entry, now, row)
        return row

    def _forget(self, entries: list[Entry]) -> None:
        """Let go of rows that other measurements had."""
        there = {(k, entry.name) for k, entry in enumerate(entries)}
        self._made = {key: made for key, made in self._made.items() if key in there}
        for k in range(len(entries), self.n_rows):
            setattr(self, f"row{k}", {})

    def _arrange(self) -> None:
        with self.hold_sync():
            order = ordered(self._entries, self.sort[0], self.sort[1] == "descending", self.filter)
            self.order = order if self.sort[0] else sorted(order, key=self._urgent.index)
            super().refresh()

    def _drawn(self) -> dict[str, str]:
        counts = Counter(kind_of(entry) for entry in self._entries)
        words = {key: f"{words} ({counts[key]})" for key, words in KINDS.items() if counts[key] or key == self.filter}
        n = len(self._entries)
        return drawn("parts.html", part="table", n=n, words={"": f"all ({n})", **words}, filter=self.filter)

    def _actions(self) -> dict[str, Action]:
        return {"select": self._select, "sort": self._sort, "filter": self._filter}

    def _select(self, values: Mapping[str, str]) -> None:
        names, k = self.session.names, values.get("key", "")
        if k.isdecimal() and int(k) < len(names):
            self.session.select(*names[int(k)])

    def _sort(self, values: Mapping[str, str]) -> None:
        column = values.get("key", "")
        if column in COLUMNS:
            way = _NEXT.get(self.sort[1], "ascending") if self.sort[0] == column else "ascending"
            self.sort = [column, way] if way else ["", ""]

    def _filter(self, values: Mapping[str, str]) -> None:
        if values.get("key", "") in ("", *KINDS):
            self.filter = values.get("key", "")
