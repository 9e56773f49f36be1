"""The exercises and data of the lessons that come with scalkit, one TOML file a lesson.

::

    title = "What do you expect?"

    [exercises.order]                    # Exercise.load("01-order")
    prompt = "How does ... grow?"
    kind = "growth"
    answer = "p*log(p)"
    hints = ["Count the rounds.", "..."]

    [data.exchange]                      # simulated("02-exchange")
    settings = [2, 4, 8, 16, 32]
    unit = "us"
    noise = 0.02
    seed = 20261121
    functions = { exchange = "3 + 2*p" }

The answers stand in the package, not in the notebooks of the learners, and they stand there in plain text. A hash would hide
little: of four choices one is soon tried, a number has a tolerance, and a growth is written in many ways. Exercises help to
learn, they examine nobody.
"""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from scalkit.errors import UsageError

_Tables = dict[str, dict[str, dict[str, Any]]]


def exercise_names() -> tuple[str, ...]:
    """Return the names of all exercises that come with scalkit, in the order of the lessons."""
    return tuple(_tables()["exercises"])


def data_names() -> tuple[str, ...]:
    """Return the names of all data that lessons simulate."""
    return tuple(_tables()["data"])


def exercise_options(name: str) -> dict[str, Any]:
    """Return the options of an exercise. Raises UsageError if there is none of that name."""
    return _named("exercises", "exercise", name)


def data_options(name: str) -> dict[str, Any]:
    """Return how the data of a lesson are made. Raises UsageError if there are none of that name."""
    return _named("data", "lesson data", name)


def _named(kind: str, what: str, name: str) -> dict[str, Any]:
    there = _tables()[kind]
    if name not in there:
        raise UsageError(f"there is no {what} {name!r:.60}; there are {', '.join(there)}.")
    return dict(there[name])


@cache
def _tables() -> _Tables:
    """Return the tables of all lessons by kind and name, the names beginning with the number of the lesson."""
    found: _Tables = {"exercises": {}, "data": {}}
    folder = resources.files("scalkit.teaching") / "exercises"
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".toml"):
            number = file.name.partition("-")[0]
            lesson = tomllib.loads(file.read_text(encoding="utf-8"))
            for kind, tables in found.items():
                tables |= {f"{number}-{key}": table for key, table in lesson.get(kind, {}).items()}
    return found
