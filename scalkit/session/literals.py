"""Python literals and calls, broken into lines where they are long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import indent

WIDTH = 100


def literal(value: object) -> str:
    """Return the literal of text, numbers, lists, tuples and dicts of these; NaN is ``nan``, which needs an import."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return _enclosed("{", [f"{literal(key)}: {literal(one)}" for key, one in value.items()], "}")
    if isinstance(value, list):
        return _enclosed("[", [literal(one) for one in value], "]")
    if isinstance(value, tuple):
        return _enclosed("(", [literal(one) for one in value], ",)" if len(value) == 1 else ")")
    return repr(value)


def call(function: str, arguments: Sequence[str]) -> str:
    """Return a call, on one line if that is not too long."""
    return _enclosed(f"{function}(", arguments, ")")


def _enclosed(opening: str, parts: Sequence[str], closing: str) -> str:
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return "\n".join([opening, *(f"{indent(part, '    ')}," for part in parts), closing.removeprefix(",")])
