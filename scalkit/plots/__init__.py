"""Pictures of a validation as plotly figures: pure functions, one kind of figure per module.

``scaling(result)`` and ``divergence(result)`` show all functions, ``fit(verdict)``, ``divergence_of(verdict)`` and
``ruler(verdict)`` one function, ``rule(rule_result)`` one cross-function rule, ``pieces(verdict)`` where the growth changes.
Over several parameters ``several(verdict)`` shows one function and ``effects(result)`` all. Every figure carries a sentence
for screen readers in ``layout.meta["alt"]``.
"""

from __future__ import annotations

from scalkit.plots.divergence_figure import divergence_of
from scalkit.plots.divergence_overview import divergence
from scalkit.plots.effects_figure import effects
from scalkit.plots.fit_figure import fit
from scalkit.plots.pieces_figure import pieces
from scalkit.plots.rule_figure import rule
from scalkit.plots.ruler_figure import ruler
from scalkit.plots.scaling_figure import scaling
from scalkit.plots.several_figure import several

__all__ = ["divergence", "divergence_of", "effects", "fit", "pieces", "rule", "ruler", "scaling", "several"]
