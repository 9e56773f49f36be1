"""scalkit tells the developers of a parallel library whether their code scales as it should.

The public names below are loaded at first use, so that ``import scalkit`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import scalkit.moved  # noqa: F401  (old names of modules)

__version__ = "0.1.0"

_HOMES = {
    "Baseline": "scalkit.validation.baseline",
    "Exercise": "scalkit.widgets.exercise",
    "Expectation": "scalkit.validation.expectation",
    "Explorer": "scalkit.widgets.explorer.explorer",
    "FitModels": "scalkit.fit.batch",
    "Growth": "scalkit.growth",
    "Ruler": "scalkit.widgets",
    "SearchSpace": "scalkit.validation.space",
    "Session": "scalkit.session",
    "errors": "scalkit",
    "fit_models": "scalkit.fit.batch",
    "guidelines": "scalkit",
    "measurements": "scalkit.measure",
    "perfmodels": "scalkit",
    "piecewise": "scalkit.validation.pieces",
    "plots": "scalkit",
    "read": "scalkit.measure",
    "register_growth": "scalkit.growth",
    "report": "scalkit.reports",
    "store": "scalkit",
    "validate": "scalkit.validation",
}

if TYPE_CHECKING:
    from scalkit import errors, guidelines, perfmodels, plots, store
    from scalkit.fit.batch import FitModels, fit_models
    from scalkit.growth import Growth, register_growth
    from scalkit.measure import measurements, read
    from scalkit.reports import report
    from scalkit.session import Session
    from scalkit.validation import validate
    from scalkit.validation.baseline import Baseline
    from scalkit.validation.expectation import Expectation
    from scalkit.validation.pieces import piecewise
    from scalkit.validation.space import SearchSpace
    from scalkit.widgets import Ruler
    from scalkit.widgets.exercise import Exercise
    from scalkit.widgets.explorer.explorer import Explorer

__all__ = [
    "Baseline",
    "Exercise",
    "Expectation",
    "Explorer",
    "FitModels",
    "Growth",
    "Ruler",
    "SearchSpace",
    "Session",
    "__version__",
    "errors",
    "fit_models",
    "guidelines",
    "measurements",
    "perfmodels",
    "piecewise",
    "plots",
    "read",
    "register_growth",
    "report",
    "store",
    "validate",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'scalkit' has no attribute {name!r}")
    try:
        value = (
            importlib.import_module(f"scalkit.{name}")
            if home == "scalkit"
            else getattr(importlib.import_module(home), name)
        )
    except ModuleNotFoundError as error:
        from scalkit.extras import explained

        raise explained(error) or error from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
