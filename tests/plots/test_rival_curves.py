"""Curves of rival models: hidden in the figure until one is pointed at."""

from __future__ import annotations

import numpy as np
import pytest

import scalkit as sk
from scalkit import plots
from scalkit.plots.verdicts.rival_curves import fit_with_rivals


def test_rivals_are_hidden_curves_that_say_what_they_are() -> None:
    x = 2.0 ** np.arange(1, 8)
    values = (1 + 0.2 * np.sqrt(x) * np.log2(x)) * np.random.default_rng(1).lognormal(0, 0.02, len(x))
    verdict = sk.validate(sk.measurements(x, values, name="f"), {"f": "p"})["f"]
    bare = plots.fit(verdict)
    figure = fit_with_rivals(verdict).figure()
    added = figure.data[len(bare.data) :]
    assert [trace.meta["growth"] for trace in added] == [str(one.growth) for one in verdict.rivals[:7]]
    assert {trace.visible for trace in added} == {False}
    assert {trace.showlegend for trace in added} == {False}
    for trace, rival in zip(added, verdict.rivals, strict=False):
        assert trace.y[7] == pytest.approx(float(rival(trace.x[7])), rel=1e-4)
    of_model = [trace for trace in figure.data[: len(bare.data)] if trace.meta]
    assert {trace.meta["growth"] for trace in of_model} == {str(verdict.model.growth)}
    assert figure.layout.yaxis.range == bare.layout.yaxis.range, "nothing jumps when one is shown"
