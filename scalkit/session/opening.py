"""What a session begins with: measurements, a judge of them, and the first choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from scalkit.errors import DataError, UsageError
from scalkit.growth.relation import Relation
from scalkit.judge import Validation
from scalkit.judge.baseline import Baseline
from scalkit.judge.catalogue import expectation_set
from scalkit.judge.judge import Judge, Outcome
from scalkit.judge.measured import Choices
from scalkit.judge.validating import of_the_only_function
from scalkit.session.source import Source, open_source
from scalkit.session.state import State
from scalkit.support.options import Judging, JudgingOptions


@dataclass(frozen=True, eq=False)
class Beginning:
    """The beginning of a session.

    `given`: the expectations as they were given.
    """

    judge: Judge
    source: Source
    given: object
    state: State


def begin(
    data: object,
    expectations: object | None,
    rules: tuple[Relation, ...],
    parameter: str | Sequence[str] | None,
    options: JudgingOptions,
) -> Beginning:
    """Return the beginning of a session on measurements, or on those of a result, which brings the rest along.

    Raises ScalkitError if something given is wrong.
    """
    if isinstance(data, Validation):
        if expectations is not None or rules or options or parameter is not None:
            raise UsageError("a result brings its expectations along; write Session(result), or Session(data, expectations).")
        return _of_result(data)
    ds, source = open_source(data, parameter)
    if isinstance(expectations, Baseline):
        options = {"statistic": expectations.statistic, **options}
    given = of_the_only_function(ds, "mpi" if expectations is None else expectations)
    expected = expectation_set(given.by_metric() if isinstance(given, Baseline) else given)
    state = State(Judging.of(options), tuple(dict.fromkeys((*expected.rules, *rules))))
    baseline = given if isinstance(given, Baseline) else None
    return Beginning(Judge(ds, expected, baseline, statistic=state.judging.statistic), source, given, state)


def _of_result(result: Validation) -> Beginning:
    """Return the beginning with all that led to a result. Raises DataError if it does not hold that."""
    if result.data is None or result.expected is None or result.choices is None:
        raise DataError("the result does not hold its measurements; write Session(data, expectations).")
    baseline = result.comparison.baseline if result.comparison else None
    expected = result.expected if baseline is None else expectation_set(baseline.by_metric())
    state = State(**{one.name: getattr(result.choices, one.name) for one in fields(Choices)})
    ds, source = open_source(result.data)
    judge = Judge(ds, expected, baseline, statistic=state.judging.statistic)
    return Beginning(judge, source, expected, state)


def outcome_of(judge: Judge, state: State) -> Outcome:
    """Return the outcome of choices, compared with the baseline of the judge if there is one."""
    outcome = judge.result(state)
    if judge.baseline is None:
        return outcome
    compared = replace(outcome.validation, comparison=judge.baseline.compare(outcome.validation))
    return replace(outcome, validation=compared)
