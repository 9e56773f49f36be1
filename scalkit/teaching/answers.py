"""Answers as learners type them: a text of one line and bounded length, or a sentence on what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from scalkit.errors import ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.teaching.outcome import Outcome, Unread

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
    def of(cls, answer: object) -> GrowthAnswer:
        """Return the answer from what `Growth.parse` reads."""
        try:
            return cls(Growth.parse(answer))
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
        return read_growth(given, self.growth.parameters) == Growth.parse(text)

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
        growth = Growth.parse(text)
    except ExpectationError as error:
        reason = str(error).partition(": ")[2].partition(". Write the expectation")[0]
        raise Unread(f"'{shortened(text)}' is no growth that I can read{f': {reason}' if reason else ''}. {_WRITE}") from error
    strange = [name for name in growth.parameters if parameters and name not in parameters]
    if strange:
        raise Unread(f"It is about {shortened(', '.join(strange))}; write it in terms of {', '.join(parameters)}.")
    return growth
