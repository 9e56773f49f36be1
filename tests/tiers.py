"""Help with the two tiers of tests: `make test`, and `make test-all`, which adds what is marked `slow`."""

from __future__ import annotations

from typing import Any

import pytest


def slow_unless(value: Any, *kept: Any) -> Any:
    """Return a parameter of a test, marked `slow` unless it is one of the kept ones, which stand for their kind."""
    return value if value in kept else pytest.param(value, marks=pytest.mark.slow)
