"""Checks of arguments: a wrong value is reported in one sentence, with what to give instead."""

import math
import os
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any

from scalkit.errors import UsageError
from scalkit.support.text import brief

Kinds = type | UnionType | tuple[type, ...]


def require_kind(value: object, kinds: Kinds, name: str, way_on: str) -> None:
    """Check that an argument is of a kind.

    `name`: of the argument, with its article.
    `way_on`: what to give, and how to get it; the end of the sentence.
    Raises UsageError if it is of another kind.
    """
    if not isinstance(value, kinds):
        raise UsageError(f"{name} cannot be {brief(value)}; {way_on}.")


def each_of(values: object, kinds: Kinds, name: str, way_on: str, n: int | None = None) -> list[Any]:
    """Return the elements of an argument, which must be of a kind; see `require_kind`.

    A text or path is an only element. `n`: how many there must be.
    """
    values = [values] if isinstance(values, str | os.PathLike) else values
    require_kind(values, Iterable, name, way_on)
    elements: list[Any] = list(values)  # type: ignore[call-overload]
    for one in elements:
        require_kind(one, kinds, name, way_on)
    require_kind(values, object if n in (None, len(elements)) else (), name, way_on)
    return elements


def path_of(value: object, what: str) -> Path:
    """Return the path of `what` that an argument means. Raises UsageError if it is none."""
    require_kind(value, str | os.PathLike, f"the path of {what}", "give it as text or as a Path")
    return Path(value)  # type: ignore[arg-type]


def is_number(value: Any) -> bool:
    """Return whether an argument is a finite number."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def require_positive(value: Any, name: str, *, whole: bool = False) -> None:
    """Check that an argument is a positive number, or a whole one. Raises UsageError if it is none."""
    if not is_number(value) or value <= 0 or (whole and not isinstance(value, Integral)):
        raise UsageError(f"{name} is {brief(value)}; a positive {'whole ' * whole}number is needed.")


def require_text(value: object, name: str) -> None:
    """Check that an argument is a text. Raises UsageError if it is none."""
    require_kind(value, str, name, "a text is needed")
