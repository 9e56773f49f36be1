"""What a ruler shows beside its ticks: the expectation with its limits, the best tick, probabilities."""

from __future__ import annotations

from typing import Any

from scalkit.validation import Expectation, Verdict

__all__ = ["marks"]

_NEGLIGIBLE = 0.0005


def marks(verdict: Verdict | None, expectation: Expectation | None = None) -> dict[str, Any]:
    """Return the traits of a ruler that say what was expected and found; empty ones for what is not known."""
    expected = expectation if verdict is None else verdict.expectation
    return {
        "expectation": "" if expected is None else str(expected.growth),
        "limits": [] if expected is None else [str(limit) for limit in expected.limits],
        "best": "" if verdict is None else str(verdict.model.growth),
        "weights": {} if verdict is None else _weights(verdict),
    }


def _weights(verdict: Verdict) -> dict[str, float]:
    found = zip(verdict.posterior.growths, verdict.posterior.weights.tolist(), strict=True)
    return {str(growth): round(weight, 4) for growth, weight in found if weight >= _NEGLIGIBLE}
