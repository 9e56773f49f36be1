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
    "Overlaid": "verdicts.overlay",
    "algorithms": "models.algorithms",
    "changes": "verdicts.changes",
    "divergence": "verdicts.divergence_overview",
    "divergence_of": "verdicts.divergence",
    "effects": "verdicts.effects",
    "fit": "verdicts.fit",
    "folklore": "models.folklore",
    "guideline_focus": "guidelines.focus",
    "guideline_map": "guidelines.map",
    "guideline_overview": "guidelines.overview",
    "guideline_ratios": "guidelines.overview",
    "master_worker": "traces.master_worker",
    "message_shares": "models.message_shares",
    "messages": "models.messages",
    "model": "models.measured",
    "overlay": "verdicts.overlay",
    "pieces": "verdicts.pieces",
    "processes": "traces.processes",
    "roots": "models.roots",
    "rule": "verdicts.rule",
    "ruler": "verdicts.ruler",
    "scaling": "verdicts.scaling",
    "several": "verdicts.several",
    "slice_of": "verdicts.surface",
    "surface": "verdicts.surface",
    "trace_matrix": "traces.matrix",
    "with_rivals": "verdicts.rival_curves",
    "xu": "models.alpha_beta",
}

if TYPE_CHECKING:
    from scalkit.plots.guidelines.focus import guideline_focus
    from scalkit.plots.guidelines.map import guideline_map
    from scalkit.plots.guidelines.overview import guideline_overview, guideline_ratios
    from scalkit.plots.models.algorithms import algorithms
    from scalkit.plots.models.alpha_beta import xu
    from scalkit.plots.models.folklore import folklore
    from scalkit.plots.models.measured import model
    from scalkit.plots.models.message_shares import message_shares
    from scalkit.plots.models.messages import messages
    from scalkit.plots.models.roots import roots
    from scalkit.plots.traces.master_worker import master_worker
    from scalkit.plots.traces.matrix import trace_matrix
    from scalkit.plots.traces.processes import processes
    from scalkit.plots.verdicts.changes import changes
    from scalkit.plots.verdicts.divergence import divergence_of
    from scalkit.plots.verdicts.divergence_overview import divergence
    from scalkit.plots.verdicts.effects import effects
    from scalkit.plots.verdicts.fit import fit
    from scalkit.plots.verdicts.overlay import Overlaid, overlay
    from scalkit.plots.verdicts.pieces import pieces
    from scalkit.plots.verdicts.rival_curves import with_rivals
    from scalkit.plots.verdicts.rule import rule
    from scalkit.plots.verdicts.ruler import ruler
    from scalkit.plots.verdicts.scaling import scaling
    from scalkit.plots.verdicts.several import several
    from scalkit.plots.verdicts.surface import slice_of, surface

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
