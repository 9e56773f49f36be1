"""Relations between functions: ``MPI_Allreduce <= MPI_Reduce + MPI_Bcast``; parse, print, evaluate."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from scalkit.errors import RuleError

__all__ = ["Relation", "Terms"]

_MAX_LENGTH = 1000
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?)(?=\s*\*)|(?P<name>[A-Za-z_][A-Za-z0-9_.:]*(?:\[[A-Za-z0-9_]+\])?)"""
    r"""|"(?P<quoted>[^"\x00-\x1f]{1,500})"|(?P<op><=|[+*]))"""
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.:]*(?:\[[A-Za-z0-9_]+\])?")
_EXAMPLE = "Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."

Terms = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Relation:
    """``left <= right``: two sums of functions with positive factors.

    Attributes
    ----------
    left, right : tuple of (float, str)
        Factor and function of each term.
    """

    left: Terms
    right: Terms

    @classmethod
    def parse(cls, text: str) -> Relation:
        """Return the relation that `text` names.

        Raises
        ------
        RuleError
            If the text is not two sums of functions with ``<=`` between them.
        """
        if not isinstance(text, str):
            raise RuleError(f"a rule must be text, got {text!r}. {_EXAMPLE}")
        if len(text) > _MAX_LENGTH:
            raise RuleError(f"the rule '{text[:20]}...' has {len(text)} characters; at most {_MAX_LENGTH} are allowed.")
        return _Parser(text).parse()

    @property
    def names(self) -> tuple[str, ...]:
        """The functions, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in (*self.left, *self.right)))

    def evaluate(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return both sides on any values that can be added and multiplied by a number (numbers, arrays).

        Raises
        ------
        RuleError
            If a function has no value.
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
    return " + ".join(
        ("" if factor == 1 else f"{_number(factor)}*") + (name if _PLAIN.fullmatch(name) else f'"{name}"')
        for factor, name in terms
    )


def _number(factor: float) -> str:
    """Return the shortest digits without exponent that read back as `factor`."""
    digits = format(Decimal(repr(factor)), "f")
    return digits.removesuffix(".0")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                self.refuse(f"'{text[at:].strip()[:20]}' is not part of a rule")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind)))
            at = match.end()
        self.at = 0

    def refuse(self, why: str) -> NoReturn:
        raise RuleError(f"cannot read the rule '{self.text}': {why}. {_EXAMPLE}")

    def parse(self) -> Relation:
        left = self.side()
        if not self.take("<="):
            self.refuse("'<=' is missing")
        right = self.side()
        if self.at < len(self.tokens):
            self.refuse(f"'{self.tokens[self.at][1]}' is left over")
        return Relation(left, right)

    def take(self, op: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == ("op", op):
            self.at += 1
            return True
        return False

    def side(self) -> Terms:
        terms = [self.term()]
        while self.take("+"):
            terms.append(self.term())
        return tuple(terms)

    def term(self) -> tuple[float, str]:
        factor = 1.0
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        if kind == "number":
            factor = float(text)
            self.at += 1
            self.take("*")
            kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        if kind not in {"name", "quoted"}:
            self.refuse("a function is missing" if kind == "end" else f"'{text}' stands where a function is expected")
        if not 0 < factor < math.inf:
            self.refuse("a factor must be positive and finite")
        self.at += 1
        return factor, text
