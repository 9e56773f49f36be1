"""Closes the widgets that a cell showed before it was run again; otherwise they would live as long as the kernel."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import ipywidgets

from scalkit.widgets.base.plot_runtime import PlotRuntime

_IS_PART: ContextVar[bool] = ContextVar("is_part", default=False)


class CellWidget:
    """A widget that is closed, with all that it consists of, when the cell that made it is run again.

    A class that derives from it, and after it from a widget, calls `_enter_cell` in the end of its ``__init__``. What is made
    inside of `in_one_piece` belongs to another widget, and is closed with that.
    """

    def _enter_cell(self) -> None:
        if not _IS_PART.get():
            _CELLS.enter(*running_cell(), self)

    def close(self) -> None:
        """Close the widget with its layout and its parts."""
        _CELLS.leave(self)
        widget: Any = super()
        if getattr(self, "comm", None) is not None:
            close_tree(self)
        widget.close()


@contextmanager
def in_one_piece() -> Iterator[None]:
    """Let the widgets that are made inside be parts of one that is made around them."""
    token = _IS_PART.set(True)
    try:
        yield
    finally:
        _IS_PART.reset(token)


class Cells:
    """Which widgets the present run of each cell showed."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[str, list[Any]]] = {}

    def enter(self, cell: str, run: str, widget: Any) -> None:
        """Note a widget of a run of a cell, and close those of its earlier runs; several of one run live together."""
        if not cell:
            return
        before, widgets = self._runs.get(cell, (run, []))
        if before != run:
            for old in widgets:
                old.close()
            widgets = []
        self._runs[cell] = (run, [*widgets, widget])

    def leave(self, widget: Any) -> None:
        """Forget a widget that was closed."""
        for cell, (run, widgets) in tuple(self._runs.items()):
            left = [one for one in widgets if one is not widget]
            if left:
                self._runs[cell] = (run, left)
            else:
                del self._runs[cell]


_CELLS = Cells()


def running_cell() -> tuple[str, str]:
    """Return the cell that is running and which run of it that is; both empty outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    parent = getattr(shell, "parent_header", None)
    if not isinstance(parent, dict):
        return "", ""
    metadata, header = parent.get("metadata") or {}, parent.get("header") or {}
    cell, run = str(metadata.get("cellId") or ""), str(header.get("msg_id") or "")
    return (cell, run) if cell else ("", "")


def close_tree(widget: Any) -> None:
    """Close a widget and all that it consists of, layouts and styles too; what plots share stays."""
    for one in list(_tree(widget, set())):
        if one is not widget:
            one.close()


def _tree(thing: Any, seen: set[int]) -> Iterator[Any]:
    if not isinstance(thing, ipywidgets.Widget) or isinstance(thing, PlotRuntime) or id(thing) in seen:
        return
    seen.add(id(thing))
    yield thing
    for name in thing.keys:
        value = getattr(thing, name)
        for one in value if isinstance(value, list | tuple) else (value,):
            yield from _tree(one, seen)


class Fallback:
    """Puts HTML and a short text beside the view of a widget; pages that run widgets show these instead.

    A class that derives from it, and after it from a widget, says both.
    """

    def _fallback_text(self) -> str:
        """Return a line of plain text."""
        raise NotImplementedError

    def _fallback_html(self) -> str:
        """Return markup without a script."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._fallback_text()}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        parent: Any = super()
        found = parent._repr_mimebundle_(**kwargs)
        if not found:
            return found
        data, metadata = found if isinstance(found, tuple) else (found, {})
        return {**data, "text/plain": repr(self), "text/html": self._fallback_html()}, metadata
