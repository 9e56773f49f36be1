"""The posterior: exact values, noise, what hides, bands, and what must not change it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.measure import Series, combine, series
from scalkit.validation import Expectation, SearchSpace
from scalkit.validation.advise import advise
from scalkit.validation.posterior import Posterior, posteriors
from scalkit.validation.posterior.hypotheses import hypotheses, tick_mass
from scalkit.validation.posterior.masses import noisy_masses
from scalkit.validation.posterior.profiles import summarise

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
LOG = np.log2(P)
ICS15 = SearchSpace.preset("ics15")
ROOT = "p^(1/2)"


def of(y: object, x: object = P, metric: str = "time", **how: object) -> Series:
    (one,) = series(sk.measurements(x, y, metric=metric, **how))
    return one


def about(one: Series, expectation: str, **how: object) -> Posterior:
    (found,) = posteriors([one], Expectation(expectation, deviation=ROOT), ICS15, **how)
    return found


def noisy(y: np.ndarray, noise: float, seed: int, repetitions: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(y)[:, None] * np.exp(rng.normal(0, noise, (len(y), repetitions)))


def test_bytes_measured_once_are_decided() -> None:
    x = P[:5]
    found = about(of(8856 + 8 * x, x, "object_memory"), "p")
    assert found.is_exact
    assert found.verdict == "total"
    assert found.weight_of(Growth.parse("p")) > 0.99
    leak = about(of(8856 + 8 * x, x, "object_memory"), "1")
    assert (leak.verdict, leak.faster > 0.99) == ("none", True)
    assert about(of([5400] * 5, x, "object_memory"), "1").probability["total"] == 1


@pytest.mark.parametrize("tick", [t for t in ICS15.ticks if not t.is_constant], ids=str)
def test_exact_values_of_a_tick_give_the_tick(tick: Growth) -> None:
    found = about(of(1000 + 7 * tick(P), metric="events", unit="1", exact=True), "p")
    assert found.growths[int(np.argmax(found.weights))] == tick
    assert found.weight_of(tick) > 0.9


def test_noise_decides_how_sure() -> None:
    sure = about(of(noisy(1 + LOG, 0.01, 1)), "log(p)")
    unsure = about(of(noisy(1 + LOG, 0.2, 1)), "log(p)")
    assert sure.verdict in ("total", "approximate")
    assert sure.probability["none"] < 0.01
    assert unsure.probability["total"] < sure.probability["total"]
    assert about(of(noisy(P, 0.02, 2)), "log(p)").verdict == "none"


def test_probabilities_are_probabilities() -> None:
    found = about(of(noisy(1 + LOG, 0.05, 3)), "log(p)")
    assert sum(found.probability.values()) == pytest.approx(1)
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    assert (found.hidden_weights <= found.weights + 1e-12).all()
    assert found.faster <= found.probability["none"]


def test_a_hidden_faster_term_is_not_called_sure() -> None:
    """One term fits log p well, but a tenth of the time at the end is p: what one-term methods call a match."""
    y = 1 + LOG + 0.1 * (1 + LOG[-1]) * P / P[-1]
    found = about(of(noisy(y, 0.01, 4)), "log(p)")
    assert found.verdict in ("none", "undecided")
    assert found.hidden > 0.02


def test_hidden_share_is_bounded_by_precise_data() -> None:
    clean, rough = (about(of(noisy(1 + LOG, noise, 5)), "log(p)") for noise in (0.002, 0.05))
    assert clean.hidden < 0.03 < rough.hidden < 0.9
    assert str(clean.hidden_growth) == "p^(2/3)"


def test_words_of_a_verdict() -> None:
    found = about(of(noisy(1 + LOG, 0.01, 1)), "log(p)")
    index = [found.growths.index(Growth.parse(text)) for text in ("log(p)", "p^(1/4)", "p^2")]

    def word(*weights: float) -> str:
        mass = np.zeros(len(found.growths))
        mass[index] = weights
        return replace(found, weights=mass).verdict

    assert word(0.9, 0.05, 0.05) == "total"
    assert word(0.5, 0.42, 0.08) == "approximate"
    assert word(0.02, 0.05, 0.93) == "none"
    assert word(0.5, 0.2, 0.3) == "undecided"


def test_growth_band() -> None:
    found = about(of(noisy(P, 0.05, 6)), "p")
    low, high = found.growth_band()
    assert low <= Growth.parse("p") <= high
    wide = found.growth_band(0.99)
    assert wide[0] <= low
    assert high <= wide[1]
    assert found.divergence_band() == (low / Growth.parse("p"), high / Growth.parse("p"))
    with pytest.raises(UsageError, match=re.escape("the level 1.5 is no probability between 0 and 1; 0.9 is usual.")):
        found.growth_band(1.5)


def test_interval_covers_and_widens() -> None:
    inside = total = 0
    rng = np.random.default_rng(11)
    for case in range(60):
        tick = ICS15.ticks[1 + case % 12]
        truth = 1 + 2 * tick(P * 1.0) / tick(np.array([8.0]))
        later = 1 + 2 * tick(np.array([256.0])) / tick(np.array([8.0]))
        found = about(of(noisy(truth, 0.03, case)), "p^(1/2)")
        low, high = found.interval(256.0)
        seen = float(later[0]) * math.exp(rng.normal(0, 0.03 / math.sqrt(5)))
        inside += low <= seen <= high
        total += 1
        near, far = found.interval([128.0, 4096.0], 0.5).T
        assert near[1] / near[0] < 1.01 * far[1] / far[0]
    assert inside / total > 0.8
    assert found.interval(np.ones((2, 3)) * 100).shape == (2, 2, 3)


def test_interval_of_exact_values() -> None:
    low, high = about(of(8856 + 8 * P, metric="object_memory"), "p").interval(1024)
    assert low < 8856 + 8 * 1024 < high
    assert high / low < 1.1


def test_priors_by_name() -> None:
    expectation = Expectation("p", deviation=ROOT)
    rank = np.array([("total", "approximate", "none").index(expectation.rank(g)) for g in ICS15.ticks])
    assert tick_mass(ICS15.ticks, rank, expectation, "ticks") == pytest.approx(np.full(26, 1 / 26))
    trusting = tick_mass(ICS15.ticks, rank, expectation, "expectation")
    assert trusting[ICS15.ticks.index(Growth.parse("p"))] == 0.5
    by_rank = tick_mass(ICS15.ticks, rank, expectation, "ranks")
    assert [by_rank[rank == r].sum() for r in range(3)] == pytest.approx([1 / 3] * 3)
    one = of(noisy(P, 0.1, 7))
    assert about(one, "p", prior="expectation").probability["total"] > about(one, "p", prior="ticks").probability["total"]
    with pytest.raises(UsageError, match="the prior 'mine' is unknown; choose one of ranks, ticks, expectation"):
        about(one, "p", prior="mine")


def test_shapes_are_what_they_say() -> None:
    hyp = hypotheses(P, Expectation("p", deviation=ROOT), ICS15.ticks)
    assert hyp.prior.sum() == pytest.approx(1)
    assert hyp.shapes.mean(axis=1) == pytest.approx(0, abs=1e-12)
    assert hyp.ahead(P)[0] == pytest.approx(hyp.shapes, abs=1e-9)
    shares = np.concatenate([group.family.shares for group in hyp.groups])
    pure = np.argmax(np.where((hyp.tick == hyp.expected) & np.isnan(hyp.base) & (shares <= 1), shares, 0))
    assert np.ptp(hyp.shapes[pure] - np.log(P)) < 0.05
    assert np.bincount(hyp.rank[hyp.tick], hyp.prior) == pytest.approx([1 / 3] * 3)


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-9, 1e9), seed=st.integers(0, 1000))
def test_scale_and_order_change_nothing(scale: float, seed: int) -> None:
    y = noisy(1 + P**0.5, 0.04, seed)
    rows = np.random.default_rng(seed).permutation(len(P))
    one, scaled, permuted = of(y), of(scale * y), of(y[rows], P[rows])
    plain = about(one, ROOT)
    for other in (scaled, permuted):
        assert about(other, ROOT).weights == pytest.approx(plain.weights, abs=2e-3)


def test_a_batch_is_its_members() -> None:
    many = [of(noisy(1 + P**a, 0.04, seed)) for seed, a in enumerate((0.25, 0.5, 1.0, 1.5))]
    together = posteriors(many, Expectation("p", deviation=ROOT), ICS15)
    for one, found in zip(many, together, strict=True):
        assert found.series is one
        assert found.weights == pytest.approx(about(one, "p").weights, abs=2e-3)


def test_missing_points_and_repetitions() -> None:
    y = noisy(1 + LOG, 0.02, 8)
    y[2, 1:] = np.nan
    several = about(of(y), "log(p)")
    assert sum(several.probability.values()) == pytest.approx(1)
    y[3] = np.nan
    assert about(of(y), "log(p)").probability["none"] < 0.5


def test_stragglers_are_drawn_in() -> None:
    y = noisy(1 + LOG, 0.02, 9)
    y[1, 2] *= 3
    y[4, 0] *= 5
    assert about(of(y), "log(p)").probability["none"] < 0.1


def test_agreeing_repetitions_are_exact() -> None:
    one = of(np.repeat(8856 + 8 * P[:, None], 3, axis=1))
    assert about(one, "p").is_exact
    assert about(one, "p").verdict == "total"


def test_noise_of_runs_goes_before_that_of_repetitions() -> None:
    """Repetitions of one launch agree to a part in a thousand, launches only to 5 %."""
    rng = np.random.default_rng(3)
    runs = [
        sk.measurements(P, (1 + LOG)[:, None] * rng.lognormal(0, 0.05, (6, 1)) * rng.lognormal(0, 0.001, (6, 20)), name="f")
        for _ in range(4)
    ]
    data = combine([one.assign_coords(run=[k]) for k, one in enumerate(runs)])
    (one,) = series(data)
    assert one.replicates.shape == (6, 4)
    summary = summarise(one.replicates[None])
    assert 1e-4 < summary.noise.variances.min() < 1e-2
    masses = noisy_masses(summary, hypotheses(P, Expectation("log(p)", deviation=ROOT), ICS15.ticks))
    assert masses.growth.sum() == pytest.approx(1)


def test_huge_exact_values_keep_their_probabilities():
    k = np.arange(600, 605)
    found = sk.validate(sk.measurements(k, 2.0**k, parameter="k", metric="object_memory", name="f"), {"f": "2^k"})["f"]
    assert found.verdict == "total"


def test_values_that_no_class_follows_are_undecided_not_lost():
    x, y = [2, 4, 8, 16, 32, 64], [1e-300, 1e-100, 1.0, 1e50, 1e200, 1e300]
    found = sk.validate(sk.measurements(x, y, name="f"), {"f": "p"})["f"]
    assert sum(found.probability.values()) == pytest.approx(1)


def test_exact_intervals_do_not_depend_on_what_else_is_asked():
    x = 2.0 ** np.arange(1, 9)
    y = 9 * x**1.75 * np.log2(x)
    data = sk.measurements(x, np.stack([y, y], axis=1), name="f")
    found = sk.validate(data, {"f": {"expectation": "log(p)", "space": "ics15"}})["f"]
    np.testing.assert_allclose(found.interval([512.0])[:, 0], found.interval([2.0, 512.0])[:, 1], rtol=1e-12)


def test_exact_intervals_where_a_growth_has_no_value():
    found = about(of(100 + 50 * LOG, metric="object_memory"), "log(p)")
    low, high = found.interval([64.0, 1024.0])
    assert high[1] / low[1] < 1.02
    with pytest.raises(UsageError, match=r"^nothing can be predicted at p = 0.5, where log\(p\) has no value; ask for"):
        found.interval([0.5, 64.0, 1024.0])


@pytest.mark.parametrize("metric", ["object_memory", "process_memory"])
@pytest.mark.parametrize("y", [[0, 4096, 12288, 28672, 61440, 126976], [0, 8192, 24576, 49152, 110592, 225280]])
def test_a_zero_does_not_hide_growth(y: list[float], metric: str) -> None:
    assert about(of(y, metric=metric), "1").probability["none"] > 0.99
    assert about(of(y, metric=metric), "p").probability["none"] < 0.5


def test_exact_intervals_of_zeros():
    found = about(of([0, 0, 0, 0, 32, 64], metric="object_memory"), "1")
    low, high = found.interval([1024.0, 2048.0])
    assert (np.isfinite(low) & (low < high)).all()
    for metric in ("object_memory", "process_memory"):  # counted, and agreeing
        zeros = about(of(np.zeros((6, 2)), metric=metric), "1")
        assert zeros.interval(1024.0).max() < 1
        assert advise(zeros, [1024.0]).stop


def test_a_zero_among_repetitions_of_a_time_is_said():
    data = sk.measurements([2, 4, 8, 16, 32], [[1, 2], [0, 1], [3, 3], [4, 4], [5, 5]], name="f")
    with pytest.raises(sk.errors.DataError, match="at p = 4 is 0 or less in a repetition"):
        sk.validate(data, {"f": "p"})


def test_a_change_of_growth_is_remarked():
    p = 2.0 ** np.arange(1, 11)
    time = np.where(p <= 64, 2 + 3 * np.log2(p), 20 * p / 64)
    noise = np.random.default_rng(7).lognormal(0, 0.03, (10, 5))
    found = sk.validate(sk.measurements(p, time[:, None] * noise, unit="us", name="f"), {"f": "log(p)"})["f"]
    assert "after p = 32, from 64 on" in " ".join(found.caveats)


def test_a_right_logarithm_less_a_constant_is_no_violation():
    rng = np.random.default_rng(31)
    p = 32 * 2.0 ** np.arange(6)
    levels = [rng.choice([0.0, 0.5, 2.0]) + np.log2(p / 16) for _ in range(100)]
    values = [one[:, None] * np.exp(rng.normal(0, 0.01, (6, 5))) for one in levels]
    found = posteriors(
        [series(sk.measurements(p, one, name="f"))[0] for one in values],
        sk.Expectation("log(p)"),
        sk.SearchSpace.around(sk.Expectation("log(p)")),
    )
    assert {one.verdict for one in found} <= {"total", "approximate"}
    assert np.mean([one.verdict == "total" for one in found]) > 0.8
    below = found[0].quantiles([1, 2, 8], [0.05, 0.5])
    assert (below > 0).all()


def test_exact_values_less_a_constant_give_the_growth():
    p = 2.0 ** np.arange(2, 9)
    found = sk.validate(sk.measurements(p, 8 * (p - 1), name="f", metric="operations", unit="1"), {"f": "p"})["f"]
    assert found.probability["total"] > 0.99
    assert found.interval(1024)[0] <= 8 * 1023 <= found.interval(1024)[1]


def test_one_value_off_by_a_factor_makes_no_violation():
    rng = np.random.default_rng(41)
    p = 8 * 2.0 ** np.arange(7)
    level = (1 + np.log2(p)) * np.where(p == p[-1], 1.5, 1.0)
    values = [level[:, None] * np.exp(rng.normal(0, 0.03, (7, 5))) for _ in range(20)]
    found = [sk.validate(sk.measurements(p, one, name="f"), {"f": "log(p)"})["f"] for one in values]
    assert not any(one.misses for one in found)
    assert any("p = 512" in remark and "measure it again" in remark for one in found for remark in one.remarks)
    inner = (1 + np.log2(p)) * np.where(p == 64, 1.5, 1.0)
    verdict = sk.validate(sk.measurements(p, noisy(inner, 0.03, 5), name="f"), {"f": "log(p)"})["f"]
    assert verdict.posterior.off[3] > 0.9
    assert verdict.verdict in ("total", "approximate")


@pytest.mark.parametrize(("truth", "within"), [(lambda p: p + p**2 / 200, 0.26), (lambda p: p * (1 + 0.3 * (p >= 32)), 0.045)])
def test_what_began_at_the_last_values_is_foretold(truth: Callable[[np.ndarray], np.ndarray], within: float) -> None:
    at = 4 * P[-1]
    off = [about(of(noisy(truth(P), 0.02, seed)), "p").predict(at) / truth(at) for seed in range(10)]
    assert np.abs(np.log(off)).mean() < within


def test_intervals_count_on_more_drift_beyond_the_settings_than_among_them() -> None:
    found = about(of(noisy(P + 3 * P**0.42, 0.01, 3)), "p")
    (low, high), (least, most) = found.interval(16 * P[-1]), found.quantiles(16 * P[-1], [0.05, 0.95])
    assert low < least < most < high
    np.testing.assert_array_equal(found.interval(P[2]), found.quantiles(P[2], [0.05, 0.95]))


def test_no_product_is_so_large_that_blas_starts_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, matmul = [], np.matmul

    def seen(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        sizes.append(a.shape[-2] * a.shape[-1] * b.shape[-1])
        return matmul(a, b)

    monkeypatch.setattr(np, "matmul", seen)
    p = 8.0 * np.arange(1, 17)
    sk.validate(sk.measurements(p, noisy(p, 0.02, 1), name="f"), {"f": "p"})
    assert max(sizes) <= 2**18
