"""Judges measurements over several parameters against expectations such as ``log(p) + S``."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.along_one import errors_of, noise_of, step_of
from scalkit.judge.fit.checks import check_values, require_expected_values
from scalkit.judge.fit.regression.several.posterior import sum_posterior
from scalkit.judge.several.evidence import SeveralEvidence
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.space import SearchSpace
from scalkit.measure import SeveralSeries
from scalkit.support.arrays import Flags, Floats
from scalkit.support.options import MIN_POINTS

MOST_POINTS = 125
"""With more points some are left out, as time and memory grow with the cube and the square of their number; from 128 on
LAPACK starts threads, which take many times the time beside other programs. A grid of five values of three parameters has
so many."""


def judge_several(
    series: SeveralSeries,
    expectation: SeveralExpectation,
    spaces: Mapping[str, SearchSpace],
    *,
    tolerance: Mapping[str, Growth] | None = None,
    required: Growth | None = None,
    knows_claim: bool = True,
) -> SeveralVerdict:
    """Return the verdict on one function and metric; the expectation itself always competes.

    Parameters
    ----------
    series : SeveralSeries
    expectation : SeveralExpectation
        Over the same parameters.
    spaces : mapping from parameter to SearchSpace
    tolerance : mapping from parameter to Growth, optional
        By which growth it may outgrow the expectation along each; by default a deviation that was
        given, else not at all.
    required : Growth, optional
        The answer is fine only if growths are excluded that outgrow the claim by more than this.
    knows_claim : bool
        Whether the expected growth is more probable than others before the measurements.

    Raises
    ------
    DataError
        If the values cannot be fitted, or the expectation has no value at a point.
    """
    check_values(series)
    chosen = thinned(series)
    require_expected_values(series, {name: expectation.along[name].growth for name in series.parameters})
    posterior = sum_posterior(
        chosen.points,
        series.parameters,
        chosen.y,
        errors_of(chosen),
        {name: spaces[name].ticks for name in series.parameters},
        expectation.growth.terms if knows_claim else None,
        noise_of(chosen),
        step_of(chosen),
    )
    allowed = dict.fromkeys(series.parameters, Growth()) | dict(tolerance or expectation.own_deviations)
    if chosen is not series:
        caveat = f"{len(chosen.points)} of the {len(series.points)} points are judged, evenly spread"
        series = replace(series, caveats=(*series.caveats, caveat))
    evidence = SeveralEvidence(expectation, series, posterior, dict(spaces), allowed, required=required)
    return SeveralVerdict(evidence)


def thinned(series: SeveralSeries) -> SeveralSeries:
    """Return a series of at most `MOST_POINTS` points; the same object if it has no more.

    Of the parameter with the most values every other one is left out, but for the largest, as long
    as five are left; of points in a list, as many as are too many.
    """
    n = len(series.points)
    kept = np.ones(n, dtype=bool)
    while kept.sum() > MOST_POINTS:
        levels = [np.unique(column[kept]) for column in series.points.T]
        column = int(np.argmax([len(each) for each in levels]))
        wanted = levels[column][::-2]
        fewer = kept & np.isin(series.points[:, column], wanted)
        if len(wanted) < MIN_POINTS or not _keeps_all(series.points, kept, fewer):
            places = np.flatnonzero(kept)[np.lexsort(series.points[kept].T)]
            fewer = np.zeros(n, dtype=bool)
            fewer[places[np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(int)]] = True
        kept = fewer
    return series if kept.all() else series.only(kept)


def _keeps_all(points: Floats, before: Flags, after: Flags) -> bool:
    """Return whether the other parameters keep their values: those of a grid do, those of scattered points do not."""
    counts = [(len(np.unique(column[before])), len(np.unique(column[after]))) for column in points.T]
    return sum(n < m for m, n in counts) == 1
