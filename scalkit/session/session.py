"""The headless state of an analysis; what a notebook or an app shows and changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from scalkit.errors import DataError, ExpectationError, RuleError, UsageError
from scalkit.growth import Growth
from scalkit.options import Judging, JudgingOptions
from scalkit.relation import Relation
from scalkit.session.compare import Differences, differences
from scalkit.session.queries import Observers
from scalkit.session.state import (
    History,
    State,
    chosen_of,
    growth_along,
    growths_expected,
    moved,
    open_source,
    own_deviation,
    parse_tick,
    refuse_double,
    refuse_expected,
    settled,
    with_ruler,
)
from scalkit.session.transitions import SessionSteps
from scalkit.validation import SearchSpace, Validation
from scalkit.validation.catalogue import expectation_set
from scalkit.validation.judge.judge import Judge
from scalkit.validation.judge.measured import AnyExpectation, Setting, shown_setting
from scalkit.validation.rules import parsed_rules
from scalkit.validation.validating import of_the_only_function


class Session(SessionSteps):
    """Measurements, what is expected of them, and every change to that as a step that can be undone.

    Parameters
    ----------
    data : Dataset of measurements, path, sequence of paths, DataFrame or Validation
        What `scalkit.read` takes or returns, or a result of `scalkit.validate`, which brings all else along.
    expectations : str, path, mapping or ExpectationSet, optional
        As for `scalkit.validate`, ``"mpi"`` by default; functions without one are there too, and get one by `expect`.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the set.
    **options
        How it is judged, as for `scalkit.validate`; see `scalkit.options.Judging`.

    Raises
    ------
    ScalkitError
        If something given is wrong; so does every method, and the session stays as it was.

    Notes
    -----
    Methods that change something return the session, so that calls can be chained.
    """

    def __init__(
        self,
        data: object,
        expectations: object | None = None,
        rules: Iterable[str | Relation] | str | Relation = (),
        **options: Unpack[JudgingOptions],
    ) -> None:
        own = parsed_rules(rules)
        if isinstance(data, Validation):
            if expectations is not None or own or options:
                raise UsageError("a result brings its expectations along; write Session(result), or Session(data, expectations).")
            data, expectations, chosen = chosen_of(data)
        else:
            chosen = None
        ds, self._source = open_source(data)
        self._given = of_the_only_function(ds, "mpi" if expectations is None else expectations)
        expected = expectation_set(self._given)
        begin = chosen or State(Judging.of(options), tuple(dict.fromkeys((*expected.rules, *own))))
        self._judge = Judge(ds, expected, statistic=begin.judging.statistic)
        self._opened = {"": (self._judge, self._source)}
        self._history = History(begin)
        self._outcome = self._judge.result(begin)
        self._selected = self._outcome.worst or self._judge.names[0]
        self._snapshots: dict[str, State] = {}
        self._observers = Observers()
        self._group: tuple[str | None, int] | None = None

    def select(self, function: str, metric: str | None = None) -> Session:
        """Make a function and metric what everything is about; no step."""
        selected = self.name_of(function if metric is None else (function, metric))
        if selected != self._selected:
            self._selected = selected
            self._observers.tell(frozenset({"selected"}))
        return self

    def expect(self, text: object, deviation: object | None = None) -> Session:
        """Expect something else of the selected function and metric.

        `text`: in big O notation, for example ``"p*log(p)"``.
        `deviation`: by default one that was given before stays; else half of the leading class is allowed.
        """
        current = self.expectation
        own = own_deviation(current) if deviation is None else deviation
        return self._expect(f"expect {text} of {self._key}", text, own)

    def set_deviation(self, deviation: object | None) -> Session:
        """Allow another deviation of the selected function; None is half of its leading class."""
        current = self._require_expectation()
        shown = "automatic" if deviation is None else str(deviation)
        return self._expect(f"deviation {shown} of {self._key}", str(current.growth), deviation)

    def set_ticks(self, growths: Iterable[Growth | str], parameter: str | None = None) -> Session:
        """Put exactly these ticks on the ruler of the selected function; the expectation competes in any case.

        `parameter`: of several, whose ruler it is; by default the one that the ticks name.
        """
        ticks = [parse_tick(one) for one in ([growths] if isinstance(growths, str) else growths)]
        named = next((tick for tick in ticks if not tick.is_constant), Growth.constant())
        axis = growth_along(named, self.parameters, parameter)
        for tick in ticks:
            growth_along(tick, self.parameters, axis)
        return self._edit("set ticks", axis, lambda space: SearchSpace.of(ticks, "by hand", axis))

    def add_tick(self, growth: Growth | str, parameter: str | None = None) -> Session:
        """Put one more tick on the ruler of the selected function."""
        tick = parse_tick(growth)

        def add(space: SearchSpace) -> SearchSpace:
            refuse_double(space, tick)
            return space.with_tick(tick)

        return self._edit(f"add tick {tick}", growth_along(tick, self.parameters, parameter), add)

    def remove_tick(self, growth: Growth | str, parameter: str | None = None) -> Session:
        """Take a tick off the ruler of the selected function; the expectation cannot go."""
        tick = parse_tick(growth)
        axis = growth_along(tick, self.parameters, parameter)
        expected = self._expected_growth(axis)

        def remove(space: SearchSpace) -> SearchSpace:
            refuse_expected(expected, tick)
            return space.without_tick(tick)

        return self._edit(f"remove tick {tick}", axis, remove)

    def move_tick(self, old: Growth | str, new: Growth | str, parameter: str | None = None) -> Session:
        """Put a tick of the selected function's ruler elsewhere, where none is; the expectation cannot be moved."""
        gone, there = parse_tick(old), parse_tick(new)
        axis = growth_along(there if gone.is_constant else gone, self.parameters, parameter)
        for tick in (gone, there):
            growth_along(tick, self.parameters, axis)
        return self._edit(f"move tick {gone} to {there}", axis, moved(self._expected_growth(axis), gone, there))

    def refine(self, n: int = 1, parameter: str | None = None) -> Session:
        """Put a tick into the middle of every gap of the rows of the ruler, `n` times over; see `SearchSpace.refine`."""
        axes = self.parameters if parameter is None else (parameter,)
        state = self.state
        for axis in axes:
            state = self._edited(state, axis, lambda space: space.refine(n))
        return self._do("refine the ruler", state)

    def extend(self, upper: Growth | str, parameter: str | None = None) -> Session:
        """Continue the ruler up to a growth; see `SearchSpace.extend`."""
        boundary = parse_tick(upper)
        axis = growth_along(boundary, self.parameters, parameter)
        return self._edit(f"extend the ruler to {boundary}", axis, lambda space: space.extend(boundary))

    def reset_ticks(self) -> Session:
        """Put back the ruler that the selected function has by its expectation."""
        self._require_expectation()
        state = self.state
        if state.shared:
            task = self._judge.task_of(self._selected, replace(state, shared={}).ruled(self._key, None))
            spaces = task.spaces if task else {}
            return self._do("reset the ruler", replace(state, shared={n: one.ticks for n, one in spaces.items()}))
        return self._do("reset the ruler", state.ruled(self._key, None))

    def share_ticks(self, shared: bool = True) -> Session:
        """Let the ruler of the selected function serve all functions, or let each have its own again.

        When each has its own again, the selected function keeps the one that was shared.
        """
        if bool(shared) == self.shares_ticks:
            return self
        state, key = self.state, self._key
        if shared:
            self._require_expectation()
            rulers = {name: space.ticks for name, space in self.spaces.items()}
            return self._do(f"share the ruler of {key}", replace(state, shared=rulers))
        apart = replace(state, shared={})
        if self.expectation is not None:
            apart = settled(self._judge, apart.ruled(key, state.shared), key)
        return self._do("a ruler for each function", apart)

    def use_statistic(self, name: str) -> Session:
        """Take another statistic over repetitions, then over runs: ``"q1"``, ``"median"``, ``"mean"`` or ``"min"``."""
        return self.judge_by(statistic=name)

    def judge_by(self, **options: Unpack[JudgingOptions]) -> Session:
        """Judge by other options, the rest staying as they are; see `scalkit.options.Judging`."""
        shown = ", ".join(f"{name} {value if value is not None else 'of each'}" for name, value in options.items())
        return self._do(shown, replace(self.state, judging=Judging.of(options, self.judging)))

    def exclude(self, *settings: object) -> Session:
        """Leave out settings of the selected function: values of the parameter, or of several a tuple or mapping each."""
        gone = {*self.excluded, *self._measured_settings(settings)}
        if gone >= set(self.settings):
            raise DataError(f"all {len(self.settings)} settings of '{self._selected[0]}' would be left out; keep at least one.")
        return self._leave_out("exclude", settings, gone)

    def include(self, *settings: object) -> Session:
        """Take in settings of the selected function that were left out; all of them if none is named."""
        back = set(self._measured_settings(settings)) if settings else set(self.excluded)
        return self._leave_out("include", settings or ("all",), {*self.excluded} - back)

    def add_rule(self, text: str | Relation) -> Session:
        """Judge one more cross-function rule, for example ``"MPI_Allreduce <= MPI_Reduce + MPI_Bcast"``."""
        rule = text if isinstance(text, Relation) else Relation.parse(text)
        rules = self.state.rules
        return self._do(f"add rule {rule}", replace(self.state, rules=rules if rule in rules else (*rules, rule)))

    def remove_rule(self, text: str | Relation) -> Session:
        """Judge a cross-function rule no longer."""
        rule = text if isinstance(text, Relation) else Relation.parse(text)
        rules = self.state.rules
        if rule not in rules:
            raise RuleError(f"there is no rule '{rule}'; the rules are {', '.join(self.rules) or 'none'}.")
        return self._do(f"remove rule {rule}", replace(self.state, rules=tuple(one for one in rules if one != rule)))

    def begin_step(self, name: str | None = None) -> Session:
        """Make what follows one step, until `end_step`, as while a tick is dragged; by default with the last one's name."""
        self.end_step()
        self._group = (name, len(self._history.past))
        return self

    def end_step(self, name: str | None = None) -> Session:
        """End what `begin_step` began, by another name if one is given; without that nothing happens."""
        if self._group is None:
            return self
        (begun, since), self._group = self._group, None
        name = name or begun
        history = self._history
        if len(history.past) > since:
            self._history = history.joined(name or history.past[-1].name, since)
            if self._history != history:
                self._observers.tell(frozenset({"history"}))
        return self

    def undo(self) -> Session:
        """Take back the last step."""
        self.end_step()
        return self._go(self._history.undo())

    def redo(self) -> Session:
        """Do again what was undone last."""
        self.end_step()
        return self._go(self._history.redo())

    def snapshot(self, name: str) -> Session:
        """Give the present state a name, in place of one that had it; no step."""
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"the name of a snapshot is {name!r:.60}; a text such as 'A' is needed.")
        self._snapshots[name] = self.state
        self._observers.tell(frozenset({"snapshots"}))
        return self

    def restore(self, name: str) -> Session:
        """Go back to a snapshot."""
        return self._do(f"restore {name}", self._snapshot(name))

    def compare(self, before: str, after: str | None = None) -> Differences:
        """Return what differs in the verdicts of two snapshots. `after`: by default the present state."""
        first = self._outcome_of(self._snapshot(before))
        second = self._outcome if after is None else self._outcome_of(self._snapshot(after))
        return differences(before, first, after or "now", second)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, data: object | None = None) -> Session:
        """Return the session in a file that `save` wrote, or in an HTML report.

        `data`: measurements to use instead of those that the file names.
        Raises DataError if the file is no session, or its measurements are not there or are others.
        """
        from scalkit.session.file import read_session

        return read_session(cls, path, data)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, data: object | None = None) -> Session:
        """Return the session that `to_dict` wrote; see `load`."""
        from scalkit.session.file import session_from_dict

        return session_from_dict(cls, plain, data)

    @property
    def _key(self) -> str:
        """The name by which the state keeps what is chosen for the selected function and metric."""
        return self._judge.key_of(self._selected)

    def _expect(self, step: str, text: object, deviation: object | None) -> Session:
        name, key = self._selected, self._key
        alone, state = {"expectation": text}, self.state
        # The expectation by itself first: what is wrong with it is no fault of a deviation that was there before.
        for entry in (alone,) if deviation is None else (alone, {**alone, "deviation": deviation}):
            made = expectation_set({key: entry}).functions[key].expectation
            state = self.state.expecting(key, made)
            try:
                given = self._judge.given(name, state)
            except ExpectationError as error:
                raise ExpectationError(f"function '{key}': {error}") from error
        try:
            begin = self._judge.given(name, self.state.expecting(key, None))
        except ExpectationError as error:
            raise ExpectationError(f"function '{key}': {error}") from error
        state = state.expecting(key, None if given == begin else given)
        return self._do(step, settled(self._judge, state, key))

    def _edit(self, step: str, parameter: str, change: Callable[[SearchSpace], SearchSpace]) -> Session:
        return self._do(step, self._edited(self.state, parameter, change))

    def _edited(self, state: State, parameter: str, change: Callable[[SearchSpace], SearchSpace]) -> State:
        self._require_expectation()
        growth_along(Growth.constant(), self.parameters, parameter)
        return with_ruler(self._judge, state, self._key, change(self.spaces[parameter]))

    def _leave_out(self, step: str, settings: tuple[object, ...], gone: set[Setting]) -> Session:
        function = self._selected[0]
        what = "; ".join(
            one if isinstance(one, str) else shown_setting(self._judge.measured.setting(one), self.parameters) for one in settings
        )
        ordered = tuple(one for one in self.settings if one in gone)
        return self._do(f"{step} {what} of {function}", self.state.excluding(function, ordered))

    def _measured_settings(self, settings: tuple[object, ...]) -> list[Setting]:
        found = [self._judge.measured.setting(one) for one in settings]
        for one in found:
            if one not in self.settings:
                there = "; ".join(shown_setting(each, self.parameters) for each in self.settings[:20])
                raise DataError(
                    f"'{self._selected[0]}' was not measured at {shown_setting(one, self.parameters)}; it was at {there}."
                )
        return found

    def _expected_growth(self, parameter: str) -> Growth:
        """Return the growth that is always on the ruler; of times that fall it is that of their cost."""
        task = self._judge.task_of(self._selected, self.state)
        return growths_expected(task.expectation if task else self._require_expectation())[parameter]

    def _require_expectation(self) -> AnyExpectation:
        found = self.expectation
        if found is None:
            raise ExpectationError(
                f"'{self._selected[0]}' has no expectation, so it has no ruler either; expect something of it first."
            )
        return found
