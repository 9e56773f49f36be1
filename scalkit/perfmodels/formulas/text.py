"""Formulas of models: text is read by a walk over Python's syntax tree with a white list, and becomes a sympy expression.

Nothing is ever evaluated as code. Known are ``+ - * / ^``, numbers, parameters, constants, and the functions ``log2``, ``log``
(base 2, too), ``sqrt``, ``cbrt``, ``ceil``, ``floor``, ``mod``, ``max``, ``min`` and ``sum(k, first, last, term)``."""

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import Dimension
from scalkit.perfmodels.formulas.syntax import syntax_tree
from scalkit.support.arrays import Floats

FUNCTIONS = ("log2", "log", "sqrt", "cbrt", "ceil", "floor", "mod", "max", "min", "sum")
MESSAGE_FUNCTIONS = ("T", "gap", "exchange", "both")
"""What a formula of a collective operation calls: the time of a message of so many bytes, the time between two that are sent, and
the time of sending one while another one is received."""

_MAX_LENGTH = 600
_MAX_NODES = 400
_LARGEST = 1e18
"""Of a number as written: beyond, floating-point numbers skip whole ones a hundred at a time."""

_MOST_BITS = 4096
"""Of a power of numbers that is written out: 1,233 decimal digits."""

_KNOWN = f"+, -, *, /, ^, numbers and the functions {', '.join(FUNCTIONS)}"


def positive(name: str) -> Any:
    """Return the sympy symbol of a parameter or constant."""
    import sympy

    return sympy.Symbol(name, positive=True)


@lru_cache(maxsize=512)
def parse_formula(text: str, names: frozenset[str], messages: bool = False) -> Any:
    """Return a formula as a sympy expression in positive symbols; logarithms are base 2.

    `text`: for example ``"alpha + beta*S*log2(P)"``; ``^`` and ``**`` are powers.
    `names`: parameters and constants that may occur.
    `messages`: whether ``T(bytes)``, ``gap(bytes)``, ``exchange(bytes)`` and ``both(bytes)`` may occur.
    Raises UsageError if it is too long, or holds anything else.
    """
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        raise UsageError(f"a formula is a text of at most {_MAX_LENGTH} characters, got {str(text)[:40]!r}; simplify it.")
    tree = syntax_tree(text)
    if tree is None:
        raise UsageError(f"cannot read the formula {text[:60]!r}: write it with operators, 2*S rather than 2 S.")
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise UsageError(f"the formula {text[:40]!r}... has more than {_MAX_NODES} parts; split it into several models.")
    return _Reader(text, names, messages).read(tree, {})


class _Reader:
    def __init__(self, text: str, names: frozenset[str], messages: bool) -> None:
        self._text = text
        self._names = names
        self._messages = messages

    def read(self, node: ast.expr, indices: Mapping[str, Any]) -> Any:
        import sympy

        match node:
            case ast.Constant(value=bool()):
                raise self._unknown(node)
            case ast.Constant(value=int() | float() as value) if abs(value) <= _LARGEST:
                return sympy.Integer(value) if isinstance(value, int) else sympy.Float(value)
            case ast.Name(id=name):
                return self._symbol(name, indices)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.read(operand, indices)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operate(op, node, self.read(left, indices), self.read(right, indices))
            case ast.Call(func=ast.Name(id="sum"), args=[ast.Name(id=index), first, last, term], keywords=[]):
                return self._sum(index, first, last, term, indices)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(name, node, [self.read(one, indices) for one in args])
        raise self._unknown(node)

    def _unknown(self, node: ast.expr) -> UsageError:
        part = ast.unparse(node)
        return UsageError(f"the formula {self._text[:60]!r} holds {part[:40]!r}; known are {_KNOWN}.")

    def _symbol(self, name: str, indices: Mapping[str, Any]) -> Any:
        if name in indices:
            return indices[name]
        if name not in self._names:
            listed = ", ".join(sorted(self._names)) or "none"
            raise UsageError(f"the formula {self._text[:60]!r} names {name!r}; its parameters and constants are {listed}.")
        return positive(name)

    def _operate(self, op: ast.operator, node: ast.expr, left: Any, right: Any) -> Any:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div() if right != 0:
                return left / right
            case ast.Pow() if _is_power(left, right):
                return left**right
        raise self._unknown(node)

    def _sum(self, index: str, first: ast.expr, last: ast.expr, term: ast.expr, indices: Mapping[str, Any]) -> Any:
        import sympy

        if index in self._names or index in indices:
            raise UsageError(f"the formula {self._text[:60]!r} sums over {index!r}, which means something else; rename it.")
        k = sympy.Symbol(index, integer=True, nonnegative=True)
        bounds = (self.read(first, indices), self.read(last, indices))
        return sympy.Sum(self.read(term, {**indices, index: k}), (k, *bounds))

    def _call(self, name: str, node: ast.expr, args: list[Any]) -> Any:
        import sympy

        made = _functions().get(name)
        if made is not None and len(args) == made[0]:
            return made[1](*args)
        if name in ("max", "min") and len(args) > 1:
            return (sympy.Max if name == "max" else sympy.Min)(*args)
        if self._messages and name in MESSAGE_FUNCTIONS and len(args) == 1:
            return sympy.Function(name)(args[0])
        raise self._unknown(node)


def _is_power(base: Any, exponent: Any) -> bool:
    """Whether a power exists and its digits fit into memory."""
    if not exponent.is_number:
        return True
    bits = max(abs(base.p), base.q).bit_length() if base.is_Rational else 1
    return bool(abs(exponent) <= 64 and bits * abs(exponent) <= _MOST_BITS and not (base == 0 and exponent.is_negative))


@lru_cache(maxsize=1)
def _functions() -> dict[str, tuple[int, Callable[..., Any]]]:
    import sympy
    from sympy.codegen.cfunctions import log2

    return {
        "log2": (1, log2),
        "log": (1, log2),
        "sqrt": (1, sympy.sqrt),
        "cbrt": (1, sympy.cbrt),
        "ceil": (1, sympy.ceiling),
        "floor": (1, sympy.floor),
        "mod": (2, sympy.Mod),
    }


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
