"""Figures are data: traces, axes, units, hover text and the sentence for screen readers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit import plots
from scalkit.errors import DataError, UsageError
from scalkit.judge import Validation
from scalkit.judge.limit import limit
from scalkit.judge.told.curves import anchored_curves
from scalkit.plots import style
from scalkit.widgets.base.wording import mark
from scalkit.widgets.explorer.model_table import KINDS

P = np.array([2, 4, 8, 16, 32, 64])


def _named(figure: Any, start: str) -> Any:
    return next(trace for trace in figure.data if (trace.name or "").startswith(start))


def _all(result: Validation) -> list[Any]:
    figures = [plots.scaling(result), plots.scaling(result, "object_memory"), plots.divergence(result)]
    for verdict in result.verdicts:
        figures += [plots.fit(verdict), plots.divergence(verdict)]
    return figures + [sk.plot(rule) for rule in result.rules]


def test_every_figure_says_in_a_sentence_what_it_shows(result: Validation) -> None:
    alts = [figure.layout.meta["alt"] for figure in _all(result)]
    assert all(alt.endswith(".") and len(alt) > 40 for alt in alts)
    assert len(set(alts)) == len(alts)


def test_names_never_become_markup(result: Validation) -> None:
    for figure in _all(result):
        content = figure.to_dict()
        content["layout"].pop("meta")
        text = json.dumps(content, default=str)
        assert "<a href" not in text
        assert "<b>bold" not in text
        assert "%{x}</a>" not in text
    hostile = next(v for v in result.verdicts if v.function.startswith("<b>"))
    assert plots.fit(hostile).layout.meta["alt"].startswith(hostile.function)


def test_fit_shows_measurements_model_and_limits(result: Validation) -> None:
    verdict = result["MPI_Reduce"]
    figure = plots.fit(verdict)
    measured = _named(figure, "measured")
    assert list(measured.x) == P.tolist()
    assert np.allclose(measured.y, verdict.series.y, rtol=1e-5)
    assert np.all(np.asarray(measured.error_y.array) >= 0)
    assert "runs: " in measured.text[0]
    assert "µs" in measured.text[0]
    assert _named(figure, "model p log p").line.dash == "solid"
    assert _named(figure, "expected log p").line.dash == "dot"
    assert _named(figure, "limits").fill == "toself"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals)[: len(P)] == P.tolist()
    assert all(text.endswith("s") for text in figure.layout.yaxis.ticktext)
    assert figure.layout.xaxis.title.text == "processes p"


def test_a_budget_is_drawn_up_to_beyond_the_wall() -> None:
    p = [16, 32, 64, 128, 256, 512]
    data = sk.measurements(p, [(16 + 0.56 * x) * 1e6 for x in p], metric="process_memory", unit="B", name="MPI")
    wall = sk.validate(data, {"MPI": "p"})["MPI"]
    within = limit(wall, "24 GB", 8)
    figure = plots.fit(wall, within=within)
    budget = _named(figure, "budget 24 GB / 8")
    assert list(budget.y) == [3e9, 3e9]
    assert budget.x[1] == 2 * within.value
    assert figure.layout.yaxis.range[1] > np.log10(3e9)
    assert [(list(one.x), one.text) for one in figure.data if getattr(one.marker, "symbol", "") == "x"] == [
        ([within.value], ("<b>5,328</b>",))
    ]
    low = plots.fit(wall, within=limit(wall, "1 kB"))
    assert _named(low, "budget").x[1] == 2048, "a budget that is exceeded everywhere moves nothing"
    assert not [one for one in low.data if getattr(one.marker, "symbol", "") == "x"]
    assert low.layout.yaxis.range[0] < 3, "its line is in the picture"
    other = sk.validate(sk.measurements(p, p, name="g"), {"g": "p"})["g"]
    with pytest.raises(
        UsageError, match=r"shows the time of g over p, and the budget is that of the process_memory of MPI over p;"
    ):
        plots.fit(other, within=within)


def test_limits_are_left_where_the_divergence_leaves_the_deviation(result: Validation) -> None:
    x = np.array([2.0, 16.0, 64.0, 4096.0])
    for verdict in result.verdicts:
        curves = anchored_curves(verdict, x)
        delta = np.exp2(verdict.divergence.log2_value(x) * np.ones(4))
        deviation = np.exp2(verdict.expectation.deviation.log2_value(x) * np.ones(4))
        spread = np.abs(np.log2(delta / delta[0]))[1:]
        room = (np.log2(deviation / deviation[0]) + 1e-9)[1:]
        inside = (curves.model >= curves.lower * (1 - 1e-9)) & (curves.model <= curves.upper * (1 + 1e-9))
        assert inside[1:].tolist() == (spread <= room).tolist()


def test_divergence_marks_the_crossing(result: Validation) -> None:
    verdict = result["MPI_Reduce"]
    figure = plots.divergence(verdict)
    assert verdict.match == "none"
    assert _named(figure, "divergence p").line.color == style.MODEL
    measured = figure.layout.shapes[0]
    assert (measured.x0, measured.x1) == (2, 64)
    if math.isfinite(verdict.crossing) and verdict.crossing > 1:
        assert _named(figure, "leaves at p* = ").x[0] == pytest.approx(verdict.crossing, rel=1e-5)
    inside = plots.divergence(result["MPI_Bcast"])
    assert not [trace for trace in inside.data if (trace.name or "").startswith("leaves")]


@pytest.mark.parametrize("expected", ["2^p", "p*2^p", "1/2^p"])
def test_a_divergence_that_numbers_cannot_hold_is_drawn(expected: str) -> None:
    p = np.append(P, 128)
    found = sk.validate(sk.measurements(p, 1 + 0.2 * np.sqrt(p), name="f"), {"f": expected}, progress=False)["f"]
    for figure in (plots.divergence(found), plots.fit(found)):
        axis = figure.layout.yaxis
        assert np.isfinite(axis.range).all()
        assert len(axis.tickvals) > 1


def test_scaling_names_growth_and_mark_and_leaves_variants_out(result: Validation) -> None:
    names = [trace.name for trace in plots.scaling(result, "object_memory").data if trace.name]
    assert names == ["MPI_Comm_dup  p ✗", "MPI_Comm_create  1 ✓"]
    times = [trace.name for trace in plots.scaling(result).data if trace.name]
    assert len(times) == 5
    assert "MPI_Reduce  p log p ✗" in times


def test_scaling_refuses_a_metric_that_is_not_there(result: Validation) -> None:
    message = "no verdict has the metric 'energy'; there are object_memory, time: choose one."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        plots.scaling(result, "energy")


def test_overview_of_divergences_needs_a_verdict(result: Validation) -> None:
    message = "a picture of the divergences needs a verdict, got none; state an expectation for a function."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        plots.divergence(Validation(()))


def test_overview_of_divergences_has_one_mark_per_function(result: Validation) -> None:
    figure = plots.divergence(result)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert sum(len(trace.x) for trace in marks) == 7
    assert len(figure.layout.yaxis.ticktext) == 7
    assert {trace.name for trace in marks} <= {"✓ fine", "? cannot tell", "✗ fix"}


def test_views_show_the_answer_and_no_match(result: Validation) -> None:
    words = {re.sub("<[^>]*>", "", mark(verdict)) for verdict in result.verdicts}
    assert words == {"✓fine", "✗fix"}
    assert list(KINDS) == ["fix", "cannot tell", "fine", "unjudged"]


def test_rule_shows_violations_as_crosses(result: Validation) -> None:
    broken = next(rule for rule in result.rules if rule.status == "violated")
    crosses = _named(sk.plot(broken), "✗ violated")
    assert list(crosses.x) == [float(x) for x in broken.violated_at]
    assert crosses.marker.symbol == "x"


@pytest.mark.parametrize(
    ("make", "value", "text"),
    [
        (style.safe, "<b>%{x}\n&", "&lt;b&gt;&#37;{x} &amp;"),
        (style.number, 65536.0, "2<sup>16</sup>"),
        (style.number, 40.0, "40"),
        (style.number, 1e6, "10<sup>6</sup>"),
        (style.number, 1.25e9, "1.2e+09"),
        (style.number, 0.125, "0.125"),
    ],
)
def test_small_texts(make: Callable[[Any], str], value: object, text: str) -> None:
    assert make(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(1e-5, "s", "10 µs"), (264.0, "B", "264 B"), (1.5e-3, "s", "1.5 ms"), (100e-6, "s", "100 µs"), (0.0, "s", "0 s")],
)
def test_quantities_without_needless_zeros(value: float, unit: str, text: str) -> None:
    assert style.quantity(value, unit) == text


def test_value_axis_is_linear_where_a_logarithm_cannot_be() -> None:
    axis = style.value_axis(0.0, 80.0, "B", "memory")
    assert "type" not in axis
    assert axis["range"][0] < 0 < 80 < axis["range"][1]


def test_identical_values_still_make_an_axis() -> None:
    axis = style.value_axis(512.0, 512.0, "B", "memory")
    assert axis["type"] == "log"
    assert len(axis["tickvals"]) >= 2
    linear = style.value_axis(0.0, 0.0, "B", "memory")
    assert linear["range"][0] < linear["range"][1]
