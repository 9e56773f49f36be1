"""Who made whom wait: the processes and regions that caused it as a table, and pairs of processes beside the matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import traitlets as t

from scalkit.plots.trace_matrix_figure import shown_amount
from scalkit.trace.browsing import Browsing
from scalkit.trace.pairs import TRAFFIC_TITLES, Pairs, has_traffic, largest
from scalkit.widgets.part import Action, Pieces
from scalkit.widgets.source import source
from scalkit.widgets.trace_explorer_tree import checkbox, number_of, options
from scalkit.widgets.wording import esc

__all__ = ["TraceCauses", "TraceMatrixHead"]

COLUMNS = ("Process", "Was in", "Others waited", "Share")
MOST_CAUSES = 100
MOST_PAIRS = 20
_TRAFFIC_OF = {"rma_operations": "operations", "rma_bytes": "bytes"}
_NEXT = {"": "ascending", "ascending": "descending", "descending": ""}


class TraceCauses(Pieces):
    """The processes that made the chosen ones wait, and the region in which each of them was meanwhile.

    Parameters
    ----------
    browsing : Browsing
    told : callable
    """

    _esm = source("kernel.js", "part.js", "table.js")
    _css = source("kernel.css", "part.css", "store_explorer.css", "trace_explorer.css")

    columns: t.List[Any] = t.List(list(COLUMNS)).tag(sync=True)
    label = t.Unicode("Causes of waiting").tag(sync=True)
    none = t.Unicode("Nobody: choose a wait, or other processes.").tag(sync=True)
    sort: t.List[Any] = t.List(t.Unicode(), default_value=["", ""], minlen=2, maxlen=2).tag(sync=True)
    order: t.List[Any] = t.List(t.Int()).tag(sync=True)
    current = t.Int(-1).tag(sync=True)
    n_rows = t.Int(0).tag(sync=True)

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        super().__init__()
        self.browsing, self._tell, self.found = browsing, told, browsing.causes(MOST_CAUSES)
        self.on_msg(self._asked)
        self.show()
        self._enter_cell()

    def show(self) -> None:
        """Show what there is now."""
        rows = self._rows()
        cells = {f"row{n}": {"cells": row} for n, row in enumerate(rows)}
        new = {name: t.Dict().tag(sync=True) for name in cells if not self.has_trait(name)}
        with self.hold_sync():
            if new:
                self.add_traits(**new)
            for name, value in cells.items():
                setattr(self, name, value)
            self.n_rows = max(self.n_rows, len(rows))
            self.order = list(range(len(rows)))
            self.refresh()

    def _rows(self) -> list[list[str]]:
        found = self.found = self.browsing.causes(MOST_CAUSES)
        names, regions = (self.browsing.result[name].values for name in ("path_name", "region"))
        rows = list(zip(found.location.tolist(), found.path.tolist(), found.value.tolist(), strict=True))
        column, way = self.sort
        if way:
            keys: dict[str, Callable[[tuple[int, int, int]], Any]] = {
                "Process": lambda row: row[0],
                "Was in": lambda row: str(names[row[1]]),
            }
            rows.sort(key=keys.get(column, lambda row: row[2]), reverse=way == "descending")
        return [
            [
                f'<button type="button" data-press="by" data-value="{location}" data-key="cause{location}-{path}" '
                f'title="Choose process {location} as the one waited for">{location}</button>',
                f'<div class="cut" title="{esc(names[path])}">{esc(regions[path])}</div>',
                f'<span class="num">{esc(shown_amount(value, "ns"))}</span>',
                f'<span class="num">{100 * value / max(found.total, 1):.1f} %</span>',
            ]
            for location, path, value in rows
        ]

    def _drawn(self) -> dict[str, str]:
        browsing = self.browsing
        node = browsing.node
        if not node.is_wait:
            said = f"{node.title[:1].upper()}{node.title[1:]} is no wait; nobody caused it."
        else:
            who = f"{_listed(browsing.locations)} waited" if browsing.locations else "all processes waited"
            of = f" for {_listed(browsing.causers)}" if browsing.causers else ""
            said = f"{node.title}, in all call paths: {who} {shown_amount(self.found.total, 'ns')}{of}."
        left = self.found.number - len(self.found.value)
        more = f" The {MOST_CAUSES} longest are shown, {left} are not." if left else ""
        button = (
            '<button type="button" data-press="anyone" data-key="anyone">Waited for anybody</button>'
            if browsing.causers
            else ""
        )
        return {
            "head": f'<h3>Who caused it{_of(browsing)}</h3><div class="line"><span>{esc(said + more)}</span>{button}</div>'
        }

    def _actions(self) -> dict[str, Action]:
        return {"by": self._by, "anyone": lambda _: self._then(()), "sort": self._sort_by}

    def _by(self, values: Mapping[str, str]) -> None:
        one = number_of(values, self.browsing.n_locations)
        if one is not None:
            self._then(() if self.browsing.causers == (one,) else (one,))

    def _then(self, causers: tuple[int, ...]) -> None:
        self.browsing.choose_locations(self.browsing.locations, causers)
        self._tell("locations")

    def _sort_by(self, values: Mapping[str, str]) -> None:
        column = values.get("key", "")
        if column in COLUMNS:
            before, way = self.sort
            after = _NEXT[way if before == column else ""]
            self.sort = [column if after else "", after]
            self.show()

    def _fallback_text(self) -> str:
        return f"{len(self._rows())} causes"

    def _fallback_html(self) -> str:
        from scalkit.markup import block, table

        found, regions = self.found, self.browsing.result["region"].values
        rows = [
            [str(location), esc(regions[path]), esc(shown_amount(value, "ns"))]
            for location, path, value in zip(
                *(one.tolist() for one in (found.location, found.path, found.value)), strict=True
            )
        ]
        return block(table(COLUMNS[:3], rows, "Who caused it"))


class TraceMatrixHead(Pieces):
    """What stands above the matrix: what it shows, and its largest values as a table.

    Parameters
    ----------
    browsing : Browsing
    told : callable

    Attributes
    ----------
    what : str
        ``"metric"``: the chosen one, if it is of pairs; else as `scalkit.trace.pairs.pairs` takes it.
    found : Pairs or None
        What is shown; None if the chosen metric is not of pairs.
    is_near : bool
        Whether the matrix has the chosen processes only.
    """

    _css = source("kernel.css", "part.css", "store_explorer.css", "trace_explorer.css")

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
            f"<h3>Pairs of processes{_of(browsing)}</h3><form>{options('what', 'Show', choices, self.what)}</form>"
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


def _of(browsing: Browsing) -> str:
    """Return which of two results is shown."""
    return esc(f", {browsing.names[browsing.shown]}") if browsing.names else ""


def _no_pairs(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]} is not of pairs: choose a wait, or what went between processes."


def _listed(locations: tuple[int, ...]) -> str:
    few = ", ".join(map(str, locations[:4]))
    more = f" and {len(locations) - 4} others" if len(locations) > 4 else ""
    return f"process{'' if len(locations) == 1 else 'es'} {few}{more}"
