"""A session as Python: what a person would write to come to the same state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.growth import Growth, plain_growths
from scalkit.relation import Relation
from scalkit.session.code_data import data_code, expectations_code
from scalkit.session.literals import call, literal
from scalkit.session.rulers import growths_expected
from scalkit.session.source import confirmed
from scalkit.session.state import State
from scalkit.validation import SearchSpace
from scalkit.validation.judge.choices import Rulers, Setting
from scalkit.validation.plain import plain_expectation

if TYPE_CHECKING:
    from scalkit.session.queries import SessionView
    from scalkit.validation.judge.judge import Judge
    from scalkit.validation.names import Name

_MOST_MOVES = 4


def code_of(session: SessionView, holder: str | None = None) -> str:
    """Return Python that comes to the same state from the same measurements, and prints the verdict.

    `holder`: a file for somewhere else that holds the session and its measurements: paths are then taken as they were
    given. By default the code is for here, and measurements that are at their paths no more come out of the file that
    was loaded.
    """
    session._source = source = confirmed(session._source)
    if holder is not None or not source.is_there:
        kept = source.holder if Path(source.holder).is_file() else ""
        source = replace(source, paths=source.paths if holder is not None else (), holder=holder or kept)
    data = data_code(session.data, source)
    expected = expectations_code(session._given, session._judge.expected)
    rules, removed = _rules(session.state.rules, session._judge.expected.rules)
    arguments = [data.expression, expected.expression]
    arguments += [f"rules={literal([str(rule) for rule in rules])}"] if rules else []
    arguments += [f"{name}={option_code(value)}" for name, value in session.judging.changed.items()]
    imports = (*data.imports, *expected.imports)
    begin = [*expected.lines, call("session = sk.Session", arguments)]
    changes = list(_once(_changes(session)))
    lines = [
        *imports,
        *([""] if imports else []),
        "import scalkit as sk",
        "",
        *_own_growths("\n".join([*begin, *changes])),
        *data.lines,
        *begin,
        *(f"session.remove_rule({literal(str(rule))})" for rule in removed),
        *changes,
        "print(session.verdict.sentence if session.verdict else session.problem)",
    ]
    return "\n".join(lines) + "\n"


def option_code(value: object) -> str:
    """Return the value of an option as Python: a text, a number, a search space, or spaces by parameter."""
    if isinstance(value, SearchSpace):
        ticks = [str(tick) for tick in value.ticks]
        return f"sk.SearchSpace.of({literal(ticks)}, {literal(value.name)}, {literal(value.parameter)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(name)}: {option_code(one)}' for name, one in value.items())}}}"
    return literal(value)


def _own_growths(code: str) -> Iterator[str]:
    """Return the calls that register the growth classes of the user's own that code names."""
    for name, one in plain_growths(code).items():
        places = [f"{key}={literal(one[key])}" for key in ("slower_than", "faster_than") if key in one]
        yield call("sk.register_growth", [literal(name), literal(one["expression"]), *places])


def _rules(
    rules: tuple[Relation, ...], of_set: tuple[Relation, ...]
) -> tuple[tuple[Relation, ...], tuple[Relation, ...]]:
    """Return the rules to give beside those of the set, and those of the set to remove."""
    kept = tuple(rule for rule in of_set if rule in rules)
    removed = tuple(rule for rule in of_set if rule not in rules)
    return tuple(rule for rule in rules if rule not in kept), removed


def _changes(session: SessionView) -> Iterator[str]:
    """Return the calls that lead from the beginning to the state, function by function."""
    state, judge = session.state, session._judge
    begin = State(state.judging, state.rules)
    gone: set[str] = set()
    for name in _one_each(judge):
        function, key = name[0], judge.key_of(name)
        settings = () if function in gone else state.excluded.get(function, ())
        rulers = state.rulers.get(key)
        if not (settings or rulers or key in state.expectations):
            continue
        gone.add(function)
        yield _select(session, name)
        if settings:
            yield call("session.exclude", [literal(_short(one)) for one in settings])
        if key in state.expectations:
            before = judge.given(name, begin)
            had_own = before is not None and plain_expectation(before)["deviation"] is not None
            yield _expect(state, key, had_own)
        if rulers:
            there = replace(state, shared={}).ruled(key, None)
            yield from _ticks(session, name, there, rulers)
    if state.shared:
        yield from _share(session)
    yield _select(session, session.selected)


def _one_each(judge: Judge) -> list[Name]:
    """Return the first function and metric of each key, in the order of the data, function by function."""
    first: dict[str, Name] = {}
    for name in judge.names:
        first.setdefault(judge.key_of(name), name)
    return sorted(first.values(), key=lambda name: judge.functions.index(name[0]))


def _select(session: SessionView, name: Name) -> str:
    """Return the call that selects a function and metric; of a function's only metric the name is left out."""
    metrics = [metric for function, metric in session.names if function == name[0]]
    return call("session.select", [literal(one) for one in (name if len(metrics) > 1 else name[:1])])


def _once(lines: Iterator[str]) -> Iterator[str]:
    """Return lines without those that repeat the last selection."""
    last = ""
    for line in lines:
        if line.startswith("session.select("):
            if line == last:
                continue
            last = line
        yield line


def _expect(state: State, key: str, had_own: bool) -> str:
    plain = plain_expectation(state.expectations[key])
    text, deviation = plain["expectation"], plain["deviation"]
    if deviation is not None:
        return call("session.expect", [literal(text), literal(deviation)])
    return call("session.expect", [literal(text)]) + (".set_deviation(None)" if had_own else "")


def _share(session: SessionView) -> Iterator[str]:
    """Return the calls that make one ruler serve all functions: that of the selected one, if it can have any."""
    judge, state = session._judge, session.state
    able = [name for name in (session.selected, *judge.names) if judge.given(name, state) is not None]
    yield _select(session, able[0])
    yield "session.share_ticks(True)"
    yield from _ticks(session, able[0], replace(state, shared={}), state.shared)


def _ticks(session: SessionView, name: Name, there: State, rulers: Rulers) -> Iterator[str]:
    """Return the calls that turn the rulers that a function has in a state into others: few moves, or all ticks."""
    task = session._judge.task_of(name, there)
    if task is None:
        return
    expected = growths_expected(task.expectation)
    for parameter, ticks in rulers.items():
        before, after = set(task.spaces[parameter].ticks), set(ticks)
        gone, new = sorted(before - after), sorted(after - before)
        several = len(session.parameters) > 1
        axis = [f"parameter={literal(parameter)}"] if several else []
        if expected[parameter] not in after or not 0 < len(gone) + len(new) <= _MOST_MOVES:
            yield call("session.set_ticks", [literal([str(tick) for tick in ticks]), *axis])
        elif len(gone) == len(new) == 1:
            yield call("session.move_tick", [*_texts(gone), *_texts(new), *axis])
        else:
            yield from (call("session.add_tick", [text, *axis]) for text in _texts(new))
            yield from (call("session.remove_tick", [text, *axis]) for text in _texts(gone))


def _texts(ticks: list[Growth]) -> list[str]:
    return [literal(str(tick)) for tick in ticks]


def _short(setting: Setting) -> object:
    """Return a setting with whole numbers as such."""
    if isinstance(setting, tuple):
        return tuple(_short(one) for one in setting)
    return int(setting) if setting.is_integer() else setting
