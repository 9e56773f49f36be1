"""Sections made of templates: what data bring along is shown letter by letter, and figures stand where they belong."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

import scalkit as sk
from scalkit import plots
from scalkit.reports.pieces import Html, Plot, Section, details, figure, name, table
from scalkit.reports.sections.cards import card

HOSTILE = "<img src=x onerror=alert(1)>"


def verdict() -> sk.Verdict:
    p = np.array([2, 4, 8, 16, 32, 64])
    return sk.validate(sk.measurements(p, 1e-6 * p, name=HOSTILE), {HOSTILE: "p"}).verdicts[0]


def test_a_card_of_a_hostile_name_escapes_it_and_holds_both_figures() -> None:
    section = card(verdict())
    text = "".join(piece.text for piece in section if isinstance(piece, Html))
    assert [type(piece) for piece in section] == [Html, Plot, Html, Plot, Html]
    assert "&lt;img src=x" in text
    assert "<img" not in text


def test_tables_escape_plain_text_and_pass_markup() -> None:
    text = table("a < b", ("<h>",), [("<c>", name("<d>"))], numeric=(1,))
    assert "<caption>a &lt; b</caption>" in text
    assert '<th scope="col">&lt;h&gt;</th>' in text
    assert '<th scope="row">&lt;c&gt;</th><td class="num"><code class="name">&lt;d&gt;</code></td>' in text
    assert details("<s>", Markup("<p>x</p>")) == "<details><summary>&lt;s&gt;</summary><p>x</p></details>"


def test_a_figure_has_its_caption_below_it() -> None:
    above, drawn, below = figure(plots.fit(verdict()), "a < b", "<h>")
    assert isinstance(drawn, Plot)
    assert above == Html('<div class="figure"><h4>&lt;h&gt;</h4>')
    assert below == Html('<p class="figcaption">a &lt; b</p></div>')


def test_text_cannot_stand_for_a_figure() -> None:
    found = Section.rendered("columns.html", caption="a\x000\x00b", labels=("c",), groups=[])
    assert [type(piece) for piece in found] == [Html]
    assert "<caption>a0b</caption>" in "".join(piece.text for piece in found if isinstance(piece, Html))
