"""A report of functions over several parameters: every section speaks of all of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from shown import figures, markup, words

import scalkit as sk
from scalkit.measure import combine, write_netcdf
from scalkit.reports.inputs import plain_expectations
from scalkit.reports.pages.verdicts import Page, open_verdicts

P, S = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(3, 8)
POINTS = np.array(list(itertools.product(P, S)))
NAME = "<i>MPI_Bcast</i>"
EXPECTED = {NAME: "log(p) + S", "MPI_Gather": {"expectation": "p + S", "deviation": {"S": "S^(1/4)"}}}


@pytest.fixture(scope="module")
def data() -> xr.Dataset:
    time = 2e-6 + 3e-6 * np.log2(POINTS[:, 0]) + 1e-9 * POINTS[:, 1]
    product = 1e-9 * POINTS[:, 0] * POINTS[:, 1]
    sets = [sk.measurements(POINTS, y, parameter=["p", "S"], name=name) for name, y in ((NAME, time), ("MPI_Gather", product))]
    return combine(sets).assign_coords(oversubscribed=("p", P > 64))


@pytest.fixture(scope="module")
def page(data: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("several") / "several.nc"
    write_netcdf(data, path)
    return open_verdicts([str(path)], plain_expectations(EXPECTED))


def test_cards_show_a_figure_along_each_parameter(page: Page) -> None:
    assert len(figures(page, "cards.cards")) == 4
    said = words(page, "cards.cards")
    assert "MPI_Gather: it grows faster than claimed, S + p, with a probability of" in said
    assert "but these values decide nothing." in said
    assert "Along p: measured values and the model, one colour for each value of S; dotted beyond" in said
    assert "along each parameter, the others fixed. Effect: its share of the value at p = 128, S = 16384." in said
    assert "<i>" not in markup(page, "cards.cards")


def test_overview_shows_the_effects(page: Page) -> None:
    (figure,) = figures(page, "summary.overview")
    assert "Effect of each parameter" in figure.bundle()["text/plain"]


def test_every_section_speaks_of_both_parameters(page: Page) -> None:
    assert "p 8, 16, 32, 64, 128 S 64, 256, 1024, 4096, 16384" in words(page, "top")
    assert "More processes than cores at p = 128" in words(page, "summary.verdicts")
    method = words(page, "provenance.method")
    assert "p: around, " in method
    assert "S: around, " in method
    assert "A parameter that the expectation does not name is expected to have no effect." in method
    assert "S ⋅ p" in words(page, "summary.verdicts")


def test_selected_values_are_named(data: xr.Dataset, tmp_path: Path) -> None:
    write_netcdf(data.sel(S=64), tmp_path / "one.nc")
    page = open_verdicts([str(tmp_path / "one.nc")], plain_expectations(EXPECTED))
    assert "p 8, 16, 32, 64, 128 S 64" in words(page, "top")
    assert page.result["MPI_Gather"].parameter == "p"


@pytest.mark.slow
def test_written_report(data: xr.Dataset, tmp_path: Path) -> None:
    found = sk.report(data, EXPECTED, tmp_path / "r.html")
    verdicts = json.loads(found.verdict_json.read_text(encoding="utf-8"))["verdicts"]
    assert [v["parameters"] for v in verdicts] == [["p", "S"]] * 2
    assert verdicts[1]["along"]["S"]["deviation"] == "S^(1/4)"
    assert found.answer.startswith("No problem: ")
    assert "<i>MPI_Bcast" not in found.html.read_text(encoding="utf-8")


def test_rules_and_changes_over_several_parameters(tmp_path: Path) -> None:
    time = 2e-6 + 3e-6 * np.log2(POINTS[:, 0]) + 1e-9 * POINTS[:, 1]
    before = sk.measurements(POINTS, time, parameter=["p", "S"], name="f")
    now = sk.measurements(POINTS, time * np.where(POINTS[:, 1] >= 1024, 2, 1), parameter=["p", "S"], name="f")
    write_netcdf(now, tmp_path / "now.nc")
    quo = sk.Baseline(sk.validate(before, {"f": "log(p) + S"})).save(tmp_path / "base.json")
    page = open_verdicts([str(tmp_path / "now.nc")], rules=["f <= 2*f"], baseline=[str(quo)])
    said = words(page, "changes.changes")
    assert "S = 1024 × costs more" in said
    assert "f (time) rose to 2 times the value of before from S = 1024 on" in said
    assert len(figures(page, "cards.rules")) == 1
    assert page.status == 1
