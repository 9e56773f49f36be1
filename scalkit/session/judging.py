"""Judges states: the same result as `scalkit.validate` gives, but only what changed is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import xarray as xr

from scalkit.errors import DataError, ExpectationError, RuleError, ScalkitError
from scalkit.fit import MIN_POINTS
from scalkit.growth import Growth
from scalkit.measure import Series, SeveralSeries, Statistic
from scalkit.relation import Relation
from scalkit.session.measured import AnySeries, Measured
from scalkit.session.recent import Recent
from scalkit.session.state import AnyExpectation, Rulers, State
from scalkit.session.tasks import Name, Task, case, left_rule, too_short, truncated
from scalkit.validation import ExpectationSet, Expected, Litmus, RuleResult, SearchSpace, Validation, Verdict
from scalkit.validation.memory import Memory
from scalkit.validation.names import candidates, named, primary, unexpected
from scalkit.validation.rules import judge_rule
from scalkit.validation.several import judge_several
from scalkit.validation.several_expectation import SeveralExpectation
from scalkit.validation.several_verdict import SeveralVerdict
from scalkit.validation.strong import StrongScaling, cost_expectation, strong_scaling
from scalkit.validation.verdict import judge

__all__ = ["AnyVerdict", "Judge", "Outcome"]

AnyVerdict = Verdict | SeveralVerdict
_KEPT_RULES = 1000
_KEPT_STATES = 20
_LEAST_KEPT = 2000


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a state leads to.

    Attributes
    ----------
    validation : Validation
    verdicts : mapping from (function, metric) to Verdict or SeveralVerdict
        The metric as measured, also where its cost is modelled.
    problems : mapping from (function, metric) to str
        Why there is no verdict.
    """

    validation: Validation
    verdicts: Mapping[Name, AnyVerdict]
    problems: Mapping[Name, str]


class Judge:
    """Judges the states of one session.

    Attributes
    ----------
    measured : Measured
    expected : ExpectationSet
        What the session began with.
    min_points : int
    """

    def __init__(self, data: xr.Dataset, expected: ExpectationSet, min_points: int = MIN_POINTS) -> None:
        if not isinstance(min_points, int) or min_points < 3:
            raise DataError(f"min_points is {min_points!r}; a whole number of at least 3 is needed, 5 by default.")
        self.measured = Measured(data)
        self.expected = expected
        self.min_points = min_points
        self.names = self.measured.names()
        self.functions = tuple(dict.fromkeys(function for function, _ in self.names))
        self._primary = primary(self.names)
        self._verdicts: Recent[AnyVerdict | ScalkitError] = Recent(max(_LEAST_KEPT, _KEPT_STATES * len(self.names)))
        self._falling: Recent[tuple[StrongScaling | None]] = Recent(_LEAST_KEPT)
        self._rules: Recent[RuleResult] = Recent(_KEPT_RULES)
        self._spaces: dict[tuple[int, Growth], SearchSpace] = {}
        self._spaces_of: State | None = None
        self._numbers: Recent[int] = Recent(_LEAST_KEPT)
        self._count = count()
        self._memory = Memory()
        if expected.litmus is not None and expected.litmus not in {*self.functions, *expected.names}:
            raise DataError(
                f"the litmus function '{expected.litmus}' was not measured; measured are {', '.join(self.functions)}."
            )

    def result(self, state: State) -> Outcome:
        """Return what a state leads to.

        Raises
        ------
        ExpectationError
            If an expectation or a ruler does not fit the data.
        RuleError
            If a rule names a function that is neither measured nor expected.
        """
        measured = self.measured.series(state.statistic, state.excluded)
        tasks, problems, short, notes = self._tasks(measured, state)
        judged = self._judged(tasks, state.statistic)
        verdicts: dict[Name, AnyVerdict] = {}
        for task, found in zip(tasks, judged, strict=True):
            if isinstance(found, ScalkitError):
                problems[task.name] = str(found)
            else:
                verdicts[task.name] = found
        for name in self.names:
            if name not in verdicts and name not in problems:
                problems[name] = self._why_not(name, state)
        validation = self._validation(state, measured, verdicts, short, notes)
        return Outcome(validation, verdicts, problems)

    def key_of(self, name: Name) -> str:
        """Return the name by which a state keeps what is chosen for a function and metric: that of the function if it can."""
        own = named(*name)
        return name[0] if name in self._primary and own not in self.expected.functions else own

    def expected_of(self, name: Name, state: State) -> Expected | None:
        """Return the expectation of a function and metric and where its ticks come from, without those moved by hand."""
        given = self.expected.of(*name, name in self._primary)
        own = state.expectations.get(self.key_of(name))
        if own is None:
            return given
        return Expected(own, given.space if given else "around")

    def given(self, name: Name, state: State) -> AnyExpectation | None:
        """Return the expectation of a function and metric as it was written, in terms of the parameters of the data."""
        expected = self.expected_of(name, state)
        if expected is None:
            return None
        if len(self.measured.parameters) > 1:
            return expected.search_spaces(self.measured.parameters)[0]
        return expected.along(self.measured.parameters[0], self.measured.fixed)

    def task(self, one: AnySeries, state: State) -> Task | None:
        """Return how a series is judged; None without an expectation.

        Raises
        ------
        ExpectationError
            If the expectation or the ruler does not fit the data.
        """
        name = (one.function, one.metric)
        expected = self.expected_of(name, state)
        if expected is None:
            return None
        try:
            if isinstance(one, SeveralSeries):
                several, spaces = expected.search_spaces(one.parameters)
                along = {name: each.growth for name, each in several.along.items()}
                return Task(name, one, several, self._ruled(name, state, spaces, along))
            return self._task_along(one, expected, state)
        except ExpectationError as error:
            raise ExpectationError(f"function '{one.function}': {error}") from error

    def task_of(self, name: Name, state: State) -> Task | None:
        """Return how a function and metric is judged; with the settings that are left out, if nothing else remains."""
        for excluded in (state.excluded, {}):
            for one in self.measured.series(state.statistic, excluded):
                if (one.function, one.metric) == name:
                    return self.task(one, state)
        return None

    def _task_along(self, one: Series, expected: Expected, state: State) -> Task:
        parameter, fixed = one.parameter, self.measured.fixed
        name, falling = (one.function, one.metric), self._falls(one)
        if falling is not None:
            one = falling.cost
            expected = Expected(cost_expectation(expected.along(parameter, fixed)), expected.space)
        expectation, space = expected.search_space(parameter, fixed)
        spaces = self._ruled(name, state, {parameter: space}, {parameter: expectation.growth})
        return Task(name, one, expectation, spaces)

    def _rulers(self, name: Name, state: State) -> Rulers:
        return state.shared or state.rulers.get(self.key_of(name), {})

    def _ruled(
        self, one: Name, state: State, spaces: Mapping[str, SearchSpace], growths: Mapping[str, Growth]
    ) -> dict[str, SearchSpace]:
        """Return the search spaces of a function and metric with the ticks moved by hand and the expected growths."""
        rulers, name = self._rulers(one, state), "shared" if state.shared else "by hand"
        found = {}
        for parameter, growth in growths.items():
            if parameter not in rulers:
                space = spaces[parameter]
                found[parameter] = space if growth in space.ticks else space.with_tick(growth)
                continue
            found[parameter] = self._by_hand(state, rulers[parameter], growth, name, parameter)
        return found

    def _by_hand(
        self, state: State, ticks: tuple[Growth, ...], growth: Growth, name: str, parameter: str
    ) -> SearchSpace:
        """Return the space of ticks moved by hand and a growth; of the same ticks the same one, while the state lasts."""
        if self._spaces_of is not state:
            self._spaces_of, self._spaces = state, {}
        key = (id(ticks), growth)
        if key not in self._spaces:
            is_there = growth in ticks
            self._spaces[key] = (
                SearchSpace(ticks, name, parameter) if is_there else SearchSpace.of((*ticks, growth), name, parameter)
            )
        return self._spaces[key]

    def _falls(self, one: Series) -> StrongScaling | None:
        """Return what strong scaling makes of times that fall; None of all else."""
        if one.metric != "time":
            return None
        found = self._falling.get(one)
        return (found or self._falling.put(one, (strong_scaling(one),)))[0]

    def _tasks(
        self, measured: list[AnySeries], state: State
    ) -> tuple[list[Task], dict[Name, str], dict[Name, str], list[str]]:
        """Return what is judged, why the rest is not, which have too few settings, and notes."""
        tasks: list[Task] = []
        problems: dict[Name, str] = {}
        short: dict[Name, str] = {}
        notes: list[str] = []
        for one in measured:
            name = (one.function, one.metric)
            task = self.task(one, state)
            if task is None:
                continue
            if few := too_short(one, self.min_points):
                short[name] = few
                problems[name] = f"{few}; {self._way_on(one, state)}."
                continue
            tasks.append(task)
            if isinstance(one, Series) and (falling := self._falls(one)) is not None:
                notes.append(falling.sentence)
        return tasks, problems, short, notes

    def _judged(self, tasks: list[Task], statistic: str) -> list[AnyVerdict | ScalkitError]:
        """Return the verdict on each task, or why it cannot be fitted; all that are new are judged together."""
        keys = self._keys(tasks)
        known = {key: self._verdicts.get(key) for key in keys}
        new = [(key, task) for key, task in zip(keys, tasks, strict=True) if known[key] is None]
        for (key, _), found in zip(new, self._fresh([task for _, task in new], statistic), strict=True):
            known[key] = self._verdicts.put(key, found)
        return [cast("AnyVerdict | ScalkitError", known[key]) for key in keys]

    def _keys(self, tasks: list[Task]) -> list[tuple[object, ...]]:
        """Return what each verdict depends on; search spaces by a number, as they are long and often the same."""
        numbers: dict[int, int] = {}
        for task in tasks:
            for space in task.spaces.values():
                if id(space) not in numbers:
                    known = self._numbers.get(space)
                    numbers[id(space)] = self._numbers.put(space, next(self._count)) if known is None else known
        return [(task.series, task.expectation, *(numbers[id(s)] for s in task.spaces.values())) for task in tasks]

    def _fresh(self, tasks: list[Task], statistic: str) -> list[AnyVerdict | ScalkitError]:
        if not tasks:
            return []
        if len(self.measured.parameters) > 1:
            return [self._one(task, statistic) for task in tasks]
        try:
            return list(judge([case(task) for task in tasks], self.min_points, memory=self._memory))
        except DataError:
            return [self._one(task, statistic) for task in tasks]

    def _one(self, task: Task, statistic: str) -> AnyVerdict | ScalkitError:
        try:
            if isinstance(task.series, SeveralSeries):
                expectation = cast(SeveralExpectation, task.expectation)
                return judge_several(
                    task.series,
                    expectation,
                    task.spaces,
                    statistic=cast(Statistic, statistic),
                    min_points=self.min_points,
                )
            return judge([case(task)], self.min_points, memory=self._memory)[0]
        except DataError as error:
            return error

    def _validation(
        self,
        state: State,
        measured: list[AnySeries],
        verdicts: Mapping[Name, AnyVerdict],
        short: Mapping[Name, str],
        notes: list[str],
    ) -> Validation:
        functions = {**self.expected.functions, **state.expectations}
        covered = {one for name in (*verdicts, *short) for one in candidates(*name, name in self._primary)}
        several = self.measured.parameters if len(self.measured.parameters) > 1 else ()
        self._check_rules(state.rules)
        one_parameter = cast("tuple[Verdict, ...]", tuple(verdicts.values()))
        remarks = (
            [f"judged at {name} = {value:g}" for name, value in self.measured.fixed.items()] if not several else []
        )
        left = [left_rule(rule, several) for rule in state.rules] if several else []
        return Validation(
            verdicts=one_parameter,
            rules=() if several else tuple(self._ruling(rule, measured, one_parameter) for rule in state.rules),
            unexpected=unexpected(self.names, lambda one: one in verdicts or self.expected_of(one, state) is not None),
            unjudged=tuple(short.values()),
            missing=tuple(name for name in functions if name not in covered),
            litmus=next(
                (Litmus(v) for v in one_parameter if v.function == self.expected.litmus and v.metric == "time"), None
            ),
            notes=(*truncated(self.measured.data), *left, *remarks, *notes),
            expectations=self.expected.name,
            statistic=state.statistic,
        )

    def _check_rules(self, rules: tuple[Relation, ...]) -> None:
        known = {*self.functions, *self.expected.names}
        for rule in rules:
            for name in rule.names:
                if name not in known:
                    raise RuleError(
                        f"rule '{rule}' names '{name}', which is neither measured nor expected; measured are "
                        f"{', '.join(self.functions)}."
                    )

    def _ruling(self, rule: Relation, measured: list[AnySeries], verdicts: tuple[Verdict, ...]) -> RuleResult:
        """Return the result of a rule on the metric that most of its functions have; the first one decides ties."""
        metrics = list(dict.fromkeys(one.metric for one in measured))
        named = [one for one in measured if one.function in rule.names]
        of_them = tuple(v for v in verdicts if v.function in rule.names)
        key = (rule, *named, *of_them)
        if (found := self._rules.get(key)) is not None:
            return found
        metric = max(metrics, key=lambda m: sum(one.metric == m for one in named))
        series: Any = {one.function: one for one in named if one.metric == metric}
        models = {v.function: v.model for v in of_them if v.metric == metric}
        return self._rules.put(key, judge_rule(rule, series, models))

    def _why_not(self, name: Name, state: State) -> str:
        function, metric = name
        if self.expected_of(name, state) is None:
            example = " + ".join(f"log({parameter})" for parameter in self.measured.parameters)
            what = function if name in self._primary else f"{metric} of {function}"
            return f"{what} has no expectation; write one, for example {example}."
        return f"no value of {function} ({metric}) is left; include a setting again."

    def _way_on(self, one: AnySeries, state: State) -> str:
        """Return what to do about too few settings."""
        if state.excluded.get(one.function):
            return "include one that is left out again, or measure more"
        if isinstance(one, Series) and len(one.x) > 1 and one.x[0] > 0:
            following = one.x[-1] * max(2.0, round(one.x[-1] / one.x[-2]))
            return f"measure more, for example {one.parameter} = {following:g}"
        return "measure more"
