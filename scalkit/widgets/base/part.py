"""A part of the explorer: markup made of the state of a session, and what its buttons and fields do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets as t

from scalkit.errors import ScalkitError
from scalkit.support.markup import block, esc
from scalkit.widgets.base.cells import CellWidget, Fallback
from scalkit.widgets.base.templates import source

if TYPE_CHECKING:
    from scalkit.session import Session

Action = Callable[[Mapping[str, str]], object]


class Pieces(Fallback, CellWidget, anywidget.AnyWidget):
    """Shows markup by name, and does what its buttons and fields ask for; what parts with and without a session share.

    `pieces`: markup by name, in the order in which it is shown; only pieces that changed are drawn anew. Set by
    `refresh`.
    `title`: heading of a part that can be folded; empty for one that is always open.
    `is_open`: whether a part with a title is unfolded.
    `problem`: why the last thing that was asked for was refused; empty if it was not.
    """

    _esm = source("base/kernel.js", "base/part.js", "base/part_main.js")
    _css = source("base/kernel.css", "base/part.css")

    pieces: t.Dict[Any, Any] = t.Dict().tag(sync=True)
    title = t.Unicode("").tag(sync=True)
    is_open = t.Bool(False).tag(sync=True)

    problem = ""

    def refresh(self) -> None:
        """Show what there is now."""
        trouble = f'<p class="trouble">⚠ {esc(self.problem)}</p>' if self.problem else ""
        self.pieces = {**self._drawn(), "problem": trouble}

    def _begin(self) -> None:
        """Show what there is, and listen to the page; the last thing that a part does while it is made."""
        self.on_msg(self._asked)
        self.show()
        self._enter_cell()

    def show(self) -> None:
        """Show what there is now."""
        self.refresh()

    def _drawn(self) -> dict[str, str]:
        """Return markup by name."""
        raise NotImplementedError

    def _fallback_html(self) -> str:
        return block(*self._drawn().values())

    def _actions(self) -> dict[str, Action]:
        """Return what the page may ask for by name; each takes the texts that came along."""
        return {}

    def _asked(self, _widget: object, content: object, _buffers: object) -> None:
        """Carry out a request of the page; a wrong one is answered with a message."""
        if not isinstance(content, Mapping):
            return
        action, values = self._actions().get(str(content.get("name"))), content.get("value")
        if action is None:
            return
        texts = {str(key): str(value) for key, value in values.items()} if isinstance(values, Mapping) else {}
        self.problem = ""
        try:
            action(texts)
        except ScalkitError as error:
            self.problem = str(error)
        if self.comm is not None:
            self.refresh()


def number_of(values: Mapping[str, str], below: int) -> int | None:
    """Return the number that came as a key, if it is below another one."""
    key = values.get("key", "")
    return int(key) if key.isascii() and key.isdigit() and len(key) < 9 and int(key) < below else None


class Part(Pieces):
    """What the parts of the explorer have in common. Each works alone, too.

    `session`: shown, and changed by its public methods only.
    `**traits`: values of the traits.
    """

    shown: ClassVar[frozenset[str]] = frozenset()
    """What of a session it shows; see `Session.observe`."""

    def __init__(self, session: Session, **traits: Any) -> None:
        super().__init__(**traits)
        self.session, self.problem = session, ""
        session.observe(self._told)
        self._begin()

    def close(self) -> None:
        """Close the widget; the session lives on."""
        self.session.unobserve(self._told)
        super().close()

    def _fallback_text(self) -> str:
        return repr(self.session)

    def _fallback_html(self) -> str:
        from scalkit.session.compare import session_html

        return session_html(self.session)

    def _told(self, changed: frozenset[str]) -> None:
        if changed & self.shown:
            self.problem = ""
            self.refresh()


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
        with self.hold_sync():
            self._have(rows)
            for k, cells in rows.items():
                setattr(self, f"row{k}", {"cells": list(cells)})
            self.n_rows = max([self.n_rows, *(k + 1 for k in rows)])
            self.order = list(rows)
            self.refresh()

    def _have(self, rows: Iterable[int]) -> None:
        """Make the traits of rows that have none yet."""
        new = {f"row{k}": t.Dict().tag(sync=True) for k in rows if not self.has_trait(f"row{k}")}
        if new:
            self.add_traits(**new)

    def _filter_by(self, kinds: Iterable[str], values: Mapping[str, str]) -> None:
        """Show the rows of one of some kinds, or all."""
        if values.get("key", "") in ("", *kinds):
            self.set_trait("filter", values.get("key", ""))

    def _sort_by(self, values: Mapping[str, str]) -> None:
        """Sort by a column: ascending first, then descending, then not at all."""
        column = values.get("key", "")
        if column in self.columns:
            before, way = self.sort
            after = _NEXT.get(way if before == column else "", "ascending")
            self.sort = [column if after else "", after]
