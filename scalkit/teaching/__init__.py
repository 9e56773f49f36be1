"""Teaching: exercises that check themselves, simulated data, the students' edition of notebooks, and hand-ins."""

from scalkit.teaching.answers import Outcome
from scalkit.teaching.bundled import exercise_names, simulated
from scalkit.teaching.exercise import Exercise

__all__ = ["Exercise", "Outcome", "exercise_names", "simulated"]
