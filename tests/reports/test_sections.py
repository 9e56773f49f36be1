"""The sections: markup that closes, names that stay text, every caveat and gap said."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.measure import combine, write_netcdf
from scalkit.plots.style import ANSWER_KEYS
from scalkit.reports import sections
from scalkit.reports.columns import open_columns
from scalkit.reports.inputs import to_plain
from scalkit.reports.page import Page, open_page
from scalkit.reports.pieces import Html, Plot, Section
from scalkit.reports.sections.provenance import flattened
from scalkit.reports.sections.reopen import measuring

NAMES = (*("headline", "summary", "overview", "cards", "rules", "prediction", "quality", "method", "provenance", "reopen"),)
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
    answers = page.result.answers
    assert min(answers["fix"], answers["fine"]) >= 1
    for answer, key in ANSWER_KEYS.items():
        tile = re.search(rf'<li class="{key}"><b><span aria-hidden="true">\S </span>(\d+)</b><span>(to )?{answer}', text)
        assert (int(tile[1]) if tile else 0) == answers[answer]
    assert page.result.headline in text
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
    answers = re.findall(r"</span>(fix|cannot tell|fine)</span>", text)
    worst = page.result.worst_first
    assert sorted(answers) == sorted(v.answer for v in worst)
    assert answers[0] == worst[0].answer


def test_variants_are_folded_into_the_card_of_their_function(page: Page) -> None:
    section = sections.cards(page, "object_memory")
    text = _text(section)
    assert text.count("<article") == 3
    assert "Group shapes" in text
    assert text.index('id="f-object_memory.MPI_Comm_create"') < text.index('id="f-object_memory.MPI_Comm_create-5b-random-5d-"')
    assert sum(isinstance(piece, Plot) for piece in section) == 4 * 2


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


def test_shapes_programs_and_a_seed_of_zero_are_repeated() -> None:
    arguments = {"kinds": ["memory"], "counts": [2], "shapes": ["identity", "random"], "seed": 0}
    mpi = {"library": "Some MPI", "mpicc": "/opt/my mpi/mpicc", "mpiexec": "/opt/mpiexec"}
    assert measuring(arguments, mpi) == (
        "scalkit measure memory -n 2 --shapes identity,random --seed 0 --mpicc '/opt/my mpi/mpicc' "
        "--mpiexec /opt/mpiexec --out runs/again"
    )


def test_odd_records_of_a_campaign_are_shown_as_they_are() -> None:
    assert measuring({"kinds": "memory", "counts": 4}, "odd") == "scalkit measure memory -n 4 --out runs/again"


def _opened(folder: Path, data: xr.Dataset, *given: object, **options: Any) -> Page:
    path = folder / "run.nc"
    write_netcdf(data, path)
    return open_page([str(path)], *given, named={"runs": ["-run.nc"]}, **options)  # type: ignore[arg-type]


def test_commands_repeat_every_option_that_decides(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16], [[x, 2 * x] for x in (2, 4, 8, 16)], "k", name="gen")
    options: dict[str, Any] = {"statistic": "min", "min_points": 4, "fail_on": ["better", "undecided"]}
    text = html.unescape(_text(sections.reopen(_opened(tmp_path, data, "mafia", **options))))
    shared = "./-run.nc --expect mafia --fail-on better --fail-on undecided --statistic min --min-points 4"
    assert f"scalkit report {shared} --out report.html\nscalkit validate {shared}<" in text
    assert "result = sk.validate(data, 'mafia', statistic='min', min_points=4)" in text
    assert "print(result.exit_status(['better', 'undecided']))" in text


@pytest.mark.parametrize("kind", ["baseline", "session", "measurements"])
def test_every_kind_of_baseline_is_repeated(tmp_path: Path, kind: str) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [2, 4, 8, 16, 32], "k", name="gen", unit="s")
    before, session = tmp_path / "before", sk.Session(data, "mafia")
    made = {
        "baseline": lambda: sk.Baseline.from_result(session.result).save(before),
        "session": lambda: session.save(before),
        "measurements": lambda: write_netcdf(data, before),
    }
    made[kind]()
    page = _opened(tmp_path, data * 2, "mafia", baseline=str(before), judged_by_baseline=True)
    text = html.unescape(_text(sections.reopen(page)))
    expect = " --expect mafia" if kind == "measurements" else ""
    assert f"scalkit report --template regression ./-run.nc{expect} --baseline {before} --out report.html" in text
    assert (f"scalkit validate ./-run.nc --baseline {before}" in text) == (kind == "baseline")
    code = text[text.index("baseline = ") :].split("\n")[0]
    space: dict[str, Any] = {"sk": sk}
    exec(code, space)
    assert space["baseline"] == page.baseline
    assert [change.ratio for change in page.result.comparison or ()] == [2.0]
    assert "The growth of each model in the baseline is what is expected now" in _text(sections.method(page))
    assert "the growths of the baseline" in _text(sections.provenance(page))


def test_rules_stated_in_python_are_repeated_in_python(page: Page, rules: list[str]) -> None:
    text = html.unescape(_text(sections.reopen(page)))
    assert f"sk.validate(data, expectations, rules={rules!r})" in text
    assert "scalkit validate" not in text
    assert "write them into a TOML file" in text


@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_method_names_the_statistic(tmp_path: Path, statistic: str) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="MPI_Bcast")
    text = _text(sections.method(_opened(tmp_path, data, statistic=statistic)))
    assert f"the {statistic} counts" in text
    assert "first quartile" not in text


def test_cards_of_one_function_with_two_metrics_have_their_own_ids(tmp_path: Path) -> None:
    p = np.array([2, 4, 8, 16, 32])
    sets = [sk.measurements(p, p * 1.0, name="MPI_Bcast", metric=m) for m in ("time", "object_memory")]
    page = _opened(tmp_path, combine(sets))
    ids = re.findall(r' id="([^"]*)"', _text(sections.cards(page)))
    assert ids == ["f-time.MPI_Bcast", "f-object_memory.MPI_Bcast"]
    assert re.findall(r'href="#(f-[^"]*)"', _text(sections.summary(page))) == ids


def test_one_verdict_is_said_in_the_singular(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="MPI_Bcast")
    assert _opened(tmp_path, data).answer.startswith("No problem: 1 fine. 1 verdict on 1 function: ")


def test_settings_left_out_by_hand_are_not_called_missing(tmp_path: Path) -> None:
    p = 2.0 ** np.arange(1, 9)
    both = combine([sk.measurements(p, p * 1.0, name="f"), sk.measurements(p[1:], p[1:] * 2.0, name="g")])
    sk.Session(both, {"f": "p", "g": "p"}).exclude(4, 8).select("g").exclude(64).save(tmp_path / "s.json")
    text = _text(sections.quality(open_page([str(tmp_path / "s.json")])))
    assert "Left out by hand: f at p = 4; p = 8, g at p = 64." in text
    assert "No value for: g at 2." in text


def test_truncated_files_are_named(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="MPI_Bcast")
    page = _opened(tmp_path, data.assign_attrs(truncated="time-p0004-r00.jsonl"))
    assert "These run files end early (what they hold was used): time-p0004-r00.jsonl." in _text(sections.quality(page))


def test_nested_records_are_flattened_in_order() -> None:
    content = {"a": {"b": 1, "none": None}, "list": ["x", 2], "text": "é"}
    assert list(flattened(content)) == [("a / b", "1"), ("list", "x, 2"), ("text", "é")]


def test_the_command_of_a_comparison_repeats_what_was_expected(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [2, 4, 8, 16, 32], "k", name="gen", unit="s")
    for name in ("a", "b"):
        write_netcdf(data, tmp_path / f"{name}.nc")
        sk.Session(data, "mafia").judge_by(statistic="min").save(tmp_path / f"{name}.json")

    labels = ["A", "B"]

    def shown(end: str, expectations: object, **options: Any) -> str:
        named = {"sets": [{"runs": [f"{name}.{end}"]} for name in "ab"]}
        named["expectations"] = expectations if isinstance(expectations, str) else ""  # type: ignore[assignment]
        runs = [str(tmp_path / f"{name}.{end}") for name in "ab"]
        columns = open_columns(runs, expectations, labels, named=named, **options)  # type: ignore[arg-type]
        return html.unescape(_text(sections.compare_reopen(columns)))

    command = "scalkit report --template compare a.nc b.nc --label A --label B --expect mafia --statistic min --out"
    assert command in shown("nc", "mafia", statistic="min")
    assert "scalkit report" not in shown("nc", to_plain({"gen": "k"}))
    assert " --expect mafia --parameter k --out" in shown("nc", "mafia", parameter="k")
    assert "scalkit report --template compare a.json b.json --label A --label B --out" in shown("json", "mpi")
    labels = ["-A", "B"]
    assert " --label=-A --label B " in shown("nc", "mafia")
