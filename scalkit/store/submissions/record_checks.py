"""Checks of the record of a run in a submission: its form, its texts, its dates."""

import datetime as dt
import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from scalkit.errors import UsageError
from scalkit.store.runs.columns import SCHEMA_VERSION
from scalkit.store.runs.content import canonical, clock_problem, is_intact, way_on
from scalkit.store.runs.texts import FREE, IDENTIFIERS, NAMES, name_problem, text_problem, texts_in
from scalkit.store.submissions.containers import Policy, RefusedError
from scalkit.support.schema_errors import load_jsonschema, schema_in

_EARLIEST = dt.datetime(1990, 1, 1, tzinfo=dt.UTC)
_SKEW = dt.timedelta(minutes=10)
_SCHEMA = Path(__file__).with_name("record.schema.json")
Problem = tuple[str, str]


def checked_record(text: bytes, policy: Policy) -> dict[str, Any]:
    """Return the record if it can be read at all.

    Raises RefusedError if it is too large or too deep, no JSON, of another schema, not of the form that the schema asks
    for, or contradicts itself about its clock.
    """
    if len(text) > policy.max_json_bytes:
        raise RefusedError("record-large", f"the record has {len(text)} bytes; at most {policy.max_json_bytes} are allowed.")
    if _depth(text) > policy.max_json_depth:
        raise RefusedError("record-deep", f"the record nests deeper than {policy.max_json_depth} levels.")
    try:
        record = json.loads(text.decode("utf-8"), parse_constant=no_constant, parse_float=finite, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise RefusedError("record-json", f"the record is no JSON: {str(error).splitlines()[0][:100]}.") from error
    version = record.get("schema_version") if isinstance(record, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        code = "schema-newer" if version > SCHEMA_VERSION else "schema-older"
        raise RefusedError(code, f"the schema is {version}, and this scalkit reads {SCHEMA_VERSION}; {way_on(version)}")
    _require_form(record)
    try:
        canonical(record).encode()
    except ValueError as error:
        raise RefusedError("text-control", "the record has half of a character.") from error
    if not is_intact(record):
        raise RefusedError("record-damaged", "the record does not fit its hash: it was changed or damaged.")
    problem = clock_problem(record["measured"])
    if problem:
        raise RefusedError("clock-wrong", f"the record {problem}.")
    return dict(record)


def _depth(text: bytes) -> int:
    """Return how deep brackets nest, those within texts included: an upper bound that needs no parser."""
    deepest = depth = 0
    for byte in text:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def no_constant(constant: str) -> NoReturn:
    """Refuse NaN and infinite numbers in JSON. Raises ValueError."""
    raise ValueError(f"{constant} is not allowed")


def finite(text: str) -> float:
    """Return a number of JSON. Raises ValueError if it is too large for one, as 1e999 is."""
    number = float(text)
    return number if math.isfinite(number) else no_constant(text[:20])


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError if a key stands there twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _require_form(record: object) -> None:
    errors = load_jsonschema().Draft202012Validator(schema_in(_SCHEMA)).iter_errors(record)
    error = next(iter(sorted(errors, key=lambda e: list(map(str, e.path)))), None)
    if error is not None:
        where = ".".join(str(part) for part in error.absolute_path) or "the record"
        if error.validator in ("minLength", "maxLength"):
            sentence = _length_sentence(where, error.instance, error.validator_value)
        else:
            sentence = f"{where}: {error.message[:160]}."
        raise RefusedError("record-schema", sentence)


def _length_sentence(where: str, text: str, limit: int) -> str:
    if not text:
        return f"{where} is empty."
    return f"{where} {_shown(text)} has {len(text)} characters; at most {limit} are allowed."


def _shown(text: str) -> str:
    return repr(text.encode("unicode_escape").decode()[:40])


def require_texts(measured: dict[str, Any], filing: dict[str, Any]) -> None:
    """Return nothing if those who are sent the store would accept these texts.

    `measured`, `filing`: some fields of a record. Raises UsageError with the sentence that a validation has for it.
    """
    known = schema_in(_SCHEMA)["properties"]
    for part, fields in (("measured", measured), ("filing", filing)):
        for name, value in fields.items():
            if not isinstance(value, str):
                raise UsageError(f"{name} is {value!r:.60}; a text is needed.")
            limits = known[part]["properties"].get(name, {})  # network and topology are of the machine
            if not limits.get("minLength", 0) <= len(value) <= limits.get("maxLength", len(value)):
                raise UsageError(_length_sentence(f"{part}.{name}", value, limits.get("maxLength", 0)))
    for _, sentence in text_problems({"measured": measured, "filing": filing}, Policy()):
        raise UsageError(sentence)


def record_problems(record: dict[str, Any], policy: Policy) -> Iterator[Problem]:
    """Yield code and sentence of everything that is wrong with texts and dates of a record."""
    yield from text_problems(record, policy)
    yield from _dates(record)


def text_problems(record: dict[str, Any], policy: Policy) -> Iterator[Problem]:
    """Yield code and sentence of the texts of a record that may not be."""
    for field, text in texts_in(record):
        problem = text_problem(text, policy.max_text, is_free=field in FREE)
        if problem is None and field in NAMES:
            problem = name_problem(text, is_identifier=field in IDENTIFIERS)
        if problem is not None:
            yield problem[0], f"{field or 'a key'} {_shown(text)} {problem[1]}."


def _dates(record: dict[str, Any]) -> Iterator[Problem]:
    measured, filing = record["measured"], record["filing"]
    given = {"started": measured.get("started"), "ended": measured.get("ended"), "filed": filing.get("filed")}
    given |= {f"launch {i}": launch.get("started") for i, launch in enumerate(measured["launches"])}
    dates: dict[str, dt.datetime] = {}
    for name, text in given.items():
        if not text:
            continue
        try:
            dates[name] = dt.datetime.fromisoformat(str(text))
        except ValueError:
            yield "date-wrong", f"{name} is {str(text)[:40]!r}; a time such as 2026-11-21T08:35:17Z is needed."
            continue
        if dates[name].tzinfo is None:
            dates[name] = dates[name].replace(tzinfo=dt.UTC)
        if dates[name] > dt.datetime.now(dt.UTC) + _SKEW:
            yield "date-future", f"{name} is {text}, in the future."
        if dates[name] < _EARLIEST:
            yield "date-early", f"{name} is {text}, before there was MPI."
    latest = dt.datetime.now(dt.UTC) + _SKEW
    order = [name for name in ("started", "ended", "filed") if dates.get(name, latest) < latest]
    for earlier, later in itertools.pairwise(order):
        if dates[earlier] > dates[later] + _SKEW:
            yield "date-order", f"{earlier} ({given[earlier]}) is after {later} ({given[later]})."
