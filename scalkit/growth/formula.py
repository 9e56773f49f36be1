"""A formula of one parameter, read by a walk over Python's syntax tree with a white list; text is never evaluated.

It is computed in signed logarithms from log2 of the parameter, so that neither ``p^p`` nor ``log(log(p))`` leaves the range
of floating-point numbers, and it can be handed to sympy. All logarithms are base 2.
"""

import ast
import math
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import ExpectationError

Signed = tuple[Floats, Floats]
"""The sign of a value, and log2 of its magnitude."""

FUNCTIONS = ("log", "log2", "sqrt", "cbrt", "exp", "factorial")
_MAX_LENGTH = 200
_MAX_NODES = 80
_MAX_NUMBER = 1000
_MAX_POWER = 64
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_KNOWN = f"+, -, *, /, ^, {', '.join(FUNCTIONS)}, one parameter and numbers are known"


def read_formula(text: object, inlined: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return a formula of ``x`` in Python's notation, and what the text calls that parameter.

    `text`: for example ``"log(log(p))"`` or ``"2^sqrt(n)"``; ``^`` is a power.
    `inlined`: functions of one argument that the formula may call; they are replaced by their formulas.
    Raises ExpectationError if it is too long or holds anything but the operators, functions, numbers and the one
    parameter that are known.
    """
    if not isinstance(text, str):
        raise ExpectationError(f"a formula must be text, got {type(text).__name__}; write it as text, for example 'log(log(p))'.")
    if len(text) > _MAX_LENGTH:
        raise ExpectationError(
            f"the formula '{text[:20]}...' has {len(text)} characters; at most {_MAX_LENGTH} are allowed. Simplify it."
        )
    read = syntax_tree(text)
    if read is None:
        raise ExpectationError(f"cannot read the formula '{text}': write it with operators, 2*p rather than 2 p.")
    tree = _Inline(text, inlined or {}).visit(read)
    nodes = _nodes(tree, text)
    for node in nodes:
        _check(node, text)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}
    if len(names) != 1 or names & set(FUNCTIONS):
        listed = ", ".join(sorted(names)) or "none"
        raise ExpectationError(f"the formula '{text}' must depend on one parameter; it depends on {listed}.")
    _check_powers(nodes, text)
    return ast.unparse(_Substitute(ast.Name("x")).visit(tree)), names.pop()


def syntax_tree(text: str) -> ast.expr | None:
    """Return the syntax tree of a formula in which ``^`` is a power; None if it is none. Nothing is evaluated."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about numbers that touch a word; the white list judges them
            return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _nodes(tree: ast.AST, text: str) -> list[ast.AST]:
    nodes = list(ast.walk(tree))
    if sum(isinstance(node, ast.expr) for node in nodes) > _MAX_NODES:
        raise ExpectationError(f"the formula '{text}' has more than {_MAX_NODES} operations and names; simplify it.")
    return nodes


def _check(node: ast.AST, text: str) -> None:
    if isinstance(node, (ast.Name, ast.expr_context, ast.operator, ast.unaryop)):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return
    if isinstance(node, ast.Constant):
        number = node.value
        if isinstance(number, bool) or not isinstance(number, (int, float)) or number > _MAX_NUMBER:
            _refuse(text, f"'{ast.unparse(node)[:20]}' is no number up to {_MAX_NUMBER}")
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        if node.func.id not in FUNCTIONS:
            _refuse(text, f"the function '{node.func.id}' is unknown")
        if node.func.id == "factorial" and not _has_parameter(node.args[0]):
            _refuse(text, "a factorial must be of something with the parameter")
        return
    _refuse(text, f"'{ast.unparse(node)[:40]}' is not allowed" if isinstance(node, ast.expr) else "it is no formula")


def _check_powers(nodes: list[ast.AST], text: str) -> None:
    """Refuse numbers such as 9^9^9^9 and sums to high powers, which no computer can write out."""
    total = 1.0
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _has_parameter(node.right):
            with np.errstate(all="ignore"):
                sign, log2 = _signed(node.right, np.zeros(()))
                total *= max(1.0, float(np.exp2(log2)))
            if math.isnan(float(sign)) or not total <= _MAX_POWER:
                _refuse(text, f"its exponents are too large, {_MAX_POWER} is the most for their product")


def _has_parameter(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id not in FUNCTIONS for each in ast.walk(node))


def _refuse(text: str, why: str) -> NoReturn:
    raise ExpectationError(f"cannot read the formula '{text}': {why}; {_KNOWN}.")


class _Inline(ast.NodeTransformer):
    def __init__(self, text: str, formulas: Mapping[str, str]) -> None:
        self.text = text
        self.formulas = formulas

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id in self.formulas and len(node.args) == 1):
            return node
        inlined: ast.expr = _Substitute(node.args[0]).visit(_tree(self.formulas[node.func.id]))
        _nodes(inlined, self.text)  # before it is copied into the next one
        return inlined


class _Substitute(ast.NodeTransformer):
    def __init__(self, argument: ast.expr) -> None:
        self.argument = argument

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node if node.id in FUNCTIONS else self.argument


def _tree(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


_parsed = lru_cache(maxsize=128)(_tree)


def evaluate(formula: str, log2_x: Floats) -> Floats:
    """Return log2 of a formula where the parameter is ``2**log2_x``.

    `formula`: from `read_formula`.
    Returns: -inf where the formula is zero, NaN where it is negative or does not exist.
    """
    with np.errstate(all="ignore"):
        sign, log2 = _signed(_parsed(formula), np.asarray(log2_x, dtype=np.float64))
        return np.asarray(np.where(sign > 0, log2, np.where(sign == 0, -np.inf, np.nan)))


def _signed(node: ast.expr, log2_x: Floats) -> Signed:
    if isinstance(node, ast.Name):
        return np.ones_like(log2_x), log2_x
    if isinstance(node, ast.Constant):
        return _of_value(np.full_like(log2_x, float(node.value)))  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp):
        sign, log2 = _signed(node.operand, log2_x)
        return (-sign, log2) if isinstance(node.op, ast.USub) else (sign, log2)
    if isinstance(node, ast.BinOp):
        return _operation(node.op, _signed(node.left, log2_x), _signed(node.right, log2_x))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return _called(node.func.id, *_signed(node.args[0], log2_x))


def _operation(operator: ast.operator, left: Signed, right: Signed) -> Signed:
    (sign, log2), (other_sign, other) = left, right
    if isinstance(operator, ast.Mult):
        return sign * other_sign, log2 + other
    if isinstance(operator, ast.Div):
        return sign * other_sign, log2 - other
    if isinstance(operator, ast.Pow):
        return np.where(sign > 0, 1.0, np.nan), log2 * (other_sign * np.exp2(other))
    largest = np.maximum(log2, other)
    scale = np.where(np.isfinite(largest), largest, 0.0)
    second = -other_sign if isinstance(operator, ast.Sub) else other_sign
    total_sign, total = _of_value(sign * np.exp2(log2 - scale) + second * np.exp2(other - scale))
    return total_sign, total + scale


def _called(name: str, sign: Floats, log2: Floats) -> Signed:
    exists = np.where(sign >= 0, 1.0, np.nan)
    if name in ("log", "log2"):
        return _of_value(np.where(sign > 0, log2, np.where(sign == 0, -np.inf, np.nan)))
    if name in ("sqrt", "cbrt"):
        return sign * exists, log2 / (2 if name == "sqrt" else 3)
    value = sign * np.exp2(log2)
    if name == "exp":
        return np.ones_like(value), value * math.log2(math.e)
    from scipy.special import gammaln

    return exists, np.asarray(gammaln(value + 1) / math.log(2))


def _of_value(value: Floats) -> Signed:
    return np.sign(value), np.log2(np.abs(value))


def to_sympy(formula: str, symbol: Any) -> Any:
    """Return a formula from `read_formula` as a sympy expression of `symbol`; decimals become exact fractions."""
    return _sympy(_parsed(formula), symbol)


def _sympy(node: ast.expr, symbol: Any) -> Any:
    import sympy

    if isinstance(node, ast.Name):
        return symbol
    if isinstance(node, ast.Constant):
        return sympy.Rational(str(node.value))
    if isinstance(node, ast.UnaryOp):
        operand = _sympy(node.operand, symbol)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.BinOp):
        left, right = _sympy(node.left, symbol), _sympy(node.right, symbol)
        operations: dict[type[ast.operator], Callable[[], Any]] = {
            ast.Add: lambda: left + right,
            ast.Sub: lambda: left - right,
            ast.Mult: lambda: left * right,
            ast.Div: lambda: left / right,
            ast.Pow: lambda: left**right,
        }
        return operations[type(node.op)]()
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    functions = {"log": _log2, "log2": _log2, "exp": sympy.exp, "factorial": sympy.factorial}
    functions |= {"sqrt": sympy.sqrt, "cbrt": sympy.cbrt}
    return functions[node.func.id](_sympy(node.args[0], symbol))


def _log2(value: Any) -> Any:
    import sympy

    return sympy.log(value, 2)
