"""JSON text with limits: how many values there may be, how deep, and sentences for what is damaged."""

import json

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, shortened

_MOST_MARKS = 2**22


def is_json(content: Content) -> bool:
    """Return whether a file may be JSON or JSON Lines."""
    return content.head.lstrip()[:1] in ("{", "[")


def json_of(content: Content) -> object:
    """Return the value in a JSON file. Raises DataError if the text is damaged, too deep, or has too many values."""
    marks = sum(content.data.count(mark) for mark in (b",", b"[", b"{"))
    if marks > _MOST_MARKS:
        raise DataError(
            f"{content.where} is JSON of {marks} values or more, up to {_MOST_MARKS} are read; split it, or write fewer "
            "repetitions."
        )
    try:
        return json.loads(content.data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise DataError(
            f"{content.where}, line {error.lineno}, column {error.colno}: this is no valid JSON ({error.msg}); "
            "perhaps the benchmark was stopped while it wrote; run it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{content.where} is no readable JSON ({error}); write the file again.") from error


def json_line(text: str) -> dict[str, object]:
    """Return the object in a line. Raises ValueError, saying in a few words what is wrong."""
    if text.count(",") + text.count("[") > _MOST_MARKS:
        raise ValueError("too many values in one line")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no valid JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise ValueError("brackets too deep") from None
    if not isinstance(value, dict):
        raise ValueError(f"no object but {shortened(value)}")
    return value
