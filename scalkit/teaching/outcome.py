"""What a check of an answer says: right, not yet, or not read, and what to think about next."""

from dataclasses import dataclass
from html import escape
from typing import Literal

Kind = Literal["right", "wrong", "unread"]

MARKS: dict[Kind, str] = {"right": "✓", "wrong": "✗", "unread": "?"}
WORDS: dict[Kind, str] = {"right": "right", "wrong": "not yet", "unread": "no answer yet"}


class Unread(Exception):  # noqa: N818 - it is no error: the text of a learner is answered with the sentence it carries
    """Carries the sentence for a learner whose answer cannot be read."""


@dataclass(frozen=True)
class Outcome:
    """What a check says.

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
