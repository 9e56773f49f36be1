"""Measurements that are made up for a lesson, and say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.measure import combine, measurements
from scalkit.teaching.bundled import data_names, data_options

__all__ = ["lesson_data", "simulated"]

_MOST_NOISE = 2.0


def simulated(name: str, *, noise: float | None = None, seed: int | None = None) -> xr.Dataset:
    """Return the simulated measurements of a lesson: sums of growths with noise that only adds.

    Parameters
    ----------
    name : str
        For example ``"02-exchange"``.
    noise : float, optional
        Standard deviation of the half-normal noise, relative; by default that of the lesson.
    seed : int, optional
        Of the noise; by default that of the lesson, so that everybody sees the same.

    Returns
    -------
    xarray.Dataset
        Its attribute ``title`` says that nothing was measured, and names noise and seed.

    Raises
    ------
    UsageError
        If there are no such data, or the noise is out of range.
    """
    options = data_options(name)
    spread = float(options["noise"] if noise is None else noise)
    if not 0 <= spread <= _MOST_NOISE:
        raise UsageError(f"the noise is {noise!r:.60}; it is a share from 0 to {_MOST_NOISE:g}, for example 0.05.")
    used = int(options["seed"] if seed is None else seed)
    x = np.asarray(options["settings"], dtype=np.float64)
    generator = np.random.default_rng(used)
    made = [
        _measured(function, terms, x, spread, generator, options) for function, terms in options["functions"].items()
    ]
    said = f"simulated, not measured: {name}, noise {spread:g}, seed {used}"
    return combine(made).assign_attrs(title=said, measured_on="nothing: simulated", simulated=1)


def _measured(
    function: str, terms: list[Any], x: Any, noise: float, generator: np.random.Generator, options: dict[str, Any]
) -> xr.Dataset:
    exact = sum(float(coefficient) * Growth.parse(growth)(x) for coefficient, growth in terms)
    drawn = np.abs(generator.normal(size=(len(x), int(options.get("repetitions", 9)))))
    values = np.asarray(exact)[:, np.newaxis] * (1 + noise * drawn)
    parameter, metric = options.get("parameter", "p"), options.get("metric", "time")
    return measurements(x, values, parameter, metric, options["unit"], function)


def lesson_data() -> list[xr.Dataset]:
    """Return the simulated measurements of all lessons, as every learner gets them."""
    return [simulated(name) for name in data_names()]
