"""Reads and writes baselines; what a file holds is checked value by value, because it may come from anywhere."""

import json
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, get_args

from scalkit.errors import DataError, ScalkitError
from scalkit.files import whole_file
from scalkit.fit import Model
from scalkit.fit.several.model import MAX_TERMS, GrowthSum, SeveralModel, Term
from scalkit.growth import Growth
from scalkit.options import Statistic
from scalkit.validation.baseline import BASELINE_SCHEMA, Baseline, BaselineEntry

MAX_BYTES = 20_000_000
MAX_ENTRIES = 10_000
MAX_POINTS = 10_000
MAX_TEXT = 500
_STATISTICS = get_args(Statistic)
MAX_PARAMETERS = 10
_COMMON = ("function", "metric", "unit", "expectation", "deviation", "model", "y", "noise")
_OF_ONE = ("parameter", "x")
_OF_SEVERAL = ("parameters", "points")
_MODEL_OF_SEVERAL = ("terms", "rss", "text")
_TERM = ("growth", "log2_coefficient", "is_subtracted")
_MODEL = ("growth", "constant", "log2_coefficient", "adjusted_r2", "rss", "text")
_LOWER = ("lower", "lower_coefficient")
_LARGEST_LOG2 = 1e6


def save(baseline: Baseline, path: Path) -> Path:
    """Write a baseline beside its place and move it there; return the path."""
    content = baseline.to_dict()
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
    if isinstance(schema, bool) or not isinstance(schema, int) or not 1 <= schema <= BASELINE_SCHEMA:
        _refuse(f"'schema' is {_shown(schema)}, {BASELINE_SCHEMA} is needed")
    known = ("schema", "statistic", "entries")
    _keys(table, known, "")
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
    return Baseline.of_entries(entries, table["statistic"])


def _entry(row: Any, where: str, schema: int) -> BaselineEntry:
    is_several = schema > 2 and isinstance(row, Mapping) and "parameters" in row
    keys = (*_COMMON, *(_OF_SEVERAL if is_several else _OF_ONE), *(("errors",) if schema > 1 else ()))
    _keys(row, keys, where, ("processes",) if schema > 1 and not is_several else ())
    function, metric, unit = (_text(row, key, where) for key in ("function", "metric", "unit"))
    parameters = _parameters(row, where) if is_several else (_text(row, "parameter", where),)
    where = f"{where} ('{metric}' of '{function}')"
    points = _points(row, where, parameters) if is_several else _settings(row, where)
    y, errors = _numbers(row, "y", where), _numbers(row, "errors", where) if schema > 1 else ()
    for key, values in (("y", y), ("errors", errors)):
        if values and len(points) != len(values):
            of = "points" if is_several else "x"
            _refuse(f"{where}: '{of}' has {len(points)} values and '{key}' {len(values)}; each setting needs one")
    model = row["model"]
    entry = BaselineEntry(
        function=function,
        metric=metric,
        model=_sum_model(model, where, parameters, unit) if is_several else _model(model, where, parameters[0], unit, schema),
        expectation=_sum(row, where, parameters) if is_several else _growth(row, "expectation", where, parameters[0]),
        deviation=_deviation(row, where, parameters, is_several=is_several),
        points=points,
        y=y,
        noise=_number(row, "noise", where),
        errors=errors,
        processes=_numbers(row, "processes", where) if "processes" in row else (),
    )
    try:
        _ = entry.status_quo
    except ScalkitError as error:
        raise DataError(f"{where}: {error}") from error
    return entry


def _parameters(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    names = row["parameters"]
    if not isinstance(names, list) or not 2 <= len(names) <= MAX_PARAMETERS:
        _refuse(f"{where}: 'parameters' must be a list of 2 to {MAX_PARAMETERS} names")
    found = tuple(_text({"parameters": name}, "parameters", where) for name in names)
    if len(set(found)) < len(found):
        _refuse(f"{where}: 'parameters' names one twice")
    return found


def _settings(row: Mapping[str, Any], where: str) -> tuple[tuple[float, ...], ...]:
    x = _numbers(row, "x", where)
    if any(later <= earlier for earlier, later in pairwise(x)) or x[0] <= 0:
        _refuse(f"{where}: 'x' must be positive and ascend")
    return tuple((value,) for value in x)


def _points(row: Mapping[str, Any], where: str, parameters: tuple[str, ...]) -> tuple[tuple[float, ...], ...]:
    rows = row["points"]
    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_POINTS:
        _refuse(f"{where}: 'points' must be a list of 1 to {MAX_POINTS:,} points")
    points = tuple(_numbers({"points": one}, "points", where) for one in rows)
    for point in points:
        if len(point) != len(parameters):
            _refuse(f"{where}: a point has {len(point)} values; it needs one of each of {', '.join(parameters)}")
    if any(later <= earlier for earlier, later in pairwise(points)) or min(map(min, points)) <= 0:
        _refuse(f"{where}: 'points' must be positive and ascend")
    return points


def _deviation(row: Mapping[str, Any], where: str, parameters: tuple[str, ...], *, is_several: bool) -> dict[str, Growth]:
    """Return the deviation that was given along each parameter; of one parameter it is a text, or null without one."""
    if not is_several:
        (name,) = parameters
        return {} if row["deviation"] is None else {name: _growth(row, "deviation", where, name)}
    table = row["deviation"]
    where = f"{where}, 'deviation'"
    _keys(table, (), where, parameters)
    return {name: _growth(table, name, where, name) for name in table}


def _sum(row: Mapping[str, Any], where: str, parameters: tuple[str, ...]) -> GrowthSum:
    if not isinstance(row["expectation"], str):
        _refuse(f"{where}: 'expectation' is {_shown(row['expectation'])}; a text such as 'log(p) + S' is needed")
    try:
        found = GrowthSum.parse(row["expectation"])
    except ScalkitError as error:
        raise DataError(f"{where}: 'expectation': {error}") from error
    _require_known(found.parameters, parameters, f"{where}: 'expectation'")
    return found


def _require_known(names: Iterable[str], parameters: tuple[str, ...], what: str) -> None:
    for name in names:
        if name not in parameters:
            _refuse(f"{what} depends on {_shown(name)}, the points on {', '.join(parameters)}")


def _sum_model(row: Any, where: str, parameters: tuple[str, ...], unit: str) -> SeveralModel:
    where = f"{where}, 'model'"
    _keys(row, _MODEL_OF_SEVERAL, where)
    _text(row, "text", where)
    terms = row["terms"]
    if not isinstance(terms, list) or not 0 < len(terms) <= MAX_TERMS:
        _refuse(f"{where}: 'terms' must be a list of 1 to {MAX_TERMS} terms")
    found = tuple(_term(one, f"{where}, term {number}", parameters) for number, one in enumerate(terms, 1))
    return SeveralModel(parameters, found, unit, _number(row, "rss", where))


def _term(row: Any, where: str, parameters: tuple[str, ...]) -> Term:
    _keys(row, _TERM, where)
    growth = _growth(row, "growth", where)
    _require_known(growth.parameters, parameters, f"{where}: 'growth'")
    if not isinstance(row["is_subtracted"], bool):
        _refuse(f"{where}: 'is_subtracted' is {_shown(row['is_subtracted'])}; true or false is needed")
    if row["log2_coefficient"] is None and growth.is_constant:
        return Term(growth, -math.inf, row["is_subtracted"])  # a constant of 0
    log2 = _number(row, "log2_coefficient", where, least=-_LARGEST_LOG2)
    return Term(growth, log2, row["is_subtracted"])


def _model(row: Any, where: str, parameter: str, unit: str, schema: int) -> Model:
    _keys(row, _MODEL, f"{where}, 'model'", _LOWER if schema > 2 else ())
    if ("lower" in row) != ("lower_coefficient" in row):
        _refuse(f"{where}, 'model': 'lower' and 'lower_coefficient' are a term together; give both or neither")
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
        lower=_growth(row, "lower", where, parameter) if "lower" in row else None,
        lower_coefficient=_number(row, "lower_coefficient", where, least=-math.inf) if "lower" in row else 0.0,
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


def _growth(row: Mapping[str, Any], key: str, where: str, parameter: str | None = None) -> Growth:
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
