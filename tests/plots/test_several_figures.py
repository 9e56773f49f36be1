"""Figures of several parameters: one panel each, lines that are told apart, effects that add up."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.judge import Validation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.measure import combine
from scalkit.plots.verdicts.effects import effects
from scalkit.plots.verdicts.several import several

P, S = 2.0 ** np.arange(3, 8), 4.0 ** np.arange(1, 10)
POINTS = np.array(list(itertools.product(P, S)))
SUM = 2e-6 + 3e-6 * np.log2(POINTS[:, 0]) + 1e-9 * POINTS[:, 1]


@pytest.fixture(scope="module")
def result() -> Validation:
    sets = [
        sk.measurements(POINTS, SUM, parameter=["p", "S"], name="<b>f"),
        sk.measurements(POINTS, 1e-9 * POINTS[:, 0] * POINTS[:, 1], parameter=["p", "S"], name="g"),
    ]
    return sk.validate(combine(sets), {"<b>f": "log(p) + S", "g": "p + S"})


@pytest.fixture(scope="module")
def verdict(result: Validation) -> SeveralVerdict:
    found = result["<b>f"]
    assert isinstance(found, SeveralVerdict)
    return found


def lines(figure: Any, axis: str = "x", mode: str = "lines") -> list[Any]:
    return [t for t in figure.data if t.type == "scatter" and t.mode == mode and (t.xaxis or "x") == axis]


def test_a_panel_for_each_parameter(verdict: SeveralVerdict) -> None:
    figure = several(verdict)
    assert (figure.layout.xaxis.title.text, figure.layout.xaxis2.title.text) == ("processes p", "S")
    assert {figure.layout.xaxis.type, figure.layout.xaxis2.type, figure.layout.yaxis.type} == {"log"}
    assert (len(lines(figure)), len(lines(figure, "x2"))) == (7, 5)
    drawn = lines(figure, "x2", "markers")
    assert sorted(x for t in drawn for x in t.x) == sorted([*S] * 5)


def test_lines_are_the_model(verdict: SeveralVerdict) -> None:
    lowest = lines(several(verdict, "S"))[-1]
    at = np.column_stack([np.full(len(lowest.x), 8.0), lowest.x])
    np.testing.assert_allclose(lowest.y, verdict.model(at), rtol=1e-4)


def test_each_panel_has_a_legend_of_its_lines(verdict: SeveralVerdict) -> None:
    figure = several(verdict)
    shown = [(t.legend, t.name) for t in figure.data if t.showlegend]
    assert next(name for legend, name in shown if legend == "legend") == "2<sup>18</sup>", "the highest line is named first"
    assert [name for legend, name in shown if legend == "legend2"] == ["128", "64", "32", "16", "8"]
    assert (figure.layout.legend.title.text, figure.layout.legend2.title.text) == ("S =", "p =")
    assert figure.layout.xaxis.domain[1] == figure.layout.legend.x < figure.layout.xaxis2.domain[0]
    assert len({t.line.color for t in lines(figure)}) == 7


def test_effects_add_up(result: Validation) -> None:
    figure = effects(result)
    assert [t.name for t in figure.data] == ["p", "S", "smallest point"]
    assert list(figure.layout.yaxis.ticktext) == ["g", "&lt;b&gt;f"]
    np.testing.assert_allclose(np.sum([t.x for t in figure.data], axis=0), 1)


def test_what_screen_readers_hear(verdict: SeveralVerdict) -> None:
    alt = several(verdict).layout.meta["alt"]
    assert alt.startswith("<b>f over p, S: run time from 11 µs at p = 8, S = 4 to 285 µs at p = 128, S = 262144; model S")
    assert "effects p 4 %, S 92 %" in alt


def test_a_line_beyond_its_points_is_dotted() -> None:
    on_lines = np.equal(POINTS, POINTS[0]).any(axis=1) | np.equal(POINTS, [64.0, 256.0]).all(axis=1)
    ds = sk.measurements(POINTS[on_lines], SUM[on_lines], parameter=["p", "S"])
    found = lines(several(sk.validate(ds, {"f": "log(p) + S"})["f"], "p"))
    assert [t.line.dash for t in found] == ["solid", "dot", "solid"]
    assert found[1].x[-1] == 128


def test_points_without_lines_are_grey() -> None:
    points = np.random.default_rng(3).uniform(8, 512, (400, 2))
    ds = sk.measurements(points, 1e-9 * points[:, 0] * points[:, 1], parameter=["p", "S"])
    figure = several(sk.validate(ds, {"f": "p*S"})["f"])
    assert [len(t.x) for axis in ("x", "x2") for t in lines(figure, axis, "markers")] == [400, 400]


def test_three_parameters() -> None:
    points = np.array(list(itertools.product(P, P, P)))
    ds = sk.measurements(points, 1e-6 * points[:, 0] + 1e-6 * points[:, 1] * points[:, 2], parameter=["p", "S", "n"])
    figure = several(sk.validate(ds, {"f": "p + S*n"})["f"])
    assert [len(lines(figure, axis)) for axis in ("x", "x2", "x3")] == [7, 7, 7]
    legends = (figure.layout.legend, figure.layout.legend2, figure.layout.legend3)
    assert [legend.title.text for legend in legends] == ["S, n =", "p, n =", "p, S ="]


def test_wrong_use(result: Validation, verdict: SeveralVerdict) -> None:
    with pytest.raises(UsageError, match=r"^'<b>f' has no parameter 'n'; choose one of p, S\.$"):
        several(verdict, "n")
    one = sk.validate(sk.measurements(P, P), {"f": "p"})
    with pytest.raises(DataError, match=r"^a picture of effects needs a verdict over several parameters, there is none; "):
        effects(one)


def test_a_rule_over_several_parameters_shows_every_point() -> None:
    p, size = POINTS.T
    y = {"a": 1e-6 * p + 1e-9 * size, "b": 8e-6 * np.log2(p) + 1e-9 * size}
    data = combine([sk.measurements(POINTS, one, parameter=["p", "S"], name=name) for name, one in y.items()])
    (rule,) = sk.validate(data, {"a": "p + S", "b": "log(p) + S"}, ["a <= b"]).rules
    figure = sk.plot(rule)
    assert figure.layout.xaxis.title.text == "processes p"
    assert sum(len(trace.x) for trace in figure.data) == len(POINTS)
    (crosses,) = [trace for trace in lines(figure, mode="markers") if trace.name == "✗ violated as measured"]
    assert {*crosses.x} <= {64.0, 128.0}
    assert crosses.text[0].startswith("p = ")
