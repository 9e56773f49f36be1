"""How models look: one line in a terminal, a table with the formula in a notebook."""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import Any

from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.support.markup import block, paragraph, table

_DIGITS = 5


def mathml_of(expression: Any) -> str:
    """Return presentation MathML of a sympy expression, without the enclosing ``<math>``."""
    import sympy

    found = _printer_class()()._print(_with_five_digits(sympy.sympify(expression))).toxml()
    return str(found).replace("&amp;InvisibleTimes;", "&#x2062;").replace("&InvisibleTimes;", "&#x2062;")


def _with_five_digits(expression: Any) -> Any:
    """Return the expression with numbers of five digits: fits have no more."""
    import sympy

    return expression.xreplace({one: sympy.Float(one, _DIGITS) for one in expression.atoms(sympy.Float)})


@lru_cache(maxsize=1)
def _printer_class() -> Any:
    from sympy.printing.mathml import MathMLPresentationPrinter

    class Printer(MathMLPresentationPrinter):  # type: ignore[misc]
        def _tag(self, name: str, *children: Any) -> Any:
            made = self.dom.createElement(name)
            for child in children:
                made.appendChild(self.dom.createTextNode(child) if isinstance(child, str) else child)
            return made

        def _called(self, head: Any, args: Any) -> Any:
            inside = [self._tag("mo", "(")]
            for k, one in enumerate(args):
                inside += [self._tag("mo", ",")] * bool(k) + [self._print(one)]
            return self._tag("mrow", head, self._tag("mrow", *inside, self._tag("mo", ")")))

        def _print_log2(self, e: Any) -> Any:
            return self._called(self._tag("msub", self._tag("mi", "log"), self._tag("mn", "2")), e.args)

        def _print_AppliedUndef(self, e: Any) -> Any:  # noqa: N802
            return self._called(self._tag("mi", e.func.__name__), e.args)

        def _print_Piecewise(self, e: Any) -> Any:  # noqa: N802
            rows = []
            for value, condition in e.args:
                when = "otherwise" if condition == True else "for\u00a0"  # noqa: E712 - a sympy value
                cells = [self._tag("mtext", when), *([] if when == "otherwise" else [self._print(condition)])]
                shown = [self._tag("mtd", self._print(value)), self._tag("mtd", self._tag("mrow", *cells))]
                rows.append(self._tag("mtr", *shown))
            return self._tag("mrow", self._tag("mo", "{"), self._tag("mtable", *rows))

    return Printer


_MOST_SHOWN = 90
_SIGNS = re.compile(r"([+*])")  # powers are written ^
_EQUALS, _AT_MOST = "<mo>=</mo>", "<mo>&#x2264;</mo>"
_GREEK = {"Theta": "&#x398;", "Omega": "&#x3A9;"}


class ShownModel:
    """The representations of a performance model."""

    @property
    def statement(self) -> str:
        """What the model says, on one line, for example ``"T(S) = 4.50 us + 2.67 ns/B * S"``."""
        model: Any = self
        left = f"{'T' if model.unit == 's' else 'f'}({', '.join(model.parameters)})"
        if model.kind_of_class == "bounded":
            low, high = (None if side is None else _text(side) for side in (model.lower, model.upper))
            return f"{low + ' <= ' if low else ''}{left}{' <= ' + high if high else ''}"
        return f"{left} = {_text(model)}"

    def __str__(self) -> str:
        model: Any = self
        return f"{model.name}: {self.statement}"

    def __repr__(self) -> str:
        model: Any = self
        return f"{type(self).__name__}({_short(model.name)!r}: {_short(self.statement)})"

    def to_mathml(self, *, numbers: bool = False, nanoseconds: bool = False) -> str:
        """Return presentation MathML of what the model says, without ``<math>``; `nanoseconds`: numbers of times."""
        is_scaled = numbers and nanoseconds and getattr(self, "unit", "") == "s"
        return f"<mrow>{_stated(self, numbers, is_scaled)}</mrow>"

    def _repr_html_(self) -> str:
        model: Any = self
        rows = [("model", f"<math>{self.to_mathml()}</math>"), ("kind", escape(model.kind))]
        if constants := _constants(model):
            shown = "; ".join(f"{escape(name)} = {escape(value)}" for name, value in constants.items())
            rows.append(("constants", shown))
        rows += _message_rows(model)
        limits = [limit.text(name) for name, limit in model.valid.items() if not limit.is_all]
        rows += [("holds for", escape("; ".join(limits)))] if limits else []
        rows += [("source", escape(model.source))] if model.source else []
        return block(paragraph(model.name), table((), rows))


def _message_rows(model: Any) -> list[tuple[str, str]]:
    """Return the models of a message that the formula of a collective operation builds on."""
    message = getattr(model, "message", None)
    if message is None:
        return []
    rows = [("message", f"<math>{message.time.to_mathml()}</math>")]
    for name, one in (("gap", message.gap), ("exchange", message.exchange)):
        if one is not None:
            rows.append((name, f"<math>{one.to_mathml().replace('<mi>T</mi>', f'<mi>{name}</mi>', 1)}</math>"))
    return rows


def _in_nanoseconds(expression: Any) -> Any:
    """Return an expression in s times 1e9, its numbers multiplied out."""
    import sympy

    if isinstance(expression, sympy.Piecewise):
        return sympy.Piecewise(*((_in_nanoseconds(value), condition) for value, condition in expression.args))
    if isinstance(expression, sympy.Tuple | sympy.Add | sympy.Max | sympy.Min):
        return expression.func(*map(_in_nanoseconds, expression.args))
    found = expression * sympy.Float(1e9, _DIGITS) if expression.is_finite is not False else expression
    whole = {one: sympy.Integer(round(one)) for one in found.atoms(sympy.Float) if abs(one - round(one)) <= 1e-5 * abs(one)}
    return found.xreplace(whole)


def _stated(model: Any, numbers: bool, in_nanoseconds: bool = False) -> str:
    import sympy

    name = "T" if model.unit == "s" else "f"
    left = mathml_of(sympy.Function(name)(*map(sympy.Symbol, model.parameters)) if model.parameters else sympy.Symbol(name))
    found = model.to_sympy(numbers=numbers) if numbers or not hasattr(model, "formula_shown") else model.formula_shown
    found = _in_nanoseconds(found) if in_nanoseconds else found
    if model.kind_of_class == "asymptotic":
        return left + _EQUALS + _grown(model)
    if model.kind == "dominant term":
        rest = [_grown(one) for one in model.parts if one.kind == "asymptotic"]
        return left + _EQUALS + "<mo>+</mo>".join([mathml_of(found), *rest])
    if isinstance(found, sympy.Tuple):
        low = "" if found[0] == 0 else mathml_of(found[0]) + _AT_MOST
        return low + left + ("" if found[1] == sympy.oo else _AT_MOST + mathml_of(found[1]))
    return left + _EQUALS + mathml_of(found)


def _grown(model: Any) -> str:
    notation = _GREEK.get(model.notation, model.notation)
    return f"<mi>{notation}</mi><mrow><mo>(</mo>{mathml_of(model.to_sympy())}<mo>)</mo></mrow>"


def _text(model: Any) -> str:
    """Return the right-hand side of a statement."""
    if hasattr(model, "algorithm"):
        return str(_SIGNS.sub(r" \1 ", model.algorithm.formula.replace(" ", "")))
    if (formula := getattr(model, "formula", None)) is not None:
        shown = _SIGNS.sub(r" \1 ", str(formula).replace(" ", "").replace("**", "^"))
        for name, value in _constants(model).items():
            shown = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", value, shown)
        return shown
    if model.kind_of_class == "asymptotic":
        return f"{model.notation}({model.growth_sum})"
    if (terms := getattr(model, "terms", None)) is not None:
        return sum_of_multiples((c, _text(one)) for c, one in terms)
    if (pieces := getattr(model, "pieces", None)) is not None:
        return f"{{{'; '.join(f'{_text(one)} for {limits.text(model.parameter)}' for limits, one in pieces)}}}"
    return str(model.name)


def sum_of_multiples(terms: Iterable[tuple[float, str]]) -> str:
    """Return a sum of multiples as text, such as ``"a + 2 * (b) - (c)"``."""
    shown = ""
    for c, text in terms:
        sign = " - " if c < 0 else " + " if shown else ""
        shown += sign + (text if c == 1 else f"({text})" if c == -1 else f"{abs(c):g} * ({text})")
    return shown


def _constants(model: Any) -> dict[str, str]:
    return {name: format_value(value, unit) for name, (value, unit) in model.constants_used.items()}


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
