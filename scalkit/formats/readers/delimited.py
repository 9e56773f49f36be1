"""Files of rows and columns: CSV with any usual separator, JUBE's tables, ReFrame's performance logs."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, shortened
from scalkit.formats.readers.observed import Found, Gathered
from scalkit.formats.readers.table import Table, gather, roles_of
from scalkit.formats.remarks import attributes_of_remarks

_SEPARATORS = ",;\t|"
_MOST_COLUMNS = 1000
_LONGEST_NAME = 200
_MOST_CELLS = 2**21
_RULE = re.compile(r"[|+ ]*-[-|+: ]*")


def is_jube_pretty(content: Content) -> bool:
    """Return whether a line near the beginning is a rule of dashes between a header and rows, as in JUBE's pretty tables."""
    lines = [line.strip() for line in content.head.split("\n")[:200]]
    return any(_RULE.fullmatch(line) and "|" in before and line.count("-") >= 2 for before, line in pairwise(lines))


def is_delimited(content: Content) -> bool:
    """Return whether the first two lines that are no comments have the same separator equally often."""
    lines = [line for line in content.head.split("\n")[:200] if line.strip() and not line.startswith("#")]
    if not lines or "\0" in content.head:
        return False
    separator = _separator(lines[0])
    return bool(separator) and (len(lines) == 1 or len(_fields(lines[1], separator)) == len(_fields(lines[0], separator)))


def read_delimited(content: Content, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a CSV file with a header.

    `scalkit.formats.readers.table.roles_of` says how columns are told apart.

    Raises DataError if a row has another number of fields than the header, or the columns cannot be told apart.
    """
    header: list[str] = []
    rows: list[tuple[int, Sequence[str]]] = []
    remarks: list[str] = []
    separator = ""
    for line in content.lines():
        if line.text.startswith("#"):
            remarks.append(line.text)
        if not line.text.strip() or line.text.startswith("#"):
            continue
        separator = separator or _separator(line.text)
        fields = _fields(line.text, separator)
        if not header:
            header = fields
            _require_header(content, header)
        elif len(fields) != len(header):
            if line == content.unended and rows:
                break
            raise content.error(
                line,
                f"the row has {len(fields)} fields, the header has {len(header)}; the file was cut or edited there: correct it "
                "(a field with a line end in it is not read).",
            )
        else:
            _require_room(content, len(rows), len(header))
            rows.append((line.number, fields))
    kind = {",": "CSV", ";": "CSV with semicolons", "\t": "tab-separated values", "|": "table with bars"}.get(separator, "CSV")
    return replace(_found(content, kind, header, rows, parameter), attrs=attributes_of_remarks(remarks))


def read_jube_pretty(content: Content, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a pretty table of JUBE; of several tables those with the header of the first.

    Raises DataError if a row has another number of fields than the header, or the columns cannot be told apart.
    """
    header: list[str] = []
    rows: list[tuple[int, Sequence[str]]] = []
    before, inside, others = "", False, 0
    for line in content.lines():
        text = line.text.strip()
        if _RULE.fullmatch(text) and "|" in before:
            found = _cells(before)
            inside = not header or found == header
            others += not inside
            if inside and rows and rows[-1][0] == line.number - 1:
                rows.pop()
            header = header or found
        elif inside and "|" in text:
            fields = _cells(text)
            if len(fields) != len(header):
                if line == content.unended and rows:
                    break
                raise content.error(
                    line, f"the row has {len(fields)} fields, the header has {len(header)}; the file was cut or edited there."
                )
            _require_room(content, len(rows), len(header))
            rows.append((line.number, fields))
        elif not text or inside:
            inside = False
        before = text
    table = _found(content, "JUBE table", header, rows, parameter)
    note = f"{others} more tables with other columns are left out; keep one table a file"
    return replace(table, notes=[*table.notes, note]) if others else table


def _found(
    content: Content,
    kind: str,
    header: Sequence[str],
    rows: Sequence[tuple[int, Sequence[str]]],
    parameter: str | Sequence[str] | None,
) -> Found:
    _require_header(content, header)
    if not rows:
        raise DataError(f"{content.where} has a header ({', '.join(header)[:80]}) and no row; the file was cut: write it again.")
    table = Table(content.where, tuple(header), rows)
    gathered = Gathered(content.where)
    gather(table, roles_of(table, parameter), gathered)
    last = content.unended
    cut = ""
    if last is not None:
        kept = rows[-1][0] == last.number
        told = "if the file was cut there, its last value is wrong: check it" if kept else "it is cut and left out"
        cut = f"line {last.number} has no line end; {told}"
    if any("jube" in name.lower() for name in header):
        kind = "JUBE table"
    return Found(kind, gathered.observed(), cut=cut, advice="a column with several values is needed, as in 'p' or 'n'")


def _require_room(content: Content, n_rows: int, n_columns: int) -> None:
    if (n_rows + 1) * n_columns > _MOST_CELLS:
        raise DataError(f"{content.where} has more than {_MOST_CELLS} cells; split it, or leave out columns or repetitions.")


def _require_header(content: Content, header: Sequence[str]) -> None:
    if len(header) > _MOST_COLUMNS:
        raise DataError(f"{content.where} has {len(header)} columns, up to {_MOST_COLUMNS} are read; leave some out.")
    long = next((name for name in header if len(name) > _LONGEST_NAME), None)
    if long is not None:
        raise DataError(
            f"{content.where} has a column whose name has {len(long)} characters, up to {_LONGEST_NAME} are read; the first line "
            "that is no comment must be the header."
        )
    twice = next((name for name in header if list(header).count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{content.where} has two columns {shortened(twice)}; give each column a name of its own.")


def _separator(line: str) -> str:
    counts = {separator: line.count(separator) for separator in _SEPARATORS}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else ""


def _fields(line: str, separator: str) -> list[str]:
    if '"' not in line:
        return [one.strip() for one in line.split(separator or ",")]
    try:
        found = next(csv.reader([line], delimiter=separator or ","), [])
    except csv.Error:
        found = line.split(separator or ",")
    return [one.strip() for one in found]


def _cells(line: str) -> list[str]:
    return [one.strip() for one in line.strip().removeprefix("|").removesuffix("|").split("|")]
