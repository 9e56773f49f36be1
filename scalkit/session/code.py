"""A session as Python: what a person would write to come to the same state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from scalkit.errors import ScalkitError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge import ExpectationSet, SearchSpace
from scalkit.judge.catalogue import expectation_set
from scalkit.judge.judge import Judge
from scalkit.judge.measured import Rulers, Setting
from scalkit.judge.names import Name
from scalkit.session.plain import plain_expectation, plain_set
from scalkit.session.rulers import growths_expected
from scalkit.session.source import Source, confirmed
from scalkit.session.state import State

if TYPE_CHECKING:
    from scalkit.session.session import Session

_MOST_MOVES = 4


def code_of(session: Session, holder: str | None = None) -> str:
    """Return Python that comes to the same state from the same measurements, and prints the verdict.

    `holder`: a file for somewhere else that holds the session and its measurements: paths are then taken as they were
    given. By default the code is for here, and measurements that are at their paths no more come out of the file that
    was loaded.
    """
    session._source = source = confirmed(session._source)
    if holder is not None or not source.is_there:
        kept = source.holder if Path(source.holder).is_file() else ""
        source = replace(source, paths=source.paths if holder is not None else (), holder=holder or kept)
    data, measured = _data(source)
    if session.baseline is None:
        expectations, expected = _expectations(session._given, session._judge.expected)
    else:
        expectations, expected = "baseline", _baseline(source.holder)
    rules, removed = _rules(session.state.rules, session._judge.expected.rules)
    arguments = [data, expectations]
    arguments += [f"rules={literal([str(rule) for rule in rules])}"] if rules else []
    arguments += [f"{name}={option_code(value)}" for name, value in session.state.judging.changed.items()]
    lines = [
        "import scalkit as sk",
        "",
        *measured,
        *expected,
        call("session = sk.Session", arguments),
        *(f"session.remove_rule({literal(str(rule))})" for rule in removed),
        *_once(_changes(session)),
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


def _rules(rules: tuple[Relation, ...], of_set: tuple[Relation, ...]) -> tuple[tuple[Relation, ...], tuple[Relation, ...]]:
    """Return the rules to give beside those of the set, and those of the set to remove."""
    kept = tuple(rule for rule in of_set if rule in rules)
    removed = tuple(rule for rule in of_set if rule not in rules)
    return tuple(rule for rule in rules if rule not in kept), removed


def _changes(session: Session) -> Iterator[str]:
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
            yield from _ticks(session, name, state.ruled(key, None), rulers)
    yield _select(session, session.selected)


def _one_each(judge: Judge) -> list[Name]:
    """Return the first function and metric of each key, in the order of the data, function by function."""
    first: dict[str, Name] = {}
    for name in judge.names:
        first.setdefault(judge.key_of(name), name)
    return sorted(first.values(), key=lambda name: judge.functions.index(name[0]))


def _select(session: Session, name: Name) -> str:
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


def _ticks(session: Session, name: Name, there: State, rulers: Rulers) -> Iterator[str]:
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


def _data(source: Source) -> tuple[str, list[str]]:
    """Return an expression for the measurements, their paths or the file that holds them, and the lines before it."""
    if source.paths:
        return literal(source.paths[0] if len(source.paths) == 1 else list(source.paths)), []
    if source.holder:
        return "data", [f"data = sk.Session.load({literal(source.holder)}).data"]
    how = "# made in memory; scalkit.measure.write_netcdf(data, 'data.nc') writes them there"
    return "data", [how, "data = sk.read('data.nc')"]


def _expectations(given: object, expected: ExpectationSet) -> tuple[str, list[str]]:
    """Return an expression for the expectations, a name or path that holds the same or a mapping, and the lines before it."""
    if isinstance(given, str | os.PathLike) and _is_same(given, expected):
        return literal(os.fspath(given)), []
    table = {function: expectation_entry(one) for function, one in plain_set(expected)["functions"].items()}
    note = [f"# the litmus function, {expected.litmus}, is for a file to name"] if expected.litmus else []
    return "expectations", [*note, f"expectations = {literal(table)}"]


def _baseline(holder: str) -> list[str]:
    """Return the lines that open the baseline of a session, out of the file that holds the session if there is one."""
    if holder:
        return [f"baseline = sk.Session.load({literal(holder)}).baseline"]
    return ["# session.baseline.save('baseline.json') writes it there", "baseline = sk.Baseline.load('baseline.json')"]


def _is_same(given: str | os.PathLike[str], expected: ExpectationSet) -> bool:
    try:
        again = expectation_set(given)
    except ScalkitError:
        return False
    return (again.functions, again.rules, again.litmus) == (expected.functions, expected.rules, expected.litmus)


def expectation_entry(plain: dict[str, Any]) -> Any:
    """Return an expectation as an entry of the mapping that a session takes."""
    entry = {"expectation": plain["expectation"]}
    if plain["deviation"] is not None:
        entry["deviation"] = plain["deviation"]
    entry |= _space_entry(plain["space"])
    return plain["expectation"] if len(entry) == 1 else entry


def _space_entry(space: Any) -> dict[str, Any]:
    if isinstance(space, str):
        return {} if space == "around" else {"space": space}
    if "by" in space:
        ticks = [tick for one in space["by"].values() if isinstance(one, dict) for tick in one["ticks"]]
        return {"ticks": ticks} if ticks else {}
    if "base" in space:
        first = {"ticks": space["ticks"]} if space["ticks"] else {"space": space["base"]}
        keys = (("add_ticks", "added"), ("remove_ticks", "removed"))
        return {**first, **{key: space[name] for key, name in keys if space[name]}}
    return {"ticks": space["ticks"]}


WIDTH = 100


def literal(value: object) -> str:
    """Return the literal of text, numbers, lists, tuples and dicts of these."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return _enclosed("{", [f"{literal(key)}: {literal(one)}" for key, one in value.items()], "}")
    if isinstance(value, list):
        return _enclosed("[", [literal(one) for one in value], "]")
    if isinstance(value, tuple):
        return _enclosed("(", [literal(one) for one in value], ",)" if len(value) == 1 else ")")
    return repr(value)


def call(function: str, arguments: Sequence[str]) -> str:
    """Return a call, on one line if that is not too long."""
    return _enclosed(f"{function}(", arguments, ")")


def _enclosed(opening: str, parts: Sequence[str], closing: str) -> str:
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return "\n".join([opening, *(f"{indent(part, '    ')}," for part in parts), closing.removeprefix(",")])
