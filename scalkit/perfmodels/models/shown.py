"""How models look: one line in a terminal, a table with the formula in a notebook."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.support.markup import block, paragraph, table

_MOST_SHOWN = 90
_SIGNS = re.compile(r"([+*])")  # powers are written ^


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

    def _repr_html_(self) -> str:
        model: Any = self
        rows = [("model", escape(model.statement)), ("kind", escape(model.kind))]
        rows += model.message.rows() if hasattr(model, "message") else []
        limits = [limit.text(name) for name, limit in model.valid.items() if not limit.is_all]
        rows += [("holds for", escape("; ".join(limits)))] if limits else []
        rows += [("source", escape(model.source))] if model.source else []
        return block(paragraph(model.name), table((), rows))


def statement_html(model: ShownModel) -> str:
    """Return the statement of a model as a cell of a table in HTML, wrapped where it is long."""
    return f'<div class="sk-text">{escape(model.statement)}</div>'


def _text(model: Any) -> str:
    """Return the right-hand side of a statement."""
    if hasattr(model, "algorithm"):
        return str(_SIGNS.sub(r" \1 ", model.algorithm.formula.replace(" ", "")))
    if (formula := getattr(model, "formula", None)) is not None:
        shown = _SIGNS.sub(r" \1 ", str(formula).replace(" ", "").replace("**", "^"))
        for name, (value, unit) in model.quantities.items():
            shown = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", format_value(value, unit), shown)
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


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
