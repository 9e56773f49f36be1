"""TOML files as tables: those of users, with the place where one is not valid, and those that stand beside a module."""

import re
import tomllib
from bisect import bisect_right
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scalkit.errors import ScalkitError

EntryPath = tuple[str | int, ...]
"""Keys and places in lists from the top, as in ``("rules", 0)``."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^"'=\]\n])+""")
_STRING = re.compile(r'''"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL)
_BARE = re.compile(r"[^,\]}#\n]*")
_PLACE = re.compile(r" \(at (line \d+, column \d+|end of document)\)$")


class _Text(NamedTuple):
    text: str
    starts: list[int]
    found: dict[EntryPath, int]

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place)


def lines_of(text: str) -> dict[EntryPath, int]:
    """Return the line, from 1, of every table, key and element of a list.

    `text`: TOML that `tomllib` accepts.
    Returns: from ``("expectations", "MPI_Bcast")``, or ``("rules", 0)``, to the line where the entry begins.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    scanned = _Text(text, starts, {})
    place, table = _skip(text, 0), EntryPath()
    while place < len(text):
        if text[place] == "[":
            table, place = _header(scanned, place)
        else:
            place = _entry(scanned, place, table)
        place = _skip(text, place)
    return scanned.found


def line_of(path: EntryPath, lines: dict[EntryPath, int]) -> int | None:
    """Return the line of an entry, or of the nearest table around it that has one."""
    return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)


def syntax_error(error: Exception) -> tuple[str, str]:
    """Return the place ("line 3, column 7") and the reason in a message of `tomllib`."""
    text = str(error)
    match = _PLACE.search(text)
    reason = text[: match.start()] if match else text
    return (match[1] if match else ""), reason[:1].lower() + reason[1:]


def _skip(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match else place


def _keys(raw: str) -> EntryPath:
    """Return the parts of a dotted key; `tomllib` reads its quotes and escapes."""
    keys: list[str] = []
    inner: Any = tomllib.loads(f"{raw.strip()} = 0")
    while isinstance(inner, dict):
        ((key, inner),) = inner.items()
        keys.append(key)
    return tuple(keys)


def _key(scanned: _Text, place: int) -> tuple[EntryPath, int]:
    match = _KEY.match(scanned.text, place)
    assert match is not None, "valid TOML has a key here"
    return _keys(match[0]), match.end()


def _note(scanned: _Text, path: EntryPath, place: int) -> None:
    for n in range(1, len(path) + 1):
        scanned.found.setdefault(path[:n], scanned.line(place))


def _header(scanned: _Text, place: int) -> tuple[EntryPath, int]:
    is_list = scanned.text.startswith("[[", place)
    keys, end = _key(scanned, place + 1 + is_list)
    path = _inside(scanned, keys[:-1]) + keys[-1:]
    if is_list:
        number = sum(1 for known in scanned.found if len(known) == len(path) + 1 and known[:-1] == path)
        path = (*path, number)
    _note(scanned, path, place)
    return path, end + 1 + is_list


def _inside(scanned: _Text, keys: EntryPath) -> EntryPath:
    """Return the path of a table by its keys, through the last element of every list of tables on the way."""
    path = EntryPath()
    for key in keys:
        path = (*path, key)
        numbers = [known[-1] for known in scanned.found if len(known) == len(path) + 1 and known[:-1] == path]
        last = [number for number in numbers if isinstance(number, int)]
        path = (*path, max(last)) if last else path
    return path


def _entry(scanned: _Text, place: int, table: EntryPath) -> int:
    """Note one ``key = value`` and return where it ends."""
    keys, end = _key(scanned, place)
    path = table + keys
    _note(scanned, path, place)
    return _value(scanned, _skip(scanned.text, end + 1), path)


def _value(scanned: _Text, place: int, path: EntryPath) -> int:
    text = scanned.text
    string = _STRING.match(text, place)
    if string:
        return string.end()
    if text[place] not in "[{":
        bare = _BARE.match(text, place)
        return bare.end() if bare else place + 1
    closing = "]" if text[place] == "[" else "}"
    place, number = _skip(text, place + 1), 0
    while text[place] != closing:
        if text[place] == ",":
            place += 1
        elif closing == "}":
            place = _entry(scanned, place, path)
        else:
            _note(scanned, (*path, number), place)
            place = _value(scanned, place, (*path, number))
            number += 1
        place = _skip(text, place)
    return place + 1


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
