"""Piecewise models: the cuts are exact, the switches of a LogGP model are found, and noise makes none."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.judge.fit.paper import fit_growths
from scalkit.judge.fit.piecewise import fit_piecewise
from scalkit.measure import measurements, series
from scalkit.stats.cuts import best_cuts
from scalkit.stats.pure_error import Noise, noise_of, pure_error

LINEAR = (Growth("S"),)
RULER = tuple(Growth(text) for text in ("log(S)", "S^(1/2)", "S", "S*log(S)"))
SIZES = np.round(np.geomspace(16, 32768, 40))


def loggp(size: np.ndarray) -> np.ndarray:
    """Point-to-point time in us of eq. (1) of the BG/P study: two switches of protocol, at 256 and 1024 bytes."""
    return np.where(size <= 256, 4.5, np.where(size <= 1024, 5.7, 9.8)) + 2.67e-3 * size


def _share_found(ticks: tuple[Growth, ...], sigma: float, n_series: int = 200, seed: int = 20261121) -> float:
    noise = sigma * np.random.default_rng(seed).standard_normal((n_series, len(SIZES), 10))
    times = loggp(SIZES)[:, np.newaxis] * np.exp(noise)
    found = best_cuts(SIZES, times.mean(axis=2), ticks, [pure_error(one, "mean") for one in times])
    switches = [int((SIZES <= 256).sum()), int((SIZES <= 1024).sum())]
    return float(np.mean([[end for end, _ in cuts.pieces[:-1]] == switches for cuts in found]))


@pytest.mark.parametrize("sigma", [0.005, 0.01, 0.03, 0.05, 0.1])
def test_both_switches_and_no_other_are_found(sigma: float) -> None:
    assert _share_found(LINEAR, sigma) >= 0.95


@pytest.mark.parametrize("sigma", [0.01, 0.05])
def test_the_switches_are_found_on_a_ruler(sigma: float) -> None:
    assert _share_found(RULER, sigma) >= 0.95


@pytest.mark.parametrize("sigma", [0.01, 0.05])
def test_noise_makes_no_change_point(sigma: float) -> None:
    noise = sigma * np.random.default_rng(7).standard_normal((300, len(SIZES), 10))
    times = (4.5 + 2.67e-3 * SIZES)[:, np.newaxis] * np.exp(noise)
    found = best_cuts(SIZES, times.mean(axis=2), LINEAR, [pure_error(one, "mean") for one in times])
    assert np.mean([len(cuts.pieces) > 1 for cuts in found]) <= 0.02


def test_the_published_model_comes_back() -> None:
    found = fit_piecewise(SIZES, loggp(SIZES) * 1e-6, LINEAR, Noise(0.01, 100), parameter="S", unit="s")
    assert [segment.model.constant for segment in found.segments] == pytest.approx([4.5e-6, 5.7e-6, 9.8e-6])
    assert [segment.model.coefficient for segment in found.segments] == pytest.approx([2.67e-9] * 3)
    assert [(c.after <= limit < c.before) for c, limit in zip(found.change_points, (256, 1024), strict=True)] == [True] * 2
    first = found.change_points[0]
    assert first.jump == pytest.approx((5.7 + 2.67e-3 * first.before) / (4.5 + 2.67e-3 * first.before))
    assert found([8, 65536]).tolist() == pytest.approx([4.52136e-6, 184.78112e-6])
    assert not found.is_single
    assert found.bic < found.bic_single
    assert str(found).startswith("S = 16 to 247: 4.50 us + 2.67 ns * S; S = 300 to 971: ")


def test_the_cut_is_the_best_of_all() -> None:
    """All segmentations of eleven settings, by brute force."""
    rng = np.random.default_rng(5)
    x = np.arange(1.0, 12.0)
    y = np.exp(0.3 * rng.standard_normal(11))
    noise, ticks = Noise(0.15, 20), (Growth("p"), Growth("log(p)"))
    best = math.inf
    for n_cuts in range(3):
        for cuts in combinations(range(3, 9), n_cuts):
            ends = [0, *cuts, 11]
            if min(j - i for i, j in pairwise(ends)) < 3:
                continue
            fits = [fit_growths(x[i:j], y[np.newaxis, i:j], ticks) for i, j in pairwise(ends)]
            for grown in product((0, 1), repeat=n_cuts + 1):
                rss = sum(f.rss.min() if g else f.tss[0] for f, g in zip(fits, grown, strict=True))
                misfit = 31 * math.log1p(rss / 0.15**2 / 20)
                penalty = (n_cuts + 1 + sum(grown) + 3 * n_cuts) * math.log(11) + 2 * sum(grown) * math.log(2)
                best = min(best, misfit + penalty)
    assert fit_piecewise(x, y, ticks, noise).bic == pytest.approx(best)


def test_a_step_between_constants() -> None:
    x = np.arange(1.0, 13.0)
    y = np.where(x <= 6, 2.0, 3.0)
    found = fit_piecewise(x, y, (Growth("p"),), Noise(0.01, 10))
    assert [(s.first, s.last, s.n_points, s.model.growth.is_constant) for s in found.segments] == [
        (1, 6, 6, True),
        (7, 12, 6, True),
    ]
    assert math.isnan(found.segments[0].model.adjusted_r2)
    assert found.change_points[0].jump == pytest.approx(1.5)


def test_known_switches_are_kept() -> None:
    x = np.arange(1.0, 13.0)
    found = fit_piecewise(x, 2 + x, (Growth("p"),), Noise(0.01, 10), switches=[4.5])
    assert [(s.first, s.last) for s in found.segments] == [(1, 4), (5, 12)]
    assert found.bic_single == math.inf
    message = (
        "the known change points leave a segment of fewer than 3 settings, or need more than 4 segments; "
        "measure more around them, leave one out, or raise max_segments."
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        fit_piecewise(x, 2 + x, (), Noise(0.01, 10), switches=[4, 6])


def test_units_and_order_of_magnitude_change_nothing() -> None:
    rng = np.random.default_rng(11)
    y = loggp(SIZES) * np.exp(0.02 * rng.standard_normal(40))
    one, other = (fit_piecewise(SIZES, y * scale, RULER, Noise(0.02, 50)) for scale in (1.0, 1e-9))
    assert [(s.first, s.last, s.model.growth) for s in one.segments] == [
        (s.first, s.last, s.model.growth) for s in other.segments
    ]
    assert one.bic == pytest.approx(other.bic)


def test_a_series_brings_its_own_noise() -> None:
    rng = np.random.default_rng(3)
    times = loggp(SIZES)[:, np.newaxis] * 1e-6 * np.exp(0.02 * rng.standard_normal((40, 10)))
    (one,) = series(measurements(SIZES, times, parameter="S", name="p2p"))
    found = fit_piecewise(one.x, one.y, LINEAR, noise_of(one), parameter=one.parameter, unit=one.unit)
    assert len(found.change_points) == 2
    assert (found.segments[0].model.parameters, found.segments[0].model.unit) == (("S",), "s")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 3], [1, 2], "a piecewise model needs one value a setting, got shapes (3,) and (2,)."),
        ([1, 2], [1, 2], "a piecewise model needs 3 to 200 values of 'p', got 2; measure more or thin them out."),
        ([1, 3, 2], [1, 2, 3], "the values of 'p' must ascend, each once; sort them and merge repetitions."),
        ([1, 2, 3], [1, -2, 3], "the value at p = 2 is -2; it must be positive and finite. Drop that point or measure it again."),
    ],
)
def test_bad_input_is_named(x: list[float], y: list[float], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        fit_piecewise(x, y, LINEAR, Noise(0.1, 3))


@pytest.mark.parametrize(("statistic", "sigma"), [("mean", 0.05), ("median", 0.05), ("q1", 0.05), ("min", 0.05)])
def test_pure_error_is_that_of_the_statistic(statistic: str, sigma: float) -> None:
    rng = np.random.default_rng(1)
    values = np.exp(sigma * rng.standard_normal((4000, 10)))
    statistics = {"mean": np.mean, "median": np.median, "min": np.min, "q1": lambda v, axis: np.quantile(v, 0.25, axis=axis)}
    spread = np.log(statistics[statistic](values, axis=1)).std()
    assert pure_error(values[:50], statistic).error == pytest.approx(spread, rel=0.15)


def test_a_prior_speaks_without_repetitions() -> None:
    assert pure_error([1.0, 2.0, 3.0]) == Noise(0.03, 2.0)
    bytes_counted = pure_error([[8872.0] * 3, [8888.0] * 3], exact=True, resolution=16.0)
    assert bytes_counted.error == pytest.approx(16 / math.sqrt(12) / 8880)
    assert bytes_counted.freedom == 6


def test_noise_of_nothing_is_refused() -> None:
    with pytest.raises(DataError, match=r"^there is no positive value to estimate the noise from\.$"):
        pure_error([math.nan, 0.0])
    with pytest.raises(DataError, match=r"^the statistic 'mode' is unknown; choose one of mean, median, q1, .*min\.$"):
        pure_error([1.0], "mode")
