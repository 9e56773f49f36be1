"""Checks of the points and levels that users ask a verdict about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.growth.growth import log2_values
from scalkit.judge.fit.model import Curve, at_points, checked_settings
from scalkit.measure import Series, SeveralSeries
from scalkit.support.arrays import Floats


def checked_level(level: object) -> float:
    """Return a probability between 0 and 1. Raises UsageError if it is none."""
    if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise UsageError(f"the level {level!r:.60} is no probability between 0 and 1; 0.9 is usual.")
    return float(level)


@dataclass(frozen=True)
class Checked:
    """The average of a posterior, at points where it means something.

    `growths`: the growths that compete along each parameter.
    """

    posterior: Curve
    series: Series | SeveralSeries
    growths: Sequence[Sequence[Growth]]

    def predict(self, at: Floats) -> Floats:
        """Return values at points of shape (m,), or (m, parameters). Raises UsageError as `require_predictable` does."""
        require_predictable(at.reshape(len(at), -1), self.series, self.growths)
        return self.posterior.predict(at)


def asked_points(
    x: ArrayLike | Mapping[str, ArrayLike] | None, values: Mapping[str, ArrayLike], parameters: Sequence[str]
) -> tuple[Floats, tuple[int, ...]]:
    """Return points of shape (m, parameters) that are given alone or by name, and the shape in which they are given.

    Raises DataError if a parameter is missing or unknown; UsageError as `checked_settings` does.
    """
    if x is None or isinstance(x, Mapping) or len(parameters) > 1:
        columns = at_points(values if x is None else x, parameters)
    else:
        columns = {parameters[0]: checked_settings(x, parameters[0])}
    shape = np.broadcast_shapes(*(column.shape for column in columns.values()))
    return np.stack([np.broadcast_to(column, shape).ravel() for column in columns.values()], axis=1), shape


def require_predictable(at: Floats, series: Series | SeveralSeries, growths: Sequence[Sequence[Growth]]) -> None:
    """Refuse points of shape (m, parameters) where nothing can be predicted.

    `growths`: those that compete along each parameter.
    Raises UsageError as `checked_settings` does, and if a growth that competes has no value there.
    """
    for column, (name, competing) in enumerate(zip(series.parameters, growths, strict=True)):
        checked_settings(at[:, column], name)
        if found := without_value(competing, series.along(name), at[:, column]):
            point, growth = found
            raise UsageError(
                f"nothing can be predicted at {name} = {point:g}, where {growth} has no value; ask for larger points."
            )


def without_value(growths: Sequence[Growth], x: Floats, at: Floats) -> tuple[float, Growth] | None:
    """Return a setting of `at`, and a growth that has a value at all of `x` and none there, as a logarithm below 1."""
    nowhere, was_there = (np.isnan(log2_values(tuple(where.tolist()), tuple(growths))) for where in (at, x))
    for place in np.flatnonzero(nowhere.any(axis=1) & ~was_there.any(axis=1))[:1]:
        return float(at[nowhere[place]][0]), growths[place]
    return None
