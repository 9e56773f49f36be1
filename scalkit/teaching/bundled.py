"""The lessons that come with scalkit: their exercises and data, and measurements that follow a known formula with noise."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.measure import combine, measurements

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


_MOST_NOISE = 2.0


def simulated(name: str, *, noise: float | None = None, seed: int | None = None) -> xr.Dataset:
    """Return the simulated measurements of a lesson; see `simulate`.

    `name`: for example ``"02-exchange"``.
    `noise`: by default that of the lesson.
    `seed`: by default that of the lesson, so that everybody sees the same.
    Raises UsageError if there are no such data, or the noise is out of range.
    """
    options = data_options(name)
    options["noise"] = float(options["noise"] if noise is None else noise)
    options["seed"] = int(options["seed"] if seed is None else seed)
    truth, settings = options.pop("functions"), options.pop("settings")
    return simulate(truth, settings, **{"repetitions": 9, **options}, title=name)


def lesson_data() -> list[xr.Dataset]:
    """Return the simulated measurements of all lessons, as every learner gets them."""
    return [simulated(name) for name in data_names()]


def simulate(
    truth: Mapping[str, str],
    x: ArrayLike,
    *,
    parameter: str = "p",
    metric: str = "time",
    unit: str | None = None,
    noise: float = 0.0,
    repetitions: int = 5,
    seed: int = 1,
    title: str = "",
) -> xr.Dataset:
    """Return what would be measured if each function followed its formula.

    `truth`: a sum such as ``"5 + 2*log(p)"``, in `unit`: numbers, and numbers times growths.
    `x`: shape (points,).
    `parameter`, `metric`, `unit`: as of `scalkit.measurements`.
    `noise`: typical share that a repetition is longer than the formula says, half-normal; 0.05 is 5 %. Disturbances only
    ever add time.
    `seed`: of the noise.
    `title`: of what, in its title.
    Returns: marked as simulated: its attribute ``title`` says that nothing was measured, and names noise and seed.
    Raises UsageError if the noise is out of range or there is no repetition.
    Raises ExpectationError if a formula cannot be read.
    """
    if not 0 <= noise <= _MOST_NOISE:
        raise UsageError(f"noise is {noise!r:.60}; a share from 0 to {_MOST_NOISE:g} is needed, such as 0.05 for 5 %.")
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise UsageError(f"repetitions are {repetitions!r}; a whole number from 1 on is needed.")
    if not truth:
        raise UsageError("there is nothing to simulate; name a function and its formula, such as {'f': '5 + 2*log(p)'}.")
    rng = np.random.default_rng(seed)
    at = np.asarray(x, dtype=np.float64)
    found = []
    for name, formula in truth.items():
        values = evaluate(formula, at, parameter)[:, None]
        values = values * (1 + noise * np.abs(rng.standard_normal((len(at), repetitions))))
        found.append(measurements(x, values, parameter, metric, unit, name))
    made = combine(found)
    said = f"simulated, not measured: {title}{', ' if title else ''}noise {noise:g}, seed {seed}"
    made.attrs |= {"simulated": 1, "title": said, "measured_on": said}
    return made


def evaluate(formula: str, x: ArrayLike, parameter: str = "p") -> NDArray[np.float64]:
    """Return a sum of numbers and of numbers times growths, such as ``"16 + 0.56*p"``, at `x`; nothing is evaluated as code."""
    at = np.asarray(x, dtype=np.float64)
    total = np.zeros(at.shape)
    for term in formula.split(" + "):
        factor, growth = _split(term.strip())
        total = total + factor * (Growth.parse(growth, parameter)(at) if growth else 1.0)
    return total


def _split(term: str) -> tuple[float, str]:
    """Return the number before a growth, and the growth; empty where there is only a number."""
    first, _, rest = term.partition("*")
    try:
        return float(first), rest
    except ValueError:
        return 1.0, term
