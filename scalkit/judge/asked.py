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
class CheckedCurve:
    """The average of a posterior over one parameter, at points where it means something.

    `growths`: the growths that compete.
    """

    posterior: Curve
    series: Series
    growths: tuple[Growth, ...]

    def predict(self, at: Floats) -> Floats:
        """Return values at points of shape (m,). Raises UsageError as `predictable_points` does."""
        return self.posterior.predict(predictable_points(at, self.series, self.growths))


@dataclass(frozen=True)
class CheckedSurface:
    """The average of a posterior over several parameters, at points where it means something.

    `growths`: the growths that compete along each parameter.
    """

    posterior: Curve
    series: SeveralSeries
    growths: Sequence[Sequence[Growth]]

    def predict(self, at: Floats) -> Floats:
        """Return values at points of shape (m, parameters). Raises UsageError as `predictable_places` does."""
        return self.posterior.predict(predictable_places(at, self.series, self.growths))


def named_points(
    x: ArrayLike | Mapping[str, ArrayLike] | None, values: Mapping[str, ArrayLike], parameters: Sequence[str]
) -> ArrayLike:
    """Return points of the only parameter, which are given alone or by its name.

    Raises DataError if another parameter is named, or nothing is given.
    """
    if x is None or isinstance(x, Mapping):
        (x,) = at_points(values if x is None else x, parameters).values()
    return x


def predictable_points(x: ArrayLike, series: Series, growths: Sequence[Growth]) -> Floats:
    """Return points of a parameter as floats.

    Raises UsageError as `checked_settings` does, and if a growth that competes has no value there.
    """
    at = checked_settings(x, series.parameter)
    if found := without_value(growths, series.x, at.ravel()):
        point, growth = found
        raise UsageError(
            f"nothing can be predicted at {series.parameter} = {point:g}, where {growth} has no value; ask for larger points."
        )
    return at


def predictable_places(at: Floats, series: SeveralSeries, growths: Sequence[Sequence[Growth]]) -> Floats:
    """Return points of shape (m, parameters), if something can be predicted there.

    `growths`: what competes along each parameter.
    Raises UsageError as `predictable_points` does.
    """
    for column, (name, competing) in enumerate(zip(series.parameters, growths, strict=True)):
        checked_settings(at[:, column], name)
        if found := without_value(competing, series.along(name), at[:, column]):
            point, growth = found
            raise UsageError(
                f"nothing can be predicted at {name} = {point:g}, where {growth} has no value; ask for larger points."
            )
    return at


def without_value(growths: Sequence[Growth], x: Floats, at: Floats) -> tuple[float, Growth] | None:
    """Return a setting of `at`, and a growth that has a value at all of `x` and none there, as a logarithm below 1."""
    nowhere, was_there = (np.isnan(log2_values(tuple(where.tolist()), tuple(growths))) for where in (at, x))
    for place in np.flatnonzero(nowhere.any(axis=1) & ~was_there.any(axis=1))[:1]:
        return float(at[nowhere[place]][0]), growths[place]
    return None
