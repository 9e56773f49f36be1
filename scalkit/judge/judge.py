"""The one judge: measurements, what is expected of them and what was chosen become verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import cast

import numpy as np
import xarray as xr

from scalkit.errors import DataError, ExpectationError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge.against.claimed import over_model
from scalkit.judge.against.ratio import Against, against
from scalkit.judge.along_one import Case, Mapper, judge
from scalkit.judge.answer import required_resolution, tolerances
from scalkit.judge.baseline import Baseline
from scalkit.judge.baseline.comparison import compared
from scalkit.judge.catalogue import ExpectationSet, Expected
from scalkit.judge.catalogue.catalogue import is_bundled
from scalkit.judge.evidence import Estimator
from scalkit.judge.expectation import Expectation
from scalkit.judge.fit.checks import check_values, require_expected_values, shortage
from scalkit.judge.measured import AnyExpectation, AnySeries, AnyVerdict, Choices, Measured, Recent, Rulers
from scalkit.judge.names import Name, candidates, named, primary, unexpected
from scalkit.judge.result import Validation
from scalkit.judge.rules import Litmus, RuleResult, judge_by_metric, require_known
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.judge.several.judge import judge_several
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.space import SearchSpace
from scalkit.judge.strong import falls, product_expectation, product_metric, product_sentence, product_series
from scalkit.judge.verdict import Verdict
from scalkit.measure import Series, SeveralSeries
from scalkit.support.options import Judging
from scalkit.support.text import did_you_mean

_KEPT_RULES = 1000
_KEPT_STATES = 20
_LEAST_KEPT = 2000


@dataclass(frozen=True, eq=False)
class Task:
    """A series and what it is judged by.

    `name`: function and metric as measured.
    `series`: what is modelled: the values, or their product with the parameter.
    `spaces`: with the expected growth, which always competes.
    `tolerance`: by which growth it may outgrow the expectation along each and be fine.
    `note`: why the product of parameter and value is judged; empty where the values are.
    `model`: name of the model with constants that the values were divided by; empty without one.
    """

    name: Name
    series: AnySeries
    expectation: AnyExpectation
    spaces: Mapping[str, SearchSpace]
    tolerance: Mapping[str, Growth]
    note: str = ""
    model: str = ""

    @property
    def case(self) -> Case:
        """Series, expectation and space of a task over one parameter, as `judge` takes them."""
        (space,) = self.spaces.values()
        return cast(Series, self.series), cast(Expectation, self.expectation), space


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of judging with certain choices.

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
        """The name with the worst answer, the one measured first in a tie; None if nothing was judged."""
        order = [*self.validation.worst_first]
        return min(self.verdicts, key=lambda name: order.index(self.verdicts[name]), default=None)


@dataclass(frozen=True)
class _Unjudged:
    """Series with an expectation that cannot be judged: in words for `Validation`, for a session, and as errors."""

    words: dict[Name, str] = field(default_factory=dict)
    problems: dict[Name, str] = field(default_factory=dict)
    errors: list[DataError] = field(default_factory=list)

    def add(self, name: Name, words: str, problem: str, error: DataError) -> None:
        """Add one."""
        self.words[name], self.problems[name] = words, problem
        self.errors.append(error)


class Judge:
    """Judges the same measurements again and again; only what changed is computed.

    `baseline`: what is expected of each function and metric instead, unless the choices say something else.
    `statistic`: that of the first choices.
    `mapper`: what computes the tasks that many series are split into, as `map` does. Then nothing is kept.
    `names`: function and metric of everything that was measured.
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
        self.measured = Measured(data, statistic)
        self.names = self.measured.names()
        self.functions = tuple(dict.fromkeys(function for function, _ in self.names))
        self.expected, self.baseline, self._mapper = expected, baseline, mapper
        self._primary = primary(self.names) if baseline is None else frozenset(self.names)
        self._known = {*self.functions, *expected.names}
        self._verdicts: Recent[AnyVerdict] = Recent(max(_LEAST_KEPT, _KEPT_STATES * len(self.names)))
        # The same objects while they are among the last ones, so that verdicts on them are found again.
        self._rule_result = lru_cache(_KEPT_RULES)(judge_by_metric)
        self._product = lru_cache(_LEAST_KEPT)(product_series)
        self._require_litmus(expected.litmus, self._known)

    def _require_litmus(self, name: str | None, known: Iterable[str]) -> None:
        if name is not None and name not in known:
            hint = did_you_mean(name, known)
            raise DataError(f"the litmus function '{name}' was not measured; measured are {', '.join(self.functions)}.{hint}")

    def result(self, choices: Choices, litmus: str | None = None) -> Outcome:
        """Return the verdicts and everything else that follows from choices.

        `litmus`: name of the litmus function, in place of that of the set.
        Raises DataError if the statistic is unknown, or `litmus` was not measured; ExpectationError if an expectation or a
        ruler does not fit the data; RuleError if a rule names a function that is neither measured nor expected.
        """
        self._require_litmus(litmus, self.functions)
        require_known(choices.rules, self._known)
        expected = {name: self.expected_of(name, choices) for name in self.names}
        measured = self.measured.series(choices.judging.statistic, choices.excluded)
        tasks, unjudged = self._tasks(measured, expected, choices)
        judged = self._judged(tasks, choices.judging)
        verdicts = {task.name: verdict for task, verdict in zip(tasks, judged, strict=True)}
        problems = unjudged.problems
        for name, one in expected.items():
            if name not in verdicts and name not in problems:
                problems[name] = self._why_not(name, is_expected=one is not None)
        functions = {**self.expected.functions, **choices.expectations}
        covered = {
            next((one for one in candidates(*name, name in self._primary) if one in functions), None)
            for name in (*verdicts, *unjudged.words)
        }
        of_litmus = litmus or self.expected.litmus
        validation = Validation(
            verdicts=tuple(verdicts.values()),
            rules=tuple(self._ruling(rule, measured, verdicts) for rule in choices.rules),
            unexpected=unexpected(expected),
            unjudged=tuple(unjudged.words.values()),
            missing=tuple(name for name in functions if name not in covered),
            litmus=next((Litmus(v) for v in verdicts.values() if v.function == of_litmus and v.metric == "time"), None),
            notes=(*self.measured.notes, *(task.note for task in tasks if task.note)),
            expectations=self.expected.name,
            statistic=choices.judging.statistic,
            data=self.measured.data,
            expected=replace(self.expected, litmus=of_litmus),
            choices=choices,
        )
        if self.baseline is not None:
            validation = compared(self.baseline, validation)
            verdicts = dict(zip(verdicts, validation.verdicts, strict=True))
        return Outcome(validation, verdicts, problems, tuple(unjudged.errors))

    def _tasks(
        self, measured: list[AnySeries], expected: Mapping[Name, Expected | None], choices: Choices
    ) -> tuple[list[Task], _Unjudged]:
        """Return what is judged, and why the rest of what has an expectation is not."""
        tasks: list[Task] = []
        unjudged = _Unjudged()
        for one in measured:
            name = (one.function, one.metric)
            if expected[name] is None:
                continue
            if short := shortage(one, choices.judging.min_points):
                words, error = short
                unjudged.add(name, words, f"{words}; {self._way_on(one, choices)}.", error)
                continue
            task = self.task(one, choices, expected[name])
            if task is not None and (refused := _refused(task)) is not None:
                unjudged.add(name, str(refused).removesuffix("."), str(refused), refused)
            elif task is not None:
                tasks.append(task)
        return tasks, unjudged

    def expected_of(self, name: Name, choices: Choices) -> Expected | None:
        """Return the expectation of a function and metric and where its ticks come from, without those moved by hand."""
        given = self.expected.of(*name, name in self._primary)
        own = choices.expectations.get(self.key_of(name)) if choices.expectations else None
        space = choices.judging.space
        if own is None and (given is None or space is None):
            return given
        expectation = own if own is not None else cast(Expected, given).expectation
        return Expected(expectation, space if space is not None else given.space if given else "around")

    def key_of(self, name: Name) -> str:
        """Return the name by which choices are kept for a function and metric: that of the function if it can be."""
        own = named(*name)
        return name[0] if name in self._primary and own not in self.expected.functions else own

    def given(self, name: Name, choices: Choices) -> AnyExpectation | None:
        """Return the expectation of a function and metric as it was written, in terms of the parameters of the data."""
        expected = self.expected_of(name, choices)
        return None if expected is None else expected.search_spaces(self.measured.parameters, self.measured.fixed)[0]

    def task_of(self, name: Name, choices: Choices) -> Task | None:
        """Return how a function and metric is judged; with the settings that are left out, if nothing else remains."""
        for excluded in (choices.excluded, {}):
            for one in self.measured.series(choices.judging.statistic, excluded):
                if (one.function, one.metric) == name:
                    return self.task(one, choices, self.expected_of(name, choices))
        return None

    def task(self, one: AnySeries, choices: Choices, expected: Expected | None) -> Task | None:
        """Return how a series is judged; None without an expectation.

        Raises ExpectationError if the expectation or the ruler does not fit the data.
        """
        if expected is None:
            return None
        name = (one.function, one.metric)
        try:
            if expected.model is None:
                return self._task(one, expected, choices)
            found = self._task(over_model(one, expected.model, self.measured.fixed), expected, choices)
            return found and replace(found, name=name, model=expected.model.name)
        except ExpectationError as error:
            raise ExpectationError(f"function '{one.function}': {error}") from error

    def _task(self, one: AnySeries, expected: Expected, choices: Choices) -> Task | None:
        name, note, fixed = (one.function, one.metric), "", self.measured.fixed
        baseline = None if self.key_of(name) in choices.expectations else self.baseline
        if baseline is not None:
            if name in baseline:
                baseline[name].require_same_kind(one.unit, one.parameters)
            product = baseline.expectation_of(one.function, product_metric(one.parameters[0], one.metric))
            status_quo = product or baseline.expectation_of(*name)
            if status_quo is None:
                return None
            one = self._product(one) if product is not None and isinstance(one, Series) else one
            expected = Expected(status_quo, expected.space)
        elif isinstance(one, Series) and choices.judging.scaling != "weak":
            claim = expected.along(one.parameter, fixed)
            if falls(claim.growth):
                note = product_sentence(one, claim)
                one, expected = self._product(one), Expected(product_expectation(claim), expected.space)
        expectation, spaces = expected.search_spaces(one.parameters, fixed)
        ruled = self._ruled(name, choices, spaces, expectation.along)
        strictness = choices.judging.strictness
        if strictness == "auto" and baseline is not None:
            strictness = "paper"  # around a status quo the deviation is tolerated, for its class may be off a little
        return Task(name, one, expectation, ruled, self._tolerance(one, expectation.along, strictness), note)

    def _tolerance(self, one: AnySeries, along: Mapping[str, Expectation], strictness: str) -> dict[str, Growth]:
        """Return the growth that is tolerated along each parameter."""
        bundled = is_bundled(one.function, along)
        return tolerances(along, strictness, bundled=bundled, is_exact=one.exact or one.virtual)

    def _ruled(
        self, one: Name, choices: Choices, spaces: Mapping[str, SearchSpace], along: Mapping[str, Expectation]
    ) -> dict[str, SearchSpace]:
        """Return the search spaces of a function and metric with the ticks moved by hand and the expected growths."""
        rulers: Rulers = choices.rulers.get(self.key_of(one), {}) if choices.rulers else {}
        found = {}
        for parameter, expectation in along.items():
            growth, space = expectation.growth, spaces[parameter]
            if parameter in rulers:
                found[parameter] = SearchSpace.of({*rulers[parameter], growth}, "by hand", parameter)
            else:
                found[parameter] = space if growth in space else space.with_tick(growth)
        return found

    def _judged(self, tasks: list[Task], judging: Judging) -> list[AnyVerdict]:
        """Return the verdict on each task; all that are new are judged together."""
        if self._mapper is not None:
            return _verdicts(tasks, judging, self._mapper)
        how = (judging.min_points, judging.strictness, judging.resolution)
        keys = [(task.series, task.expectation, how, *task.spaces.values()) for task in tasks]
        known = {key: self._verdicts.get(key) for key in keys}
        new = {key: task for key, task in zip(keys, tasks, strict=True) if known[key] is None}
        for key, found in zip(new, _verdicts(list(new.values()), judging, map), strict=True):
            known[key] = self._verdicts.put(key, found)
        return [cast(AnyVerdict, known[key]) for key in keys]

    def _ruling(self, rule: Relation, measured: list[AnySeries], verdicts: Mapping[Name, AnyVerdict]) -> RuleResult:
        """Return the result of a rule; the same object while it is among the last ones."""
        series = tuple(one for one in measured if one.function in rule.names)
        of_them = tuple(v for v in verdicts.values() if v.function in rule.names)
        return self._rule_result(rule, tuple(dict.fromkeys(one.metric for one in measured)), series, of_them)

    def _why_not(self, name: Name, *, is_expected: bool) -> str:
        function, metric = name
        if not is_expected:
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


def _refused(task: Task) -> DataError | None:
    """Return why a series cannot be judged: a value that cannot be fitted, or a setting where nothing is expected."""
    try:
        check_values(task.series)
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
