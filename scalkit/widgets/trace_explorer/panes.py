"""Metrics and call paths of the explorer of waits, as trees."""

from collections.abc import Callable, Mapping

from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Action, number_of
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.trace_explorer.tree import TraceRows, line_of

MOST_ROWS = 400
"""So many call paths are shown at once; a search shows others."""


class TraceMetrics(TraceRows):
    """The metrics of a result, with what each is in all."""

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        super().__init__(browsing, told, heads=["amount", "% of all"], label="Metrics", is_multiple=False)

    def _fill(self) -> None:
        browsing = self.browsing
        seen = browsing.metric_rows()
        rows = []
        for node in seen:
            amount, whole = browsing.total(node.name), max(browsing.total(node.whole), 1e-300)
            below = [one for one in browsing.metrics if one.parent == node.name]
            beside = [one for one in seen if one.parent == node.parent]
            rows.append(
                line_of(
                    node.name,
                    node.title,
                    _with_share(amount, whole, node.unit),
                    chosen=node.name == browsing.metric,
                    share=amount / whole,
                    quiet=not amount,
                    level=1 + len(browsing.above(node)),
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
        most = max(float(whole[browsing.tree.top].max(initial=0.0)), 1e-300)
        self._n_left = max(0, len(seen) - MOST_ROWS)
        unit = browsing.node.unit
        rows = []
        for row in seen[:MOST_ROWS]:
            is_open = row.key in browsing.tree.open
            amount, inclusive = float(own[row.key] if is_open else whole[row.key]), float(whole[row.key])
            region, site = browsing.tree.labels[row.key]
            rows.append(
                line_of(
                    row.key,
                    region,
                    [shown_amount(amount, unit)],
                    more=f"@{site}" if site else "",
                    said=f"{browsing.tree.names[row.key]}\nwith all below it: {shown_amount(inclusive, unit)}",
                    chosen=row.key in browsing.paths,
                    share=amount / most,
                    whole=inclusive / most if is_open else 0.0,
                    quiet=not inclusive,
                    level=row.level,
                    is_open=row.is_open,
                    place=row.place,
                    of=row.of,
                )
            )
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


def _with_share(amount: float, whole: float, unit: str) -> list[str]:
    share = 100 * amount / whole
    return [shown_amount(amount, unit), "< 0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"]
