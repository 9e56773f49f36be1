"""Old names of modules that the documentation names: each loads the module that took its place, with a warning.

A package brings the modules in it.
"""

import importlib
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "scalkit.fit.several_formula": "scalkit.fit.several.formula",
    "scalkit.fit.several_growth": "scalkit.fit.several.growth",
    "scalkit.fit.several_model": "scalkit.fit.several.model",
    "scalkit.fit.several_points": "scalkit.fit.several.points",
    "scalkit.fit.several_search": "scalkit.fit.several.search",
    "scalkit.guideline_models": "scalkit.guidelines.fitted",
    "scalkit.guideline_tables": "scalkit.guidelines.tables",
    "scalkit.guidelines.predicting": "scalkit.guidelines.predictions",
    "scalkit.measure.experiment_file": "scalkit.formats.experiments.file",
    "scalkit.measure.experiments": "scalkit.formats.experiments.table",
    "scalkit.measure.readers": "scalkit.formats.readers",
    "scalkit.measure.writers": "scalkit.formats.writers",
    "scalkit.perfmodels.known": "scalkit.perfmodels.collectives.known",
    "scalkit.perfmodels.message_runs": "scalkit.perfmodels.fits.runs",
    "scalkit.perfmodels.sources": "scalkit.perfmodels.files.sources",
    "scalkit.plots.store_figure": "scalkit.plots.store.suites",
    "scalkit.plots.store_site": "scalkit.plots.store.site",
    "scalkit.plots.waiting_figures": "scalkit.plots.traces.waiting",
    "scalkit.reports.guidelines.report": "scalkit.reports.guidelines.page",
    "scalkit.reports.guidelines_page": "scalkit.reports.guidelines.page",
    "scalkit.reports.guidelines_report": "scalkit.reports.guidelines.page",
    "scalkit.reports.guidelines_sections": "scalkit.reports.guidelines.sections",
    "scalkit.reports.store_run.report": "scalkit.reports.store_run.page",
    "scalkit.reports.store_run_report": "scalkit.reports.store_run.page",
    "scalkit.reports.store_run_sections": "scalkit.reports.store_run.sections",
    "scalkit.reports.waiting.report": "scalkit.reports.waiting.page",
    "scalkit.reports.waiting_page": "scalkit.reports.waiting.page",
    "scalkit.reports.waiting_report": "scalkit.reports.waiting.page",
    "scalkit.reports.waiting_sections": "scalkit.reports.waiting.sections",
    "scalkit.scaling_check": "scalkit.pytest_plugin.scaling_check",
    "scalkit.trace.result": "scalkit.trace.results.dataset",
    "scalkit.trace.timeline": "scalkit.trace.views.timeline",
    "scalkit.validation.annotations": "scalkit.formats.ci.annotations",
    "scalkit.validation.baseline.change_points": "scalkit.history.change_points",
    "scalkit.validation.baseline.history": "scalkit.history.commits",
    "scalkit.validation.bands": "scalkit.validation.told.bands",
    "scalkit.validation.junit": "scalkit.formats.ci.junit",
    "scalkit.validation.plain": "scalkit.session.plain",
    "scalkit.validation.sentences": "scalkit.validation.told.sentences",
    "scalkit.validation.shown": "scalkit.validation.told.shown",
    "scalkit.validation.told.annotations": "scalkit.formats.ci.annotations",
    "scalkit.validation.told.junit": "scalkit.formats.ci.junit",
}


class _Moved(MetaPathFinder, Loader):
    """Finds the old names, and puts the new module in their place."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a specification for an old name, None for every other."""
        return ModuleSpec(fullname, self) if fullname.startswith("scalkit.") and _new_name(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        """Load the new module under the old name as well."""
        old = module.__name__
        new = _new_name(old) or ""
        warnings.warn(f"{old} is {new} now; import from there.", DeprecationWarning, stacklevel=2)
        sys.modules[old] = importlib.import_module(new)


def _new_name(name: str) -> str | None:
    """Return where a module is now; None if it did not move."""
    moved = next((old for old in MOVED if name == old or name.startswith(f"{old}.")), None)
    return None if moved is None else MOVED[moved] + name.removeprefix(moved)


def moved_names(package: str, home: str, names: Collection[str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` of a package for names and modules that are elsewhere now: it loads them with a warning."""

    def load(name: str) -> Any:
        if f"{package}.{name}" in MOVED:
            return importlib.import_module(f"{package}.{name}")
        if name not in names:
            raise AttributeError(f"module '{package}' has no attribute {name!r}")
        warnings.warn(f"{package}.{name} is {home}.{name} now; import from there.", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(home), name)

    return load


sys.meta_path.insert(0, _Moved())  # before the finder of files, which finds modules of a package that moved a second time
