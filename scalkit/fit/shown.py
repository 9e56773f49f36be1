"""Piecewise models as notebooks show them."""

from __future__ import annotations

from typing import Any

from scalkit.markup import block, bullets, counted, details, formula, paragraph, table


class ShownPieces:
    """What a piecewise model has to be shown: its segments, and a sentence."""

    def _repr_html_(self: Any) -> str:
        rows = [(f"{one.first:g} to {one.last:g}", formula(one.model)) for one in self.segments]
        changes = self.change_points
        return block(
            paragraph(self.sentence),
            table((self.parameter, "model"), rows),
            details(counted(len(changes), "change point"), bullets(changes)),
        )

    def _repr_latex_(self: Any) -> str:
        rows = (f"{one.model.to_latex()} & {one.first:g} \\le {self.parameter} \\le {one.last:g}" for one in self.segments)
        return "$$\\begin{cases} " + " \\\\ ".join(rows) + " \\end{cases}$$"
