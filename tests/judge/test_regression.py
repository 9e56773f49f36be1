"""The posterior of the growths of one series: what it finds, predicts and leaves open."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from scalkit.growth import Growth
from scalkit.judge import Expectation, SearchSpace
from scalkit.judge.fit.regression.design import design_of
from scalkit.judge.fit.regression.locations import clock_step, standard_errors
from scalkit.judge.fit.regression.mixture import Mixture
from scalkit.judge.fit.regression.posterior import Posterior, posteriors
from scalkit.judge.fit.regression.priors import EXACT, TIMES, growth_weight
from scalkit.support.arrays import Floats

N = 2.0 ** np.arange(4, 11)
Law = Callable[[Floats], Floats]


def growth(text: str) -> Growth:
    return Growth(text, "n")


def candidates(claim: str) -> tuple[Growth, ...]:
    return SearchSpace.around(Expectation(claim, None, "n")).ticks


def exact(values: Sequence[float] | Floats, claim: str, x: Floats = N) -> Posterior:
    y = np.asarray(values, dtype=float)[None]
    found = posteriors(x, "n", y, np.zeros(y.shape), candidates(claim), growth(claim), EXACT, 1.0)
    return found[0]


def timed(law: Sequence[float] | Floats, claim: str, noise: float = 0.02, x: Floats = N) -> Posterior:
    rng = np.random.default_rng(20261128)
    repetitions = np.asarray(law, dtype=float)[:, None] * np.exp(rng.normal(0, noise, (len(x), 5)))
    y = np.median(repetitions, axis=1)
    error = standard_errors(repetitions, y)
    return posteriors(x, "n", y[None], error[None], candidates(claim), growth(claim), TIMES)[0]


FORMULAS: dict[str, tuple[str, Law]] = {
    "2 n log n - n + 100": ("n*log(n)", lambda n: 2 * n * np.log2(n) - n + 100),
    "n (n - 1) / 2": ("n^2", lambda n: n * (n - 1) / 2),
    "n log n - n + 1": ("n*log(n)", lambda n: n * np.log2(n) - n + 1),
    "n - 1": ("n", lambda n: n - 1),
    "2 n^2 - n": ("n^2", lambda n: 2 * n**2 - n),
    "2 n^3 / 3 + n^2 / 2 - 7 n / 6": ("n^3", lambda n: 2 * n**3 / 3 + n**2 / 2 - 7 * n / 6),
    "n + 10 sqrt(n)": ("n", lambda n: n + 10 * np.sqrt(n)),
}


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("n_points", [5, 7])
def test_exact_counts_with_lower_terms_of_either_sign_grow_as_claimed(formula: str, n_points: int) -> None:
    claim, law = FORMULAS[formula]
    posterior = exact(np.round(law(N[:n_points])), claim, N[:n_points])
    assert posterior.too_fast(growth(claim)) < 0.25


@pytest.mark.parametrize(("formula", "claim"), [("2 n log n - n + 100", "n"), ("n (n - 1) / 2", "n^(3/2)")])
def test_exact_counts_beyond_a_claim_grow_too_fast(formula: str, claim: str) -> None:
    posterior = exact(np.round(FORMULAS[formula][1](N)), claim)
    assert posterior.too_fast(growth(claim)) > 0.95


@pytest.mark.parametrize(
    ("values", "claim"),
    [
        ([10, 9, 8, 7, 6, 5.5, 5], "1"),
        (1 / N, "1"),
        ([1, 0.95, 0.9, 0.86, 0.81, 0.77, 0.72], "log(n)"),
        ([1.5, 1, 1, 1, 1, 1, 1], "1"),
        (N * np.array([1, 1, 1, 1.3, 1.3, 1.3, 1.3]), "n"),
        (N + 300, "n"),
        (3 + np.log2(N), "log(n)"),
    ],
)
def test_true_claims_about_noisy_values_are_not_outgrown(values: Floats, claim: str) -> None:
    assert timed(values, claim).too_fast(growth(claim)) < 0.25


def test_growth_beyond_a_claim_is_seen_through_noise() -> None:
    assert timed(N**2, "n").too_fast(growth("n")) > 0.95
    assert timed(N + 30, "1").too_fast(growth("1")) > 0.95


def test_a_point_that_is_off_is_named_and_does_not_bend_the_model() -> None:
    values = N * np.array([1, 1, 1, 2, 1, 1, 1])
    posterior = timed(values, "n")
    assert int(np.argmax(posterior.off)) == 3
    assert posterior.off[3] > 0.9
    assert posterior.predict(np.array([4 * N[-1]])) == pytest.approx(4 * N[-1], rel=0.1)


def test_a_largest_point_that_jumps_is_above_what_the_others_follow() -> None:
    jumping = timed(np.append(N[:-1], 170 * N[-1]), "n")
    assert jumping.last_is_above > 0.95
    assert timed(N, "n").last_is_above < 0.1
    assert timed(np.append(N[:-1], N[-1] / 170), "n").last_is_above < 0.1


def test_a_step_is_found_where_it_is() -> None:
    posterior = timed(N * np.array([1, 1, 1, 2, 2, 2, 2]), "n", noise=0.005)
    assert posterior.step is not None
    low, high, probability = posterior.step
    assert low <= 2 <= 3 <= high
    assert probability > 0.9


def test_predictions_of_exact_values_are_exact() -> None:
    posterior = exact(5 * N + 12, "n")
    at = np.array([N[0], 3 * N[-1], 16 * N[-1]])
    assert posterior.predict(at) == pytest.approx(5 * at + 12, rel=1e-4)
    low, high = posterior.quantiles(at, (0.05, 0.95))
    assert (low <= 5 * at + 12).all()
    assert (5 * at + 12 <= high).all()


def test_the_formula_agrees_with_the_predictions() -> None:
    posterior = exact(2 * N * np.log2(N) - N + 100, "n*log(n)")
    _, lower, leading = posterior.formula(growth("n*log(n)"))
    assert leading.coefficient == pytest.approx(2, rel=0.01)
    assert lower.growth == growth("n")
    assert lower.coefficient == pytest.approx(-1, rel=0.2)


def test_predictions_far_away_follow_the_most_probable_growth() -> None:
    posterior = timed(50 + N, "n", noise=0.1)
    far = np.array([1e9])
    assert posterior.probability_of(growth("1")) < 0.1
    assert posterior.predict(far)[0] > 1e6


def test_intervals_widen_with_noise_and_distance() -> None:
    def width(noise: float, times: float) -> float:
        low, high = timed(N, "n", noise).quantiles(np.array([times * N[-1]]), (0.05, 0.95))[:, 0]
        return float(np.log(high / low))

    assert width(0.01, 2) < width(0.1, 2)
    assert width(0.05, 2) < width(0.05, 16)


def test_a_series_of_zeros_is_constant() -> None:
    posterior = exact(np.zeros(7), "1")
    assert posterior.too_fast(growth("1")) < 0.05
    assert posterior.predict(np.array([1e4])) == pytest.approx(0.0, abs=0.1)


def test_zeros_among_exact_values_are_no_obstacle() -> None:
    assert exact(np.append(0, N[1:] - 16), "n").too_fast(growth("n")) < 0.25


def test_probabilities_do_not_depend_on_the_series_beside_it() -> None:
    rng = np.random.default_rng(5)
    y = N[None] * np.exp(rng.normal(0, 0.05, (20, 7)))
    error = np.full(y.shape, 0.02)

    def probabilities(places: list[int]) -> list[bytes]:
        found = posteriors(N, "n", y[places], error[places], candidates("n"), growth("n"), TIMES)
        return [each.probabilities.tobytes() for each in found]

    together = probabilities(list(range(20)))
    for places in ([17], [3, 14], list(range(7, 19)), list(reversed(range(20)))):
        assert probabilities(places) == [together[k] for k in places]


def test_shares_are_those_of_the_regression() -> None:
    posterior = timed(N + 50, "n")
    design, kept = posterior.design, posterior.kept
    observed = posterior._observed
    reaches = np.where(design.is_point_off, observed.reach[0][:, None], 1.0)
    share = observed.share[0][:, None]
    none = np.zeros((len(design.x), 1))
    added = np.hstack([none, share * design.lower_columns, reaches * design.events])
    for k in range(0, len(kept.weights), 7):
        cell, lead = kept.cell[k], kept.lead[k]
        variance = observed.standard_error[0] ** 2 + design.error[cell] ** 2
        inverse = np.linalg.inv(np.linalg.cholesky(design.drift[cell] ** 2 * design.brownian + np.diag(variance)))
        leading = design.columns[:, lead] * (lead != design.constant)
        relative = [share[:, 0], added[:, kept.complication[k]], share[:, 0] * leading]
        columns = inverse @ np.stack(relative, axis=1)
        covariance = np.linalg.inv(columns.T @ columns + np.eye(3))
        assert kept.root[k] @ kept.root[k].T == pytest.approx(covariance, rel=1e-6, abs=1e-12)
        unsigned = covariance @ columns.T @ inverse @ observed.target[0]
        assert kept.z[k] * kept.root[k, 2, 2] == pytest.approx(unsigned[2], rel=1e-6, abs=1e-9)


def test_what_is_left_out_is_negligible(monkeypatch: pytest.MonkeyPatch) -> None:
    pruned = timed(N**1.5 + 20, "n").probabilities
    monkeypatch.setattr("scalkit.judge.fit.regression.evidence.NEGLIGIBLE", 60.0)
    assert np.abs(timed(N**1.5 + 20, "n").probabilities - pruned).max() < 0.01


def test_quantiles_of_a_mixture_are_those_of_a_sample() -> None:
    rng = np.random.default_rng(2)
    weights = np.array([0.2, 0.5, 0.3])[:, None] * np.ones((1, 2))
    centre = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 7.0]])
    width = np.array([[0.1, 0.5], [1.0, 1e-3], [0.2, 2.0]])
    found = Mixture(weights, centre, width).quantiles((0.05, 0.5, 0.95))
    which = rng.choice(3, 400_000, p=weights[:, 0])
    for m in range(2):
        sample = centre[which, m] + width[which, m] * rng.standard_normal(len(which))
        assert found[:, m] == pytest.approx(np.quantile(sample, (0.05, 0.5, 0.95)), abs=0.02)


def test_merging_keeps_the_moments() -> None:
    weights = np.array([[0.2], [0.5], [0.3]])
    centre, width = np.array([[0.0], [1.0], [4.0]]), np.array([[0.1], [1.0], [0.2]])
    merged = Mixture(weights, centre, width, np.arange(3)).merged(np.array([7, 2, 7]))
    assert merged.weights[:, 0] == pytest.approx([0.5, 0.5])
    assert merged.centre[:, 0] == pytest.approx([1.0, (0.2 * 0 + 0.3 * 4) / 0.5])
    assert merged.lead.tolist() == [1, 0]


def test_standard_errors_come_from_repetitions() -> None:
    rng = np.random.default_rng(4)
    repetitions = 1e-3 * np.exp(rng.normal(0, 0.05, (200, 9)))
    error = standard_errors(repetitions, np.median(repetitions, axis=1))
    assert np.median(error) == pytest.approx(0.05 * np.sqrt(np.pi / 2 / 9), rel=0.2)
    assert standard_errors(repetitions[:, :1], repetitions[:, 0]).tolist() == [0.0] * 200
    repetitions[:, 0] *= 100  # one slow repetition
    assert np.median(standard_errors(repetitions, np.median(repetitions, axis=1))) < 0.06


def test_a_coarse_clock_shows_in_values_that_repeat() -> None:
    assert clock_step(np.array([[1.0, 1.0, 1.0], [2.0, 3.0, 3.0]])) == 1.0
    assert clock_step(np.array([[1.0, 1.1, 2.0], [2.1, 3.0, 3.2]])) == 0.0
    assert clock_step(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [3.0, 3.0]])) == 2.0
    assert clock_step(np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0]])) == 0.0


def test_steep_and_odd_growths_are_rarer() -> None:
    weights = [growth_weight(growth(text), "n") for text in ("n", "n^2", "n^(3/2)", "n^(4/3)")]
    assert weights == sorted(weights, reverse=True)
    assert growth_weight(Growth.of("n", power=1, log=Fraction(1, 2)), "n") < growth_weight(growth("n*log(n)"), "n")


def test_growths_without_a_value_do_not_compete() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    design = design_of(tuple(x.tolist()), "n", candidates("n"), growth("n"), TIMES)
    assert Growth.of("n", log=-1) not in design.growths  # infinite at 1
    assert growth("log(n)") in design.growths


def test_a_posterior_is_the_same_in_another_process() -> None:
    posterior = timed(N, "n")
    again = pickle.loads(pickle.dumps(posterior))
    at = np.array([2 * N[-1]])
    assert again.predict(at).tobytes() == posterior.predict(at).tobytes()
    assert again.growths == posterior.growths
