"""The larger of models, differences, conditions between parameters, and operations a second."""

from __future__ import annotations

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import BoundedModel, ExactModel, bluegene_p, fit_bisection, largest, read_card, read_models, roofline
from scalkit.perfmodels.files.card import ModelCard

LINE = ExactModel("a + b*S", {"a": "1 us", "b": "1 ns/B"}, name="line")
TREE = ExactModel("t*log2(P)", {"t": "1 us"}, name="tree")


def test_the_larger_of_two() -> None:
    both = largest(LINE, TREE)
    assert (both.name, both.parameters, both.unit, str(both.growth)) == ("max(line, tree)", ("S", "P"), "s", "S + log(p)")
    assert both(S=[0, 9000], P=64) == pytest.approx([6e-6, 10e-6])


def test_a_difference_of_bounds_is_as_wide_as_both() -> None:
    wide = BoundedModel(LINE, 2 * LINE, name="wide")
    found = (wide - LINE).bounds(S=1000)
    assert (found.lower, found.upper) == pytest.approx((0.0, 2e-6), abs=1e-18)
    assert (LINE - TREE)(S=1000, P=2) == pytest.approx(1e-6)
    with pytest.raises(UsageError, match=r"^cannot subtract 3 from 'line'; subtract a model of the same unit\.$"):
        LINE - 3


def test_a_roofline_bends_where_memory_is_no_longer_slower() -> None:
    model = roofline("16 flop", "8 B", "10 Gflop/s", "4 GB/s", per="N^3/P")
    assert model.unit == "s"
    assert model(N=100, P=1) == pytest.approx(max(16e6 / 10e9, 8e6 / 4e9))
    assert roofline("40 flop", "8 B", "10 Gflop/s", "4 GB/s")(N=1e6) == pytest.approx(4e-3)
    with pytest.raises(UsageError, match=r"^cannot join 'computing' in s, 'memory' in s B/flop"):
        roofline("16 flop", "8 B", "10 Gflop/s", "4 Gflop/s")
    with pytest.raises(UsageError, match=r"adds or compares"):
        ExactModel("a + b", {"a": "1 flop", "b": "1 s"})


def test_conditions_are_enforced() -> None:
    planes = ExactModel("t*N^3/P", {"t": "1 ns"}, name="planes").where("P <= N", "N >= 4")
    assert planes(N=64, P=64) == pytest.approx(4096e-9)
    with pytest.raises(
        UsageError, match=r"^'planes' holds for P <= N, got P = 128, N = 64; stay inside, or say outside='nan'\.$"
    ):
        planes(N=64, P=[64, 128])
    assert np.isnan(planes(N=64, P=[64, 128], outside="nan")).tolist() == [False, True]
    assert np.isnan((planes + planes)(N=2, P=1, outside="nan"))


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("P < N", "write two formulas with <= or >= between"),
        ("P <= M", "names 'M'; 'planes' depends on P, N"),
        ("__import__('os').getcwd() <= N", "known are"),
        ("P <= N <= 3", "write two formulas"),
    ],
)
def test_conditions_are_parsed_and_never_run(condition: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ExactModel("t*N^3/P", {"t": "1 ns"}, name="planes").where(condition)


def test_a_catalogue_has_conditions(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "mine.toml"
    file.write_text('[models.planes]\nformula = "t*N^3/P"\nconstants = { t = "1 ns" }\nwhere = ["P <= N"]\n')
    with pytest.raises(UsageError, match=r"^'planes' holds for P <= N"):
        read_models(file)["planes"](N=2, P=4)


def test_rows_of_the_paper() -> None:
    models = bluegene_p()
    assert models["strided"].bounds(S=16384).upper == pytest.approx(2090e-6, rel=1e-4)
    assert models["broadcast-tree"].bounds(S="824 MiB", P=512).lower == pytest.approx(1.0)
    assert models["broadcast-non-cubic"](S="1 MiB", P=512) == 2 * models["broadcast"](S="1 MiB", P=512)


def test_bisection_is_a_model_that_a_card_keeps(tmp_path) -> None:  # type: ignore[no-untyped-def]
    times = {p: np.full((5, p), 1e-3 * p**0.25) for p in (4, 16, 64)}
    model = fit_bisection(1_000_000, times).model()
    assert model(S=1_000_000, P=[4, 64]) == pytest.approx([1e-3 * 4**0.25, 1e-3 * 64**0.25], rel=1e-6)
    file = tmp_path / "card.toml"
    file.write_text(ModelCard("x", {"bisection": model}, (), {}, ()).to_toml())
    assert read_card(file).models["bisection"](S=1_000_000, P=16) == pytest.approx(2e-3, rel=1e-6)
    with pytest.raises(DataError, match=r"^the decay of the bisection is not known; measure it with two numbers"):
        fit_bisection(1_000_000, {4: times[4]}).model()
