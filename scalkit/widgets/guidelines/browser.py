"""Browses an assessment of guidelines: the groups in a table, beside the pictures of the one that is selected."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import ipywidgets
import numpy as np
import traitlets as t

from scalkit.errors import UsageError
from scalkit.guidelines import Assessment
from scalkit.guidelines.result import STATES
from scalkit.guidelines.sentences import assessment_html, setting, shown_ratio, titled
from scalkit.plots.guidelines.overview import guideline_focus, guideline_overview, guideline_ratios
from scalkit.plots.guidelines.sides import along, group_of, level_axis
from scalkit.support.markup import esc
from scalkit.widgets.base.cells import CellWidget, Fallback, in_one_piece
from scalkit.widgets.base.part import Action, Grid, Pieces, number_of
from scalkit.widgets.base.plot_view import PlotView, flowing, wide
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.base.wording import state_mark


class _OfAssessment:
    """What stands in the place of a view of an assessment where nothing runs it."""

    found: Assessment

    def _fallback_text(self) -> str:
        return self.found.headline

    def _fallback_html(self) -> str:
        return assessment_html(self.found)


class GuidelineBrowser(_OfAssessment, Fallback, CellWidget, ipywidgets.VBox):  # type: ignore[misc]
    """Shows the groups of an assessment; of the selected one the times, the ratios, and one test in focus.

    A click on a point puts that test in focus; so does the choice beside the sentence, which the keyboard reaches.

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
            self.overview, self.ratios = PlotView(layout=wide()), PlotView(layout=wide())
            self.focus = PlotView()
        flow = flowing()
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


COLUMNS = ("Guideline", "Where", "Largest ratio", "Violated at", "State")
_MOST_ROWS = 200
_MOST_LEVELS = 6
_LOOKS = {
    "violated": ("fix", "✗"),
    "inconclusive": ("cannot tell", "?"),
    "undecidable": ("cannot tell", "?"),
    "compliant": ("fine", "✓"),
}


class GuidelineGroups(_OfAssessment, Grid):
    """A row for each group of tests; a press on its guideline selects it.

    The table is a grid: arrows, Home, End, Page Up and Page Down move in it, Enter selects a row or sorts by a column. At most
    200 groups are shown, those with the largest ratio of what is shown.

    `**traits`: values of the traits below.
    `sort`: a column and ``"ascending"`` or ``"descending"``; empty texts for the worst first.
    `filter`: only groups whose worst state is this; empty for all.
    `order`: the groups that are shown, as rows, in their order.
    `current`: the row that is selected.
    `test`: the worst test of the selected group; -1 if there is none. May be observed.
    """

    filter = t.Enum(["", *STATES], default_value="").tag(sync=True)
    test = t.Int(-1)

    def __init__(self, found: Assessment, **traits: Any) -> None:
        self.found = found
        self._rows = _groups(found)
        words = {"label": "Groups of tests", "none": "No group has this state."}
        super().__init__(**{"columns": list(COLUMNS), **words, **traits})
        self.on_msg(self._asked)
        self.observe(lambda _: self._arrange(), ["sort", "filter"])
        self._arrange()
        if self.order:
            self.select(self.order[0])
        self._enter_cell()

    def select(self, row: int) -> None:
        """Select a row. `row`: its number, worst first; other numbers change nothing."""
        if 0 <= row < len(self._rows):
            with self.hold_sync():
                self.current = row
                self.test = self._rows[row].test

    def _arrange(self) -> None:
        rows = [k for k, one in enumerate(self._rows) if self.filter in ("", one.state)]
        column, way = self.sort
        if way:
            rows.sort(key=lambda k: self._rows[k].sorting[COLUMNS.index(column)], reverse=way == "descending")
        self._put({k: self._rows[k].cells(k) for k in rows[:_MOST_ROWS]})

    def _drawn(self) -> dict[str, str]:
        counts = {state: sum(one.state == state for one in self._rows) for state in _LOOKS}
        words = {state: f"{state} ({n})" for state, n in counts.items() if n or state == self.filter}
        values = {"n": len(self._rows), "words": {"": f"all ({len(self._rows)})", **words}, "filter": self.filter}
        is_cut = len(self.order) >= _MOST_ROWS
        return drawn("guidelines.html", part="groups", found=self.found, is_cut=is_cut, most=_MOST_ROWS, **values)

    def _actions(self) -> dict[str, Action]:
        return {"select": self._select, "sort": self._sort_by, "filter": partial(self._filter_by, STATES)}

    def _select(self, values: Mapping[str, str]) -> None:
        row = number_of(values, len(self._rows))
        if row is not None:
            self.select(row)


class _Row:
    """A group: its worst test, what its cells hold, and what they are sorted by."""

    def __init__(self, found: Assessment, tests: np.ndarray[Any, Any]) -> None:
        columns = found.columns
        states = columns["state"][tests]
        self.state = next(state for state in _LOOKS if state in states)
        effects = np.abs(np.log(np.asarray(columns["effect"][tests], dtype=float)))
        effects = np.where(states == self.state, np.nan_to_num(effects, nan=-1.0), -1.0)
        self.test = int(tests[int(np.argmax(effects))])
        self.size = float(effects.max())
        self.title = titled(found.guidelines[int(found.which[self.test])])
        self.where = setting(found, self.test, (found.varied,))
        broken = tests[states == "violated"]
        levels = list(dict.fromkeys(str(level) for level in along(found, broken)))
        more = f", … ({len(levels)})" if len(levels) > _MOST_LEVELS else ""
        self.levels = ", ".join(levels[:_MOST_LEVELS]) + more
        self.ratio = float(columns["effect"][self.test])
        self.count = f"{len(broken)} of {len(tests)}"
        self.decides = bool(columns["decides"][self.test])
        self.sorting = (self.title, self.where, self.ratio, len(broken), list(_LOOKS).index(self.state))

    def cells(self, k: int) -> list[str]:
        rank, symbol = _LOOKS[self.state]
        head = (
            f'<button type="button" data-press="select" data-value="{k}" data-key="row{k}" title="Show this group">'
            f"<code>{esc(self.title)}</code></button>"
        )
        ratio = f'<span class="num">{shown_ratio(self.ratio)}</span>'
        at = f"{esc(self.levels)} ({self.count})" if self.levels else "–"
        doubt = "" if self.decides else "⚠ does not decide"
        return [head, esc(self.where), ratio, at, state_mark(rank, symbol, self.state, doubt)]


def _groups(found: Assessment) -> list[_Row]:
    """Return the groups, the worst first; of one state those that decide."""
    order = np.argsort(found.groups, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(found.groups[order])) + 1) if len(order) else []
    rows = [_Row(found, part) for part in parts]
    return sorted(rows, key=lambda one: (list(_LOOKS).index(one.state), not one.decides, -one.size))


class GuidelineTest(_OfAssessment, Pieces):
    """One test in words, and a choice of the others of its group.

    `test`: row of `Assessment.to_frame`; -1 for none.
    `test`: may be set and observed.
    """

    test = t.Int(-1)

    def __init__(self, found: Assessment, test: int = -1, **traits: Any) -> None:
        self.found = found
        super().__init__(test=test, **traits)
        self.observe(lambda _: self.refresh(), "test")
        self._begin()

    def _drawn(self) -> dict[str, str]:
        found, test = self.found, self.test
        if test < 0:
            return drawn("guidelines.html", part="test", tests={})
        tests = {one: self._option(one) for one in group_of(found, test).tolist()}
        values = {"decides": found.columns["decides"][test], "meaning": found.guidelines[int(found.which[test])].meaning}
        return drawn("guidelines.html", part="test", found=found, test=test, tests=tests, **values)

    def _option(self, test: int) -> str:
        at = setting(self.found, test, [n for n in self.found.data.parameters if n != self.found.varied])
        return f"{at or 'the test'}: {self.found.columns['state'][test]}"

    def _actions(self) -> dict[str, Action]:
        return {"focus": self._focus}

    def _focus(self, values: Mapping[str, str]) -> None:
        test = number_of(values, len(self.found))
        if test is not None and test in group_of(self.found, self.test).tolist():
            self.test = test
