"""Judges measurements over several parameters against expectations such as ``log(p) + S``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scalkit.errors import DataError
from scalkit.fit import MIN_POINTS
from scalkit.fit.several import SeveralFit, fit_several
from scalkit.fit.several.points import Points
from scalkit.fit.several.search import Criterion
from scalkit.growth import Growth
from scalkit.measure import Series, SeveralSeries, Statistic
from scalkit.validation.asked import require_expected_values
from scalkit.validation.judged import Along
from scalkit.validation.several.along import AlongVerdict
from scalkit.validation.several.expectation import SeveralExpectation
from scalkit.validation.several.probability import probability_along, probability_of_whole
from scalkit.validation.several.verdict import SeveralVerdict
from scalkit.validation.space import SearchSpace

_FALLS = 0.8  # as `strong.LEAST_FALL`


def judge_several(
    series: SeveralSeries,
    expectation: SeveralExpectation,
    spaces: Mapping[str, SearchSpace],
    *,
    statistic: Statistic = "q1",
    criterion: Criterion = "evidence",
    min_points: int = MIN_POINTS,
    tolerance: Mapping[str, Growth] | None = None,
) -> SeveralVerdict:
    """Return the verdict on one function and metric; the expectation itself always competes.

    `expectation`: over the same parameters.
    `statistic`: over repetitions, then over runs.
    `criterion`: see `fit_several`.
    `min_points`: fewest different values of each parameter.
    `tolerance`: by which growth it may outgrow the expectation along each; by default a deviation that was given, else
    not at all.
    Raises DataError if the values cannot be fitted, or the expectation has no value at a setting.
    """
    require_expected_values(series, {name: expectation.along[name].growth for name in series.parameters})
    try:
        fit = fit_several(
            series.points,
            series.replicates,
            series.parameters,
            {name: _ticks(spaces[name], expectation.along[name].growth) for name in series.parameters},
            statistic=statistic,
            criterion=criterion,
            min_points=min_points,
            unit=series.unit,
            always=_terms(expectation),
        )
    except DataError as error:
        raise DataError(f"function '{series.function}': {error}") from error
    allowed = dict.fromkeys(series.parameters, Growth.constant()) | dict(tolerance or expectation.own_deviations)
    effects = _effects(fit)
    along = {
        name: AlongVerdict(
            expectation.along[name],
            fit.model.leading(name),
            fit.weights[name],
            probability_along(fit, expectation.along[name]),
            float(fit.points.x[:, column].max()),
            effects[name],
            spaces[name],
            allowed[name],
            is_exact=series.exact or series.virtual,
        )
        for column, name in enumerate(series.parameters)
    }
    whole = probability_of_whole(fit, expectation, allowed)
    kept = replace(fit, blocks=())  # the rest is large
    remarks = tuple(_remarks(series, fit.points, along))
    return SeveralVerdict(expectation, series, kept, Along(along), whole, remarks, allowed)


def _terms(expectation: SeveralExpectation) -> dict[str, list[Growth]]:
    """Return, for each parameter, its growths in the terms of an expectation."""
    terms = expectation.growth.terms
    return {name: [Growth.product({name: term.exponents(name)}) for term in terms] for name in expectation.parameters}


def _ticks(space: SearchSpace, growth: Growth) -> tuple[Growth, ...]:
    ticks = space.ticks if growth in space.ticks or growth.is_constant else (*space.ticks, growth)
    return tuple(tick for tick in ticks if tick > Growth.constant() or tick == growth)


def _effects(fit: SeveralFit) -> dict[str, float]:
    x = fit.points.x
    return fit.model.effects(x.min(axis=0).tolist(), x.max(axis=0).tolist())


def shortage(series: Series | SeveralSeries, min_points: int) -> tuple[str, DataError] | None:
    """Return what is missing where there are too few values of a parameter: in the words of `Validation.unjudged`, and as an
    error with the way on."""
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


def _remarks(series: SeveralSeries, points: Points, along: Mapping[str, AlongVerdict]) -> Iterator[str]:
    for column, (name, one) in enumerate(along.items()):
        n = len(series.along(name))
        if n < MIN_POINTS:
            yield f"the model rests on only {n} settings of {name}; {MIN_POINTS} are the least to rely on"
        if one.growth.is_constant and _falls(points, column):
            yield (
                f"the values fall as {name} grows and no class of the search space falls; for a problem of fixed size validate "
                f"the cost {name} * {series.metric}"
            )
        if one.growth == one.space.ticks[-1] != one.expectation.growth:
            yield (
                f"along {name} the model is the fastest class of the search space, {one.growth}; extend the space to see "
                "beyond it"
            )
    if _is_star(points.x):
        yield (
            "all points lie on lines through one point, where a sum and a product of growths look alike; measure a point off "
            "these lines"
        )


def _falls(points: Points, column: int) -> bool:
    """Return whether the values fall along every line of one parameter."""
    lines: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = [
        points.y[line[np.argsort(points.x[line, column])]] for line in points.lines(column)
    ]
    return bool(lines) and all((np.diff(y) <= 0).all() and y[-1] < _FALLS * y[0] for y in lines)


def _is_star(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    """Return whether all points differ from one place, the most frequent value of each parameter, in one parameter only."""
    most = []
    for column in x.T:
        values, count = np.unique(column, return_counts=True)
        most.append(values[np.argmax(count)])
    return int((x != np.array(most)).sum(axis=1).max()) <= 1
