"""Answers as learners type them: a text of one line and bounded length, or a sentence on what is wrong."""

import math
import re
from dataclasses import dataclass
from html import escape
from numbers import Real
from typing import Literal, SupportsFloat

from scalkit.errors import ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.support.units import BYTES, SECONDS, format_quantity

Kind = Literal["right", "wrong", "unread"]

MARKS: dict[Kind, str] = {"right": "✓", "wrong": "✗", "unread": "?"}
WORDS: dict[Kind, str] = {"right": "right", "wrong": "not yet", "unread": "no answer yet"}


class Unread(Exception):  # noqa: N818 - it is no error: the text of a learner is answered with the sentence it carries
    """Carries the sentence for a learner whose answer cannot be read."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check.

    `kind`: only right and wrong answers are attempts.
    `thought`: what to think about, in a sentence or more; it never holds the answer.
    `read_as`: how the answer was read, for example ``"p*log(p)"``; empty if it says nothing new.
    `formula`: the same as a MathML row, for pages; empty if it is no formula.
    """

    kind: Kind
    thought: str = ""
    read_as: str = ""
    formula: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return self.kind == "right"

    @property
    def mark(self) -> str:
        """The symbol of the outcome."""
        return MARKS[self.kind]

    @property
    def word(self) -> str:
        """The outcome in a word or two."""
        return WORDS[self.kind]

    def __repr__(self) -> str:
        read = f" (read as {self.read_as})" if self.read_as else ""
        return f"{self.mark} {self.word}{read}{f': {self.thought}' if self.thought else '.'}"

    def _repr_html_(self) -> str:
        return f"<p>{self.to_html()}</p>"

    def to_html(self) -> str:
        """Return the outcome as markup: symbol, word, how the answer was read, and what to think about."""
        shown = f"<math>{self.formula}</math>" if self.formula else escape(self.read_as)
        read = f" (read as {shown})" if shown else ""
        thought = f": {escape(self.thought)}" if self.thought else "."
        return f'<span aria-hidden="true">{self.mark}</span> <b>{self.word}</b>{read}{thought}'


MAX_LENGTH = 300
_SHOWN = 40
_DOTS = frozenset({"...", "…"})


def text_of(given: object) -> str:
    """Return an answer as text without space around it.

    Raises Unread if there is none, it is too long, or holds control characters.
    """
    text = str(given).strip() if isinstance(given, str | int | float) and not isinstance(given, bool) else None
    if text is None:
        raise Unread(f"An answer is a text in quotes; this is a {type(given).__name__}.")
    if is_blank(text):
        raise Unread("Put your answer in place of the dots. The button Hint, or hint(), helps you on.")
    if not text:
        raise Unread("The answer is empty; write one, or ask for a hint.")
    if len(text) > MAX_LENGTH:
        raise Unread(f"That is long ({len(text)} characters); an answer here needs less than {MAX_LENGTH}.")
    if not text.isprintable():
        raise Unread("There are characters in it that cannot be seen; type the answer anew, in one line.")
    return text


def is_blank(given: object) -> bool:
    """Return whether an answer is the dots of a blank that is still empty."""
    return isinstance(given, str) and given.strip() in _DOTS


def shortened(text: str) -> str:
    """Return a text for a sentence."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_WRITE = "Write it as in 'p*log(p)', 'p^(1/2)' or '2^p'."


@dataclass(frozen=True)
class GrowthAnswer:
    """A growth in big O; coefficients, slower terms and the way it is written do not count."""

    growth: Growth

    @classmethod
    def of(cls, answer: object) -> "GrowthAnswer":
        """Return the answer from what `Growth` reads."""
        try:
            return cls(Growth(answer))
        except ExpectationError as error:
            raise UsageError(f"the answer of an exercise about growth cannot be read: {error}") from error

    def judge(self, given: object) -> Outcome:
        """Return whether a growth is the right one, else on which side of it that lies."""
        growth = read_growth(given, self.growth.parameters)
        shown, formula = str(growth), growth.to_mathml()
        if growth == self.growth:
            return Outcome("right", read_as=shown, formula=formula)
        return Outcome("wrong", self._thought(growth), shown, formula)

    def is_same(self, text: str, given: object) -> bool:
        """Return whether an answer of a learner is the growth in `text`."""
        return read_growth(given, self.growth.parameters) == Growth(text)

    def _thought(self, growth: Growth) -> str:
        try:
            is_faster = growth > self.growth
        except ExpectationError:
            return "It depends on other parameters than the right one does."
        names = self.growth.parameters or growth.parameters or ("p",)
        return f"It grows too {'fast' if is_faster else 'slowly'} for large {names[0]}."


def read_growth(given: object, parameters: tuple[str, ...] = ()) -> Growth:
    """Return the growth that a learner wrote; nothing is evaluated.

    `given`: text, a number, or a `Growth`.
    `parameters`: those that may occur; empty for any.
    Raises Unread if it cannot be read.
    """
    text = str(given) if isinstance(given, Growth) else text_of(given)
    try:
        growth = Growth(text)
    except ExpectationError as error:
        reason = str(error).partition(": ")[2].partition(". Write the expectation")[0]
        raise Unread(f"'{shortened(text)}' is no growth that I can read{f': {reason}' if reason else ''}. {_WRITE}") from error
    strange = [name for name in growth.parameters if parameters and name not in parameters]
    if strange:
        raise Unread(f"It is about {shortened(', '.join(strange))}; write it in terms of {', '.join(parameters)}.")
    return growth


_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?|\.[0-9]+"
_TEXT = re.compile(
    rf"(?:[A-Za-z]\w{{0,20}}\*?\s*=)?\s*[~≈=]?\s*(?P<sign>[-+]?)\s*(?P<number>{_NUMBER})"
    r"(?:\s*(?:\^|\*\*)\s*(?P<power>[0-9]{1,3}))?\s*(?P<unit>%|[A-Za-zµμ]{0,20})"
)
_GROUPS = re.compile(r"(?<=[0-9])[ _,](?=[0-9]{3}(?![0-9]))")
_FACTORS = {"s": SECONDS, "B": BYTES | {"KB": 1e3}}
_SHORT = {"": 1.0, "k": 1e3, "M": 1e6}
_EXAMPLES = {"s": "'12 us' or '3.5 ms'", "B": "'512 B' or '2.5 GB'"}
_POWERS = (1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3)


@dataclass(frozen=True)
class NumberAnswer:
    """A number.

    `value` in `unit`.
    `tolerance`: relative; of zero, absolute.
    `unit`: ``"s"`` or ``"B"``, which a learner must give and which may have a prefix; another word, which may be left
    out; or nothing.
    """

    value: float
    tolerance: float
    unit: str

    @classmethod
    def of(cls, answer: object, tolerance: float, unit: str) -> "NumberAnswer":
        """Return the answer, checked."""
        if isinstance(answer, bool) or not isinstance(answer, Real) or not math.isfinite(float(answer)):
            raise UsageError(f"the answer of an exercise of kind 'number' is {answer!r:.60}; a finite number is needed.")
        if not 0 <= tolerance < 1:
            raise UsageError(f"the tolerance of an exercise is {tolerance!r:.60}; it must be from 0 to below 1.")
        return cls(float(answer), float(tolerance), unit)

    def judge(self, given: object) -> Outcome:
        """Return whether a number is right to within the tolerance, else where it lies."""
        value = read_number(given, self.unit)
        shown = _shown(value, self.unit)
        if self._agrees(value, self.value):
            return Outcome("right", read_as=shown)
        if any(self._agrees(value * f, self.value) or self._agrees(value / f, self.value) for f in _POWERS):
            return Outcome("wrong", "The digits look good; mind the prefix of the unit.", shown)
        return Outcome("wrong", f"That is too {'large' if value > self.value else 'small'}.", shown)

    def is_same(self, text: str, given: object) -> bool:
        """Return whether an answer of a learner is the number in `text`, to within the tolerance."""
        return self._agrees(read_number(given, self.unit), read_number(text, self.unit))

    def _agrees(self, value: float, right: float) -> bool:
        return abs(value - right) <= self.tolerance * (abs(right) or 1.0) * (1 + 1e-9)


def read_number(given: object, unit: str = "") -> float:
    """Return the number that a learner wrote, in `unit`; nothing is evaluated.

    `given`: a number alone is in `unit`. Text may group digits and hold a power, as in ``"65 536"`` and ``"2^16"``.
    Raises Unread if it cannot be read.
    """
    if not isinstance(given, str | bool) and hasattr(given, "__float__"):
        value = _one_float(given)
        if not math.isfinite(value):
            raise Unread(f"The answer is a finite number; this is {value}.")
        return value
    text = text_of(given)
    match = _TEXT.fullmatch(_GROUPS.sub("", text))
    if match is None:
        comma = " with a point, not a comma" if "," in text else ""
        raise Unread(f"'{shortened(text)}' is no number that I can read; write one{comma}, {_example(unit)}.")
    value = float(match["number"])
    try:
        value = value ** int(match["power"]) if match["power"] else value
    except OverflowError as error:
        raise Unread(f"'{shortened(text)}' is larger than any number that I know.") from error
    if not math.isfinite(value):
        raise Unread(f"'{shortened(text)}' is larger than any number that I know.")
    return (-value if match["sign"] == "-" else value) * _factor(match["unit"], unit)


def _one_float(given: SupportsFloat) -> float:
    try:
        return float(given)
    except (TypeError, ValueError) as error:
        raise Unread("The answer is one number; these are several.") from error


def _factor(written: str, unit: str) -> float:
    name = written.replace("µ", "u").replace("μ", "u")
    if unit not in _EXAMPLES:
        if name in _SHORT:
            return _SHORT[name]
        word, wanted = name.casefold(), unit.casefold()
        if word and not (wanted and (wanted.startswith(word) or word.startswith(wanted))):
            about = f" of {unit}" if unit else " without a unit"
            raise Unread(f"The answer is a number{about}, not of {shortened(written)}.")
        return 1.0
    factors = _FACTORS[unit]
    if name not in factors:
        missing = f"is in {shortened(written)}, which is none of" if name else "lacks its unit; write"
        raise Unread(f"The number {missing} {unit} with or without a prefix, {_example(unit)}.")
    return factors[name]


def _example(unit: str) -> str:
    return f"for example {_EXAMPLES.get(unit, repr('65536'))}"


def _shown(value: float, unit: str) -> str:
    if unit in _EXAMPLES:
        return format_quantity(value, unit, 4)
    return f"{value:.10g} {unit}".strip()
