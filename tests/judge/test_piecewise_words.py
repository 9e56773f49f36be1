"""What a piecewise model says: change points in words, its probability against what merely looks like a change point."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalkit.growth import Growth
from scalkit.judge.fit.paper import fit_growths
from scalkit.judge.fit.piecewise import Piecewise, fit_piecewise
from scalkit.stats.cuts import least_of_sums, least_without
from scalkit.stats.pure_error import Noise, pure_error

P = 2.0 ** np.arange(1, 11)
LOG = np.log2(P)
TICKS = tuple(Growth(text) for text in ("log(p)", "p^(1/2)", "p^(2/3)", "p", "p*log(p)", "p^2"))
QUIET = Noise(0.01, 50)


def at(y: object, noise: Noise = QUIET, ticks: tuple[Growth, ...] = TICKS) -> Piecewise:
    return fit_piecewise(P, y, ticks, noise)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(P <= 64, 2 + LOG, P / 8), "after p = 32, from 64 on, it grows as p instead of log(p)"),
        (np.where(P < 64, 7.0, P / 8), "after p = 32, from 64 on, it grows as p instead of staying constant"),
        (
            np.where(P < 64, P, 100),
            "after p = 32, from 64 on, it stays constant instead of growing as p, after a step up to 1.56 times the value",
        ),
        (np.where(P < 64, 7.0, 14.0), "after p = 32, from 64 on, it is 2 times as large"),
        (
            np.where(P < 64, LOG, 2 * LOG),
            "after p = 32, from 64 on, it still grows as log(p), after a step up to 2 times the value",
        ),
        (
            np.where(P < 64, LOG, 0.5 * LOG),
            "after p = 32, from 64 on, it still grows as log(p), after a step down to 0.5 times the value",
        ),
        (
            np.where(P <= 64, 32 + 3 * P, 160 + P),
            "after p = 32, from 64 on, it still grows as p, with 0.333 times the coefficient",
        ),
        (
            np.where(P <= 16, 2.0, np.where(P <= 256, 4.0, LOG / 2)),
            "after p = 16, from 32 on, it is 2 times as large; "
            "after p = 128, from 256 on, it grows as log(p) instead of staying constant",
        ),
    ],
)
def test_changes_are_said(y: np.ndarray, words: str) -> None:
    ticks = (Growth("log(p)"), Growth("p"))
    found = at(y, Noise(0.001, 50), ticks)
    assert "; ".join(str(change) for change in found.change_points) == words
    assert found.sentence == f"{words[0].upper()}{words[1:]} (probability more than 99.9 %)."
    assert found.probability > 0.999
    assert found.bic_single - found.bic_several > 20


def test_falling_pieces() -> None:
    found = at(np.where(P < 64, 1 / P, 1 / 32), QUIET, (Growth("1/p"), Growth("p")))
    assert str(found.change_points[0]) == "after p = 16, from 32 on, it stays constant instead of falling as 1/p"
    found = at(np.where(P <= 32, 1 / P, P / 1024), QUIET, (Growth("1/p"), Growth("p")))
    assert str(found.change_points[0]) == "after p = 16, from 32 on, it grows as p instead of 1/p"


def test_one_piece() -> None:
    found = at(2 + LOG)
    assert found.is_single
    assert found.bic_single < found.bic_several
    assert found.probability < 0.01
    assert found.sentence == (
        "From p = 2 to 1024 it grows as log(p); no change point is needed (probability of one: less than 0.1 %)."
    )
    assert repr(found).endswith("2 + 1 * log(p); probability of a change point less than 0.1 %)")
    assert at(0 * P + 3).sentence.startswith("From p = 2 to 1024 it is constant;")


def test_too_few_settings_for_two_pieces() -> None:
    found = fit_piecewise([2, 4, 8, 16, 32], [1, 1, 1, 9, 9], TICKS, QUIET)
    assert (found.is_single, found.probability, found.bic_several) == (True, 0.0, math.inf)


def test_a_sum_of_two_terms_is_no_change_point() -> None:
    found = at(20 * LOG + P)
    assert not found.is_single
    assert found.bic_sum < found.bic
    assert found.probability < 0.1
    assert found.sentence.endswith("; a sum of two terms explains the values as well).")


def test_a_stray_setting_is_no_change_point() -> None:
    y = 2 + LOG
    y[4] *= 3
    found = at(y)
    assert found.bic_strays < min(found.bic, found.bic_sum)
    assert found.probability < 0.05


def test_two_strays_compete_where_nothing_is_repeated() -> None:
    y = 0 * P + 5
    y[[7, 9]] *= 1.5
    once, often = pure_error(y), Noise(0.03, 50)
    assert at(y, once).bic_strays < at(y, often).bic_strays


def test_known_change_points_have_no_rival() -> None:
    found = fit_piecewise(P, 2 + LOG, TICKS, QUIET, switches=[30])
    assert (found.bic_single, found.bic_sum, found.bic_strays) == (math.inf,) * 3
    assert found.probability == 1.0


def test_of_equally_good_ticks_the_plainest_is_shown() -> None:
    ruler = tuple(Growth(t) for t in ("log(p)", "p^(2/3)*log(p)", "p^(11/12)", "p", "p*log(p)^(1/4)"))
    y = np.where(P <= 64, 2 + LOG, P / 8) * np.exp(np.random.default_rng(2).normal(0, 0.03, 10))
    assert at(y, Noise(0.03, 50), ruler).growths == (Growth("log(p)"), Growth("p"))
    exact = at(np.where(P <= 64, 2 + LOG, P ** (11 / 12)), Noise(1e-6, 50), ruler)
    assert exact.growths[1] == Growth("p^(11/12)")


def test_residuals_of_sums_and_strays_are_least() -> None:
    y = np.exp(np.random.default_rng(4).normal(0, 0.3, 10)) * (1 + LOG)
    terms = [tick(P) for tick in TICKS]
    best = math.inf
    for a in range(len(terms)):
        for b in range(a):
            for columns in ((np.ones(10), terms[a], terms[b]), (terms[a], terms[b])):
                design = np.stack(columns, axis=1) / y[:, None]
                found, *_ = np.linalg.lstsq(design, np.ones(10), rcond=None)
                if (found > 0).all():
                    best = min(best, float(((1 - design @ found) ** 2).sum()))
    assert least_of_sums(P, y, TICKS) == pytest.approx(best, rel=1e-6)
    fits = [fit_growths(np.delete(P, k), np.delete(y, k)[None], TICKS) for k in range(10)]
    flat, grown = least_without(P, y, TICKS, 1)
    assert flat == pytest.approx(min(fit.tss[0] for fit in fits))
    assert grown == pytest.approx(min(fit.rss.min() for fit in fits))
    assert least_of_sums(P, y, TICKS[:1]) == math.inf


def test_scatter_between_settings_makes_no_change_point() -> None:
    rng = np.random.default_rng(6)
    y = (2 + LOG) * np.exp(rng.normal(0, 0.05, (40, 10)))
    repeated = y[:, :, None] * np.exp(rng.normal(0, 0.002, (40, 10, 30)))
    alone = [fit_piecewise(P, one.mean(axis=1), TICKS, pure_error(one, "mean")) for one in repeated]
    both = [
        fit_piecewise(P, one.mean(axis=1), TICKS, Noise(noise.error, noise.freedom, is_all=False))
        for one in repeated
        for noise in [pure_error(one, "mean")]
    ]
    assert np.mean([found.is_single for found in alone]) < 0.2
    assert np.mean([found.is_single for found in both]) > 0.8


def test_the_mixture_reduces_to_student() -> None:
    noise = Noise(0.02, 7)
    assert noise.misfit([0.0, 0.01], 5).tolist() == pytest.approx([0.0, 12 * math.log1p(0.01 / 0.0004 / 7)])
    mixed = Noise(0.02, 7, is_all=False)
    assert mixed.misfit(math.inf, 5) == math.inf
    assert 0 < mixed.misfit(1.0, 5) < noise.misfit(1.0, 5)
