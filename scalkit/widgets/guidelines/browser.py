"""Browses an assessment of guidelines: the groups in a table, beside the pictures of the one that is selected."""

from __future__ import annotations

from typing import Any

import ipywidgets

from scalkit.errors import UsageError
from scalkit.guidelines import Assessment
from scalkit.guidelines.shown import assessment_html
from scalkit.plots.guidelines.focus import guideline_focus
from scalkit.plots.guidelines.overview import guideline_overview, guideline_ratios
from scalkit.plots.guidelines.sides import along, group_of, level_axis
from scalkit.widgets.base.cells import OfCell, in_one_piece
from scalkit.widgets.base.fallback import Fallback
from scalkit.widgets.base.plot_view import PlotView
from scalkit.widgets.guidelines.groups import GuidelineGroups, GuidelineTest


class GuidelineBrowser(Fallback, OfCell, ipywidgets.VBox):  # type: ignore[misc]
    """Shows the groups of an assessment; of the selected one the times, the ratios, and one test in focus.

    A click on a point puts that test in focus; so does the choice beside the sentence, which the keyboard reaches.

    Parameters
    ----------
    found : Assessment

    Attributes
    ----------
    found : Assessment
    table : GuidelineGroups
    chosen : GuidelineTest
    overview, ratios, focus : PlotView
    test : int
        Row of `Assessment.to_frame` that is in focus; -1 if there is none. May be set.

    Raises
    ------
    UsageError
        If it is no assessment.
    """

    def __init__(self, found: Assessment) -> None:
        if not isinstance(found, Assessment):
            raise UsageError(f"a browser shows what sk.guidelines.assess returns, got {type(found).__name__}.")
        self.found = found
        with in_one_piece():
            self.table = GuidelineGroups(found)
            self.chosen = GuidelineTest(found, self.table.test)
            self.overview, self.ratios = PlotView(layout=_wide()), PlotView(layout=_wide())
            self.focus = PlotView()
        flow = ipywidgets.Layout(display="flex", flex_flow="row wrap", width="100%", overflow="visible")
        pictures = ipywidgets.Box([self.overview, self.ratios], layout=flow)
        layout = ipywidgets.Layout(width="100%", overflow="visible")
        super().__init__([self.table, self.chosen, pictures, self.focus], layout=layout)
        self._group = -1
        self.table.observe(self._selected, "test")
        self.chosen.observe(lambda _: self._draw(), "test")
        for view in (self.overview, self.ratios):
            view.observe(self._clicked, "clicked")
        self._draw()
        self._enter_cell()

    @property
    def test(self) -> int:
        """The test in focus."""
        return int(self.chosen.test)

    @test.setter
    def test(self, test: int) -> None:
        if len(self.found) or test != -1:
            group_of(self.found, test)  # refuses what is no test
        self.chosen.test = test

    def _selected(self, change: Any) -> None:
        self.chosen.test = change["new"]

    def _clicked(self, change: Any) -> None:
        x = change["new"].get("x")
        if self.test < 0 or not isinstance(x, int | float):
            return
        tests = group_of(self.found, self.test)
        _, places = level_axis(along(self.found, tests), self.found.varied)
        nearest = min(range(len(places)), key=lambda k: abs(places[k] - x))
        self.chosen.test = int(tests[nearest])

    def _draw(self) -> None:
        views, test = (self.overview, self.ratios, self.focus), self.test
        for view in views:
            view.layout.display = "none" if test < 0 else None
        if test < 0:
            return
        group = int(self.found.groups[test])
        if group != self._group:
            self._group = group
            self.overview.show(guideline_overview(self.found, test))
            self.ratios.show(guideline_ratios(self.found, test))
        self.focus.show(guideline_focus(self.found, test))

    def _fallback_text(self) -> str:
        return self.found.headline

    def _fallback_html(self) -> str:
        return assessment_html(self.found)


def _wide() -> Any:
    return ipywidgets.Layout(flex="1 1 380px", min_width="0", width="auto")
