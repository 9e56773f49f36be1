"""Sums of growths: their text, their leading terms, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum, outgrows

EXPONENTS = st.fractions(Fraction(0), Fraction(2), max_denominator=4)
PRODUCTS = st.builds(
    lambda a, b, c: Growth.of("p", power=a, log=b) * Growth.of("S", power=c), EXPONENTS, st.integers(0, 2), EXPONENTS
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("log(p) + S", ["S", "log(p)"]),
        ("O(log(p) + S)", ["S", "log(p)"]),
        ("O(log p) + O(S)", ["S", "log(p)"]),
        ("p*S", ["S*p"]),
        ("3*p*S + 2*n^2", ["S*p", "n^2"]),
        ("p + p*S + S", ["S*p"]),
        ("p^(1/2 + 1/2) + S", ["S", "p"]),
        ("1e+3*p + S", ["S", "p"]),
        ("2^(k + 3) + p", ["2^k", "p"]),
        ("1", ["1"]),
        (7, ["1"]),
        ("p + 1", ["p"]),
        ("+p + S", ["S", "p"]),
    ],
)
def test_text_is_read_summand_by_summand(text: object, terms: list[str]) -> None:
    assert [str(term) for term in GrowthSum.parse(text).terms] == [str(Growth(term)) for term in terms]


def test_leading_terms_along_each_parameter() -> None:
    growth = GrowthSum.parse("p*log(S) + p^2 + S^(1/2)")
    assert growth.leading("p") == Growth("p^2")
    assert growth.leading("S") == Growth("S^(1/2)")
    assert growth.leading("n") == Growth()
    assert growth.parameters == ("S", "p")


def test_sympy_expressions_are_read() -> None:
    import sympy

    p, s = sympy.symbols("p S", positive=True)
    assert GrowthSum.parse(sympy.log(p) + 3 * s) == GrowthSum.parse("log(p) + S")
    assert sympy.simplify(GrowthSum.parse("p*S + n").to_sympy() - (sympy.Symbol("p", positive=True) * s)).free_symbols


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p - S", "nothing is subtracted"),
        ("p + ", "the expectation is empty"),
        ("(p + S)*n", "several parameters"),
        ("__import__('os') + p", "cannot"),
        ("+".join(["p"] * 30), "30 summands"),
    ],
)
def test_other_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpectationError, match=message):
        GrowthSum.parse(text)


@given(st.lists(PRODUCTS, min_size=1, max_size=4))
def test_printed_sums_are_read_again(terms: list[Growth]) -> None:
    growth = GrowthSum.of(terms)
    assert GrowthSum.parse(str(growth)) == growth
    assert not any(a != b and outgrows(a, b) for a in growth.terms for b in growth.terms)
    assert GrowthSum.of(reversed(terms)) == growth


def test_values_are_those_of_the_terms() -> None:
    x = {"p": np.array([2.0, 8.0]), "S": np.array([16.0, 64.0])}
    np.testing.assert_allclose(np.exp2(GrowthSum.parse("log(p) + S").log2_value(x)), [17.0, 67.0])
