"""Who caused the waiting: processes, and the region in which each was meanwhile, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scalkit.markup import esc
from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Action, Grid
from scalkit.widgets.base.source import source
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.trace_explorer.tree import number_of, of_which

COLUMNS = ("Process", "Was in", "Others waited", "Share")
MOST_CAUSES = 100


class TraceCauses(Grid):
    """The processes that made the chosen ones wait, and the region in which each of them was meanwhile."""

    _css = source("base/kernel.css", "base/part.css", "store_explorer/explorer.css", "trace_explorer/explorer.css")

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        nobody = "Nobody: choose a wait, or other processes."
        super().__init__(columns=list(COLUMNS), label="Causes of waiting", none=nobody)
        self.browsing, self._tell, self.found = browsing, told, browsing.causes(MOST_CAUSES)
        self.on_msg(self._asked)
        self.observe(lambda _: self.show(), "sort")
        self.show()
        self._enter_cell()

    def show(self) -> None:
        """Show what there is now."""
        self._put(dict(enumerate(self._rows())))

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
        return drawn("trace.html", part="causes", browsing=browsing, of_which=of_which(browsing), said=said + more)

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
        from scalkit.markup import block, table

        found, regions = self.found, self.browsing.result["region"].values
        rows = [
            [str(location), esc(regions[path]), esc(shown_amount(value, "ns"))]
            for location, path, value in zip(
                *(one.tolist() for one in (found.location, found.path, found.value)), strict=True
            )
        ]
        return block(table(COLUMNS[:3], rows, "Who caused it"))


def _listed(locations: tuple[int, ...]) -> str:
    few = ", ".join(map(str, locations[:4]))
    more = f" and {len(locations) - 4} others" if len(locations) > 4 else ""
    return f"process{'' if len(locations) == 1 else 'es'} {few}{more}"
