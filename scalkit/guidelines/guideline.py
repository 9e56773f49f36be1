"""One guideline: ``left <= right`` or ``left ~ right`` between levels of a parameter, and its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from scalkit.errors import RuleError
from scalkit.guidelines.text import Side, parse, plain_level, shown_side

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

    @classmethod
    def parse(cls, text: str, parameter: str | None = None, **others: Any) -> Guideline:
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

    def as_published(self) -> Guideline:
        """Return the guideline with the relation that its source tests."""
        return replace(self, relation=self.published) if self.published else self

    def swapped(self) -> Guideline:
        """Return the guideline with its sides exchanged."""
        return replace(self, left=self.right, right=self.left)

    def holds_for(self, parameter: str, level: object) -> bool:
        """Return whether it is about measurements with this level."""
        allowed = self.where.get(parameter)
        return allowed is None or plain_level(level) in {plain_level(one) for one in allowed}

    def __str__(self) -> str:
        if self.kind != "levels":
            return _EVERY_SIZE[self.kind].format(self.parameter)
        left, right = self.sides()
        return f"{left} {self.relation} {right}"
