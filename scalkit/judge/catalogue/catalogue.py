"""Sets of expectations: the bundled ones and those in a user's TOML file, which expectations.schema.json describes.

::

    deviation = "p^(1/2)"            # for all functions; by default half of each expectation's class
    space = "ics15"                  # or "around" (default), "paper"
    remove_ticks = ["p^2*log(p)"]    # a ruler moved by hand: add_ticks, remove_ticks, or all ticks in place of a space
    litmus = "Bcast_binary_tree"     # the own implementation whose behaviour is known
    rules = ["MPI_Allreduce <= MPI_Reduce + MPI_Bcast"]

    [expectations]
    MPI_Barrier = "log(p)"
    MPI_Gather = { expectation = "p", deviation = "log(p)", space = "paper" }
    MPI_Scan = { expectation = "log(p)", ticks = ["1", "log(p)", "p^(1/2)", "p"] }
    MPI_Send = { expectation = "log(p) + S", deviation = { S = "S^(1/4)" } }
    solve = { time = "p", visits = "1" }    # metric by metric; a name alone is about time and memory

What a function says of itself goes before what the file says for all; a ruler of its own is not changed by the file."""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from scalkit.errors import ExpectationError, ScalkitError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.growth.sums import GrowthSum
from scalkit.judge.against.claimed import claimed
from scalkit.judge.catalogue.entries import ExpectationSet, Expected
from scalkit.judge.expectation import WORDS, Expectation, HasGrowth
from scalkit.judge.names import named
from scalkit.judge.several.expectation import SeveralExpectation, SeveralSpace
from scalkit.judge.space import SPACES, SearchSpace
from scalkit.support.text import brief, did_you_mean
from scalkit.support.toml.tables import EntryPath, line_of, lines_of, syntax_error

CATALOGUES = ("mpi", "mpi-all", "mafia")
_RULER = ("space", "ticks", "add_ticks", "remove_ticks")
_KEYS = ("title", "deviation", *_RULER, "litmus", "rules", "expectations")
_FUNCTION_KEYS = ("expectation", "deviation", *_RULER)


def load_expectations(source: str | Path) -> ExpectationSet:
    """Return a bundled set (``"mpi"``, ``"mpi-all"``, ``"mafia"``) or the one in a TOML file.

    Raises ExpectationError if the file cannot be read, is not TOML, or an entry is wrong; the text names the file, the line,
    the entry and the value.
    Raises RuleError if a rule cannot be read.
    """
    if source in CATALOGUES:
        text = resources.files("scalkit.judge").joinpath(f"catalogues/{source}.toml").read_text(encoding="utf-8")
        return _from_text(text, str(source))
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file in UTF-8"
        raise ExpectationError(
            f"cannot read the expectations {str(source)[:255]!r}: {reason}. Give a TOML file or one of {', '.join(CATALOGUES)}."
            + did_you_mean(source, [*CATALOGUES, *WORDS])
        ) from error
    return _from_text(text, str(source))


def expectation_set(source: object) -> ExpectationSet:
    """Return a set from a set, a name, a path, or a mapping from function to expectation.

    Values of a mapping are an Expectation, whatever `Expectation` takes, a sum over several parameters such as
    ``"log(p) + S"``, a table with ``expectation``, ``deviation``, ``space``, ``ticks``, ``add_ticks`` and
    ``remove_ticks``, or a table from metric to these. Without a metric an expectation is about those that
    `scalkit.judge.names.primary` says; ``"MPI_Bcast (visits)"`` is the name of a single metric.
    """
    if isinstance(source, ExpectationSet):
        return source
    if isinstance(source, (str, Path)):
        return load_expectations(source)
    if isinstance(source, Mapping):
        try:
            return ExpectationSet({name: one for name, _, one in _entries(source, {})})
        except AtEntry as wrong:
            raise wrong.error from None
    raise ExpectationError(
        f"the expectations cannot be {brief(source)}; give a growth such as 'log(p)', a mapping from function to growth, a TOML "
        f"file or one of {', '.join(CATALOGUES)}."
    )


def _from_text(text: str, name: str) -> ExpectationSet:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place, reason = syntax_error(error)
        raise ExpectationError(f"{name}{f', {place}' if place else ''}: this is not valid TOML: {reason}.") from error
    try:
        lines = lines_of(text)
        return _from_table(table, name, lines)
    except AtEntry as wrong:
        line = line_of(wrong.path, lines)
        where = f"{name}, line {line}" if line else name
        raise type(wrong.error)(f"{where}: {wrong.error}") from wrong.error


def _from_table(table: Mapping[str, Any], name: str, lines: Mapping[EntryPath, int]) -> ExpectationSet:
    known_keys(table, _KEYS, "the file", ())
    functions = typed(table, "expectations", dict, {}, "a table of functions")
    if not functions:
        with at("expectations"):
            raise ExpectationError(
                "there is no [expectations] table with a function; add one, for example MPI_Barrier = 'log(p)'."
            )
    typed(table, "title", str, None, "text")
    typed(table, "deviation", (str, dict), None, "text, or a table from parameter to text,")
    with at("deviation"):
        require_deviation(table.get("deviation", 1))
    _require_ruler(table, ())
    entries = list(_entries(functions, table))
    return ExpectationSet(
        functions={key: one for key, _, one in entries},
        rules=tuple(_rules(typed(table, "rules", list, [], "a list of texts"))),
        litmus=typed(table, "litmus", str, None, "the name of a function"),
        name=name,
        lines={key: lines[path] for key, path, _ in entries if path in lines},
    )


def _rules(rules: list[Any]) -> Iterator[Relation]:
    for place, rule in enumerate(rules):
        with at("rules", place):
            yield Relation.parse(rule)


def _entries(functions: Mapping[str, Any], overall: Mapping[str, Any]) -> Iterator[tuple[str, EntryPath, Expected]]:
    """Return the name, the place and the expectation of every entry, metric by metric where a table says so."""
    found: set[str] = set()
    known: dict[object, Expected] = {}
    for function, value in functions.items():
        by_metric: dict[Any, Any] = dict(value) if is_by_metric(value, _FUNCTION_KEYS) else {None: value}
        for metric, one in by_metric.items():
            here: EntryPath = ("expectations", str(function), *(() if metric is None else (str(metric),)))
            name = str(function) if metric is None else named(str(function), str(metric))
            with at(*here):
                if name in found:
                    raise ExpectationError(f"what is expected of '{name}' is said twice; leave one out.")
            found.add(name)
            # Many functions share few expectations, and reading one takes longer than judging by it.
            key = _written(one)
            if key is None or key not in known:
                known[key] = _expected(name, one, overall, here)
            yield name, here, known[key]


def _written(value: object) -> object:
    """Return what stands for an entry that is text alone; None for any other one."""
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return tuple(value.items())
    return value if isinstance(value, str) else None


def _expected(function: str, value: object, overall: Mapping[str, Any], here: EntryPath) -> Expected:
    """Return the expectation of a function; `overall` has what the file says for all, `here` is its place."""
    entry: Mapping[str, Any] = value if isinstance(value, Mapping) else {"expectation": value}
    known_keys(entry, _FUNCTION_KEYS, f"'{function}'", here)
    if (model := claimed(entry.get("expectation"))) is not None:
        return Expected(Expectation(1), model=model)
    with at(*here):
        if "expectation" not in entry:
            raise ExpectationError(f"'{function}' has no key 'expectation'; add one, for example expectation = 'log(p)'.")
    if isinstance(entry["expectation"], Expectation | SeveralExpectation):
        return _ruled(function, entry["expectation"], entry, overall, here)
    with at(*here, "expectation"):
        if isinstance(entry["expectation"], (bool, list, dict)):
            raise ExpectationError(
                f"the expectation of '{function}' is {entry['expectation']!r}; write it as text, for example 'log(p)'."
            )
        with _naming(function):
            made(entry["expectation"], None)
    with at(*here, "deviation"), _naming(function):
        expectation = made(entry["expectation"], entry.get("deviation", overall.get("deviation")))
    return _ruled(function, expectation, entry, overall, here)


@contextmanager
def _naming(function: str) -> Iterator[None]:
    try:
        yield
    except ExpectationError as error:
        raise ExpectationError(f"function '{function}': {error}") from error


def _ruled(
    function: str,
    expectation: Expectation | SeveralExpectation,
    entry: Mapping[str, Any],
    overall: Mapping[str, Any],
    here: EntryPath,
) -> Expected:
    """Return an expectation with its search space: its own, or the file's, and the ticks added and removed by hand."""
    _require_ruler(entry, here)
    base, base_at = (entry, here) if "space" in entry or "ticks" in entry else (overall, ())
    space = base.get("space", "around")
    ticks = _ticks(base, "ticks", base_at)
    changes = {}
    for key in ("add_ticks", "remove_ticks"):
        owner, owner_at = (entry, here) if key in entry or base is entry else (overall, ())
        changes[key] = _ticks(owner, key, owner_at)
    added, removed = changes["add_ticks"], changes["remove_ticks"]
    if not (ticks or added or removed):
        return Expected(expectation, space)
    if isinstance(expectation, SeveralExpectation):
        name = space if isinstance(space, str) else "around"
        return Expected(expectation, SeveralSpace(name, tuple(ticks), tuple(added), tuple(removed)))
    with at(*here), _naming(function):
        expectation = _in_parameter_of(expectation, [*ticks, *added, *removed])
        if isinstance(space, SearchSpace):
            made = space
        elif ticks:
            made = SearchSpace.of(ticks, "by hand", expectation.parameter)
        else:
            made = SearchSpace.named(space, expectation)
        for tick in added:
            made = made.with_tick(tick)
        for tick in removed:
            if "remove_ticks" in entry or tick in made.ticks:
                made = made.without_tick(tick)
    return Expected(expectation, made)


def _in_parameter_of(expectation: Expectation, ticks: list[Growth]) -> Expectation:
    """Return the expectation in terms of the ticks' parameter, which a constant one takes over."""
    for tick in ticks:
        for name in tick.parameters:
            if name != expectation.parameter and not expectation.growth.is_constant:
                raise ExpectationError(
                    f"the tick '{tick}' is in terms of '{name}', the expectation in terms of '{expectation.parameter}'; "
                    f"write it in terms of {expectation.parameter}."
                )
            expectation = expectation.in_parameter(name)
    return expectation


def _ticks(table: Mapping[str, Any], key: str, where: EntryPath) -> list[Growth]:
    found = []
    for place, text in enumerate(table.get(key, ())):
        with at(*where, key, place):
            if isinstance(text, (bool, int, float, list, dict)):
                raise ExpectationError(f"the tick {text!r} is no growth; write it as text, for example 'p^(1/2)'.")
            growth = Growth(text)
            if len(growth.parameters) > 1:
                raise ExpectationError(f"the tick '{growth}' depends on several parameters; write ticks in terms of one.")
            found.append(growth)
    return found


def _require_ruler(table: Mapping[str, Any], where: EntryPath) -> None:
    """Check the keys of a ruler: known names, lists of texts, and not both a space and all ticks."""
    for key in ("ticks", "add_ticks", "remove_ticks"):
        with at(*where, key):
            if key in table and not isinstance(table[key], list | tuple):
                raise ExpectationError(f"'{key}' is {table[key]!r}; a list of growths is needed, as in ['1', 'log(p)', 'p'].")
    with at(*where, "ticks"):
        if "ticks" in table and not list(table["ticks"]):
            raise ExpectationError("'ticks' is empty; list the growths to try, or leave it out.")
        if "ticks" in table and "space" in table:
            raise ExpectationError("'space' and 'ticks' both say which growths to try; give one, or use 'add_ticks'.")
    with at(*where, "space"):
        if "space" in table and not isinstance(table["space"], SearchSpace):
            _space(table["space"])


def _space(name: object) -> str:
    if not isinstance(name, str):
        raise ExpectationError(f"'space' is {name!r}; text is needed.")
    if name not in SPACES:
        raise ExpectationError(f"the search space {brief(name)} is unknown; choose one of {', '.join(SPACES)}.")
    return name


def is_bundled(function: str, along: Mapping[str, Expectation]) -> bool:
    """Return whether a bundled catalogue says the same of a function, along its only parameter."""
    known = _bundled().get(function.partition("[")[0], ())
    return len(along) == 1 and any(one in known for one in along.values())


@cache
def _bundled() -> dict[str, list[Expectation]]:
    found: dict[str, list[Expectation]] = {}
    for name in CATALOGUES:
        for function, one in load_expectations(name).functions.items():
            if isinstance(one.expectation, Expectation):
                found.setdefault(function, []).append(one.expectation)
    return found


def made(text: object, deviation: object) -> Expectation | SeveralExpectation:
    """Return an expectation of one parameter, or of several where it or its deviation names several; of texts made once."""
    is_text = isinstance(text, str) and isinstance(deviation, str | None)
    return _made_of_texts(text, deviation) if is_text else _made(text, deviation)


def _made(text: object, deviation: object) -> Expectation | SeveralExpectation:
    given = text.growth if isinstance(text, HasGrowth) else text
    named = _parameters_in(given)
    if isinstance(deviation, Mapping):
        require_deviation(deviation)
        return SeveralExpectation(given, deviation, tuple(dict.fromkeys([*named, *map(str, deviation)])))
    allowed = () if deviation is None else _parameters_in(deviation)
    if len(named) > 1 or len(allowed) > 1:
        return SeveralExpectation(given, deviation, tuple(dict.fromkeys([*named, *allowed])))
    return Expectation(text, deviation)


_made_of_texts = lru_cache(maxsize=256)(_made)


def _parameters_in(text: object) -> tuple[str, ...]:
    try:
        return GrowthSum.parse(text).parameters
    except ExpectationError:
        return ()  # Expectation says what is wrong


def require_deviation(deviation: object) -> None:
    """Refuse an empty table, and what is no growth."""
    if isinstance(deviation, Mapping) and not deviation:
        raise ExpectationError("'deviation' is an empty table; name a parameter, as in { S = 'S^(1/4)' }, or leave it out.")
    for one in deviation.values() if isinstance(deviation, Mapping) else [deviation]:
        Growth(one)


class AtEntry(Exception):  # noqa: N818
    """Carries an error to where the lines of the file are known."""

    def __init__(self, path: EntryPath, error: ScalkitError) -> None:
        super().__init__(path, error)
        self.path, self.error = path, error


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """Let errors inside say that they stand at a path of keys."""
    try:
        yield
    except ScalkitError as error:
        raise AtEntry(path, error) from error


def known_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str, path: EntryPath) -> None:
    """Refuse keys of a table that are not known; `where` says what it is, `path` where it stands."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(known)}."
            with at(*path, str(key)):
                raise ExpectationError(f"{where} has the unknown key '{key}'{hint}")


def is_by_metric(value: object, known: tuple[str, ...]) -> bool:
    """Return whether the entry of a function is a table from metric to entry; keys that look like `known` ones are none."""
    if not isinstance(value, Mapping) or not value:
        return False
    return not any(key in known or difflib.get_close_matches(str(key), known, 1) for key in value)


def typed(table: Mapping[str, Any], key: str, kind: type | tuple[type, ...], default: Any, words: str) -> Any:
    """Return a value of a table, or the default; refuse one that is not of a kind, which `words` describe."""
    value = table.get(key, default)
    with at(key):
        if value is not default and not isinstance(value, kind):
            raise ExpectationError(f"'{key}' is {value!r}; {words} is needed.")
    return value
