"""Judges series over one parameter: those at the same points about the same claim together."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.evidence import Estimator, Evidence
from scalkit.judge.expectation import Expectation
from scalkit.judge.fit import MIN_POINTS
from scalkit.judge.fit.checks import check_series, require_expected_values
from scalkit.judge.fit.regression.locations import standard_errors
from scalkit.judge.fit.regression.posterior import Posterior, posteriors
from scalkit.judge.fit.regression.priors import EXACT, TIMES, NoisePrior
from scalkit.judge.space import SearchSpace
from scalkit.judge.verdict import Verdict
from scalkit.measure import Series
from scalkit.measure.reduce import Values
from scalkit.support.arrays import Floats
from scalkit.support.mpi_world import mpi_world
from scalkit.support.task_bar import Report

Case = tuple[Series, Expectation, SearchSpace]
Mapper = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""What applies a function to each task and returns the results in their order, as `map` does."""

TASK = 256
"""Series that are judged together."""

MOST_POINTS = 64
"""With more points, evenly spread ones are judged: memory and time of a judgement grow with the square of their number."""


def judge(
    measured: Sequence[Case],
    min_points: int = MIN_POINTS,
    mapper: Mapper = map,
    estimator: Estimator = "posterior",
    *,
    knows_claim: bool = True,
) -> list[Verdict]:
    """Return the verdict on each series; the expectation itself always competes.

    Times of a virtual clock are judged at powers of two, see `Series.at_whole_levels`. The other
    points are judged, too, and count where they say that it grows faster than expected, or where
    the powers of two do not decide.

    Parameters
    ----------
    measured : sequence of (Series, Expectation, SearchSpace)
    min_points : int
        Fewest points of a series, at least 3.
    mapper : callable
        As `map`: called with a function and tasks of `TASK` series each.
    estimator : {"posterior", "adjusted_r2"}
        What chooses the model that is shown; see `Evidence`.
    knows_claim : bool
        Whether the expected growth is more probable than others before the measurements.

    Raises
    ------
    DataError
        If a series has too few points, values that cannot be fitted, or a point where the
        expectation has no value.
    """
    for one, expectation, _ in measured:
        check_series(one, min_points)
        require_expected_values(one, {one.parameter: expectation.growth})
    compute = partial(_judged, estimator=estimator, knows_claim=knows_claim)

    def judged(cases: Sequence[Case]) -> list[Verdict]:
        tasks = [cases[start : start + TASK] for start in range(0, len(cases), TASK)]
        return [verdict for part in mapper(compute, tasks) for verdict in part]

    measured = [(thinned(one), expected, space) for one, expected, space in measured]
    verdicts = judged([(one.at_whole_levels, expected, space) for one, expected, space in measured])
    split = [k for k, (one, _, _) in enumerate(measured) if one.at_whole_levels is not one]
    others = [(_others(measured[k][0], min_points), *measured[k][1:]) for k in split]
    for k, other in zip(split, judged(others) if others else (), strict=True):
        verdicts[k] = _heavier(verdicts[k], other)
    return verdicts


def thinned(one: Series) -> Series:
    """Return a series of at most `MOST_POINTS` points, the others beside it."""
    n = len(one.x)
    if n <= MOST_POINTS:
        return one
    at = np.log(one.x) if one.x[0] > 0 else one.x
    places = np.searchsorted(at, np.linspace(at[0], at[-1], MOST_POINTS))
    is_kept = np.zeros(n, dtype=bool)
    is_kept[np.minimum(places, n - 1)] = True
    is_kept[[0, -1]] = True
    caveat = f"{is_kept.sum()} of the {n} points of {one.parameter} are judged, evenly spread"
    kept = one.only(is_kept)
    return replace(kept, beside=one.only(~is_kept), caveats=(*one.caveats, caveat))


def _others(one: Series, min_points: int) -> Series:
    """Return the points between powers of two, or all of them where these are too few."""
    levels = one.at_whole_levels
    beside = levels.beside
    if beside is None or len(beside.x) < max(min_points, MIN_POINTS):
        return one
    return replace(beside, beside=replace(levels, beside=None))


def _heavier(levels: Verdict, other: Verdict) -> Verdict:
    """Return the verdict that counts, of that at powers of two and that at other points."""
    if other.answer != "fix" and levels.answer != "cannot tell":
        return levels
    if other.answer == "cannot tell":
        return levels
    where = "between powers of two" if other.series.beside else f"at all points of {other.parameter}"
    caveat = f"judged {where}; at powers of two the answer would be {levels.answer}"
    series = replace(other.series, caveats=(*other.series.caveats, caveat))
    return Verdict(replace(other.evidence, series=series))


def _judged(measured: Sequence[Case], estimator: Estimator, knows_claim: bool) -> list[Verdict]:
    """Return the verdicts of a task; series that share points, claim and noise go together."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for k, (one, expectation, space) in enumerate(measured):
        key = (tuple(one.x.tolist()), one.parameter, expectation.growth, space, noise_of(one), step_of(one))
        groups.setdefault(key, []).append(k)
    found: dict[int, Posterior] = {}
    for places in groups.values():
        group = [measured[k][0] for k in places]
        _, expectation, space = measured[places[0]]
        claim = expectation.growth if knows_claim else None
        for k, posterior in zip(places, posteriors_of(group, space.ticks, claim), strict=True):
            found[k] = posterior
    return [
        Verdict(Evidence(one, expectation, space, found[k], estimator=estimator))
        for k, (one, expectation, space) in enumerate(measured)
    ]


def posteriors_of(group: Sequence[Series], candidates: Sequence[Growth], claim: Growth | None) -> list[Posterior]:
    """Return the posteriors of series that share points, noise and step."""
    one = group[0]
    y = np.array([each.y for each in group])
    error = np.array([errors_of(each) for each in group])
    return posteriors(one.x, one.parameter, y, error, candidates, claim, noise_of(one), step_of(one))


def errors_of(series: Values) -> Floats:
    """Return the relative standard error of each value; 0 where the values are free of noise."""
    is_positive = series.y > 0
    if series.exact or series.virtual or not is_positive.any():
        return np.zeros(len(series.y))
    # A value of 0 has no relative error: its point counts as not repeated.
    is_kept = is_positive[:, None] & (series.replicates > 0)
    y = np.where(is_positive, series.y, series.y[is_positive].min())
    return standard_errors(np.where(is_kept, series.replicates, np.nan), y)


def noise_of(series: Values) -> NoisePrior:
    """Return the prior of the noise of a series."""
    return EXACT if series.exact or series.virtual else TIMES


def step_of(series: Values) -> float:
    """Return the step in which values are counted: their resolution, or 1 for whole numbers.

    Whole numbers that are all equal are no rounded growth: one message is one message.
    """
    if series.resolution or not series.exact:
        return series.resolution
    return float(bool(np.ptp(series.y) > 0 and (series.y == np.round(series.y)).all()))


def in_turn(report: Report) -> Mapper:
    """Return a function like `map` that computes tasks one after the other and reports its progress."""

    def mapper(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        report(0, len(tasks))
        for done, task in enumerate(tasks, 1):
            found = function(task)
            report(done, len(tasks))
            yield found

    return mapper


@contextmanager
def over_ranks(n_ranks: int | None, report: Report) -> Iterator[Mapper | None]:
    """Yield a mapper whose tasks rank 0 sends to the other ranks; all ranks must enter together.

    `n_ranks`: number of ranks that the launcher reports; None if it reports none.
    `report`: called on rank 0 with the number of finished tasks and of all tasks.
    Yields: a function like `map` on rank 0; None on each other rank, after it has done its part and
    rank 0 has left.
    Raises LaunchError if mpi4py is missing, cannot be loaded, or belongs to another MPI library than the launcher.
    """
    comm = mpi_world(n_ranks)
    if comm.Get_size() == 1:
        yield in_turn(report)
        return
    from mpi4py.futures import MPICommExecutor

    if comm.Get_rank() > 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 hears it too, and ends the others in order
    with MPICommExecutor(comm) as executor:
        yield None if executor is None else partial(_spread, executor, report)


def _spread(executor: Any, report: Report, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks by an `MPIPoolExecutor`, as `map` does; an error comes in the order of the tasks."""
    found = []
    report(0, len(tasks))
    for result in executor.map(function, tasks):
        found.append(result)
        report(len(found), len(tasks))
    return found
