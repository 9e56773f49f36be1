"""Guidelines as text: ``A <= B + 2*C``, ``A ~ B``, ``A <= max(B, C)``, ``order=fmaj ~ order=rand``."""

import re
from typing import ClassVar, Literal

from scalkit.relation import NAME, SumReader, Terms, shown_factor, token_pattern

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
