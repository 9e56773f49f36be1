"""The exercises of the lessons, and measurements that follow known values with noise, from the TOML files of this folder."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.measure import combine

_Tables = dict[str, dict[str, dict[str, Any]]]


def exercise_names() -> tuple[str, ...]:
    """Return the names of all exercises, in the order of the lessons."""
    return tuple(_tables()["exercises"])


def exercise_options(name: str) -> dict[str, Any]:
    """Return the options of an exercise. Raises UsageError if there is none of that name."""
    return _named("exercises", name)


def _named(kind: str, name: str) -> dict[str, Any]:
    tables = _tables()[kind]
    if name not in tables:
        raise UsageError(f"there are no {kind} {name!r:.60}; there are {', '.join(tables)}.")
    return dict(tables[name])


@cache
def _tables() -> _Tables:
    """Return the tables of all lessons by kind and name; names begin with the number of the lesson."""
    found: _Tables = {"exercises": {}, "data": {}}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        number = path.name.partition("-")[0]
        lesson = tomllib.loads(path.read_text(encoding="utf-8"))
        for kind, tables in found.items():
            tables |= {f"{number}-{key}": table for key, table in lesson.get(kind, {}).items()}
    return found


def simulated(name: str, *, noise: float | None = None) -> xr.Dataset:
    """Return the simulated measurements of a lesson; everybody gets the same.

    Parameters
    ----------
    name : str
        For example ``"02-exchange"``.
    noise : float, optional
        Typical share by which a repetition is too long; by default that of the lesson.

    Returns
    -------
    xarray.Dataset
        Marked as simulated.

    Raises
    ------
    UsageError
        If there are no such data.
    """
    options = _named("data", name)
    share = float(options["noise"] if noise is None else noise)
    rng = np.random.default_rng(options["seed"])
    x = np.asarray(options["settings"])
    made = []
    for function, terms in options["functions"].items():
        exact = sum(factor * sk.Growth(growth, "p")(x) for factor, growth in terms)
        noisy = exact[:, None] * (1 + share * np.abs(rng.standard_normal((len(x), 9))))
        made.append(sk.measurements(x, noisy, "p", "time", options["unit"], function))
    data = combine(made)
    title = f"simulated, not measured: {name}, noise {share:g}, seed {options['seed']}"
    data.attrs |= {"simulated": 1, "title": title, "measured_on": title}
    return data


def lesson_data() -> list[xr.Dataset]:
    """Return the simulated measurements of all lessons."""
    return [simulated(name) for name in _tables()["data"]]
