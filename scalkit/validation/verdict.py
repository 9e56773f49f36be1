"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.fit import MIN_POINTS, Model, fit_series, is_within_resolution
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.validation.crossing import crossing, place_of, shown_scale
from scalkit.validation.expectation import Direction, Expectation, Rank
from scalkit.validation.space import SearchSpace

__all__ = ["SYMBOLS", "Verdict", "judge"]

_FALLS = 0.8

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
    remarks : tuple of str
        What limits the meaning of the model, in plain words.
    """

    model: Model
    rivals: tuple[Model, ...]
    expectation: Expectation
    space: SearchSpace
    series: Series
    remarks: tuple[str, ...] = ()

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
        """What limits the meaning of the measurements and of the model."""
        return (*self.series.caveats, *self.remarks)

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
        fault = ", which is no fault" if self.direction == "grows slower" else ""
        return f"{words}{fault}; {self._where()}."

    def _where(self) -> str:
        outside = "below" if self.direction == "grows slower" else "outside"
        if self.crossing <= 1:
            return f"the divergence {self.divergence} is {outside} the limits at every scale"
        if self.crossing < self.series.x[0]:
            return f"the divergence {self.divergence} is {outside} the limits over the whole measured range and beyond"
        place = place_of(self.crossing, float(self.series.x[-1]))
        scale = f"{self.parameter}* = {shown_scale(self.crossing)}"
        return f"the divergence {self.divergence} is {outside} the limits from {scale} on, {place}"

    def __repr__(self) -> str:
        return f"Verdict({self.function!r}, {self.metric}: {self.model}, {self.rank})"


def judge(series: Series, expectation: Expectation, space: SearchSpace, min_points: int = MIN_POINTS) -> Verdict:
    """Return the verdict on a series; the expectation itself always competes.

    Raises
    ------
    DataError
        If the series has too few settings or values that cannot be fitted.
    """
    if expectation.growth not in space.ticks:
        space = space.with_tick(expectation.growth)
    models = fit_series(series, space.ticks, expectation.growth, min_points)
    closest = min((model.rss for model in models[1:]), default=models[0].rss)
    remarks = tuple(_remarks(series, models[0], closest, expectation, space))
    return Verdict(models[0], models[1:], expectation, space, series, remarks)


def _remarks(
    series: Series, model: Model, best_rss: float, expectation: Expectation, space: SearchSpace
) -> Iterator[str]:
    n, y = len(series.x), series.y
    if n < MIN_POINTS:
        yield f"the model rests on only {n} settings of {series.parameter}; {MIN_POINTS} are the least to rely on"
    if model.growth.is_constant and (np.diff(y) <= 0).all() and y[-1] < _FALLS * y[0]:
        yield (
            f"the values fall as {series.parameter} grows and no class of the search space falls; "
            f"for a problem of fixed size validate the cost {series.parameter} * {series.metric}"
        )
    elif model.is_rough:
        yield "no class of the search space follows the values closely; the fit is on a logarithmic scale"
    if model.rss > best_rss and is_within_resolution(series, model):
        yield (
            f"the expectation explains every value to within {series.resolution:g} {series.unit}, the step in which "
            f"{series.metric} is counted, and goes before classes that come closer"
        )
    if model.growth == space.ticks[-1] != expectation.growth:
        yield f"the model is the fastest class of the search space, {model.growth}; extend the space to see beyond it"
