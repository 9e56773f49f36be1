"""Validates measurements over several parameters against expectations such as ``log(p) + S``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from scalkit.errors import DataError, ExpectationError
from scalkit.fit.several import SeveralFit, fit_several
from scalkit.fit.several_search import Criterion
from scalkit.growth import Growth
from scalkit.measure.reduce import Statistic
from scalkit.validation.expectation import Expectation
from scalkit.validation.several_data import SeveralSeries, several_series
from scalkit.validation.several_expectation import SeveralExpectation
from scalkit.validation.several_verdict import AlongVerdict, SeveralVerdict
from scalkit.validation.space import SearchSpace

__all__ = ["judge_several", "validate_several"]


def validate_several(
    data: xr.Dataset | tuple[ArrayLike, ArrayLike],
    expectations: object,
    *,
    parameters: Iterable[str] | None = None,
    deviation: object | None = None,
    space: str | Mapping[str, SearchSpace] = "around",
    statistic: str = "q1",
    criterion: Criterion = "evidence",
    min_points: int = 5,
) -> dict[str, SeveralVerdict]:
    """Return the verdict on each function that has an expectation, by its name.

    Parameters
    ----------
    data : Dataset, or (points, values)
        As `measurements_several` returns it; or points of shape (points, parameters) and values of shape (points,) or
        (points, repetitions) in seconds, of a function that is called ``f``.
    expectations : mapping from function to expectation, or one expectation for all
        For example ``"log(p) + S"`` or ``{"MPI_Bcast": "log(p)*S"}``; an expectation may be a `SeveralExpectation`.
    parameters : iterable of str, optional
        Names of the columns of points, needed without a Dataset.
    deviation : str or mapping from parameter to str, optional
        See `SeveralExpectation`.
    space : str or mapping from parameter to SearchSpace
        The ticks along each parameter: ``"around"`` its expectation, ``"paper"``, or a preset.
    statistic : {"q1", "median", "mean", "min"}
        Over repetitions, then over runs.
    criterion : {"evidence", "bic", "aicc", "loo"}
        See `fit_several`.
    min_points : int
        Fewest different values of each parameter.

    Returns
    -------
    dict of str to SeveralVerdict
        A function with several metrics has an entry ``"function [metric]"`` for each after the first.

    Raises
    ------
    DataError
        If the data are malformed or have too few values of a parameter.
    ExpectationError
        If an expectation cannot be read, or no measured function has one.
    """
    measured = list(_measured(data, parameters, cast(Statistic, statistic)))
    found: dict[str, SeveralVerdict] = {}
    for one in measured:
        expected = expectations.get(one.function) if isinstance(expectations, Mapping) else expectations
        if expected is None:
            continue
        if not isinstance(expected, SeveralExpectation):
            expected = SeveralExpectation(expected, deviation, one.parameters)
        name = one.function if one.function not in found else f"{one.function} [{one.metric}]"
        found[name] = judge_several(
            one, expected, space=space, statistic=cast(Statistic, statistic), criterion=criterion, min_points=min_points
        )
    if not found:
        raise ExpectationError(_no_match([one.function for one in measured], expectations))
    return found


def judge_several(
    series: SeveralSeries,
    expectation: SeveralExpectation,
    *,
    space: str | Mapping[str, SearchSpace] = "around",
    statistic: Statistic = "q1",
    criterion: Criterion = "evidence",
    min_points: int = 5,
) -> SeveralVerdict:
    """Return the verdict on one function and metric; see `validate_several`.

    Raises
    ------
    DataError
        If the values cannot be fitted.
    ExpectationError
        If the parameters of data and expectation differ.
    """
    if missing := [name for name in series.parameters if name not in expectation.parameters]:
        raise ExpectationError(
            f"the expectation '{expectation.growth}' says nothing about '{missing[0]}'; make it with "
            f"parameters={list(series.parameters)}, or take the points of one value of {missing[0]}."
        )
    ticks = {name: _ticks(name, expectation.along[name], space) for name in series.parameters}
    fit = fit_several(
        series.points,
        series.values,
        series.parameters,
        ticks,
        statistic=statistic,
        criterion=criterion,
        min_points=min_points,
        unit=series.unit,
    )
    effects = _effects(fit)
    along = {
        name: AlongVerdict(
            expectation.along[name],
            fit.model.leading(name),
            fit.weights[name],
            float(fit.points.x[:, column].max()),
            effects[name],
        )
        for column, name in enumerate(series.parameters)
    }
    return SeveralVerdict(expectation, series, fit, along)


def _effects(fit: SeveralFit) -> dict[str, float]:
    x = fit.points.x
    return fit.model.effects(x.min(axis=0).tolist(), x.max(axis=0).tolist())


def _ticks(name: str, expectation: Expectation, space: str | Mapping[str, SearchSpace]) -> tuple[Growth, ...]:
    if isinstance(space, str):
        found = SearchSpace.named(space, expectation)
    elif name in space:
        found = space[name]
    else:
        raise ExpectationError(f"there is no search space for '{name}'; spaces are given for {', '.join(space)}.")
    growth = expectation.growth
    ticks = found.ticks if growth in found.ticks or growth.is_constant else (*found.ticks, growth)
    return tuple(tick for tick in ticks if tick > Growth.constant() or tick == growth)


def _measured(
    data: xr.Dataset | tuple[Any, Any], parameters: Iterable[str] | None, statistic: Statistic
) -> Iterable[SeveralSeries]:
    if isinstance(data, xr.Dataset):
        return several_series(data, statistic)
    if not isinstance(data, tuple) or len(data) != 2 or parameters is None:
        raise DataError(
            f"validate_several needs a Dataset, or a tuple (points, values) and parameters=['p', 'S']; got "
            f"{type(data).__name__}{' without parameters' if parameters is None else ''}."
        )
    names = tuple(parameters)
    values = np.asarray(data[1], dtype=np.float64)
    rows = values if values.ndim > 1 else values[:, np.newaxis]
    return [SeveralSeries("f", "time", "s", False, names, np.asarray(data[0], dtype=np.float64), rows)]


def _no_match(names: list[str], expectations: object) -> str:
    wanted = [str(name) for name in expectations] if isinstance(expectations, Mapping) else []
    near = [match for name in wanted for match in difflib.get_close_matches(name, names, 1)]
    hint = f" Did you mean '{near[0]}'?" if near else ""
    found = ", ".join(dict.fromkeys(names)) or "nothing"
    return (
        f"no measured function has an expectation: measured are {found}; expectations name {', '.join(wanted)}.{hint}"
    )
