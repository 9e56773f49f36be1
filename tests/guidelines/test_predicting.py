"""Guidelines on models: where a violation begins, how sure that is, and what does not count as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scalkit.errors import UsageError
from scalkit.guidelines import assess
from scalkit.guidelines.predictions import Prediction, predictions


def exact(times: dict[str, Any], ps: tuple[int, ...] = (4, 8, 16, 32, 64, 128), noise: float = 0.001) -> dict[str, Any]:
    """Columns of 8 runs that scatter by 0.1 %; `times` are functions of p."""
    rng = np.random.default_rng(4)
    rows = [(name, p, run, time(p) * rng.lognormal(0, noise)) for name, time in times.items() for p in ps for run in range(8)]
    return {name: [row[k] for row in rows] for k, name in enumerate(("operation", "p", "run", "time"))}


def predicted(guideline: str, times: dict[str, Any], noise: float = 0.001, **options: Any) -> Prediction:
    (one,) = predictions(assess(exact(times, noise=noise), guideline), **options)
    return one


def constant(value: float) -> Any:
    return lambda p: value


def test_it_begins_where_the_left_side_takes_longer_for_good() -> None:
    one = predicted("a <= b + 2*c", {"a": lambda p: float(p), "b": constant(140), "c": constant(30)})
    assert one.highest == 128 * 256
    assert one.begins == pytest.approx(206, rel=0.04)
    assert one.low <= one.begins <= one.high
    assert one.probability == 1
    assert one.is_violation
    assert one.is_failure
    assert one.sentence.startswith("Prediction, not measured: a <= b + 2*c will be violated from p = 2")
    assert "times beyond it" in one.sentence
    none = predicted("b <= a + c", {"a": lambda p: float(p), "b": constant(40), "c": constant(60)})
    assert none.begins is None
    assert not none.is_violation
    assert none.sentence == "Prediction: no sure violation of b <= a + c up to p = 32,768."
    always = predicted("a <= b", {"a": constant(2), "b": constant(1)})
    assert always.begins == 4
    assert always.is_measured
    assert "within what was measured" in always.sentence


def test_maxima_and_similarity() -> None:
    times = {"i": lambda p: float(p), "b": constant(200), "work": lambda p: p / 2}
    assert predicted("i <= max(b, work)", times).begins == pytest.approx(206, rel=0.04)
    assert predicted("b ~ work", times).begins == pytest.approx(412, rel=0.04)
    assert predicted("b <= work", times).begins is None


def test_a_violation_that_may_begin_further_away_is_none() -> None:
    times = {"a": lambda p: float(p), "b": constant(200)}
    # With 5 % between the runs the place where it begins is uncertain by more than a step of the search.
    begins = predicted("a <= b", times, noise=0.05).begins
    assert begins is not None
    doubtful = predicted("a <= b", times, noise=0.05, highest=begins)
    assert 0.1 < doubtful.probability < 0.9
    assert not doubtful.is_violation
    assert "it is one, with a probability of" in doubtful.sentence
    assert doubtful == predicted("a <= b", times, noise=0.05, highest=begins)
    assert doubtful.to_dict()["high"] is None


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(UsageError, match="predicting from 4 to 2 is no range; give a larger scale to look at"):
        predicted("a <= b", {"a": constant(1), "b": constant(2)}, highest=2)


def scaling(crowded: bool = False, ps: tuple[int, ...] = (4, 8, 16, 32, 64, 128), seed: int = 1) -> dict[str, Any]:
    """MPI_Bcast grows as the root of p and takes 3 % longer than scatter and allgather, which grow as log p, at p = 474."""
    rng = np.random.default_rng(seed)
    times = {
        "MPI_Bcast": lambda p: 5 + p**0.5,
        "MPI_Scatter": lambda p: 4 + 0.8 * np.log2(p),
        "MPI_Allgather": lambda p: 6 + np.log2(p),
    }
    rows = [(o, p, s, r, f(p) * rng.lognormal(0, 0.01)) for o, f in times.items() for p in ps for s in (8, 64) for r in range(12)]
    found = {name: [row[k] for row in rows] for k, name in enumerate(("operation", "p", "size", "run", "time"))}
    return found | {"oversubscribed": [crowded] * len(rows)}


TEXT = "MPI_Bcast <= MPI_Scatter + MPI_Allgather"


def test_fitted_models_see_a_violation_that_nobody_measured() -> None:
    found = assess(scaling(), TEXT)
    assert found.counts["violated"] == 0
    ahead = predictions(found, highest=65536)
    assert [one.where for one in ahead] in ([{"size": 8}, {"size": 64}], [{"size": 64}, {"size": 8}])
    for one in ahead:
        assert 400 < one.low < one.begins < one.high < 600
        assert one.probability > 0.9
        assert one.is_failure
        assert "MPI_Scatter + MPI_Allgather at size=" in one.sentence
        assert "% at p = 65,536." in one.sentence
    crowded = predictions(assess(scaling(crowded=True), TEXT))
    assert [(one.is_violation, one.is_failure) for one in crowded] == [(True, False)] * 2
    assert predictions(assess(scaling(ps=(4, 8, 16, 32)), TEXT)) == ()


def test_intervals_of_where_a_violation_begins_cover() -> None:
    found = [one for seed in range(10) for one in predictions(assess(scaling(seed=seed), TEXT), highest=65536)]
    assert len(found) == 20
    assert 16 <= sum(one.low < 474 < one.high for one in found) <= 20
    assert max(one.high / one.low for one in found) < 1.5


def test_what_was_measured_is_no_prediction() -> None:
    found = assess(scaling(ps=(4, 8, 16, 512, 1024, 2048)), TEXT)
    assert found.counts["violated"] > 0
    assert [one.is_failure for one in predictions(found)] == [False, False]


def test_only_along_a_parameter_of_numbers() -> None:
    found = assess(scaling() | {"kind": ["x"] * 432}, TEXT)
    with pytest.raises(UsageError, match="there is no parameter 'q' to predict along; choose from operation, p, size, kind"):
        predictions(found, "q")
    with pytest.raises(UsageError, match="'kind' has levels that are no numbers; predict along another parameter"):
        predictions(found, "kind")


def test_settings_with_too_few_values_have_no_model() -> None:
    table = scaling(ps=(4, 8, 16, 32, 64))
    for row, place in enumerate(zip(table["p"], table["size"], strict=True)):
        if place == (64, 8):
            table["time"][row] = float("nan")
    assert [one.where for one in predictions(assess(table, TEXT))] == [{"size": 64}]
