"""Texts with a table: CSV with any usual separator, and JUBE's tables."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

import pandas as pd

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, shown
from scalkit.formats.readers.observed import Found
from scalkit.formats.readers.tables import MOST_CELLS, measurements_in
from scalkit.formats.remarks import attributes_of_remarks

_KINDS = {",": "CSV", ";": "CSV with semicolons", "\t": "tab-separated values", "|": "table with bars"}
"""Formats by their separator."""

_RULE = re.compile(r"[|+ ]*-[-|+: ]*")
_MOST_COLUMNS = 1000
_LONGEST_NAME = 200


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
    if not separator:
        return False
    try:
        rows = list(islice(csv.reader((f"{line}\n" for line in lines), delimiter=separator, skipinitialspace=True), 2))
    except csv.Error:
        return False
    return len({len(row) for row in rows}) == 1


def _separator(line: str) -> str:
    best = max(_KINDS, key=line.count)
    return best if best in line else ""


def read_delimited(content: Content, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a CSV file with a header.

    Raises DataError if a row has another number of fields than the header, or the columns cannot be told apart.
    """
    lines = io.StringIO(content.text, newline="").readlines()
    remarks = [line.rstrip() for line in lines if line.startswith("#")]
    first = next(line for line in lines if line.strip() and not line.startswith("#"))
    separator = _separator(first)
    _require_header(content, first.rstrip("\r\n").split(separator))
    reader = csv.reader(("\n" if line.startswith("#") else line for line in lines), delimiter=separator, skipinitialspace=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        try:
            yield from ((reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row)))
        except csv.Error as error:
            raise content.error(reader.line_num, f"{error}; the file is damaged there: correct it.") from error

    found = _of_rows(content, rows(), _KINDS[separator], parameter)
    return replace(found, attrs=attributes_of_remarks(remarks))


def read_jube_pretty(content: Content, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a pretty table of JUBE; of several tables those with the header of the first.

    Raises DataError if a row has another number of fields than the header, or the columns cannot be told apart.
    """
    header: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    before, is_inside, others = "", False, 0
    for line in content.lines():
        text = line.text.strip()
        cells = [cell.strip() for cell in text.removeprefix("|").removesuffix("|").split("|")]
        if _RULE.fullmatch(text) and "|" in before:
            if is_inside:
                rows.pop()  # the header of another table
            found = [cell.strip() for cell in before.removeprefix("|").removesuffix("|").split("|")]
            is_inside = not header or found == header
            others += not is_inside
            header = header or found
        elif is_inside and "|" in text:
            rows.append((line.number, cells))
        elif not text or is_inside:
            is_inside = False
        before = text
    _require_header(content, header)
    table = _of_rows(content, iter([(0, header), *rows]), "JUBE table", parameter)
    note = f"{others} more tables with other columns are left out; keep one table a file"
    return replace(table, notes=[*table.notes, note]) if others else table


def _of_rows(content: Content, rows: Iterator[tuple[int, list[str]]], kind: str, parameter: str | Sequence[str] | None) -> Found:
    """Return the measurements in rows with the numbers of their lines, the header first; a row that was cut is left out."""
    _, header = next(rows)
    last = content.unended
    kept: dict[int, list[str]] = {}
    cut = ""
    for line, row in rows:
        if (len(kept) + 1) * len(header) > MOST_CELLS:
            raise DataError(f"{content.where} has more than {MOST_CELLS} cells; split it, or leave out columns or repetitions.")
        is_last = last is not None and line == last.number
        if len(row) == len(header):
            kept[line] = row
            cut = "if the file was cut there, its last value is wrong: check it" if is_last else ""
        elif is_last and kept:
            cut = "it is cut and left out"
        else:
            raise content.error(
                line,
                f"the row has {len(row)} fields, the header has {len(header)}; the file was cut or edited there: correct it.",
            )
    if not kept:
        names = shown(", ".join(header))
        raise DataError(f"{content.where} has a header ({names}) and no row; the file was cut: write it again.")
    if last is not None:
        cut = f"line {last.number} has no line end; {cut or 'it is cut and left out'}"
    if any("jube" in name.lower() for name in header):
        kind = "JUBE table"
    frame = pd.DataFrame(list(kept.values()), columns=header, index=list(kept), dtype=str)
    return replace(measurements_in(frame, content.where, kind, parameter), cut=cut)


def _require_header(content: Content, header: Sequence[str]) -> None:
    if len(header) > _MOST_COLUMNS:
        raise DataError(f"{content.where} has {len(header)} columns, up to {_MOST_COLUMNS} are read; leave some out.")
    long = next((name for name in header if len(name) > _LONGEST_NAME), None)
    if long is not None:
        raise DataError(
            f"{content.where} has a column whose name has {len(long)} characters, up to {_LONGEST_NAME} are read; the first line "
            "that is no comment must be the header."
        )
