"""Figures made of plain dictionaries are those that plotly's checked objects give."""

from __future__ import annotations

import json

import numpy as np
import pytest

import scalkit as sk
from scalkit.plots.verdicts.divergence import draw_divergence
from scalkit.plots.verdicts.fit import draw_fit

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])


@pytest.mark.parametrize("expectation", ["log(p)", "p^2", "1"])
@pytest.mark.parametrize("draw", [draw_fit, draw_divergence])
def test_plotly_takes_all_of_it(draw: object, expectation: str) -> None:
    y = (3 + P)[:, None] * [1.0, 1.1, 1.2]
    verdict = sk.validate(sk.measurements(P, y, name="<f>"), {"<f>": expectation})["<f>"]
    drawing = draw(verdict)  # type: ignore[operator]
    assert json.loads(drawing.figure().to_json()) == json.loads(json.dumps(drawing.plain()))
