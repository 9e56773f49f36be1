"""The models of a series: made when they are looked at, once, and the same in another process."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np

import scalkit as sk
from scalkit.fit import fit_series
from scalkit.fit.model import Model
from scalkit.fit.select import RankedModels
from scalkit.measure import series

P = 2.0 ** np.arange(1, 7)
ICS15 = sk.SearchSpace.preset("ics15").ticks


def ranked(y: np.ndarray = 3 + P) -> RankedModels:
    (one,) = series(sk.measurements(P, y))
    return fit_series(one, ICS15)


def test_a_model_is_made_once_and_slices_share_it() -> None:
    made: list[int] = []
    known = list(ranked())

    def make(place: int) -> Model:
        made.append(place)
        return known[place]

    models = RankedModels(make, [2, 0, 1])
    rest = models[1:]
    assert (len(models), len(rest), made) == (3, 2, [])
    assert rest[0] is models[1] is known[0]
    assert models[-1] is rest[-1] is known[1]
    assert made == [0, 1]
    assert list(models[::-1]) == [known[1], known[0], known[2]]


def test_models_survive_a_pickle_whether_they_were_made_or_not() -> None:
    for y in (3 + P, 3 + P % 3):  # the constant comes last, and first
        models = ranked(y)
        assert any(one.growth.is_constant for one in models)
        again = pickle.loads(pickle.dumps(models))
        assert again == models
        assert hash(again) == hash(models)
        assert again != models[1:]
        assert models != list(models)


def test_equal_models_of_different_spaces_are_equal() -> None:
    (one,) = series(sk.measurements(P, 3 + P))
    few = [tick for tick in ICS15 if str(tick) == "p"]
    left, right = fit_series(one, few), fit_series(one, ICS15)
    pair = [i for i, model in enumerate(right) if str(model.growth) in ("p", "1")]
    picked = RankedModels(right.__getitem__, pair)
    assert left == picked
    assert hash(left) == hash(picked)


def test_models_without_a_number_are_equal_if_it_is_missing_in_both() -> None:
    first, second = (replace(ranked()[0], adjusted_r2=float("nan")) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != replace(first, weight=0.5)
    assert first != replace(first, constant=first.constant + 1)
