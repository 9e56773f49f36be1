"""Expectation: default deviation, limits, rank and direction, and what is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.growth import Growth

POSITIVE = st.fractions(min_value="1/4", max_value=4, max_denominator=6)
EXPONENTS = st.fractions(min_value=-4, max_value=4, max_denominator=6)


def raises(message: str) -> pytest.RaisesExc[ExpectationError]:
    return pytest.raises(ExpectationError, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize(
    ("text", "deviation", "limits"),
    [
        ("p", "p^(1/2)", ("p^(1/2)", "p^(3/2)")),
        ("p^2*log(p)", "p", ("p*log(p)", "p^3*log(p)")),
        ("log(p)", "log(p)^(1/2)", ("log(p)^(1/2)", "log(p)^(3/2)")),
        ("k^3*2^k", "2^(k/2)", ("k^3*2^(k/2)", "k^3*2^(3*k/2)")),
        ("1/k", "k^(1/2)", ("1/k^(3/2)", "1/k^(1/2)")),
        ("1", "log(p)^(1/2)", ("1/log(p)^(1/2)", "log(p)^(1/2)")),
    ],
)
def test_deviation_is_half_of_the_leading_class(text: str, deviation: str, limits: tuple[str, str]) -> None:
    expectation = sk.Expectation(text)
    assert str(expectation.deviation) == deviation
    assert tuple(str(limit) for limit in expectation.limits) == limits


@given(POSITIVE, EXPONENTS)
def test_a_model_on_a_limit_is_inside(power: object, log: object) -> None:
    expectation = sk.Expectation(Growth.of("p", power=power, log=log))  # type: ignore[arg-type]
    nudge = Growth.of("p", log="1/1000")
    lower, upper = expectation.limits
    assert expectation.match(expectation.growth) == "total"
    assert [expectation.match(g) for g in (lower, upper)] == ["approximate", "approximate"]
    assert [expectation.match(g) for g in (lower / nudge, upper * nudge)] == ["none", "none"]
    assert expectation.direction(lower) == "grows slower"
    assert expectation.direction(upper) == "grows faster"
    assert expectation.direction(expectation.growth) == "as expected"


def test_own_deviation_may_be_tight() -> None:
    expectation = sk.Expectation("p", deviation="1")
    assert expectation.match(Growth("p")) == "total"
    assert expectation.match(Growth("p*log(p)")) == "none"


def test_what_may_be_given() -> None:
    p = sympy.Symbol("p")

    @dataclass
    class Performance:
        growth: Growth

    wanted = sk.Expectation("p^2")
    for value in (p**2, Growth.of("p", power=2), Performance(Growth.of("p", power=2)), "O(p^2)"):
        assert sk.Expectation(value) == wanted
    assert sk.Expectation(1, parameter="n").parameter == "n"
    assert sk.Expectation("1", deviation="n^(1/2)").parameter == "n"


def test_only_a_constant_changes_its_parameter() -> None:
    assert str(sk.Expectation("1").in_parameter("n").deviation) == "log(n)^(1/2)"
    assert str(sk.Expectation("1", deviation="1").in_parameter("n").deviation) == "1"
    expectation = sk.Expectation("n")
    assert expectation.in_parameter("n") is expectation
    with raises("the expectation 'n' is in terms of 'n', the data in terms of 'p'; write it in terms of p."):
        expectation.in_parameter("p")


def test_refused() -> None:
    with raises("deviation 'n' depends on n, the expectation 'p' on 'p'; write the deviation in terms of p."):
        sk.Expectation("p", deviation="n")
    with raises("deviation '1/p' falls; it must be 1 or grow, for example 'p^(1/2)'."):
        sk.Expectation("p", deviation="1/p")
    with raises("expectation 'S*p' depends on several parameters (S, p); write it in terms of one."):
        sk.Expectation("p*S")
    with raises("expectation 'n' depends on n, but the parameter is 'p'. Write it in terms of p."):
        sk.Expectation("n", parameter="p")


def test_shown() -> None:
    assert repr(sk.Expectation("p", deviation="p^(1/4)")) == "Expectation('p', deviation='p^(1/4)')"
    assert (repr(sk.Expectation("p")), str(sk.Expectation("p"))) == ("Expectation('p')", "O(p)")
    lower, upper = (sk.Growth(text).to_mathml() for text in ("p^(1/2)", "p^(3/2)"))
    assert f"limits</th><td><math>{lower}</math> to <math>{upper}</math></td>" in sk.Expectation("p")._repr_html_()
