"""Own growth classes in reports: the notebook's process registers them again, by the same white list."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.growth import Growth, forget_growth, registered_growths
from scalkit.measure import write_netcdf
from scalkit.reports import sections
from scalkit.reports.inputs import to_plain
from scalkit.reports.own_growths import plain_growths, register_again
from scalkit.reports.page import open_page
from scalkit.reports.pieces import Html

P = 2.0 ** np.arange(1, 11)
FORMULAS = {"npn": "n^n", "loglog": "log(log(p))", "slowest": "log(loglog(p))"}


@pytest.fixture
def registered() -> Iterator[None]:
    for name, formula in FORMULAS.items():
        sk.register_growth(name, formula)
    yield
    for kind in registered_growths():
        forget_growth(kind.name)


@pytest.fixture
def data() -> xr.Dataset:
    noise = np.exp(0.02 * np.random.default_rng(1).standard_normal((10, 5)))
    return sk.measurements(P, 1e-6 * (1 + 2 * np.log2(np.log2(P)))[:, None] * noise, name="f")


def ascending() -> list[str]:
    texts = ["1", "log(p)", "p", "2^p", *(f"{kind.name}(p)" for kind in registered_growths())]
    return sorted(texts, key=Growth.parse)


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
def test_classes_come_back_in_their_order() -> None:
    plain, order = json.loads(json.dumps(plain_growths())), ascending()
    assert order == ["1", "slowest(p)", "loglog(p)", "log(p)", "p", "2^p", "npn(p)"]
    assert plain["loglog"] == {"expression": "log(log(x))", "faster_than": "slowest(p)", "slower_than": "log(p)"}
    for name in FORMULAS:
        forget_growth(name)
    assert plain_growths() == {}
    register_again(plain)
    assert ascending() == order
    assert plain_growths() == plain


@pytest.mark.parametrize("formula", ["__import__('os').system('true')", "p.real", "f(p)", "(lambda x: x)(p)"])
def test_formulas_are_never_evaluated(formula: str) -> None:
    with pytest.raises(ExpectationError, match="formula"):
        register_again({"own": {"expression": formula}})
    assert registered_growths() == ()


@pytest.mark.usefixtures("registered")
def test_the_python_that_reopens_a_page_registers_them(data: xr.Dataset, tmp_path: Path) -> None:
    write_netcdf(data, tmp_path / "f.nc")
    texts = {}
    for expected in ("loglog(p)", "log(p)"):
        page = open_page([str(tmp_path / "f.nc")], to_plain({"f": expected}))
        shown = sections.reopen(page)
        texts[expected] = html.unescape("".join(piece.text for piece in shown if isinstance(piece, Html)))
    line = "sk.register_growth('loglog', expression='log(log(x))', faster_than='slowest(p)', slower_than='log(p)')\n"
    assert texts["loglog(p)"].count(line) == 2
    assert "the commands do not know them" in texts["loglog(p)"]
    assert "register_growth" not in texts["log(p)"]


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
def test_a_report_expects_an_own_class(data: xr.Dataset, tmp_path: Path) -> None:
    made = sk.report(data, {"f": "loglog(p)"}, tmp_path / "r.html", notebook=True)
    (verdict,) = json.loads(made.verdict_json.read_text(encoding="utf-8"))["verdicts"]
    assert verdict == sk.validate(data, {"f": "loglog(p)"}).to_dict()["verdicts"][0]
    assert (verdict["expectation"], verdict["rank"]) == ("loglog(p)", "total")
    assert made.notebook is not None
    notebook: Any = nbformat.read(made.notebook, 4)
    (cell,) = [one for one in notebook.cells if "injected-parameters" in one.metadata.get("tags", [])]
    assert f"growths = {plain_growths()!r}" in cell.source
    again = sk.Session.load(made.html).verdict
    assert again is not None
    assert str(again.expectation.growth) == "loglog(p)"
