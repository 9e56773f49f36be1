"""Answers that are one of several choices: given by number, by letter, or by their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scalkit.errors import UsageError
from scalkit.teaching.answers import shortened, text_of
from scalkit.teaching.outcome import Outcome, Unread

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class ChoiceAnswer:
    """One of several texts.

    `choices`: in the order in which they are shown.
    `right`: one of them.
    """

    choices: tuple[str, ...]
    right: str

    @classmethod
    def of(cls, answer: object, choices: Sequence[str]) -> ChoiceAnswer:
        """Return the answer, checked."""
        found = tuple(choices)
        if not 2 <= len(found) <= len(_LETTERS) or not all(isinstance(one, str) and one.strip() for one in found):
            raise UsageError(
                f"an exercise of kind 'choice' needs 2 to {len(_LETTERS)} texts as choices, got {len(found)}."
            )
        if len({one.casefold() for one in found}) < len(found):
            raise UsageError(f"the choices of an exercise must differ: {', '.join(found)!s:.200}.")
        if answer not in found:
            raise UsageError(f"the answer {answer!r:.60} of an exercise is none of its choices; give the text of one.")
        return cls(found, str(answer))

    def judge(self, given: object) -> Outcome:
        """Return whether a choice is the right one."""
        chosen = self._chosen(given)
        return Outcome("right" if chosen == self.right else "wrong", read_as=chosen)

    def is_same(self, text: str, given: object) -> bool:
        """Return whether an answer of a learner is the choice in `text`."""
        return self._chosen(given) == text

    def _chosen(self, given: object) -> str:
        text = text_of(given).casefold()
        for number, (letter, one) in enumerate(zip(_LETTERS, self.choices, strict=False), 1):
            if text.rstrip(".)") in (str(number), letter) or text == one.casefold():
                return one
        raise Unread(f"'{shortened(text)}' is none of the choices; answer with a number from 1 to {len(self.choices)}.")
