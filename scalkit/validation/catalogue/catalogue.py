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

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.text import did_you_mean
from scalkit.toml.tables import EntryPath, line_of, lines_of, syntax_error
from scalkit.validation.against.claimed import Claimed, claimed
from scalkit.validation.catalogue.entries import AtEntry, at, is_by_metric, known_keys, made, require_deviation, typed
from scalkit.validation.expectation import WORDS, Expectation
from scalkit.validation.names import candidates, function_in, named
from scalkit.validation.several.expectation import SeveralExpectation, SeveralSpace, Space, space_along
from scalkit.validation.space import SPACES, SearchSpace

CATALOGUES = ("mpi", "mpi-all", "mafia")
_RULER = ("space", "ticks", "add_ticks", "remove_ticks")
_KEYS = ("title", "deviation", *_RULER, "litmus", "rules", "expectations")
_FUNCTION_KEYS = ("expectation", "deviation", *_RULER)


@dataclass(frozen=True)
class Expected:
    """The expectation of one function, its search space or the name of that, and the model whose multiple is expected."""

    expectation: Expectation | SeveralExpectation
    space: Space = "around"
    model: Claimed | None = None

    def along(self, parameter: str, fixed: Collection[str] = ()) -> Expectation:
        """Return the expectation in terms of `parameter`, where those in `fixed` have one value."""
        if isinstance(self.expectation, SeveralExpectation):
            return self.expectation.at(parameter, fixed)
        if self.expectation.parameter in fixed:
            return Expectation(1, None, parameter)
        return self.expectation.in_parameter(parameter)

    def search_space(self, parameter: str, fixed: Collection[str] = ()) -> tuple[Expectation, SearchSpace]:
        """Return the expectation in terms of `parameter` and the ticks to try."""
        expectation = self.along(parameter, fixed)
        return expectation, space_along(expectation, self.space, is_only=not fixed)

    def search_spaces(self, parameters: Sequence[str]) -> tuple[SeveralExpectation, dict[str, SearchSpace]]:
        """Return the expectation over several parameters and the ticks to try along each."""
        given = self.expectation
        if isinstance(given, Expectation):
            own = {given.parameter: given.deviation} if given.has_own_deviation else None
            expectation = SeveralExpectation(given.growth, own, parameters)
        else:
            expectation = given.over(parameters)
        spaces = {name: space_along(one, self.space, is_only=False) for name, one in expectation.along.items()}
        return expectation, spaces


@dataclass(frozen=True)
class ExpectationSet:
    """Expectations by function name, rules between functions, and the litmus function.

    ``lines`` has the line of each function in the file that the set was read from.
    """

    functions: Mapping[str, Expected]
    rules: tuple[Relation, ...] = ()
    litmus: str | None = None
    name: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ExpectationSet {self.name or 'of a mapping'}: {len(self.functions)} functions, {len(self.rules)} rules>"

    def _repr_html_(self) -> str:
        from scalkit.validation.told.shown import expectations_html

        return expectations_html(self)

    def of(self, function: str, metric: str = "", is_primary: bool = True) -> Expected | None:
        """Return the expectation of a metric of a function; a variant such as ``f[random]`` falls back to ``f``.

        `metric`: without one, what stands for all primary metrics.
        `is_primary`: whether an expectation that names no metric is about this one: see `scalkit.validation.names.primary`.
        """
        return self.functions.get(self.name_of(function, metric, is_primary))

    def name_of(self, function: str, metric: str = "", is_primary: bool = True) -> str:
        """Return the name under which the set knows a metric of a function; empty if it does not."""
        return next((name for name in candidates(function, metric, is_primary) if name in self.functions), "")

    @property
    def names(self) -> tuple[str, ...]:
        """All names of functions that may be meant, with and without metrics."""
        return tuple(dict.fromkeys((*self.functions, *map(function_in, self.functions))))


def load_expectations(source: str | Path) -> ExpectationSet:
    """Return a bundled set (``"mpi"``, ``"mpi-all"``, ``"mafia"``) or the one in a TOML file.

    Raises ExpectationError if the file cannot be read, is not TOML, or an entry is wrong; the text names the file, the line,
    the entry and the value.
    Raises RuleError if a rule cannot be read.
    """
    if source in CATALOGUES:
        text = resources.files("scalkit.validation").joinpath(f"catalogues/{source}.toml").read_text(encoding="utf-8")
        return _from_text(text, str(source))
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file in UTF-8"
        raise ExpectationError(
            f"cannot read the expectations {str(source)!r}: {reason}. Give a TOML file or one of {', '.join(CATALOGUES)}."
            + did_you_mean(source, [*CATALOGUES, *WORDS])
        ) from error
    return _from_text(text, str(source))


def expectation_set(source: object) -> ExpectationSet:
    """Return a set from a set, a name, a path, or a mapping from function to expectation.

    Values of a mapping are an Expectation, whatever `Expectation` takes, a sum over several parameters such as
    ``"log(p) + S"``, a table with ``expectation``, ``deviation``, ``space``, ``ticks``, ``add_ticks`` and
    ``remove_ticks``, or a table from metric to these. Without a metric an expectation is about those that
    `scalkit.validation.names.primary` says; ``"MPI_Bcast (visits)"`` is the name of a single metric.
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
        f"expectations must be a mapping from function to text, a TOML file or one of {', '.join(CATALOGUES)}; "
        f"got {type(source).__name__}."
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
    known: dict[object, Expected] = {}  # what is written alike is one object, which is soon compared
    for function, value in functions.items():
        by_metric: dict[Any, Any] = dict(value) if is_by_metric(value, _FUNCTION_KEYS) else {None: value}
        for metric, one in by_metric.items():
            here: EntryPath = ("expectations", str(function), *(() if metric is None else (str(metric),)))
            name = str(function) if metric is None else named(str(function), str(metric))
            with at(*here):
                if name in found:
                    raise ExpectationError(f"what is expected of '{name}' is said twice; leave one out.")
            found.add(name)
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
            growth = Growth.parse(text)
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
        raise ExpectationError(f"the search space {name!r} is unknown; choose one of {', '.join(SPACES)}.")
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
