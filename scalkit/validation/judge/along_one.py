"""Judges series over one parameter: those at the same settings, about the same expectation and with the same ticks together."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.fit import MIN_POINTS, Fits, Model, check_series, fit_series, fit_ticks, growing_of, is_within_resolution
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.options import Prior
from scalkit.text import percent
from scalkit.validation.answer import scaled, steps_explain
from scalkit.validation.asked import require_expected_values
from scalkit.validation.expectation import Expectation
from scalkit.validation.judge.trusted import ahead, best_ahead, refitted
from scalkit.validation.posterior import SURE, Posterior, posteriors
from scalkit.validation.posterior.posterior import Memory
from scalkit.validation.space import SearchSpace
from scalkit.validation.verdict import Estimator, Verdict

Case = tuple[Series, Expectation, SearchSpace]
Mapper = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""What applies a function to each task and returns the results in their order, as `map` does."""

TASK = 256
"""Series that are judged together."""

_FALLS = 0.8
_EXACT = 1e-16
"""Residual sum of squares of what is met to the last digits: it has no noise, whatever the prior of the noise says."""


def judge(
    measured: Sequence[Case],
    min_points: int = MIN_POINTS,
    prior: Prior = "ranks",
    mapper: Mapper = map,
    memory: Memory | None = None,
    estimator: Estimator = "posterior",
) -> list[Verdict]:
    """Return the verdict on each series; the expectation itself always competes.

    Times of a virtual clock are judged at powers of two, see `Series.at_whole_levels`. The other settings are judged, too, and
    count where they say that it grows faster than expected, or where the powers of two do not decide, unless another algorithm
    begins at the last of these.

    `prior`: see `posteriors`.
    `mapper`: as `map`: called with a function and tasks of `TASK` series each, whatever computes them.
    `memory`: what the same series left behind when they were judged before.
    `estimator`: what chooses the model that is shown; see `Verdict`.
    Raises DataError if a series has too few settings, values that cannot be fitted, or a setting where the expectation
    has no value.
    """
    compute = partial(_judged, min_points=min_points, prior=prior, memory=memory, estimator=estimator)

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
    is_open = levels.series.x[-1] in levels.posterior.apart
    is_outside = other.verdict == "none" and other.direction == "grows faster"
    if not is_outside and (levels.verdict != "undecided" or other.verdict == "undecided" or is_open):
        return levels
    where = "between powers of two" if other.series.beside else f"at all settings of {other.parameter}"
    said = f"judged {where}; at powers of two it would be {levels.verdict}"
    return replace(other, series=replace(other.series, caveats=(*other.series.caveats, said)))


def _judged(
    measured: Sequence[Case], min_points: int, prior: Prior, memory: Memory | None, estimator: Estimator
) -> list[Verdict]:
    """Return the verdicts of a task; series about the same expectation and space are judged together."""
    cases = [(one, e, space if e.growth in space else space.with_tick(e.growth)) for one, e, space in measured]
    for one, expectation, _ in cases:
        check_series(one, min_points)
        require_expected_values(one, {one.parameter: expectation.growth})
    fits = _fits(cases)
    groups: dict[tuple[Expectation, SearchSpace], list[int]] = {}
    for index, (_, expectation, space) in enumerate(cases):
        groups.setdefault((expectation, space), []).append(index)
    found: dict[int, Verdict] = {}
    for (expectation, space), indices in groups.items():
        judged = posteriors([cases[i][0] for i in indices], expectation, space, prior, memory)
        for index, posterior in zip(indices, judged, strict=True):
            found[index] = _verdict(fits[index], posterior, min_points, estimator)
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


def _verdict(fits: Fits, posterior: Posterior, min_points: int, estimator: Estimator) -> Verdict:
    series, expectation, space = posterior.series, posterior.expectation, posterior.space
    weights = _weights_by_place(posterior)
    by_r2 = models = fit_series(series, space.ticks, expectation.growth, min_points, fits, weights)
    if len(series.x) < MIN_POINTS or by_r2[0].rss <= _EXACT:
        estimator = "adjusted_r2"
    if estimator == "posterior":
        models = models.by(weights)
        if posterior.is_exact and series.virtual and (series.y > 0).all():
            models = models.led_by(best_ahead(models, series.x, series.y, expectation))
    shown = _counted_in_steps(series, models, expectation.growth)
    model = _trusted(posterior, models[0]) if shown is models and estimator == "posterior" else shown[0]
    remarks = (*_remarks(series, model, shown[1:], expectation, space), *_apart(posterior), *_off(posterior))
    return Verdict(model, shown[1:], expectation, space, series, posterior, remarks, by_adjusted_r2=by_r2[0], estimator=estimator)


def _trusted(posterior: Posterior, model: Model) -> Model:
    """Return the model of the most probable growth with the coefficients of settings that follow it."""
    series, trust = posterior.series, posterior.trust
    if not (series.y > 0).all():
        return model
    if posterior.is_exact and series.virtual:
        return ahead(model, series.x, series.y)
    if not (trust.takes_off or trust.precision is not None):
        return model
    precision = np.eye(len(series.x)) if trust.precision is None else trust.precision
    return refitted(model, series.x, series.y, precision, trust.takes_off)


def _weights_by_place(posterior: Posterior) -> list[float]:
    """Return the probability of each growing tick of the space, ascending, and last that of the constant."""
    weights = posterior.weights.tolist()
    constant = weights.pop(posterior.competing.places[Growth.constant()])
    return [*weights, constant]


def _counted_in_steps(series: Series, models: Sequence[Model], expected: Growth) -> Sequence[Model]:
    """Return the models, first a plain one that explains exact values up to their step but for a smallest setting that is off.

    The expected growth goes before slower ones. Its coefficients are those of the settings from the second on.
    """
    x, y, step = series.x, series.y, series.resolution
    if not (series.exact and step) or models[0].growth == expected or models[0].growth.is_constant:
        return models
    plain = [one for one in models if _is_plain(one.growth, series.parameter)]
    for one in sorted(plain, key=lambda one: (one.growth != expected, one.growth)):
        if steps_explain(y, scaled(one.growth, x), step):
            term = one.growth(x[1:])
            if not np.isfinite(term).all():
                break
            slope, constant = (float(f"{c:.12g}") for c in np.polyfit(term, y[1:], 1))  # 64 B, not 64.00000000000004
            if slope <= 0 or constant < 0:
                break
            refitted = replace(one, constant=constant, coefficient=slope, log2_coefficient=math.log2(slope))
            return [refitted, *(other for other in models if other is not one)]
    return models


def _is_plain(growth: Growth, parameter: str) -> bool:
    return not growth.is_constant and growth.power(parameter).denominator == 1 and growth.log(parameter) in (0, 1)


def _remarks(
    series: Series, model: Model, rivals: Sequence[Model], expectation: Expectation, space: SearchSpace
) -> Iterator[str]:
    n, y = len(series.x), series.y
    if n < MIN_POINTS:
        yield f"the model rests on only {n} settings of {series.parameter}; {MIN_POINTS} are the least to rely on"
    if model.growth.is_constant and (y[1:] <= y[:-1]).all() and y[-1] < _FALLS * y[0]:
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
    if is_expected and is_within_resolution(series, model) and any(one.rss < model.rss for one in rivals):
        yield (
            f"the expectation explains every value to within {series.resolution:g} {series.unit}, the step in which "
            f"{series.metric} is counted, and goes before classes that come closer"
        )
    if model.growth == space.ticks[-1] != expectation.growth:
        yield f"the model is the fastest class of the search space, {model.growth}; extend the space to see beyond it"


def _apart(posterior: Posterior) -> Iterator[str]:
    """Return which settings follow something else, as where a library changes its algorithm."""
    name, end = posterior.series.parameter, float(posterior.series.x[-1])
    settings = [x for x in posterior.apart if x != end]
    if settings:
        where = ", ".join(f"{x:g}" for x in settings)
        yield f"at {name} = {where} it follows something else, perhaps another algorithm; the other settings are judged"
    if end in posterior.apart:
        yield (
            f"at {name} = {end:g} something else begins, perhaps another algorithm, and one value does not tell how it grows; "
            "measure beyond it"
        )


def _off(posterior: Posterior) -> Iterator[str]:
    """Return which value is probably off by a factor, or may be so that the verdict is undecided."""
    if not posterior.off:
        return
    share = max(posterior.off)
    if share < 1 - SURE:
        return
    place = posterior.off.index(share)
    where = f"{posterior.series.parameter} = {posterior.series.x[place]:g}"
    off = f"off by a factor with a probability of {percent(share)}"
    if posterior.off_at is not None:
        yield f"the value at {where} is {off}; the others are judged; measure it again"
    elif posterior.verdict == "undecided":
        yield f"much hangs on the value at {where}, which is {off}; measure it again"


def _is_one_step(y: Floats) -> bool:
    """Return whether the values stay, rise once, and stay."""
    steps = y[1:] - y[:-1]
    return np.count_nonzero(steps) == 1 and bool((steps >= 0).all())
