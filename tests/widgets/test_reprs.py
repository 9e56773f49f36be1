"""Every public object shows itself: terse text for logs, HTML for notebooks, formulas; nothing in a name runs."""

from __future__ import annotations

import inspect
from html import escape
from typing import Any

import pytest
from repr_gallery import HOSTILE, gallery
from tabs import Tabs

import scalkit as sk
from scalkit.support import markup

FORMULAS = {
    "Expectation",
    "Growth",
    "GrowthSum",
    "Model",
    "Piecewise",
    "SeveralExpectation",
    "Model of several parameters",
    "Verdict",
    "Verdict cannot tell",
}
LIGHT, DARK = "background:#fff;color:#212121", "background:#111;color:#e0e0e0"


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    return gallery()


def test_no_public_class_was_forgotten(shown: dict[str, Any]) -> None:
    classes = [getattr(sk, name) for name in sk.__all__ if inspect.isclass(getattr(sk, name))]
    seen = {type(one) for one in shown.values()}
    widgets = {cls for cls in classes if hasattr(cls, "_repr_mimebundle_")}
    assert {cls.__name__ for cls in set(classes) - seen - widgets} == set()
    assert {"Ruler"} == {cls.__name__ for cls in widgets}


def test_texts_are_one_line_and_short(shown: dict[str, Any]) -> None:
    for name, one in shown.items():
        if name == "Validation":  # a table
            continue
        assert "\n" not in repr(one), name
        assert len(repr(one)) < 400, name
        assert "array(" not in repr(one), name


def test_markup_escapes_names_and_is_closed(shown: dict[str, Any]) -> None:
    from xml.etree import ElementTree

    named = 0
    for name, one in shown.items():
        text = one._repr_html_()
        assert "<script" not in text, name
        named += escape(HOSTILE) in text
        ElementTree.fromstring(f"<div>{text}</div>")
    assert named >= 8


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_formulas_are_drawn_by_the_browser(shown: dict[str, Any], name: str) -> None:
    assert "<math>" in shown[name]._repr_html_()


@pytest.mark.browser
@pytest.mark.parametrize(("style", "width"), [(LIGHT, 1000), (DARK, 1000), (DARK, 360)])
def test_on_a_page(shown: dict[str, Any], tabs: Tabs, axe: Any, style: str, width: int) -> None:
    body = "".join(f"<h2>{escape(name)}</h2>{one._repr_html_()}" for name, one in shown.items() if name != "Advice")
    errors: list[str] = []
    listeners = {
        "pageerror": lambda error: errors.append(str(error)),
        "request": lambda asked: errors.append(asked.url) if asked.url.startswith("http") else None,
    }
    page = tabs.take(listeners, width, 800)
    page.set_content(
        f"<!doctype html><html lang='en'><head><title>safe</title></head>"
        f"<body style='font:14px sans-serif;{style}'><main><h1>Shown</h1>{body}</main></body></html>"
    )
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.title() == "safe"
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []


def test_pieces_of_markup() -> None:
    assert markup.details("summary", "") == ""
    assert markup.bullets([]) == ""
    assert markup.paragraph("") == ""
    assert markup.counted(1, "tick") == "1 tick"
    assert (markup.counted(2, "tick"), markup.counted(0, "reply", "replies")) == ("2 ticks", "0 replies")
    assert "<caption>a &lt;b&gt;</caption>" in markup.table(("x",), [("1",)], "a <b>")
    assert markup.marked("unheard of", "x").endswith(">x</span>")


def test_what_stands_in_the_place_of_a_widget(shown: dict[str, Any]) -> None:
    app, ruler = sk.explore(shown["Session"]), sk.Ruler(expectation="p")
    for widget, said in ((app, "<Explorer: 1 problem: near grows as p^(1/2) "), (ruler, "<Ruler: 39 ticks around p>")):
        data, _ = widget._repr_mimebundle_()
        assert set(data) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
        assert data["text/plain"].startswith(said)
        assert "<script" not in data["text/html"]
        assert "<math>" in data["text/html"]
        widget.close()
