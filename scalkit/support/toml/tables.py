"""TOML files as tables: those of users, with the place where one is not valid, and those that stand beside a module."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from scalkit.errors import ScalkitError

EntryPath = tuple[str | int, ...]
"""Keys and places in lists from the top, as in ``("rules", 0)``."""

_PLACE = re.compile(r" \(at (line \d+, column \d+|end of document)\)$")


def lines_of(text: str) -> dict[EntryPath, int]:
    """Return the line, from 1, of every table, key and element of a list.

    `text`: TOML that `tomllib` accepts.
    Returns: from ``("expectations", "MPI_Bcast")``, or ``("rules", 0)``, to the line where the entry begins. Inside an
    element of a list or a table within braces, every entry has the line at which that begins.
    """
    found: dict[EntryPath, int] = {}
    table, listed, n_known = EntryPath(), EntryPath(), 0
    ahead, pending, begin = "", "", 1
    for number, line in enumerate(text.split("\n"), 1):
        begin = begin if pending else number
        pending += f"{line}\n"
        content = _parsed(f"{ahead}{pending}")
        is_whole = content is not None
        # a line between two elements of a list could be followed by another one and the end of the list
        content = content if is_whole else _parsed(f"{ahead}{pending}0]")
        if content is None:
            continue
        keys, value = _descended(content)
        if not ahead and is_whole and pending.lstrip().startswith("["):
            table = _header(found, keys, is_list=isinstance(value, list))
            _note(found, table, {}, begin)
        elif not ahead and is_whole:
            _note(found, table, content, begin)
        else:
            listed, n_known = (listed, n_known) if ahead else ((*table, *keys), 0)
            elements = value if is_whole else value[:-1]
            _note(found, listed, {}, begin)
            _note(found, listed, dict(enumerate(elements, n_known)), begin)
            n_known += len(elements)
        ahead, pending = "" if is_whole else "list = [", ""
    return found


def line_of(path: EntryPath, lines: dict[EntryPath, int]) -> int | None:
    """Return the line of an entry, or of the nearest table around it that has one."""
    return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)


def syntax_error(error: Exception) -> tuple[str, str]:
    """Return the place ("line 3, column 7") and the reason in a message of `tomllib`."""
    text = str(error)
    match = _PLACE.search(text)
    reason = text[: match.start()] if match else text
    return (match[1] if match else ""), reason[:1].lower() + reason[1:]


def _parsed(text: str) -> dict[str, Any] | None:
    """Return the content of a piece of TOML; None if it is not complete."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _descended(content: Any) -> tuple[EntryPath, Any]:
    """Return the keys of a table of tables with one entry each, and what is inside the last one."""
    keys: list[str] = []
    while isinstance(content, dict) and content:
        key, content = next(iter(content.items()))
        keys.append(key)
    return tuple(keys), content


def _note(found: dict[EntryPath, int], path: EntryPath, value: Any, line: int) -> None:
    """Note the line of an entry, of those around it, and of all within it, where none is known."""
    for n in range(1, len(path) + 1):
        found.setdefault(path[:n], line)
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        _note(found, (*path, key), inner, line)


def _header(found: dict[EntryPath, int], keys: EntryPath, *, is_list: bool) -> EntryPath:
    """Return the path of a table by its keys, through the last element of every list of tables on the way."""
    path = EntryPath()
    for place, key in enumerate(keys, 1):
        path = (*path, key)
        numbers = [known[-1] for known in found if len(known) == len(path) + 1 and known[:-1] == path]
        last = max((number for number in numbers if isinstance(number, int)), default=-1)
        if place == len(keys):
            return (*path, last + 1) if is_list else path
        path = (*path, last) if last >= 0 else path
    return path


def table_of(text: str, name: str, kind: type[ScalkitError]) -> dict[str, Any]:
    """Return the content of a TOML file; `kind` is raised where it is not valid, with the place and `name`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where, reason = syntax_error(error)
        raise kind(f"{name}{f', {where}' if where else ''}: this is not valid TOML: {reason}.") from error


@cache
def table_beside(module: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file of facts that stands beside a module, of which `module` is the ``__file__``."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
