"""Orders and classifies formulas by limits that sympy computes; it is imported at first use.

The exponent of a class in a formula is the limit of log(formula) / log(class): taken from the fastest class downwards, each
time divided out, these limits find the leading term of any sum and see through every form in which a term can be written.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from scalkit.growth import formula as formulas

_MAX_EXPONENT = 1000


@lru_cache(maxsize=1024)
def compare(left: str, right: str) -> Literal["slower", "faster", "same", "unknown"]:
    """Return how `left` stands to `right`: slower if every power of it grows slower than every power of `right`.

    `left`, `right`: formulas from `scalkit.growth.formula.read_formula` that grow.
    """
    import sympy

    x = _symbol()
    ratio = _limit(sympy.log(_of(left, x)) / sympy.log(_of(right, x)), x)
    if ratio is None or not (ratio.is_real or ratio is sympy.oo):
        return "unknown"
    if ratio is sympy.oo:
        return "faster"
    return "slower" if ratio == 0 else "same"


@lru_cache(maxsize=256)
def grows(formula: str) -> bool | None:
    """Return whether a formula goes to infinity with its parameter; None if sympy cannot tell."""
    import sympy

    x = _symbol()
    limit = _limit(_of(formula, x), x)
    return None if limit is None else limit is sympy.oo


@lru_cache(maxsize=256)
def exponents_of(formula: str, classes: tuple[str, ...]) -> tuple[Fraction, ...] | None:
    """Return the exponents of the classes in the leading term of a formula.

    `classes`: formulas of the classes, the fastest first.
    Returns: None if the leading term is no product of rational powers of the classes with a positive coefficient, or
    sympy cannot tell.
    """
    import sympy

    x = _symbol()
    rest, found = _of(formula, x), []
    for one in classes:
        factor = _of(one, x)
        exponent = _limit(sympy.log(rest) / sympy.log(factor), x)
        if exponent is None or not exponent.is_Rational or abs(exponent) > _MAX_EXPONENT:
            return None
        found.append(Fraction(int(exponent.p), int(exponent.q)))
        rest = rest / factor**exponent
    coefficient = _limit(rest, x)
    return tuple(found) if coefficient is not None and coefficient.is_finite and coefficient.is_positive else None


def _symbol() -> Any:
    import sympy

    return sympy.Symbol("x", positive=True)


def _of(formula: str, x: Any) -> Any:
    return formulas.to_sympy(formula, x)


def _limit(expression: Any, x: Any) -> Any:
    """Return the limit for large x; None where sympy gives none."""
    import sympy

    try:
        limit = sympy.limit(sympy.powsimp(sympy.expand_log(sympy.expand_power_base(expression))), x, sympy.oo)
    except (NotImplementedError, ValueError, TypeError, RecursionError, ArithmeticError, AttributeError):
        return None  # these are the ways in which its algorithm gives up
    unknown = limit.has(sympy.Limit) or limit is sympy.nan or limit.free_symbols
    return None if unknown else sympy.simplify(sympy.expand_log(limit, force=True))
