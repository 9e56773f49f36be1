"""Sums and differences of models, and the largest of two in a formula."""

from __future__ import annotations

import pytest

from scalkit.errors import UsageError
from scalkit.perfmodels import AsymptoticModel, BoundedModel, ExactModel, PointToPoint, collective

LINE = ExactModel("a + b*S", {"a": "1 us", "b": "1 ns/B"}, name="line")
TREE = ExactModel("t*log2(P)", {"t": "1 us"}, name="tree")


def test_a_roofline_is_the_larger_of_computing_and_memory() -> None:
    constants = {"t": "0.1 ns", "b": "8 B", "w": "4 GB/s"}
    roofline = ExactModel("max(16*t*N^3/P, b*N^3/P/w)", constants, name="roofline")
    assert (roofline.unit, roofline.kind) == ("s", "exact")
    assert roofline(N=100, P=4) == pytest.approx(0.5e-3)
    assert str(roofline.growth) == "N^3/p"


def test_what_has_no_value_is_not_added_or_subtracted() -> None:
    growth = AsymptoticModel("log(P)")
    with pytest.raises(UsageError, match=r"^'congestion' is in 1, 'line' in s; add or subtract models of one unit\.$"):
        LINE + ExactModel("cbrt(P)", name="congestion")
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
