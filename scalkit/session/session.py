"""The headless state of an analysis; what a notebook or an app shows and changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import pandas as pd
import xarray as xr

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge import SearchSpace, Validation
from scalkit.judge.baseline import Baseline
from scalkit.judge.judge import Judge
from scalkit.judge.measured import AnyExpectation, AnySeries, AnyVerdict, Setting
from scalkit.judge.names import Name
from scalkit.judge.rules import parsed_rules
from scalkit.session import file
from scalkit.session.changes import Chosen, name_of, series_of
from scalkit.session.code import code_of
from scalkit.session.compare import differences, session_html
from scalkit.session.expectations_file import write_expectations
from scalkit.session.observers import Observer, Observers, without_pauses
from scalkit.session.opening import begin
from scalkit.session.source import confirmed, open_source
from scalkit.session.state import History, State, Step, aspects, still_excluded
from scalkit.support.arguments import path_of
from scalkit.support.options import JudgingOptions
from scalkit.support.text import brief, counted


class Session:
    """Measurements, what is expected of them, and every change to that as a step that can be undone.

    Methods that change something return the session, so that calls can be chained.

    Parameters
    ----------
    data : Dataset of measurements, path, sequence of paths, DataFrame, dict of arrays or Validation
        What `scalkit.read` takes or returns, or a result of `scalkit.validate`, which brings all else along.
    expectations : str, path, mapping, ExpectationSet or Baseline, optional
        As for `scalkit.validate`, ``"mpi"`` by default; functions without one are there too, and get one by `expect`.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the set.
    parameter : str or sequence of str, optional
        As for `scalkit.read`, of files and tables.
    **options
        How it is judged, as for `scalkit.validate`; see `scalkit.support.options.Judging`.

    Raises
    ------
    ScalkitError
        If something given is wrong; so does every method, and the session stays as it was.
    """

    def __init__(
        self,
        data: object,
        expectations: object | None = None,
        rules: Iterable[str | Relation] | str | Relation = (),
        *,
        parameter: str | Sequence[str] | None = None,
        **options: Unpack[JudgingOptions],
    ) -> None:
        begun = begin(data, expectations, parsed_rules(rules), parameter, options)
        self._judge, self._source, self._given = begun.judge, begun.source, begun.given
        self._opened = {"": (self._judge, self._source)}  # by `State.data`
        self._history = History(begun.state)
        self._outcome = self._judge.result(begun.state)
        self._selected: Name = self._outcome.worst or self._judge.names[0]
        self._snapshots: dict[str, State] = {}
        self._observers = Observers()
        self._group: tuple[str | None, int] | None = None

    @property
    def data(self) -> xr.Dataset:
        """The measurements, with all settings."""
        return self._judge.measured.data

    @property
    def source(self) -> str:
        """Where the measurements come from, in words: their paths, or ``data in memory``."""
        return str(self._source)

    @property
    def baseline(self) -> Baseline | None:
        """The baseline that `result` is compared with, if there is one."""
        return self._judge.baseline

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
        """Function and metric of everything that was measured."""
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
        return self._chosen.expectation

    @property
    def spaces(self) -> dict[str, SearchSpace]:
        """The ruler of the selected function along each parameter, with the expectation; empty without one."""
        return self._chosen.spaces

    @property
    def space(self) -> SearchSpace | None:
        """The ruler of the selected function, along the first of several parameters; None without an expectation."""
        return next(iter(self.spaces.values()), None)

    @property
    def rules(self) -> tuple[str, ...]:
        """The cross-function rules."""
        return tuple(str(rule) for rule in self.state.rules)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Where the selected function was measured, those that are left out included."""
        return self._chosen.settings

    @property
    def excluded(self) -> tuple[Setting, ...]:
        """Settings that are left out of the selected function."""
        return self._chosen.excluded

    @property
    def history(self) -> tuple[str, ...]:
        """Names of the steps that can be undone, the last one last."""
        return tuple(step.name for step in self._history.past)

    @property
    def undone(self) -> tuple[str, ...]:
        """Names of the steps that can be redone, the next one first."""
        return tuple(step.name for step in reversed(self._history.future))

    @property
    def snapshots(self) -> dict[str, State]:
        """The states that were given a name."""
        return dict(self._snapshots)

    def series(self, name: str | Name) -> AnySeries:
        """Return the values of a function, or of a function and metric, without the settings that are left out.

        Raises DataError if it was not measured or nothing of it is left.
        """
        return series_of(self._judge, self.state, name)

    def verdict_of(self, name: str | Name) -> AnyVerdict | None:
        """Return the verdict on a function, or on a function and metric as in `names`; None if there is none."""
        return self._outcome.verdicts.get(name_of(self._judge, name))

    def problem_of(self, name: str | Name) -> str:
        """Return why there is no verdict on a function, or on a function and metric; empty if there is one."""
        return self._outcome.problems.get(name_of(self._judge, name), "")

    def observe(self, callback: Observer) -> None:
        """Call ``callback(changed)`` once after every step, when its result is there.

        `callback`: takes a frozenset of names out of ``data``, ``selected``, ``ruler``, ``expectation``, ``statistic``,
        ``excluded``, ``rules``, ``result``, ``history`` and ``snapshots``. What it raises is logged.
        """
        self._observers.add(callback)

    def unobserve(self, callback: Observer) -> None:
        """Call a callback no longer."""
        self._observers.remove(callback)

    def select(self, function: str, metric: str | None = None) -> Session:
        """Make a function and metric what everything is about; no step."""
        selected = name_of(self._judge, function if metric is None else (function, metric))
        if selected != self._selected:
            self._selected = selected
            self._observers.tell(frozenset({"selected"}))
        return self

    def use_data(self, data: object) -> Session:
        """Judge other measurements by what was chosen, as far as it fits: expectations, rulers, rules, settings left out.

        `data`: what `scalkit.read` takes or returns, for example the folder that is being measured into, again.
        """
        ds, source = open_source(data, expectations=self._judge.expected)
        key = "" if source.sha256 == self._opened[""][1].sha256 else source.sha256
        if key == self.state.data:
            return self
        if key not in self._opened:
            self._opened[key] = (Judge(ds, self._judge.expected, self.baseline), source)
        excluded = still_excluded(self.state, self._opened[key][0])
        try:
            return self._do(Step(f"measurements {source}", replace(self.state, data=key, excluded=excluded)))
        finally:
            needed = {"", *(one.data for one in (*self._history.states, *self._snapshots.values()))}
            self._opened = {name: one for name, one in self._opened.items() if name in needed}

    def expect(self, text: object, deviation: object | None = None) -> Session:
        """Expect something else of the selected function and metric.

        `text`: in big O notation, for example ``"p*log(p)"``.
        `deviation`: by default one that was given before stays; else half of the leading class is allowed.
        """
        return self._do(self._chosen.expect(text, deviation))

    def set_deviation(self, deviation: object | None) -> Session:
        """Allow another deviation of the selected function; None is half of its leading class."""
        return self._do(self._chosen.set_deviation(deviation))

    def set_ticks(self, growths: Iterable[Growth | str] | None, parameter: str | None = None) -> Session:
        """Put exactly these ticks on the ruler of the selected function; the expectation competes in any case.

        `growths`: None for the ruler that the function has by its expectation.
        `parameter`: of several, whose ruler it is; by default the one that the ticks name.
        """
        return self._do(self._chosen.set_ticks(growths, parameter))

    def add_tick(self, growth: Growth | str, parameter: str | None = None) -> Session:
        """Put one more tick on the ruler of the selected function."""
        return self._do(self._chosen.add_tick(growth, parameter))

    def remove_tick(self, growth: Growth | str, parameter: str | None = None) -> Session:
        """Take a tick off the ruler of the selected function; the expectation cannot go."""
        return self._do(self._chosen.remove_tick(growth, parameter))

    def move_tick(self, old: Growth | str, new: Growth | str, parameter: str | None = None) -> Session:
        """Put a tick of the selected function's ruler elsewhere, where none is; the expectation cannot be moved."""
        return self._do(self._chosen.move_tick(old, new, parameter))

    def refine(self, n: int = 1) -> Session:
        """Put a tick into the middle of every gap of the rows of the ruler, `n` times over; see `SearchSpace.refine`."""
        return self._do(self._chosen.refine(n))

    def judge_by(self, **options: Unpack[JudgingOptions]) -> Session:
        """Judge by other options, the rest staying as they are; see `scalkit.support.options.Judging`."""
        return self._do(self._chosen.judge_by(options))

    def exclude(self, *settings: object) -> Session:
        """Leave out settings of the selected function: values of the parameter, or of several a tuple or mapping each."""
        return self._do(self._chosen.exclude(settings))

    def include(self, *settings: object) -> Session:
        """Take in settings of the selected function that were left out; all of them if none is named."""
        return self._do(self._chosen.include(settings))

    def add_rule(self, text: str | Relation) -> Session:
        """Judge one more cross-function rule, for example ``"MPI_Allreduce <= MPI_Reduce + MPI_Bcast"``."""
        return self._do(self._chosen.add_rule(text))

    def remove_rule(self, text: str | Relation) -> Session:
        """Judge a cross-function rule no longer."""
        return self._do(self._chosen.remove_rule(text))

    def begin_step(self, name: str | None = None) -> Session:
        """Make what follows one step, until `end_step`, as while a tick is dragged; by default with the last one's name."""
        self.end_step()
        self._group = (name, len(self._history.past))
        return self

    def end_step(self, name: str | None = None) -> Session:
        """End what `begin_step` began, by another name if one is given; without that nothing happens."""
        if self._group is not None:
            (begun, since), self._group = self._group, None
            history, self._history = self._history, self._history.joined(name or begun, since)
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
            raise UsageError(f"the name of a snapshot is {brief(name)}; a text such as 'A' is needed.")
        self._snapshots[name] = self.state
        self._observers.tell(frozenset({"snapshots"}))
        return self

    def restore(self, name: str) -> Session:
        """Go back to a snapshot."""
        return self._do(Step(f"restore {name}", self._snapshot(name)))

    def compare(self, before: str, after: str | None = None) -> pd.DataFrame:
        """Return what differs in the verdicts of two snapshots, a row each. `after`: by default the present state."""
        states = self._snapshot(before), self.state if after is None else self._snapshot(after)
        first, second = (self._opened[one.data][0].result(one) for one in states)
        return differences(first, second)

    def save(self, path: str | os.PathLike[str], *, with_data: bool | None = None) -> Session:
        """Write the session to a file that `load` reads.

        `path`: appears only when it is complete; an existing file is replaced.
        `with_data`: whether the measurements go into it; by default only those that no file holds, or none any more.
        """
        file.write(self.to_dict(with_data=with_data), path_of(path, "the session"))
        return self

    def save_expectations(self, path: str | os.PathLike[str]) -> Session:
        """Write expectations, ticks moved by hand and rules to a TOML file, which `scalkit.validate` and the commands take."""
        write_expectations(self, path_of(path, "the expectations"))
        return self

    def to_dict(self, *, with_data: bool | None = None) -> dict[str, Any]:
        """Return the session as JSON values; see `save`."""
        return file.session_to_dict(self, with_data)

    def as_code(self) -> str:
        """Return Python that comes to the same state from the same measurements, and prints the verdict."""
        return code_of(self)

    @classmethod
    def load(cls, source: str | os.PathLike[str] | Mapping[str, Any], *, data: object | None = None) -> Session:
        """Return the session in a file that `save` wrote, in an HTML report, or in what `to_dict` returned.

        `data`: measurements to use instead of those that the file names.
        Raises DataError if the file is no session, or its measurements are not there or are others.
        """
        return file.read_session(cls, source, data)

    def __repr__(self) -> str:
        return f"Session({self._source}: {self.result.headline}; {counted(len(self._history.past), 'step')})"

    def _repr_html_(self) -> str:
        return session_html(self)

    @property
    def _chosen(self) -> Chosen:
        return Chosen(self._judge, self.state, self._selected)

    def _snapshot(self, name: str) -> State:
        if not isinstance(name, str) or name not in self._snapshots:
            raise UsageError(
                f"there is no snapshot {brief(name)}; there are {', '.join(self._snapshots) or 'none, make one first'}."
            )
        return self._snapshots[name]

    def _do(self, step: Step) -> Session:
        return self._go(self._history.did(step))

    def _go(self, history: History) -> Session:
        """Make a history the present one, once its result is there, and tell of it."""
        before, after = self._history.present, history.present
        if history is self._history:
            return self
        with without_pauses():
            judge, source = self._opened[after.data]
            outcome = self._outcome if after == before else judge.result(after)
            changed = aspects(before, after)
            if after.data != before.data:
                self._opened[before.data] = (self._judge, self._source)
                self._judge, self._source = judge, source
                if self._selected not in judge.names:
                    self._selected = outcome.worst or judge.names[0]
                    changed |= {"selected"}
            self._outcome, self._history = outcome, history
            self._observers.tell(changed)
        return self
