"""Tables: which column holds what, whatever the table was read from."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from scalkit.errors import DataError
from scalkit.formats.readers.content import base_unit, finite, shortened, split_unit
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier
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
_COUNTS = re.compile(
    r"(\w+_)?(count|counts|calls|visits|operations|ops|instructions|cycles|iterations|messages|misses)", re.IGNORECASE
)
_STATISTICS = re.compile(
    r"(\w+_)?(mean|avg|average|median|min|minimum|max|maximum|std|stddev|stdev|sd|var|err|error|ci|iqr|q1|q3)(_\w+)?",
    re.IGNORECASE,
)
_QUANTITIES = (_TIMES, _BYTES, _OTHERS, _COUNTS, _STATISTICS)
_THE_TIME = ("time", "runtime", "seconds", "walltime", "wall_time", "run_time")
_MISSING = ("", "nan", "<na>", "nat", "na", "n/a", "null", "none", "-")


MOST_CELLS = 2**21


def read_frame(frame: pd.DataFrame, parameter: str | Sequence[str] | None = None, kind: str = "DataFrame") -> Found:
    """Return the measurements in a DataFrame; levels of the index that have a name are columns, too.

    `parameter`: columns that are parameters although their name is that of a quantity.
    `kind`: what the DataFrame was made of, for messages.
    Raises DataError if columns cannot be told apart, or cells hold no numbers where they should.
    """
    where = f"the {kind}"
    levels = [name for name in frame.index.names if name is not None]
    flat = frame.reset_index(level=levels) if levels else frame
    if not flat.size:
        raise DataError(f"{where} is empty; rows of measurements are needed.")
    if flat.size > MOST_CELLS:
        raise DataError(f"{where} has {flat.size} cells, up to {MOST_CELLS} are read; leave out columns or rows.")
    header = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in flat.columns]
    numbered = flat.set_axis(header, axis=1).set_axis(range(1, len(flat) + 1))
    return measurements_in(numbered, where, kind, parameter)


def measurements_in(frame: pd.DataFrame, where: str, kind: str, parameter: str | Sequence[str] | None = None) -> Found:
    """Return the measurements in a table, whatever it was read from.

    A column called ``function`` (``callpath``, ``region``, ``name``, ...) holds names; ``metric``, ``unit`` and ``value`` hold
    one quantity a row; ``run`` and ``repetition`` number repeated measurements. Of the other columns of numbers those are
    values whose name has a unit (``time [us]``, ``time_us``) or is that of a quantity (``time``, ``latency``, ``bandwidth``);
    the rest are parameters. Without any of these names, columns beside ``p`` or ``n`` hold the values of the functions that
    they are called after: run times if they say a unit of time (``MPI_Bcast [us]``). Columns of words are settings. Cells that
    are empty or ``nan`` hold nothing.

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
        for quantity in quantities:
            value = quantity.values[row]
            if value == value:
                factor, base = base_unit(quantity.units[row])
                name = quantity.names[row]
                metric = "time" if base == "s" and table.is_the_time(name) else name
                function = functions[row] or quantity.function or "f"
                gathered.add(function, settings, [scaled(value, factor)], metric, base, run=run, exact=is_exact)
    return Found(kind, gathered.observed(), advice="a column with several values is needed, as in 'p' or 'n'")


class _Quantity(NamedTuple):
    """A column of values: its function if the column names it, and name, unit and value by row."""

    function: str
    names: Sequence[str]
    units: Sequence[str]
    values: Sequence[float]


class _Table:
    """A table with the roles of its columns.

    `roles`: the column that has one of the roles in names.toml.
    `metrics`: name and unit of columns of values.
    `functions`: columns that are called after functions, instead of metrics.
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
        self.functions = self._called_after_functions()
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

    def quantities(self) -> Iterator[_Quantity]:
        """Yield each column of values."""
        n = len(self.frame)
        if "value" in self.roles:
            named = [split_unit(text or "time") for text in self.texts(self.roles.get("metric"))]
            said = self.texts(self.roles.get("unit"))
            units = [text or _unit(*one) for text, one in zip(said, named, strict=True)]
            names = [name for name, _ in named]
            yield _Quantity("", names, units, self.numbers(self.roles["value"]))
        for column, (name, unit) in self.metrics.items():
            metric, function = name, ""
            if column in self.functions:
                # Without a unit nothing says that the numbers are times.
                metric, function = "value" if unit is None else "time", name
            yield _Quantity(function, [metric] * n, [_unit(metric, unit)] * n, self.numbers(column))

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

    def _called_after_functions(self) -> list[str]:
        """Return the columns of values whose names are those of functions, as ``MPI_Bcast [us]``.

        A name of a quantity in any of them (``latency``, ``bandwidth``) says that all of them are metrics.
        """
        if "function" in self.roles or "value" in self.roles:
            return []
        for name, unit in self.metrics.values():
            is_quantity = any(words.fullmatch(name.replace(" ", "_")) for words in _QUANTITIES)
            if is_quantity or (unit is not None and base_unit(unit)[1] != "s"):
                return []
        return list(self.metrics)

    def _guess(self) -> None:
        """Tell parameters and values apart where no name decides.

        Beside known parameters the only other column holds values; several do if all have fractions, as run times
        in seconds have.
        """
        known = [name for name in self.parameters if _is_known_parameter(name) or self._is_wanted(name)]
        others = [name for name in self.parameters if name not in known]
        sizes = [name for name in known if name.strip().lower() == "bytes" and "bytes" not in self.wanted]
        if others and known and (len(others) == 1 or all(map(self._holds_fractions, others))):
            values = others
        elif len(others) == 2 and not known:
            values = others[1:]
        elif not others and len(sizes) == 1 and len(known) > 1:  # a size of messages beside values, a value beside none
            values = sizes
        else:
            raise DataError(
                f"{self.where}: it is not clear which column holds measured values (columns of numbers are "
                f"{_listed(self.parameters)}); give it a name with a unit, as in 'time [us]', and name the parameters, "
                "as in parameter=['p', 'n']."
            )
        self.parameters = [name for name in self.parameters if name not in values]
        self.metrics = {name: split_unit(name) for name in values}

    def _holds_fractions(self, name: str) -> bool:
        """Return whether a column has numbers that are not whole, and no name of a statistic."""
        numbers = [number for number in self._numbers[name] if np.isfinite(number)]
        return not _STATISTICS.fullmatch(name) and any(not number.is_integer() for number in numbers)


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
