"""The figure of a piecewise model: one line a piece, one vertical line a change point, one mark a value."""

from __future__ import annotations

import numpy as np
import pytest

import scalkit as sk
from scalkit.judge import Verdict
from scalkit.measure import combine, series

P = 2.0 ** np.arange(1, 11)
Y = np.where(P <= 64, 2 + np.log2(P), P / 4) * 1e-6


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    rng = np.random.default_rng(8)
    runs = [sk.measurements(P, Y * np.exp(rng.normal(0, 0.02, 10)), name="f").assign_coords(run=[k]) for k in range(3)]
    return sk.validate(combine(runs), {"f": "log(p)"})["f"]


def test_values_pieces_and_change_points(verdict: Verdict) -> None:
    model = sk.piecewise(verdict)
    figure = sk.plot(model)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [line.name for line in lines] == ["2 to 64: log p", "128 to 1024: p"]
    assert [(line.x[0], line.x[-1]) for line in lines] == [(2, 64), (128, 1024)]
    for line in lines:
        assert np.allclose(line.y, model(np.array(line.x, dtype=float)), rtol=1e-4)
    measured = next(trace for trace in figure.data if trace.name == "measured")
    assert list(measured.x) == P.tolist()
    assert np.allclose(measured.y, verdict.series.y, rtol=1e-5)
    band, line = figure.layout.shapes
    assert (band.x0, band.x1, line.x0, line.x1) == (64, 128, 128, 128)
    (label,) = figure.layout.annotations
    assert (label.text, label.x) == ("p = 128", np.log10(128))
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.meta["alt"].startswith(
        "2 pieces. After p = 64, from 128 on, it grows as p instead of log(p), after a step"
    )


def test_labels_of_many_change_points_take_turns() -> None:
    x = np.arange(1.0, 17.0)
    (one,) = series(sk.measurements(x, 1000.0 * (1 + (x - 1) // 4), metric="object_memory", parameter="n"))
    figure = sk.plot(sk.piecewise(one))
    assert [label.text for label in figure.layout.annotations] == ["n = 5", "n = 9", "n = 13"]
    assert [label.yanchor for label in figure.layout.annotations] == ["bottom", "top", "bottom"]
    assert next(t.name for t in figure.data if t.mode == "lines") == "1 to 4: constant"


def test_one_piece_has_no_change_point(verdict: Verdict) -> None:
    assert sk.plot(sk.piecewise(verdict, max_pieces=1)).layout.shapes == ()
