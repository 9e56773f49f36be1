"""The exercises and data of the lessons."""

from __future__ import annotations

import numpy as np
import pytest

from exercises import Exercise, exercise_names, exercise_options, lesson_data, simulated
from scalkit.errors import UsageError


@pytest.mark.parametrize("name", exercise_names())
def test_every_exercise_can_be_made_and_helps(name: str) -> None:
    exercise, options = Exercise.load(name), exercise_options(name)
    assert exercise.name == name
    assert exercise.n_hints >= 1
    assert options["why"]
    assert len(exercise.prompt) < 200
    for wrong, thought in options.get("remarks", {}).items():
        found = exercise.check(wrong)
        assert (found.kind, found.thought) == ("wrong", thought)
    if not exercise.looks_at_session:
        found = exercise.check(options["answer"])
        assert (found.kind, found.thought) == ("right", options["why"])


def test_no_hint_is_the_answer() -> None:
    for name in exercise_names():
        options = exercise_options(name)
        if isinstance(options["answer"], str):
            assert not [hint for hint in options["hints"] if options["answer"] in hint], name


def test_there_are_lessons_one_to_six() -> None:
    assert {name[:2] for name in exercise_names()} == {"01", "02", "03", "04", "05", "06"}


@pytest.mark.parametrize("name", ["02-exchange", "02-sweep", "06-old", "06-new"])
def test_simulated_data_say_so_and_repeat(name: str) -> None:
    data = simulated(name)
    assert data.attrs["simulated"] == 1
    assert data.attrs["title"].startswith(f"simulated, not measured: {name}, noise 0.0")
    assert data.identical(simulated(name))
    assert sum(data.identical(one) for one in lesson_data()) == 1


def test_noise_only_adds() -> None:
    clean, noisy = (simulated("02-exchange", noise=noise)["time"].squeeze() for noise in (0, 0.3))
    assert np.allclose(clean.isel(repetition=0), 5e-6 + 1.5e-6 * clean["p"], rtol=1e-12)
    assert (noisy >= clean).all()


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"^there are no exercises '01-ordr'; there are 01-tree, 01-order, .*hand-in\.$"):
        Exercise.load("01-ordr")
    with pytest.raises(UsageError, match=r"^there are no data 'x'; there are 02-exchange, 02-sweep, 06-old, 06-new\.$"):
        simulated("x")
