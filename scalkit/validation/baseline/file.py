"""Reads and writes baselines; what a file holds is checked value by value, because it may come from anywhere."""

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, get_args

from scalkit.errors import DataError, ScalkitError
from scalkit.files import whole_file
from scalkit.fit import Model
from scalkit.growth import Growth, plain_growths, register_again
from scalkit.measure import Statistic
from scalkit.validation.baseline import BASELINE_SCHEMA, Baseline, BaselineEntry

MAX_BYTES = 20_000_000
MAX_ENTRIES = 10_000
MAX_POINTS = 10_000
MAX_TEXT = 500
_STATISTICS = get_args(Statistic)
_ENTRY = ("function", "metric", "unit", "parameter", "expectation", "deviation", "model", "x", "y", "noise")
_MODEL = ("growth", "constant", "log2_coefficient", "adjusted_r2", "rss", "text")
_LARGEST_LOG2 = 1e6
_OWN = "growth_classes"


def save(baseline: Baseline, path: Path) -> Path:
    """Write a baseline beside its place and move it there; return the path."""
    content = baseline.to_dict()
    if own := plain_growths(json.dumps(content["entries"], ensure_ascii=False)):
        content["growth_classes"] = own
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with whole_file(path, DataError, what=f"the baseline '{path}'") as part:
        part.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Baseline:
    """Return the baseline in a file.

    Raises DataError: one sentence with the file, the place in it, what stands there and what is needed.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot read the baseline '{path}': {error.strerror}; write one with Baseline.save.") from error
    try:
        if len(content) > MAX_BYTES:
            _refuse(f"it is larger than {MAX_BYTES // 10**6} MB")
        return _baseline(_parsed(content))
    except ScalkitError as error:
        raise DataError(f"'{path}' is no baseline: {error}") from error


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except ScalkitError:
        raise
    except UnicodeDecodeError:
        _refuse("it is not text in UTF-8")
    except json.JSONDecodeError as error:
        _refuse(f"it is not JSON, {error.msg} in line {error.lineno}")
    except (RecursionError, ValueError):  # nested too deep, or a number of thousands of digits
        _refuse("it is nested too deep, or a number in it is too long")


def _no_constant(name: str) -> NoReturn:
    _refuse(f"it holds the number {name}, which JSON does not know")


def _refuse(why: str) -> NoReturn:
    raise DataError(f"{why}.")


def _baseline(table: Any) -> Baseline:
    if not isinstance(table, Mapping):
        _refuse("its top is not an object; write one with Baseline.save")
    schema = table.get("schema")
    if isinstance(schema, bool) or schema not in (1, BASELINE_SCHEMA):
        _refuse(f"'schema' is {_shown(schema)}, {BASELINE_SCHEMA} is needed")
    known = ("schema", "statistic", "entries")
    _keys({key: value for key, value in table.items() if key != _OWN}, known, "")
    register_again(table.get(_OWN, {}))
    if table["statistic"] not in _STATISTICS:
        _refuse(f"'statistic' is {_shown(table['statistic'])}; one of {', '.join(_STATISTICS)} is needed")
    rows = table["entries"]
    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_ENTRIES:
        _refuse(f"'entries' must be a list of 1 to {MAX_ENTRIES:,} entries")
    entries = tuple(_entry(row, f"entry {number}", schema) for number, row in enumerate(rows, 1))
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        if (entry.function, entry.metric) in seen:
            _refuse(f"'{entry.metric}' of '{entry.function}' stands there twice")
        seen.add((entry.function, entry.metric))
    return Baseline(entries, table["statistic"])


def _entry(row: Any, where: str, schema: int) -> BaselineEntry:
    _keys(row, _ENTRY if schema == 1 else (*_ENTRY, "errors"), where, () if schema == 1 else ("processes",))
    function, metric, unit, parameter = (_text(row, key, where) for key in ("function", "metric", "unit", "parameter"))
    where = f"{where} ('{metric}' of '{function}')"
    x, y = _numbers(row, "x", where), _numbers(row, "y", where)
    if len(x) != len(y):
        _refuse(f"{where}: 'x' has {len(x)} values and 'y' {len(y)}; each setting needs one")
    if any(later <= earlier for earlier, later in pairwise(x)) or x[0] <= 0:
        _refuse(f"{where}: 'x' must be positive and ascend")
    deviation = None if row["deviation"] is None else _growth(row, "deviation", where, parameter)
    entry = BaselineEntry(
        function=function,
        metric=metric,
        model=_model(row["model"], where, parameter, unit),
        expectation=_growth(row, "expectation", where, parameter),
        deviation=deviation,
        x=x,
        y=y,
        noise=_number(row, "noise", where),
        errors=() if schema == 1 else _numbers(row, "errors", where),
        processes=_numbers(row, "processes", where) if "processes" in row else (),
    )
    if entry.errors and len(entry.errors) != len(x):
        _refuse(f"{where}: 'x' has {len(x)} values and 'errors' {len(entry.errors)}; each setting needs one")
    try:
        _ = entry.status_quo
    except ScalkitError as error:
        raise DataError(f"{where}: {error}") from error
    return entry


def _model(row: Any, where: str, parameter: str, unit: str) -> Model:
    _keys(row, _MODEL, f"{where}, 'model'")
    _text(row, "text", f"{where}, 'model'")
    growth = _growth(row, "growth", where, parameter)
    log2 = row["log2_coefficient"]
    if (log2 is None) != growth.is_constant:
        _refuse(f"{where}: 'log2_coefficient' is {_shown(log2)}, but the growth is {growth}")
    log2 = -math.inf if log2 is None else _number(row, "log2_coefficient", where, least=-_LARGEST_LOG2)
    r2 = row["adjusted_r2"]
    return Model(
        constant=_number(row, "constant", where, least=-math.inf),
        coefficient=math.inf if log2 >= 1024 else 2.0**log2,
        growth=growth,
        parameter=parameter,
        unit=unit,
        adjusted_r2=math.nan if r2 is None else _number(row, "adjusted_r2", where, least=-math.inf),
        rss=_number(row, "rss", where),
        log2_coefficient=log2,
    )


def _keys(row: Any, keys: tuple[str, ...], where: str, optional: tuple[str, ...] = ()) -> None:
    place = f"{where}: " if where else ""
    if not isinstance(row, Mapping):
        _refuse(f"{place}an object is needed, not {_shown(row)}")
    for key in keys:
        if key not in row:
            _refuse(f"{place}'{key}' is missing")
    for key in row:
        if key not in (*keys, *optional):
            _refuse(f"{place}{_shown(key)} is unknown; known are {', '.join((*keys, *optional))}")


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row[key]
    is_fine = isinstance(value, str) and len(value) <= MAX_TEXT and value.isprintable() and (value or key == "unit")
    if not is_fine:
        _refuse(f"{where}: '{key}' is {_shown(value)}; a text of up to {MAX_TEXT} printable characters is needed")
    return str(value)


def _growth(row: Mapping[str, Any], key: str, where: str, parameter: str) -> Growth:
    if not isinstance(row[key], str):
        _refuse(f"{where}: '{key}' is {_shown(row[key])}; a text such as 'p*log(p)' is needed")
    try:
        return Growth.parse(row[key], parameter)
    except ScalkitError as error:
        raise DataError(f"{where}: '{key}': {error}") from error


def _number(row: Mapping[str, Any], key: str, where: str, least: float = 0.0) -> float:
    value = row[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_in_range(value, least):
        kind = "not negative" if least == 0 else "a number"
        _refuse(f"{where}: '{key}' is {_shown(value)}; it must be {kind} and finite")
    return float(value)


def _is_in_range(value: float, least: float) -> bool:
    try:
        return math.isfinite(value) and float(value) >= least
    except OverflowError:  # a whole number beyond every float
        return False


def _numbers(row: Mapping[str, Any], key: str, where: str) -> tuple[float, ...]:
    values = row[key]
    if not isinstance(values, list) or not 0 < len(values) <= MAX_POINTS:
        _refuse(f"{where}: '{key}' must be a list of 1 to {MAX_POINTS:,} numbers")
    return tuple(_number({key: value}, key, where) for value in values)


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a number of many digits"
    return text if len(text) <= 40 else f"{text[:40]}..."
