"""Metrics and call paths of the explorer of waits, as trees."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.views.explorer import Browsing, Values
from scalkit.widgets.base.part import Action, number_of
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.trace_explorer.tree import TraceRows, change, line_of

MOST_ROWS = 400
"""So many call paths are shown at once; a search shows others."""


class TraceMetrics(TraceRows):
    """The metrics of a result, with what each is in all."""

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        heads = [*browsing.names, "difference"] if browsing.is_comparison else ["amount", "% of all"]
        super().__init__(browsing, told, heads=heads, label="Metrics", is_multiple=False)

    def _fill(self) -> None:
        browsing = self.browsing
        seen = browsing.metric_rows()
        rows = []
        for node in seen:
            values = browsing.total(node.name)
            below = [one for one in browsing.metrics if one.parent == node.name]
            beside = [one for one in seen if one.parent == node.parent]
            whole = np.maximum(browsing.total(node.whole), 1e-300)
            rows.append(
                line_of(
                    node.name,
                    node.title,
                    _amounts(values, node.unit, browsing.has(node.name))
                    if browsing.is_comparison
                    else _with_share(values, whole, node.unit),
                    chosen=node.name == browsing.metric,
                    share=float((values / whole).max()),
                    quiet=not values.any(),
                    level=_level(browsing, node.name),
                    is_open=node.name in browsing.open_metrics if below else None,
                    place=beside.index(node) + 1,
                    of=len(beside),
                )
            )
        self.rows = rows

    def _drawn(self) -> dict[str, str]:
        return drawn("trace.html", part="metrics", browsing=self.browsing)

    def _actions(self) -> dict[str, Action]:
        return {"choose": self._choose, "fold": self._fold}

    def _choose(self, values: Mapping[str, str]) -> None:
        if any(one.name == values.get("key") for one in self.browsing.metrics):
            self._then(values["key"])

    def _fold(self, values: Mapping[str, str]) -> None:
        name, browsing = values.get("key", ""), self.browsing
        if any(one.parent == name for one in browsing.metrics):
            browsing.open_metrics ^= {name}
            if browsing.metric not in {one.name for one in browsing.metric_rows()}:
                self._then(name)
            self.show()

    def _then(self, metric: str) -> None:
        self.browsing.choose_metric(metric)
        self.browsing.follow_metric()
        self._tell("metric")


class TracePaths(TraceRows):
    """The call paths of a result: those that are folded with all below them, those that are not without."""

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        self._n_found, self._n_left = 0, 0
        super().__init__(browsing, told, label="Call paths")

    def _fill(self) -> None:
        browsing = self.browsing
        own, whole = browsing.by_path()
        seen = browsing.rows()
        most = max(float(np.abs(whole[browsing.tree.top]).max(initial=0.0)), 1e-300)
        self._n_left = max(0, len(seen) - MOST_ROWS)
        unit, is_there = browsing.node.unit, browsing.has(browsing.metric)
        rows = []
        for row in seen[:MOST_ROWS]:
            values = own[row.key] if row.key in browsing.tree.open else whole[row.key]
            region, site = browsing.tree.labels[row.key]
            inclusive = _amounts(whole[row.key], unit, is_there)
            rows.append(
                line_of(
                    row.key,
                    region,
                    _amounts(values, unit, is_there),
                    more=f"@{site}" if site else "",
                    said=f"{browsing.tree.names[row.key]}\nwith all below it: {' / '.join(inclusive)}",
                    chosen=row.key in browsing.paths,
                    share=float(values[browsing.shown]) / most,
                    whole=float(whole[row.key, browsing.shown]) / most if row.key in browsing.tree.open else 0.0,
                    quiet=not whole[row.key].any(),
                    level=row.level,
                    is_open=row.is_open,
                    place=row.place,
                    of=row.of,
                )
            )
        self.heads = [*browsing.names, "difference"] if browsing.is_comparison else []
        self.rows = rows

    def _drawn(self) -> dict[str, str]:
        browsing = self.browsing
        found = f"{self._n_found} found" if browsing.words else ""
        left = f"{self._n_left} more rows: search, or fold some" if self._n_left else ""
        return drawn("trace.html", part="paths", browsing=browsing, adds=self._adds, said="; ".join(filter(None, (found, left))))

    def _actions(self) -> dict[str, Action]:
        return {
            "choose": self._choose,
            "fold": self._fold,
            "search": self._search,
            "hottest": lambda _: self._then(self.browsing.go_hottest),
            "all": lambda _: self._then(self.browsing.unfold_all),
            "none": lambda _: self._then(self.browsing.fold_all),
            "several": self._several,
        }

    def _then(self, action: Callable[[], object]) -> None:
        action()
        self._tell("paths")

    def _search(self, values: Mapping[str, str]) -> None:
        self._n_found = self.browsing.search(values.get("text", "")[:200])
        self.show()

    def _choose(self, values: Mapping[str, str]) -> None:
        path, browsing = number_of(values, len(self.browsing.tree)), self.browsing
        if path is not None:
            self._then(lambda: browsing.choose_paths(self._choice(browsing.paths, path, values, [path])))

    def _fold(self, values: Mapping[str, str]) -> None:
        path = number_of(values, len(self.browsing.tree))
        if path is not None and self.browsing.tree.children[path]:
            self._then(lambda: self.browsing.fold(path))


def _amounts(values: Values, unit: str, is_there: Sequence[bool] = (True, True)) -> list[str]:
    """Return amounts of each result, a dash where it has no such metric, and the difference if there are two."""
    texts = [shown_amount(one, unit) if there else "–" for one, there in zip(values.tolist(), is_there, strict=False)]
    return [*texts, change(float(values[0]), float(values[1]), unit)] if len(texts) > 1 else texts


def _with_share(values: Values, whole: Values, unit: str) -> list[str]:
    share = 100 * float(values[0] / whole[0])
    return [shown_amount(float(values[0]), unit), "< 0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"]


def _level(browsing: Browsing, name: str) -> int:
    level, parent = 1, browsing.find(name).parent
    while parent:
        level, parent = level + 1, browsing.find(parent).parent
    return level
