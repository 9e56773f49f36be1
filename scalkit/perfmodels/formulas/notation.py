"""Draws sympy expressions of models as LaTeX and as MathML, with plain log2 and piecewise formulas."""

from functools import lru_cache
from typing import Any

_DIGITS = 5


def latex_of(expression: Any) -> str:
    """Return LaTeX of a sympy expression."""
    import sympy

    return str(sympy.latex(expression)).replace("\\operatorname{log}_{2}", "\\log_{2}")


def mathml_of(expression: Any) -> str:
    """Return presentation MathML of a sympy expression, without the enclosing ``<math>``."""
    import sympy

    found = _printer_class()()._print(_short(sympy.sympify(expression))).toxml()
    return str(found).replace("&amp;InvisibleTimes;", "&#x2062;").replace("&InvisibleTimes;", "&#x2062;")


def _short(expression: Any) -> Any:
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
