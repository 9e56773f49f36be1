"""What a user wants to see beside something else: an operation on a platform, or several of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scalkit.errors import UsageError


@dataclass(frozen=True)
class Choice:
    """Suites that are one curve: the same operation on the same platform, in as many runs as there are.

    `filters`: columns of the store's ``points`` or ``runs`` to values, texts with ``*``, or lists of them; ``run`` to the
    beginnings of ids. `label`: for the legend; empty to have one made.
    `runs`: in which runs, for a label that is made; empty if it needs no saying.
    """

    filters: Mapping[str, Any]
    label: str = ""
    runs: str = ""

    @property
    def shown(self) -> str:
        """What is asked for, as a person would write it."""
        said = {
            name: "|".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else value
            for name, value in self.filters.items()
            if name != "run_id" or isinstance(value, str)
        }
        return ",".join(f"{name}={value}" for name, value in said.items())

    @classmethod
    def of(cls, given: str | Mapping[str, Any] | Choice) -> Choice:
        """Return the choice that a text says, ``"MPI_Gather"`` or ``"op=MPI_Gather,platform=daint*,p=16|32"``.

        Raises UsageError if it cannot be read.
        """
        if isinstance(given, Choice):
            return given
        if isinstance(given, str):
            return cls(_filters(given), "")
        if isinstance(given, Mapping):
            rest = {str(key): value for key, value in given.items() if key != "label"}
            return cls(rest, str(given.get("label", "")))
        raise UsageError(f"a choice is {given!r:.60}; a text such as 'op=MPI_Gather,machine=vm', or a mapping, is needed.")


def _filters(text: str) -> dict[str, Any]:
    if "=" not in text:
        return {"op": _values(text.strip())}
    filters: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals and filters:  # a comma within a value, as in a platform's name
            last = next(reversed(filters))
            filters[last] = f"{filters[last]},{part}"
        elif not equals or not name.strip():
            raise UsageError(f"the choice {text!r:.60} cannot be read at {part!r}; write name=value between commas.")
        else:
            filters[name.strip()] = value
    return {name: _values(value.strip()) for name, value in filters.items()}


def _values(text: str) -> Any:
    """Return a value, or the list of those between ``|``."""
    return [value_of(part.strip()) for part in text.split("|")] if "|" in text else value_of(text)


def value_of(text: str) -> str | int | bool:
    """Return what a user means by a text: a truth, a number, or the text, such as an id that begins with 0.

    >>> value_of("true"), value_of("32"), value_of("0123"), value_of("juropa*")
    (True, 32, '0123', 'juropa*')
    """
    if text in ("true", "false"):
        return text == "true"
    is_number = text.isascii() and text.isdigit() and len(text) < 100 and (text == "0" or text[0] != "0")
    return int(text) if is_number else text
