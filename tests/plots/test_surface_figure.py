"""Maps over two parameters, and the hidden curves of rivals: the figures as data."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

import scalkit as sk
from scalkit import plots
from scalkit.errors import DataError
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.verdicts.rival_curves import fit_with_rivals, rivals_along, term_of
from scalkit.plots.verdicts.several import several

P, S = np.meshgrid(2.0 ** np.arange(1, 7), 10.0 ** np.arange(1, 6))
POINTS = np.stack([P.ravel(), S.ravel()], axis=1)
Y = 1e-6 * (3 * np.log2(P) + 0.002 * S * np.log2(P)).ravel()


@pytest.fixture(scope="module")
def verdict() -> SeveralVerdict:
    y = Y[:, None] * np.random.default_rng(1).lognormal(0, 0.03, (len(Y), 4))
    data = sk.measurements(POINTS, y, parameter=["p", "S"], name="f<b>")
    (found,) = sk.validate(data, {"f<b>": "log(p)*S"}).verdicts
    assert isinstance(found, SeveralVerdict)
    return found


def test_map_has_the_model_and_the_points_in_the_same_colours(verdict: SeveralVerdict) -> None:
    figure = plots.surface(verdict)
    model, points = figure.data
    at = np.array([[model.x[3], model.y[5]]], dtype=float)
    assert model.z[5][3] == pytest.approx(np.log10(float(verdict.model(at)[0])), rel=1e-4)
    assert (min(model.x), max(model.x), min(model.y), max(model.y)) == (2, 64, 10, 1e5)
    assert list(zip(points.x, points.y, strict=True)) == [tuple(p) for p in verdict.series.points]
    assert np.allclose(points.marker.color, np.log10(verdict.series.y), rtol=1e-5)
    assert model.coloraxis == points.marker.coloraxis == "coloraxis"
    axis = figure.layout.coloraxis
    assert axis.cmin <= min(points.marker.color)
    assert axis.cmax >= max(points.marker.color)
    assert any(text.endswith("µs") for text in axis.colorbar.ticktext)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.meta["alt"].startswith("f<b> over p and S: run time from")


def test_values_that_are_not_positive_have_a_linear_scale() -> None:
    y = (P.ravel() * S.ravel() - 20.0)[:, None]
    data = sk.measurements(POINTS, y, parameter=["p", "S"], metric="gain", unit="B", name="f")
    (verdict,) = sk.validate(data, {"f": "p*S"}).verdicts
    figure = plots.surface(verdict)  # type: ignore[arg-type]
    assert figure.data[1].marker.color[0] == 0.0


def test_what_cannot_be_drawn_is_refused() -> None:
    x = 2.0 ** np.arange(1, 7)
    one = sk.validate(sk.measurements(x, 1 + x, name="g"), {"g": "p"})["g"]
    with pytest.raises(DataError, match=r"'g' has no verdict over two parameters; draw it with scalkit\.plot"):
        plots.surface(one)


def test_rivals_are_hidden_curves_that_say_what_they_are() -> None:
    x = 2.0 ** np.arange(1, 8)
    values = (1 + 0.2 * np.sqrt(x) * np.log2(x)) * np.random.default_rng(1).lognormal(0, 0.02, len(x))
    verdict = sk.validate(sk.measurements(x, values, name="f"), {"f": "p"})["f"]
    bare = plots.fit(verdict)
    figure = go.Figure(fit_with_rivals(verdict, 3))
    added = figure.data[len(bare.data) :]
    assert [trace.meta["growth"] for trace in added] == [str(one.growth) for one in verdict.rivals[:3]]
    assert len(added) == 3
    assert {trace.visible for trace in added} == {False}
    assert {trace.showlegend for trace in added} == {False}
    for trace, rival in zip(added, verdict.rivals, strict=False):
        assert trace.y[7] == pytest.approx(float(rival(trace.x[7])), rel=1e-4)
    of_model = [trace for trace in figure.data[: len(bare.data)] if trace.meta]
    assert {trace.meta["growth"] for trace in of_model} == {str(verdict.model.growth)}
    assert figure.layout.yaxis.range == bare.layout.yaxis.range, "nothing jumps when one is shown"


def test_rivals_of_several_parameters_are_in_every_picture(verdict: SeveralVerdict) -> None:
    names = [term_of(one) for one in verdict.rivals[:7]]
    assert len(set(names)) == len(names) >= 1
    rival = verdict.rivals[0]
    along = rivals_along(verdict)
    go.Figure(along)
    assert list(dict.fromkeys(one["meta"]["growth"] for one in along)) == names
    assert {one["visible"] for one in along} == {False}
    curves = [one for one in along if one["meta"]["growth"] == names[0]]
    assert [one["xaxis"] for one in curves] == ["x", "x2"]
    last = [k for k, y in enumerate(curves[0]["y"]) if y is not None][-1]
    assert curves[0]["y"][last] == pytest.approx(float(rival([curves[0]["x"][last], 1e5])), rel=1e-3)


def test_figures_say_which_axis_shows_which_parameter(verdict: SeveralVerdict) -> None:
    assert plots.surface(verdict).layout.meta["axes"] == {"xaxis": "p", "yaxis": "S"}
    assert several(verdict).layout.meta["axes"] == {"xaxis": "p", "xaxis2": "S"}
    assert several(verdict, "S").layout.meta["axes"] == {"xaxis": "S"}
