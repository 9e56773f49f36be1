"""Reads growths such as ``O(p log p)`` with a small grammar; text is never evaluated.

A sum is reduced to its leading term while it is read, so every part of an expression is one term: a rational
coefficient times a `Product`."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from scalkit.growth.exponents import Exponents
from scalkit.growth.product import Product
from scalkit.growth.refusals import LOGS, ROOTS, checked_text, refusal, unknown_function


def n_bits(number: Fraction) -> int:
    """Return the binary digits of the longer of numerator and denominator."""
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def log2(number: Fraction) -> Fraction:
    """Return the logarithm of a positive number, rounded as a float is."""
    return Fraction(math.log2(number.numerator) - math.log2(number.denominator))


def is_power_of_two(number: Fraction) -> bool:
    """Return whether a positive number is 2 to a whole power."""
    return all(n & (n - 1) == 0 for n in (number.numerator, number.denominator))


MAX_NAME, MAX_NESTING = 64, 50
MAX_EXPONENT = 1000
_MAX_BITS, _MAX_EXPONENT_BITS = 4096, 900

_BIG_O = frozenset({"O", "Theta", "Θ"})
_NOT_NUMBERS = frozenset({"nan", "inf", "infinity", "oo", "zoo"})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*|Θ)"
    r"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<op>\*\*|[-+*/^()·×√])"
)
_GLUED = re.compile(r"([kmnpx]?)log([kmnpx])", re.IGNORECASE)  # nlogn and logn, as people write them
_FACTORIAL = "a factorial outgrows every 2^(c*x)"

_CONSTANT, _ALONE = Product.product({}), Exponents(power=Fraction(1))
_NOTHING, _A_CONSTANT, _MORE = range(3)


@dataclass(frozen=True)
class _Term:
    """A coefficient times a growth; `exact` unless the coefficient was rounded.

    `lost` is what sums left out: nothing, a constant, or what grows. 2^(n + 3) grows as 2^n, but 2^(n + log(n)) does not.
    """

    coefficient: Fraction
    growth: Product = _CONSTANT
    exact: bool = True
    lost: int = _NOTHING


def parse_product(text: object) -> Product:
    """Return the leading term of an expectation in big O notation, without its coefficient.

    `text`: for example ``"O(p log p)"``, ``"p^(2/3)*log(p)"``, ``"n**2.8074"``, ``"2^(k/2)"``, ``"n^2 + n*log(n)"``, ``1``.
    Decimals become exact fractions, coefficients are dropped, all logarithms are base 2.
    Raises ExpectationError if the text is not a positive product of powers of logarithms, parameters and 2 to a multiple of
    a parameter.
    """
    return _parsed(_as_text(text))


def _as_text(text: object) -> str:
    """Return a text as it is, which `_parsed` checks once, and another value as text."""
    return str(text) if isinstance(text, str) else checked_text(text)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Product:
    text = checked_text(text)
    term = _Parser(text).parse()
    if term.coefficient == 0:
        _refuse(text, "it is zero")
    if term.coefficient < 0:
        _refuse(text, "its leading term is negative, but a run time or a size is positive")
    return term.growth


def _refuse(text: str, why: str) -> NoReturn:
    raise refusal(text, why)


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._split())
        self.at = 0
        self.depth = 0

    def _split(self) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(self.text):
            if self.text[at].isspace():
                at += 1
                continue
            match = _TOKEN.match(self.text, at)
            if self.text[at] == "!":
                _refuse(self.text, _FACTORIAL)
            if match is None:
                _refuse(self.text, f"'{self.text[at]}' at position {at + 1} is not part of a formula")
            kind = str(match.lastgroup)
            if kind == "name" and len(match.group()) > MAX_NAME:
                _refuse(self.text, f"the name '{match.group()[:20]}...' is longer than {MAX_NAME} characters")
            yield kind, match.group()
            at = match.end()

    def parse(self) -> _Term:
        term = self._sum()
        if self.at < len(self.tokens):
            _refuse(self.text, f"'{self.tokens[self.at][1]}' is left over")
        return term

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def _take(self, *texts: str) -> str:
        kind, text = self._peek()
        if kind == "op" and text in texts:
            self.at += 1
            return text
        return ""

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING + 1:
            _refuse(self.text, f"it is nested more than {MAX_NESTING} levels deep")

    def _sum(self) -> _Term:
        total = self._product()
        while sign := self._take("+", "-"):
            other = self._product()
            if sign == "-":
                other = replace(other, coefficient=-other.coefficient)
            total = self._add(total, other)
        return total

    def _add(self, left: _Term, right: _Term) -> _Term:
        if 0 in (left.coefficient, right.coefficient):
            return left if right.coefficient == 0 else right
        if left.growth == right.growth:
            coefficient = left.coefficient + right.coefficient
            if coefficient == 0:
                _refuse(self.text, "its leading terms cancel")
            return self._term(coefficient, left.growth, left.exact and right.exact, max(left.lost, right.lost))
        if len({*left.growth.parameters, *right.growth.parameters}) > 1:
            _refuse(self.text, "a sum over several parameters has no single leading term")
        high, low = (left, right) if left.growth > right.growth else (right, left)
        return replace(high, lost=max(high.lost, _A_CONSTANT if low.growth <= _CONSTANT else _MORE))

    def _product(self) -> _Term:
        term = self._signed()
        divided = False
        while True:
            kind, text = self._peek()
            if self._take("*", "·", "×"):
                term, divided = self._times(term, self._signed()), False
            elif self._take("/"):
                divisor = self._signed()
                term, divided = self._times(term, self._inverse(divisor)), not divisor.growth.is_constant
            elif kind in {"name", "number"} or (kind == "op" and text in {"(", "√"}):
                if divided:
                    _refuse(self.text, "'a/b c' is ambiguous; write a/(b*c) or a/b*c")
                term = self._times(term, self._power())
            else:
                return term

    def _signed(self) -> _Term:
        sign = 1
        while taken := self._take("+", "-"):
            sign = -sign if taken == "-" else sign
        term = self._power()
        return replace(term, coefficient=sign * term.coefficient)

    def _power(self) -> _Term:
        base = self._atom()
        kind, text = self._peek()
        if kind == "raised":
            self.at += 1
            return self._raise(base, _Term(Fraction(int(text.translate(_SUPERSCRIPTS)))))
        if not self._take("^", "**"):
            return base
        sign = -1 if self._take("-") else 1
        self._take("+")
        self._deeper()
        exponent = self._power()
        self.depth -= 1
        return self._raise(base, replace(exponent, coefficient=sign * exponent.coefficient))

    def _atom(self) -> _Term:
        self._deeper()
        term = self._bare_atom()
        self.depth -= 1
        return term

    def _bare_atom(self) -> _Term:
        kind, text = self._peek()
        self.at += 1
        if kind == "number":
            return _Term(self._number(text))
        if kind == "name":
            return self._name(text)
        if (kind, text) == ("op", "√"):
            return self._raise(self._atom(), _Term(Fraction(1, 2)))
        if (kind, text) == ("op", "("):
            term = self._sum()
            if not self._take(")"):
                _refuse(self.text, "a closing parenthesis is missing")
            return term
        if kind == "end":
            _refuse(self.text, "it ends too early")
        _refuse(self.text, f"'{text}' is not expected where it stands")

    def _number(self, text: str) -> Fraction:
        mantissa, _, exponent = text.lower().partition("e")
        if len(mantissa) > 300 or (exponent and (len(exponent) > 5 or abs(int(exponent)) > 300)):
            _refuse(self.text, f"the number '{text[:20]}' is too large")
        return Fraction(text)

    def _name(self, name: str) -> _Term:
        called = self._peek() == ("op", "(")
        if not called and (glued := _GLUED.fullmatch(name)) and glued[1] in ("", glued[2]):
            if self._peek() in {("op", "^"), ("op", "**")} or self._peek()[0] == "raised":
                _refuse(self.text, f"'{name}^a' is ambiguous; write log({glued[2]})^a or log({glued[2]}^a) where that is meant")
            return _Term(Fraction(1), Product.of(glued[2], power=len(glued[1]), log=1))
        if name.lower() in _NOT_NUMBERS:
            _refuse(self.text, f"'{name}' is not a number")
        if name in LOGS:
            return self._logarithm(name)
        if name in ROOTS:
            if not called:
                _refuse(self.text, f"'{name}' needs parentheses, as in '{name}(p)'")
            return self._raise(self._bare_atom(), _Term(ROOTS[name]))
        if called and name in _BIG_O:
            return self._bare_atom()
        if called and name in {"factorial", "gamma"}:
            _refuse(self.text, _FACTORIAL)
        if called:
            _refuse(self.text, unknown_function(name))
        return _Term(Fraction(1), Product.of(name, power=1))

    def _logarithm(self, name: str) -> _Term:
        raised = _Term(Fraction(1))
        kind, text = self._peek()
        if kind == "raised":
            self.at += 1
            raised = _Term(Fraction(int(text.translate(_SUPERSCRIPTS))))
        elif self._take("^", "**"):
            raised = self._atom()
        bare = self._peek() != ("op", "(")
        argument = self._atom() if bare else self._bare_atom()
        if bare and self._peek() in {("op", "^"), ("op", "**")}:
            _refuse(self.text, f"'{name} x^a' is ambiguous; write log(x)^a or log(x^a)")
        return self._raise(self._log_of(argument), raised)

    def _log_of(self, argument: _Term) -> _Term:
        growth = argument.growth
        if growth.is_constant:
            if argument.coefficient <= 1:
                _refuse(self.text, "the logarithm of a number must be of one above 1")
            return _Term(log2(argument.coefficient), exact=False)
        if len(growth.parameters) > 1:
            _refuse(self.text, "the logarithm of several parameters is a sum; write log(p)")
        ((parameter, exponents),) = growth.factors
        if argument.coefficient <= 0 or growth < _CONSTANT:
            _refuse(self.text, "a logarithm must be of something that grows")
        rounded = _NOTHING if argument.coefficient == 1 and not argument.lost else _A_CONSTANT
        if exponents.exponential:
            lost = _MORE if exponents.power or exponents.log else rounded
            return self._term(exponents.exponential, Product.of(parameter, power=1), True, lost)
        if exponents.power:
            lost = _MORE if exponents.log else rounded
            return self._term(exponents.power, Product.of(parameter, log=1), True, lost)
        _refuse(self.text, "it holds a logarithm of a logarithm, which grows slower than every log(p)^b")

    def _inverse(self, term: _Term) -> _Term:
        if term.coefficient == 0:
            _refuse(self.text, "it divides by zero")
        return _Term(1 / term.coefficient, term.growth**-1, term.exact, _MORE if term.lost else _NOTHING)

    def _times(self, left: _Term, right: _Term) -> _Term:
        lost = max(left.lost, right.lost)
        if any(one.lost and not other.growth.is_constant for one, other in ((left, right), (right, left))):
            lost = _MORE
        coefficient = left.coefficient * right.coefficient
        return self._term(coefficient, left.growth * right.growth, left.exact and right.exact, lost)

    def _raise(self, base: _Term, exponent: _Term) -> _Term:
        if not exponent.growth.is_constant:
            return self._exponential(base, exponent)
        if not exponent.exact:
            _refuse(self.text, "an exponent must be a rational number")
        if abs(exponent.coefficient) > MAX_EXPONENT:
            _refuse(self.text, f"an exponent is larger than {MAX_EXPONENT}")
        if base.coefficient == 0 and exponent.coefficient <= 0:
            _refuse(self.text, "it divides by zero")
        return self._rational_power(base, exponent.coefficient)

    def _rational_power(self, base: _Term, exponent: Fraction) -> _Term:
        growth = base.growth**exponent
        lost = base.lost if exponent == 1 or not base.lost else _MORE
        if exponent.denominator == 1:
            if n_bits(base.coefficient) * abs(exponent.numerator) > _MAX_BITS:
                _refuse(self.text, "it holds a number that is too large")
            return self._term(base.coefficient**exponent.numerator, growth, base.exact, lost)
        if base.coefficient < 0:
            _refuse(self.text, "it holds the root of a negative factor")
        try:
            rounded = Fraction(float(base.coefficient) ** float(exponent))
        except (OverflowError, ZeroDivisionError):
            _refuse(self.text, "it holds a number that is too large")
        if rounded == 0 != base.coefficient:
            _refuse(self.text, "it holds a number that is too small")
        return self._term(rounded, growth, base.coefficient in {0, 1} and base.exact, lost)

    def _exponential(self, base: _Term, exponent: _Term) -> _Term:
        if not base.growth.is_constant:
            _refuse(self.text, "a parameter to the power of a parameter outgrows every 2^(c*x)")
        number = base.coefficient
        if not base.exact or number <= 0 or not is_power_of_two(number):
            _refuse(self.text, "the base of an exponential must be 2 or a power of 2, as in 2^(1.585*n) for 3^n")
        if exponent.lost == _MORE or not exponent.exact or len(exponent.growth.parameters) != 1:
            _refuse(self.text, "the exponent of 2 must be a multiple of one parameter")
        factor = exponent.coefficient * (number.numerator.bit_length() - number.denominator.bit_length())
        ((parameter, e),) = exponent.growth.factors
        if e == _ALONE:
            return self._term(Fraction(1), Product.of(parameter, exponential=factor), True, _NOTHING)
        if e == Exponents(log=Fraction(1)):
            return self._term(Fraction(1), Product.of(parameter, power=factor), True, _NOTHING)
        _refuse(self.text, "the exponent of 2 must be a multiple of one parameter")

    def _term(self, coefficient: Fraction, growth: Product, exact: bool, lost: int) -> _Term:
        if n_bits(coefficient) > _MAX_BITS:
            _refuse(self.text, "it holds a number that is too large")
        for _, e in growth.factors:
            if any(abs(v) > MAX_EXPONENT for _, v in e.by_rank()):
                _refuse(self.text, f"an exponent is larger than {MAX_EXPONENT}")
            if any(n_bits(v) > _MAX_EXPONENT_BITS for _, v in e.by_rank()):
                _refuse(self.text, "an exponent has too many digits")
        return _Term(coefficient, growth if coefficient else _CONSTANT, exact, lost)
