"""The explorer of waits: metrics, call paths and processes of an analysed trace, each beside the next; and who waits for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
import traitlets as t

from scalkit.errors import UsageError
from scalkit.plots.traces.matrix import MatrixAxes, matrix_axes, matrix_drawing, shown_amount
from scalkit.support.markup import counted
from scalkit.trace.views.explorer import Browsing, Result
from scalkit.widgets.base.cells import CellWidget, Fallback, in_one_piece
from scalkit.widgets.base.part import Pieces
from scalkit.widgets.base.plot_view import PlotView, flowing
from scalkit.widgets.base.templates import source
from scalkit.widgets.trace_explorer.pairs import TraceCauses, TraceMatrixHead
from scalkit.widgets.trace_explorer.panes import TraceMetrics, TracePaths
from scalkit.widgets.trace_explorer.processes import TraceProcesses
from scalkit.widgets.trace_explorer.shown import chosen_sentence, fallback, heading


class TraceLine(Pieces):
    """A heading, or what is chosen in a sentence. `drawn`: returns markup by name."""

    _css = source("base/kernel.css", "base/part.css", "trace_explorer/explorer.css")

    def __init__(self, drawn: Callable[[], dict[str, str]]) -> None:
        super().__init__()
        self._source = drawn
        self._begin()

    def _drawn(self) -> dict[str, str]:
        return self._source()

    def _fallback_text(self) -> str:
        return "waits"


class TraceExplorer(Fallback, CellWidget, ipywidgets.VBox):  # type: ignore[misc]
    """Three panes: metrics, call paths, processes. What is chosen in one decides what the next shows; several choices sum.

    Below them who caused the waiting, and a matrix of processes; a click on a cell of it chooses the one that waited, and the
    one that it waited for.

    Parameters
    ----------
    result : Dataset or path
        As `scalkit.trace.analyse` returns it, or the file that it was written to.

    Attributes
    ----------
    browsing : scalkit.trace.views.explorer.Browsing
        What is chosen, and the values.
    selection : dict
        ``{"metric": str, "paths": [int], "locations": [int], "causers": [int]}``: names and numbers as in the result;
        may be set, and observed. A call path that is folded stands for all below it, too. No locations are all; `causers` are
        those that were waited for.
    metrics : TraceMetrics
    paths : TracePaths
    processes : TraceProcesses
    causes : TraceCauses
    pairs : TraceMatrixHead
    matrix : PlotView

    Raises
    ------
    UsageError
        If something is no result, or a selection names something that is not there.
    DataError
        If a file cannot be read.
    """

    selection: t.Dict[Any, Any] = t.Dict()

    def __init__(self, result: Result) -> None:
        self.browsing = Browsing(result)
        self._axes: MatrixAxes = matrix_axes(1)
        with in_one_piece():
            self.head = TraceLine(lambda: heading(self.browsing))
            self.metrics = TraceMetrics(self.browsing, self._told)
            self.paths = TracePaths(self.browsing, self._told)
            self.processes = TraceProcesses(self.browsing, self._told)
            self.chosen = TraceLine(lambda: chosen_sentence(self.browsing))
            self.causes = TraceCauses(self.browsing, self._told)
            self.pairs = TraceMatrixHead(self.browsing, self._told)
            self.matrix = PlotView()
        panes = _flow([self.metrics, self.paths, self.processes], ("1 1 300px", "2 1 340px", "1 1 300px"))
        right = ipywidgets.VBox([self.pairs, self.matrix], layout=ipywidgets.Layout(overflow="visible"))
        below = _flow([self.causes, right], ("1 1 340px", "1 1 340px"))
        layout = ipywidgets.Layout(width="100%", overflow="visible")
        super().__init__([self.head, panes, self.chosen, below], layout=layout)
        self.matrix.observe(self._clicked, "clicked")
        self._draw()
        self.selection = self.browsing.selection()
        self.observe(self._selected, "selection")
        self._enter_cell()

    def _told(self, changed: str) -> None:
        """Show what follows from a change."""
        after = (self.paths, self.processes)
        for part in after if changed == "paths" else (self.metrics, *after, self.causes, self.pairs):
            part.show()
        self.chosen.refresh()
        if changed != "paths":
            self._draw()
        self.selection = self.browsing.selection()

    def _selected(self, changed: Mapping[str, Any]) -> None:
        if changed["new"] == self.browsing.selection():
            return
        try:
            self.browsing.select(changed["new"])
        except UsageError:
            self.selection = self.browsing.selection()
            raise
        self._told("metric")

    def _draw(self) -> None:
        """Draw the matrix, if the chosen metric is of pairs."""
        browsing, found = self.browsing, self.pairs.found
        self.matrix.layout.display = "none" if found is None else None
        if found is None:
            return
        near = (browsing.locations, browsing.causers) if self.pairs.is_near else ((), ())
        self._axes = matrix_axes(browsing.n_locations, *near)
        drawing = matrix_drawing(
            found,
            self._axes,
            simulated=bool(browsing.result.attrs.get("simulated")),
            chosen=((), ()) if self.pairs.is_near else (browsing.locations, browsing.causers),
        )
        self.matrix.show(drawing.plain())

    def _clicked(self, change: Mapping[str, Any]) -> None:
        at = self._axes.at(change["new"].get("y"), change["new"].get("x"))
        if at is not None:
            self.browsing.choose_locations(*at)
            self._told("locations")

    def _fallback_text(self) -> str:
        node, browsing = self.browsing.node, self.browsing
        amount = shown_amount(browsing.total(node.name), node.unit)
        return f"{counted(browsing.n_locations, 'process', 'processes')}, {node.title} {amount}"

    def _fallback_html(self) -> str:
        return fallback(self.browsing)


def _flow(parts: list[Any], flex: tuple[str, ...]) -> Any:
    for part, one in zip(parts, flex, strict=True):
        part.layout.flex, part.layout.min_width, part.layout.width = one, "0", "auto"
    flow = ipywidgets.Box(parts, layout=flowing(grid_gap="0 24px"))
    flow.add_class("sk-flow")
    return flow
