"""Formulas of models: text is read by a walk over Python's syntax tree with a white list, and becomes a sympy expression.

Nothing is ever evaluated as code. Known are ``+ - * / ^``, numbers, parameters, constants, and the functions ``log2``, ``log``
(base 2, too), ``sqrt``, ``cbrt``, ``ceil``, ``floor``, ``mod``, ``max``, ``min`` and ``sum(k, first, last, term)``.
"""

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from scalkit.errors import UsageError
from scalkit.growth.formula import syntax_tree

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
