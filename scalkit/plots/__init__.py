"""Pictures of a validation as plotly figures: pure functions, one kind of figure per module.

``scaling(result)`` and ``divergence(result)`` show all functions, ``fit(verdict)``, ``divergence_of(verdict)`` and
``ruler(verdict)`` one function, ``rule(rule_result)`` one cross-function rule, ``pieces(verdict)`` where the growth changes.
``overlay`` shows one function in several data sets, and ``changes`` what became of all since a baseline.
Over several parameters ``several(verdict)`` shows one function and ``effects(result)`` all; over two of them
``surface(verdict)`` and ``slice_of(verdict, along, at)``. Of guidelines ``guideline_map`` shows all by size,
``guideline_overview``, ``guideline_ratios`` and ``guideline_focus`` one group or test of an assessment.
``with_rivals(figure, verdict)`` adds hidden curves to a fit. Every figure carries a sentence for screen readers in
``layout.meta["alt"]``.

Of performance models ``model(models, cells)`` draws lines and bands under measured times,
``algorithms(identified)`` a map of algorithms, ``folklore(check)`` both forms of the folklore.
``message_flow(flow)`` draws who sends what to whom, ``strides(fit)`` the time of strided messages.
Of the waits in a trace ``trace_matrix(result)`` draws who waited for whom.
``master_worker(ds)`` draws the time for each work unit, and who waits.
``processes(times)`` shows when each process was done, of what was measured with ``per_process``. All are loaded at first use.
"""

from scalkit.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
