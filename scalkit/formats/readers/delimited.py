"""Files of rows and columns: CSV with any usual separator, JUBE's tables, ReFrame's performance logs."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, base_unit, finite, shortened, split_unit
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier
from scalkit.formats.remarks import attributes_of_remarks
from scalkit.toml.tables import table_beside
from scalkit.units import scaled

_PARAMETERS = tuple(
    (
        "p np nprocs procs processes ranks num_tasks ntasks tasks nodes threads cores workers n m k s size size_b "
        "bytes msize problem_size x"
    ).split()
)
_TIMES = re.compile(
    r"(\w+_)?(time|runtime|duration|elapsed|latency|walltime|wall|seconds|secs)(_\w+)?|t_(min|max|avg|med|median|mean)",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"(\w+_)?(memory|rss|pss|bandwidth|throughput|flops|energy|power)(_\w+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """Text in rows under a header.

    `where`: for messages.
    `header`: names of the columns, each once.
    `rows`: number of the line, and a text for each column; empty or ``nan`` where there is no value.
    """

    where: str
    header: tuple[str, ...]
    rows: Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are, by their place.

    `texts`: settings that are words.
    `metrics`: name and unit of columns of values.
    """

    parameters: Mapping[int, str] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    metrics: Mapping[int, tuple[str, str | None]] = field(default_factory=dict)
    function: int | None = None
    metric: int | None = None
    unit: int | None = None
    value: int | None = None
    run: int | None = None
    repetition: int | None = None
    exact: int | None = None


def roles_of(table: Table, parameter: str | Sequence[str] | None = None, metric: str | None = None) -> Columns:
    """Return what each column is, by its name and by whether it holds numbers.

    A column called ``function`` (``callpath``, ``region``, ``name``, ...) holds names; ``metric``, ``unit`` and ``value`` hold
    one quantity a row; ``run`` and ``repetition`` number repeated measurements. Of the other columns of numbers those are
    values whose name has a unit (``time [us]``, ``time_us``) or is that of a quantity (``time``, ``latency``, ``bandwidth``);
    the rest are parameters. Columns of words are settings.

    Raises DataError if there is no column of values, or none that can be a parameter, or it is not clear which is
    which.
    """
    taken: dict[str, int] = {}
    for role, names in table_beside(__file__, "names.toml")["table"].items():
        place = _first(table, names, wanted=_listed(parameter), text=role in ("function", "metric", "unit"))
        if place is not None:
            taken[role] = place
    if "value" in taken and not _is_numeric(table, taken["value"]):
        del taken["value"]
    rest = [i for i in range(len(table.header)) if i not in taken.values()]
    numeric = [i for i in rest if _is_numeric(table, i)]
    texts = {i: identifier(table.header[i]) for i in rest if i not in numeric and _has_text(table, i)}
    metrics = {} if "value" in taken else {i: split_unit(table.header[i]) for i in numeric if _is_metric(table.header[i])}
    wanted = _listed(parameter)
    if metric is not None:
        metrics = {i: split_unit(table.header[i]) for i in numeric if metric in (table.header[i], split_unit(table.header[i])[0])}
        if not metrics:
            raise DataError(f"{table.where} has no column of numbers {metric!r:.60}; there are {_shown(table.header)}.")
        taken.pop("value", None)
        numeric = [i for i in numeric if i in metrics or not _is_metric(table.header[i])]
    metrics = {i: found for i, found in metrics.items() if identifier(table.header[i]) not in wanted}
    parameters = [i for i in numeric if i not in metrics]
    if "value" not in taken and not metrics:
        parameters, metrics = _guessed(table, parameters, wanted)
    if not parameters:
        raise DataError(
            f"{table.where} has no column of numbers that can be a parameter (its columns are {_shown(table.header)}); add one, "
            "as in 'p' or 'n'."
        )
    return Columns({i: identifier(table.header[i]) for i in parameters}, texts, metrics, **taken)


def gather(table: Table, columns: Columns, gathered: Gathered, default: str = "f") -> None:
    """Add the values of a table to `gathered`; a cell that is empty or ``nan`` holds none.

    Raises DataError if a cell should hold a number and does not.
    """
    for number, row in table.rows:
        where = f"{table.where}, line {number}"
        settings: dict[str, Setting] = {}
        for i, name in columns.parameters.items():
            if not _is_empty(row[i]):
                settings[name] = _number(row[i], f"{where}: {name!r}")
        settings |= {name: row[i].strip()[:60] for i, name in columns.texts.items() if row[i].strip()}
        function = (row[columns.function].strip() if columns.function is not None else "") or default
        run = int(_number(row[columns.run], f"{where}: 'run'")) if columns.run is not None else 0
        exact = columns.exact is not None and row[columns.exact].strip().lower() in ("1", "true", "yes")
        for i, name, unit in _values(columns, row):
            if not _is_empty(row[i]):
                factor, base = base_unit(unit if unit is not None else _usual(name))
                value = scaled(_number(row[i], f"{where}: {name!r}"), factor)
                metric = "time" if base == "s" and _is_the_time(columns, name) else name
                gathered.add(function, settings, [value], metric, base, run=run, exact=exact)


def _values(columns: Columns, row: Sequence[str]) -> list[tuple[int, str, str | None]]:
    if columns.value is not None:
        metric = row[columns.metric].strip() if columns.metric is not None else ""
        name, unit = split_unit(metric or "time")
        said = row[columns.unit].strip() if columns.unit is not None else ""
        return [(columns.value, name, said or unit)]
    return [(i, name, unit) for i, (name, unit) in columns.metrics.items()]


def _is_the_time(columns: Columns, name: str) -> bool:
    """Return whether a column of seconds is the run time: called so, or the only one."""
    if name.lower() in ("time", "runtime", "seconds", "walltime", "wall_time", "run_time"):
        return True
    return columns.value is None and len(columns.metrics) == 1


def _usual(name: str) -> str:
    if _TIMES.fullmatch(name):
        return "s"
    return "B" if re.fullmatch(r"(\w+_)?(memory|rss|pss|bytes)(_\w+)?", name, re.IGNORECASE) else "1"


def _first(table: Table, names: Sequence[str], wanted: Sequence[str], text: bool) -> int | None:
    """Return the first column of one of these names; of names that numbers carry, too, only where it holds words."""
    low = [header.strip().lower().replace(" ", "_") for header in table.header]
    for name in names:
        if name in low and identifier(name) not in wanted and name not in wanted:
            place = low.index(name)
            if not text or not _is_numeric(table, place):
                return place
    return None


def _guessed(table: Table, numeric: Sequence[int], wanted: Sequence[str]) -> tuple[list[int], dict[int, tuple[str, str | None]]]:
    """Return parameters and values where no name decides: the only column that is no known parameter holds the values."""
    known = [i for i in numeric if table.header[i].strip().lower() in _PARAMETERS or identifier(table.header[i]) in wanted]
    others = [i for i in numeric if i not in known]
    if len(others) == 1 and known:
        return known, {others[0]: split_unit(table.header[others[0]])}
    if len(others) == 2 and not known:
        return others[:1], {others[1]: split_unit(table.header[others[1]])}
    bytes_ = [i for i in known if table.header[i].strip().lower() == "bytes" and "bytes" not in wanted]
    if not others and len(bytes_) == 1 and len(known) > 1:  # a size of messages beside values, a value beside none
        return [i for i in known if i not in bytes_], {bytes_[0]: ("bytes", None)}
    raise DataError(
        f"{table.where}: it is not clear which column holds measured values (columns of numbers are "
        f"{_shown([table.header[i] for i in numeric])}); give it a name with a unit, as in 'time [us]', and name the parameters, "
        "as in parameter=['p', 'n']."
    )


def _is_metric(header: str) -> bool:
    name, unit = split_unit(header)
    if name.strip().lower() in _PARAMETERS and unit not in (None, "s", "us", "ms", "ns"):
        return False
    return unit is not None or bool(_TIMES.fullmatch(name.replace(" ", "_")) or _OTHERS.fullmatch(name.replace(" ", "_")))


def _is_numeric(table: Table, place: int) -> bool:
    cells = [row[place] for _, row in table.rows if not _is_empty(row[place])]
    return bool(cells) and sum(finite(cell) is not None for cell in cells) * 2 > len(cells)


def _has_text(table: Table, place: int) -> bool:
    return any(row[place].strip() for _, row in table.rows)


def _is_empty(cell: str) -> bool:
    return cell.strip().lower() in ("", "nan", "na", "n/a", "null", "none", "-")


def _number(cell: str, what: str) -> float:
    value = finite(cell)
    if value is None:
        raise DataError(f"{what} is {shortened(cell)}; a finite number, or nothing, is needed: correct the cell.")
    return value


def _listed(parameter: str | Sequence[str] | None) -> Sequence[str]:
    return [parameter] if isinstance(parameter, str) else list(parameter or ())


def _shown(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:12]) or "none"


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

    `scalkit.formats.readers.delimited.roles_of` says how columns are told apart.

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
