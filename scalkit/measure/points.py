"""A Dataset from arrays at hand: `measurements`."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from scalkit.errors import DataError
from scalkit.measure.schema import METRICS, RESERVED, Metric, check

__all__ = ["measurements"]

_PREFIXES = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

_LARGEST_INT = 2**31 - 1
"""netCDF-3 has no longer integers; larger parameters are kept as floats."""


def measurements(
    x: ArrayLike,
    y: ArrayLike,
    parameter: str = "p",
    metric: str = "time",
    unit: str | None = None,
    name: str = "f",
    exact: bool | None = None,
) -> xr.Dataset:
    """Return a Dataset of one function and metric from arrays.

    Parameters
    ----------
    x : array_like of shape (points,)
        Values of the parameter, positive; points that repeat are merged as repetitions.
    y : array_like of shape (points,) or (points, reps), in `unit`
        Measured values; NaN where a repetition is missing.
    parameter : str
        Name of the parameter, a Python identifier.
    metric : str
        ``"time"``, ``"object_memory"``, ``"process_memory"`` or a name of your own.
    unit : str, optional
        By default that of the metric, ``"s"`` for one of your own. Seconds and bytes may have a prefix (``"us"``,
        ``"MB"``); the Dataset holds them without.
    name : str
        Name of the function.
    exact : bool, optional
        Whether values are free of noise; by default as is usual for the metric.

    Returns
    -------
    xarray.Dataset
        Dims ``function`` (1), `parameter` (points, ascending), ``run`` (1), ``repetition``.

    Raises
    ------
    DataError
        If shapes do not agree, a name is not allowed, or values are not numbers.
    """
    _require_texts(parameter=parameter, metric=metric, unit=unit or "", name=name)
    if exact is not None and not isinstance(exact, bool | np.bool_):
        raise DataError(f"exact is {exact!r:.60}; True, False or None is needed.")
    _require_names(parameter, metric)
    known = METRICS.get(metric, Metric(metric, "s", metric, exact=False))
    factor, base = _base_unit(known.unit if unit is None else unit)
    described = Metric(metric, base, known.long_name, known.exact if exact is None else bool(exact))
    places, values = _merged(_numbers(x, "x"), _numbers(y, "y") * factor)
    axis = places.astype(np.int64) if (places == np.round(places)).all() and places.max() <= _LARGEST_INT else places
    dims = ("function", parameter, "run", "repetition")
    ds = xr.Dataset(
        {metric: (dims, values[np.newaxis, :, np.newaxis, :], described.attrs())},
        {"function": np.array([name], dtype=np.str_), parameter: axis, "run": np.array([0], dtype=np.int64)},
        {"title": f"{described.long_name} of {name}", "parameter": parameter},
    )
    check(ds)
    return ds


def _require_texts(**given: object) -> None:
    for kind, value in given.items():
        if not isinstance(value, str):
            raise DataError(f"the {kind} is {value!r:.60}; a text is needed.")


def _require_names(parameter: str, metric: str) -> None:
    for kind, value in (("parameter", parameter), ("metric", metric)):
        if not value.isidentifier() or len(value) > 64:
            raise DataError(
                f"the {kind} {value[:80]!r} is no identifier; use up to 64 letters, digits or underscores, as in 'p'."
            )
    if parameter in RESERVED:
        raise DataError(f"the parameter cannot be named {parameter!r}; reserved are {', '.join(sorted(RESERVED))}.")
    if metric in RESERVED - set(METRICS) or metric == parameter:
        raise DataError(
            f"the metric cannot be named {metric!r}; it is a dimension or the parameter; choose another name."
        )


def _base_unit(unit: str) -> tuple[float, str]:
    """Return the factor to, and the name of, the unit without prefix: (1e-6, "s") for "us"; other units stay."""
    prefix, base = unit[:-1], unit[-1:]
    return (_PREFIXES[prefix], base) if base in ("s", "B") and prefix in _PREFIXES else (1.0, unit)


def _numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{what} is no array of numbers ({error}); pass numbers, all rows of one length.") from error


def _merged(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distinct points, ascending, and their values (points, repetitions), filled up with NaN."""
    if x.ndim != 1 or y.ndim not in (1, 2) or len(x) != len(y) or not y.size:
        raise DataError(
            f"x has shape {x.shape} and y {y.shape}; needed are (points,) and (points,) or (points, reps), not empty."
        )
    if not np.isfinite(x).all() or (x <= 0).any():
        raise DataError(f"x is {_shown(x)}; every value of the parameter must be positive and finite.")
    rows = y if y.ndim == 2 else y[:, np.newaxis]
    places, index = np.unique(x, return_inverse=True)
    groups = [rows[index == i].ravel() for i in range(len(places))]
    values = np.full((len(places), max(len(group) for group in groups)), np.nan)
    for row, group in zip(values, groups, strict=True):
        row[: len(group)] = group
    return places, values


def _shown(x: NDArray[np.float64]) -> str:
    shown = ", ".join(f"{value:g}" for value in x[:8])
    return f"[{shown}{', ...' if len(x) > 8 else ''}]"
