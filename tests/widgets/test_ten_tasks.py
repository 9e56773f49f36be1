"""Ten tasks of a day, done by hand in real pages: none takes more than five steps, a click, a key or a field filled each.

docs/explorer.md holds the table of what is counted here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer
from test_explorer_in_lab import picture
from test_voila import served
from traced import traced
from waiting import PATIENCE_S

import scalkit as sk
from scalkit.reports import bundled
from scalkit.trace import write_result
from tests.store.test_store_history import VERSIONS
from tests.store.test_store_history import _run as campaign

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST = 5
TABLE = Path(__file__).resolve().parents[2] / "docs" / "explorer.md"


class Hand:
    """Does what a person does with a page, and counts the steps of a task."""

    def __init__(self, page: Any) -> None:
        self.page, self.steps = page, 0

    def click(self, target: Any) -> None:
        target.click()
        self.steps += 1

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.steps += 1

    def fill(self, target: Any, text: str) -> None:
        target.fill(text)
        self.steps += 1

    def choose(self, target: Any, value: str) -> None:
        target.select_option(value)
        self.steps += 1

    def done(self, task: str) -> None:
        """Compare the steps of a task with those that the table promises, and begin another one."""
        promised = re.search(rf"^\| {task} \|.*\| (\d) \|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
        assert promised, f"the table does not have {task!r}"
        assert self.steps == int(promised[1]) <= MOST, task
        self.steps = 0


@pytest.fixture
def hand(chromium: Any) -> Iterator[Hand]:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(1000 * PATIENCE_S)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield Hand(page)
    page.close()
    assert errors == []


def test_in_the_app(tmp_path: Path, hand: Hand) -> None:
    page, data = hand.page, bundled("data/regression")
    theirs = tmp_path / "colleague.json"
    sk.Session(data, "mpi").select("MPI_Win_create").expect("p^2").save(theirs)
    with served(tmp_path, ["scalkit", "explore", data]) as address:
        page.goto(address)
        page.wait_for_selector(".sk-part h3:text('MPI_Comm_dup')")
        assert "1 problem: MPI_Comm_dup" in page.locator(".headline").inner_text()
        picture(page, "app")
        hand.done("find the culprit")

        limit = page.get_by_role("slider", name="Upper limit")
        limit.focus()
        before = limit.get_attribute("aria-valuetext")
        hand.press("PageUp")
        page.wait_for_selector("button[title^='Undo: deviation']")
        assert limit.get_attribute("aria-valuetext") != before
        hand.done("loosen a claim")

        hand.fill(page.locator(".sk-part input[name=expectation]"), "p^1.5")
        hand.press("Enter")
        page.wait_for_selector("button[title^='Undo: expect p^1.5 of MPI_Comm_dup']")
        assert page.locator(".headline").inner_text() != ""
        hand.done(r"see whether p\^1.5 would pass")

        page.wait_for_selector(".grip.expectation[aria-valuetext='p^(3/2)']")
        page.get_by_role("slider", name="Expectation").focus()
        for growth in ("p^(3/2)*log(p)", "p^(5/3)", "p^(5/3)*log(p)"):
            page.keyboard.press("ArrowUp")
            page.wait_for_selector(f"button[title='Undo: expect {growth} of MPI_Comm_dup']")
        for left in range(4, -1, -1):
            hand.click(page.locator("button[data-press=undo]"))
            page.wait_for_function(
                "(n) => (document.querySelector('details[data-key=steps] summary')?.textContent ?? '0').startsWith(`${n}`)",
                arg=left,
            )
        hand.done("undo five steps")

        hand.click(page.locator("summary", has_text=re.compile("^Report$")))
        hand.fill(page.locator("input[data-key='report path']"), str(tmp_path / "report.html"))
        hand.click(page.locator("button[data-key=write]"))
        page.wait_for_selector("button[data-key='open report']")
        hand.done("export the report")

        hand.click(page.locator("summary", has_text=re.compile("^Save and open$")))
        hand.fill(page.locator("input[name=path][data-key=path]"), str(theirs))
        hand.click(page.get_by_role("button", name="Open", exact=True))
        page.wait_for_selector("button[title^='Undo: expect p^2 of MPI_Win_create']")
        hand.done("open a colleague's session")


def two_libraries(folder: Path) -> sk.store.Store:
    """Return a store with MPI_Gather and a substitute, measured with two libraries over sizes and process counts."""
    store = sk.store.open(folder / "results")
    points = [[p, size] for p in (16, 32) for size in (64, 1024, 4096, 16384)]
    for library, factor in (("MPICH Version: 4.2.3", 1.0), ("Open MPI v5.0.11", 1.3)):
        for op, latency, gap in (("MPI_Gather", 10e-6, 1e-9), ("Gather_send_recv", 8e-6, 2e-9)):
            for run in range(4):
                y = [[factor * (latency + gap * size) * p * (1 + run / 500)] * 5 for p, size in points]
                ds = sk.measurements(points, y, parameter=["p", "S"], name=op).assign_attrs(mpi_library=library)
                store.put(ds, machine="vm", notes=f"{library} {op} {run}")
    return store


def test_with_a_store(tmp_path: Path, hand: Hand) -> None:
    page, store = hand.page, two_libraries(tmp_path)
    published = tmp_path / "page.html"
    subprocess.run([sys.executable, "-m", "scalkit", "store", "publish", store.path, "--out", str(published)], check=True)
    page.goto(published.as_uri())
    page.wait_for_selector("#plot .main-svg")
    hand.click(page.get_by_role("button", name="Choose all of these"))
    hand.choose(page.locator("#together"), "yes")
    page.wait_for_function("() => document.querySelectorAll('#plot .legend .traces').length === 4")
    legend = page.locator("#plot .legend").text_content()
    assert "vm, MPICH 4.2.3" in legend
    assert "vm, Open MPI 5.0.11" in legend
    hand.done("compare two libraries")

    hand.click(page.locator("summary", has_text="Setting by setting"))
    assert "MPI_Gather from 4096 B to 16384 B, up to 1.55 times faster" in page.locator("details[open]").inner_text()
    assert page.locator(".ytick").all_text_contents() == ["200 µs", "500 µs", "1 ms", "2 ms"]
    picture(page, "site")
    hand.done("which operation at 4 kB")
    for day, version in enumerate(VERSIONS, 1):
        store.put([str(campaign(tmp_path / "runs", version, day))], machine="cluster")
    words = ["history", store.path, "--by", "day", "--where", "machine=cluster"]
    said = subprocess.run([sys.executable, "-m", "scalkit", *map(str, words)], check=False, capture_output=True, text=True)
    hand.steps += 1
    assert "MPI_Bcast (time) rose at 2026-01-03 to 1.5" in said.stdout
    hand.done("what changed since last week")


def test_with_a_trace(lab: LabServer, hand: Hand, tmp_path: Path) -> None:
    page = hand.page
    write_result(traced(tmp_path / "trace"), tmp_path / "waits.nc")
    lab.open(
        page,
        lab.notebook("longest.ipynb", f"import scalkit.widgets\nscalkit.widgets.TraceExplorer({str(tmp_path / 'waits.nc')!r})"),
    )
    page.wait_for_selector(".sk-plot[data-drawn]")
    hand.click(page.get_by_role("button", name="Hottest path"))
    page.get_by_text("wait at barrier in MPI_Barrier at all processes: 600 ns").wait_for()
    hand.done("find the longest wait")
