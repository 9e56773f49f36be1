"""A tree of rows, or a list of them, in which some are chosen: what the panes of the explorer of waits have in common."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import traitlets as t

from scalkit.support.markup import block, esc, table
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Pieces
from scalkit.widgets.base.templates import source


class TraceRows(Pieces):
    """Rows that the page shows as a tree or as a list; the keys of these move in it.

    `told`: called with what changed: ``"metric"``, ``"paths"``, ``"locations"`` or ``"view"``.
    `**traits`: values of the traits.
    `rows`: what is seen, as `line_of` returns it.
    `heads`: what the values of a row are, if there are several.
    `label`: for screen readers.
    `is_multiple`: whether several rows may be chosen.
    """

    _esm = source("base/kernel.js", "base/part.js", "trace_explorer/tree.js", "trace_explorer/tree_main.js")
    _css = source("base/kernel.css", "base/part.css", "trace_explorer/lists.css", "trace_explorer/explorer.css")

    rows: t.List[Any] = t.List(t.Dict()).tag(sync=True)
    heads: t.List[Any] = t.List(t.Unicode()).tag(sync=True)
    kind = t.Enum(["tree", "listbox"], default_value="tree").tag(sync=True)
    label = t.Unicode("").tag(sync=True)
    is_multiple = t.Bool(True).tag(sync=True)
    _adds = False

    def __init__(self, browsing: Browsing, told: Callable[[str], object], **traits: Any) -> None:
        super().__init__(**traits)
        self.browsing, self._tell = browsing, told
        self._begin()

    def show(self) -> None:
        """Show what there is now."""
        with self.hold_sync():
            self._fill()
            self.refresh()

    def _fill(self) -> None:
        """Set the rows."""
        raise NotImplementedError

    def _several(self, _values: Mapping[str, str]) -> None:
        self._adds = not self._adds

    def _choice(self, before: Sequence[int], one: int, values: Mapping[str, str], alone: list[int]) -> list[int]:
        """Return what is chosen after a press: one more, or without it if it was there, or what it is alone."""
        if not (self._adds or values.get("how") == "add"):
            return alone
        return [other for other in before if other != one] if one in before else [*before, one]

    def _fallback_text(self) -> str:
        return f"{self.label}: {len(self.rows)}"

    def _fallback_html(self) -> str:
        rows = [[esc(" ".join((row["name"], row["more"])).strip()), *map(esc, row["values"])] for row in self.rows]
        heads = list(self.heads) or [""] * (len(self.rows[0]["values"]) if self.rows else 1)
        return block(table([self.label, *heads], rows, self.label))


def line_of(
    key: object,
    name: str,
    values: Sequence[str],
    *,
    chosen: bool,
    share: float = 0.0,
    whole: float = 0.0,
    quiet: bool = False,
    more: str = "",
    said: str = "",
    level: int = 1,
    is_open: bool | None = None,
    place: int = 1,
    of: int = 1,
) -> dict[str, Any]:
    """Return a row as the page takes it; all texts are plain, and shown letter by letter.

    `name`, `more`: what it is, and what is less important of that.
    `share`: length of its bar, from 0 to 1.
    `whole`: length of a paler bar behind, for all below it.
    `quiet`: whether there is nothing in it.
    `said`: what appears when the pointer rests on it.
    `level`, `is_open`, `place`, `of`: where it stands in a tree; `is_open` is None where nothing is below.
    """
    return {
        "key": str(key),
        "name": name,
        "more": more,
        "values": list(values),
        "chosen": chosen,
        "share": round(min(max(share, 0.0), 1.0), 4),
        "whole": round(min(max(whole, 0.0), 1.0), 4),
        "quiet": quiet,
        "said": said,
        "level": level,
        "open": is_open,
        "place": place,
        "of": of,
    }
