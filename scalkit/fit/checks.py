"""Checks that a series can be fitted."""

import numpy as np

from scalkit.errors import DataError
from scalkit.measure import Series, SeveralSeries


def check_series(series: Series, min_points: int) -> None:
    """Refuse a series over one parameter that cannot be fitted.

    Raises DataError if there are fewer than `min_points` points, or a value is not finite, is
    negative, or is a time of zero.
    """
    if min_points < 3:
        raise DataError(f"min_points is {min_points}; a model of two coefficients needs at least 3 settings.")
    check_values(series)
    if len(series.x) < min_points:
        n, settings = len(series.x), ", ".join(f"{x:g}" for x in series.x)
        way = f" or set min_points={n} (--min-points {n})" if n >= 3 else ""
        raise DataError(
            f"fitting '{series.metric}' of '{series.function}' needs {min_points} values of '{series.parameter}', "
            f"got {n} ({settings}); measure more{way}."
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
