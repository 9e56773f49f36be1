"""Models that hold where something was measured, and what they say beyond it."""

from __future__ import annotations

import math
from dataclasses import replace

from scalkit.perfmodels.formulas.ranges import Range
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.range_model import RangeModel

_NONE_BELOW = 1.0
"""What is measured at one byte holds for an empty message, too."""


def within(model: PerformanceModel, parameter: str, low: float, high: float) -> PerformanceModel:
    """Return a model that holds no further than it was measured.

    `low`, `high`: the least and the largest value that were measured; 1 counts as 0.
    """
    limits = Range(low if low > _NONE_BELOW else 0.0, high)
    if isinstance(model, RangeModel):
        pieces = [(both, one) for piece, one in model.pieces if (both := piece & limits) is not None]
        return replace(model, pieces=pieces)
    assert isinstance(model, ExactModel)
    return replace(model, valid={**model.valid, parameter: limits})


def extrapolated(model: PerformanceModel, parameter: str = "S") -> PerformanceModel:
    """Return a model that goes on beyond what was measured, which its source then says.

    `model`: its first and its last formula go on.
    """
    limits = model.valid.get(parameter, Range())
    if limits.is_all:
        return model
    source = "; ".join(
        one for one in (model.source, f"{model.name} extrapolated outside of {limits.text(parameter)}") if one
    )
    if isinstance(model, RangeModel):
        pieces = list(model.pieces)
        pieces[0] = (replace(pieces[0][0], low=0.0, open_low=False), pieces[0][1])
        pieces[-1] = (replace(pieces[-1][0], high=math.inf), pieces[-1][1])
        return replace(model, pieces=pieces, source=source)
    assert isinstance(model, ExactModel)
    return replace(model, valid={k: v for k, v in model.valid.items() if k != parameter}, source=source)
