"""What is kept of series between verdicts changes no number of theirs, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import scalkit as sk
from scalkit.growth import Growth
from scalkit.measure import Series, series
from scalkit.validation import Expectation, SearchSpace
from scalkit.validation.posterior import posteriors
from scalkit.validation.posterior.posterior import Memory

P = 2.0 ** np.arange(1, 8)
LOG = Expectation("log(p)")


def made(seed: int, noise: float) -> Series:
    rng = np.random.default_rng(seed)
    shape = 1 + P ** rng.choice([0.25, 0.5, 1.0]) * rng.uniform(0, 0.3)
    y = 1e-6 * shape[:, None] * np.exp(noise * rng.standard_normal((len(P), 5)))
    return series(sk.measurements(P, y, name=f"f{seed}"))[0]


def moved(space: SearchSpace, rng: np.random.Generator) -> SearchSpace:
    """Return the space with one tick taken away and another one added."""
    away = space.ticks[int(rng.integers(1, len(space.ticks)))]
    left = tuple(tick for tick in space.ticks if tick != away)
    added = Growth.of("p", power=Fraction(int(rng.integers(1, 90)), 37))
    return SearchSpace.of((*left, added), "by hand", "p")


@pytest.mark.parametrize("noise", [0.0005, 0.02, 0.5])
def test_the_same_comes_out_after_any_moves(noise: float) -> None:
    rng, memory = np.random.default_rng(7), Memory()
    many = [made(seed, noise) for seed in range(70)]
    space = SearchSpace.around(LOG)
    for _ in range(5):
        fresh = posteriors(many, LOG, space)
        kept = posteriors(many, LOG, space, memory=memory)
        for one, other in zip(fresh, kept, strict=True):
            assert one.growths == other.growths
            np.testing.assert_array_equal(one.weights, other.weights)
            np.testing.assert_array_equal(one.hidden_weights, other.hidden_weights)
            np.testing.assert_array_equal(one.hidden, other.hidden)
        space = moved(space, rng)


def test_a_series_does_not_depend_on_those_beside_it() -> None:
    many = [made(seed, 0.03) for seed in range(70)]
    space = SearchSpace.around(LOG)
    together = posteriors(many, LOG, space)
    for place in (0, 5, 63, 64, 69):
        np.testing.assert_array_equal(posteriors([many[place]], LOG, space)[0].weights, together[place].weights)


def test_other_series_are_not_taken_for_those_that_are_gone() -> None:
    """Series are told apart by what they are, also where one takes the place of another in memory."""
    memory, space = Memory(), SearchSpace.around(LOG)
    for seed in range(40):
        one = made(seed, 0.02)
        (kept,) = posteriors([one], LOG, space, memory=memory)
        np.testing.assert_array_equal(kept.weights, posteriors([one], LOG, space)[0].weights)
