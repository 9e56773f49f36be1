"""Remarks on what limits the meaning of a verdict: few points, points that are off, steps, the end of the ruler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.judge.told.sentences import place
from scalkit.support.options import MIN_POINTS
from scalkit.support.text import percent

if TYPE_CHECKING:
    from scalkit.judge.several.verdict import SeveralVerdict
    from scalkit.judge.verdict import Verdict
    from scalkit.support.arrays import Floats

_LIKELY = 0.5
"""An event is worth a remark when it is more probable than not."""


def remarks_of(verdict: Any) -> tuple[str, ...]:
    """Return the remarks on a verdict over one parameter or several."""
    return tuple(_along_one(verdict) if len(verdict.parameters) == 1 else _over_several(verdict))


def _along_one(verdict: Verdict) -> Iterator[str]:
    """Yield the remarks on a verdict over one parameter."""
    series, name = verdict.series, verdict.parameter
    n, last = len(series.x), float(series.x[-1])
    if n < MIN_POINTS:
        yield f"the model rests on only {n} points of {name}; {MIN_POINTS} are the least to rely on"
    off_at = verdict.evidence.off_at
    if verdict.evidence.hangs_on_last and verdict.evidence.last_is_low:
        yield (
            f"the value at {name} = {last:g} lies far below what the others suggest, as where a run ends early, and one value "
            f"does not show how it goes on; measure {name} = {last:g} again, and a larger one"
        )
    elif verdict.evidence.hangs_on_last:
        yield (
            f"at {name} = {last:g} something of its own lifts the value, perhaps another algorithm or a disturbance, and one "
            f"value does not show how it goes on; measure {name} = {last:g} again, and a larger one"
        )
    elif verdict.evidence.jumps:
        yield (
            f"the value at {name} = {last:g} lies far above what the smaller ones suggest, and the model follows these; measure "
            f"a larger {name} to see how it goes on"
        )
    elif off_at is not None:
        likely = percent(float(verdict.posterior.off[off_at]))
        yield (
            f"the value at {name} = {series.x[off_at]:g} is off by a factor with a probability of {likely}; the others are "
            "judged; measure it again"
        )
    elif (step := verdict.posterior.step) is not None and step[2] > _LIKELY:
        below, above, share = step
        yield (
            f"between {name} = {series.x[below]:g} and {series.x[above]:g} the values change by a step with a probability of "
            f"{percent(share)}, as where an algorithm or a cache changes; those from {name} = {series.x[above]:g} on decide"
        )
    if verdict.evidence.may_be_caches:
        yield (
            "data that outgrow the caches make each operation slower, which may explain why the claim "
            f"{verdict.expectation.growth} is outgrown by a factor of {verdict.evidence.excess:.2g}; count instructions to tell "
            "this from a faster growth"
        )
    if verdict.model.growth == verdict.space.ticks[-1] != verdict.expectation.growth:
        yield f"the model is the fastest class of the search space, {verdict.model.growth}; extend the space to see beyond it"


def _over_several(verdict: SeveralVerdict) -> Iterator[str]:
    """Yield the remarks on a verdict over several parameters."""
    series, off = verdict.series, verdict.posterior.off
    for name, one in verdict.along.items():
        n = len(series.along(name))
        if n < MIN_POINTS:
            yield f"the model rests on only {n} points of {name}; {MIN_POINTS} are the least to rely on"
        if one.growth == one.space.ticks[-1] != one.expectation.growth:
            yield (
                f"along {name} the model is the fastest class of the search space, {one.growth}; extend the space to see "
                "beyond it"
            )
    point = int(np.argmax(off))
    if off[point] > _LIKELY and verdict.evidence.hanging_point is None:
        yield (
            f"the value at {place(verdict, verdict.posterior.design.points[point])} is off by a factor with a probability of "
            f"{percent(float(off[point]))}; the others are judged; measure it again"
        )
    if _is_star(series.points):
        yield (
            "all points lie on lines through one point, where a sum and a product of growths look alike; measure a point off "
            "these lines"
        )


def _is_star(points: Floats) -> bool:
    """Return whether all points differ from one place, the most frequent value of each parameter, in one parameter only."""
    most = []
    for column in points.T:
        values, count = np.unique(column, return_counts=True)
        most.append(values[np.argmax(count)])
    return int((points != np.array(most)).sum(axis=1).max()) <= 1
