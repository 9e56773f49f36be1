"""What is pointed at in one view is seen in the others; explorers beside each other do not disturb each other."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from typing import Any

import ipywidgets
import numpy as np
import pytest
from ipywidgets.widgets.widget_link import Link
from test_explorer import living, press
from test_plot_view import drawn
from widget_page import from_page

import scalkit as sk
from scalkit.measure import combine
from scalkit.plots.verdicts.rival_curves import fit_with_rivals, term_of
from scalkit.session import Session
from scalkit.widgets import Explorer, PlotView
from scalkit.widgets.base.cells import Cells
from scalkit.widgets.explorer.report_panel import ReportPanel
from scalkit.widgets.explorer.verdict_badge import HypothesisList

Show = Callable[..., Any]
Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> Session:
    made = {"f": 1 + 0.2 * np.sqrt(P) * np.log2(P), "g": 3 + 0.5 * P}
    data = combine([sk.measurements(P, y, name=name) for name, y in made.items()])
    return Session(data, {"f": "p", "g": "p"}, ["f <= g"]).select("f")


def several() -> Session:
    p, s = np.meshgrid(2.0 ** np.arange(1, 6), 10.0 ** np.arange(1, 6))
    points = np.stack([p.ravel(), s.ravel()], axis=1)
    made = {"f": 3 + np.log2(p) * s, "g": 5 + p * np.sqrt(s)}
    noise = np.random.default_rng(1).lognormal(0, 0.03, (len(points), 3))
    values = {name: y.ravel()[:, None] * noise for name, y in made.items()}
    data = combine([sk.measurements(points, y, parameter=["p", "S"], name=name) for name, y in values.items()])
    return Session(data, {"f": "log(p)*S", "g": "p*S"})


def links() -> list[Link]:
    gc.collect()
    return [one for one in ipywidgets.widgets.widget._instances.values() if isinstance(one, Link)]


def linked(explorer: Explorer) -> set[tuple[str, str, str, str]]:
    every = links()
    names = {explorer.hypotheses: "terms", explorer.rulers[0]: "ruler", explorer.plots.fit: "fit"}
    names[explorer.plots.divergence] = "divergence"
    return {(names[one.source[0]], one.source[1], names[one.target[0]], one.target[1]) for one in every if one.source[0] in names}


def test_views_are_linked_in_the_page(wire: Wire, session: Session) -> None:
    explorer = Explorer(session)
    assert linked(explorer) == {
        ("terms", "hover", "ruler", "hover"),
        ("terms", "hover", "fit", "hover"),
        ("terms", "term", "ruler", "selected"),
        ("terms", "term", "fit", "term"),
        ("fit", "xrange", "divergence", "xrange"),
    }
    assert session.verdict is not None
    curves = {one["meta"]["growth"] for one in explorer.plots.fit.figure["data"] if "meta" in one}
    assert {str(rival.growth) for rival in session.verdict.rivals[:7]} <= curves
    for growth in curves:
        assert f'data-term="{growth}"' in explorer.hypotheses.pieces["table"]
    explorer.hypotheses.term = "p"
    session.select("g")
    assert explorer.hypotheses.term == "", "it is about another function"


def test_a_term_over_two_parameters_is_marked_on_both_rulers(wire: Wire) -> None:
    explorer = Explorer(several())
    terms = explorer.hypotheses
    verdict = explorer.session.verdict
    best, rival = (term_of(one) for one in (verdict.model, verdict.rivals[0]))
    assert f'data-term="{rival}"' in terms.pieces["table"]
    from_page(terms, term=best)
    of_p, of_s = explorer.rulers
    assert (of_p.selected, of_s.selected) == ("log(p)", "S")
    from_page(terms, hover=rival)
    leading = verdict.rivals[0].leading
    assert (of_p.hover, of_s.hover) == (str(leading("p")), str(leading("S")))
    from_page(terms, term="", hover="")
    assert (of_p.selected, of_s.selected, of_p.hover, of_s.hover) == ("", "", "", "")


def test_point_reaches_the_picker(wire: Wire, session: Session) -> None:
    explorer = Explorer(session)
    from_page(explorer.plots.fit, xrange=[np.log10(3), np.log10(20)])
    from_page(explorer.plots.fit, clicked={"x": 8.0000001, "y": 1, "n": 1})
    assert explorer.data_picker.point == 8
    session.select("g")
    assert explorer.plots.fit.xrange == []


def test_three_explorers_do_not_disturb_each_other(wire: Wire, session: Session) -> None:
    others = [Session.load(session.to_dict()) for _ in range(2)]
    one, two, three = Explorer(session), Explorer(others[0]), Explorer(others[1])
    before = json.dumps(two.session.to_dict())
    shown = {name: getattr(two.table, name) for name in two.table.keys}
    press(one.table, "select", key="1")
    press(one.table, "sort", key="Model")
    press(one.editor, "expect", expectation="p^2", deviation="")
    from_page(one.plots.fit, xrange=[0.5, 1.0])
    three.close()
    assert json.dumps(two.session.to_dict()) == before
    assert {name: getattr(two.table, name) for name in two.table.keys} == shown
    assert two.plots.fit.xrange == []
    wire.clear()
    press(two.table, "select", key="1")
    mine = {part.model_id for part in (two.table, two.verdict, two.rulers[0], two.plots.fit)}
    touched = {widget for _, widget, _ in wire}
    assert mine <= touched
    assert not touched & {part.model_id for part in (one.table, one.verdict, one.rulers[0], one.plots.fit)}


def test_twenty_runs_of_a_cell_leave_no_more_widgets_than_one(wire: Wire, session: Session) -> None:
    cells, counts = Cells(), []
    for run in range(20):
        explorer = Explorer(session)
        cells.enter("cell", f"run {run}", explorer)
        if run in (0, 1, 19):
            press(explorer.table, "select", key=str(run % 2))
            session.add_tick(f"p^({run + 30}/7)")
            counts.append(living())
    assert counts == counts[:1] * 3


def test_an_explorer_of_many_functions_sends_little(wire: Wire) -> None:
    made = {f"function_{k}": (1 + 0.01 * k) * (1 + np.sqrt(P)) for k in range(200)}
    data = sk.measurements(P, made["function_0"], name="function_0")
    data = combine([data, *(sk.measurements(P, y, name=name) for name, y in list(made.items())[1:])])
    session = Session(data, dict.fromkeys(made, "p^(1/2)"))
    explorer = Explorer(session)
    for step in (lambda: session.move_tick("p^(3/4)", "p^(4/5)"), lambda: session.select("function_7"), session.undo):
        wire.clear()
        step()
        assert 0 < sum(len(json.dumps(data)) for _, _, data in wire) < 60_000
    explorer.close()


@pytest.mark.browser
def test_term_below_the_pointer_and_chosen_one_are_told(show: Show, wire: Wire, session: Session) -> None:
    terms = HypothesisList(session)
    assert session.verdict is not None
    first, second = (str(model.growth) for model in session.verdict.rivals[:2])
    page = show(terms)
    row = page.locator(f'tr[data-term="{first}"]')
    row.hover()
    page.wait_for_function("(term) => state.hover === term", arg=first)
    assert "hover" in str(row.get_attribute("class"))
    page.mouse.move(0, 0)
    page.wait_for_function("() => state.hover === ''")
    page.locator(f'tr[data-term="{second}"] button[data-choose]').focus()
    assert page.evaluate("state.hover") == second
    page.keyboard.press("Enter")
    assert page.evaluate("state.term") == second
    assert page.locator("button[data-choose][aria-pressed=true]").count() == 1
    page.keyboard.press("Enter")
    assert page.evaluate("state.term") == ""
    page.evaluate("(term) => model.set('term', term)", first)
    assert row.locator("button[data-choose]").get_attribute("aria-pressed") == "true"


@pytest.mark.browser
def test_curve_of_a_term_is_seen_while_it_is_pointed_at(show: Show, session: Session) -> None:
    verdict = session.verdict
    assert verdict is not None
    view = PlotView(fit_with_rivals(verdict).figure())  # type: ignore[arg-type]
    page = drawn(show, view)
    lines = "() => document.querySelectorAll('.scatterlayer .trace').length"
    n = page.evaluate(lines)
    growth = str(verdict.rivals[0].growth)
    page.evaluate("(growth) => model.set('hover', growth)", growth)
    page.wait_for_function(f"({lines})() === {n + 1}")
    page.evaluate("(growth) => model.set('term', growth)", str(verdict.rivals[1].growth))
    page.wait_for_function(f"({lines})() === {n + 2}")
    page.evaluate("() => { model.set('hover', ''); model.set('term', ''); }")
    page.wait_for_function(f"({lines})() === {n}")


@pytest.mark.browser
def test_folded_part_says_whether_it_is_open(show: Show, wire: Wire, session: Session) -> None:
    page = show(ReportPanel(session))
    assert not page.get_by_role("button", name="Write report").is_visible()
    page.get_by_text("Report", exact=True).first.click()
    page.wait_for_function("() => state.is_open")
    assert page.get_by_role("button", name="Write report").is_visible()
