"""Pictures of a validation as plotly figures: pure functions, one kind of figure per module.

``scaling(result)`` and ``divergence(result)`` show all functions, ``fit(verdict)``, ``divergence_of(verdict)`` and
``ruler(verdict)`` one function, ``rule(rule_result)`` one cross-function rule, ``pieces(verdict)`` where the growth changes.
``overlay`` shows one function in several data sets, and ``changes`` what became of all since a baseline.
Over several parameters ``several(verdict)`` shows one function and ``effects(result)`` all; over two of them
``surface(verdict)`` and ``slice_of(verdict, along, at)``. Of guidelines ``guideline_map`` shows all by size,
``guideline_overview``, ``guideline_ratios`` and ``guideline_focus`` one group or test of an assessment.
``with_rivals(figure, verdict)`` adds hidden curves to a fit. Every figure carries a sentence for screen readers in
``layout.meta["alt"]``.

Of performance models ``model(models, cells)`` draws lines and bands under measured times, ``xu(fit)`` alpha(P) and beta(P),
``algorithms(identified)`` a map of algorithms, ``folklore(check)`` both forms of the folklore, ``roots(times)`` a rooted
operation over its root.
Of messages ``messages(fit)`` draws times, fits and residuals, ``message_shares(fit)`` overlap, strides and the histogram of a
bisection. Of the waits in a trace ``trace_matrix(result)`` draws who waited for whom. ``master_worker(ds)`` draws the
time for each work unit, and who waits.
``processes(times)`` shows when each process was done, of what was measured with ``--per-process``. All are loaded at first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Overlaid": "overlay_figure",
    "algorithms": "model_algorithms_figure",
    "changes": "changes_figure",
    "divergence": "divergence_overview",
    "divergence_of": "divergence_figure",
    "effects": "effects_figure",
    "fit": "fit_figure",
    "folklore": "model_folklore_figure",
    "guideline_focus": "guidelines_focus",
    "guideline_map": "guidelines_map",
    "guideline_overview": "guidelines_overview",
    "guideline_ratios": "guidelines_overview",
    "master_worker": "master_worker_figure",
    "message_shares": "message_shares_figure",
    "messages": "message_figure",
    "model": "model_figure",
    "overlay": "overlay_figure",
    "pieces": "pieces_figure",
    "processes": "process_figure",
    "roots": "model_roots_figure",
    "rule": "rule_figure",
    "ruler": "ruler_figure",
    "scaling": "scaling_figure",
    "several": "several_figure",
    "slice_of": "surface_figure",
    "surface": "surface_figure",
    "trace_matrix": "trace_matrix_figure",
    "with_rivals": "rival_curves",
    "xu": "model_xu_figure",
}

if TYPE_CHECKING:
    from scalkit.plots.changes_figure import changes
    from scalkit.plots.divergence_figure import divergence_of
    from scalkit.plots.divergence_overview import divergence
    from scalkit.plots.effects_figure import effects
    from scalkit.plots.fit_figure import fit
    from scalkit.plots.guidelines_focus import guideline_focus
    from scalkit.plots.guidelines_map import guideline_map
    from scalkit.plots.guidelines_overview import guideline_overview, guideline_ratios
    from scalkit.plots.master_worker_figure import master_worker
    from scalkit.plots.message_figure import messages
    from scalkit.plots.message_shares_figure import message_shares
    from scalkit.plots.model_algorithms_figure import algorithms
    from scalkit.plots.model_figure import model
    from scalkit.plots.model_folklore_figure import folklore
    from scalkit.plots.model_roots_figure import roots
    from scalkit.plots.model_xu_figure import xu
    from scalkit.plots.overlay_figure import Overlaid, overlay
    from scalkit.plots.pieces_figure import pieces
    from scalkit.plots.process_figure import processes
    from scalkit.plots.rival_curves import with_rivals
    from scalkit.plots.rule_figure import rule
    from scalkit.plots.ruler_figure import ruler
    from scalkit.plots.scaling_figure import scaling
    from scalkit.plots.several_figure import several
    from scalkit.plots.surface_figure import slice_of, surface
    from scalkit.plots.trace_matrix_figure import trace_matrix

__all__ = [
    "Overlaid",
    "algorithms",
    "changes",
    "divergence",
    "divergence_of",
    "effects",
    "fit",
    "folklore",
    "guideline_focus",
    "guideline_map",
    "guideline_overview",
    "guideline_ratios",
    "master_worker",
    "message_shares",
    "messages",
    "model",
    "overlay",
    "pieces",
    "processes",
    "roots",
    "rule",
    "ruler",
    "scaling",
    "several",
    "slice_of",
    "surface",
    "trace_matrix",
    "with_rivals",
    "xu",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'scalkit.plots' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"scalkit.plots.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
