"""A Dataset from arrays at hand: `measurements`."""

import re
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.measure.schema import FUNCTION, METRICS, POINT, REPETITION, RUN, Metric, as_grid, check, is_reserved, whole_labels
from scalkit.support.arrays import Floats
from scalkit.support.text import did_you_mean
from scalkit.support.units import BYTES, SECONDS

NAMES_OF_BYTES = re.compile(r"bytes(_\w+)?|\w+_bytes|memory(_\w+)?|\w+_memory", re.IGNORECASE)
"""Names that metrics in bytes have."""


def measurements(
    x: ArrayLike,
    y: ArrayLike,
    parameter: str | Sequence[str] = "p",
    metric: str = "time",
    unit: str | None = None,
    name: str = "f",
    exact: bool | None = None,
) -> xr.Dataset:
    """Return a Dataset of one function and metric from arrays; `scalkit.read` makes one of a DataFrame.

    Parameters
    ----------
    x : array_like of shape (points,), or (points, parameters) where `parameter` names several
        Values of the parameter, positive; points that repeat are merged as repetitions. Of several parameters any set of
        points does, a full grid or not.
    y : array_like of shape (points,) or (points, reps), in `unit`
        Measured values; NaN where a repetition is missing.
    parameter : str or sequence of str
        Name of the parameter, a Python identifier; for several parameters one for each column of `x`.
    metric : str
        ``"time"``, ``"object_memory"``, ``"process_memory"`` or a name of your own.
    unit : str, optional
        By default that of the metric; for one of your own ``"B"`` if it is called as bytes or memory are, else ``"s"``.
        Seconds and bytes may have a prefix (``"us"``, ``"MB"``); the Dataset holds them without.
    name : str
        Name of the function.
    exact : bool, optional
        Whether values are free of noise; by default as is usual for the metric.

    Returns
    -------
    xarray.Dataset
        Dims ``function`` (1), `parameter` (points, ascending), ``run`` (1), ``repetition``. Several parameters have a dim
        each, with NaN where there is no point; where that would be large and mostly empty they lie on a dim ``point``.

    Raises
    ------
    DataError
        If shapes do not agree, a name is not allowed, or values are not numbers.
    """
    names = (parameter,) if isinstance(parameter, str) or not isinstance(parameter, Sequence) else tuple(parameter)
    for one in names or ("",):
        _require_texts(parameter=one, metric=metric, unit="" if unit is None else unit, name=name)
        _require_names(one, metric)
    if exact is not None and not isinstance(exact, bool | np.bool_):
        raise DataError(f"exact is {exact!r:.60}; True, False or None is needed.")
    known = METRICS.get(metric) or Metric(metric, "B" if NAMES_OF_BYTES.fullmatch(metric) else "s", metric, exact=False)
    factor, base = _base_unit(known.unit if unit is None else unit)
    if metric in METRICS and base != known.unit:
        prefixed = [one for one in (*SECONDS, *BYTES) if _base_unit(one)[1] == known.unit]
        hint = did_you_mean(unit, prefixed)
        raise DataError(f"the {metric} is in {known.unit}, with or without a prefix, and {unit!r:.40} is none of these.{hint}")
    described = Metric(metric, base, known.long_name, known.exact if exact is None else bool(exact))
    given, measured = _numbers(x, "x"), _numbers(y, "y") * factor
    points, values = _merged(given, measured, names)
    axis = POINT if len(names) > 1 else names[0]
    ds = xr.Dataset(
        {metric: ((FUNCTION, axis, RUN, REPETITION), values[np.newaxis, :, np.newaxis, :], described.attrs())},
        {
            FUNCTION: np.array([name], dtype=np.str_),
            **{one: (axis, whole_labels(column)) for one, column in zip(names, points.T, strict=True)},
            RUN: np.array([0], dtype=np.int64),
        },
        {"title": f"{described.long_name} of {name}", "parameter": ",".join(names)},
    )
    check(ds)
    return as_grid(ds)


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
    if is_reserved(parameter):
        raise DataError(
            f"the parameter cannot be named {parameter!r}, which means something else; use another, as in 'p' or 'n'."
        )
    if metric == parameter:
        raise DataError(f"the metric cannot be named {metric!r} as the parameter is; choose another name for one of them.")
    if is_reserved(metric) and metric not in METRICS:
        raise DataError(f"the metric cannot be named {metric!r}, which means something else; choose another name.")


def _base_unit(unit: str) -> tuple[float, str]:
    """Return the factor to, and the name of, the unit without prefix: (1e-6, "s") for "us"; other units stay."""
    known = SECONDS if unit.endswith("s") else BYTES
    return (known[unit], unit[-1]) if unit in known else (1.0, unit)


def _numbers(values: ArrayLike, what: str) -> Floats:
    try:
        if isinstance(values, np.ma.MaskedArray):
            return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{what} is no array of numbers ({error}); pass numbers, all rows of one length.") from error


def _merged(given: Floats, y: Floats, names: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return distinct points (points, parameters), ascending, and their values (points, repetitions), filled up with NaN."""
    if len(set(names)) < len(names) or (POINT in names and len(names) > 1):
        raise DataError(f"the parameters are {', '.join(names)}; each needs a name of its own, other than 'point'.")
    x = given[:, np.newaxis] if given.ndim == len(names) == 1 else given
    if x.ndim != 2 or x.shape[1] != len(names) or y.ndim not in (1, 2) or len(x) != len(y) or not y.size:
        wanted = "(points,)" if len(names) == 1 else f"for the parameters {', '.join(names)} (points, {len(names)})"
        raise DataError(
            f"x has shape {given.shape} and y {y.shape}; needed are {wanted} and (points,) or (points, reps), not empty."
        )
    wrong = np.flatnonzero(~(np.isfinite(x) & (x > 0)).all(axis=1))
    if wrong.size:
        place = ", ".join(f"{name} = {value:g}" for name, value in zip(names, x[wrong[0]], strict=True))
        raise DataError(f"the point {place} is not positive and finite; drop it or correct it.")
    points, index = np.unique(x, axis=0, return_inverse=True)
    index = index.reshape(-1)
    rows = y if y.ndim == 2 else y[:, np.newaxis]
    order = np.argsort(index, kind="stable")
    counts = np.bincount(index)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)  # of a row among those of its point
    values = np.full((len(points), counts.max(), rows.shape[1]), np.nan)
    values[index[order], rank] = rows[order]
    return points, values.reshape(len(points), -1)
