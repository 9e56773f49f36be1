"""Extra-P's JSON, the present layout and the old one, and JSON Lines: an object for each measurement."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, json_line, shortened
from scalkit.formats.readers.extra_p_common import AGAIN, Series, checked, listed
from scalkit.formats.readers.observed import Found

Table = Mapping[str, Any]


def is_extra_p_json(value: object) -> bool:
    """Return whether a JSON value has the shape of Extra-P's measurements."""
    return isinstance(value, dict) and "parameters" in value and "measurements" in value


def from_extra_p_json(value: Table, content: Content) -> Found:
    """Return the measurements in Extra-P's JSON. Raises DataError if something is missing or of the wrong kind."""
    where = content.where
    if "callpaths" in value:
        return _legacy(value, where)
    series = Series(where, names_in(value, where))
    for callpath, metric, one, place in measurements_of(value["measurements"], where):
        values = checked(one.get("values"), list, f"{place}: 'values'")
        series.add(callpath, metric, one.get("point"), values, place)
    return series.found("Extra-P JSON")


def names_in(value: Table, where: str) -> list[str]:
    """Return the names of the parameters. Raises DataError if they are no texts."""
    return [
        checked(one, str, f"{where}: a parameter") for one in checked(value.get("parameters"), list, f"{where}: 'parameters'")
    ]


def measurements_of(value: object, where: str) -> Iterator[tuple[str, str, Table, str]]:
    """Yield call path, metric, measurement and its place in words. Raises DataError if something is of the wrong kind."""
    for callpath, by_metric in checked(value, dict, f"{where}: 'measurements'", "an object by call path").items():
        if not isinstance(by_metric, dict):
            raise DataError(
                f"{where}: {shortened(callpath)} holds {shortened(by_metric)}; an object by metric is needed: {AGAIN}."
            )
        for metric, ones in by_metric.items():
            place = f"{where}: {shortened(metric)} of {shortened(callpath)}"
            for one in checked(ones, list, place):
                if not isinstance(one, dict):
                    raise DataError(f"{place} holds {shortened(one)}; an object with a point and values is needed: {AGAIN}.")
                yield callpath, metric, one, place


def _legacy(value: Table, where: str) -> Found:
    """Return the measurements of the old layout: five arrays that refer to each other by id."""
    parameters, callpaths, metrics = (
        {
            _id(one, "id", where): checked(one.get("name"), str, f"{where}: a name in {kind!r}")
            for one in _objects(value, kind, where)
        }
        for kind in ("parameters", "callpaths", "metrics")
    )
    series = Series(where, [parameters[key] for key in sorted(parameters)])
    points: dict[int, list[object]] = {}
    for one in _objects(value, "coordinates", where):
        pairs = {
            _id(pair, "parameter_id", where): _from_text(pair.get("parameter_value"), f"{where}: a 'parameter_value'")
            for pair in _objects(one, "parameter_value_pairs", where)
        }
        if set(pairs) != set(parameters):
            raise DataError(f"{where}: coordinate {shortened(one.get('id'))} has not one value for each parameter: {AGAIN}.")
        points[_id(one, "id", where)] = [pairs[key] for key in sorted(pairs)]
    known = {"call path": callpaths, "metric": metrics, "coordinate": points}
    for one in _objects(value, "measurements", where):
        place = [_id(one, f"{what.replace(' ', '')}_id", where) for what in known]
        for key, (what, ids) in zip(place, known.items(), strict=True):
            if key not in ids:
                raise DataError(f"{where}: a measurement names {what} {key}, which is not there: {AGAIN}.")
        values = [_from_text(one.get("value"), f"{where}: a 'value'")]
        series.add(callpaths[place[0]], metrics[place[1]], points[place[2]], values, where)
    return series.found("Extra-P JSON (old layout)")


def _objects(value: Table, kind: str, where: str) -> list[Table]:
    found: list[Table] = checked(value.get(kind), list, f"{where}: {kind!r}")
    if not all(isinstance(one, dict) for one in found):
        raise DataError(f"{where}: {kind!r} holds something that is no object: {AGAIN}.")
    return found


def _id(one: Table, key: str, where: str) -> int:
    value = one.get(key)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 18:
        return int(value)
    number: int = checked(value, int, f"{where}: {key!r}")
    return number


def _from_text(value: object, what: str) -> object:
    """Return a number that may be written as text, as the old layout has it."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise DataError(f"{what} is {shortened(value)}; a number is needed: {AGAIN}.") from None


def is_extra_p_lines(content: Content) -> bool:
    """Return whether the first line is an object with ``params``, or the beginning of one."""
    first = next((line for line in content.head.split("\n") if line.strip()), "")
    if '"params"' not in first or not first.lstrip().startswith("{"):
        return False
    try:
        return "params" in json_line(first)
    except ValueError:
        return re.match(r'\s*\{\s*"(params|callpath|metric|value|unit)"\s*:', first) is not None


def read_extra_p_lines(content: Content) -> Found:
    """Return the measurements in JSON Lines as Extra-P reads them; ``unit``, ``run`` and ``exact`` are scalkit's own keys.

    Raises DataError if a line is damaged or lacks ``params`` or ``value``.
    """
    series: Series | None = None
    names: list[str] = []
    cut = ""
    for line in content.lines():
        if not line.text.strip():
            continue
        try:
            record = json_line(line.text)
        except ValueError as error:
            if line == content.unended and series is not None:
                cut = f"line {line.number} is cut and left out: {shortened(line.text.strip())}"
                break
            raise content.error(
                line, f"{error}; each line must be one object, perhaps the file was cut or edited there: write it again."
            ) from None
        params = record.get("params")
        if not isinstance(params, dict) or not params:
            raise content.error(line, f"'params' is {shortened(params)}; an object of names and numbers is needed.")
        if series is None:
            names, series = list(params), Series(content.where, list(params))
        if set(params) != set(names):
            told = f"the parameters are {', '.join(params)}, before they were {', '.join(names)}"
            raise content.error(line, f"{told:.200}; name the same ones in each line.")
        _add(content, line, series, record, [params[name] for name in names])
    if series is None:
        raise DataError(f"{content.where} holds no measurement; write the file again.")
    return series.found("Extra-P JSON Lines", cut)


def _add(content: Content, line: Line, series: Series, record: Table, point: list[object]) -> None:
    values = listed(record.get("value"))
    if not values:
        raise content.error(line, "'value' is an empty list; a number is needed.")
    for key in ("callpath", "metric", "unit"):
        if not isinstance(record.get(key, ""), str | None):
            raise content.error(line, f"{key!r} is {shortened(record[key])}; a text is needed.")
    run = record.get("run", 0)
    if not _is_run(run):
        raise content.error(line, f"'run' is {shortened(run)}; a whole number from 0 on is needed.")
    callpath, metric, is_exact = record.get("callpath") or "<root>", record.get("metric") or "", record.get("exact") is True
    where = f"{content.where}, line {line.number}"
    series.add(callpath, metric, point, values, where, unit=record.get("unit"), run=run, exact=is_exact)


def _is_run(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31
