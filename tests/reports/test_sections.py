"""The sections: markup that closes, names that stay text, every caveat and gap said."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from shown import figures, markup, words

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.measure import combine, write_netcdf
from scalkit.reports.inputs import plain_expectations
from scalkit.reports.pages.columns import open_columns
from scalkit.reports.pages.verdicts import Page, open_verdicts
from scalkit.reports.pieces import KINDS, flattened

NAMES = (
    *("top", "summary.overview", "summary.verdicts", "cards.cards", "cards.rules", "prediction.prediction"),
    *("quality.quality", "provenance.method", "provenance.provenance", "reopen.reopen"),
)
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


@pytest.mark.parametrize("name", NAMES)
def test_markup_closes_and_holds_nothing_from_names(page: Page, name: str) -> None:
    balance = _Balance()
    balance.feed(markup(page, name))
    assert balance.open == []
    assert not {"img", "script", "b<"} & set(balance.seen)
    assert "b" not in balance.seen or name == "top"


def test_hostile_name_is_shown_as_text(page: Page, hostile: str) -> None:
    shown = "&lt;img src=x onerror=alert(1)&gt;"
    for name in ("summary.verdicts", "cards.cards", "quality.quality", "provenance.method"):
        assert shown in markup(page, name)
        assert hostile not in markup(page, name)


def test_headline_counts_and_status(page: Page) -> None:
    text = markup(page, "top")
    assert page.status == 1
    assert page.answer.startswith("1 problem: MPI_Comm_dup keeps 8 B for every process")
    assert "total match" not in page.answer + text
    assert page.answer.endswith("Exit status 1: a deciding verdict or rule fails.")
    answers = page.result.answers
    assert min(answers["fix"], answers["fine"]) >= 1
    for answer, key in KINDS.items():
        tile = re.search(rf'<li class="{key}"><b><span aria-hidden="true">\S </span>(\d+)</b><span>(to )?{answer}', text)
        assert (int(tile[1]) if tile else 0) == answers[answer]
    assert page.result.headline in text
    assert "node&lt;1&gt;" in text
    assert "MPICH 4.3.1" in text


def test_summary_lists_gaps_and_caveats(page: Page) -> None:
    text = markup(page, "summary.verdicts")
    assert "Measured, but without an expectation" in text
    assert "MPI_Scan" in text
    assert "Expected, but not measured" in text
    assert "MPI_Win" in text
    assert "ore processes than cores at p = 8, 16, 32" in text
    assert "⚠ not deciding" in text
    assert "⚠ rule" in text
    answers = re.findall(r"</span>(fix|cannot tell|fine)</span>", text)
    worst = page.result.worst_first
    assert sorted(answers) == sorted(v.answer for v in worst)
    assert answers[0] == worst[0].answer


def test_variants_are_folded_into_the_card_of_their_function(page: Page) -> None:
    text = markup(page, "cards.cards")
    assert text.count("<article") == 6
    assert "Group shapes" in text
    assert text.index('id="f-object_memory.MPI_Comm_create"') < text.index('id="f-object_memory.MPI_Comm_create-5b-random-5d-"')
    assert len(figures(page, "cards.cards")) == 7 * 2


def test_rule_that_cannot_be_checked_says_why(page: Page) -> None:
    text = markup(page, "cards.rules")
    assert "MPI_Win was not measured" in text
    assert "violated" in text


def test_provenance_has_the_hash_of_every_input(page: Page) -> None:
    text = markup(page, "provenance.provenance")
    assert len(page.inputs) >= 1
    assert all(digest in text for digest in page.inputs.values())
    assert "measured &lt;b&gt;.nc" in text


def test_figures_become_bundles_with_a_sentence(page: Page) -> None:
    for plot in figures(page, "summary.overview"):
        bundle = plot.bundle()
        assert bundle["text/plain"].endswith(".")
        assert set(bundle["application/vnd.plotly.v1+json"]) == {"data", "layout"}


def _opened(folder: Path, data: xr.Dataset, *given: object, **options: Any) -> Page:
    path = folder / "run.nc"
    write_netcdf(data, path)
    return open_verdicts([str(path)], *given, **options)  # type: ignore[arg-type]


def test_a_page_says_how_it_was_judged_and_how_to_open_it(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16], [[x, 2 * x] for x in (2, 4, 8, 16)], "k", name="gen")
    page = _opened(tmp_path, data, "mafia", statistic="min", min_points=4, fail_on=["better", "cannot-tell"])
    said = words(page, "provenance.provenance")
    assert "expectations mafia" in said
    assert "statistic min; min points 4; fails on better, cannot-tell" in said
    assert 'session = sk.Session.load("report.html") # the name of this file' in words(page, "reopen.reopen")


def test_a_session_shows_the_code_that_leads_to_it(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [2, 4, 8, 16, 32], "k", name="gen")
    sk.Session(data, {"gen": "1"}).expect("k").save(tmp_path / "s.json")
    page = open_verdicts([str(tmp_path / "s.json")])
    assert 'session.expect("k")' in words(page, "reopen.reopen")
    assert page.result["gen"].answer == "fine"


@pytest.mark.parametrize("kind", ["baseline", "session", "measurements"])
def test_every_kind_of_baseline_is_compared_with(tmp_path: Path, kind: str) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [2, 4, 8, 16, 32], "k", name="gen", unit="s")
    before, session = tmp_path / "before", sk.Session(data, "mafia")
    made = {
        "baseline": lambda: sk.Baseline(session.result).save(before),
        "session": lambda: session.save(before),
        "measurements": lambda: write_netcdf(data, before),
    }
    made[kind]()
    page = _opened(tmp_path, data * 2, "mafia", baseline=[str(before)])
    assert [change.ratio for change in page.result.comparison or ()] == [2.0]
    assert "The growth of each model in the baseline is what is expected now" in words(page, "provenance.method")
    assert "expectations the growths of the baseline" in words(page, "provenance.provenance")
    assert f"baseline {before}" in words(page, "top")


def test_rules_of_the_user_are_named(page: Page, rules: list[str]) -> None:
    assert "; ".join(rules) in words(page, "provenance.provenance")


@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_method_names_the_statistic(tmp_path: Path, statistic: str) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="MPI_Bcast")
    text = markup(_opened(tmp_path, data, statistic=statistic), "provenance.method")
    assert f"the {statistic} counts" in text
    assert "first quartile" not in text


def test_cards_of_one_function_with_two_metrics_have_their_own_ids(tmp_path: Path) -> None:
    p = np.array([2, 4, 8, 16, 32])
    sets = [sk.measurements(p, p * 1.0, name="MPI_Bcast", metric=m) for m in ("time", "object_memory")]
    page = _opened(tmp_path, combine(sets))
    ids = re.findall(r' id="([^"]*)"', markup(page, "cards.cards"))
    assert ids == ["f-time.MPI_Bcast", "f-object_memory.MPI_Bcast"]
    assert re.findall(r'href="#(f-[^"]*)"', markup(page, "summary.verdicts")) == ids


def test_one_verdict_is_said_in_the_singular(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="MPI_Bcast")
    assert _opened(tmp_path, data).answer == "No problem: 1 fine. Exit status 0: no deciding verdict or rule fails."


def test_settings_left_out_by_hand_are_not_called_missing(tmp_path: Path) -> None:
    p = 2.0 ** np.arange(1, 9)
    both = combine([sk.measurements(p, p * 1.0, name="f"), sk.measurements(p[1:], p[1:] * 2.0, name="g")])
    sk.Session(both, {"f": "p", "g": "p"}).exclude(4, 8).select("g").exclude(64).save(tmp_path / "s.json")
    text = markup(open_verdicts([str(tmp_path / "s.json")]), "quality.quality")
    assert "Left out by hand: f at p = 4; p = 8, g at p = 64." in text
    assert "No value for: g at 2." in text


def test_truncated_files_are_named(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="MPI_Bcast")
    page = _opened(tmp_path, data.assign_attrs(truncated="time-p0004-r00.jsonl"))
    assert "These run files end early (what they hold was used): time-p0004-r00.jsonl." in markup(page, "quality.quality")


def test_nested_records_are_flattened_in_order() -> None:
    content = {"a": {"b": 1, "none": None}, "list": ["x", 2], "text": "é"}
    assert list(flattened(content)) == [("a / b", "1"), ("list", "x, 2"), ("text", "é")]


def test_columns_may_be_sessions_with_expectations_of_their_own(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [2, 4, 8, 16, 32], "k", name="gen", unit="s")
    sk.Session(data, {"gen": "1"}).save(tmp_path / "a.json")
    write_netcdf(data, tmp_path / "b.nc")
    columns = open_columns({"A": [str(tmp_path / "a.json")], "B": [str(tmp_path / "b.nc")]}, plain_expectations({"gen": "k"}))
    assert columns.answer.startswith("1 function in 2 data sets. A: fix gen. The answers differ for gen.")
    assert words(columns, "compare.verdicts").count("expected O ( ") == 2
    with pytest.raises(UsageError, match="leave expectations out, or change the session"):
        open_verdicts([str(tmp_path / "a.json")], "mpi")
