"""Still pictures of figures: the same lines, ticks and colours where no script draws them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

import scalkit as sk
from scalkit import plots
from scalkit.plots.still import Figure, svg_of
from scalkit.validation import Validation

SVG = "{http://www.w3.org/2000/svg}"


def _texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_fit_has_its_points_lines_and_ticks(result: Validation) -> None:
    figure = plots.fit(result["MPI_Reduce"])
    svg = svg_of(figure)
    tree = ElementTree.fromstring(svg)
    circles = [one for one in tree.iter(f"{SVG}circle") if one.get("fill") != "none"]
    measured = next(one for one in figure.data if one.name == "measured")
    across = [float(one.get("cx", "nan")) for one in circles[-len(measured.x) :]]
    gaps = np.diff(across)
    assert np.allclose(gaps, gaps[0], atol=0.2), "doubled settings are equally far apart on an axis of logarithms"
    texts = _texts(svg)
    assert {"processes p", "measured", "2", "64"} <= set(texts)
    assert "expected log p" in texts
    assert tree.get("aria-label") == figure.layout.meta["alt"]
    assert any(one.get("stroke-dasharray") for one in tree.iter(f"{SVG}path"))


def test_every_kind_of_trace_and_hostile_names() -> None:
    figure = Figure()
    figure.add_heatmap(x=["a", "b"], y=[1, 2], z=[[0, 1], [None, 0.5]], colorscale=[[0, "#000000"], [1, "#ffffff"]])
    figure.add_bar(x=["a"], y=[2], name="<img src=x>")
    figure.add_scatter(x=[None, "b"], y=[1, 2], mode="lines+markers+text", text=["", "p<sup>1/2</sup>"], name="x&lt;y")
    figure.add_scatter(x=["a"], y=[1], visible=False, name="hidden")
    svg = svg_of(figure)
    colours = [one.get("fill") for one in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    assert {"#000000", "#808080"} <= set(colours), "mixed in the middle; no cell where there is no value"
    texts = _texts(svg)
    assert "p1/2" in texts
    assert "x<y" in texts
    assert "<img src=x>" in texts
    assert "<img" not in svg
    assert "hidden" not in texts


def _rects(svg: str) -> list[tuple[float, float]]:
    """Return the top and the bottom of each bar."""
    found = [one for one in ElementTree.fromstring(svg).iter(f"{SVG}rect") if one.get("opacity")]
    return [(float(one.get("y", "nan")), float(one.get("y", "nan")) + float(one.get("height", "nan"))) for one in found]


def test_bars_lie_on_each_other_and_begin_at_zero() -> None:
    figure = Figure()
    for values in ([30, 40], [20, 50]):
        figure.add_bar(x=["4", "8"], y=values, marker={"color": "#123456"}, name="part")
    figure.update_layout(barmode="stack")
    svg = svg_of(figure)
    lower, _, upper, higher = _rects(svg)
    assert upper[1] == pytest.approx(lower[0], abs=0.2)
    assert (lower[1] - lower[0]) / (upper[1] - upper[0]) == pytest.approx(1.5, abs=0.02)
    assert higher[0] < upper[0]
    assert svg.count('height="3" fill="#123456"') == 2, "the legend has their colour"
    figure.update_layout(barmode="overlay")
    assert len({round(bottom) for _, bottom in _rects(svg_of(figure))}) == 1, "all begin at zero"


def test_spreads_and_boxes_are_drawn(result: Validation) -> None:
    figure = Figure()
    figure.add_scatter(
        x=[1, 2], y=[3, 4], error_y={"array": [1, 1], "arrayminus": [0.5, 0.5], "color": "#ff0000"}, mode="markers"
    )
    numbers = {"lowerfence": [1, 1], "q1": [2, 2], "median": [2.5, 2.5], "q3": [3, 3], "upperfence": [6, 6]}
    for group in "ab":
        figure.add_box(x=[1, 2], **numbers, offsetgroup=group, line={"color": "#00ff00"})
    paths = list(ElementTree.fromstring(svg_of(figure)).iter(f"{SVG}path"))
    assert sum(one.get("stroke") == "#ff0000" for one in paths) == 2
    places = {re.split("[MH ]", one.get("d", ""))[1] for one in paths if one.get("stroke") == "#00ff00"}
    assert len(places) == 4, "boxes of two groups stand side by side"
    assert svg_of(plots.fit(result["MPI_Reduce"])).count('stroke-width="1.2"') == len(result["MPI_Reduce"].series.x)


@pytest.mark.filterwarnings("error")
def test_odd_data_are_no_error() -> None:
    figure = Figure()
    figure.add_scatter(x=[1, 2, 3], y=[None, np.nan, 1], text=[None, "\x01", "c"], mode="markers+text", name="a\x01b")
    figure.add_heatmap(z=[[np.nan]])
    figure.add_heatmap(z=[])
    figure.add_bar(x=[], y=[])
    figure.update_yaxes(type="log", range=[None, 2])
    texts = _texts(svg_of(figure))
    assert "c" in texts
    assert "None" not in texts
    ElementTree.fromstring(svg_of(Figure()))


def test_shapes_are_where_their_values_are(result: Validation) -> None:
    figure = plots.divergence(result["MPI_Reduce"])
    svg = svg_of(figure)
    (shade,) = [one for one in ElementTree.fromstring(svg).iter(f"{SVG}rect") if one.get("opacity")]
    left, wide = float(shade.get("x", "nan")), float(shade.get("width", "nan"))
    assert 70 < left < 110
    assert wide < 500, "what was measured is the first part of the picture"


def test_cells_show_it_beside_plotlys_form(monkeypatch: pytest.MonkeyPatch, result: Validation) -> None:
    shown: list[dict[str, object]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")
    for figure in (plots.fit(result["MPI_Reduce"]), sk.plots.scaling(result)):
        assert isinstance(figure, go.Figure)
        figure._ipython_display_()
        assert set(shown[-1]) == {"application/vnd.plotly.v1+json", "image/svg+xml"}
        assert len(str(shown[-1]["image/svg+xml"])) < 40_000
        assert not re.search(r"\bnan\b", str(shown[-1]["image/svg+xml"]))
