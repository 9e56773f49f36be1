"""The one judge: measurements, what is expected of them and what was chosen become verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import cast

import numpy as np
import xarray as xr

from scalkit.errors import DataError, ScalkitError
from scalkit.fit.checks import check_values
from scalkit.growth.relation import Relation
from scalkit.measure import Series, SeveralSeries
from scalkit.options import Judging
from scalkit.text import did_you_mean
from scalkit.validation.against.ratio import Against, against
from scalkit.validation.answer import required_resolution
from scalkit.validation.asked import require_expected_values
from scalkit.validation.baseline import Baseline
from scalkit.validation.catalogue import ExpectationSet
from scalkit.validation.evidence import Estimator
from scalkit.validation.judge.along_one import Mapper, judge
from scalkit.validation.judge.measured import AnySeries, AnyVerdict, Choices, Recent
from scalkit.validation.judge.tasks import Task, Tasks
from scalkit.validation.names import Name, candidates, unexpected
from scalkit.validation.result import Validation
from scalkit.validation.rules import Litmus, RuleResult, judge_by_metric, require_known
from scalkit.validation.several.expectation import SeveralExpectation
from scalkit.validation.several.judge import judge_several, shortage
from scalkit.validation.several.verdict import SeveralVerdict
from scalkit.validation.verdict import Verdict

_KEPT_RULES = 1000
_KEPT_STATES = 20
_LEAST_KEPT = 2000


@dataclass(frozen=True, eq=False)
class Outcome:
    """What choices lead to.

    `verdicts`: the metric as measured, also where its cost is modelled.
    `problems`: why there is no verdict.
    `refused`: of what has an expectation and cannot be judged.
    """

    validation: Validation
    verdicts: Mapping[Name, AnyVerdict]
    problems: Mapping[Name, str]
    refused: tuple[DataError, ...] = ()

    @property
    def worst(self) -> Name | None:
        """What has the worst answer, a tie going to what was measured first; None if nothing was judged."""
        order = [*self.validation.worst_first]
        return min(self.verdicts, key=lambda name: order.index(self.verdicts[name]), default=None)


class Judge(Tasks):
    """Judges the same measurements again and again; only what changed is computed.

    `data`, `expected`, `baseline`, `statistic`: as for `Tasks`.
    `mapper`: what computes the tasks that many series are split into, as `map` does. Then nothing is kept.
    """

    def __init__(
        self,
        data: xr.Dataset,
        expected: ExpectationSet,
        baseline: Baseline | None = None,
        *,
        statistic: str = "q1",
        mapper: Mapper | None = None,
    ) -> None:
        super().__init__(data, expected, baseline, statistic=statistic)
        self._mapper = mapper
        self._verdicts: Recent[AnyVerdict | ScalkitError] = Recent(max(_LEAST_KEPT, _KEPT_STATES * len(self.names)))
        self._rules: Recent[RuleResult] = Recent(_KEPT_RULES)
        self._numbers: Recent[int] = Recent(_LEAST_KEPT)
        self._count = count()
        self.require_litmus(expected.litmus, self._known)

    @property
    def _known(self) -> set[str]:
        return {*self.functions, *self.expected.names}

    def require_litmus(self, name: str | None, known: set[str]) -> None:
        """Raise a DataError if the litmus function is none of those that are known."""
        if name is not None and name not in known:
            hint = did_you_mean(name, known)
            raise DataError(f"the litmus function '{name}' was not measured; measured are {', '.join(self.functions)}.{hint}")

    def result(self, choices: Choices, litmus: str | None = None) -> Outcome:
        """Return what choices lead to.

        `litmus`: name of the litmus function, in place of that of the set.
        Raises DataError if the statistic is unknown; ExpectationError if an expectation or a ruler does not fit the
        data; RuleError if a rule names a function that is neither measured nor expected.
        """
        judging = choices.judging
        measured = self.measured.series(judging.statistic, choices.excluded)
        tasks, found = self._tasks(measured, choices)
        verdicts: dict[Name, AnyVerdict] = {}
        for task, one in zip(tasks, self._judged(tasks, judging), strict=True):
            if isinstance(one, ScalkitError):
                found.problems[task.name] = str(one)
                if _refused(task) is not None:
                    found.unjudged[task.name] = str(one).removesuffix(".")
            else:
                verdicts[task.name] = one
        problems = found.problems
        for name in self.names:
            if name not in verdicts and name not in problems:
                problems[name] = self._why_not(name, choices)
        validation = self._validation(choices, measured, tasks, verdicts, found.unjudged, litmus)
        return Outcome(validation, verdicts, problems, tuple(found.refused))

    def _tasks(self, measured: list[AnySeries], choices: Choices) -> "tuple[list[Task], _Unjudged]":
        """Return what is judged, and why the rest of what has an expectation is not."""
        tasks: list[Task] = []
        found = _Unjudged({}, {}, [])
        for one in measured:
            name = (one.function, one.metric)
            expected = self.expected_of(name, choices)
            if expected is None:
                continue
            if short := shortage(one, choices.judging.min_points):
                found.unjudged[name], error = short
                found.problems[name] = f"{found.unjudged[name]}; {self._way_on(one, choices)}."
                found.refused.append(error)
                continue
            task = self.task(one, choices, expected)
            if task is None:
                continue
            if self._mapper is not None and (refused := _refused(task)) is not None:
                found.unjudged[name] = str(refused).removesuffix(".")
                found.refused.append(refused)
                continue
            tasks.append(task)
        return tasks, found

    def _judged(self, tasks: list[Task], judging: Judging) -> list[AnyVerdict | ScalkitError]:
        """Return the verdict on each task, or why it cannot be fitted; all that are new are judged together."""
        if self._mapper is not None:
            return list(_verdicts(tasks, judging, self._mapper))
        keys = self._keys(tasks, judging)
        known = {key: self._verdicts.get(key) for key in keys}
        new = [(key, task) for key, task in zip(keys, tasks, strict=True) if known[key] is None]
        for (key, _), found in zip(new, self._fresh([task for _, task in new], judging), strict=True):
            known[key] = self._verdicts.put(key, found)
        return [cast("AnyVerdict | ScalkitError", known[key]) for key in keys]

    def _keys(self, tasks: list[Task], judging: Judging) -> list[tuple[object, ...]]:
        """Return what each verdict depends on; search spaces by a number, as they are long and often the same."""
        numbers: dict[int, int] = {}
        for task in tasks:
            for space in task.spaces.values():
                if id(space) not in numbers:
                    known = self._numbers.get(space)
                    numbers[id(space)] = self._numbers.put(space, next(self._count)) if known is None else known
        how = (judging.min_points, judging.strictness, judging.resolution)
        return [(task.series, task.expectation, how, *(numbers[id(s)] for s in task.spaces.values())) for task in tasks]

    def _fresh(self, tasks: list[Task], judging: Judging) -> Sequence[AnyVerdict | ScalkitError]:
        """Return the verdicts on all tasks together, or one by one where something cannot be fitted."""
        try:
            return _verdicts(tasks, judging, map)
        except DataError as error:
            return [error] if len(tasks) == 1 else [self._fresh([task], judging)[0] for task in tasks]

    def _validation(
        self,
        choices: Choices,
        measured: list[AnySeries],
        tasks: Sequence[Task],
        verdicts: Mapping[Name, AnyVerdict],
        unjudged: Mapping[Name, str],
        litmus: str | None,
    ) -> Validation:
        functions = {**self.expected.functions, **choices.expectations}
        covered = {
            next((one for one in candidates(*name, name in self._primary) if one in functions), None)
            for name in (*verdicts, *unjudged)
        }
        parameters = self.measured.parameters
        require_known(choices.rules, self._known)
        of_litmus = litmus or self.expected.litmus
        return Validation(
            verdicts=tuple(verdicts.values()),
            rules=tuple(self._ruling(rule, measured, verdicts) for rule in choices.rules),
            unexpected=unexpected(self.names, lambda one: one in verdicts or self.expected_of(one, choices) is not None),
            unjudged=tuple(unjudged.values()),
            missing=tuple(name for name in functions if name not in covered),
            litmus=next((Litmus(v) for v in verdicts.values() if v.function == of_litmus and v.metric == "time"), None),
            notes=(
                *self.measured.truncated,
                *(f"judged at {name} = {value:g}" for name, value in self.measured.fixed.items() if len(parameters) == 1),
                *(task.note for task in tasks if task.note and task.name in verdicts),
            ),
            expectations=self.expected.name,
            statistic=choices.judging.statistic,
            data=self.measured.data,
            expected=replace(self.expected, litmus=of_litmus),
            choices=choices,
        )

    def _ruling(self, rule: Relation, measured: list[AnySeries], verdicts: Mapping[Name, AnyVerdict]) -> RuleResult:
        """Return the result of a rule; the same object while it is among the last ones."""
        series = [one for one in measured if one.function in rule.names]
        of_them = [v for v in verdicts.values() if v.function in rule.names]
        key = (rule, *series, *of_them)
        metrics = list(dict.fromkeys(one.metric for one in measured))
        found = self._rules.get(key)
        return self._rules.put(key, judge_by_metric(rule, metrics, series, of_them)) if found is None else found

    def _why_not(self, name: Name, choices: Choices) -> str:
        function, metric = name
        if self.expected_of(name, choices) is None:
            example = " + ".join(f"log({parameter})" for parameter in self.measured.parameters)
            what = function if name in self._primary else f"{metric} of {function}"
            return f"{what} has no expectation; write one, for example {example}."
        return f"no value of {function} ({metric}) is left; include a setting again."

    def _way_on(self, one: AnySeries, choices: Choices) -> str:
        """Return what to do about too few settings."""
        if choices.excluded.get(one.function):
            return "include one that is left out again, or measure more"
        if isinstance(one, Series) and len(one.x) > 1 and one.x[0] > 0:
            following = one.x[-1] * max(2.0, round(one.x[-1] / one.x[-2]))
            return f"measure more, for example {one.parameter} = {following:g}"
        return "measure more"


@dataclass(frozen=True)
class _Unjudged:
    """What has an expectation and cannot be judged, in the words of `Validation`, and of a session with the way on."""

    unjudged: dict[Name, str]
    problems: dict[Name, str]
    refused: list[DataError]


def _refused(task: Task) -> DataError | None:
    """Return why a series cannot be judged: a value that cannot be fitted, or a setting where nothing is expected."""
    try:
        check_values(task.series)  # too few points were said before
        along = task.expectation.along
        require_expected_values(task.series, {name: along[name].growth for name in task.series.parameters})
    except DataError as error:
        return error
    return None


def _verdicts(tasks: Sequence[Task], judging: Judging, mapper: Mapper) -> list[AnyVerdict]:
    """Return the verdicts on tasks, all of one parameter or all of several."""
    if tasks and isinstance(tasks[0].series, SeveralSeries):
        return list(mapper(partial(_several, judging=judging), tasks))
    estimator: Estimator = "adjusted_r2" if judging.strictness == "paper" else "posterior"
    found = judge([task.case for task in tasks], judging.min_points, mapper, estimator)
    return [
        Verdict(
            replace(
                one.evidence,
                tolerated=task.tolerance[one.parameter],
                against=_against(task, one),
                required=required_resolution(judging.resolution, (one.parameter,)),
            )
        )
        for task, one in zip(tasks, found, strict=True)
    ]


def _several(task: Task, judging: Judging) -> AnyVerdict:
    series, expectation = cast(SeveralSeries, task.series), cast(SeveralExpectation, task.expectation)
    required = required_resolution(judging.resolution, series.parameters)
    found = judge_several(series, expectation, task.spaces, tolerance=task.tolerance, required=required)
    return SeveralVerdict(replace(found.evidence, against=_against(task, found)))


def _against(task: Task, verdict: AnyVerdict) -> Against | None:
    """Return how a verdict's values compare with those of a model; without one that is off by a factor, as for the verdict."""
    if not task.model:
        return None
    series = verdict.series
    off = verdict.evidence.off_at if isinstance(verdict, Verdict) else None
    if isinstance(series, Series) and off is not None:
        series = series.only(np.arange(len(series.x)) != off)
    return against(series, task.model)
