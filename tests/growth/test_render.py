"""Text, MathML and sympy of a growth; text parses back to the same growth."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from scalkit.growth import Growth

EXPONENTS = st.fractions(min_value=-9, max_value=9, max_denominator=12)
ONE = st.builds(Growth.of, st.sampled_from(["p", "S", "n_ranks"]), exponential=EXPONENTS, power=EXPONENTS, log=EXPONENTS)
GROWTHS = st.tuples(ONE, ONE).map(lambda pair: pair[0] * pair[1])


@given(GROWTHS)
def test_text_parses_back(growth: Growth) -> None:
    assert Growth(str(growth)) == growth
    assert repr(growth) == f"Growth({str(growth)!r})"


@given(GROWTHS)
def test_mathml_is_well_formed(growth: Growth) -> None:
    ET.fromstring(growth.to_mathml())


@given(ONE)
def test_sympy_parses_back(growth: Growth) -> None:
    assert Growth(growth.to_sympy()) == growth


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("1", "<mrow><mn>1</mn></mrow>"),
        ("p^2", "<mrow><msup><mi>p</mi><mn>2</mn></msup></mrow>"),
        ("1/p", "<mfrac><mrow><mn>1</mn></mrow><mrow><mi>p</mi></mrow></mfrac>"),
        (
            "2^(2*k/3)",
            "<mrow><msup><mn>2</mn><mrow><mn>2</mn><mi>k</mi><mo lspace='0' rspace='0'>/</mo><mn>3</mn></mrow></msup></mrow>",
        ),
        ("2^k", "<mrow><msup><mn>2</mn><mrow><mi>k</mi></mrow></msup></mrow>"),
    ],
)
def test_mathml(text: str, content: str) -> None:
    assert Growth(text).to_mathml() == content


def test_sympy() -> None:
    p = sympy.Symbol("p", positive=True)
    assert Growth("p^(1/2)*log(p)").to_sympy() == sympy.sqrt(p) * sympy.log(p, 2)
    assert Growth("2^(p/2)").to_sympy() == 2 ** (p / 2)
