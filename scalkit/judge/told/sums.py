"""What a verdict over several parameters says in sentences, and its remarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from scalkit.judge.answer import FINE, SURE, in_decimals
from scalkit.support.options import MIN_POINTS
from scalkit.support.text import percent
from scalkit.support.units import format_quantity

if TYPE_CHECKING:
    from scalkit.judge.several.verdict import SeveralVerdict
    from scalkit.support.arrays import Floats

_AHEAD = 4.0
"""A problem is said for so many times the largest value of each parameter that is outgrown."""

_LIKELY = 0.5
"""An event is worth a remark when it is more probable than not."""


def problem_of(verdict: SeveralVerdict) -> str:
    """Return what a function costs beyond the measured points. `verdict`: with the answer to fix it."""
    if verdict.evidence.against is not None:
        return verdict.evidence.against.problem
    at = _AHEAD * verdict.series.points.max(axis=0)
    value = float(verdict.posterior.predict(at[None])[0])
    growth = f"{verdict.function} grows as {verdict.model.growth} instead of {verdict.expectation.growth}"
    if not np.isfinite(value):
        return growth
    return f"{growth}: {format_quantity(value, verdict.unit)} at {_place(verdict, at)}"


def sentence_of(verdict: SeveralVerdict, *, in_short: bool = False) -> str:
    """Return a verdict in plain words: what it grows as, and what is excluded or missing.

    `in_short`: without what is excluded.
    """
    if verdict.evidence.against is not None:
        return verdict.evidence.against.sentence
    if verdict.answer == "fix":
        sure = f"it grows faster than claimed with a probability of {percent(verdict.too_fast)}"
        return f"{verdict.function} grows as {verdict.model.growth} instead of {verdict.expectation.growth}; {sure}."
    if verdict.answer == "fine":
        return f"{_growth(verdict)}." if in_short else f"{_growth(verdict)}; {_excluded(verdict)} is excluded."
    return f"{_doubt(verdict)}."


def _excluded(verdict: SeveralVerdict) -> str:
    """Return what is excluded along each parameter, in words."""
    parts = [f"faster than {in_decimals(growth)} along {name}" for name, growth in verdict.resolution.items()]
    return f"anything {' or '.join(parts)}"


def _growth(verdict: SeveralVerdict) -> str:
    """Return the growth of a function that does not grow too fast, in words."""
    name, found, claim = verdict.function, verdict.model.growth, verdict.expectation.growth
    if found == claim:
        is_constant = all(term.is_constant for term in claim.terms)
        return f"{name} stays constant, as claimed" if is_constant else f"{name} grows as claimed, {claim}"
    if verdict.too_fast <= FINE and verdict.expectation.direction(found) == "grows faster":
        by = f"by a factor of {verdict.evidence.excess:.2g} only over the measured points, which the machine may explain"
        is_tolerated = any(not growth.is_constant for growth in verdict.evidence.tolerance.values())
        return f"{name} grows as {found} instead of {claim}, {'which is tolerated' if is_tolerated else f'but {by}'}"
    return f"{name} does not grow faster than claimed, {claim}: {found} is most probable"


def _doubt(verdict: SeveralVerdict) -> str:
    """Return why nobody can tell."""
    name, claim = verdict.function, verdict.expectation.growth
    likely = f"it grows faster than claimed, {claim}, with a probability of {percent(verdict.too_fast)}"
    if not verdict.decides:
        return f"{name}: {likely}, but these values decide nothing"
    if verdict.evidence.hanging_point is not None:
        at = _place(verdict, verdict.evidence.hanging_point)
        return f"{name}: the answer hangs on the value at {at} alone; measure it again, and larger ones"
    if verdict.too_fast >= SURE:
        return (
            f"{name} outgrows the claim {claim} by a factor of {verdict.evidence.excess:.2g} over the "
            f"measured points, and the machine may explain {verdict.evidence.machine_factor:g}; measure larger ones"
        )
    if verdict.too_fast <= FINE:
        rest = _excluded(verdict).removeprefix("anything ")
        return f"{_growth(verdict)}, but only what is {rest} is excluded; measure larger points, or more repetitions"
    return f"{name}: {likely}; measure larger points, or more repetitions"


def _place(verdict: SeveralVerdict, point: Floats) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in zip(verdict.parameters, point.tolist(), strict=True))


def remarks_of(verdict: SeveralVerdict) -> tuple[str, ...]:
    """Return what limits the meaning of a verdict over several parameters."""
    return tuple(_remarks(verdict))


def _remarks(verdict: SeveralVerdict) -> Iterator[str]:
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
    place = int(np.argmax(off))
    if off[place] > _LIKELY and verdict.evidence.hanging_point is None:
        yield (
            f"the value at {_place(verdict, verdict.posterior.design.points[place])} is off by a factor with a probability of "
            f"{percent(float(off[place]))}; the others are judged; measure it again"
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
