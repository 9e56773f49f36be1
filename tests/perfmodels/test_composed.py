"""The largest of models, differences, and conditions between parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalkit.errors import UsageError
from scalkit.perfmodels import AsymptoticModel, BoundedModel, ExactModel, PointToPoint, collective, read_models

LINE = ExactModel("a + b*S", {"a": "1 us", "b": "1 ns/B"}, name="line")
TREE = ExactModel("t*log2(P)", {"t": "1 us"}, name="tree")
PLANES = ExactModel("t*N^3/P", {"t": "1 ns"}, name="planes")


def test_a_roofline_is_the_larger_of_computing_and_memory() -> None:
    computing = ExactModel("16*t*N^3/P", {"t": "0.1 ns"}, name="computing")
    memory = ExactModel("b*N^3/P/w", {"b": "8 B", "w": "4 GB/s"}, name="memory")
    roofline = computing.maximum(memory)
    assert (roofline.name, roofline.unit, roofline.kind) == ("max(computing, memory)", "s", "exact")
    assert roofline(N=100, P=4) == pytest.approx(0.5e-3)
    assert computing.maximum(memory, TREE)(N=1, P=8) == pytest.approx(3e-6)
    assert str(roofline.growth) == "N^3/p"


def test_the_maximum_says_what_it_is() -> None:
    both = LINE.maximum(TREE)
    assert both(S=[0, 9000], P=64) == pytest.approx([6e-6, 10e-6])
    assert (both.parameters, str(both.growth)) == (("S", "P"), "S + log(p)")
    assert both.statement == "T(S, P) = max(1.00 us + 1.00 ns/B * S, 1.00 us * log2(P))"
    assert float(both.to_sympy().subs(dict.fromkeys(both.to_sympy().free_symbols, 64))) == pytest.approx(6e-6)
    wide = BoundedModel(LINE, 2 * LINE, name="wide").maximum(TREE)
    assert wide.bounds(S=1000, P=8) == pytest.approx((3e-6, 4e-6))
    assert "max" in wide.to_mathml()


def test_what_has_no_value_is_not_compared_or_subtracted() -> None:
    growth = AsymptoticModel("log(P)")
    with pytest.raises(UsageError, match=r"^'O\(log\(P\)\)' has no value to compare; give models with values or bounds\.$"):
        LINE.maximum(growth)
    with pytest.raises(UsageError, match=r"^'congestion' is in 1, 'line' in s; add or compare models of one unit\.$"):
        LINE.maximum(ExactModel("cbrt(P)", name="congestion"))
    for other in (growth, 3):
        with pytest.raises(UsageError, match=r"^cannot subtract .* from 'line'; subtract models of one unit that have values\.$"):
            LINE - other


def test_a_difference_of_bounds_is_as_wide_as_both() -> None:
    wide = BoundedModel(LINE, 2 * LINE, name="wide")
    assert (wide - LINE).bounds(S=1000) == pytest.approx((0.0, 2e-6), abs=1e-18)
    assert (LINE - wide).bounds(S=1000) == pytest.approx((-2e-6, 0.0), abs=1e-18)
    low, high = (LINE - wide).to_sympy()
    assert float(low.subs(dict.fromkeys(low.free_symbols, 1000))) == pytest.approx(-2e-6)
    assert high == 0
    difference = LINE - 2 * TREE
    assert difference(S=9000, P=2) == pytest.approx(8e-6)
    assert (difference.name, str(difference.growth)) == ("line - 2 * (tree)", "S")
    assert difference.statement == "T(S, P) = 1.00 us + 1.00 ns/B * S - 2 * (1.00 us * log2(P))"
    assert (3 * (LINE - TREE) - LINE)(S=9000, P=2) == pytest.approx(17e-6)


def test_a_message_less_its_overhead_is_a_message() -> None:
    message = PointToPoint(LINE - ExactModel("o", {"o": "0.4 us"}, name="overhead"))
    assert collective("broadcast", "binomial", message)(S=1000, P=8) == pytest.approx(3 * 1.6e-6)


def test_conditions_are_enforced() -> None:
    planes = PLANES.where("P <= N", "N >= 4")
    assert planes(N=64, P=64) == pytest.approx(4096e-9)
    message = r"^'planes' holds for P <= N, got P = 128, N = 64; stay inside, or say outside='nan'\.$"
    with pytest.raises(UsageError, match=message):
        planes(N=64, P=[64, 128])
    assert np.isnan(planes(N=64, P=[64, 128], outside="nan")).tolist() == [False, True]
    assert np.isnan((planes + planes)(N=2, P=1, outside="nan"))
    assert planes.statement == "T(P, N) = 1.00 ns * N^3/P for P <= N and N >= 4"
    assert "P &lt;= N" in planes._repr_html_()
    assert str(planes.growth) == "N^3/p"


def test_a_plain_number_in_a_condition_is_in_the_base_unit() -> None:
    small, large = LINE.where("S < 1024"), LINE.where("S > 1024")
    at = [1023, 1024, 1025]
    assert np.isnan(small(S=at, outside="nan")).tolist() == [False, True, True]
    assert np.isnan(large(S=at, outside="nan")).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("P = N", r"^the condition is 'P = N'; write two formulas with <, <=, > or >= between, as in 'P <= N'\.$"),
        ("P <= M", "names 'M'; its parameters and constants are N, P"),
        ("__import__('os').getcwd() <= N", "known are"),
        ("P <= N <= 3", "write two formulas"),
        (3, "the condition is 3; write two formulas"),
    ],
)
def test_conditions_are_parsed_and_never_run(condition: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        PLANES.where(condition)


def test_conditions_have_units() -> None:
    with pytest.raises(UsageError, match="adds or compares"):
        (LINE + TREE).where("S <= P")


CATALOGUE = """
[models.planes]
formula = "t*N^3/P"
constants = { t = "1 ns" }
where = ["P <= N"]

[models.roofline]
kind = "maximum"
source = "mine"
parts = [
  { formula = "16*t*N^3/P", constants = { t = "0.1 ns" } },
  { formula = "b*N^3/P/w", constants = { b = "8 B", w = "4 GB/s" } },
]

[models.network]
kind = "difference"
where = ["S < 1024"]
parts = [{ formula = "b*S", constants = { b = "1 ns/B" } }, { formula = "a", constants = { a = "0.1 us" } }]
"""


def test_a_catalogue_has_rooflines_differences_and_conditions(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(CATALOGUE)
    models = read_models(file)
    with pytest.raises(UsageError, match=r"^'planes' holds for P <= N, got P = 4, N = 2;"):
        models["planes"](N=2, P=4)
    assert models["roofline"](N=100, P=4) == pytest.approx(0.5e-3)
    assert (models["roofline"].name, models["roofline"].source) == ("roofline", "mine")
    assert models["network"](S=1000) == pytest.approx(0.9e-6)
    with pytest.raises(UsageError, match=r"^'network' holds for S < 1024, got S = 2048;"):
        models["network"](S=2048)
    assert "network" in models._repr_html_()


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('formula = "P"\nwhere = "P <= 3"', "its 'where' must be a list of conditions, such as ['P <= N']."),
        ('kind = "maximum"\nparts = []', "its 'parts' must be a list of two models or more."),
        ('kind = "difference"\nparts = [{ formula = "P" }]', "its 'parts' must be a list of two models or more."),
        ('kind = "difference"\nparts = [{ formula = "P" }, 3]', "it must be a table of keys."),
    ],
)
def test_entries_that_make_no_sense(tmp_path: Path, entry: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"[models.m]\n{entry}\n")
    with pytest.raises(UsageError) as error:
        read_models(file)
    assert str(error.value) == f"{file}, model 'm': {said}"
