"""A table whose rows are drawn one by one: a grid that is sorted by its columns and that keys move in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets as t

from scalkit.widgets.base.part import Pieces
from scalkit.widgets.base.source import source

_NEXT = {"": "ascending", "ascending": "descending", "descending": ""}


class Grid(Pieces):
    """Markup above a table; each row is a trait of its own, so only rows that changed are drawn anew.

    `columns`, `label`, `none`: heads; what the table is, for screen readers; what is said where it has no row.
    `sort`: a column and ``"ascending"`` or ``"descending"``; empty texts for the usual order. May be observed.
    `order`: the rows that are shown.
    `current`: the row that is selected.
    """

    _esm = source("base/kernel.js", "base/part.js", "base/table.js")

    columns: t.List[Any] = t.List(t.Unicode()).tag(sync=True)
    label = t.Unicode("").tag(sync=True)
    none = t.Unicode("").tag(sync=True)
    sort: t.List[Any] = t.List(t.Unicode(), default_value=["", ""], minlen=2, maxlen=2).tag(sync=True)
    order: t.List[Any] = t.List(t.Int()).tag(sync=True)
    current = t.Int(-1).tag(sync=True)
    n_rows = t.Int(0).tag(sync=True)

    def _put(self, rows: Mapping[int, Sequence[str]]) -> None:
        """Show these rows in their order: the markup of the cells by the number of the row."""
        new = {f"row{k}": t.Dict().tag(sync=True) for k in rows if not self.has_trait(f"row{k}")}
        with self.hold_sync():
            if new:
                self.add_traits(**new)
            for k, cells in rows.items():
                setattr(self, f"row{k}", {"cells": list(cells)})
            self.n_rows = max([self.n_rows, *(k + 1 for k in rows)])
            self.order = list(rows)
            self.refresh()

    def _sort_by(self, values: Mapping[str, str]) -> None:
        """Sort by a column: ascending first, then descending, then not at all."""
        column = values.get("key", "")
        if column in self.columns:
            before, way = self.sort
            after = _NEXT[way if before == column else ""]
            self.sort = [column if after else "", after]
