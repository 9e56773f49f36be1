"""Texts made to break the parser: nesting, numbers at the ends of the range, sums that lose or keep terms."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scalkit.errors import ExpectationError
from scalkit.growth import Growth

ADVICE = "Write the expectation as a product of powers of log(p), p and 2^p, for example 'p^2*log(p)'."


@pytest.mark.parametrize(
    ("text", "growth"),
    [
        ("(" * 50 + "p" + ")" * 50, Growth.of("p", power=1)),
        ("sqrt(" * 50 + "p" + ")" * 50, Growth.of("p", power=Fraction(1, 2**50))),
        ("√" * 50 + "p", Growth.of("p", power=Fraction(1, 2**50))),
        ("log(2^" * 25 + "p" + ")" * 25, Growth.of("p", power=1)),
        ("-" * 998 + "p", Growth.of("p", power=1)),
        ("+-" * 498 + "p", Growth.of("p", power=1)),
        ("p" + "+p" * 499, Growth.of("p", power=1)),
        ("p^1000", Growth.of("p", power=1000)),
        ("p^1001/p", None),
        ("a" * 64, Growth.of("a" * 64, power=1)),
        ("p²·log p", Growth.of("p", power=2, log=1)),
        ("O^2*log(O)", Growth.of("O", power=2, log=1)),
        ("O", Growth.of("O", power=1)),
        ("  p\u00a0 ", Growth.of("p", power=1)),
    ],
    ids=lambda value: str(value)[:25],
)
def test_the_limits_themselves(text: str, growth: Growth | None) -> None:
    if growth is None:
        with pytest.raises(ExpectationError, match="an exponent is larger than 1000"):
            Growth(text)
    else:
        assert Growth(text) == growth


@pytest.mark.parametrize(
    ("text", "growth"),
    [
        ("0*p^2 + p", Growth.of("p", power=1)),  # a factor of zero takes its term away
        ("p + 0*2^p", Growth.of("p", power=1)),
        ("p + 0", Growth.of("p", power=1)),
        ("1/p + 0", Growth.of("p", power=-1)),
        ("log(8)*p - 2*p", Growth.of("p", power=1)),  # log2 of 8 is 3
        ("4*p - log(8)*p", Growth.of("p", power=1)),
        ("log(2*p) + 0*2^p", Growth.of("p", log=1)),
        ("p^2*log(1e300*1e300)", Growth.of("p", power=2)),
        ("p^2 + (1e-300)^(1/2)", Growth.of("p", power=2)),
        ("2^(n + 1/n)", Growth.of("n", exponential=1)),
        ("2^(n + 1/log(n))", Growth.of("n", exponential=1)),
        ("2^(3*(n + 1))", Growth.of("n", exponential=3)),
        ("2^log(8*p)", Growth.of("p", power=1)),
        ("2^log(p + sqrt(p))", Growth.of("p", power=1)),
        ("2^log(2^n + n)", Growth.of("n", exponential=1)),
    ],
)
def test_coefficients_and_lost_terms_count(text: str, growth: Growth) -> None:
    assert Growth(text) == growth


NESTED = "it is nested more than 50 levels deep"
EXPONENT = "the exponent of 2 must be a multiple of one parameter"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((piece * (999 // len(piece)), NESTED) for piece in ("(", "√", "p^", "p^-", "p**", "log ", "log^", "log√")),
        *((piece * (999 // len(piece)), NESTED) for piece in ("log(", "sqrt(", "sqrt(-", "1/(", "O(", "2^(")),
        ("(" * 499 + "p" + ")" * 499, NESTED),
        ("sqrt(" * 51 + "p" + ")" * 51, NESTED),
        ("+-" * 499, "it ends too early"),
        ("2^((sqrt(n) + 1)^2)", EXPONENT),
        ("2^((sqrt(n) + 1)*(sqrt(n) + 1))", EXPONENT),
        ("2^log(n*2^n)", EXPONENT),
        ("2^(n*(1 + 1/log(n)))", EXPONENT),
        ("2^(n/(1 + 1/log(n)))", EXPONENT),
        ("2^(2^n)", EXPONENT),
        ("2^n^2", EXPONENT),
        ("2^(n*m)", EXPONENT),
        ("2^(sqrt(2)*n)", EXPONENT),
        ("p^600*p^600", "an exponent is larger than 1000"),
        ("2^(1001*n)", "an exponent is larger than 1000"),
        ("2^2^2^2^2^2", "an exponent is larger than 1000"),
        ("p^9^9^9^9", "an exponent is larger than 1000"),
        ("(1e-300*1e-300)^(1/2)*p", "it holds a number that is too small"),
        ("(1e-300*1e-300)^(-1/2)*p", "it holds a number that is too large"),
        ("(1e-300)^1000", "it holds a number that is too large"),
        ("1e300" + "*1e300" * 20, "it holds a number that is too large"),
        ("9" * 301, f"the number '{'9' * 20}' is too large"),
        ("1e-99999", "the number '1e-99999' is too large"),
        ("0^0", "it divides by zero"),
        ("p/(0*p)", "it divides by zero"),
        ("0 + 0", "it is zero"),
        ("0*p - 0*p", "it is zero"),
        ("__import__('os')", "''' at position 12 is not part of a formula"),
        ("__import__(os)", "the function '__import__' is unknown; log, sqrt and cbrt are known"),
        ("()", "')' is not expected where it stands"),
    ],
    ids=lambda value: value[:25],
)
def test_refused(text: str, why: str) -> None:
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    message = f"cannot classify '{shown}': {why}. {ADVICE}"
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        Growth(text)


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(ExpectationError, match=f"^{re.escape(f'an expectation is a number of too many digits. {ADVICE}')}$"):
        Growth(10**5000)


_PIECES = st.sampled_from(
    [*"pn+-*/^()√²1290. ", "log", "log(", "sqrt(", "2^", "**", "O(", "1e300", "1e-300", "0", "p^", "(1/2)", "\0", "é"]
)


CALLS_PER_CHARACTER = 600
"""Ten times what the most laborious texts need, such as p*p*p; a search among several readings would need far more."""


@contextlib.contextmanager
def _counted_calls() -> Iterator[list[str]]:
    """Yield the names of all Python functions that are called in the context."""
    names: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        yield names
    finally:
        sys.setprofile(before)


@settings(deadline=None, max_examples=200)
@given(st.lists(_PIECES, max_size=200).map("".join))
@example("(1e-300*1e-300)^(-1/2)")
@example("p^1e-300")
@example("((((((1e-300)^10)^10)^10)^10)^10)")
@example("p" + "*p" * 499)
@example("p" + "+p" * 499)
def test_long_texts_are_read_or_refused_at_once(text: str) -> None:
    with _counted_calls() as calls:
        try:
            growth = Growth(text)
        except ExpectationError:
            growth = None
    assert len(calls) <= CALLS_PER_CHARACTER * (len(text) + 20)
    if growth is not None:
        assert Growth(str(growth)) == growth


@pytest.mark.parametrize("piece", ["(", "√", "p^", "log ", "log^", "log(", "sqrt(", "-", "1/", "p*(", "2^", "²", "O("])
@pytest.mark.parametrize("end", ["", "p", ")"])
def test_the_longest_repetitions_never_overflow_the_stack(piece: str, end: str) -> None:
    text = (piece * 1000)[: 1000 - len(end)] + end
    with contextlib.suppress(ExpectationError):
        Growth(text)


def test_an_unknown_function_has_a_nearest_name() -> None:
    with pytest.raises(ExpectationError, match=r"the function 'lgo' is unknown; did you mean 'log'\? Write the expect"):
        Growth("lgo(p)")
    with pytest.raises(ExpectationError, match="the function 'qsrt' is unknown; did you mean 'sqrt'"):
        Growth("qsrt(p)")
