"""One guideline: ``left <= right`` or ``left ~ right`` between levels of a parameter, and its text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from scalkit.errors import RuleError
from scalkit.growth.relation import NAME, SumReader, Terms, shown_factor, token_pattern
from scalkit.support.arguments import each_of
from scalkit.support.schema_errors import place, schema_errors, schema_in
from scalkit.support.toml.tables import EntryPath, lines_of, table_of

Side = tuple[Terms, ...]
"""The largest of these sums; mostly one."""

_PLAIN = re.compile(NAME)
_DIGITS = re.compile(r"\d+")


def plain_level(level: object) -> str:
    """Return a level as text that compares: 1, 1.0, True and "1" are the same, and so are "FMAJ" and "fmaj"."""
    if isinstance(level, str):
        return level.casefold()
    try:
        whole = int(level)  # type: ignore[call-overload]
        return str(whole) if whole == level else str(level)
    except (TypeError, ValueError, OverflowError):
        return str(level).casefold()


def parse(text: str) -> tuple[str, Side, Literal["<=", "~"], Side]:
    """Return the parameter that the text names, if any, the left side, the relation and the right side.

    Raises RuleError if it cannot be read.
    """
    return _Reader(text).parse()


def shown_side(side: Side, prefix: str = "") -> str:
    """Return a side as text that reads back."""
    sums = [" + ".join(_shown(factor, level, prefix) for factor, level in terms) for terms in side]
    return sums[0] if len(sums) == 1 else f"max({', '.join(sums)})"


def _shown(factor: float, level: str, prefix: str) -> str:
    is_plain = _PLAIN.fullmatch(level) or (prefix and _DIGITS.fullmatch(level))
    return shown_factor(factor) + prefix + (level if is_plain and level != "max" else f'"{level}"')


class _Reader(SumReader):
    what: ClassVar[str] = "guideline"
    noun: ClassVar[str] = "name"
    example: ClassVar[str] = "Write it as 'A <= B + 2*C' or 'A ~ B', with names that hold blanks in double quotes."
    pattern: ClassVar[re.Pattern[str]] = token_pattern(r"(?P<max>max)(?=\s*\()|(?P<digits>\d+)|", r"<=|[~+*(),=]")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.parameters: list[str] = []

    def parse(self) -> tuple[str, Side, Literal["<=", "~"], Side]:
        left = self.side()
        is_similar = self.take("~")
        if not is_similar and not self.take("<="):
            self.refuse("'<=' or '~' is missing")
        right = self.side()
        if self.peek()[0] != "end":
            self.refuse(f"'{self.peek()[1]}' is left over")
        named = list(dict.fromkeys(self.parameters))
        if len(named) > 1:
            shown = " and ".join(f"'{name}'" if name else "a level without one" for name in named)
            self.refuse(f"it names {shown}, but compares levels of one parameter")
        return named[0], left, "~" if is_similar else "<=", right

    def side(self) -> Side:
        if self.peek()[0] != "max":
            return (self.sum(),)
        self.at += 1
        self.take("(")
        sums = [self.sum()]
        while self.take(","):
            sums.append(self.sum())
        if not self.take(")"):
            self.refuse("')' is missing")
        return tuple(sums)

    def named(self) -> str:
        """Return the level that must come next, behind the parameter that it may be of."""
        kind, level = self.peek()
        parameter = ""
        if kind == "name" and self.tokens[self.at + 1 : self.at + 2] == [("op", "=")]:
            parameter = level
            self.at += 2
            kind, level = self.peek()
        if kind not in {"name", "quoted", "max"} and not (parameter and kind == "digits"):
            self.refuse_name(kind, level)
        self.parameters.append(parameter)
        self.at += 1
        return level


GuidelineKind = Literal["levels", "monotony", "split"]
KINDS: tuple[str, ...] = get_args(GuidelineKind)
_EVERY_SIZE = {"monotony": "{0} <= the next larger {0}", "split": "{0} <= a smaller {0}, as often as it takes"}


@dataclass(frozen=True)
class Guideline:
    """What must not be slower than what, all other parameters being equal.

    Attributes
    ----------
    left, right : tuple of sums
        The largest of its sums is the time of a side; a sum has terms, each a factor and a level of `parameter`. Empty unless
        `kind` is ``levels``.
    relation : {"<=", "~"}
        Left is not slower than right, or both take the same time.
    parameter : str
        Whose levels are compared.
    name : str
        As in ``GL4``; guidelines of one name are one family of tests.
    kind : {"levels", "monotony", "split"}
        ``levels``: what `left` and `right` say. ``monotony``: each value of `parameter` takes no longer than the next larger
        one. ``split``: no longer than as many of a smaller one as it takes to reach it.
    where : mapping from str to tuple of str
        Holds for these levels only, and where a measurement has no such parameter.
    apart_from : tuple of str
        Parameters in which the sides may differ.
    meaning : str
    metarule : int or None
        Of Träff, Gropp and Thakur, where the source cites one.
    published : {"", "<=", "~"}
        The relation that the source tests, where it is another than the one it states.
    """

    left: Side = ()
    right: Side = ()
    relation: Literal["<=", "~"] = "<="
    parameter: str = "operation"
    name: str = ""
    kind: GuidelineKind = "levels"
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart_from: tuple[str, ...] = ()
    meaning: str = ""
    metarule: int | None = None
    published: Literal["", "<=", "~"] = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise RuleError(f"the kind of guideline {self.kind!r} is unknown; choose from {', '.join(KINDS)}.")
        each_of((self.left, self.right), tuple, "a side", "write Guideline.parse('A <= B + C')")

    @classmethod
    def parse(cls, text: str, parameter: str | None = None, **others: Any) -> "Guideline":
        """Return the guideline that `text` names.

        `text`: as in ``"MPI_Bcast <= MPI_Scatter + MPI_Allgather"``, ``"order=fmaj ~ order=rand"``, ``"MPI_Ibcast <=
        max(MPI_Bcast, work)"``.
        `parameter`: whose levels are meant where the text does not say; ``"operation"`` by default.
        `**others`: further attributes.
        Raises RuleError if the text is not two sides with ``<=`` or ``~`` between them, or compares levels of several
        parameters.
        """
        named, left, relation, right = parse(text)
        if named and parameter and named != parameter:
            raise RuleError(f"the guideline '{text}' compares levels of '{named}', its parameter is '{parameter}'.")
        return cls(left, right, relation, named or parameter or "operation", **others)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that are compared, each once, in order."""
        return tuple(dict.fromkeys(level for side in (self.left, self.right) for one in side for _, level in one))

    @property
    def family(self) -> str:
        """The name under which tests are counted together."""
        return self.name or str(self)

    def sides(self) -> tuple[str, str]:
        """Return both sides as text."""
        prefix = "" if self.parameter == "operation" else f"{self.parameter}="
        return shown_side(self.left, prefix), shown_side(self.right, prefix)

    def as_published(self) -> "Guideline":
        """Return the guideline with the relation that its source tests."""
        return replace(self, relation=self.published) if self.published else self

    def holds_for(self, parameter: str, level: object) -> bool:
        """Return whether it is about measurements with this level."""
        allowed = self.where.get(parameter)
        return allowed is None or plain_level(level) in {plain_level(one) for one in allowed}

    def __str__(self) -> str:
        if self.kind != "levels":
            return _EVERY_SIZE[self.kind].format(self.parameter)
        left, right = self.sides()
        return f"{left} {self.relation} {right}"


CATALOGUES = ("neighbourhood", "classic")
_MOST_BYTES = 1_000_000
_SCHEMA = Path(__file__).with_name("guidelines.schema.json")
GuidelineSource = str | Path | Guideline | Iterable["str | Path | Guideline"]


def guidelines(source: GuidelineSource = CATALOGUES) -> tuple[Guideline, ...]:
    """Return guidelines: from a text, the name of a bundled set, a TOML file, a `Guideline`, or several of these.

    Parameters
    ----------
    source : str, Path, Guideline, or an iterable of these
        A text has ``<=`` or ``~`` in it.

    Raises
    ------
    RuleError
        If one cannot be read, or there is none.

    Examples
    --------
    >>> [str(one) for one in guidelines(["MPI_Bcast <= MPI_Scatter + MPI_Allgather", "a ~ b"])]
    ['MPI_Bcast <= MPI_Scatter + MPI_Allgather', 'a ~ b']
    >>> sorted({one.name for one in guidelines("neighbourhood")}, key=lambda name: int(name[2:]))[-1]
    'GL12'
    """
    if isinstance(source, Guideline):
        return (source,)
    if isinstance(source, str) and ("<=" in source or "~" in source):
        return (Guideline.parse(source),)
    if isinstance(source, str | Path):
        return load_guidelines(source)
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping):
        raise RuleError(
            f"guidelines cannot come from {type(source).__name__}; give texts, a TOML file, or one of {', '.join(CATALOGUES)}."
        )
    found = tuple(one for part in source for one in guidelines(part))
    if not found:
        raise RuleError(f"there is no guideline; give texts, a TOML file, or one of {', '.join(CATALOGUES)}.")
    return found


def load_guidelines(source: str | Path) -> tuple[Guideline, ...]:
    """Return a bundled set (``"neighbourhood"``: GL1 to GL12; ``"classic"``) or the one in a TOML file.

    Raises
    ------
    RuleError
        If the file cannot be read, is not TOML, or an entry is wrong; the text names the file, the line and the value.
    """
    if source in CATALOGUES:
        file = resources.files("scalkit.guidelines").joinpath(f"catalogues/{source}.toml")
        return _from_text(file.read_text(encoding="utf-8"), str(source))
    try:
        with Path(source).open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file in UTF-8"
        raise RuleError(
            f"cannot read the guidelines {str(source)!r}: {reason}. Give a TOML file, one of {', '.join(CATALOGUES)}, or a "
            "text such as 'MPI_Gather <= MPI_Allgather'."
        ) from error
    if len(content) > _MOST_BYTES:
        raise RuleError(f"{source} is larger than {_MOST_BYTES} bytes; split it into several files.")
    return _from_text(text, str(source))


def _from_text(text: str, name: str) -> tuple[Guideline, ...]:
    table = table_of(text, name, RuleError)
    lines = lines_of(text)
    errors = schema_errors(table, schema_in(_SCHEMA), lines, name)
    found: list[Guideline] = []
    if not errors:
        for number, entry in enumerate(table["guidelines"]):
            try:
                found += _of_entry(entry, ("guidelines", number))
            except _EntryError as wrong:
                errors.append(f"{place(name, wrong.path, lines)}: {wrong}")
    if errors:
        raise RuleError("\n".join(errors))
    return tuple(found)


class _EntryError(Exception):
    def __init__(self, path: EntryPath, text: str) -> None:
        super().__init__(text)
        self.path = path


def _of_entry(entry: Mapping[str, Any], path: EntryPath) -> Iterator[Guideline]:
    name, kind = entry["name"], entry.get("kind", "levels")
    common: dict[str, Any] = {
        "name": name,
        "where": {
            key: tuple(str(int(v)) if v in (True, False) else str(v) for v in levels)
            for key, levels in entry.get("where", {}).items()
        },
        "apart_from": tuple(entry.get("apart_from", ())),
        "meaning": entry.get("meaning", ""),
        "metarule": entry.get("metarule"),
        "published": entry.get("published", ""),
    }
    if kind != "levels":
        if "relations" in entry:
            raise _EntryError((*path, "relations"), f"'{name}' is of kind {kind}, which has no relations; leave them out.")
        yield Guideline(parameter=entry.get("parameter", "size"), kind=kind, **common)
        return
    if "relations" not in entry:
        raise _EntryError(path, f"'{name}' has no relations; add them, as in relations = [\"MPI_Gather <= MPI_Allgather\"].")
    for number, text in enumerate(entry["relations"]):
        try:
            yield Guideline.parse(text, entry.get("parameter"), **common)
        except RuleError as error:
            raise _EntryError((*path, "relations", number), str(error)) from error
