"""The growth of a formula: its leading terms in every parameter, without constants."""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any

from scalkit.errors import ExpectationError
from scalkit.growth import Exponents, Growth
from scalkit.growth.sums import GrowthSum

_ONE = frozenset({Growth()})
_Terms = frozenset[Growth]


def growth_of(expression: Any, parameters: Collection[str]) -> GrowthSum:
    """Return the growth of a sympy expression for large parameters; all other symbols are constants.

    A rounded number counts as the number, a maximum as a sum, and what is subtracted does not count, so that an expression
    whose leading terms cancel gets too large a growth.

    Raises ExpectationError if it has no growth of powers of 2^x, x and log2 x.
    """
    import sympy

    rounded = expression.replace(sympy.ceiling, lambda inside: sympy.floor(inside) + 1)  # their difference is no growth
    return GrowthSum.of(_terms(rounded, frozenset(parameters)))


def renamed(growth: GrowthSum, names: Mapping[str, str]) -> GrowthSum:
    """Return a growth with other names of its parameters."""
    return GrowthSum.of(Growth.product({names.get(n, n): e for n, e in term.factors}) for term in growth.terms)


def _terms(e: Any, parameters: frozenset[str]) -> _Terms:
    import sympy

    if e.is_Symbol:
        return frozenset({Growth.of(e.name, power=1)}) if e.name in parameters else _ONE
    if e.is_number:
        return frozenset() if e == 0 else _ONE
    if e.is_Add:
        kept = [one for one in e.args if not one.could_extract_minus_sign()] or list(e.args)
        return _leading(term for one in kept for term in _terms(one, parameters))
    if e.is_Mul:
        found: _Terms = _ONE
        for one in e.args:
            found = _leading(a * b for a in found for b in _terms(one, parameters))
        return found
    if e.is_Pow:
        return _power(e, parameters)
    if isinstance(e, sympy.Sum):
        return _summed(e, parameters)
    name = type(e).__name__
    if name in ("Max", "Piecewise"):
        parts = e.args if name == "Max" else [pair[0] for pair in e.args]
        return _leading(term for one in parts for term in _terms(one, parameters))
    if name == "Min":
        return min((_terms(one, parameters) for one in e.args), key=lambda terms: _only(terms, e))
    if name in ("log2", "log"):
        return _log(e, parameters)
    if name in ("ceiling", "floor"):
        return _leading([*_terms(e.args[0], parameters), Growth()])
    if name == "Mod":
        return _terms(e.args[1], parameters)
    raise ExpectationError(f"'{e}' has no growth in powers of 2^x, x and log2 x; name the growth yourself.")


def _leading(terms: Iterable[Growth]) -> _Terms:
    return frozenset(GrowthSum.of(terms).terms)


def _only(terms: _Terms, e: Any) -> Growth:
    if len(terms) != 1:
        raise ExpectationError(f"the growth of '{e}' is no single product; name the growth yourself.")
    return next(iter(terms))


def _power(e: Any, parameters: frozenset[str]) -> _Terms:
    import sympy

    if e.exp.is_Rational:
        exponent = Fraction(int(e.exp.p), int(e.exp.q))
        terms = _terms(e.base, parameters)
        if exponent > 0:
            return _leading(term**exponent for term in terms)
        return frozenset({_only(terms, e) ** exponent})
    if e.exp.is_Float:
        return _power(sympy.Pow(e.base, sympy.nsimplify(e.exp, rational=True), evaluate=False), parameters)
    base = sympy.log(e.base, 2)
    if not base.is_Rational or not e.base.is_number:
        raise ExpectationError(f"'{e}' has no growth in powers of 2^x, x and log2 x; name the growth yourself.")
    return _two_to(sympy.expand(e.exp * base), e, parameters)


def _two_to(exponent: Any, e: Any, parameters: frozenset[str]) -> _Terms:
    """Return the growth of 2 to a sum of c*x and c*log2(x), rounded or not."""
    import sympy

    total = Growth()
    for part in sympy.Add.make_args(exponent):
        factor, rest = part.as_coeff_Mul()
        while type(rest).__name__ in ("ceiling", "floor"):
            rest = rest.args[0]
        if rest.is_number or (rest.is_Symbol and rest.name not in parameters):
            continue
        share = Fraction(int(factor.p), int(factor.q)) if factor.is_Rational else None
        if share is None:
            raise ExpectationError(f"'{e}' has no growth in powers of 2^x, x and log2 x; name the growth yourself.")
        if type(rest).__name__ == "log2":
            total = total * _only(_terms(rest.args[0], parameters), e) ** share
        elif rest.is_Symbol:
            total = total * Growth.product({rest.name: Exponents(exponential=share)})
        else:
            raise ExpectationError(f"'{e}' has no growth in powers of 2^x, x and log2 x; name the growth yourself.")
    return frozenset({total})


def _log(e: Any, parameters: frozenset[str]) -> _Terms:
    found = set()
    for term in _terms(e.args[0], parameters):
        for name, exponents in term.factors:
            if exponents.exponential > 0:
                found.add(Growth.of(name, power=1))
            elif exponents.power:
                found.add(Growth.of(name, log=1))
            else:
                raise ExpectationError(f"'{e}' has no growth in powers of 2^x, x and log2 x; name the growth yourself.")
    return _leading(found or _ONE)


def _summed(e: Any, parameters: frozenset[str]) -> _Terms:
    """Return the growth of a sum over an index: of its closed form, else of its largest term times their number."""
    import sympy

    index, first, last = e.limits[0]
    term = e.function.replace(sympy.Mod, lambda _, divisor: divisor)
    term = term.replace(sympy.floor, lambda inside: inside).replace(sympy.ceiling, lambda inside: inside)
    n, number = sympy.Symbol("n", integer=True, positive=True), last - first + 1
    total = frozenset[Growth]()
    for part in sympy.Add.make_args(sympy.expand(term.replace(sympy.Max, lambda *parts: sympy.Add(*parts)))):
        if not part.has(index):
            total |= _terms(number * part, parameters)
            continue
        closed = sympy.expand(sympy.Sum(part, (index, first, n)).doit())
        if closed.has(sympy.Sum):
            raise ExpectationError(f"'{e}' has no closed form; name the growth yourself.")
        total |= _terms(closed.subs(n, last), parameters)
    return _leading(total)
