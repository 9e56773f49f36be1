"""Browsing an assessment: groups in a table, the test in focus, its pictures; what the page asks for and what it may not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from test_explorer import press

from scalkit.errors import UsageError
from scalkit.guidelines import Assessment, assess
from scalkit.guidelines.simulated import neighbourhood_design, simulated_campaign
from scalkit.widgets import GuidelineBrowser

Wire = list[tuple[str, str, dict[str, Any]]]
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def found() -> Assessment:
    design = neighbourhood_design(p=160, sizes=(1, 64, 4096))
    design = design[design["n_dim"] == 2]
    slow = {"operation": "MPI_Neighbor_allgather", "topology": "moore", "order": "fmaj", "size": 64, "n_finite": 0}
    return assess(simulated_campaign(design, [(slow, 1.2)], seed=3, n_repetitions=9), "neighbourhood")


@pytest.fixture
def browser(wire: Wire, found: Assessment) -> GuidelineBrowser:
    return GuidelineBrowser(found)


def cells(browser: GuidelineBrowser, row: int) -> list[str]:
    markup = getattr(browser.table, f"row{row}")["cells"]
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in markup]


def test_the_worst_group_comes_first_and_is_shown(browser: GuidelineBrowser, found: Assessment) -> None:
    worst = int(found.violations.index[0])
    assert (browser.table.current, browser.test) == (0, worst)
    title, where, ratio, at, state = cells(browser, 0)
    assert title in ("GL4: MPI_Neighbor_allgather &lt;= MPI_Neighbor_alltoall", "GL11: order=fmaj ~ order=rand")
    assert "topology=moore" in where
    assert "size" not in where
    assert float(ratio) == pytest.approx(1.2, abs=0.05)
    assert (at, state) == ("64 (1 of 3)", "✗ violated")
    assert found.sentence(worst).replace("<", "&lt;") in browser.chosen.pieces["said"]
    assert browser.focus.alt.startswith("30 runs of ")
    assert "violated at size = 64" in browser.overview.alt
    assert len(browser.table.order) == len(set(found.groups.tolist()))


def test_a_press_selects_sorts_and_filters(browser: GuidelineBrowser, found: Assessment) -> None:
    before = browser.overview.figure
    press(browser.table, "select", key="5")
    assert browser.table.current == 5
    assert browser.test == browser.table.test
    assert browser.overview.figure != before
    for key in ("-1", "9999", "x", "²", ""):
        press(browser.table, "select", key=key)
        assert browser.table.current == 5
    press(browser.table, "filter", key="violated")
    assert len(browser.table.order) == 4
    press(browser.table, "filter", key="nothing")
    assert browser.table.filter == "violated"
    press(browser.table, "filter", key="")
    press(browser.table, "sort", key="Largest ratio")
    press(browser.table, "sort", key="Largest ratio")
    ratios = [float(cells(browser, k)[2]) for k in browser.table.order]
    assert ratios == sorted(ratios, reverse=True)
    press(browser.table, "sort", key="Largest ratio")
    assert browser.table.sort == ["", ""]


def test_another_test_of_the_group_comes_into_focus(browser: GuidelineBrowser, found: Assessment) -> None:
    overview, focus = browser.overview.figure, browser.focus.figure
    options = [int(n) for n in re.findall(r'value="(\d+)"', browser.chosen.pieces["choice"])]
    assert len(options) == 3
    other = next(one for one in options if one != browser.test)
    press(browser.chosen, "focus", key=str(other))
    assert browser.test == other
    assert browser.overview.figure == overview
    assert browser.focus.figure != focus
    outside = next(k for k in range(len(found)) if found.groups[k] != found.groups[other])
    for key in (str(outside), "x", ""):
        press(browser.chosen, "focus", key=key)
        assert browser.test == other
    browser.ratios.clicked = {"curve": 0, "point": 0, "x": 4096, "y": 1.0, "n": 1}
    assert found.to_frame()["size"][browser.test] == 4096
    browser.overview.clicked = {"x": "no number", "n": 2}
    assert found.to_frame()["size"][browser.test] == 4096
    browser.test = outside
    assert found.sentence(outside).replace("<", "&lt;") in browser.chosen.pieces["said"]
    with pytest.raises(UsageError, match="there is no test 99999; the assessment has"):
        browser.test = 99999


def test_nothing_to_browse_and_hostile_names(wire: Wire) -> None:
    rows = {"operation": [f"{HOSTILE}{x}" for x in "ab" for _ in range(8)], "run": [*range(8)] * 2}
    table = rows | {"time": [2.0 + k / 100 for k in range(8)] + [1.0 + k / 100 for k in range(8)]}
    browser = GuidelineBrowser(assess(table, f'"{HOSTILE}a" <= "{HOSTILE}b"', p_threshold=0.01))
    shown = str([browser.table.pieces, browser.table.row0, browser.chosen.pieces, browser._fallback_html()])
    assert "&lt;img" in shown
    views = (browser.overview, browser.ratios, browser.focus)
    assert "<img" not in shown + str([view.figure["data"] for view in views])
    empty = GuidelineBrowser(assess(table, "c <= d"))
    assert (empty.test, empty.table.order, empty.focus.layout.display) == (-1, [], "none")
    assert "There is no test." in empty.chosen.pieces["said"]
    with pytest.raises(UsageError, match=r"a browser shows what sk\.guidelines\.assess returns, got str\."):
        GuidelineBrowser("a")  # type: ignore[arg-type]
