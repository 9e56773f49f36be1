"""Teaching: exercises that check themselves, simulated data, the students' edition of notebooks, and hand-ins."""

from scalkit.teaching.bundled import exercise_names
from scalkit.teaching.exercise import Exercise
from scalkit.teaching.outcome import Outcome
from scalkit.teaching.simulated import simulated

__all__ = ["Exercise", "Outcome", "exercise_names", "simulated"]
