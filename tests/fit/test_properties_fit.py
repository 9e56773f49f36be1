"""Properties of the fits: exact data give their tick back; units, order and company of a series change nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.fit.batch import FitModels, fit_models
from scalkit.fit.piecewise import fit_piecewise
from scalkit.fit.pure_error import Noise
from scalkit.validation import Expectation, SearchSpace

ICS15 = SearchSpace.preset("ics15")
SPACES = {"ics15": ICS15, **{t: SearchSpace.around(Expectation(t)) for t in ("p", "p*log(p)", "2^k", "k^2*2^k", "1")}}
P = 2.0 ** np.arange(1, 8)
CRITERIA = st.sampled_from(["adjusted_r2", "aicc", "loo", "smape"])
STATISTICS = st.sampled_from(["q1", "median", "mean", "min", "cut_mean", "cut_mean_34"])
SEEDS = st.integers(0, 10**9)


def table(seed: int, n_series: int = 6) -> np.ndarray:
    """Return noisy ticks of shape (series, points, 4), a tenth of the repetitions missing."""
    rng = np.random.default_rng(seed)
    ticks = [ICS15.ticks[i] for i in rng.integers(0, len(ICS15), n_series)]
    shapes = np.array([tick(P) / float(tick(P[-1])) for tick in ticks]) + rng.uniform(0, 2, (n_series, 1))
    values = shapes[:, :, None] * np.exp(rng.normal(0, rng.choice([0.01, 0.1, 0.3]), (n_series, len(P), 4)))
    return np.where(rng.random(values.shape) < 0.1, np.nan, values)


def assert_same(found: FitModels, other: FitModels, factor: float = 1.0) -> None:
    n = len(found)
    assert [other.growth(i) for i in range(n)] == [found.growth(i) for i in range(n)]
    for name, scale in (("constant", factor), ("coefficient", factor), ("adjusted_r2", 1.0), ("rss", 1.0)):
        mine, theirs = getattr(found, name), getattr(other, name)[:n]
        np.testing.assert_allclose(theirs, scale * mine, rtol=1e-7, atol=1e-11 * scale, err_msg=name)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(-12, 12).map(lambda e: 10.0**e), CRITERIA, STATISTICS)
def test_another_unit_changes_coefficients_only(seed: int, factor: float, criterion: str, statistic: str) -> None:
    y = table(seed)
    one, other = (fit_models(P, s * y, ICS15, criterion=criterion, statistic=statistic) for s in (1.0, factor))
    assert_same(one, other, factor)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.permutations(range(len(P))), st.permutations(range(4)), CRITERIA, STATISTICS)
def test_the_order_of_points_and_repetitions_is_nothing(
    seed: int, rows: list[int], columns: list[int], criterion: str, statistic: str
) -> None:
    y = table(seed)
    found = fit_models(P, y, ICS15, criterion=criterion, statistic=statistic)
    mixed = y[:, rows][:, :, columns]
    assert_same(found, fit_models(P[rows], mixed, ICS15, criterion=criterion, statistic=statistic))
    flat = fit_models(np.repeat(P[rows], 4), mixed.reshape(len(y), -1), ICS15, criterion=criterion, statistic=statistic)
    assert_same(found, flat)


@settings(max_examples=30, deadline=None)
@given(SEEDS, SEEDS, CRITERIA)
def test_company_is_nothing(seed: int, another: int, criterion: str) -> None:
    y, others = table(seed), table(another, 300)
    company = np.concatenate([y, np.full((1, *y.shape[1:]), 5.0), 1e9 * others])
    assert_same(fit_models(P, y, ICS15, criterion=criterion), fit_models(P, company, ICS15, criterion=criterion))


@pytest.mark.parametrize("space", SPACES)
@settings(max_examples=15, deadline=None)
@given(st.one_of(st.just(0.0), st.floats(1e-3, 30)), st.floats(-12, 9).map(lambda e: 10.0**e), CRITERIA)
def test_every_tick_comes_back(space: str, shift: float, size: float, criterion: str) -> None:
    ruler = SPACES[space]
    for x in [np.arange(3.0, 17.0), np.array([2.0, 3, 5, 8, 13])] if ruler.parameter == "k" else [P, np.arange(2.0, 9.0)]:
        shapes = [tick(x) / float(tick(x[len(x) // 2])) for tick in ruler.ticks]
        y = size * (shift + np.array(shapes))
        models = fit_models(x, y, ruler, criterion=criterion)
        assert [models.growth(i) for i in range(len(y))] == list(ruler.ticks)
        assert models.predict(x) == pytest.approx(y, rel=1e-7)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(-20, 20))
def test_pieces_do_not_depend_on_the_unit(seed: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    x = 2.0 ** np.arange(1, rng.integers(7, 15))
    y = np.where(np.arange(len(x)) < rng.integers(0, len(x)), 1 + np.log2(x), rng.uniform(0.1, 3) * x)
    y = y * np.exp(rng.normal(0, 0.05, len(x)))
    noise = Noise(0.05, 10, is_all=bool(rng.integers(2)))
    one, other = (fit_piecewise(x, s * y, ICS15.ticks, noise) for s in (1.0, 10.0**exponent))
    assert [(s.first, s.last) for s in other.segments] == [(s.first, s.last) for s in one.segments]
    assert other.growths == one.growths
    assert other.probability == pytest.approx(one.probability, abs=1e-6)
    assert other.gain == pytest.approx(one.gain, abs=1e-5)
    assert other.sentence == one.sentence
    np.testing.assert_allclose(other(x), 10.0**exponent * one(x), rtol=1e-7)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e200, 1e306])
def test_pieces_of_any_size(scale: float) -> None:
    y = scale * np.array([1.0, 1, 1, 1, 8, 8, 8, 8])
    found = fit_piecewise(2.0 ** np.arange(1, 9), y, ICS15.ticks, Noise(0.05, 10))
    assert [str(change) for change in found.change_points] == ["after p = 16, from 32 on, it is 8 times as large"]
    assert found(64.0) == y[-1]
    spread = fit_piecewise(2.0 ** np.arange(1, 9), [1e-300, 1e-200, 1, 1, 1, 1e10, 1e200, 1e300], ICS15.ticks, Noise(0.05, 10))
    assert 0 <= spread.probability <= 1


def test_one_series_is_fitted_as_by_validate() -> None:
    y = table(5, 20)
    models = fit_models(P, y, ICS15)
    for i, values in enumerate(y):
        found = sk.validate(sk.measurements(P, values), {"f": "p"}, space=ICS15, strictness="paper")["f"].model
        assert found.growth == models.growth(i)
        assert found.coefficient == pytest.approx(models.coefficient[i], rel=1e-9)
