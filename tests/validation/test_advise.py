"""Where to measure next: far points tell growths apart, costs count, and when to stop."""

from __future__ import annotations

import re

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.validation.advise import advise

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])


def result(noise: float, seed: int = 1, name: str = "f") -> sk.Validation:
    rng = np.random.default_rng(seed)
    y = (1 + np.log2(P))[:, None] * np.exp(rng.normal(0, noise, (5, 5))) * 1e-6
    return sk.validate(sk.measurements(P, y, name=name), {name: {"expectation": "log(p)", "deviation": "p^(1/4)"}})


def test_far_settings_tell_more_and_costs_count() -> None:
    posterior = result(0.1)["f"].posterior
    free = advise(posterior, [8, 64, 512], None)
    assert [c.x for c in free.candidates] == [512, 64, 8]
    assert all(c.information >= 0 for c in free.candidates)
    assert free.candidates[0].information <= np.log2(3)
    dear = advise(posterior, [64, 512], lambda p: p**4)
    assert [c.x for c in dear.candidates] == [64, 512]
    by_p = advise(posterior, [64, 512], "p")
    assert [c.cost for c in sorted(by_p.candidates, key=lambda c: c.x)] == [64, 512]


def test_rivals_disagree_where_it_tells() -> None:
    advice = advise(result(0.1)["f"].posterior, [512], None)
    (first, y), (second, z) = advice.candidates[0].predictions
    rank = advice.posterior.expectation.rank
    assert rank(first) != rank(second)
    assert y != pytest.approx(z, rel=0.05)
    assert not advice.stop
    assert advice.sentence.startswith("Measure p = 512: the most probable rank of f has ")
    assert "predicts" in advice.sentence


def test_when_to_stop() -> None:
    advice = result(0.001).advise([64])["f", "time"]
    assert advice.stop == (advice.probability >= 0.97)
    sure = sk.validate(sk.measurements(P, P * 1e-6, name="f"), {"f": "1"}).advise([64])["f", "time"]
    assert sure.stop
    assert sure.sentence == "Stop: the most probable rank of f has 100 %."


def test_html_is_escaped() -> None:
    name = "<b>f"
    shown = result(0.1, name=name).advise([64])[name, "time"]._repr_html_()
    assert "<b>f" not in shown
    assert "&lt;b&gt;f" in shown


@pytest.mark.parametrize(
    ("candidates", "cost", "message"),
    [
        ([], "p", "candidates are []; name at least one positive setting to measure."),
        ([-1], "p", "candidates are [-1]; name at least one positive setting to measure."),
        ([64], "n", "cost is 'n'; name the parameter, 'p', give a function of it, or None."),
        ([64], lambda p: 0.0, "costs are [0.0]; every cost must be positive and finite."),
    ],
)
def test_refused(candidates: list[float], cost: object, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        result(0.1).advise(candidates, cost)
