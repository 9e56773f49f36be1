"""Evaluates a formula on numpy arrays, and finds its dimension, by a walk over its sympy expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import Dimension
from scalkit.perfmodels.formulas.text import MESSAGE_FUNCTIONS

__all__ = ["dimension_of", "evaluate"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
_MOST_TERMS = 10_000
_SECONDS = Dimension.of("s")
_BYTES = Dimension.of("B")


def evaluate(
    expression: Any, at: Mapping[str, Floats], functions: Mapping[str, Callable[[Floats], Floats]] | None = None
) -> Floats:
    """Return an expression at the values of its symbols, broadcast against each other.

    Parameters
    ----------
    expression : sympy expression
        As `parse_formula` makes it.
    at : mapping from name to ndarray
        Parameters and constants in base units.
    functions : mapping from name to function of an ndarray, optional
        What ``T``, ``gap`` and ``exchange`` are.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(_value(expression, dict(at), functions or {}), dtype=np.float64)


def _value(e: Any, at: dict[str, Any], functions: Mapping[str, Callable[[Floats], Floats]]) -> Any:
    import sympy

    if e.is_Symbol:
        return at[e.name]
    if e.is_number and not e.args:
        return float(e)
    if isinstance(e, sympy.Sum):
        return _sum(e, at, functions)
    parts = [_value(one, at, functions) for one in e.args]
    if e.is_Add:
        return sum(parts[1:], parts[0])
    if e.is_Mul:
        return _product(parts)
    if e.is_Pow:
        return np.power(np.asarray(parts[0], dtype=np.float64), parts[1])
    name = type(e).__name__
    if name in functions:
        return functions[name](np.asarray(parts[0], dtype=np.float64))
    return _FUNCTIONS[name](*parts)


def _product(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total * part
    return total


def _largest(*parts: Any) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = np.maximum(total, part)
    return total


def _least(*parts: Any) -> Any:
    return -_largest(*(-np.asarray(part) for part in parts))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log2": np.log2,
    "log": np.log,
    "ceiling": np.ceil,
    "floor": np.floor,
    "Mod": np.mod,
    "Max": _largest,
    "Min": _least,
    "Abs": np.abs,
}


def _sum(e: Any, at: dict[str, Any], functions: Mapping[str, Callable[[Floats], Floats]]) -> Any:
    index, first, last = e.limits[0]
    low, high = (np.asarray(_value(bound, at, functions), dtype=np.float64) for bound in (first, last))
    if not (np.isfinite(low).all() and np.isfinite(high).all()) or high.max() - low.min() > _MOST_TERMS:
        raise UsageError(
            f"the sum over {index} from {first} to {last} has more than {_MOST_TERMS} terms here; simplify it."
        )
    total: Any = np.zeros(np.broadcast_shapes(low.shape, high.shape))
    for k in range(int(low.min()), int(high.max()) + 1):
        term = _value(e.function, {**at, index.name: float(k)}, functions)
        total = total + np.where((low <= k) & (k <= high), term, 0.0)
    return total


def dimension_of(expression: Any, dimensions: Mapping[str, Dimension], text: str) -> Dimension:
    """Return the dimension of an expression.

    Parameters
    ----------
    expression : sympy expression
    dimensions : mapping from name to Dimension
        Of parameters and constants; what is missing is a number.
    text : str
        For messages.

    Raises
    ------
    UsageError
        If it adds, or compares, seconds and bytes, or the argument of a function has the wrong dimension.
    """
    import sympy

    def walk(e: Any) -> Dimension:
        if e.is_Symbol:
            return dimensions.get(e.name, Dimension())
        if e.is_number:
            return Dimension()
        if isinstance(e, sympy.Sum):
            return walk(e.function)
        if e.is_Add or isinstance(e, sympy.Max | sympy.Min):
            return same([one for one in e.args if one != 0])
        if e.is_Mul:
            total = Dimension()
            for one in e.args:
                total = total * walk(one)
            return total
        if e.is_Pow:
            return raised(walk(e.base), e.exp)
        inside = walk(e.args[0])
        if type(e).__name__ in MESSAGE_FUNCTIONS:
            if e.args[0] != 0:
                require(inside, _BYTES, e)
            return _SECONDS
        if type(e).__name__ == "Mod":
            return same(list(e.args))
        require(inside, Dimension(), e)
        return Dimension()

    def same(parts: list[Any]) -> Dimension:
        first = walk(parts[0])
        for part in parts[1:]:
            if (other := walk(part)) != first:
                raise UsageError(
                    f"the formula {text[:60]!r} adds or compares '{parts[0]}', in {first}, and '{part}', in {other}; "
                    "check the units of its constants."
                )
        return first

    def raised(base: Dimension, exponent: Any) -> Dimension:
        if base.is_number:
            require(walk(exponent), Dimension(), exponent)
            return base
        if not exponent.is_Rational:
            raise UsageError(
                f"the formula {text[:60]!r} raises {base} to the power of '{exponent}'; write a plain number."
            )
        return base ** Fraction(int(exponent.p), int(exponent.q))

    def require(found: Dimension, wanted: Dimension, e: Any) -> None:
        if found != wanted:
            raise UsageError(
                f"the formula {text[:60]!r} has {found} in '{e}', where {wanted} belongs; check the units."
            )

    return walk(expression)
