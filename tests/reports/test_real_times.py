"""Run times of the real clock beside those of virtual time: both in one table, and never one series."""

from __future__ import annotations

import html
import re
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.measure import series, write_netcdf
from scalkit.reports import sections
from scalkit.reports.page import open_page
from scalkit.reports.pieces import Html, Section
from scalkit.reports.sections.reopen import measuring
from scalkit.units import format_quantity

DATA = Path(__file__).resolve().parents[2] / "data"
VIRTUAL, REAL, MEMORY = (str(DATA / name / "mpich-5.0.2") for name in ("virtual", "libraries-times", "libraries"))


def _text(section: Section) -> str:
    return html.unescape("".join(piece.text for piece in section if isinstance(piece, Html)))


def test_both_times_stand_in_one_row_and_verdicts_are_those_of_virtual_time() -> None:
    page = open_page([VIRTUAL], real_times=REAL, named={"runs": [VIRTUAL], "real_times": "<b>real"})
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", _text(sections.real_times(page)))
    cells = {tuple(re.sub(r"(<[^>]*>)+", "|", row).split("|")[1:3]): row for row in rows}
    assert len(cells) == len(rows) == 8 * 5
    time = {one.function: one for one in series(sk.read(REAL)) if one.metric == "time"}["MPI_Barrier"]
    shown = cells["MPI_Barrier", "2"]
    for value in (time.y[0], time.values[0].min(), time.values[0].max()):
        assert f">{format_quantity(value, 's')}<" in shown
    assert shown.endswith(">1.60 us</td></tr>")
    alone = open_page([VIRTUAL])
    assert page.result.to_json() == alone.result.to_json()
    assert page.status == alone.status
    assert not list(sections.real_times(alone))


def test_what_they_are_is_said_and_how_to_make_them_again() -> None:
    page = open_page([VIRTUAL], real_times=REAL, named={"runs": [VIRTUAL], "real_times": "<b>real"})
    pieces = "".join(piece.text for piece in sections.real_times(page) if isinstance(piece, Html))
    assert "<b>" not in pieces
    assert "No verdict uses them" in pieces
    assert "more processes than cores at p = 4, 8, 16, 32" in pieces
    assert "real times" in _text(sections.provenance(page))
    reopen = _text(sections.reopen(page))
    assert "--real-times '<b>real' --out report.html" in reopen
    assert "scalkit measure collectives -n 2,4,8,16,32,64,128 --clock virtual --network cluster --runs 1" in reopen


def test_the_load_of_other_programs_is_one_range(tmp_path: Path) -> None:
    ds = sk.read(REAL)
    ds["foreign_load"] = ds["foreign_load"] * 0 + np.linspace(0.062, 0.31, ds.sizes["function"])[:, None, None]
    write_netcdf(ds, tmp_path / "real.nc")
    text = _text(sections.real_times(open_page([VIRTUAL], real_times=str(tmp_path / "real.nc"))))
    assert re.findall("other programs used about (.*?) of the CPU", text) == ["6 to 31 %"]


def test_a_setting_of_virtual_time_alone_is_not_in_the_table_and_a_missing_one_is_a_dash(tmp_path: Path) -> None:
    real = sk.measurements([2, 3], [1e-6, 2e-6], name="MPI_Barrier")
    write_netcdf(real, tmp_path / "real.nc")
    text = _text(sections.real_times(open_page([VIRTUAL], real_times=str(tmp_path / "real.nc"))))
    assert text.count('<th scope="row">') == 2
    assert '<td class="num">3</td>' in text
    assert text.count(">–</td>") == 1
    assert "one run, and" in text


@pytest.mark.parametrize(
    ("runs", "real", "said"),
    [
        (REAL, REAL, r"^real times stand beside virtual ones, and the reported times are real; leave '.*' out\.$"),
        (VIRTUAL, VIRTUAL, r"^'.*' holds no run times of the real clock; measure them with --clock real\.$"),
        (VIRTUAL, str(DATA / "simulated" / "juqueen"), r"^'.*' holds no run times of the real clock; measure them with"),
        (VIRTUAL, MEMORY, r"^'.*' holds no run times over one parameter; measure collectives with --clock real\.$"),
    ],
)
def test_other_times_are_refused(runs: str, real: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_page([runs], real_times=real)


@pytest.mark.slow
def test_a_report_is_written_with_them(tmp_path: Path) -> None:
    made = sk.report(VIRTUAL, None, tmp_path / "r.html", real_times=REAL)
    page = made.html.read_text(encoding="utf-8")
    assert '<details class="section" id="real-times">' in page
    assert "Real time: " in page
    with pytest.raises(UsageError, match="the template compare has no parameter 'real_times'"):
        sk.report([VIRTUAL, REAL], None, tmp_path / "c.html", template="compare", real_times=REAL)


def test_a_page_on_virtual_times_says_so_in_every_part_and_names_no_host_in_its_title() -> None:
    page = open_page([str(DATA / "quickstart")])
    assert page.title == "Does MPICH 5.0.2 scale as it should?"
    for part in (sections.summary, sections.overview, sections.cards):
        text = _text(part(page)).lower()
        assert "run time, virtual" in text
        assert "memory of objects, virtual" not in text


def test_a_campaign_in_virtual_time_is_repeated_as_such() -> None:
    arguments = {"kinds": ["collectives", "memory"], "counts": [2, 3], "memory_counts": [2]}
    machine = {"network": "L=1us,o=0,g=0,G=0", "per_node": 8}
    assert measuring(arguments, None, machine) == (
        "scalkit measure collectives memory -n 2,3 --memory-n 2 --clock virtual --network L=1us,o=0,g=0,G=0 --per-node 8 "
        "--out runs/again"
    )
