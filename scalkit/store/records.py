"""Records of a store: what people say of runs, flags, and signatures. Each is a small file whose name is its hash."""

import datetime as dt
import hashlib
import json
import re
from collections.abc import Mapping

from scalkit.store.runs.content import canonical
from scalkit.store.signing import is_name

STATEMENTS, SIGNATURES, FLAGS = "statements", "signatures", "flags"
"""Folders of records: what people say of runs, who signed them, and what is implausible in them."""

RECORDS = (STATEMENTS, SIGNATURES, FLAGS)
KINDS = {STATEMENTS: "statement", SIGNATURES: "signature", FLAGS: "flag"}
"""What a record in a folder is."""

RECORD_FILE = re.compile(r"[0-9a-f]{32}\.json")
_RUN_ID = re.compile(r"[0-9a-f]{32}")

TIME = "%Y-%m-%dT%H:%M:%SZ"
"""How times stand in records: in UTC, to the second."""

FILING = ("user", "contributor", "licence", "notes", "filed", "tool", "tool_version")
"""What a record says of who filed a run."""

_FIELDS = {
    STATEMENTS: (frozenset({"run_id", "reason", "by", "when"}), frozenset({"restored", "signature"})),
    SIGNATURES: (frozenset({"run_id", "signer", "signature", *FILING}), frozenset[str]()),
    FLAGS: (frozenset({"run_id", "found", "reason"}), frozenset[str]()),
}
"""Fields that every record of a folder has, and fields that it may have. All of them are texts."""

Record = dict[str, str]


def is_time(text: str) -> bool:
    """Return whether a text is a time as `now` writes it, before the year 9999, the last that a date can have."""
    try:
        return dt.datetime.strptime(text, TIME).strftime(TIME) == text and text < "9999"
    except ValueError:
        return False


def now() -> str:
    """Return the time in UTC, to the second."""
    return dt.datetime.now(dt.UTC).strftime(TIME)


def record_content(record: Mapping[str, str]) -> bytes:
    """Return the content of the file of a record."""
    return (canonical(record) + "\n").encode()


def record_name(record: Mapping[str, str]) -> str:
    """Return the name of the file of a record: a hash of its content."""
    return name_of(record_content(record))


def name_of(content: bytes) -> str:
    """Return the name of the file with this content."""
    return f"{hashlib.sha256(content).hexdigest()[:32]}.json"


def record_in(content: bytes, folder: str) -> Record | None:
    """Return the record in the content of a file of one of the folders `RECORDS`; None if it is something else."""
    must, may = _FIELDS[folder]
    try:
        fields = json.loads(content)
        is_record = must <= set(fields) <= must | may and all(isinstance(text, str) for text in fields.values())
        is_record = is_record and _RUN_ID.fullmatch(fields["run_id"]) is not None
        is_record = is_record and is_name(fields.get("signer", "a"))
        is_record = is_record and all(is_time(fields[key]) for key in ("when", "filed") if fields.get(key))
        is_record = is_record and content == record_content(fields)
    except (ValueError, TypeError, RecursionError):
        return None
    return dict(fields) if is_record else None
