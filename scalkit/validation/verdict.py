"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.fit import Model, fit_series
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.validation.crossing import crossing, place_of
from scalkit.validation.expectation import Direction, Expectation, Rank
from scalkit.validation.space import SearchSpace

__all__ = ["SYMBOLS", "Verdict", "judge"]

SYMBOLS: dict[Rank, str] = {"total": "✓", "approximate": "≈", "none": "✗"}


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the measurements of one function and metric say about its expectation.

    Attributes
    ----------
    model : Model
        The best model; `rivals` are the others by falling adjusted R^2.
    expectation : Expectation
    space : SearchSpace
        The ticks that were tried.
    series : Series
        The measurements that were fitted.
    """

    model: Model
    rivals: tuple[Model, ...]
    expectation: Expectation
    space: SearchSpace
    series: Series

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.series.function

    @property
    def metric(self) -> str:
        """Name of the metric, for example ``time``."""
        return self.series.metric

    @property
    def unit(self) -> str:
        """Unit of the metric without prefix."""
        return self.series.unit

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self.series.parameter

    @property
    def divergence(self) -> Growth:
        """Growth of model / expectation."""
        return self.model.growth / self.expectation.growth

    def divergence_at(self, x: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the divergence model, coefficients stripped, at `x`; same shape as `x`."""
        return self.divergence(x)

    @property
    def rank(self) -> Rank:
        """Match rank of the best model: total, approximate (on or inside the deviation limits) or none."""
        return self.expectation.rank(self.model.growth)

    @property
    def direction(self) -> Direction:
        """Whether the model grows faster, slower or as expected."""
        return self.expectation.direction(self.model.growth)

    @cached_property
    def crossing(self) -> float:
        """The largest x where the divergence meets a limit; 1 if outside for all x > 1, NaN if inside."""
        return crossing(self.model.growth, self.expectation)

    @property
    def adjusted_r2(self) -> float:
        """Adjusted coefficient of determination of the best model; NaN for a constant."""
        return self.model.adjusted_r2

    @property
    def decides(self) -> bool:
        """Whether it may decide an exit status; `caveats` says why not."""
        return self.series.decides

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the meaning of the measurements."""
        return self.series.caveats

    @property
    def is_failure(self) -> bool:
        """Whether it decides that the expectation is missed: rank none and faster growth."""
        return self.decides and self.rank == "none" and self.direction == "grows faster"

    @property
    def sentence(self) -> str:
        """The verdict in plain words, with direction and crossing point."""
        found, expected = self.model.growth, self.expectation.growth
        if self.rank == "total":
            return f"{self.function} grows as expected: {found}."
        words = f"{self.function} {self.direction} than expected: {found} instead of {expected}"
        if self.rank == "approximate":
            return f"{words}, within the limits."
        return f"{words}; {self._where()}."

    def _where(self) -> str:
        if self.crossing <= 1:
            return "the divergence is outside the limits everywhere"
        if math.isinf(self.crossing):
            return "the divergence leaves the limits only beyond every machine"
        place = place_of(self.crossing, float(self.series.x[0]), float(self.series.x[-1]))
        return f"the divergence leaves the limits at {self.parameter} = {self.crossing:,.4g}, {place}"

    def __repr__(self) -> str:
        return f"Verdict({self.function!r}, {self.metric}: {self.model}, {self.rank})"


def judge(series: Series, expectation: Expectation, space: SearchSpace, min_points: int) -> Verdict:
    """Return the verdict on a series; DataError if it cannot be fitted."""
    models = fit_series(series, space.ticks, expectation.growth, min_points)
    return Verdict(models[0], models[1:], expectation, space, series)
