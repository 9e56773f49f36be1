"""Checks that a series can be fitted."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.measure import Series, SeveralSeries


def check_series(series: Series, min_points: int) -> None:
    """Refuse a series over one parameter that cannot be fitted.

    Raises DataError if there are fewer than `min_points` points, or a value is not finite, is
    negative, or is a time of zero.
    """
    if min_points < 3:
        raise DataError(f"min_points is {min_points}; a model of two coefficients needs at least 3 settings.")
    check_values(series)
    if short := shortage(series, min_points):
        raise short[1]


def shortage(series: Series | SeveralSeries, min_points: int) -> tuple[str, DataError] | None:
    """Return the sentence about a parameter with too few values.

    In the words of `Validation.unjudged`, and as an error with the way on.
    """
    several = isinstance(series, SeveralSeries)
    found = {name: series.along(name) for name in series.parameters}
    name = min(found, key=lambda each: len(found[each]))
    values = found[name]
    if len(values) >= min_points:
        return None
    shown = ", ".join(f"{x:g}" for x in values)
    said = f"{series.function} ({series.metric}) has {len(values)} of {min_points} needed settings: {name} = {shown}"
    what = f"'{series.metric}' of '{series.function}'"
    others = ", ".join(other for other in found if other != name)
    if len(values) == 1 and several:
        return said, DataError(
            f"{what} was measured at one value of '{name}' only, {shown}, so nothing tells how it grows along {name}; select "
            f"that value, data.sel({name}={shown}), to validate along {others} alone, or measure more of them."
        )
    way = f" or set min_points={len(values)} (--min-points {len(values)})" if len(values) >= 3 else ""
    way = way or (f" or select one, data.sel({name}={values[-1]:g})" if several else "")
    return said, DataError(
        f"fitting {what} needs {min_points} values of '{name}', got {len(values)} ({shown}); measure more{way}."
    )


def check_values(series: Series | SeveralSeries) -> None:
    """Refuse a series with values that cannot be fitted.

    Raises DataError if a value is not finite, is negative, or is a time of zero, and over several
    parameters if all are zero.
    """
    is_time, y = series.metric == "time", series.y
    bad = np.flatnonzero(~np.isfinite(y) | (y < 0) | ((y == 0) & is_time))
    if len(bad):
        raise DataError(
            f"'{series.metric}' of '{series.function}' at {_place(series, bad[0])} is {y[bad[0]]:g} {series.unit}; "
            f"it must be {'positive' if is_time else 'zero or positive'} and finite. "
            "Drop that point or measure it again."
        )
    if is_time and len(bad := np.flatnonzero((series.replicates <= 0).any(axis=1))):
        raise DataError(
            f"a '{series.metric}' of '{series.function}' at {_place(series, bad[0])} is 0 or less in a "
            "repetition; a time is positive. Drop that repetition, or time several calls together."
        )
    if isinstance(series, SeveralSeries) and not (y > 0).any():
        raise DataError(
            f"all values of '{series.metric}' of '{series.function}' are zero, so there is nothing to model; leave it out."
        )


def _place(series: Series | SeveralSeries, k: int) -> str:
    """Return the point of a value in words."""
    if isinstance(series, Series):
        return f"{series.parameter} = {series.x[k]:g}"
    return ", ".join(f"{name} = {x:g}" for name, x in zip(series.parameters, series.points[k], strict=True))


def require_expected_values(series: Series | SeveralSeries, expected: Mapping[str, Growth]) -> None:
    """Refuse a series where what is expected along a parameter has no value at a setting, so that nothing can follow it.

    Raises DataError if an expected growth is no finite number there, as 1/log(p) at p = 1, or the logarithm of one
    below 1.
    """
    for name, growth in expected.items():
        nowhere = _nowhere(growth, tuple(series.along(name).tolist()))
        if nowhere is not None:
            is_one = len(series.parameters) == 1
            which, left_out = (f"{growth}", "that point") if is_one else (f"along {name}, {growth},", "these points")
            raise DataError(
                f"'{series.metric}' of '{series.function}' cannot be judged at {name} = {nowhere:g}, where the "
                f"expectation {which} has no value; leave {left_out} out, or expect another growth."
            )


@lru_cache(maxsize=1024)
def _nowhere(growth: Growth, settings: tuple[float, ...]) -> float | None:
    values = growth.log2_value(np.array(settings))
    return next((x for x, value in zip(settings, values.tolist(), strict=True) if not value < np.inf), None)
