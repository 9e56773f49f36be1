"""Guidelines as text: ``A <= B + 2*C``, ``A ~ B``, ``A <= max(B, C)``, ``order=fmaj ~ order=rand``."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Literal, NoReturn

from scalkit.errors import RuleError
from scalkit.relation import Terms

__all__ = ["Side", "parse", "plain_level", "shown_side"]

Side = tuple[Terms, ...]
"""The largest of these sums; mostly one."""

_MAX_LENGTH = 1000
_NAME = r"[A-Za-z_][A-Za-z0-9_.:]*(?:\[[A-Za-z0-9_]+\])?"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<number>\d+(?:\.\d+)?)(?=\s*\*)|(?P<max>max)(?=\s*\()|(?P<name>{_NAME})"""
    r"""|"(?P<quoted>[^"\x00-\x1f]{1,500})"|(?P<digits>\d+)|(?P<op><=|[~+*(),=]))"""
)
_PLAIN = re.compile(_NAME)
_DIGITS = re.compile(r"\d+")
_EXAMPLE = "Write it as 'A <= B + 2*C' or 'A ~ B', with names that hold blanks in double quotes."


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

    Raises
    ------
    RuleError
        If it cannot be read.
    """
    if not isinstance(text, str):
        raise RuleError(f"a guideline must be text, got {text!r}. {_EXAMPLE}")
    if len(text) > _MAX_LENGTH:
        raise RuleError(
            f"the guideline '{text[:20]}...' has {len(text)} characters; at most {_MAX_LENGTH} are allowed."
        )
    return _Parser(text).parse()


def shown_side(side: Side, prefix: str = "") -> str:
    """Return a side as text that reads back."""
    sums = [" + ".join(_shown(factor, level, prefix) for factor, level in terms) for terms in side]
    return sums[0] if len(sums) == 1 else f"max({', '.join(sums)})"


def _shown(factor: float, level: str, prefix: str) -> str:
    is_plain = _PLAIN.fullmatch(level) or (prefix and _DIGITS.fullmatch(level))
    times = "" if factor == 1 else format(Decimal(repr(factor)), "f").removesuffix(".0") + "*"
    return times + prefix + (level if is_plain and level != "max" else f'"{level}"')


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.parameters: list[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                self.refuse(f"'{text[at:].strip()[:20]}' is not part of a guideline")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind)))
            at = match.end()
        self.at = 0

    def refuse(self, why: str) -> NoReturn:
        raise RuleError(f"cannot read the guideline '{self.text}': {why}. {_EXAMPLE}")

    def parse(self) -> tuple[str, Side, Literal["<=", "~"], Side]:
        left = self.side()
        is_similar = self.take("~")
        if not is_similar and not self.take("<="):
            self.refuse("'<=' or '~' is missing")
        right = self.side()
        if self.at < len(self.tokens):
            self.refuse(f"'{self.tokens[self.at][1]}' is left over")
        named = list(dict.fromkeys(self.parameters))
        if len(named) > 1:
            shown = " and ".join(f"'{name}'" if name else "a level without one" for name in named)
            self.refuse(f"it names {shown}, but compares levels of one parameter")
        return named[0], left, "~" if is_similar else "<=", right

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, op: str) -> bool:
        if self.peek() in (("op", op), ("max", op)):
            self.at += 1
            return True
        return False

    def side(self) -> Side:
        if not self.take("max"):
            return (self.sum(),)
        self.take("(")
        sums = [self.sum()]
        while self.take(","):
            sums.append(self.sum())
        if not self.take(")"):
            self.refuse("')' is missing")
        return tuple(sums)

    def sum(self) -> Terms:
        terms = [self.term()]
        while self.take("+"):
            terms.append(self.term())
        return tuple(terms)

    def term(self) -> tuple[float, str]:
        factor = 1.0
        kind, text = self.peek()
        if kind == "number":
            factor = float(text)
            self.at += 1
            self.take("*")
        if not 0 < factor < math.inf:
            self.refuse("a factor must be positive and finite")
        kind, level = self.peek()
        parameter = ""
        if kind == "name" and self.tokens[self.at + 1 : self.at + 2] == [("op", "=")]:
            parameter = level
            self.at += 2
            kind, level = self.peek()
        if kind not in {"name", "quoted", "max"} and not (parameter and kind == "digits"):
            self.refuse("a name is missing" if kind == "end" else f"'{level}' stands where a name is expected")
        self.parameters.append(parameter)
        self.at += 1
        return factor, level
