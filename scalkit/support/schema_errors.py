"""Errors that a JSON schema finds in a TOML file, as sentences with line numbers and the nearest names."""

import difflib
import importlib
import importlib.util
import json
import math
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from scalkit.support.text import shortened
from scalkit.support.toml.tables import EntryPath, line_of

_MOST = 12
_GRAMMAR = "rfc3987_syntax"


def load_jsonschema() -> ModuleType:
    """Return jsonschema; the grammar of the format ``iri``, which takes a second, is loaded when such a text is checked.

    Call it before what imports jsonschema itself, as nbformat does.
    """
    if "jsonschema" in sys.modules or _GRAMMAR in sys.modules or not importlib.util.find_spec(_GRAMMAR):
        return importlib.import_module("jsonschema")
    at_need = ModuleType(_GRAMMAR)
    at_need.is_valid_syntax = _is_valid_syntax  # type: ignore[attr-defined]
    sys.modules[_GRAMMAR] = at_need
    try:
        return importlib.import_module("jsonschema")
    finally:
        del sys.modules[_GRAMMAR]


def _is_valid_syntax(term: str, value: str) -> bool:
    return bool(importlib.import_module(_GRAMMAR).is_valid_syntax(term, value))


def schema_errors(table: Mapping[str, Any], schema: Mapping[str, Any], lines: Mapping[EntryPath, int], name: str) -> list[str]:
    """Return what is wrong with a table, a sentence for each error, in the order of the lines.

    `table`: content of the TOML file.
    `schema`: JSON schema; each subschema that can fail has a ``title`` that says what is needed.
    `lines`: as `scalkit.support.toml.tables.lines_of` returns.
    `name`: of the file, for the sentences.
    Returns: empty if the table is right.
    """
    found: list[tuple[int, str]] = []
    for error in _validator()(dict(schema)).iter_errors(dict(table)):
        for path, text in _sentences(error):
            found.append((line_of(path, dict(lines)) or 0, f"{place(name, path, lines)}: {text}"))
    texts = list(dict.fromkeys(text for _, text in sorted(found)))
    more = len(texts) - _MOST
    return texts if more <= 0 else [*texts[:_MOST], f"{name} has more errors than these: {len(texts)} in all."]


@cache
def schema_in(file: pathlib.Path) -> dict[str, Any]:
    """Return the JSON schema in a file."""
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


@cache
def _validator() -> Any:
    """Return what checks by a schema; `nan` and `inf`, which TOML has and JSON has not, are no numbers to it."""
    load_jsonschema()
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    known = Draft202012Validator.TYPE_CHECKER

    def is_number(_: object, value: Any) -> bool:
        return known.is_type(value, "number") and math.isfinite(value)

    return extend(Draft202012Validator, type_checker=known.redefine("number", is_number))


def place(name: str, path: EntryPath, lines: Mapping[EntryPath, int]) -> str:
    """Return where an entry stands: the file and, if known, the line."""
    line = line_of(path, dict(lines))
    return f"{name}, line {line}" if line else name


def hint(word: object, known: Sequence[str]) -> str:
    """Return the known word that is nearest to this one, as a remark; empty if none is near."""
    near = difflib.get_close_matches(word, known, 1) if isinstance(word, str) else []
    return f" (did you mean {near[0]!r}?)" if near else ""


def _sentences(error: Any) -> Iterator[tuple[EntryPath, str]]:
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = sorted(error.schema["properties"])
        for key in sorted(set(error.instance) - set(known)):
            yield (*path, key), f"{_shown(key)} is unknown{hint(key, known)}; known are {', '.join(known)}."
    elif error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                needed = error.schema["properties"][key]["title"]
                yield (*path, key), f"there is no {key!r}; {needed}."
    elif error.validator == "not" and not error.validator_value:  # the key does not go with another one
        yield path, f"{error.schema['title']}."
    elif error.validator == "uniqueItems":
        twice = [one for n, one in enumerate(error.instance) if one in error.instance[:n]]
        yield path, f"{_named(path)} has {_shown(twice[0])} twice; {error.schema['title']}."
    elif "propertyNames" in error.absolute_schema_path:
        yield (*path, error.instance), f"{_named((*path, error.instance))} is no name here; {error.schema['title']}."
    else:
        near = hint(error.instance, error.schema["enum"]) if "enum" in error.schema else ""
        yield path, f"{_named(path)} is {_shown(error.instance)}{near}; {error.schema['title']}."


def _named(path: EntryPath) -> str:
    """Return a path as people write it: ``slurm.lines[0]``; the place in a list counts from 0."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in path)
    return text.removeprefix(".") or "the file"


def _key(part: str) -> str:
    return part if part.isidentifier() else _shown(part)


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        text = str(value)
    return shortened(text)
