"""Criteria of the fast path against fits that really leave the points out."""

from __future__ import annotations

import numpy as np
import pytest

import scalkit as sk
from scalkit.fit import fit_ticks
from scalkit.fit.batch import fit_models
from scalkit.fit.batch_block import scores
from scalkit.fit.batch_kernel import Ticks, fit_each, prepare

ICS15 = sk.SearchSpace.preset("ics15")
GROWING = tuple(tick for tick in ICS15.ticks if not tick.is_constant)
X = 2.0 ** np.arange(1, 9)


def data(seed: int, n_series: int = 30) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.choice([0.0, 1.0, 10.0], (n_series, 1)) + X ** rng.uniform(0, 2, (n_series, 1))) * np.exp(
        rng.normal(0, 0.1, (n_series, 8))
    )


def predictions_left_out(Y: np.ndarray) -> np.ndarray:
    """Of shape (ticks, series, points): each point predicted by the fit to the others, the mean where that does not rise."""
    found = np.empty((len(GROWING), *Y.shape))
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        fits = fit_ticks(X[keep], Y[:, keep], GROWING)
        for k, tick in enumerate(GROWING):
            term = fits.constants[:, k] + fits.scaled[:, k] * np.exp2(tick.log2_value(X[i]) - fits.log2_scales[k])
            found[k, :, i] = np.where(np.isfinite(fits.rss[:, k]), term, fits.means)
    return found


@pytest.mark.parametrize("criterion", ["loo", "smape"])
@pytest.mark.parametrize("seed", range(3))
def test_points_left_out_are_predicted_by_the_others(criterion: str, seed: int) -> None:
    Y = data(seed)
    rows, ticks = prepare(np.ascontiguousarray(Y.T), True), Ticks.at(np.array([t.log2_value(X) for t in GROWING]))
    fits = [fit_each(t[:, None], rows, True) for t in ticks.t]
    score, _ = scores(criterion, rows, ticks, fits, True)
    predicted = predictions_left_out(Y)
    if criterion == "loo":
        expected = (((Y - predicted) / Y) ** 2).sum(axis=2)
    else:
        expected = (2 * np.abs(Y - predicted) / (Y + predicted)).mean(axis=2)
    fitting = np.isfinite(score)
    assert (np.isfinite(fit_ticks(X, Y, GROWING).rss) == fitting.T).all()
    np.testing.assert_allclose(score[fitting], expected[fitting], rtol=1e-6)
    models = fit_models(X, Y, ICS15, criterion=criterion)
    grown = models.best > 0
    assert grown.any()
    assert (models.best[grown] == 1 + np.argmin(np.where(fitting, expected, np.inf), axis=0)[grown]).all()


def test_aicc_counts_the_coefficients_that_are_free() -> None:
    Y = data(4)
    fits = fit_ticks(X, Y, GROWING)
    k = 2 + (fits.constants > 0)
    with np.errstate(divide="ignore"):
        aicc = 8 * np.log(fits.rss / 8) + 2 * k + 2 * k * (k + 1) / (8 - k - 1)
    models = fit_models(X, Y, ICS15, criterion="aicc")
    grown = models.best > 0
    assert (models.best[grown] == 1 + np.argmin(aicc, axis=1)[grown]).all()
    assert (models.best != fit_models(X, Y, ICS15).best).any()


@pytest.mark.parametrize("criterion", ["adjusted_r2", "aicc", "loo", "smape"])
@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("weights", ["relative", "none"])
def test_data_from_a_tick_give_the_tick_back_by_every_criterion(criterion: str, nonnegative: bool, weights: str) -> None:
    Y = np.array([constant + 2.5 * tick(X) for tick in GROWING for constant in (0.0, 3.0)])
    Y[::2, 3] = np.nan
    models = fit_models(X, Y, ICS15, criterion=criterion, nonnegative=nonnegative, weights=weights)
    assert [models.growth(i) for i in range(len(Y))] == [tick for tick in GROWING for _ in range(2)]
    assert models.coefficient == pytest.approx(np.full(len(Y), 2.5), rel=1e-6)


def test_equal_values_are_constant_by_every_criterion() -> None:
    for criterion in ("adjusted_r2", "aicc", "loo", "smape"):
        models = fit_models(X, np.array([[3.0] * 8, [0.0] * 8]), ICS15, criterion=criterion, positive=False)
        assert (models.best == 0).all()
        assert (models.constant == [3.0, 0.0]).all()
        assert (models.rss == 0).all()
