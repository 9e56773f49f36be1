"""Guidelines on models: where a violation begins, how sure that is, and what does not count as one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from scalkit.errors import UsageError
from scalkit.guidelines import Guideline, assess
from scalkit.guidelines.fitted import fit_curves, predictions
from scalkit.guidelines.predictions import predict, predict_models


class Drawn:
    """A line through 0 whose slope is uncertain by a factor."""

    def __init__(self, slope: float, spread: float) -> None:
        self.slope, self.spread = slope, spread

    def __call__(self, x: Any) -> Any:
        return self.slope * x

    def sample(self, x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.slope * np.exp(rng.normal(0, self.spread, (n, 1))) * x


class Flat:
    """A value that is known."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, x: Any) -> Any:
        return np.full(np.shape(x), self.value)

    def sample(self, x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.full((n, len(x)), self.value)


def constant(value: float) -> Any:
    return lambda x: np.full(np.shape(x), value)


def test_it_begins_where_the_left_side_takes_longer_for_good() -> None:
    one = predict_models("a <= b + 2*c", {"a": lambda x: x, "b": constant(40), "c": constant(30)}, 64)
    assert one.highest == 64 * 256
    assert one.begins == pytest.approx(103, rel=0.03)
    assert math.isnan(one.probability)
    assert one.is_violation
    assert one.is_failure
    assert one.sentence.startswith("Prediction, not measured: a <= b + 2*c will be violated from p = 10")
    assert "times beyond it" in one.sentence
    back = predict_models("a <= b", {"a": lambda x: np.where(x < 500, 2.0, 0.5), "b": constant(1)}, 64)
    assert back.begins is None
    assert not back.is_violation
    assert back.sentence == "Prediction: no sure violation of a <= b up to p = 16,384."
    always = predict_models("a <= b", {"a": constant(2), "b": constant(1)}, 64, lowest=4)
    assert always.begins == 4
    assert "within what was measured" in always.sentence


def test_maxima_and_similarity() -> None:
    models = {"i": lambda x: x, "b": constant(100), "work": lambda x: x / 2}
    assert predict_models("i <= max(b, work)", models, 64).begins == pytest.approx(103, rel=0.03)
    assert predict_models("b ~ work", models, 1e5).begins == pytest.approx(206, rel=0.06)
    assert predict_models("b <= work", models, 64).begins is None


def test_swapped_sides_are_violated_elsewhere() -> None:
    models = {"a": lambda x: x, "b": constant(100)}
    one = Guideline.parse("a <= b")
    forth, back = (predict_models(g, models, 64, v=1.0 + 1e-9) for g in (one, one.swapped()))
    assert forth.begins == pytest.approx(100, rel=0.03)
    assert back.begins is None


def test_drawn_models_give_an_interval_and_a_probability() -> None:
    models = {"a": Drawn(1.0, 0.2), "b": Flat(100.0)}
    one = predict_models("a <= b", models, 64, seed=1)
    assert one.low == pytest.approx(103 * math.exp(-1.645 * 0.2), rel=0.06)
    assert one.high == pytest.approx(103 * math.exp(1.645 * 0.2), rel=0.06)
    assert one.probability == 1
    assert one == predict_models("a <= b", models, 64, seed=1)
    doubtful = predict_models("a <= b", models, 64, highest=103, seed=1)
    assert 0.3 < doubtful.probability < 0.7
    assert not doubtful.is_violation
    assert "at p = 103 it is one, with a probability of" in doubtful.sentence
    assert "high" in doubtful.to_dict()
    assert doubtful.to_dict()["high"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"guideline": Guideline(kind="split", parameter="size")}, "compares sizes, for which there are no models"),
        ({"models": {"a": constant(1)}}, "'a <= b' needs a model of b; there are a."),
        ({"highest": 0.5}, "predicting from 1 to 0.5 is no range; give a larger scale to look at."),
    ],
)
def test_refused(options: dict[str, Any], said: str) -> None:
    given = {"guideline": "a <= b", "models": {"a": constant(1), "b": constant(1)}, "largest": 64, **options}
    with pytest.raises(UsageError, match=said):
        predict_models(**given)


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


def test_any_fit_serves() -> None:
    def lines(parameter: str, series: Any) -> list[Any]:
        assert parameter == "p"
        slopes = [float(np.nanmedian(values[-1]) / x[-1]) for x, values in series]
        return [Drawn(slope, 0.0) for slope in slopes]

    assert all(one.begins is None for one in predict(assess(scaling(), TEXT), lines))
    assert predict(assess(scaling(), TEXT), lambda name, series: [None] * len(series)) == ()


def test_series_without_enough_settings_have_no_model() -> None:
    x, y = np.array([0.0, 2, 4, 8, 16, 32]), np.ones((6, 3))
    y[1] = np.nan
    none, some = fit_curves("p", [(x, y), (x[1:], np.ones((5, 3)))])
    assert none is None
    assert some is not None
    assert some(np.array([64.0])) == pytest.approx(1, rel=1e-3)
