"""The models of a verdict: the one that is shown, then its rivals, made when they are looked at."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import scalkit as sk

P = 2.0 ** np.arange(1, 8)


@pytest.mark.parametrize("strictness", ["auto", "paper"])
def test_the_first_model_is_shown_and_the_others_are_its_rivals(strictness: str) -> None:
    verdict = sk.validate(sk.measurements(P, 3 + P), {"f": "p"}, strictness=strictness)["f"]
    assert verdict.evidence.models[0] is verdict.model
    assert str(verdict.model.growth) == "p"
    assert len(verdict.rivals) == len(verdict.evidence.models) - 1
    assert verdict.rivals[0] == verdict.evidence.models[1]
    assert list(verdict.evidence.models[1:]) == list(verdict.rivals)
    assert len({model.growth for model in verdict.evidence.models}) == len(verdict.evidence.models)


@pytest.mark.parametrize("strictness", ["auto", "paper"])
def test_models_survive_a_pickle(strictness: str) -> None:
    verdict = sk.validate(sk.measurements(P, 3 + P), {"f": "p"}, strictness=strictness)["f"]
    first = verdict.rivals[0]
    again = pickle.loads(pickle.dumps(verdict))
    assert again.rivals[0] == first
    assert list(again.evidence.models) == list(verdict.evidence.models)


def test_models_of_the_paper_carry_their_probability() -> None:
    verdict = sk.validate(sk.measurements(P, 3 + P), {"f": "p"}, strictness="paper")["f"]
    for model in verdict.evidence.models:
        assert model.weight == verdict.posterior.probability_of(model.growth)


def test_rivals_come_by_falling_probability_and_have_models_however_improbable() -> None:
    values = (3 + P)[:, None] * np.exp(0.05 * np.random.default_rng(2).standard_normal((7, 5)))
    for data, claim in ((values, "p"), (values, "log(p)"), ((3 + P)[:, None], "p")):
        rivals = sk.validate(sk.measurements(P, data, name="f"), {"f": claim})["f"].rivals
        weights = [one.weight for one in rivals]
        assert weights == sorted(weights, reverse=True)
        assert len(rivals) > 20
        assert all(np.isfinite(one(P)).all() for one in rivals)
        assert max(abs(float(one(P[-1])) / 131 - 1) for one in rivals[:3]) < 0.2
    assert repr(rivals).startswith(f"<{len(rivals)} models of ")


def test_large_coefficients_of_exact_values_are_not_made_whole() -> None:
    events = sk.measurements(P, 766990.394 * np.log2(P), name="f", metric="events", unit="1", exact=True)
    assert sk.validate(events, {"f": "log(p)"})["f"].model.coefficient == pytest.approx(766990.394, rel=1e-8)


def test_a_verdict_stays_small_when_its_models_are_looked_at() -> None:
    """Hypotheses that are negligible take more memory than all others, and verdicts are many."""
    values = (3 + P)[:, None] * np.exp(0.01 * np.random.default_rng(2).standard_normal((7, 5)))
    verdict = sk.validate(sk.measurements(P, values, name="f"), {"f": "p"})["f"]
    before = len(pickle.dumps(verdict))
    assert len(list(verdict.evidence.models)) > 20
    assert len(pickle.dumps(verdict)) < before + 300_000
