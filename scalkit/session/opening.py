"""What a session begins with: a judge of the measurements, and the first choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.growth.relation import Relation
from scalkit.judge import ExpectationSet, Validation
from scalkit.judge.baseline import Baseline
from scalkit.judge.catalogue import expectation_set
from scalkit.judge.judge import Judge
from scalkit.judge.measured import Choices
from scalkit.judge.validating import of_every_function, opened
from scalkit.session.source import Source, open_source
from scalkit.session.state import State
from scalkit.support.options import Judging


class Beginning(NamedTuple):
    """The beginning of a session. `given`: the expectations as they were given, or those of a baseline."""

    judge: Judge
    source: Source
    given: object
    state: State


def begin(
    data: object,
    expectations: object | None,
    rules: tuple[Relation, ...],
    parameter: str | Sequence[str] | None,
    options: Mapping[str, Any],
) -> Beginning:
    """Return the beginning of a session on measurements, or on those of a result; the arguments are those of `Session`.

    Raises ScalkitError if something given is wrong.
    """
    state, baseline = None, None
    if isinstance(data, Validation):
        if expectations is not None or rules or options or parameter is not None:
            raise UsageError("a result brings its expectations along; write Session(result), or Session(data, expectations).")
        data, expectations, state = _chosen_of(data)
    expectations = opened(expectations)
    ds, source = open_source(data, parameter, expectations)
    if isinstance(expectations, Baseline):
        baseline, expectations = expectations, expectation_set(expectations.by_metric())
        options = {"statistic": baseline.statistic, **options}
    given = of_every_function(ds, "mpi" if expectations is None else expectations)
    expected = expectation_set(given)
    state = state or State(Judging.of(options), tuple(dict.fromkeys((*expected.rules, *rules))))
    return Beginning(Judge(ds, expected, baseline, statistic=state.judging.statistic), source, given, state)


def _chosen_of(result: Validation) -> tuple[xr.Dataset, ExpectationSet | Baseline, State]:
    """Return measurements, expectations and choices of a result. Raises DataError if it does not hold them."""
    if result.data is None or result.expected is None or result.choices is None:
        raise DataError("the result does not hold its measurements; write Session(data, expectations).")
    named = {one.name: getattr(result.choices, one.name) for one in fields(Choices)}
    return result.data, result.comparison.baseline if result.comparison else result.expected, State(**named)
