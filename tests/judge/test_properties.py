"""Properties of verdicts: exact data give their tick back; units, order and company of a series change nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tiers import slow_unless

import scalkit as sk
from scalkit.growth import Growth
from scalkit.judge import Expectation, SearchSpace, Verdict
from scalkit.judge.expectation import sure_match
from scalkit.measure import combine

ICS15 = SearchSpace.preset("ics15")
SPACES = {"ics15": ICS15, **{text: SearchSpace.around(Expectation(text)) for text in ("p", "p*log(p)", "2^k", "1")}}
DOUBLING, COUNTING = 2.0 ** np.arange(1, 8), np.arange(3.0, 17.0)
UNITS = {"time": "s", "object_memory": "B", "events": "1"}
EXPECTED = st.sampled_from(["log(p)", "p", "1", "p*log(p)", "p^(1/2)"])
SHIFTS = st.one_of(st.just(0.0), st.floats(1e-3, 10))


def measured(x: object, y: object, metric: str = "time", parameter: str = "p", name: str = "f") -> xr.Dataset:
    return sk.measurements(x, y, parameter=parameter, metric=metric, unit=UNITS[metric], exact=metric != "time", name=name)


def judged(data: xr.Dataset, expectation: str | Growth, space: SearchSpace = ICS15) -> Verdict:
    others = {str(name): "p" for name in data["function"].values if name != "f"}
    return sk.validate(data, {"f": expectation, **others}, space=space, scaling="weak")["f"]  # type: ignore[arg-type]


def assert_same(found: Verdict, other: Verdict, factor: float = 1.0) -> None:
    """Both verdicts say the same; coefficients of `other` are `factor` times those of `found`."""
    for name in ("match", "direction", "divergence", "caveats", "answer", "resolution", "sentence"):
        assert getattr(other, name) == getattr(found, name), name
    assert other.model.growth == found.model.growth
    assert other.probability == pytest.approx(found.probability, abs=1e-6)
    assert other.crossing == pytest.approx(found.crossing, nan_ok=True)
    assert other.model.adjusted_r2 == pytest.approx(found.model.adjusted_r2, abs=1e-9, nan_ok=True)
    np.testing.assert_allclose(other.posterior.probabilities, found.posterior.probabilities, atol=1e-6)
    assert {m.growth for m in other.rivals} == {m.growth for m in found.rivals}
    scale = factor * np.max(found.series.y)
    # Exact coefficients are whole numbers where these are nearer than 1e-5, in one unit or the other.
    near = 2e-5 if found.series.exact else 1e-8
    assert other.model.constant == pytest.approx(factor * found.model.constant, rel=near, abs=1e-11 * scale)
    assert other.model.coefficient == pytest.approx(factor * found.model.coefficient, rel=near)
    at = [found.series.x[0], 4 * found.series.x[-1]]
    np.testing.assert_allclose(other.interval(at), factor * found.interval(at), rtol=1e-3)


def values(seed: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return five to nine settings and one to six repetitions of a random tick, with up to 20 % noise if it is a time."""
    rng = np.random.default_rng(seed)
    x = 2.0 ** np.arange(1, rng.integers(6, 11))
    tick = ICS15.ticks[rng.integers(len(ICS15))]
    y = rng.choice([0, 1]) * rng.uniform(0, 3) + tick(x) / float(tick(x[-1]))
    noise = rng.choice([0, 0.01, 0.05, 0.2]) if metric == "time" else 0
    repeated = y[:, None] * np.exp(rng.normal(0, noise, (len(x), rng.choice([1, 3, 6]))))
    if metric == "events":
        repeated *= np.pi  # a count of whole numbers has a step of its own, whatever its unit is called
    return x, np.round(1e6 * repeated) if metric == "object_memory" else repeated


SEEDS, METRICS = st.integers(0, 10**9), st.sampled_from(sorted(UNITS))


@settings(max_examples=8, deadline=None)
@given(SEEDS, EXPECTED, st.sampled_from(["time", "events"]), st.floats(-12, 12).map(lambda e: 10.0**e))
@example(279, "p", "time", 10.0)
def test_another_unit_changes_coefficients_only(seed: int, expected: str, metric: str, factor: float) -> None:
    x, y = values(seed, metric)
    assert_same(judged(measured(x, y, metric), expected), judged(measured(x, factor * y, metric), expected), factor)


@settings(max_examples=8, deadline=None)
@given(SEEDS, EXPECTED, st.sampled_from([8.0, 1024.0, 2.0**-20]))
def test_counted_values_change_with_their_step_only(seed: int, expected: str, factor: float) -> None:
    x, y = values(seed, "object_memory")
    one, other = measured(x, 16 * y, "object_memory"), measured(x, 16 * factor * y, "object_memory")
    one["object_memory"].attrs["resolution"] = 16.0
    other["object_memory"].attrs["resolution"] = 16.0 * factor
    found, scaled = judged(one, expected), judged(other, expected)
    assert sure_match(scaled.probability) == sure_match(found.probability)
    assert scaled.probability == pytest.approx(found.probability, abs=1e-6)
    assert scaled.model.growth == found.model.growth


@settings(max_examples=8, deadline=None)
@given(SEEDS, EXPECTED, METRICS, st.randoms(use_true_random=False))
def test_the_order_of_points_and_repetitions_is_nothing(seed: int, expected: str, metric: str, order: object) -> None:
    x, y = values(seed, metric)
    rows, columns = list(range(len(x))), list(range(y.shape[1]))
    order.shuffle(rows)  # type: ignore[attr-defined]
    order.shuffle(columns)  # type: ignore[attr-defined]
    found = judged(measured(x, y, metric), expected)
    assert_same(found, judged(measured(x[rows], y[np.ix_(rows, columns)], metric), expected))
    assert_same(found, judged(measured(np.repeat(x[rows], y.shape[1]), y[rows].ravel(), metric), expected))


@settings(max_examples=8, deadline=None)
@given(SEEDS, SEEDS, EXPECTED, METRICS)
def test_company_is_nothing(seed: int, another: int, expected: str, metric: str) -> None:
    x, y = values(seed, metric)
    alone = judged(measured(x, y, metric), expected)
    others = [measured(*values(another + k, metric), metric, name=f"other {k}") for k in range(2)]
    others.append(measured(x, y[::-1], metric, name="same settings"))
    for company in (combine([*others, measured(x, y, metric)]), combine([measured(x, y, metric), *others])):
        assert_same(alone, judged(company, expected))


@pytest.mark.parametrize("metric", sorted(UNITS))
@pytest.mark.parametrize("space", [slow_unless(space, "ics15", "2^k") for space in SPACES])
@settings(max_examples=3, deadline=None)
@given(SHIFTS, st.floats(-9, 3).map(lambda e: 10.0**e))
def test_every_tick_comes_back_from_exact_values(space: str, metric: str, shift: float, size: float) -> None:
    """A constant, and the tick times a coefficient, measured twice with the same result."""
    ruler = SPACES[space]
    x = COUNTING if ruler.parameter == "k" else DOUBLING
    for tick in ruler.ticks:
        shape = tick(x) / float(tick(x[len(x) // 2])) if not tick.is_constant else 0 * x
        y = size * (shift + shape) if shift or not tick.is_constant else size + shape
        found = judged(measured(x, np.stack([y, y], axis=1), metric, ruler.parameter), tick, ruler)
        assert (found.model.growth, found.match, sure_match(found.probability)) == (tick, "total", "total"), tick
        assert found.model(x) == pytest.approx(y, rel=2e-2 if metric == "time" else 1e-5)
        assert found.caveats == () or tick == ruler.ticks[-1]


@pytest.mark.parametrize("space", [slow_unless(space, "ics15", "1") for space in SPACES])
@settings(max_examples=3, deadline=None)
@given(SHIFTS)
def test_every_tick_comes_back_from_values_measured_once(space: str, shift: float) -> None:
    """Nothing says then how exact times are: the model is the tick, and the verdict within the limits or open."""
    ruler = SPACES[space]
    x = COUNTING if ruler.parameter == "k" else DOUBLING
    for tick in ruler.ticks:
        y = 1 + shift + (tick(x) / float(tick(x[-1])) if not tick.is_constant else 0 * x)
        found = judged(measured(x, y, parameter=ruler.parameter), tick, ruler)
        assert (found.model.growth, found.match) == (tick, "total")
        assert sure_match(found.probability) != "none"
