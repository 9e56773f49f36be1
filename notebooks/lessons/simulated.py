"""Measurements that follow known values with noise."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

import scalkit as sk
from scalkit.measure import combine


def simulate(
    truth: Mapping[str, ArrayLike],
    x: ArrayLike,
    *,
    parameter: str = "p",
    metric: str = "time",
    unit: str | None = None,
    noise: float = 0.0,
    repetitions: int = 5,
    seed: int = 1,
) -> xr.Dataset:
    """Return the measurements of functions whose values are known.

    Parameters
    ----------
    truth : mapping from function to array_like of shape (n_points,)
        Values without noise, in `unit`.
    x : array_like of shape (n_points,)
        Values of the parameter.
    parameter, metric, unit : str
        As `scalkit.measurements` takes them.
    noise : float
        Typical share by which a repetition is too long: noise only adds.
    repetitions : int
        Values for each point.
    seed : int
        Of the noise.

    Returns
    -------
    xarray.Dataset
        Marked as simulated; its attribute ``title`` names noise and seed.
    """
    rng = np.random.default_rng(seed)
    made = []
    for name, values in truth.items():
        exact = np.asarray(values, dtype=np.float64)[:, None]
        noisy = exact * (1 + noise * np.abs(rng.standard_normal((len(exact), repetitions))))
        made.append(sk.measurements(x, noisy, parameter, metric, unit, name))
    data = combine(made)
    title = f"simulated, not measured: noise {noise:g}, seed {seed}"
    data.attrs |= {"simulated": 1, "title": title, "measured_on": title}
    return data


def example_search() -> xr.Dataset:
    """Return a simulated search in `k` dimensions, of which most functions double with each dimension."""
    k = np.arange(4, 17)
    truth = {
        "generate": 40 + 0.2 * k**3 * 2.0**k,
        "count": 15 + 0.5 * k * 2.0**k,
        "join": 8 + 0.05 * k**2 * 2.0**k,
        "report": 3 + 1.5 * k,
    }
    return simulate(truth, k, parameter="k", unit="us", noise=0.03)
