"""The text of an expectation: what is understood, what is refused with which sentence, and that nothing else happens."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.growth.refusals import MAX_LENGTH

ADVICE = "Write the expectation as a product of powers of log(p), p and 2^p, for example 'p^2*log(p)'."


@pytest.mark.parametrize(
    ("text", "growth"),
    [
        ("1", "1"),
        ("O(1)", "1"),
        ("p", "p"),
        ("O(p log p)", "p*log(p)"),
        ("Theta(p)", "p"),
        ("Θ(p²)", "p^2"),
        ("O(p) + O(log p)", "p"),
        ("p log p", "p*log(p)"),
        ("p^(2/3)*log(p)", "p^(2/3)*log(p)"),
        ("p**2", "p^2"),
        ("n^2.8074", "n^(14037/5000)"),
        ("p^0.25", "p^(1/4)"),
        ("p^(1/3)/log(p)", "p^(1/3)/log(p)"),
        ("1/k", "1/k"),
        ("k^3*2^k", "k^3*2^k"),
        ("2^(n/2)", "2^(n/2)"),
        ("2^((1/4)*x)", "2^(x/4)"),
        ("2^n/2", "2^n"),
        ("2^(n+3)", "2^n"),
        ("8^n", "2^(3*n)"),
        ("4^(k/2)", "2^k"),
        ("(1/2)^n", "1/2^n"),
        ("2^log(p)", "p"),
        ("sqrt(n)", "n^(1/2)"),
        ("√n", "n^(1/2)"),
        ("cbrt(n)", "n^(1/3)"),
        ("p²·log p", "p^2*log(p)"),
        ("p × log2(p)", "p*log(p)"),
        ("ln(p)", "log(p)"),
        ("log10(p)", "log(p)"),
        ("log(p)^2", "log(p)^2"),
        ("log^2 p", "log(p)^2"),
        ("log² p", "log(p)^2"),
        ("log(p^3)", "log(p)"),
        ("log(2^p)", "p"),
        ("log(4*p + 1)", "log(p)"),
        ("n^2 + n*log(n)", "n^2"),
        ("n log n + n", "n*log(n)"),
        ("n^2 - n", "n^2"),
        ("(n + 1)^2", "n^2"),
        ("3*p", "p"),
        ("2.2e5 + 24*p", "p"),
        ("10.7e-3*log(p)", "log(p)"),
        ("16 + 0.56*p", "p"),
        ("1/2 p", "p"),
        ("p^1/2", "p"),
        ("p^-1", "1/p"),
        ("-(-p)", "p"),
        ("p^0", "1"),
        ("p*S", "S*p"),
        (1, "1"),
        (2.5, "1"),
        (Fraction(1, 2), "1"),
    ],
)
def test_understood(text: object, growth: str) -> None:
    assert str(Growth(text)) == growth
    assert Growth(growth) == Growth(text)


REFUSED = [
    ("", "the expectation is empty"),
    ("p^p", "a parameter to the power of a parameter outgrows every 2^(c*x)"),
    ("9**9**9", "an exponent is larger than 1000"),
    ("p**1001", "an exponent is larger than 1000"),
    ("(p^1000)^2", "an exponent is larger than 1000"),
    ("log(log(p))", "it holds a logarithm of a logarithm, which grows slower than every log(p)^b"),
    ("log log p", "it holds a logarithm of a logarithm, which grows slower than every log(p)^b"),
    ("log(p*S)", "the logarithm of several parameters is a sum; write log(p)"),
    ("log(0.5)", "the logarithm of a number must be of one above 1"),
    ("log(1/p)", "a logarithm must be of something that grows"),
    ("log p^2", "'log x^a' is ambiguous; write log(x)^a or log(x^a)"),
    ("1/p log p", "'a/b c' is ambiguous; write a/(b*c) or a/b*c"),
    ("p!", "a factorial outgrows every 2^(c*x)"),
    ("factorial(p)", "a factorial outgrows every 2^(c*x)"),
    ("exp(p)", "the function 'exp' is unknown; log, sqrt and cbrt are known"),
    ("p(2)", "the function 'p' is unknown; log, sqrt and cbrt are known"),
    ("sqrt", "'sqrt' needs parentheses, as in 'sqrt(p)'"),
    ("p*(-2)", "its leading term is negative, but a run time or a size is positive"),
    ("log(p) - p", "its leading term is negative, but a run time or a size is positive"),
    ("sqrt(-4)*p", "it holds the root of a negative factor"),
    ("p - p", "its leading terms cancel"),
    ("0*p", "it is zero"),
    ("nan", "'nan' is not a number"),
    ("p*inf", "'inf' is not a number"),
    ("p/0", "it divides by zero"),
    ("0^-1", "it divides by zero"),
    ("1e400*p", "the number '1e400' is too large"),
    ("(2^1000)^9", "it holds a number that is too large"),
    ("(10^300)^1.5", "it holds a number that is too large"),
    ("2^1000*2^1000*2^1000*2^1000*2^1000", "it holds a number that is too large"),
    ("3^n", "the base of an exponential must be 2 or a power of 2, as in 2^(1.585*n) for 3^n"),
    ("2^sqrt(n)", "the exponent of 2 must be a multiple of one parameter"),
    ("2^(n + log(n))", "the exponent of 2 must be a multiple of one parameter"),
    ("p^log(3)", "an exponent must be a rational number"),
    ("p + q", "a sum over several parameters has no single leading term"),
    ("p)", "')' is left over"),
    ("p = 2", "'=' at position 3 is not part of a formula"),
    ("(p", "a closing parenthesis is missing"),
    ("p*", "it ends too early"),
    ("p**/2", "'/' is not expected where it stands"),
    ("().__class__", "'.' at position 3 is not part of a formula"),
    ("p" * 65, f"the name '{'p' * 20}...' is longer than 64 characters"),
    ("(" * 51 + "p" + ")" * 51, "it is nested more than 50 levels deep"),
    ("√" * 999 + "p", "it is nested more than 50 levels deep"),
    ("p" + "^2" * 60, "it is nested more than 50 levels deep"),
    ("log " * 200 + "p", "it is nested more than 50 levels deep"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=range(len(REFUSED)))
def test_refused(text: str, why: str) -> None:
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    message = f"{why}. {ADVICE}" if not text else f"cannot classify '{shown}': {why}. {ADVICE}"
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        Growth(text)


@pytest.mark.parametrize("text", ["p\0", "p\x1b[31m", "p\x7f", "p\n"])
def test_control_characters_are_refused(text: str) -> None:
    message = f"expectation '{repr(text)[1:-1]}' holds a control character. {ADVICE}"
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        Growth(text)


def test_long_text_is_refused_before_it_is_read() -> None:
    message = f"expectation '{'p+' * 10}...' has 1001 characters; at most 1000 are allowed. {ADVICE}"
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        Growth("p+" * 500 + "p")
    assert str(Growth("p+" * 499 + "p")) == "p"


@pytest.mark.parametrize("value", [None, True, b"p", ["p"], object()])
def test_other_types_are_refused(value: object) -> None:
    message = f"an expectation must be text, a number, a sympy expression or a Growth, got {type(value).__name__}. {ADVICE}"
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        Growth(value)


def test_the_parameter_can_be_prescribed() -> None:
    assert Growth("n^2", "n") == Growth.of("n", power=2)
    assert Growth("1", "n") == Growth()
    message = "expectation 'p' depends on p, but the parameter is 'n'. Write it in terms of n."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        Growth(Growth.of("p", power=1), "n")


def test_sympy_expressions() -> None:
    p, k = sympy.Symbol("p", positive=True), sympy.Symbol("k")
    assert str(Growth(p * sympy.log(p, 2))) == "p*log(p)"
    assert str(Growth(sympy.sqrt(p))) == "p^(1/2)"
    assert str(Growth(k**3 * 2**k)) == "k^3*2^k"
    assert str(Growth(2 ** (k / 2))) == "2^(k/2)"
    assert str(Growth(sympy.Integer(3))) == "1"


PIECES = st.sampled_from(
    [*"pnk0123456789.()+-*/^√²·! _", "**", "log", "log2", "sqrt(", "O(", "1e9", "2^", "nan", "__class__", "^-", ")/("]
)


@settings(max_examples=400)
@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=60).map("".join)))
@example("(" * 900)
@example("√" * 1000)
@example("9" * 1000)
@example("1e999999999*p")
@example("((((9^999)^999)^999)^999)")
@example("log^" * 250)
@example("p^(1/3)" * 140)
@example("-" * 1000)
@example("p^.1^.1^.1")
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        growth = Growth(text)
    except ExpectationError:
        return
    shown = str(growth)
    if len(shown) <= MAX_LENGTH:
        assert Growth(shown) == growth
