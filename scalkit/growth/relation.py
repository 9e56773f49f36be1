"""Relations between functions: ``MPI_Allreduce <= MPI_Reduce + MPI_Bcast``; parse, print, evaluate."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, NoReturn

from scalkit.errors import RuleError
from scalkit.support.text import brief

NAME = r"[A-Za-z_][A-Za-z0-9_.:]*(?:\[[A-Za-z0-9_=.,:;/+-](?: ?[A-Za-z0-9_=.,:;/+-]){0,199}\])?"
"""What stands without quotes; a variant such as ``MPI_Bcast[S=8, mode=root]`` too."""

_MAX_LENGTH = 1000
_PLAIN = re.compile(NAME)

Terms = tuple[tuple[float, str], ...]


def token_pattern(before_names: str, operators: str) -> re.Pattern[str]:
    """Return the pattern of a token: a factor before ``*``, a name, a text in double quotes, or an operator.

    `before_names`: further tokens, as an alternative that ends in ``|``, which come before names; mostly empty.
    `operators`: as alternatives.
    """
    number, quoted = r"(?P<number>\d+(?:\.\d+)?)(?=\s*\*)", r'"(?P<quoted>[^"\x00-\x1f]{1,500})"'
    return re.compile(rf"\s*(?:{number}|{before_names}(?P<name>{NAME})|{quoted}|(?P<op>{operators}))")


class SumReader:
    """Reads sums of terms, ``A + 2*B``, from a text; what rules and guidelines have in common.

    Raises RuleError if it is no text, too long, or has something in it that is no token.
    """

    what: ClassVar[str] = "rule"
    noun: ClassVar[str] = "function"
    example: ClassVar[str] = "Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."
    pattern: ClassVar[re.Pattern[str]] = token_pattern("", "<=|[+*]")

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise RuleError(f"a {self.what} must be text, got {brief(text)}. {self.example}")
        if len(text) > _MAX_LENGTH:
            raise RuleError(f"the {self.what} '{text[:20]}...' has {len(text)} characters; at most {_MAX_LENGTH} are allowed.")
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            match = self.pattern.match(text, at)
            if match is None:
                self.refuse(f"'{text[at:].strip()[:20]}' is not part of a {self.what}")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind)))
            at = match.end()
        self.at = 0

    def refuse(self, why: str) -> NoReturn:
        """Raise what says why the text cannot be read."""
        raise RuleError(f"cannot read the {self.what} '{self.text}': {why}. {self.example}")

    def peek(self) -> tuple[str, str]:
        """Return kind and text of the next token; ``("end", "")`` behind the last one."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, op: str) -> bool:
        """Return whether an operator comes next, and pass it."""
        if self.peek() == ("op", op):
            self.at += 1
            return True
        return False

    def sum(self) -> Terms:
        """Return the terms up to the next operator other than ``+``."""
        terms = [self.term()]
        while self.take("+"):
            terms.append(self.term())
        return tuple(terms)

    def term(self) -> tuple[float, str]:
        """Return a factor and what it stands before."""
        factor = 1.0
        kind, text = self.peek()
        if kind == "number":
            factor = float(text)
            self.at += 1
            self.take("*")
        if not 0 < factor < math.inf:
            self.refuse("a factor must be positive and finite")
        return factor, self.named()

    def named(self) -> str:
        """Return the name that must come next."""
        kind, text = self.peek()
        if kind not in {"name", "quoted"}:
            self.refuse_name(kind, text)
        self.at += 1
        return text

    def refuse_name(self, kind: str, text: str) -> NoReturn:
        """Raise what says that a name should stand where this token is."""
        self.refuse(f"a {self.noun} is missing" if kind == "end" else f"'{text}' stands where a {self.noun} is expected")


def shown_factor(factor: float) -> str:
    """Return a factor before its ``*``, the shortest digits that read back; nothing for 1."""
    return "" if factor == 1 else format(Decimal(repr(factor)), "f").removesuffix(".0") + "*"


@dataclass(frozen=True)
class Relation:
    """``left <= right``: two sums of functions with positive factors. `left`, `right`: factor and function of each term."""

    left: Terms
    right: Terms

    @classmethod
    def parse(cls, text: str) -> "Relation":
        """Return the relation that `text` names.

        Raises RuleError if the text is not two sums of functions with ``<=`` between them.
        """
        reader = SumReader(text)
        left = reader.sum()
        if not reader.take("<="):
            reader.refuse("'<=' is missing")
        right = reader.sum()
        if reader.peek()[0] != "end":
            reader.refuse(f"'{reader.peek()[1]}' is left over")
        return cls(left, right)

    @property
    def names(self) -> tuple[str, ...]:
        """The functions, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in (*self.left, *self.right)))

    def evaluate(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return both sides on any values that can be added and multiplied by a number (numbers, arrays).

        Raises RuleError if a function has no value.
        """
        for name in self.names:
            if name not in values:
                raise RuleError(f"rule '{self}' needs a value of '{name}'; there are {', '.join(values) or 'none'}.")
        return _total(self.left, values), _total(self.right, values)

    def __str__(self) -> str:
        return f"{_shown(self.left)} <= {_shown(self.right)}"


def _total(terms: Terms, values: Mapping[str, Any]) -> Any:
    (factor, first), *others = terms
    result = values[first] if factor == 1 else factor * values[first]
    for factor, name in others:
        result = result + (values[name] if factor == 1 else factor * values[name])
    return result


def _shown(terms: Terms) -> str:
    return " + ".join(shown_factor(factor) + (name if _PLAIN.fullmatch(name) else f'"{name}"') for factor, name in terms)
