"""The lines of a run file as records, up to where its program was stopped."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from scalkit.errors import RunFileError
from scalkit.measure.records import Record

AGAIN = "Restore the file or measure again."


def records_of(name: str, content: bytes) -> list[Record]:
    """Return the lines; a last line without its newline that cannot be read is where a killed program stopped."""
    records = []
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append(Record(name, number, _parsed(line)))
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                break
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).splitlines()[0]
            raise RunFileError(f"{name}, line {number}: {reason}; each line must be one record. {AGAIN}") from None
    return records


def _parsed(line: bytes) -> dict[str, Any]:
    value = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    if not isinstance(value, dict) or not isinstance(value.get("rec"), str):
        raise ValueError("no object with a text 'rec'")
    if b"\\u" in line and not _is_unicode(value):
        raise ValueError("half a character (a lone surrogate such as \\ud800) is not allowed")
    return value


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not allowed")


def before_end(records: list[Record]) -> Iterator[Record]:
    """Return the records between the first and the ``end`` record, which must be the last and count them.

    Older files do not say how many there are; in the file of a program that was stopped the ``end`` record is missing.
    """
    for before, record in enumerate(records[1:], 1):
        if record.fields["rec"] != "end":
            yield record
            continue
        said = record.whole("records", before)
        if said != before:
            raise record.error(f"the 'end' record counts {said} records before it, here are {before}. {AGAIN}")
        if record is not records[-1]:
            raise records[before + 1].error(f"there is more after the 'end' record. {AGAIN}")
