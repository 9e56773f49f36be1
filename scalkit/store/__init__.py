"""The results of many runs on many machines: filed, compared, and asked which operation to choose.

``store = scalkit.store.open("results")`` opens a folder; then ``store.put(...)``, ``runs``, ``suites``, ``load``, ``compare``,
``advise``, ``merge``. ``scalkit.store.validate(path)`` tells whether a submission can be merged.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalkit.store.filed.outcome import Filed
    from scalkit.store.opening import open_store as open
    from scalkit.store.runs.columns import PATTERNS, SCHEMA_VERSION
    from scalkit.store.store import Store
    from scalkit.store.submissions.policy import Policy
    from scalkit.store.submissions.report import Report, validate

__all__ = ["PATTERNS", "SCHEMA_VERSION", "Filed", "Policy", "Report", "Store", "open", "validate"]

_HOMES = {
    "PATTERNS": ("runs.columns", "PATTERNS"),
    "SCHEMA_VERSION": ("runs.columns", "SCHEMA_VERSION"),
    "Filed": ("filed.outcome", "Filed"),
    "Policy": ("submissions.policy", "Policy"),
    "Report": ("submissions.report", "Report"),
    "Store": ("store", "Store"),
    "open": ("opening", "open_store"),
    "validate": ("submissions.report", "validate"),
}


def __getattr__(name: str) -> Any:
    """Load a name at first use: the process that reads hostile files needs little of this package."""
    if name not in _HOMES:
        raise AttributeError(f"module 'scalkit.store' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(f"scalkit.store.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
