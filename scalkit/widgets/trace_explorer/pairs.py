"""What stands above the matrix of processes: what it shows, and its largest values as a table."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from scalkit.plots.traces.matrix import shown_amount
from scalkit.support.markup import block, esc, table
from scalkit.support.text import as_percent
from scalkit.trace.results.pairs import TRAFFIC_TITLES, Pairs
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Action, Grid, Pieces, number_of
from scalkit.widgets.base.templates import drawn, source

MOST_PAIRS = 20
_TRAFFIC_OF = {"rma_operations": "operations", "rma_bytes": "bytes"}


class TraceMatrixHead(Pieces):
    """What stands above the matrix: what it shows, and its largest values as a table.

    `what`: ``"metric"``: the chosen one, if it is of pairs; else as `scalkit.trace.results.pairs.pairs` takes it.
    `found`: what is shown; None if the chosen metric is not of pairs.
    `is_near`: whether the matrix has the chosen processes only.
    """

    _css = source("base/kernel.css", "base/part.css", "trace_explorer/lists.css", "trace_explorer/explorer.css")

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        super().__init__()
        self.browsing, self._tell = browsing, told
        self.what, self.is_near = "metric", False
        self.found: Pairs | None = None
        self._begin()

    def show(self) -> None:
        """Show what there is now."""
        browsing = self.browsing
        what = self.what
        if what == "metric":
            what = "waiting" if browsing.node.is_wait else _TRAFFIC_OF.get(browsing.metric, "")
        self.found = browsing.pairs(what) if what else None
        self.refresh()

    def _drawn(self) -> dict[str, str]:
        browsing, found = self.browsing, self.found
        choices = {"metric": f"the chosen metric: {browsing.node.title}"}
        choices |= {key: f"from whom to whom: {title}" for key, title in TRAFFIC_TITLES.items()}
        return drawn(
            "trace.html",
            part="pairs",
            browsing=browsing,
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


def _largest(found: Pairs) -> list[tuple[str, str, str]]:
    """Return the largest values: both locations, and the amount."""
    return [
        (str(found.row[k]), str(found.column[k]), shown_amount(int(found.value[k]), found.unit))
        for k in pd.Series(found.value).nlargest(MOST_PAIRS).index.tolist()
    ]


def _no_pairs(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]} is not of pairs: choose a wait, or what went between processes."


COLUMNS = ("Process", "Was in", "Others waited", "Share")
MOST_CAUSES = 100


class TraceCauses(Grid):
    """The processes that made the chosen ones wait, and the region in which each of them was meanwhile."""

    _css = source("base/kernel.css", "base/part.css", "trace_explorer/lists.css", "trace_explorer/explorer.css")

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        nobody = "Nobody: choose a wait, or other processes."
        super().__init__(columns=list(COLUMNS), label="Causes of waiting", none=nobody)
        self.browsing, self._tell, self.found = browsing, told, browsing.causes()
        self.observe(lambda _: self.show(), "sort")
        self._begin()

    def show(self) -> None:
        """Show what there is now."""
        self._put(dict(enumerate(self._rows())))

    def _rows(self) -> list[list[str]]:
        self.found = self.browsing.causes()
        names, regions = (self.browsing.result[name].values for name in ("path_name", "region"))
        rows = self.found.head(MOST_CAUSES).to_numpy().tolist()
        total = max(int(self.found["ns"].sum()), 1)
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
                f'<span class="num">{as_percent(value / total, ".1f")}</span>',
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
            said = f"{node.title}, in all call paths: {who} {shown_amount(int(self.found['ns'].sum()), 'ns')}{of}."
        left = len(self.found) - MOST_CAUSES
        more = f" The {MOST_CAUSES} longest are shown, {left} are not." if left > 0 else ""
        return drawn("trace.html", part="causes", browsing=browsing, said=said + more)

    def _actions(self) -> dict[str, Action]:
        return {"by": self._by, "anyone": lambda _: self._then(()), "sort": self._sort_by}

    def _by(self, values: Mapping[str, str]) -> None:
        one = number_of(values, self.browsing.n_locations)
        if one is not None:
            self._then(() if self.browsing.causers == (one,) else (one,))

    def _then(self, causers: tuple[int, ...]) -> None:
        self.browsing.choose_locations(self.browsing.locations, causers)
        self._tell("locations")

    def _fallback_text(self) -> str:
        return f"{len(self._rows())} causes"

    def _fallback_html(self) -> str:
        regions = self.browsing.result["region"].values
        rows = [
            [str(location), esc(regions[path]), esc(shown_amount(value, "ns"))]
            for location, path, value in self.found.head(MOST_CAUSES).to_numpy().tolist()
        ]
        return block(table(COLUMNS[:3], rows, "Who caused it"))


def _listed(locations: tuple[int, ...]) -> str:
    few = ", ".join(map(str, locations[:4]))
    more = f" and {len(locations) - 4} others" if len(locations) > 4 else ""
    return f"process{'' if len(locations) == 1 else 'es'} {few}{more}"
