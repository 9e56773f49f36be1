"""Which model is shown: that of the most probable growth, and beside it what the paper and the values alone choose."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest

import scalkit as sk
from scalkit.validation import Verdict

P = 2.0 ** np.arange(2, 9)


def noisy(seed: int, noise: float = 0.08) -> Verdict:
    values = (1 + 0.4 * np.log2(P))[:, None] * np.exp(noise * np.random.default_rng(seed).standard_normal((7, 5)))
    (verdict,) = sk.validate(sk.measurements(P, values, name="f"), {"f": "log(p)"}).along_one
    return verdict


@pytest.fixture(scope="module")
def parted() -> Verdict:
    """Return a verdict whose most probable growth is not the one with the largest adjusted R^2."""
    return next(v for v in map(noisy, range(20)) if v.model.growth != v.by_adjusted_r2.growth)


def test_the_most_probable_growth_is_shown(parted: Verdict) -> None:
    weights = [one.weight for one in (parted.model, *parted.rivals)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == parted.posterior.weights.max()
    best = max((parted.model, *parted.rivals), key=lambda one: np.nan_to_num(one.adjusted_r2, nan=-1.0))
    assert parted.by_adjusted_r2 == best
    assert parted.divergence == parted.model.growth / parted.expectation.growth
    assert parted.rank == parted.expectation.rank(parted.model.growth)
    drawn = next(one for one in sk.plots.fit(parted).data if (one.name or "").startswith("model"))
    assert np.asarray(drawn.y, dtype=float) == pytest.approx(parted.model(drawn.x), rel=0.01)


def test_the_strictness_of_the_paper_chooses_as_the_paper(parted: Verdict) -> None:
    data = sk.measurements(P, parted.series.replicates, name="f")
    paper = sk.validate(data, {"f": "log(p)"}, strictness="paper")["f"]
    usual = sk.validate(data, {"f": "log(p)"})["f"]
    assert (paper.estimator, usual.estimator) == ("adjusted_r2", "posterior")
    assert paper.model == paper.by_adjusted_r2 == usual.by_adjusted_r2 != usual.model
    assert "fits best" in paper.sentence or paper.verdict == paper.rank
    assert paper.likelihood_sentence == ""


def test_the_values_alone_are_said_where_they_disagree() -> None:
    found = [noisy(seed) for seed in range(20)]
    for one in found:
        likelihood = one.posterior.likelihood
        assert likelihood.sum() == pytest.approx(1)
        differs = one.by_likelihood != one.model.growth
        assert bool(one.likelihood_sentence) is differs
        if differs:
            assert str(one.by_likelihood) in one.likelihood_sentence
    assert any(one.likelihood_sentence for one in found)
    ticks = sk.validate(sk.measurements(P, found[0].series.replicates, name="f"), {"f": "log(p)"}, prior="ticks")["f"]
    assert ticks.posterior.likelihood == pytest.approx(ticks.posterior.weights)


def test_few_settings_and_exact_values_are_as_the_paper_has_them() -> None:
    few = sk.validate(sk.measurements(P[:4], [1.0, 2.1, 2.9, 4.2], name="f"), {"f": "log(p)"}, min_points=4)["f"]
    exact = sk.validate(
        sk.measurements(P, 3 + P**0.375, name="f"), {"f": "p"}, space=sk.SearchSpace.paper(sk.Expectation("p"), 3)
    )["f"]
    assert few.estimator == exact.estimator == "adjusted_r2"
    assert str(exact.model.growth) == "p^(3/8)"


def test_both_are_in_files_and_notebooks(parted: Verdict) -> None:
    plain = parted.to_dict()
    assert plain["model"]["growth"] != plain["by_adjusted_r2"]["growth"] == str(parted.by_adjusted_r2.growth)
    assert plain["by_likelihood"] == str(parted.by_likelihood)
    assert "best is" in parted._repr_html_()
    schema = json.loads((resources.files("scalkit.validation") / "verdict.schema.json").read_text(encoding="utf-8"))
    data = sk.measurements(P, parted.series.replicates, name="f")
    jsonschema.validate(json.loads(sk.validate(data, {"f": "log(p)"}).to_json()), schema)


@pytest.mark.parametrize("constant", [0.01, 1.0, 10.0])
def test_a_term_that_is_zero_at_the_first_setting(constant: float) -> None:
    p = 2.0 ** np.arange(8)  # log(1) is 0
    noise = np.exp(0.01 * np.random.default_rng(1).standard_normal((8, 5)))
    found = sk.validate(sk.measurements(p, (constant + np.log2(p))[:, None] * noise, name="f"), {"f": "log(p)"})["f"]
    assert str(found.model.growth) == "log(p)"
    assert found.probability["none"] < 0.05


@pytest.mark.parametrize(("claim", "truth"), [("x^4*2^(x/2)", "x^4*2^x"), ("2^x", "x^2*2^x"), ("x^3*2^x", "x^2*2^x")])
def test_powers_beside_exponentials_are_on_the_ruler(claim: str, truth: str) -> None:
    x, growth = np.arange(4, 12.0), sk.Growth.parse(truth)
    noise = np.exp(0.01 * np.random.default_rng(2).standard_normal((8, 5)))
    data = sk.measurements(x, (growth(x) * 1e-6)[:, None] * noise, name="f", parameter="x")
    assert sk.validate(data, {"f": claim})["f"].model.growth == growth
