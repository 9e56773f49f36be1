"""What is judged: a series with its expectation and ruler; and what is said where nothing can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import xarray as xr

from scalkit.measure import Series, SeveralSeries
from scalkit.relation import Relation
from scalkit.session.measured import AnySeries
from scalkit.session.state import AnyExpectation
from scalkit.validation import SearchSpace
from scalkit.validation.expectation import Expectation

__all__ = ["Name", "Task", "case", "left_rule", "too_short", "truncated"]

Name = tuple[str, str]
"""Function and metric."""


@dataclass(frozen=True, eq=False)
class Task:
    """A series and what it is judged by.

    Attributes
    ----------
    name : (str, str)
        Function and metric as measured.
    series : Series or SeveralSeries
        What is modelled: the values, or their cost.
    expectation : Expectation or SeveralExpectation
    spaces : mapping from parameter to SearchSpace
        With the expected growth, which always competes.
    """

    name: Name
    series: AnySeries
    expectation: AnyExpectation
    spaces: Mapping[str, SearchSpace]


def case(task: Task) -> tuple[Series, Expectation, SearchSpace]:
    """Return what `judge` takes, of a task over one parameter."""
    (space,) = task.spaces.values()
    return cast(Series, task.series), cast(Expectation, task.expectation), space


def too_short(one: AnySeries, min_points: int) -> str:
    """Return what is missing where a series has too few settings, in the words of `Validation.unjudged`; else nothing."""
    along = {n: one.along(n) for n in one.parameters} if isinstance(one, SeveralSeries) else {one.parameter: one.x}
    name = min(along, key=lambda each: len(along[each]))
    values = along[name]
    if len(values) >= min_points:
        return ""
    settings = ", ".join(f"{x:g}" for x in values)
    return f"{one.function} ({one.metric}) has {len(values)} of {min_points} needed settings: {name} = {settings}"


def left_rule(rule: Relation, parameters: tuple[str, ...]) -> str:
    """Return the note that a rule is not judged over several parameters."""
    return (
        f"the rule '{rule}' is not judged over {', '.join(parameters)}; select one value of all but one parameter "
        "to judge it there"
    )


def truncated(data: xr.Dataset) -> Iterator[str]:
    """Return the note on truncated files, if there are any."""
    if found := str(data.attrs.get("truncated", "") or ""):
        yield f"truncated files, read as far as they go: {found}"
