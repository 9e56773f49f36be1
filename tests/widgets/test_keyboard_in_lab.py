"""The whole app in a real JupyterLab with the keyboard alone; and what it says when its kernel is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from lab_server import LabServer, settle
from test_explorer_in_lab import eventually, picture

import scalkit as sk

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
CELLS = (
    f"""import scalkit as sk
session = sk.Session({str(ROOT / "data" / "regression")!r}, "mpi")""",
    "app = sk.explore(session)\napp",
)

LOOKS = """(one) => [one, ...one.querySelectorAll('*')].map((node) => {
  const { outlineStyle, outlineWidth, outlineColor, boxShadow, stroke, strokeWidth } = getComputedStyle(node);
  return [outlineStyle === 'none' ? '' : outlineWidth + outlineColor, boxShadow, stroke, strokeWidth].join();
}).join(';')"""

UNMARKED = f"""() => {{
  const looks = {LOOKS}, one = document.activeElement;
  if (!one.closest('.sk-part, .sk-ruler')) return '';
  const seen = looks(one);
  one.blur();
  const plain = looks(one);
  one.focus({{ focusVisible: true }});
  return seen === plain ? one.outerHTML.slice(0, 200) : '';
}}"""


class Keys:
    """Goes through a page by Tab alone, and notes what does not show that it has the focus."""

    def __init__(self, page: Any) -> None:
        self.page, self.unmarked, self.stops = page, set[str](), 0

    def to(self, selector: str, text: str = "", key: str = "Tab", most: int = 250) -> None:
        """Press Tab until an element that a selector matches, with a text, has the focus."""
        wanted = "([wanted, text]) => document.activeElement.matches(wanted) && document.activeElement.textContent.includes(text)"
        self.page.wait_for_selector(selector, state="attached")
        settle(self.page)  # what is being drawn may take the focus away
        for _ in range(most):
            self.page.keyboard.press(key)
            self.stops += 1
            if unmarked := self.page.evaluate(UNMARKED):
                self.unmarked.add(unmarked)
            if self.page.evaluate(wanted, [selector, text]):
                return
        raise AssertionError(f"no way to {selector} by {key}")

    def type(self, text: str) -> None:
        """Write a text into the field that has the focus, in place of what is there, and press Enter."""
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")


def open_by_keys(lab: LabServer, page: Any, name: str) -> None:
    lab.notebook(name, *CELLS)
    lab.open(page, name, run=False)
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel")
    page.evaluate("() => window.jupyterapp.shell.activateById(window.jupyterapp.shell.currentWidget.id)")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    for _ in CELLS:
        page.keyboard.press("Shift+Enter")
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length === 2")
    page.keyboard.press("Escape")


def test_everything_without_the_mouse(lab: LabServer, lab_page: Any) -> None:
    page, keys = lab_page, Keys(lab_page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=lab.url)
    open_by_keys(lab, page, "keys.ipynb")

    keys.to("summary", "Data, and how")
    page.keyboard.press("Enter")
    keys.to("input[name=data]")
    keys.type(str(ROOT / "data" / "quickstart"))
    eventually(lambda: lab.value("session.source").endswith("quickstart"))
    keys.to("select[data-press=function]")
    before = lab.value("session.selected")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("session.selected") != before)

    keys.to("input[name=expectation]", key="Shift+Tab")
    keys.type("p*log(p)")
    eventually(lambda: lab.value("str(session.expectation.growth)") == "p*log(p)")

    keys.to(".tick")
    if page.evaluate("() => document.activeElement.matches('.expected')"):
        page.keyboard.press("ArrowUp")
    assert page.evaluate("() => document.activeElement.matches('.tick:not(.expected)')")
    moved = page.evaluate("() => document.activeElement.dataset.growth")
    page.keyboard.press("ArrowRight")
    eventually(lambda: lab.value("session.history[-1]").startswith(f"move tick {moved} to "))
    page.keyboard.press("Insert")
    eventually(lambda: lab.value("session.history[-1]").startswith("add tick "))
    added = page.evaluate("() => document.activeElement.dataset.growth")
    page.keyboard.press("Delete")
    eventually(lambda: lab.value("session.history[-1]") == f"remove tick {added}")
    page.keyboard.press("Control+z")
    eventually(lambda: lab.value("session.history[-1]").startswith("add tick "))
    assert added in lab.value("[str(tick) for tick in session.space.ticks]")

    keys.to("tr[data-term] button[data-choose]")
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("app.plots.fit.term") != "")

    keys.to("summary", "Report")
    page.keyboard.press("Enter")
    keys.to("input[name=path]")
    keys.type("by_keys")
    page.wait_for_selector("button[data-press=open]")
    assert (lab.root / "by_keys.html").is_file()
    assert sk.Session.load(lab.root / "by_keys.html").history == tuple(lab.value("session.history[1:]"))
    keys.to("button[data-press=open]")

    keys.to("summary", "Copy as Python")
    page.keyboard.press("Enter")
    page.wait_for_selector("pre:has-text('session.select')")
    keys.to("button[data-copy]")
    page.keyboard.press("Enter")
    page.wait_for_selector("button[data-copy]:has-text('Copied')")
    assert page.evaluate("() => navigator.clipboard.readText()") == lab.value("session.as_code()")

    keys.to("summary", "Save and open")
    page.keyboard.press("Enter")
    keys.to("input[name=path]")
    keys.type("by_keys.json")
    page.wait_for_selector(":text('saved to by_keys.json')")
    assert sk.Session.load(lab.root / "by_keys.json").history == tuple(lab.value("session.history[1:]"))

    keys.to("summary", "Copy as Python", "Shift+Tab")
    assert keys.unmarked == set()
    picture(page, "keyboard")
    assert page.outside == []
    assert page.errors == []


SAYS = """() => [...document.querySelectorAll('.sk-ruler')].map((one) => getComputedStyle(one, '::after').content).join()"""


TELLING = """() => [...document.querySelectorAll('.sk-part, .sk-ruler, .sk-plot')]
  .map((one) => getComputedStyle(one, '::after').content).filter((one) => one.includes('Python'))"""


def test_a_killed_kernel(lab: LabServer, lab_page: Any) -> None:
    page = lab_page
    lab.open(page, lab.notebook("killed.ipynb", *CELLS))
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length === 2")
    page.fill("input[name=expectation]", "p^2")
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("session.history") != [])
    os.kill(lab.value("__import__('os').getpid()"), signal.SIGKILL)
    page.wait_for_function(f"() => ({SAYS})().includes('Run the cells up to this one again')")
    picture(page, "killed")
    assert page.get_by_role("dialog").count() <= 1, "JupyterLab's own remark that it started the kernel again"
    page.keyboard.press("Escape")
    tick = page.locator(".tick:not(.expected)").nth(2)
    tick.focus()
    page.keyboard.press("ArrowRight")
    page.fill("input[name=expectation]", "p^3")
    page.keyboard.press("Enter")
    page.get_by_text("Copy as Python").click()
    assert page.locator(".js-plotly-plot .main-svg[role=img]:visible").count() == 1, "what was shown stays readable"
    said = page.evaluate(TELLING)
    assert len(said) == 2, "once at the top, once below the ruler"
    assert set(said) == {
        '"⚠ Python does not listen any more: its kernel has ended or was started anew. Run the cells up to this one again."'
    }
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_selector("button[data-press=undo]:disabled")
    page.wait_for_function(f"() => !({SAYS})().includes('Run the cells up to this one again')")
    page.wait_for_function("() => document.querySelectorAll('.sk-plot[data-drawn]').length === 2")
    assert lab.value("session.history") == []
    page.fill("input[name=expectation]", "p^2")
    page.keyboard.press("Enter")
    eventually(lambda: lab.value("session.history") != [])
    assert page.outside == []
    assert page.errors == []
