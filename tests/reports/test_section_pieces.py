"""Sections made of templates: what data bring along is shown letter by letter, and figures stand where they belong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from shown import markup, pieces

import scalkit as sk
from scalkit.measure import write_netcdf
from scalkit.reports.pages.verdicts import open_verdicts
from scalkit.reports.pieces import Html, Plot, name, rendered, templates

HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_card_of_a_hostile_name_escapes_it_and_holds_both_figures(tmp_path: Path) -> None:
    p = np.array([2, 4, 8, 16, 32, 64])
    write_netcdf(sk.measurements(p, 1e-6 * p, name=HOSTILE), tmp_path / "run.nc")
    page = open_verdicts([str(tmp_path / "run.nc")], "p")
    assert [type(piece) for piece in pieces(page, "cards.cards")] == [Html, Plot, Html, Plot, Html]
    assert "&lt;img src=x" in markup(page, "cards.cards")
    assert "<img" not in markup(page, "cards.cards")


def macro(call: str, **values: object) -> str:
    source = f'{{% import "pieces.html" as pieces with context %}}{{{{ pieces.{call} }}}}'
    return templates().from_string(source).render(plot=None, **values)


def test_tables_escape_plain_text_and_pass_markup() -> None:
    text = macro("table('a < b', ('<h>',), rows, (1,))", rows=[("<c>", name("<d>"))])
    assert "<caption>a &lt; b</caption>" in text
    assert '<th scope="col">&lt;h&gt;</th>' in text
    assert '<th scope="row">&lt;c&gt;</th><td class="num"><code class="name">&lt;d&gt;</code></td>' in text


def test_the_summary_of_a_folded_part_is_escaped() -> None:
    assert macro("details('<s>', 'x')") == "<details><summary>&lt;s&gt;</summary>x</details>"


def test_text_cannot_stand_for_a_figure() -> None:
    found = rendered("compare/verdicts.html", labels=["a\x000\x00b"], groups={})
    assert [type(piece) for piece in found] == [Html]
    assert ">a0b<" in "".join(piece.text for piece in found if isinstance(piece, Html))
