"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.fit import (
    MIN_POINTS,
    Fits,
    Model,
    check_series,
    fit_series,
    fit_ticks,
    growing_of,
    is_within_resolution,
)
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.validation.asked import require_expected_values
from scalkit.validation.crossing import crossing, place_of, shown_scale
from scalkit.validation.expectation import Direction, Expectation, Rank
from scalkit.validation.hypotheses import Prior
from scalkit.validation.memory import Memory
from scalkit.validation.of_values import OfValues
from scalkit.validation.pieces import piecewise_remark
from scalkit.validation.posterior import Posterior, VerdictWord, posteriors
from scalkit.validation.space import SearchSpace

if TYPE_CHECKING:
    from scalkit.fit.refine import Refined, Weights

__all__ = ["SYMBOLS", "TASK", "Case", "Mapper", "Verdict", "judge"]

Case = tuple[Series, Expectation, SearchSpace]
Mapper = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""What applies a function to each task and returns the results in their order, as `map` does."""

TASK = 64
"""Series that are judged together."""

_FALLS = 0.8

SYMBOLS: dict[VerdictWord, str] = {"total": "✓", "approximate": "≈", "none": "✗", "undecided": "?"}


@dataclass(frozen=True, eq=False)
class Verdict(OfValues):
    """What the measurements of one function and metric say about its expectation.

    Attributes
    ----------
    model : Model
        The best model; `rivals` are the others by falling adjusted R^2. Each knows the posterior `weight` of its growth.
    expectation : Expectation
    space : SearchSpace
        The ticks that were tried.
    series : Series
        The measurements that were fitted.
    remarks : tuple of str
        What limits the meaning of the model, in plain words.
    posterior : Posterior
        What the values make probable.
    """

    model: Model
    rivals: Sequence[Model]
    expectation: Expectation
    space: SearchSpace
    series: Series
    posterior: Posterior
    remarks: tuple[str, ...] = ()

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
    def verdict(self) -> VerdictWord:
        """The match rank that is at least 90 % probable, or ``"undecided"``; see `Posterior.verdict`."""
        return self.posterior.verdict

    @property
    def probability(self) -> dict[Rank, float]:
        """Probability of each match rank."""
        return self.posterior.probability

    @property
    def hidden(self) -> float:
        """Largest share of the slowest term beyond the limits, at the last setting, that the values do not exclude at 95 %."""
        return self.posterior.hidden

    def interval(self, x: ArrayLike, level: float = 0.9) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the prediction interval at `x`, of shape (2, *shape of x), in `unit`; see `Posterior.interval`."""
        return self.posterior.interval(x, level)

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected: by the posterior where the verdict is none, else by the model."""
        if self.verdict == "none":
            return "grows faster" if self.posterior.faster >= self.probability["none"] / 2 else "grows slower"
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
        return (*self.series.caveats, *self.remarks, *([self.change] if self.change else []))

    @cached_property
    def change(self) -> str | None:
        """Where the growth changes, in words, if it very probably does; see `scalkit.piecewise`."""
        return piecewise_remark(self.series, self.model)

    @property
    def misses(self) -> bool:
        """Whether the expectation is missed: verdict none and faster growth."""
        return self.verdict == "none" and self.direction == "grows faster"

    @property
    def is_failure(self) -> bool:
        """Whether it decides that the expectation is missed."""
        return self.decides and self.misses

    def refine(
        self, *, free_exponents: bool = False, weights: Weights = "relative", nonnegative: bool = True
    ) -> Refined:
        """Return the model refined by lmfit on the values that were fitted; see `scalkit.fit.refine.refine`.

        Parameters
        ----------
        free_exponents : bool
            Whether the power of the parameter is fitted too.
        weights : {"relative", "none"}
            Whether relative or absolute residuals count.
        nonnegative : bool
            Whether the constant and the coefficient must not be negative.
        """
        from scalkit.fit.refine import refine

        x, y = self.series.x, self.series.y
        return refine(x, y, self.model, free_exponents=free_exponents, weights=weights, nonnegative=nonnegative)

    @property
    def sentence(self) -> str:
        """The verdict in plain words, with direction and crossing point."""
        found, expected = self.model.growth, self.expectation.growth
        if self.verdict == "undecided":
            shown = ", ".join(f"{rank} {_percent(p)}" for rank, p in self.probability.items())
            return f"{self.function} is undecided: {found} fits best, {expected} is expected; probable are {shown}."
        if self.verdict != self.rank:
            return self._sentence_of_both()
        if self.verdict == "total":
            return f"{self.function} grows as expected: {found}."
        words = f"{self.function} {self.direction} than expected: {found} instead of {expected}"
        if self.verdict == "approximate":
            return f"{words}, within the limits."
        fault = ", which is no fault" if self.direction == "grows slower" else ""
        return f"{words}{fault}; {self._where()}."

    def _sentence_of_both(self) -> str:
        """Return the sentence where the posterior says something else than the best model."""
        found, p = self.model.growth, self.probability
        if self.verdict == "total":
            said = f"grows as expected with a probability of {_percent(p['total'])}"
        elif self.verdict == "approximate":
            said = f"grows within the limits with a probability of {_percent(p['total'] + p['approximate'])}"
        else:
            said = f"{self.direction} than the limits allow with a probability of {_percent(p['none'])}"
        expected = self.expectation.growth
        best = f"the expected {found} fits best" if found == expected else f"{found} fits best, {expected} is expected"
        return f"{self.function} {said}; {best}."

    @property
    def hidden_sentence(self) -> str:
        """What could still hide in the values, in plain words; empty if nothing of that kind was tried."""
        growth = self.posterior.hidden_growth
        if growth is None or not math.isfinite(self.hidden) or self.verdict == "none":
            return ""
        largest = f"{self.parameter} = {self.series.x[-1]:g}"
        return f"A term {growth} may still hide below {_percent(self.hidden)} of the value at {largest}."

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
        return f"Verdict({self.function!r}, {self.metric}: {self.model}, {self.verdict})"

    def _repr_html_(self) -> str:
        from scalkit.validation.shown import verdict_html

        return verdict_html(self)

    def _repr_latex_(self) -> str:
        return f"$E = {self.expectation.to_latex()},\\quad G = {self.model.to_latex()}$"


def judge(
    measured: Sequence[Case],
    min_points: int = MIN_POINTS,
    prior: Prior = "ranks",
    mapper: Mapper = map,
    memory: Memory | None = None,
) -> list[Verdict]:
    """Return the verdict on each series; the expectation itself always competes.

    Times of a virtual clock are judged at powers of two, see `Series.at_whole_levels`. The other settings are judged, too, and
    count where they say that it grows faster than expected, or where the powers of two do not decide.

    Parameters
    ----------
    measured : sequence of (Series, Expectation, SearchSpace)
    min_points : int
    prior : {"ranks", "ticks", "expectation"}
        See `posteriors`.
    mapper : callable
        As `map`: called with a function and tasks of `TASK` series each, whatever computes them.
    memory : Memory, optional
        What the same series left behind when they were judged before.

    Raises
    ------
    DataError
        If a series has too few settings, values that cannot be fitted, or a setting where the expectation has no value.
    """
    compute = partial(_judged, min_points=min_points, prior=prior, memory=memory)

    def judged(cases: Sequence[Case]) -> list[Verdict]:
        tasks = [cases[start : start + TASK] for start in range(0, len(cases), TASK)]
        return [found for part in mapper(compute, tasks) for found in part]

    found = judged([(one.at_whole_levels, expectation, space) for one, expectation, space in measured])
    split = [index for index, (one, _, _) in enumerate(measured) if one.at_whole_levels is not one]
    others = [(_others(measured[index][0], min_points), *measured[index][1:]) for index in split]
    for index, other in zip(split, judged(others) if others else (), strict=True):
        found[index] = _heavier(found[index], other)
    return found


def _others(one: Series, min_points: int) -> Series:
    """Return the settings between powers of two, or all of them where these are too few."""
    levels = one.at_whole_levels
    beside = levels.beside
    if beside is None or len(beside.x) < max(min_points, MIN_POINTS):
        return one
    return replace(beside, beside=replace(levels, beside=None))


def _heavier(levels: Verdict, other: Verdict) -> Verdict:
    """Return the verdict that counts, of that at powers of two and that at other settings."""
    if not other.misses and (levels.verdict != "undecided" or other.verdict == "undecided"):
        return levels
    where = "between powers of two" if other.series.beside else f"at all settings of {other.parameter}"
    said = f"judged {where}; at powers of two it would be {levels.verdict}"
    return replace(other, series=replace(other.series, caveats=(*other.series.caveats, said)))


def _judged(measured: Sequence[Case], min_points: int, prior: Prior, memory: Memory | None = None) -> list[Verdict]:
    """Return the verdicts of a task; series about the same expectation and space are judged together."""
    cases = [(one, e, space if e.growth in space.ticks else space.with_tick(e.growth)) for one, e, space in measured]
    for one, expectation, _ in cases:
        check_series(one, min_points)
        require_expected_values(one, expectation.growth)
    fits = _fits(cases)
    groups: dict[tuple[Expectation, SearchSpace], list[int]] = {}
    for index, (_, expectation, space) in enumerate(cases):
        groups.setdefault((expectation, space), []).append(index)
    found: dict[int, Verdict] = {}
    for (expectation, space), indices in groups.items():
        judged = posteriors([cases[i][0] for i in indices], expectation, space, prior, memory)
        for index, posterior in zip(indices, judged, strict=True):
            found[index] = _verdict(fits[index], posterior, min_points)
    return [found[index] for index in range(len(cases))]


def _fits(cases: Sequence[Case]) -> list[Fits]:
    """Return the fits of each series; those at the same settings with the same ticks are computed together."""
    groups: dict[tuple[tuple[float, ...], SearchSpace], list[int]] = {}
    for index, (one, _, space) in enumerate(cases):
        groups.setdefault((tuple(one.x.tolist()), space), []).append(index)
    found: dict[int, Fits] = {}
    for (_, space), indices in groups.items():
        values = np.array([cases[index][0].y for index in indices])
        fits = fit_ticks(cases[indices[0]][0].x, values, growing_of(space.ticks))
        found |= {index: fits.of(row) for row, index in enumerate(indices)}
    return [found[index] for index in range(len(cases))]


def _verdict(fits: Fits, posterior: Posterior, min_points: int) -> Verdict:
    series, expectation, space = posterior.series, posterior.expectation, posterior.space
    models = fit_series(series, space.ticks, expectation.growth, min_points, fits, posterior.weight_of)
    remarks = tuple(_remarks(series, models, expectation, space))
    return Verdict(models[0], models[1:], expectation, space, series, posterior, remarks)


def _remarks(series: Series, models: Sequence[Model], expectation: Expectation, space: SearchSpace) -> Iterator[str]:
    n, y, model = len(series.x), series.y, models[0]
    if n < MIN_POINTS:
        yield f"the model rests on only {n} settings of {series.parameter}; {MIN_POINTS} are the least to rely on"
    if model.growth.is_constant and (np.diff(y) <= 0).all() and y[-1] < _FALLS * y[0]:
        yield (
            f"the values fall as {series.parameter} grows and no class of the search space falls; "
            f"for a problem of fixed size validate the cost {series.parameter} * {series.metric}"
        )
    elif _is_one_step(y):
        yield (
            f"the values take two levels only, {y[0]:g} and {y[-1]:g} {series.unit}; any class that is counted in steps may "
            f"look like that: measure more settings, or larger ones"
        )
    elif model.is_rough:
        yield "no class of the search space follows the values closely; the fit is on a logarithmic scale"
    is_expected = model.growth == expectation.growth and not model.growth.is_constant
    if is_expected and is_within_resolution(series, model) and model.rss > min(one.rss for one in models):
        yield (
            f"the expectation explains every value to within {series.resolution:g} {series.unit}, the step in which "
            f"{series.metric} is counted, and goes before classes that come closer"
        )
    if model.growth == space.ticks[-1] != expectation.growth:
        yield f"the model is the fastest class of the search space, {model.growth}; extend the space to see beyond it"


def _is_one_step(y: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Return whether the values stay, rise once, and stay."""
    steps = np.diff(y)
    return bool((steps >= 0).all()) and np.count_nonzero(steps) == 1


def _percent(share: float) -> str:
    """Return a share as a person would write it: 93 %, 1.2 %, more than 99.9 %."""
    if share > 0.999:
        return "more than 99.9 %"
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.1f} %"
