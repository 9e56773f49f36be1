"""The selection and the choices of a session, and the steps that change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from scalkit.errors import DataError, ExpectationError, RuleError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge import SearchSpace
from scalkit.judge.catalogue import expectation_set
from scalkit.judge.judge import Judge
from scalkit.judge.measured import AnyExpectation, AnySeries, Setting, shown_setting
from scalkit.judge.names import Name
from scalkit.judge.rules import parsed_rules
from scalkit.session import rulers
from scalkit.session.state import State, Step, own_deviation
from scalkit.support.arguments import each_of, require_kind
from scalkit.support.options import Judging, JudgingOptions
from scalkit.support.text import brief


@dataclass(frozen=True, eq=False)
class Chosen:
    """A state and a function and metric in it. Methods return the step from this state to another one.

    `judge`: of the measurements of the state.
    """

    judge: Judge
    state: State
    selected: Name

    @property
    def key(self) -> str:
        """The name by which the state keeps what is chosen for the selected function and metric."""
        return self.judge.key_of(self.selected)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that vary."""
        return self.judge.measured.parameters

    @property
    def expectation(self) -> AnyExpectation | None:
        """Expectation in terms of the parameters of the data; None without one."""
        return self.judge.given(self.selected, self.state)

    @property
    def spaces(self) -> dict[str, SearchSpace]:
        """The ruler along each parameter, with the expectation; empty without one."""
        task = self.judge.task_of(self.selected, self.state)
        return dict(task.spaces) if task else {}

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Where it was measured, settings that are left out included."""
        return self.judge.measured.settings(self.selected[0])

    @property
    def excluded(self) -> tuple[Setting, ...]:
        """Settings that are left out."""
        return self.state.excluded.get(self.selected[0], ())

    def expect(self, text: object, deviation: object | None = None) -> Step:
        """Expect something else; a deviation that was given before stays."""
        own = own_deviation(self.expectation) if deviation is None else deviation
        return self._expect(f"expect {text} of {self.key}", text, own)

    def set_deviation(self, deviation: object | None) -> Step:
        """Allow another deviation."""
        shown = "automatic" if deviation is None else str(deviation)
        return self._expect(f"deviation {shown} of {self.key}", str(self._required().growth), deviation)

    def set_ticks(self, growths: Iterable[Growth | str] | None, parameter: str | None) -> Step:
        """Put exactly these ticks on a ruler; None for those that it has by its expectation."""
        if growths is None:
            self._required()
            return Step("reset the ruler", self.state.ruled(self.key, None))
        ticks = [rulers.parse_tick(one) for one in each_of(growths, object, "the ticks", "give growths such as ['1', 'p']")]
        axis = self._along(*ticks, parameter=parameter)
        return self._ruled("set ticks", axis, lambda space: SearchSpace.of(ticks, "by hand", axis))

    def add_tick(self, growth: Growth | str, parameter: str | None) -> Step:
        """Put one more tick on a ruler."""
        tick = rulers.parse_tick(growth)
        axis = self._along(tick, parameter=parameter)
        return self._ruled(f"add tick {tick}", axis, lambda space: rulers.added(space, tick))

    def remove_tick(self, growth: Growth | str, parameter: str | None) -> Step:
        """Take a tick off a ruler."""
        tick = rulers.parse_tick(growth)
        axis = self._along(tick, parameter=parameter)
        return self._ruled(f"remove tick {tick}", axis, lambda space: rulers.removed(space, self._expected(axis), tick))

    def move_tick(self, old: Growth | str, new: Growth | str, parameter: str | None) -> Step:
        """Put a tick of a ruler elsewhere."""
        gone, there = rulers.parse_tick(old), rulers.parse_tick(new)
        axis = self._along(gone, there, parameter=parameter)
        name = f"move tick {gone} to {there}"
        return self._ruled(name, axis, lambda space: rulers.moved(space, self._expected(axis), gone, there))

    def refine(self, n: int) -> Step:
        """Put a tick into the middle of every gap of the rows of each ruler."""
        self._required()
        after = self.state
        for space in self.spaces.values():
            after = rulers.with_ruler(self.judge, after, self.key, space.refine(n))
        return Step("refine the ruler", after)

    def judge_by(self, options: JudgingOptions) -> Step:
        """Judge by other options."""
        shown = ", ".join(f"{name} {value if value is not None else 'of each'}" for name, value in options.items())
        return Step(shown, replace(self.state, judging=Judging.of(options, self.state.judging)))

    def exclude(self, settings: tuple[object, ...]) -> Step:
        """Leave out settings."""
        gone = {*self.excluded, *self._measured(settings)}
        if gone >= set(self.settings):
            raise DataError(f"all {len(self.settings)} settings of '{self.selected[0]}' would be left out; keep at least one.")
        return self._left_out("exclude", settings, gone)

    def include(self, settings: tuple[object, ...]) -> Step:
        """Take in settings that were left out; all of them if none is named."""
        back = set(self._measured(settings)) if settings else set(self.excluded)
        return self._left_out("include", settings or ("all",), {*self.excluded} - back)

    def add_rule(self, text: str | Relation) -> Step:
        """Judge one more cross-function rule."""
        rule = _one_rule(text)
        return Step(f"add rule {rule}", replace(self.state, rules=tuple(dict.fromkeys((*self.state.rules, rule)))))

    def remove_rule(self, text: str | Relation) -> Step:
        """Judge a cross-function rule no longer."""
        rule = _one_rule(text)
        if rule not in self.state.rules:
            raise RuleError(f"there is no rule '{rule}'; the rules are {', '.join(map(str, self.state.rules)) or 'none'}.")
        return Step(f"remove rule {rule}", replace(self.state, rules=tuple(one for one in self.state.rules if one != rule)))

    def _expect(self, step: str, text: object, deviation: object | None) -> Step:
        key = self.key
        alone, after = {"expectation": text}, self.state
        given: AnyExpectation | None = None
        # The expectation by itself first: what is wrong with it is no fault of a deviation that was there before.
        for entry in (alone,) if deviation is None else (alone, {**alone, "deviation": deviation}):
            after = self.state.expecting(key, expectation_set({key: entry}).functions[key].expectation)
            given = self._given(after)
        begin = self._given(self.state.expecting(key, None))
        after = after.expecting(key, None if given == begin else given)
        return Step(step, rulers.settled(self.judge, after, key))

    def _given(self, state: State) -> AnyExpectation | None:
        try:
            return self.judge.given(self.selected, state)
        except ExpectationError as error:
            raise ExpectationError(f"function '{self.key}': {error}") from error

    def _along(self, *ticks: Growth, parameter: str | None) -> str:
        """Return the parameter whose ruler ticks are on; see `growth_along`."""
        first = next((tick for tick in ticks if not tick.is_constant), Growth())
        axis = rulers.growth_along(first, self.parameters, parameter)
        for tick in ticks:
            rulers.growth_along(tick, self.parameters, axis)
        return axis

    def _ruled(self, step: str, parameter: str, change: Callable[[SearchSpace], SearchSpace]) -> Step:
        self._required()
        return Step(step, rulers.with_ruler(self.judge, self.state, self.key, change(self.spaces[parameter])))

    def _left_out(self, step: str, settings: tuple[object, ...], gone: set[Setting]) -> Step:
        function, measured = self.selected[0], self.judge.measured
        what = "; ".join(
            one if isinstance(one, str) else shown_setting(measured.setting(one), self.parameters) for one in settings
        )
        ordered = tuple(one for one in self.settings if one in gone)
        return Step(f"{step} {what} of {function}", self.state.excluding(function, ordered))

    def _measured(self, settings: tuple[object, ...]) -> list[Setting]:
        found = [self.judge.measured.setting(one) for one in settings]
        for one in found:
            if one not in self.settings:
                there = "; ".join(shown_setting(each, self.parameters) for each in self.settings[:20])
                raise DataError(
                    f"'{self.selected[0]}' was not measured at {shown_setting(one, self.parameters)}; it was at {there}."
                )
        return found

    def _expected(self, parameter: str) -> Growth:
        """Return the growth that is always on the ruler; of times that fall it is that of their cost."""
        task = self.judge.task_of(self.selected, self.state)
        return rulers.growths_expected(task.expectation if task else self._required())[parameter]

    def _required(self) -> AnyExpectation:
        found = self.expectation
        if found is None:
            raise ExpectationError(
                f"'{self.selected[0]}' has no expectation, so it has no ruler either; expect something of it first."
            )
        return found


def _one_rule(text: str | Relation) -> Relation:
    """Return a rule given as text or relation. Raises UsageError if it is something else."""
    require_kind(text, str | Relation, "the rule", "give a text such as 'A <= B + C'")
    return parsed_rules(text)[0]


def name_of(judge: Judge, name: str | Name) -> Name:
    """Return the function and metric that is meant, of a function alone its first metric; the metric may be that of the cost.

    Raises DataError if it was not measured.
    """
    if not isinstance(name, str) and not (isinstance(name, tuple) and len(name) == 2):
        raise DataError(f"{brief(name)} names no function; give its name, or a tuple of function and metric.")
    function, metric = (name, None) if isinstance(name, str) else name
    there = [one for one in judge.names if one[0] == function]
    if not there:
        raise DataError(f"the function {function!r:.60} was not measured; measured are {', '.join(judge.functions)}.")
    for one in there:
        if metric in (None, one[1], f"{judge.measured.parameters[0]}*{one[1]}"):
            return one
    raise DataError(f"the metric {metric!r:.60} of '{function}' was not measured; measured are {', '.join(m for _, m in there)}.")


def series_of(judge: Judge, state: State, name: str | Name) -> AnySeries:
    """Return the values of a function, without the settings that are left out; see `name_of`.

    Raises DataError if nothing of it is left.
    """
    function, metric = name_of(judge, name)
    for one in judge.measured.series(state.judging.statistic, state.excluded):
        if (one.function, one.metric) == (function, metric):
            return one
    raise DataError(f"no value of {function} ({metric}) is left; include a setting again.")
