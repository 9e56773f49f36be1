"""Growths of any number of parameters form a group; of one parameter an ordered one, whose order is that of the limits."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from scalkit.growth import Growth
from scalkit.judge import Expectation, SearchSpace

EXPONENTS = st.fractions(min_value=-6, max_value=6, max_denominator=12)
ONE = Growth()


def of(names: str, exponents: st.SearchStrategy[Fraction] = EXPONENTS) -> st.SearchStrategy[Growth]:
    """Return products of growths of the parameters named by single letters."""
    each = [st.builds(Growth.of, st.just(name), exponents, exponents, exponents) for name in names]
    return st.tuples(*each).map(lambda factors: _product(factors))


def _product(factors: tuple[Growth, ...]) -> Growth:
    total = ONE
    for factor in factors:
        total = total * factor
    return total


@given(of("pS"), of("Sn"), of("pn"), EXPONENTS, EXPONENTS)
def test_growths_of_several_parameters_form_a_group(a: Growth, b: Growth, c: Growth, e: Fraction, f: Fraction) -> None:
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a
    assert hash(a * b) == hash(b * a)
    assert a * ONE == a / ONE == a
    assert a * a**-1 == a / a == a**0 == ONE
    assert (a / b) / c == a / (b * c)
    assert a**e * a**f == a ** (e + f)
    assert (a**e) ** f == a ** (e * f)
    assert (a * b) ** e == a**e * b**e


@given(of("p"), of("p"), of("p"), st.fractions(min_value=Fraction(1, 12), max_value=6, max_denominator=12))
def test_the_order_is_total_dense_and_kept_by_the_group(a: Growth, b: Growth, c: Growth, e: Fraction) -> None:
    assert (a < b) + (b < a) + (a == b) == 1
    low, middle, high = sorted([a, b, c])
    assert low <= middle <= high
    assert low <= high
    assert (a < b) == (a * c < b * c) == (a / c < b / c) == (b**-1 < a**-1) == (a**e < b**e)
    if a < b:
        assert a < (a * b) ** Fraction(1, 2) < b


SMALL = st.fractions(min_value=-1, max_value=1, max_denominator=3)


@settings(max_examples=30, deadline=None)
@given(of("p", SMALL), of("p", SMALL))
def test_two_growths_stand_as_the_limit_of_their_ratio(a: Growth, b: Growth) -> None:
    x = sympy.Symbol("p", positive=True)
    limit = sympy.limit(sympy.powsimp(a.to_sympy() / b.to_sympy()), x, sympy.oo)
    assert limit == (1 if a == b else sympy.oo if a > b else 0)
    assert (a / b > ONE) == (limit is sympy.oo)


@pytest.mark.parametrize("text", ["ics15", "p", "p*log(p)", "1", "2^p"])
def test_rulers_ascend_by_limits(text: str) -> None:
    """Neighbours of a ruler by sympy, not by its own comparison."""
    space = SearchSpace.preset(text) if text == "ics15" else SearchSpace.around(Expectation(text))
    x = sympy.Symbol("p", positive=True)
    for slower, faster in zip(space.ticks, space.ticks[1:], strict=False):
        assert sympy.limit(sympy.powsimp(faster.to_sympy() / slower.to_sympy()), x, sympy.oo) is sympy.oo


@given(of("pS", st.fractions(min_value=-2, max_value=2, max_denominator=4)), of("pS", SMALL))
def test_values_multiply(a: Growth, b: Growth) -> None:
    x = {"p": np.array([2.0, 5.0, 64.0]), "S": np.array([3.0, 4.0, 1000.0])}
    both = a.log2_value(x) + b.log2_value(x)
    np.testing.assert_allclose((a * b).log2_value(x), both, atol=1e-9 * np.abs(both).max() + 1e-9)


@given(of("pS"))
def test_a_growth_survives_text_and_pickle(growth: Growth) -> None:
    assert {growth: 1}[pickle.loads(pickle.dumps(growth))] == 1
    assert Growth(str(growth)) == growth
    assert hash(Growth(str(growth))) == hash(growth)
