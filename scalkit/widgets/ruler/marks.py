"""What a ruler shows beside its ticks: the expectation with its limits, the best tick, probabilities."""

from __future__ import annotations

from typing import Any

from scalkit.validation import Expectation, Verdict
from scalkit.validation.several.along import AlongVerdict

AnyVerdict = Verdict | AlongVerdict
_NEGLIGIBLE = 0.0005


def marks(verdict: AnyVerdict | None, expectation: Expectation | None = None) -> dict[str, Any]:
    """Return the traits of a ruler that say what was expected and found; empty ones for what is not known."""
    expected = expectation if verdict is None else verdict.expectation
    return {
        "expectation": "" if expected is None else str(expected.growth),
        "limits": [] if expected is None else [str(limit) for limit in expected.limits],
        "best": "" if verdict is None else str(_best(verdict)),
        "weights": {} if verdict is None else _weights(verdict),
    }


def _best(verdict: AnyVerdict) -> object:
    return verdict.model.growth if isinstance(verdict, Verdict) else verdict.growth


def _weights(verdict: AnyVerdict) -> dict[str, float]:
    if isinstance(verdict, Verdict):
        found = dict(zip(verdict.posterior.growths, verdict.posterior.weights.tolist(), strict=True))
    else:
        found = dict(verdict.weights)
    return {str(growth): round(float(weight), 4) for growth, weight in found.items() if weight >= _NEGLIGIBLE}
