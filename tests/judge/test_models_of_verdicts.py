"""The models of a verdict: the one that is shown, and its rivals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import scalkit as sk

P = 2.0 ** np.arange(1, 8)


@pytest.mark.parametrize("strictness", ["auto", "paper"])
def test_one_model_is_shown_and_the_best_others_are_its_rivals(strictness: str) -> None:
    verdict = sk.validate(sk.measurements(P, 3 + P), {"f": "p"}, strictness=strictness)["f"]
    assert str(verdict.model.growth) == "p"
    assert len({model.growth for model in (verdict.model, *verdict.rivals)}) == 9
    for model in (verdict.model, *verdict.rivals):
        assert model.weight == verdict.posterior.probability_of(model.growth)


@pytest.mark.parametrize("strictness", ["auto", "paper"])
def test_models_survive_a_pickle(strictness: str) -> None:
    verdict = sk.validate(sk.measurements(P, 3 + P), {"f": "p"}, strictness=strictness)["f"]
    again = pickle.loads(pickle.dumps(verdict))
    assert again.model == verdict.model
    assert again.rivals == verdict.rivals


def test_rivals_come_by_falling_probability_and_have_models_however_improbable() -> None:
    values = (3 + P)[:, None] * np.exp(0.05 * np.random.default_rng(2).standard_normal((7, 5)))
    for data, claim in ((values, "p"), (values, "log(p)"), ((3 + P)[:, None], "p")):
        rivals = sk.validate(sk.measurements(P, data, name="f"), {"f": claim})["f"].rivals
        weights = [one.weight for one in rivals]
        assert weights == sorted(weights, reverse=True)
        assert len(rivals) == 8
        assert all(np.isfinite(one(P)).all() for one in rivals)
        assert max(abs(float(one(P[-1])) / 131 - 1) for one in rivals[:3]) < 0.2


def test_large_coefficients_of_exact_values_are_not_made_whole() -> None:
    events = sk.measurements(P, 766990.394 * np.log2(P), name="f", metric="events", unit="1", exact=True)
    assert sk.validate(events, {"f": "log(p)"})["f"].model.coefficient == pytest.approx(766990.394, rel=1e-8)


def test_a_verdict_stays_small_when_its_models_are_looked_at() -> None:
    """Hypotheses that are negligible take more memory than all others, and verdicts are many."""
    values = (3 + P)[:, None] * np.exp(0.01 * np.random.default_rng(2).standard_normal((7, 5)))
    verdict = sk.validate(sk.measurements(P, values, name="f"), {"f": "p"})["f"]
    before = len(pickle.dumps(verdict))
    assert len(verdict.rivals) == 8
    assert len(pickle.dumps(verdict)) < before + 300_000
