"""Every mark of tables 2, 3 and 4 of Shudler et al., ICS 2015, comes out of the printed models."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.growth import Growth
from scalkit.judge import SearchSpace, load_expectations

TABLES = tomllib.loads((Path(__file__).parents[2] / "data/papers/ics15_tables.toml").read_text(encoding="utf-8"))
CASES = [
    pytest.param(table, row, index, id=f"table {table['number']}: {row['function']}, {machine}")
    for table in TABLES["table"]
    for row in table["row"]
    for index, machine in enumerate(table["machines"])
]
IN_CATALOGUE = {"Bcast (BT)": "Bcast_binary_tree"}


def expectation(table: dict[str, Any], row: dict[str, Any]) -> sk.Expectation:
    return sk.Expectation(row["expectation"], table.get("deviation"), table["parameter"])


def growth(text: str) -> Growth:
    """Return the growth of a printed model, whose coefficients may be measured ones: ``16 + 0.56*p``."""
    return Growth(text)


def test_the_tables_are_complete() -> None:
    sizes = [(t["number"], len(t["row"]), len(t["machines"])) for t in TABLES["table"]]
    assert sizes == [(2, 8, 3), (3, 5, 3), (4, 4, 1)]
    for table in TABLES["table"]:
        for row in table["row"]:
            assert {len(row[key]) for key in ("model", "divergence", "match")} == {len(table["machines"])}


@pytest.mark.parametrize(("table", "row", "index"), CASES)
def test_match_mark(table: dict[str, Any], row: dict[str, Any], index: int) -> None:
    assert expectation(table, row).match(growth(row["model"][index])) == row["match"][index]


@pytest.mark.parametrize(("table", "row", "index"), CASES)
def test_divergence_model(table: dict[str, Any], row: dict[str, Any], index: int) -> None:
    divergence = growth(row["model"][index]) / expectation(table, row).growth
    assert divergence == Growth(row["divergence"][index])


@pytest.mark.parametrize(("table", "row", "index"), CASES)
def test_the_bundled_search_space_holds_the_printed_model(table: dict[str, Any], row: dict[str, Any], index: int) -> None:
    mpi = table["number"] in (2, 3)
    bundled = load_expectations("mpi" if mpi else "mafia").functions[_catalogue_name(row["function"], mpi)]
    _, spaces = bundled.search_spaces([table["parameter"]])
    assert growth(row["model"][index]) in spaces[table["parameter"]].ticks


@pytest.mark.parametrize(("table", "row"), [pytest.param(t, r, id=r["function"]) for t in TABLES["table"] for r in t["row"]])
def test_the_bundled_expectations_are_those_of_the_tables(table: dict[str, Any], row: dict[str, Any]) -> None:
    mpi = table["number"] in (2, 3)
    bundled = load_expectations("mpi" if mpi else "mafia").functions[_catalogue_name(row["function"], mpi)]
    wanted = expectation(table, row)
    assert bundled.expectation.growth == wanted.growth
    assert bundled.expectation.deviation == wanted.deviation
    assert bundled.expectation.has_own_deviation is mpi
    assert bundled.space == ("ics15" if mpi else "around")


def test_the_bundled_catalogues_hold_nothing_else() -> None:
    collectives, memory, mafia = ([row["function"] for row in table["row"]] for table in TABLES["table"])
    assert list(load_expectations("mpi").functions) == [_catalogue_name(f, True) for f in (*collectives, *memory)]
    assert list(load_expectations("mafia").functions) == mafia


def _catalogue_name(function: str, mpi: bool) -> str:
    return IN_CATALOGUE.get(function, "MPI_" + function.removeprefix("MPI ").replace(" ", "_")) if mpi else function


def test_the_ruler_of_p_has_17_terms() -> None:
    space = SearchSpace.paper(sk.Expectation("p"))
    assert [str(tick) for tick in space.ticks] == [
        "1",
        "log(p)",
        *("p^(1/4)", "p^(1/4)*log(p)", "p^(1/2)", "p^(1/2)*log(p)", "p^(3/4)", "p^(3/4)*log(p)"),
        *("p", "p*log(p)"),
        *("p^(5/4)", "p^(5/4)*log(p)", "p^(3/2)", "p^(3/2)*log(p)", "p^(7/4)", "p^(7/4)*log(p)"),
        "p^2",
    ]


def test_ics15_has_26_ticks() -> None:
    quarters_and_thirds = sorted({Fraction(i, 3) for i in range(7)} | {Fraction(i, 4) for i in range(9)})
    wanted = [Growth.of("p", power=a, log=b) for a in quarters_and_thirds for b in (0, 1)]
    assert SearchSpace.preset("ics15").ticks == tuple(wanted)
    assert len(wanted) == 26


def test_around_an_exponential_holds_the_neighbours_that_table_4_needs() -> None:
    ticks = SearchSpace.around(sk.Expectation("k^3*2^k")).ticks
    assert {Growth("k^2*2^k"), Growth("k^3*2^k"), Growth("k^4*2^k")} <= set(ticks)


def test_constant_gets_ics15_and_half_a_logarithm() -> None:
    constant = sk.Expectation("O(1)")
    assert constant.deviation == Growth.of("p", log="1/2")
    assert SearchSpace.around(constant).ticks == SearchSpace.preset("ics15").ticks
    assert SearchSpace.paper(constant).ticks == (Growth(),)


def _mafia() -> xr.Dataset:
    k = np.arange(3, 17)
    rows = TABLES["table"][2]["row"]
    one = [sk.measurements(k, 1e-6 * Growth(r["model"][0])(k), "k", name=r["function"]) for r in rows]
    return xr.concat(one, "function", data_vars="all", coords="minimal", compat="override", join="exact")


def test_mafia_models_as_data_give_the_marks_of_table_4() -> None:
    result = sk.validate(_mafia(), "mafia")
    for row in TABLES["table"][2]["row"]:
        verdict = result[row["function"]]
        assert verdict.model.growth == Growth(row["model"][0])
        assert verdict.model.coefficient == pytest.approx(1e-6, rel=1e-4)
        assert verdict.match == row["match"][0]
        assert verdict.divergence == Growth(row["divergence"][0])
    assert result.ok
    assert result.missing == ()


def test_k4_2k_is_recognised_in_the_exponential_class() -> None:
    k = np.arange(3, 17)
    data = sk.measurements(k, 5.0 + 1e-3 * k**4.0 * 2.0**k, "k")
    verdict = sk.validate(data, {"f": "k^3*2^k"})["f"]
    assert verdict.model.growth == Growth("k^4*2^k")
    assert (verdict.match, verdict.direction) == ("approximate", "grows faster")


@pytest.mark.parametrize(("table", "row", "index"), CASES)
def test_values_of_a_printed_model_get_its_mark(table: dict[str, Any], row: dict[str, Any], index: int) -> None:
    printed = growth(row["model"][index])
    x = np.arange(3, 17) if table["parameter"] == "k" else 2.0 ** np.arange(4, 15)
    data = sk.measurements(x, 1e-6 * printed(x), table["parameter"], name="f")
    space = "around" if table["parameter"] == "k" else "ics15"
    verdict = sk.validate(data, {"f": expectation(table, row)}, space=space, strictness="paper")["f"]
    assert (verdict.evidence.estimator, verdict.model.growth) == ("adjusted_r2", printed)
    assert verdict.match == row["match"][index]
