"""Coefficients of settings that follow a growth more or less."""

from __future__ import annotations

import numpy as np
import pytest

import scalkit as sk
from scalkit.validation.judge.trusted import refitted

X = 2.0 ** np.arange(5, 11)


LINEAR = sk.validate(sk.measurements(X, 3 + 0.5 * X, name="f"), {"f": "p"})["f"].model


def test_a_setting_without_weight_changes_nothing() -> None:
    y = (3.0 + 0.5 * X) * np.array([7.0, 1, 1, 1, 1, 1])
    precision = np.diag([0.0, 1, 1, 1, 1, 1])
    found = refitted(LINEAR, X, y, precision, False)
    assert (found.constant, found.coefficient) == (pytest.approx(3.0), pytest.approx(0.5))


@pytest.mark.parametrize(("allowed", "constant"), [(True, -20.0), (False, 0.0)])
def test_a_constant_is_negative_only_where_it_may_be(allowed: bool, constant: float) -> None:
    y = X - 20.0
    found = refitted(LINEAR, X, y, np.eye(len(X)), allowed)
    assert found.constant == pytest.approx(constant, abs=1e-6)
    assert (np.asarray(found([1.0, *X])) >= 0).all()
    assert np.isfinite(found.log2_value(X)).all()


def test_a_verdict_takes_a_constant_off() -> None:
    noise = np.exp(np.random.default_rng(1).normal(0, 0.01, (6, 5)))
    y = 1e-6 * np.log2(X / 16)[:, None] * noise
    verdict = sk.validate(sk.measurements(X, y, name="f"), {"f": "log(p)"})["f"]
    assert str(verdict.model) == "995 ns * log(p) - 3.97 us"
    assert verdict.model.to_latex() == r"995\,\mathrm{ns} \cdot \log p - 3.97\,\mathrm{us}"
    assert "<mo>-</mo><mn>3.97</mn>" in verdict.model.to_mathml()


def test_small_scales_that_drift_do_not_lead() -> None:
    x = 2.0 ** np.arange(4, 12)
    y = (x + 40 * np.sqrt(x)) * (1 + np.array([0.8, 0.4, 0.2, 0.05, 0, 0, 0, 0]))
    noise = np.exp(np.random.default_rng(2).normal(0, 0.005, (8, 5)))
    verdict = sk.validate(sk.measurements(x, y[:, None] * noise, name="f"), {"f": "p"}, prior="ticks")["f"]
    assert verdict.posterior.trust.precision is not None
    assert verdict.posterior.predict(4096.0) == pytest.approx(4096 + 40 * 64, rel=0.08)
