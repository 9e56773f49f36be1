"""Bands of a verdict as plain values: where its divergence and a new value lie with a probability of 90 %."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.validation.several.along import numbers_or_none

if TYPE_CHECKING:
    from scalkit.validation.verdict import Verdict

AHEAD = 4
"""Bands also tell of this multiple of the largest setting."""


def bands_of(verdict: Verdict, level: float = 0.9) -> dict[str, Any]:
    """Return bands at the measured settings and at four times the largest one.

    `level`: probability of what lies inside.
    Returns: ``level``; ``x``, the settings; ``divergence`` with the slowest and the fastest of its ``growths`` in the
    band and their values ``low`` and ``high``; ``prediction`` with ``low`` and ``high`` in the unit of the series. None
    stands for values that are not finite.
    """
    measured = verdict.series.x
    x = np.append(measured, AHEAD * measured[-1])
    slowest, fastest = verdict.posterior.divergence_band(level)
    low, high = verdict.interval(x, level)
    return {
        "level": level,
        "x": numbers_or_none(x),
        "divergence": {
            "growths": [str(slowest), str(fastest)],
            "low": numbers_or_none(slowest(x)),
            "high": numbers_or_none(fastest(x)),
        },
        "prediction": {"low": numbers_or_none(low), "high": numbers_or_none(high)},
    }
