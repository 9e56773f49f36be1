"""Tables: which column is what in a pandas DataFrame, in CSV with any usual separator, and in JUBE's tables."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pandas as pd

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, base_unit, finite, shortened, shown, split_unit
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier
from scalkit.formats.remarks import attributes_of_remarks
from scalkit.support.toml.tables import table_beside
from scalkit.support.units import scaled

_PARAMETERS = frozenset(
    (
        "p np nprocs procs processes ranks num_tasks ntasks tasks nodes threads cores workers n m k s size size_b "
        "bytes msize problem_size x"
    ).split()
)
_TIMES = re.compile(
    r"(\w+_)?(time|runtime|duration|elapsed|latency|walltime|wall|seconds|secs)(_\w+)?|t_(min|max|avg|med|median|mean)",
    re.IGNORECASE,
)
_BYTES = re.compile(r"(\w+_)?(memory|rss|pss|bytes)(_\w+)?", re.IGNORECASE)
_OTHERS = re.compile(r"(\w+_)?(memory|rss|pss|bandwidth|throughput|flops|energy|power)(_\w+)?", re.IGNORECASE)
_THE_TIME = ("time", "runtime", "seconds", "walltime", "wall_time", "run_time")
_MISSING = ("", "nan", "<na>", "nat", "na", "n/a", "null", "none", "-")

_KINDS = {",": "CSV", ";": "CSV with semicolons", "\t": "tab-separated values", "|": "table with bars"}
"""Formats by their separator."""

_RULE = re.compile(r"[|+ ]*-[-|+: ]*")
_MOST_CELLS = 2**21
_MOST_COLUMNS = 1000
_LONGEST_NAME = 200


def read_frame(frame: pd.DataFrame, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a DataFrame; levels of the index that have a name are columns, too.

    `parameter`: columns that are parameters although their name is that of a quantity.
    Raises DataError if columns cannot be told apart, or cells hold no numbers where they should.
    """
    levels = [name for name in frame.index.names if name is not None]
    flat = frame.reset_index(level=levels) if levels else frame
    if not flat.size:
        raise DataError("the DataFrame is empty; rows of measurements are needed.")
    if flat.size > _MOST_CELLS:
        raise DataError(f"the DataFrame has {flat.size} cells, up to {_MOST_CELLS} are read; leave out columns or rows.")
    header = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in flat.columns]
    numbered = flat.set_axis(header, axis=1).set_axis(range(1, len(flat) + 1))
    return measurements_in(numbered, "the DataFrame", "pandas DataFrame", parameter)


def measurements_in(frame: pd.DataFrame, where: str, kind: str, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a table, whatever it was read from.

    A column called ``function`` (``callpath``, ``region``, ``name``, ...) holds names; ``metric``, ``unit`` and ``value`` hold
    one quantity a row; ``run`` and ``repetition`` number repeated measurements. Of the other columns of numbers those are
    values whose name has a unit (``time [us]``, ``time_us``) or is that of a quantity (``time``, ``latency``, ``bandwidth``);
    the rest are parameters. Columns of words are settings. Cells that are empty or ``nan`` hold nothing.

    `frame`: one row for each measurement; the index has the numbers of the lines.
    `where`: the file, for messages.
    `kind`: name of the format.
    `parameter`: columns that are parameters although their name is that of a quantity.
    Raises DataError if columns cannot be told apart, or a cell holds no number where it should.
    """
    table = _Table(frame, where, [parameter] if isinstance(parameter, str) else list(parameter or ()))
    gathered = Gathered(where)
    parameters = {identifier(name): table.numbers(name) for name in table.parameters}
    texts = {identifier(name): table.texts(name) for name in table.words}
    functions, exact = (table.texts(table.roles.get(role)) for role in ("function", "exact"))
    runs = table.numbers(table.roles["run"]) if "run" in table.roles else [0.0] * len(frame)
    if not all(0 <= run < 2**31 for run in runs if run == run):
        raise DataError(f"{where} has runs outside 0 to {2**31 - 1}; number them from 0 on.")
    quantities = list(table.quantities())
    for row in range(len(frame)):
        settings: dict[str, Setting] = {name: column[row] for name, column in parameters.items() if column[row] == column[row]}
        settings |= {name: column[row][:60] for name, column in texts.items() if column[row]}
        run, is_exact = int(runs[row]) if runs[row] == runs[row] else 0, exact[row].lower() in ("1", "true", "yes")
        for names, units, values in quantities:
            if values[row] == values[row]:
                factor, base = base_unit(units[row])
                metric = "time" if base == "s" and table.is_the_time(names[row]) else names[row]
                value = scaled(values[row], factor)
                gathered.add(functions[row] or "f", settings, [value], metric, base, run=run, exact=is_exact)
    return Found(kind, gathered.observed(), advice="a column with several values is needed, as in 'p' or 'n'")


class _Table:
    """A table with the roles of its columns.

    `roles`: the column that has one of the roles in names.toml.
    `metrics`: name and unit of columns of values.
    `words`: columns of words that are settings.
    """

    def __init__(self, frame: pd.DataFrame, where: str, wanted: Sequence[str]) -> None:
        self.frame, self.where, self.wanted = frame, where, wanted
        header = list(frame.columns)
        twice = next((name for name in header if header.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{where} has two columns {shortened(twice)}; give each column a name of its own.")
        self._texts = {name: _texts(frame[name]) for name in header}
        self._numbers = {name: _numbers(frame[name], self._texts[name]) for name in header}
        numeric = [name for name in header if self._is_numeric(name)]
        self.roles: dict[str, str] = {}
        for role, names in table_beside(__file__, "names.toml")["table"].items():
            column = self._called(names, words=role in ("function", "metric", "unit"))
            if column is not None and (role != "value" or column in numeric):
                self.roles[role] = column
        rest = [name for name in header if name not in self.roles.values()]
        self.words = [name for name in rest if name not in numeric and any(self._texts[name])]
        numeric = [name for name in rest if name in numeric]
        self.metrics = {} if "value" in self.roles else {name: split_unit(name) for name in numeric if self._is_metric(name)}
        self.parameters = [name for name in numeric if name not in self.metrics]
        if "value" not in self.roles and not self.metrics:
            self._guess()
        if not self.parameters:
            raise DataError(
                f"{where} has no column of numbers that can be a parameter (its columns are {_listed(header)}); add one, "
                "as in 'p' or 'n'."
            )

    def texts(self, name: str | None) -> list[str]:
        """Return the cells of a column as text, empty where there is no value; all empty without a column."""
        return [""] * len(self.frame) if name is None else self._texts[name]

    def numbers(self, name: str) -> list[float]:
        """Return the cells of a column as numbers, NaN where there is no value. Raises DataError if one is something else."""
        numbers = self._numbers[name]
        for line, text, number in zip(self.frame.index, self._texts[name], numbers, strict=True):
            if text and not np.isfinite(number):
                raise DataError(
                    f"{self.where}, line {line}: {split_unit(name)[0]!r} is {shortened(text)}; a finite number, or nothing, is "
                    "needed: correct the cell."
                )
        return numbers

    def quantities(self) -> Iterator[tuple[list[str], list[str], list[float]]]:
        """Yield name, unit and value of each row, for each column of values."""
        n = len(self.frame)
        if "value" in self.roles:
            named = [split_unit(text or "time") for text in self.texts(self.roles.get("metric"))]
            said = self.texts(self.roles.get("unit"))
            units = [text or _unit(*one) for text, one in zip(said, named, strict=True)]
            yield [name for name, _ in named], units, self.numbers(self.roles["value"])
        for column, (name, unit) in self.metrics.items():
            yield [name] * n, [_unit(name, unit)] * n, self.numbers(column)

    def is_the_time(self, name: str) -> bool:
        """Return whether a column of seconds is the run time: called so, or the only one."""
        return name.lower() in _THE_TIME or ("value" not in self.roles and len(self.metrics) == 1)

    def _is_numeric(self, name: str) -> bool:
        """Return whether more than half of the cells with something in them are numbers."""
        filled = sum(map(bool, self._texts[name]))
        return int(np.isfinite(self._numbers[name]).sum()) * 2 > filled

    def _is_wanted(self, name: str) -> bool:
        return name in self.wanted or identifier(name) in self.wanted

    def _called(self, names: Sequence[str], words: bool) -> str | None:
        """Return the first column of one of these names; of names that numbers carry, too, only where it holds words."""
        known = {column.strip().lower().replace(" ", "_"): column for column in reversed(self.frame.columns)}
        found = (known[name] for name in names if name in known and not self._is_wanted(name))
        return next((column for column in found if not words or not self._is_numeric(column)), None)

    def _is_metric(self, column: str) -> bool:
        name, unit = split_unit(column)
        if self._is_wanted(column) or (_is_known_parameter(name) and unit not in (None, "s", "us", "ms", "ns")):
            return False
        low = name.replace(" ", "_")
        return unit is not None or bool(_TIMES.fullmatch(low) or _OTHERS.fullmatch(low))

    def _guess(self) -> None:
        """Tell parameters and values apart where no name decides: the only column that is no known parameter holds values."""
        known = [name for name in self.parameters if _is_known_parameter(name) or self._is_wanted(name)]
        others = [name for name in self.parameters if name not in known]
        sizes = [name for name in known if name.strip().lower() == "bytes" and "bytes" not in self.wanted]
        if len(others) == 1 and known:
            values = others[0]
        elif len(others) == 2 and not known:
            values = others[1]
        elif not others and len(sizes) == 1 and len(known) > 1:  # a size of messages beside values, a value beside none
            values = sizes[0]
        else:
            raise DataError(
                f"{self.where}: it is not clear which column holds measured values (columns of numbers are "
                f"{_listed(self.parameters)}); give it a name with a unit, as in 'time [us]', and name the parameters, "
                "as in parameter=['p', 'n']."
            )
        self.parameters.remove(values)
        self.metrics = {values: split_unit(values)}


def _texts(column: "pd.Series[str]") -> list[str]:
    """Return the cells as text without blanks around it; empty where there is no value."""
    texts = (str(cell).strip() for cell in column.tolist())
    return ["" if text.lower() in _MISSING else text for text in texts]


def _numbers(column: "pd.Series[str]", texts: Sequence[str]) -> list[float]:
    """Return the cells as numbers, NaN where there is none."""
    if column.dtype.kind in "iuf":
        return [float(number) for number in column.to_numpy(dtype=np.float64, na_value=np.nan)]
    found = (finite(text) if text else None for text in texts)
    return [np.nan if number is None else number for number in found]


def _is_known_parameter(name: str) -> bool:
    return name.strip().lower() in _PARAMETERS


def _unit(name: str, unit: str | None) -> str:
    if unit is not None:
        return unit
    return "s" if _TIMES.fullmatch(name) else "B" if _BYTES.fullmatch(name) else "1"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:12]) or "none"


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
        if (len(kept) + 1) * len(header) > _MOST_CELLS:
            raise DataError(f"{content.where} has more than {_MOST_CELLS} cells; split it, or leave out columns or repetitions.")
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
