"""What can be read from a session, and what it can be turned into: a file, JSON values, Python."""

import logging
import os
from collections import deque
from collections.abc import Callable
from typing import Any, Self

import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.options import Judging
from scalkit.session.state import History, Source, State, confirmed
from scalkit.validation import SearchSpace, Validation
from scalkit.validation.judge.judge import Judge, Outcome
from scalkit.validation.judge.measured import AnyExpectation, AnySeries, AnyVerdict, Setting
from scalkit.validation.names import Name

Observer = Callable[[frozenset[str]], object]

_log = logging.getLogger("scalkit.session.observers")


class Observers:
    """The callbacks of a session, in the order in which they came."""

    def __init__(self) -> None:
        self._callbacks: list[Observer] = []
        self._waiting: deque[frozenset[str]] = deque()
        self._is_telling = False

    def add(self, callback: Observer) -> None:
        """Take in a callback, once."""
        if callback not in self._callbacks:
            self._callbacks.append(callback)

    def remove(self, callback: Observer) -> None:
        """Leave out a callback; one that is not there is no error."""
        if callback in self._callbacks:
            self._callbacks.remove(callback)

    def tell(self, changed: frozenset[str]) -> None:
        """Call every callback; changes that a callback makes are told after this one, in their order.

        What a callback raises is logged, as the session is changed by then and the others need to know.
        """
        if changed:
            self._waiting.append(changed)
        if self._is_telling:
            return
        self._is_telling = True
        try:
            while self._waiting:
                self._tell(self._waiting.popleft())
        finally:
            self._is_telling = False
            self._waiting.clear()

    def _tell(self, changed: frozenset[str]) -> None:
        for callback in tuple(self._callbacks):
            try:
                callback(changed)
            except Exception:
                _log.exception("an observer of a session failed on %s", ", ".join(sorted(changed)))


class SessionView:
    """The properties of a session; `scalkit.session.Session` adds what changes it."""

    _source: Source
    _given: object
    _judge: Judge
    _history: History
    _outcome: Outcome
    _selected: Name
    _snapshots: dict[str, State]
    _observers: Observers

    @property
    def data(self) -> xr.Dataset:
        """The measurements, with all settings."""
        return self._judge.measured.data

    @property
    def judged_data(self) -> xr.Dataset:
        """The measurements without the settings that are left out."""
        return self._judge.measured.remaining(self.state.excluded)

    @property
    def source(self) -> str:
        """Where the measurements come from, in words: their paths, or ``data in memory``."""
        return str(self._source)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths that hold the measurements; empty for data made in memory. Those that a Dataset names are read again."""
        self._source = confirmed(self._source)
        return self._source.paths

    @property
    def state(self) -> State:
        """What was chosen so far, as a value."""
        return self._history.present

    @property
    def names(self) -> tuple[Name, ...]:
        """(function, metric) of everything that was measured."""
        return self._judge.names

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that vary."""
        return self._judge.measured.parameters

    @property
    def selected(self) -> Name:
        """Function and metric that `verdict`, `space` and all changes are about."""
        return self._selected

    @property
    def result(self) -> Validation:
        """The same as `scalkit.validate` gives for what was chosen."""
        return self._outcome.validation

    @property
    def verdict(self) -> AnyVerdict | None:
        """The verdict on what is selected; None if there is none, then `problem` says why."""
        return self._outcome.verdicts.get(self._selected)

    @property
    def problem(self) -> str:
        """Why there is no verdict on what is selected, and the way on; empty if there is one."""
        return self._outcome.problems.get(self._selected, "")

    @property
    def expectation(self) -> AnyExpectation | None:
        """What is expected of the selected function and metric, in terms of the parameters of the data; None if nothing is."""
        return self._judge.given(self._selected, self.state)

    @property
    def spaces(self) -> dict[str, SearchSpace]:
        """The ruler of the selected function along each parameter, with the expectation; empty without one."""
        task = self._judge.task_of(self._selected, self.state)
        return dict(task.spaces) if task else {}

    @property
    def space(self) -> SearchSpace | None:
        """The ruler of the selected function, along the first of several parameters; None without an expectation."""
        return next(iter(self.spaces.values()), None)

    @property
    def shares_ticks(self) -> bool:
        """Whether one ruler serves all functions."""
        return bool(self.state.shared)

    @property
    def judging(self) -> Judging:
        """How it is judged."""
        return self.state.judging

    @property
    def statistic(self) -> str:
        """What is taken over repetitions, then over runs."""
        return self.state.judging.statistic

    @property
    def min_points(self) -> int:
        """Fewest settings for a verdict."""
        return self.state.judging.min_points

    @property
    def rules(self) -> tuple[str, ...]:
        """The cross-function rules."""
        return tuple(str(rule) for rule in self.state.rules)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Where the selected function was measured, those that are left out included."""
        return self._judge.measured.settings(self._selected[0])

    @property
    def excluded(self) -> tuple[Setting, ...]:
        """Settings that are left out of the selected function."""
        return self.state.excluded.get(self._selected[0], ())

    @property
    def history(self) -> tuple[str, ...]:
        """Names of the steps that can be undone, the last one last."""
        return tuple(step.name for step in self._history.past)

    @property
    def undone(self) -> tuple[str, ...]:
        """Names of the steps that can be redone, the next one first."""
        return tuple(step.name for step in reversed(self._history.future))

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._history.future)

    @property
    def snapshots(self) -> dict[str, State]:
        """The states that were given a name."""
        return dict(self._snapshots)

    def series(self, name: str | Name) -> AnySeries:
        """Return the values of a function, without the settings that are left out.

        `name`: function, or function and metric; of a function alone its first metric.
        Raises DataError if it was not measured or nothing of it is left.
        """
        function, metric = self.name_of(name)
        for one in self._judge.measured.series(self.statistic, self.state.excluded):
            if (one.function, one.metric) == (function, metric):
                return one
        raise DataError(f"no value of {function} ({metric}) is left; include a setting again.")

    def verdict_of(self, name: str | Name) -> AnyVerdict | None:
        """Return the verdict on a function, or on a function and metric as in `names`; None if there is none."""
        return self._outcome.verdicts.get(self.name_of(name))

    def problem_of(self, name: str | Name) -> str:
        """Return why there is no verdict on a function, or on a function and metric; empty if there is one."""
        return self._outcome.problems.get(self.name_of(name), "")

    def name_of(self, name: str | Name) -> Name:
        """Return the (function, metric) in `names` that is meant; the metric may be that of the cost.

        Raises DataError if it was not measured.
        """
        if isinstance(name, tuple) and name in self._outcome.verdicts:
            return name
        function, metric = (name, None) if isinstance(name, str) else name
        there = [one for one in self.names if one[0] == function]
        if not there:
            raise DataError(f"the function {function!r:.60} was not measured; measured are {', '.join(self._judge.functions)}.")
        for one in there:
            if metric in (None, one[1], f"{self.parameters[0]}*{one[1]}"):
                return one
        raise DataError(
            f"the metric {metric!r:.60} of '{function}' was not measured; measured are {', '.join(m for _, m in there)}."
        )

    def observe(self, callback: Observer) -> None:
        """Call ``callback(changed)`` once after every step, when its result is there.

        `callback`: takes a frozenset of names out of ``data``, ``selected``, ``ruler``, ``expectation``, ``statistic``,
        ``excluded``, ``rules``, ``result``, ``history`` and ``snapshots``. What it raises is logged.
        Raises UsageError if it cannot be called.
        """
        if not callable(callback):
            raise UsageError(f"an observer must be a function, got {type(callback).__name__}.")
        self._observers.add(callback)

    def unobserve(self, callback: Observer) -> None:
        """Call a callback no longer."""
        self._observers.remove(callback)

    def save(self, path: str | os.PathLike[str], *, with_data: bool | None = None) -> Self:
        """Write the session to a file that `load` reads.

        `path`: appears only when it is complete; an existing file is replaced.
        `with_data`: whether the measurements go into it; by default only those that no file holds, or none any more.
        """
        from scalkit.session.file import write

        write(self.to_dict(with_data=with_data), path)
        return self

    def save_expectations(self, path: str | os.PathLike[str]) -> Self:
        """Write expectations, ticks moved by hand and rules to a TOML file, which `scalkit.validate` and the commands take.

        `path`: an existing file is replaced.
        Raises ScalkitError if nothing is expected, or it cannot be written.
        """
        from scalkit.session.expectations_file import write_expectations

        write_expectations(self, path)
        return self

    def to_dict(self, *, with_data: bool | None = None) -> dict[str, Any]:
        """Return the session as JSON values; see `save`."""
        from scalkit.session.file import session_to_dict

        return session_to_dict(self, with_data)

    def as_code(self) -> str:
        """Return Python that comes to the same state from the same measurements, and prints the verdict."""
        from scalkit.session.code import code_of

        return code_of(self)

    def __repr__(self) -> str:
        steps = len(self._history.past)
        return f"Session({self._source}: {self.result.headline}; {steps} step{'' if steps == 1 else 's'})"

    def _repr_html_(self) -> str:
        from scalkit.session.compare import session_html

        return session_html(self)
