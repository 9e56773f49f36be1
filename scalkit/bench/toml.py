"""Writes the few kinds of TOML that a campaign needs; reading is the standard library's."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from scalkit.errors import UsageError

__all__ = ["to_toml"]


def to_toml(content: Mapping[str, Any]) -> str:
    """Return a mapping as TOML text that `tomllib` reads back as it was.

    Parameters
    ----------
    content : mapping of str to text, whole number, finite number, boolean, list of these, or such a mapping

    Raises
    ------
    UsageError
        If a value is of another kind.
    """
    return "\n".join(_lines(content, ())).strip() + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{_key(key)} = {_value(value, key)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, key)
            yield ""
            yield f"[{'.'.join(_key(part) for part in inner)}]"
            yield from _lines(value, inner)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "a").replace("-", "a").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    """Return a basic string; JSON escapes the same characters, except DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object, key: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, list | tuple):
        return _list(value, key)
    raise UsageError(
        f"{key!r} is {value!r}, which TOML cannot hold; text, numbers, booleans and lists of them are possible."
    )


def _list(values: list[Any] | tuple[Any, ...], key: str) -> str:
    parts = [_value(value, key) for value in values]
    line = f"[{', '.join(parts)}]"
    return line if len(line) <= 100 else "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
