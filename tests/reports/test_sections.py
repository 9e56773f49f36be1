"""The sections: markup that closes, names that stay text, every caveat and gap said."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from scalkit.reports import sections
from scalkit.reports.page import Page
from scalkit.reports.pieces import Html, Plot, Section
from scalkit.reports.sections.provenance import flattened
from scalkit.reports.sections.reproduce import measuring

NAMES = ("headline", "summary", "overview", "cards", "rules", "quality", "method", "provenance", "reproduce")
VOID = {"br", "img", "hr"}


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())


def _text(section: Section) -> str:
    return "".join(piece.text for piece in section if isinstance(piece, Html))


@pytest.mark.parametrize("name", NAMES)
def test_markup_closes_and_holds_nothing_from_names(page: Page, name: str) -> None:
    balance = _Balance()
    balance.feed(_text(getattr(sections, name)(page)))
    assert balance.open == []
    assert not {"img", "script", "b<"} & set(balance.seen)
    assert "b" not in balance.seen or name == "headline"


def test_hostile_name_is_shown_as_text(page: Page, hostile: str) -> None:
    shown = "&lt;img src=x onerror=alert(1)&gt;"
    for name in ("summary", "cards", "quality", "method"):
        assert shown in _text(getattr(sections, name)(page))
        assert hostile not in _text(getattr(sections, name)(page))


def test_headline_counts_and_status(page: Page) -> None:
    text = _text(sections.headline(page))
    assert page.status == 1
    assert "MPI_Comm_dup grows faster than expected." in page.answer
    assert page.answer.endswith("Exit status 1: a deciding verdict or rule fails.")
    for rank, count in page.result.counts.items():
        if rank == "undecided" and not count:
            continue
        assert f'<li class="{rank}"><b><span aria-hidden="true">' in text
        assert f"</span>{count}</b>" in text
    assert "node&lt;1&gt;" in text
    assert "MPICH 4.3.1" in text


def test_summary_lists_gaps_and_caveats(page: Page) -> None:
    text = _text(sections.summary(page))
    assert "Measured, but without an expectation" in text
    assert "MPI_Scan" in text
    assert "Expected, but not measured" in text
    assert "MPI_Win" in text
    assert "ore processes than cores at p = 8, 16, 32" in text
    assert "⚠ not deciding" in text
    assert "⚠ rule" in text


def test_variants_are_folded_into_the_card_of_their_function(page: Page) -> None:
    section = sections.cards(page, "object_memory")
    text = _text(section)
    assert text.count("<article") == 3
    assert "Group shapes" in text
    assert text.index('id="f-MPI_Comm_create"') < text.index('id="f-MPI_Comm_create-5b-random-5d-"')
    assert sum(isinstance(piece, Plot) for piece in section) == 4 * 3


def test_rule_that_cannot_be_checked_says_why(page: Page) -> None:
    text = _text(sections.rules(page))
    assert "MPI_Win was not measured" in text
    assert "violated" in text


def test_quality_says_where_cores_are_crowded(page: Page) -> None:
    assert "More processes than cores at p = 8, 16, 32" in _text(sections.quality(page))


def test_provenance_has_the_hash_of_every_input(page: Page) -> None:
    text = _text(sections.provenance(page))
    assert len(page.inputs) >= 1
    assert all(digest in text for digest in page.inputs.values())
    assert "measured &lt;b&gt;.nc" in text


def test_figures_become_bundles_with_a_sentence(page: Page) -> None:
    plots = [piece for piece in sections.overview(page) if isinstance(piece, Plot)]
    for plot in plots:
        bundle = plot.bundle()
        assert bundle["text/plain"].endswith(".")
        assert set(bundle["application/vnd.plotly.v1+json"]) == {"data", "layout"}


def test_campaign_becomes_the_command_that_repeats_it() -> None:
    arguments = {"kinds": ["collectives", "memory"], "counts": [2, 4], "runs": 5, "ops": [], "budget_s": 120.0}
    command = "scalkit measure collectives memory -n 2,4 --runs 5 --budget 120 --out runs/again"
    assert measuring(arguments) == command


def test_nested_records_are_flattened_in_order() -> None:
    content = {"a": {"b": 1, "none": None}, "list": ["x", 2], "text": "é"}
    assert list(flattened(content)) == [("a / b", "1"), ("list", "x, 2"), ("text", "é")]
