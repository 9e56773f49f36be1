"""Figures of performance models: lines, bands and points where they belong, and a sentence on each."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.perfmodels import (
    BoundedModel,
    Cells,
    ExactModel,
    PointToPoint,
    bluegene_p,
    collective,
    collectives_of,
    folklore,
    identify,
)
from scalkit.perfmodels.fits.strides import fit_strides

MESSAGE = PointToPoint.hockney("2 us", "0.5 ns/B")
POINTS = np.array(list(itertools.product(2.0 ** np.arange(1, 7), 4.0 ** np.arange(2, 10))))
P, S = POINTS.T
NOISE = np.random.default_rng(4).lognormal(0, 0.02, (len(S), 5))
CELLS = Cells("broadcast", "MPI_Bcast", S, P, collective("broadcast", "binomial", MESSAGE)(S=S, P=P)[:, None] * NOISE)


def of_mode(figure, mode):
    return [trace for trace in figure.data if trace.mode == mode and not trace.fill]


def test_a_line_for_each_number_of_processes_under_its_points():
    model = collective("broadcast", "binomial", MESSAGE)
    figure = sk.plots.model(model, CELLS, at={"P": [2, 16, 64]})
    lines, points = of_mode(figure, "lines"), of_mode(figure, "markers")
    assert [one.name for one in lines] == ["P = 2", "P = 16", "P = 64"]
    assert [one.line.color for one in lines] == [one.marker.color for one in points]
    np.testing.assert_allclose(lines[1].y, model(S=np.array(lines[1].x), P=16), rtol=1e-5)
    assert points[2].x == tuple(4.0 ** np.arange(2, 10))
    assert figure.layout.xaxis.title.text == "message size S"
    assert "256 KiB" in figure.layout.xaxis.ticktext
    assert figure.layout.meta["alt"].endswith("along S at P = 2, P = 16, P = 64.")


def test_bounds_are_a_band():
    line = ExactModel("a + b*S", {"a": "9.8 us", "b": "2.67 ns/B"}, {"S": ("1 KiB", None)})
    worst = ExactModel("a + b*S*1.5*cbrt(P)", {"a": "9.8 us", "b": "2.67 ns/B"})
    bounded = BoundedModel(line, worst, "congested")
    figure = sk.plots.model(bounded, at={"P": 512}, between=(8, 2**20))
    (band,) = [trace for trace in figure.data if trace.fill == "toself"]
    assert min(band.x) >= 1024  # below it does not hold
    assert max(band.y) == pytest.approx(bounded.bounds(S=2**20, P=512).upper, rel=1e-5)
    line = sk.plots.model(bluegene_p()["point-to-point"], between=(1, "1 MiB"))
    assert [trace.fill for trace in line.data] == [None]


def test_several_models_beside_each_other_along_processes():
    models = collectives_of("broadcast", MESSAGE)
    figure = sk.plots.model(models, CELLS, along="P", at={"S": 4096})
    lines = of_mode(figure, "lines")
    assert [one.name for one in lines] == list(models)
    assert len({(one.line.color, one.line.dash) for one in lines}) == len(models)
    assert set(lines[3].x) == set(range(2, 65)) & set(lines[3].x)
    (points,) = of_mode(figure, "markers")
    assert points.name == "measured"
    assert list(points.x) == [2, 4, 8, 16, 32, 64]


def test_simulated_times_say_so():
    cells = Cells("broadcast", "MPI_Bcast", S, P, CELLS.times, simulated=True)
    figure = sk.plots.model(collective("broadcast", "binomial", MESSAGE), cells)
    assert "simulated" in figure.layout.yaxis.title.text
    assert "simulated" in figure.layout.meta["alt"]
    assert "simulated" in sk.plot(folklore(cells)).layout.yaxis.title.text


def test_virtual_times_say_so():
    cells = Cells("broadcast", "MPI_Bcast", S, P, CELLS.times, virtual=True)
    figure = sk.plots.model(collective("broadcast", "binomial", MESSAGE), cells)
    assert figure.layout.yaxis.title.text == "run time, virtual"
    assert "in virtual time" in figure.layout.meta["alt"]
    assert {points.name for points in of_mode(figure, "markers")} == {"in virtual time"}
    assert sk.plot(folklore(cells)).layout.yaxis.title.text == "run time, virtual"
    assert "in virtual time" in folklore(cells).sentence
    assert cells.where(cells.P > 2).virtual


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: sk.plots.model(m, between=(1, 10)), "say at which P the models are to be drawn"),
        (lambda m: sk.plots.model(m, at={"P": 4}), "say from where to where S is to go"),
        (lambda m: sk.plots.model(m, at={"P": 4}, between=(10, 1)), "between is (10, 1); give two rising numbers"),
        (lambda m: sk.plots.model(m, at={"P": 4}, between=(1, "1 ms")), "S is '1 ms'; it must be in B."),
        (lambda m: sk.plots.model({}, at={"P": 4}, between=(1, 10)), "0 models are no picture"),
        (lambda m: sk.plots.model(m, CELLS, at={"P": [2, 4, 8], "S": [8, 16]}, along="R"), "P and S vary beside 1 models"),
        (lambda m: sk.plots.model({"a": m, "b": m}, at={"P": [2, 4]}, between=(1, 9)), "P vary beside 2 models"),
        (
            lambda m: sk.plots.model(ExactModel("b*S", {"b": "1 ns/B"}, {"S": ("1 KiB", None)}), between=(1, 10)),
            "none of b*S has a value from S = 1 to 10",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, said):
    with pytest.raises(UsageError) as error:
        call(collective("broadcast", "binomial", MESSAGE))
    assert str(error.value).startswith(said)


def test_a_map_of_algorithms():
    found = identify(CELLS, MESSAGE)
    figure = sk.plot(found)
    cells = sum(len(one.x) for one in figure.data if one.marker.symbol == "square")
    assert cells == len(S)
    assert "binomial" in figure.layout.meta["alt"]
    named = [one.name for one in figure.data if one.marker.symbol == "square"]
    assert named == [name for name in found.names if any(cell.likeliest == name for cell in found.cells)]
    same = [text for one in figure.data for text in one.text or () if "which predict the same here" in text]
    assert len(same) == sum(len(cell.algorithms) > 1 for cell in found.cells) > 0
    ringed = [one for one in figure.data if one.name == "another is predicted to be faster"]
    assert len(ringed[0].x) == len(found.better()) > 0


def test_both_forms_of_the_folklore():
    check = folklore(CELLS)
    figure = sk.plot(check)
    assert figure.layout.meta["alt"] == check.sentence
    names = [one.name for one in figure.data if one.showlegend is not False]
    assert names[-2:] == ["O(S + log P)", "O(S log P)"]
    assert {one.line.dash for one in of_mode(figure, "lines")} == {"solid", "dash"}


def test_strided_messages_under_their_worst_case():
    fit = fit_strides(64, [0, 1, 2, 4], [[2e-5], [2e-5], [4e-5], [8e-5]])
    figure = sk.plots.strides(fit, simulated=True)
    assert list(figure.data[0].x) == [1, 2, 4]
    assert list(figure.data[0].y) == pytest.approx([1e-5, 2e-5, 4e-5])
    assert figure.data[0].text[2] == "stride 4: 40 µs, 4 times"
    assert [one.name for one in figure.data] == ["64 B", "worst case, T(S) = 625 ns/B * S", "contiguous"]
    assert [set(one.y) for one in figure.data[1:]] == [{4e-5}, {1e-5}]
    assert figure.layout.xaxis.title.text == "stride, in blocks of 8 B"
    assert figure.layout.yaxis.title.text == "time, one way, simulated"
    said = "Time of strided messages over their stride, simulated: up to 4 times a contiguous message, at stride 4 (64 B)."
    assert figure.layout.meta["alt"] == said
