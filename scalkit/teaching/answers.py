"""Answers as learners type them: a text of one line and bounded length, or a sentence on what is wrong."""

from __future__ import annotations

from scalkit.teaching.outcome import Unread

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
