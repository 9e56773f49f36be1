"""The page of a store in Chromium: it needs no server and asks no other host."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.plots.store.site import page, write_page
from scalkit.store.filed.dataset import runs_of
from scalkit.store.runs.content import encoded
from scalkit.support.bundled import bundled

Visit = Callable[..., Any]
AXE = Path(__file__).resolve().parents[1] / "vendor/axe.min.js"
HOSTILE = "<img src=x onerror=alert(1)>%{x}&amp;</script>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    """Two operations on two machines over processes and sizes, three runs each; one machine is simulated."""
    store = sk.store.open(tmp_path_factory.mktemp("sites") / "results")
    points = [[p, size] for p in (2, 4) for size in (8, 64, 512)]
    for machine, simulated, factor in (("vm", 0, 1.0), ("cluster", 1, 0.1)):
        for op, slower in (("MPI_Gather", 1.0), ("Gather_send_recv", 2.0)):
            for run in range(3):
                times = [[slower * factor * p * (1 + run / 100) * 1e-6 * size] * 5 for p, size in points]
                ds = sk.measurements(points, times, parameter=["p", "S"], name=op)
                store.put(ds.assign_attrs(simulated=simulated), machine=machine, licence="CC-BY-4.0")
    return store


@pytest.fixture(scope="module")
def site(store: sk.store.Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(store, tmp_path_factory.mktemp("pages") / "gathers.html", "Gathers")


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    """Open a page without a network; return the tab, what went wrong, and what was asked of others."""
    ends: list[Callable[[], None]] = []

    def go(path: Path, **context: Any) -> tuple[Any, list[str], list[str]]:
        opened = chromium.new_context(accept_downloads=True, offline=True, **context)
        ends.append(opened.close)
        tab, trouble, elsewhere = opened.new_page(), [], []
        here = (path.as_uri(), "blob:", "data:")
        tab.on("request", lambda asked: elsewhere.append(asked.url) if not asked.url.startswith(here) else None)
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        tab.on("console", lambda said: trouble.append(said.text) if said.type in ("error", "warning") else None)
        tab.goto(path.as_uri())
        return tab, trouble, elsewhere

    yield go
    for end in ends:
        end()


def _csv(tab: Any) -> list[dict[str, str]]:
    with tab.expect_download() as waited:
        tab.click("#csv")
    return list(csv.DictReader(Path(waited.value.path()).read_text().splitlines()))


def _lines(tab: Any, n: int) -> None:
    tab.wait_for_function(f"() => document.querySelectorAll('#plot .legend .traces').length === {n}")


def test_every_run_unfolds_to_its_record(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    store.put(bundled("data/libraries-times/mpich-5.0.2"), user="A. Nonymous", machine="vm")
    shown = page(store)
    assert shown.count("<details><summary>") >= len(store)
    said = html.unescape(shown)
    for text in (
        '"user": "A. Nonymous"',
        '"machine": "vm"',
        "Intel(R) Xeon(R)",
        "MPICH Version:",
        '"max_reps": 400',
        "CLOCK_MONOTONIC",
    ):
        assert text in said


@pytest.mark.browser
def test_runs_operations_axes_and_ratios_are_chosen(store: sk.store.Store, site: Path, visit: Visit) -> None:
    tab, trouble, elsewhere = visit(site)
    _lines(tab, 2)  # one run of MPI_Gather alone has no substitute: p = 2 and p = 4
    assert tab.locator("#runs input").count() == 12
    tab.fill("#run-filter", "vm")
    for k in range(6):
        tab.locator("#runs input").nth(k).check()
    for k in range(2):
        tab.locator("#operations input").nth(k).check()
    tab.select_option("#together", "yes")
    _lines(tab, 4)
    tab.select_option("#fixed", "p = 4")
    _lines(tab, 2)
    where = {"machine": "vm", "p": 4}
    found = store.compare(["MPI_Gather", "Gather_send_recv"], where=where)
    rows = _csv(tab)
    for curve in found.curves:
        own = [row for row in rows if row["op"] == curve.op]
        assert [int(row["x"]) for row in own] == curve.x.tolist() == [8, 64, 512]
        np.testing.assert_allclose([float(row["value"]) for row in own], curve.y)
        np.testing.assert_allclose([[float(row["low"]), float(row["high"])] for row in own], np.transpose(curve.spread))
    tab.select_option("#reference", index=[row["op"] for row in rows].index("MPI_Gather") // 3 + 1)
    tab.wait_for_function("() => document.querySelector('#plot .ytitle').textContent === 'ratio'")
    np.testing.assert_allclose([float(row["value"]) for row in _csv(tab) if row["op"] == "Gather_send_recv"], 2.0)
    tab.select_option("#reference", "")
    tab.select_option("#axis", "p")
    tab.select_option("#fixed", "")
    _lines(tab, 6)
    assert {row["x"] for row in _csv(tab)} == {"2", "4"}
    shown = tab.evaluate("[...document.querySelectorAll('#plot .ytick')].map((one) => one.textContent)")
    assert len(shown) > 3
    assert all(re.fullmatch(r"[125]0{0,2} [nµm]?s", one) for one in shown)
    with tab.expect_download() as waited:
        tab.click("#svg")
    drawing = Path(waited.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert re.search(r">Gather_send_recv[\w, -]*, 64 B on vm<", drawing)
    assert (trouble, elsewhere) == ([], [])


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (700, "light"), (1280, "dark"), (1280, "light")])
def test_the_site_fits_every_screen_and_says_what_is_simulated(width: int, scheme: str, site: Path, visit: Visit) -> None:
    tab, trouble, elsewhere = visit(site, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    tab.wait_for_selector("#plot .main-svg")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    ink = tab.evaluate("getComputedStyle(document.querySelector('#plot .xtitle')).fill")
    assert ink == ("rgb(230, 233, 236)" if scheme == "dark" else "rgb(27, 31, 36)")
    tab.fill("#run-filter", "cluster")
    tab.locator("#runs input").first.check()
    assert "(simulated)" in tab.locator("#runs label").first.inner_text()
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    assert [one["id"] for one in tab.evaluate("axe.run(document)")["violations"]] == []
    assert (trouble, elsewhere) == ([], [])


@pytest.mark.browser
def test_close_values_bytes_and_long_names_can_be_read(tmp_path: Path, visit: Visit) -> None:
    store = sk.store.open(tmp_path / "s")
    values = [[3001] * 3, [3002] * 3, [3005] * 3]
    store.put(
        sk.measurements([2, 4, 8], values, parameter="p", name="MPI_Comm_dup", metric="object_memory"),
        machine="a machine with a name that is longer than a telephone is wide",
    )
    tab, trouble, *_ = visit(write_page(store, tmp_path / "page.html"), viewport={"width": 360, "height": 800})
    tab.wait_for_selector("#plot .main-svg")
    shown = tab.evaluate("[...document.querySelectorAll('#plot .ytick')].map((one) => one.textContent)")
    assert len(set(shown)) == len(shown) > 2
    assert "3.002 kB" in shown
    assert tab.locator("#axis option").all_inner_texts() == ["processes", "message size (B)"]
    assert ", ," not in tab.locator("#runs").inner_text()
    assert tab.locator("#plot .legendtext tspan").count() > 2
    right = "(one) => one.getBoundingClientRect().right"
    assert tab.locator("#plot .legendtext").evaluate(right) <= tab.locator("#plot").evaluate(right)
    assert trouble == []


@pytest.mark.browser
def test_texts_stay_texts(tmp_path: Path, visit: Visit) -> None:
    store = sk.store.open(tmp_path / "hostile")
    for op in ("MPI_Gather", HOSTILE, "=cmd()"):
        ds = sk.measurements([2, 4, 8], [[k * 1e-6] * 3 for k in (1, 2, 4)], name=op)
        for one in runs_of(ds, {"machine": f"vm {HOSTILE}", "site": HOSTILE, "label": HOSTILE}, {}):  # put refuses such names
            store.folder.add(one.run_id, encoded(one))
    tab, trouble, elsewhere = visit(write_page(store, tmp_path / "page.html", HOSTILE))
    tab.wait_for_selector("#plot .main-svg")
    for k in range(3):
        tab.locator("#runs input").nth(k).check()
    for k in range(3):
        tab.locator("#operations input").nth(k).check()
    _lines(tab, 3)
    assert tab.locator("h1").inner_text() == HOSTILE
    assert tab.locator("img").count() == 0
    assert HOSTILE in tab.locator("#plot .legend").text_content()
    assert {row["op"] for row in _csv(tab)} == {"MPI_Gather", HOSTILE, "'=cmd()"}
    assert (trouble, elsewhere) == ([], [])


@pytest.mark.browser
def test_two_virtual_clocks_of_one_platform_are_two_curves(visit: Visit, tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for latency_s in (1e-6, 5e-6):
        machine = {"network": "mine", "L_s": latency_s, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}
        ds = sk.measurements([2, 4, 8], [latency_s, 2 * latency_s, 3 * latency_s], name="MPI_Barrier")
        store.put(ds.assign_attrs(clock="virtual", virtual=json.dumps(machine)), machine="cluster")
    tab, trouble, _ = visit(write_page(store, tmp_path / "page.html"))
    for k in range(2):
        tab.locator("#runs input").nth(k).check()
    tab.select_option("#together", "yes")
    _lines(tab, 2)
    assert trouble == []
