"""Exercises that check themselves, and the simulated data of the lessons."""

from exercises.answers import Outcome
from exercises.bundled import exercise_names, exercise_options, lesson_data, simulated
from exercises.exercise import Exercise

__all__ = ["Exercise", "Outcome", "exercise_names", "exercise_options", "lesson_data", "simulated"]
