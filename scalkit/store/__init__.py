"""The results of many runs on many machines: filed, compared, and asked which operation to choose.

``store = scalkit.store.open("results")`` opens a folder; then ``store.put(...)``, ``runs``, ``suites``, ``load``, ``compare``,
``advise``, ``merge``. ``scalkit.store.validate(path)`` tells whether what somebody else sent can be merged.
"""

from __future__ import annotations

from scalkit.store.columns import PATTERNS, SCHEMA_VERSION
from scalkit.store.opening import open_store
from scalkit.store.policy import Policy
from scalkit.store.store import Filed, Store
from scalkit.store.validating import Report, validate

__all__ = ["PATTERNS", "SCHEMA_VERSION", "Filed", "Policy", "Report", "Store", "open", "validate"]

open = open_store
