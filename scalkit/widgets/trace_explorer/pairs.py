"""What stands above the matrix of processes: what it shows, and its largest values as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scalkit.markup import esc
from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.results.pairs import TRAFFIC_TITLES, Pairs, has_traffic, largest
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Action, Pieces
from scalkit.widgets.base.source import source
from scalkit.widgets.trace_explorer.tree import checkbox, number_of, of_which, options

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
        near = checkbox("near", "Only chosen processes", self.is_near) if browsing.locations or browsing.causers else ""
        head = (
            f"<h3>Pairs of processes{of_which(browsing)}</h3><form>{options('what', 'Show', choices, self.what)}</form>"
            f'<div class="line checks">{near}</div>'
        )
        if found is None:
            return {"head": f'{head}<p class="quiet">{esc(_no_pairs(browsing.node.title))}</p>', "pairs": ""}
        said = "" if len(found.value) else '<p class="quiet">All cells are 0.</p>'
        order = largest(found.value, MOST_PAIRS).tolist()
        rows = "".join(
            self._row(int(found.row[k]), int(found.column[k]), int(found.value[k]), found.unit) for k in order
        )
        table = (
            f'<details data-key="pairs"><summary>Largest values as a table</summary><div class="scroll" tabindex="0" '
            f'role="region" aria-label="Largest pairs"><table><thead><tr><th scope="col">{esc(found.row_title)}</th>'
            f'<th scope="col">{esc(found.column_title)}</th><th scope="col">{esc(found.what)}</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div></details>"
        )
        return {"head": f"{head}{said}", "pairs": table if rows else ""}

    def _row(self, row: int, column: int, value: int, unit: str) -> str:
        return (
            f'<tr><th scope="row"><button type="button" data-press="pair" data-value="{row} {column}" '
            f'data-key="pair{row} {column}" title="Choose both">process {row}</button></th><td>process {column}</td>'
            f'<td class="num">{esc(shown_amount(value, unit))}</td></tr>'
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
        rows = [
            [str(found.row[k]), str(found.column[k]), esc(shown_amount(int(found.value[k]), found.unit))]
            for k in largest(found.value, MOST_PAIRS).tolist()
        ]
        return block(table([found.row_title, found.column_title, found.what], rows, "Pairs of processes"))


def _no_pairs(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]} is not of pairs: choose a wait, or what went between processes."
