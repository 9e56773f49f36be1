"""Writes the few kinds of TOML that campaigns, sessions and model cards need; reading is the standard library's."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scalkit.errors import UsageError

_WIDEST = 100


def to_toml(content: Mapping[str, Any]) -> str:
    """Return a mapping as TOML text that `tomllib` reads back as it was; a mapping inside it becomes a table.

    Raises UsageError if a value is of another kind.
    """
    return "\n".join(_lines(content, ())).strip() + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{key_text(key)} = {_wrapped(value, key)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, key)
            yield ""
            yield f"[{'.'.join(key_text(part) for part in inner)}]"
            yield from _lines(value, inner)


def _wrapped(value: object, key: str) -> str:
    line = value_text(value, key)
    if not isinstance(value, list | tuple) or len(line) <= _WIDEST:
        return line
    return "[\n" + "".join(f"  {value_text(one, key)},\n" for one in value) + "]"


def key_text(key: str) -> str:
    """Return a key, in quotes where it needs them."""
    bare = key.isascii() and key.replace("_", "a").replace("-", "a").isalnum()
    return key if bare else _text(key)


def value_text(value: object, key: str = "the value") -> str:
    """Return a value in one line; a mapping becomes an inline table. Raises UsageError, naming `key`, if TOML cannot hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(float(value))  # also inf and nan, and a number of numpy
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(value_text(one, key) for one in value)}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key_text(str(name))} = {value_text(one, key)}" for name, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    raise UsageError(
        f"{key!r} is {value!r:.40}, which TOML cannot hold; text, numbers, booleans, lists and tables of them are possible."
    )


def _text(text: str) -> str:
    """Return a basic string; JSON escapes the same characters, except DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
