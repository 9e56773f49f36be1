"""Answers that are numbers: with a tolerance, and with a unit where they have one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import SupportsFloat

from scalkit.errors import UsageError
from scalkit.teaching.answers import shortened, text_of
from scalkit.teaching.outcome import Outcome, Unread
from scalkit.units import BYTES, SECONDS, format_quantity

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
    def of(cls, answer: object, tolerance: float, unit: str) -> NumberAnswer:
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
