"""Growth is an ordered group, agrees with limits computed by sympy, and never overflows in the log2 domain."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from scalkit.errors import ExpectationError
from scalkit.growth import Exponents, Growth

EXPONENTS = st.fractions(min_value=-9, max_value=9, max_denominator=12)
GROWTHS = st.builds(Growth.of, st.just("p"), exponential=EXPONENTS, power=EXPONENTS, log=EXPONENTS)
ONE = Growth()


@given(GROWTHS, GROWTHS, GROWTHS)
def test_growths_form_an_ordered_group(a: Growth, b: Growth, c: Growth) -> None:
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a
    assert a * ONE == a
    assert a / a == ONE
    assert a**-1 == ONE / a
    assert a**2 == a * a
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a < b) == (a * c < b * c)
    assert (a < b) == (b / a > ONE)
    assert hash(a * b) == hash(b * a)


@given(GROWTHS, st.fractions(min_value=-5, max_value=5, max_denominator=6))
def test_powers_scale_every_exponent(a: Growth, factor: Fraction) -> None:
    raised = a**factor
    assert raised.exponents("p") == a.exponents("p").scaled(factor)


@pytest.mark.parametrize(
    ("slower", "faster"),
    [
        ("1", "log(p)^(1/100)"),
        ("log(p)^1000", "p^(1/1000)"),
        ("p^1000", "2^(p/1000)"),
        ("p*log(p)", "p^(5/4)"),
        ("p^(1/4)*log(p)", "p^(1/3)"),
        ("k^3*2^k", "k^4*2^k"),
        ("1/p", "1/log(p)"),
        ("1/2^p", "1/p^9"),
    ],
)
def test_order_is_lexicographic(slower: str, faster: str) -> None:
    assert Growth(slower) < Growth(faster)
    assert Growth(faster) >= Growth(slower)


SMALL = st.fractions(min_value=-2, max_value=2, max_denominator=3)


@settings(max_examples=25, deadline=None)
@given(SMALL, SMALL, SMALL)
def test_order_agrees_with_limits_of_sympy(exponential: Fraction, power: Fraction, log: Fraction) -> None:
    growth = Growth.of("p", exponential=exponential, power=power, log=log)
    (x,) = growth.to_sympy().free_symbols or (sympy.Symbol("p", positive=True),)
    limit = sympy.limit(growth.to_sympy(), x, sympy.oo)
    expected = 1 if growth == ONE else (sympy.oo if growth > ONE else 0)
    assert limit == expected


def test_exponents_are_exact() -> None:
    growth = Growth.of("p", power="1/3") * Growth.of("p", power="2/3")
    assert growth == Growth.of("p", power=1)
    assert growth.power("p") == Fraction(1)
    assert (growth.log("p"), growth.exponential("p"), growth.power("q")) == (0, 0, 0)
    assert growth.exponents("q") == Exponents()


def test_several_parameters_multiply() -> None:
    growth = Growth.of("p", power=1) * Growth.of("S", log=1)
    assert growth.parameters == ("S", "p")
    assert growth({"p": [2.0, 4.0], "S": 4.0}).tolist() == [4.0, 8.0]
    assert growth / Growth.of("S", log=1) == Growth.of("p", power=1)


def test_growths_of_different_parameters_have_no_order() -> None:
    message = "cannot order 'p' and 'n': they depend on different parameters (n, p). Compare growths of one parameter."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        _ = Growth("p") < Growth("n")


def test_other_types_are_left_to_python() -> None:
    for operation in (lambda g: g * 2, lambda g: g / 2, lambda g: g < 2):
        with pytest.raises(TypeError):
            operation(ONE)
    assert ONE != 1


def test_values() -> None:
    x = np.array([2.0, 4.0, 16.0])
    assert Growth("p^(1/2)*log(p)")(x).tolist() == pytest.approx([2**0.5, 4.0, 16.0])
    assert Growth("3")(x).tolist() == [1, 1, 1]
    assert Growth("2^(p/2)")(x).tolist() == [2, 4, 256]
    assert Growth("log(p)")(1.0) == 0
    assert np.isinf(Growth("1/log(p)")(1.0))
    assert np.isnan(Growth("log(p)")(0.5))


def test_log2_values_never_overflow() -> None:
    growth = Growth("k^3*2^k")
    assert growth.log2_value(1e300) == pytest.approx(1e300)
    assert growth(1e4) == np.inf
    assert growth.log2_value([2.0, 4.0]).tolist() == [5.0, 10.0]


@pytest.mark.parametrize("step", [Fraction(1, 2**24), Fraction(1, 2**40), Fraction(1, 10**30)])
@pytest.mark.parametrize("at", [Fraction(1, 3), Fraction(2**24), Fraction(10**20)])
def test_the_smallest_difference_orders(at: Fraction, step: Fraction) -> None:
    low, high = Growth.of("p", power=at, log=5), Growth.of("p", power=at + step, log=-5)
    assert low < high
    assert not high < low
    assert low <= low
    assert Growth() < low
