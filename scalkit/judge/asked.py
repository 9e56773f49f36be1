"""Checks of the points and levels that users ask a verdict about."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.growth.growth import log2_values
from scalkit.judge.fit.model import Curve, checked_settings
from scalkit.measure import Series, SeveralSeries
from scalkit.support.arrays import Floats


def checked_level(level: object) -> float:
    """Return a probability between 0 and 1. Raises UsageError if it is none."""
    if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise UsageError(f"the level {level!r:.60} is no probability between 0 and 1; 0.9 is usual.")
    return float(level)


@dataclass(frozen=True)
class CheckedCurve:
    """The average of a posterior, at points where it can be predicted.

    `growths`: the growths that compete along each parameter.
    """

    posterior: Curve
    series: Series | SeveralSeries
    growths: Sequence[Sequence[Growth]]

    def predict(self, at: Floats) -> Floats:
        """Return values at points. Raises UsageError as `predictable_points` does."""
        return self.posterior.predict(predictable_points(at, self.series, self.growths))


def predictable_points(at: Floats, series: Series | SeveralSeries, growths: Sequence[Sequence[Growth]]) -> Floats:
    """Return the points, after a check that values can be predicted there.

    `at`: of shape (m,), or of shape (m, parameters) for several parameters.
    `growths`: the growths that compete along each parameter.
    Raises UsageError as `checked_settings` does, and if there is no point, or a growth that
    competes has no value there.
    """
    if not at.size:
        raise UsageError("there is no point to predict at; give a number, or an array of them.")
    for column, name, competing in zip(at.reshape(len(at), -1).T, series.parameters, growths, strict=True):
        checked_settings(column, name)
        if found := without_value(competing, series.along(name), column):
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
