"""Prints a `Growth` as text that parses again, as MathML and as a sympy expression."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any, Protocol

from scalkit.growth.exponents import Exponents


class _Product(Protocol):
    """Powers by parameter."""

    @property
    def factors(self) -> tuple[tuple[str, Exponents], ...]: ...


def to_text(growth: _Product) -> str:
    """Return text such as ``"2^k*k^3"`` or ``"p^(1/3)/log(p)"``."""
    above: list[str] = []
    below: list[str] = []
    for name, e in growth.factors:
        for value, factor in ((e.power, _raised), (e.log, _log_raised)):
            if value:
                (above if value > 0 else below).append(factor(name, abs(value)))
        if e.exponential:
            (above if e.exponential > 0 else below).append(_two_to(name, abs(e.exponential)))
    return "/".join(["*".join(above) or "1", *below])


def _raised(name: str, value: Fraction) -> str:
    exponent = str(value) if value.denominator == 1 else f"({value})"
    return name if value == 1 else f"{name}^{exponent}"


def _log_raised(name: str, value: Fraction) -> str:
    return _raised(f"log({name})", value)


def _two_to(name: str, value: Fraction) -> str:
    if value == 1:
        return f"2^{name}"
    factor = f"{value.numerator}*{name}" if value.numerator != 1 else name
    return f"2^({factor}/{value.denominator})" if value.denominator != 1 else f"2^({factor})"


def to_mathml(growth: _Product) -> str:
    """Return a presentation MathML ``<mrow>`` without the enclosing ``<math>``."""
    above: list[str] = []
    below: list[str] = []
    for name, e in growth.factors:
        shown = f"<mi>{escape(name)}</mi>"
        parts: tuple[list[str], list[str]] = ([], [])
        for value, kind in ((e.exponential, "two"), (e.power, "power"), (e.log, "log")):
            if value:
                parts[value < 0].append(_mathml_factor(shown, abs(value), kind))
        above += ["".join(parts[0])] * bool(parts[0])
        below += ["".join(parts[1])] * bool(parts[1])
    top, bottom = "<mo>&#x22C5;</mo>".join(above) or "<mn>1</mn>", "<mo>&#x22C5;</mo>".join(below)
    if not bottom:
        return f"<mrow>{top}</mrow>"
    return f"<mfrac><mrow>{top}</mrow><mrow>{bottom}</mrow></mfrac>"


def _mathml_number(value: Fraction) -> str:
    if value.denominator == 1:
        return f"<mn>{value}</mn>"
    return f"<mrow><mn>{value.numerator}</mn>{_mathml_divisor(value)}</mrow>"


def _mathml_divisor(value: Fraction) -> str:
    """Return a slash and the denominator; nothing for whole numbers."""
    return "" if value.denominator == 1 else f"<mo lspace='0' rspace='0'>/</mo><mn>{value.denominator}</mn>"


def _mathml_factor(name: str, value: Fraction, kind: str) -> str:
    if kind == "two":
        factor = name if value.numerator == 1 else f"<mn>{value.numerator}</mn>{name}"
        return f"<msup><mn>2</mn><mrow>{factor}{_mathml_divisor(value)}</mrow></msup>"
    return _mathml_raised(name, value) if kind == "power" else _mathml_function("<mi>log</mi>", name, value)


def _mathml_raised(base: str, value: Fraction) -> str:
    return base if value == 1 else f"<msup>{base}{_mathml_number(value)}</msup>"


def _mathml_function(function: str, name: str, value: Fraction) -> str:
    raised = _mathml_raised(function, value)
    return f"<mspace width='0.17em'/><mrow>{raised}<mspace width='0.17em'/>{name}</mrow>"


def to_sympy(growth: _Product) -> Any:
    """Return a sympy expression in positive symbols; log2 is ``log(x, 2)``."""
    import sympy

    result: Any = sympy.Integer(1)
    for name, e in growth.factors:
        x = sympy.Symbol(name, positive=True)
        two, power, log = (sympy.Rational(v.numerator, v.denominator) for v in (e.exponential, e.power, e.log))
        result *= 2 ** (two * x) * x**power * sympy.log(x, 2) ** log
    return result
