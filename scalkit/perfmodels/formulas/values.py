"""Evaluates a formula on numpy arrays, and finds its dimension, by a walk over its sympy expression."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import Dimension
from scalkit.perfmodels.formulas.text import MESSAGE_FUNCTIONS

_MOST_TERMS = 10_000
"""Keeps one evaluation short: each term is evaluated on the whole array."""

_SECONDS = Dimension.of("s")
_BYTES = Dimension.of("B")


def evaluate(
    expression: Any, at: Mapping[str, Floats], functions: Mapping[str, Callable[[Floats], Floats]] | None = None
) -> Floats:
    """Return an expression at the values of its symbols, broadcast against each other.

    `expression`: as `parse_formula` makes it.
    `at`: parameters and constants in base units.
    `functions`: what ``T``, ``gap`` and ``exchange`` are.
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
        return math.prod(parts[1:], start=parts[0])
    if e.is_Pow:
        return np.power(np.asarray(parts[0], dtype=np.float64), parts[1])
    name = type(e).__name__
    if name in functions:
        return functions[name](np.asarray(parts[0], dtype=np.float64))
    return _FUNCTIONS[name](*parts)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log2": np.log2,
    "log": np.log,
    "ceiling": np.ceil,
    "floor": np.floor,
    "Mod": np.mod,
    "Max": lambda *parts: reduce(np.maximum, parts),
    "Min": lambda *parts: reduce(np.minimum, parts),
    "Abs": np.abs,
}


def _sum(e: Any, at: dict[str, Any], functions: Mapping[str, Callable[[Floats], Floats]]) -> Any:
    index, first, last = e.limits[0]
    low, high = (np.asarray(_value(bound, at, functions), dtype=np.float64) for bound in (first, last))
    if not (np.isfinite(low).all() and np.isfinite(high).all()) or high.max() - low.min() > _MOST_TERMS:
        raise UsageError(f"the sum over {index} from {first} to {last} has more than {_MOST_TERMS} terms here; simplify it.")
    total: Any = np.zeros(np.broadcast_shapes(low.shape, high.shape))
    for k in range(int(low.min()), int(high.max()) + 1):
        term = _value(e.function, {**at, index.name: float(k)}, functions)
        total = total + np.where((low <= k) & (k <= high), term, 0.0)
    return total


def dimension_of(expression: Any, dimensions: Mapping[str, Dimension], text: str) -> Dimension:
    """Return the dimension of an expression.

    `dimensions`: of parameters and constants; what is missing is a number.
    `text`: for messages.
    Raises UsageError if it adds, or compares, seconds and bytes, or the argument of a function has the wrong dimension.
    """
    return _Dimensions(dimensions, text).of(expression)


class _Dimensions:
    """The dimension of a part of a formula, and the sentences where it has none."""

    def __init__(self, dimensions: Mapping[str, Dimension], text: str) -> None:
        self.known, self.text = dimensions, text

    def of(self, e: Any) -> Dimension:
        import sympy

        if e.is_Symbol:
            return self.known.get(e.name, Dimension())
        if e.is_number:
            return Dimension()
        if isinstance(e, sympy.Sum):
            return self.of(e.function)
        if e.is_Add or isinstance(e, sympy.Max | sympy.Min):
            return self._same([one for one in e.args if one != 0])
        if e.is_Mul:
            return math.prod((self.of(one) for one in e.args), start=Dimension())
        if e.is_Pow:
            return self._raised(self.of(e.base), e.exp)
        return self._called(type(e).__name__, e)

    def _called(self, name: str, e: Any) -> Dimension:
        if name == "Mod":
            return self._same(list(e.args))
        is_message = name in MESSAGE_FUNCTIONS
        if not is_message or e.args[0] != 0:
            self._require(self.of(e.args[0]), _BYTES if is_message else Dimension(), e)
        return _SECONDS if is_message else Dimension()

    def _same(self, parts: list[Any]) -> Dimension:
        first = self.of(parts[0])
        for part in parts[1:]:
            if (other := self.of(part)) != first:
                raise UsageError(
                    f"the formula {self.text[:60]!r} adds or compares '{parts[0]}', in {first}, and '{part}', in {other}; "
                    "check the units of its constants."
                )
        return first

    def _raised(self, base: Dimension, exponent: Any) -> Dimension:
        if base.is_number:
            self._require(self.of(exponent), Dimension(), exponent)
            return base
        if not exponent.is_Rational:
            raise UsageError(f"the formula {self.text[:60]!r} raises {base} to the power of '{exponent}'; write a plain number.")
        return base ** Fraction(int(exponent.p), int(exponent.q))

    def _require(self, found: Dimension, wanted: Dimension, e: Any) -> None:
        if found != wanted:
            raise UsageError(f"the formula {self.text[:60]!r} has {found} in '{e}', where {wanted} belongs; check the units.")
