"""What stands above the matrix of processes: what it shows, and its largest values as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scalkit.markup import esc
from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.results.pairs import TRAFFIC_TITLES, Pairs, has_traffic, largest
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Action, Pieces
from scalkit.widgets.base.source import source
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.trace_explorer.tree import number_of, of_which

MOST_PAIRS = 20
_TRAFFIC_OF = {"rma_operations": "operations", "rma_bytes": "bytes"}


class TraceMatrixHead(Pieces):
    """What stands above the matrix: what it shows, and its largest values as a table.

    `what`: ``"metric"``: the chosen one, if it is of pairs; else as `scalkit.trace.results.pairs.pairs` takes it.
    `found`: what is shown; None if the chosen metric is not of pairs.
    `is_near`: whether the matrix has the chosen processes only.
    """

    _css = source("base/kernel.css", "base/part.css", "store_explorer/explorer.css", "trace_explorer/explorer.css")

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        super().__init__()
        self.browsing, self._tell = browsing, told
        self.what, self.is_near = "metric", False
        self.found: Pairs | None = None
        self.on_msg(self._asked)
        self.show()
        self._enter_cell()

    def show(self) -> None:
        """Show what there is now."""
        browsing = self.browsing
        is_told = has_traffic(browsing.result)
        if self.what != "metric" and not is_told:
            self.what = "metric"
        what = self.what
        if what == "metric":
            what = "waiting" if browsing.node.is_wait else _TRAFFIC_OF.get(browsing.metric, "")
        self.found = browsing.pairs(what) if what == "waiting" or (what and is_told) else None
        self.refresh()

    def _drawn(self) -> dict[str, str]:
        browsing, found = self.browsing, self.found
        choices = {"metric": f"the chosen metric: {browsing.node.title}"}
        if has_traffic(browsing.result):
            choices |= {key: f"from whom to whom: {title}" for key, title in TRAFFIC_TITLES.items()}
        return drawn(
            "trace.html",
            part="pairs",
            browsing=browsing,
            of_which=of_which(browsing),
            choices=choices,
            what=self.what,
            is_near=self.is_near,
            found=found,
            no_pairs=_no_pairs(browsing.node.title),
            rows=_largest(found) if found is not None else [],
        )

    def _actions(self) -> dict[str, Action]:
        return {"what": self._show_what, "near": lambda _: self._flip(), "pair": self._choose}

    def _show_what(self, values: Mapping[str, str]) -> None:
        if values.get("key") in ("metric", *TRAFFIC_TITLES):
            self.what = values["key"]
            self.show()
            self._tell("view")

    def _flip(self) -> None:
        self.is_near = not self.is_near
        self._tell("view")

    def _choose(self, values: Mapping[str, str]) -> None:
        row, _, column = values.get("key", "").partition(" ")
        pair = [number_of({"key": text}, self.browsing.n_locations) for text in (row, column)]
        if pair[0] is not None and pair[1] is not None:
            self.browsing.choose_locations([pair[0]], [pair[1]])
            self._tell("locations")

    def _fallback_text(self) -> str:
        return f"{0 if self.found is None else len(self.found.value)} pairs of processes"

    def _fallback_html(self) -> str:
        from scalkit.markup import block, paragraph, table

        found = self.found
        if found is None:
            return block(paragraph(_no_pairs(self.browsing.node.title)))
        heads = [found.row_title, found.column_title, found.what]
        return block(table(heads, [[*map(esc, row)] for row in _largest(found)], "Pairs of processes"))


def _largest(found: Pairs) -> list[tuple[str, str, str]]:
    """Return the largest values: both locations, and the amount."""
    return [
        (str(found.row[k]), str(found.column[k]), shown_amount(int(found.value[k]), found.unit))
        for k in largest(found.value, MOST_PAIRS).tolist()
    ]


def _no_pairs(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]} is not of pairs: choose a wait, or what went between processes."
