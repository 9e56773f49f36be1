"""Own growth classes: a user registers log(log(p)), 2^sqrt(p) or p^p, and it takes its place between the built-in ones.

A class is separated from its neighbours: every power of it grows slower than every power of the next faster one. That keeps
the lexicographic order of growths right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from scalkit.arrays import Floats
from scalkit.errors import ExpectationError
from scalkit.growth.formula import FUNCTIONS, evaluate, read_formula, to_sympy

if TYPE_CHECKING:
    from scalkit.growth.growth import Growth

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_RESERVED = {*FUNCTIONS, "log10", "ln", "lg", "ld", "lb", "O", "Theta", "gamma", "nan", "inf", "infinity", "oo", "zoo"}
_BUILT_IN = {Fraction(1): "log2(x)", Fraction(2): "x", Fraction(3): "2 ** x"}
_SHOWN = {Fraction(0): "1", Fraction(1): "log(p)", Fraction(2): "p", Fraction(3): "2^p"}


@dataclass(frozen=True)
class GrowthClass:
    """A class of growth that a user added.

    `name`: what texts call it: the growth ``loglog(p)^2`` is the square of the class ``loglog`` in p.
    `formula`: of the parameter ``x``, in Python's notation.
    `rank`: place in the order, where log is 1, a power of x is 2 and 2^x is 3.
    """

    name: str
    formula: str
    rank: Fraction

    def growth(self, parameter: str = "p") -> Growth:
        """Return the class as a growth of `parameter`."""
        from scalkit.growth.growth import Exponents, Growth

        return Growth.product({parameter: Exponents(own=((self, Fraction(1)),))})

    def log2_at(self, log2_x: Floats) -> Floats:
        """Return log2 of the class where the parameter is ``2**log2_x``; NaN where it is negative."""
        return evaluate(self.formula, log2_x)

    def to_sympy(self, symbol: Any) -> Any:
        """Return the formula as a sympy expression of `symbol`."""
        return to_sympy(self.formula, symbol)


_registry: dict[str, GrowthClass] = {}  # names live as long as the process, as those of units and readers do


def register_growth(
    name: str, expression: object, *, slower_than: str | None = None, faster_than: str | None = None
) -> GrowthClass:
    """Return a new class of growth, which from now on every text may name.

    Parameters
    ----------
    name : str
        How it is written: with ``"loglog"`` the texts ``loglog(p)`` and ``p*loglog(p)^2`` are growths.
    expression : str or sympy expression
        Its formula in one parameter, for example ``"log(log(p))"``; + - * / ^, log (base 2), sqrt, cbrt, exp, factorial and
        classes registered before are known. It is read by a white list and never evaluated.
    slower_than, faster_than : str, optional
        Neighbours in the order, for example ``"log(p)"`` and ``"1"``; every power of the class lies between every power of
        them. What is given is checked by limits that sympy computes, and counts where sympy cannot tell; what is left out
        is found in the same way.

    Returns
    -------
    GrowthClass

    Raises
    ------
    ExpectationError
        If the name is taken, the formula cannot be read or does not grow, the order contradicts it, or it has no place of
        its own, as ``p*log(p)``, which is a product of built-in classes.

    Examples
    --------
    >>> loglog = register_growth("loglog", "log(log(p))", slower_than="log(p)", faster_than="1")
    >>> from scalkit.growth import Growth
    >>> Growth.parse("p*loglog(p)") < Growth.parse("p*log(p)")
    True
    >>> forget_growth("loglog")
    """
    _check_name(name)
    text = str(expression) if hasattr(expression, "free_symbols") else expression
    formula, _ = read_formula(text, {one.name: one.formula for one in _registry.values()})
    known = _registry.get(name)
    if known is not None:
        if known.formula == formula:
            return known
        raise ExpectationError(
            f"the growth class '{name}' is registered as '{known.formula}' already; choose another name, or forget it "
            f"with forget_growth('{name}')."
        )
    from scalkit.growth.symbolic import grows

    if grows(formula) is False:
        raise ExpectationError(f"the growth class '{name}', '{expression}', does not grow without bound; register its inverse.")
    made = GrowthClass(name, formula, _place(name, formula, slower_than, faster_than))
    _registry[name] = made
    return made


@contextmanager
def all_or_none() -> Iterator[None]:
    """Take the classes that were registered inside out again if there is an error."""
    before = set(_registry)
    try:
        yield
    except Exception:
        for name in _registry.keys() - before:
            del _registry[name]
        raise


def forget_growth(name: str) -> None:
    """Take a class out of the register; growths that were made of it stay what they are.

    Raises ExpectationError if there is no such class.
    """
    if name not in _registry:
        raise ExpectationError(f"there is no growth class '{name}' to forget; registered are {', '.join(_registry) or 'none'}.")
    del _registry[name]


def registered_growths() -> tuple[GrowthClass, ...]:
    """Return the classes that were registered, the slowest first."""
    return tuple(sorted(_registry.values(), key=lambda one: one.rank))


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
        raise ExpectationError(
            f"{str(name)[:70]!r} cannot name a growth class; take a letter, then letters, digits or '_', at most 64 in all, "
            "that is no function of the grammar."
        )


def _order() -> dict[Fraction, str]:
    """Return all formulas by their rank."""
    return _BUILT_IN | {one.rank: one.formula for one in _registry.values()}


def _shown(rank: Fraction) -> str:
    return _SHOWN.get(rank) or next(f"{one.name}(p)" for one in _registry.values() if one.rank == rank)


def _place(name: str, formula: str, slower_than: str | None, faster_than: str | None) -> Fraction:
    """Return a rank between the slower and the faster neighbours of a formula."""
    from scalkit.growth.symbolic import compare

    above = None if slower_than is None else _rank_of(slower_than, "slower_than")
    below = Fraction(0) if faster_than is None else _rank_of(faster_than, "faster_than")
    if above is not None and below >= above:
        raise ExpectationError(
            f"the growth class '{name}' cannot be slower than '{slower_than}' and faster than '{faster_than}'; "
            "name a faster class first and a slower one second."
        )
    for rank in sorted(_order()):
        found = compare(formula, _order()[rank])
        said = "faster" if rank <= below else "slower" if above is not None and rank >= above else None
        if found == "same":
            raise ExpectationError(
                f"the growth class '{name}' has no place of its own: it grows as a power of {_shown(rank)} up to slower "
                "factors. Register the slower factor and write the product."
            )
        if found != "unknown" and said not in (None, found):
            raise ExpectationError(
                f"the growth class '{name}' grows {found} than {_shown(rank)}, not {said}; correct slower_than or faster_than."
            )
        if found == "unknown" and said is None:
            raise ExpectationError(
                f"sympy cannot tell whether the growth class '{name}' grows faster than {_shown(rank)}; "
                f"say so with slower_than or faster_than."
            )
        if "faster" in (found, said):
            below = max(below, rank)
        else:
            above = rank if above is None else min(above, rank)
    return below + 1 if above is None else (below + above) / 2


def _rank_of(text: str, argument: str) -> Fraction:
    from scalkit.growth.growth import Growth

    growth = Growth.parse(text)
    if growth.is_constant:
        if argument == "faster_than":
            return Fraction(0)
        raise ExpectationError("slower_than is 1, but a class must grow; name a class that outgrows it.")
    if len(growth.parameters) > 1:
        raise ExpectationError(f"{argument} is '{growth}', which depends on several parameters; name one class, as 'log(p)'.")
    return growth.exponents(growth.parameters[0]).by_rank()[0][0]


def growth_through_sympy(text: str) -> Growth | None:
    """Return the growth of the leading term of a text that only sympy can classify; None if it cannot either.

    It is asked once own classes are registered: ``log(log(p)^2) + 3`` is ``loglog(p)`` then.
    """
    if not _registry:
        return None
    from scalkit.growth.growth import Exponents, Growth
    from scalkit.growth.symbolic import exponents_of

    try:
        formula, parameter = read_formula(text, {one.name: one.formula for one in _registry.values()})
    except ExpectationError:
        return None
    ranks = sorted(_order(), reverse=True)
    exponents = exponents_of(formula, tuple(_order()[rank] for rank in ranks))
    if exponents is None:
        return None
    found = dict(zip(ranks, exponents, strict=True))
    own = tuple((one, found[one.rank]) for one in registered_growths()[::-1] if found[one.rank])
    log, power, exponential = (found[rank] for rank in _BUILT_IN)
    return Growth.product({parameter: Exponents(exponential, power, log, own)})
