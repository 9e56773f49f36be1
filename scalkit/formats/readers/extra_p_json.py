"""Extra-P's JSON, the present layout and the old one, and JSON Lines: an object for each measurement."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, json_line, shortened
from scalkit.formats.readers.extra_p_common import Series, found_in, parameters_of_names
from scalkit.formats.readers.observed import Found, number_from_json

_AGAIN = "the file is damaged: write it again"

Table = Mapping[str, Any]


def is_extra_p_json(value: object) -> bool:
    """Return whether a JSON value has the shape of Extra-P's measurements."""
    return isinstance(value, dict) and "parameters" in value and "measurements" in value


def from_extra_p_json(value: Table, content: Content) -> Found:
    """Return the measurements in Extra-P's JSON. Raises DataError if something is missing or of the wrong kind."""
    if "callpaths" in value:
        return _legacy(value, content.where)
    names = [
        text_of(one, f"{content.where}: a parameter") for one in list_of(value["parameters"], f"{content.where}: 'parameters'")
    ]
    parameters = parameters_of_names(names, content.where)
    units = value.get("units", {})
    exact = value.get("exact") if isinstance(value.get("exact"), list) else ()
    series = Series(content.where)
    for callpath, metric, one, where in measurements_of(value["measurements"], content.where):
        point = point_of_json(one.get("point"), names, where)
        values = [_number(item, where) for item in list_of(one.get("values"), f"{where}: 'values'")]
        runs = one.get("runs", [0] * len(values))
        if (
            not isinstance(runs, list)
            or len(runs) != len(values)
            or not all(type(run) is int and 0 <= run < 2**31 for run in runs)
        ):
            raise DataError(f"{where}: 'runs' is {shortened(runs)}; a whole number for each of the values is needed.")
        unit = units.get(metric) if isinstance(units, dict) else None
        for run in dict.fromkeys(runs):
            kept = [item for item, of in zip(values, runs, strict=True) if of == run]
            said = unit if isinstance(unit, str) else None
            series.add(callpath, metric, parameters, point, kept, unit=said, run=run, exact=metric in (exact or ()))
    return found_in("Extra-P JSON", series, parameters)


def measurements_of(value: object, where: str) -> Iterator[tuple[str, str, Table, str]]:
    """Yield call path, metric, measurement and its place in words. Raises DataError if something is of the wrong kind."""
    if not isinstance(value, dict):
        raise DataError(f"{where}: 'measurements' is {shortened(value)}; an object by call path is needed: {_AGAIN}.")
    for callpath, by_metric in value.items():
        if not isinstance(by_metric, dict):
            raise DataError(
                f"{where}: {shortened(callpath)} holds {shortened(by_metric)}; an object by metric is needed: {_AGAIN}."
            )
        for metric, ones in by_metric.items():
            place = f"{where}: {shortened(metric)} of {shortened(callpath)}"
            for one in list_of(ones, place):
                if not isinstance(one, dict):
                    raise DataError(f"{place} holds {shortened(one)}; an object with a point and values is needed: {_AGAIN}.")
                yield callpath, metric, one, place


def _legacy(value: Table, where: str) -> Found:
    """Return the measurements of the old layout: five arrays that refer to each other by id."""
    parameters, callpaths, metrics = (_names(value, kind, where) for kind in ("parameters", "callpaths", "metrics"))
    shown = parameters_of_names([parameters[key] for key in sorted(parameters)], where)
    points: dict[int, list[float]] = {}
    for one in _objects(value, "coordinates", where):
        pairs = {
            _id(pair, "parameter_id", where): _from_text(pair.get("parameter_value"), f"{where}: a 'parameter_value'")
            for pair in _objects(one, "parameter_value_pairs", where)
        }
        if set(pairs) != set(parameters):
            raise DataError(f"{where}: coordinate {shortened(one.get('id'))} has not one value for each parameter: {_AGAIN}.")
        points[_id(one, "id", where)] = [pairs[key] for key in sorted(pairs)]
    series = Series(where)
    known_ids: tuple[Collection[int], ...] = (callpaths, metrics, points)
    for one in _objects(value, "measurements", where):
        place = tuple(_id(one, key, where) for key in ("callpath_id", "metric_id", "coordinate_id"))
        for key, known, what in zip(place, known_ids, ("call path", "metric", "coordinate"), strict=True):
            if key not in known:
                raise DataError(f"{where}: a measurement names {what} {key}, which is not there: {_AGAIN}.")
        values = [_from_text(one.get("value"), f"{where}: a 'value'", nan=True)]
        point = points[place[2]]
        if min(point) <= 0:
            raise DataError(f"{where}: the point {tuple(point)} is not positive; leave it out.")
        series.add(callpaths[place[0]], metrics[place[1]], shown, point, values)
    return found_in("Extra-P JSON (old layout)", series, shown)


def _names(value: Table, kind: str, where: str) -> dict[int, str]:
    return {
        _id(one, "id", where): text_of(one.get("name"), f"{where}: a name in {kind!r}") for one in _objects(value, kind, where)
    }


def _objects(value: Table, kind: str, where: str) -> list[Table]:
    found = list_of(value.get(kind), f"{where}: {kind!r}")
    if not all(isinstance(one, dict) for one in found):
        raise DataError(f"{where}: {kind!r} holds something that is no object: {_AGAIN}.")
    return list(found)


def _id(one: Table, key: str, where: str) -> int:
    value = one.get(key)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 18:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise DataError(f"{where}: {key!r} is {shortened(value)}; a whole number is needed: {_AGAIN}.")
    return value


def list_of(value: object, what: str) -> Sequence[Any]:
    """Return a list that is not empty. Raises DataError if it is something else."""
    if not isinstance(value, list) or not value:
        raise DataError(f"{what} is {shortened(value)}; a list with something in it is needed: {_AGAIN}.")
    return value


def text_of(value: object, what: str) -> str:
    """Return a text. Raises DataError if it is something else."""
    if not isinstance(value, str):
        raise DataError(f"{what} is {shortened(value)}; a text is needed: {_AGAIN}.")
    return value


def point_of_json(value: object, names: Sequence[str], where: str) -> list[float]:
    """Return the positive numbers of a point, one for each parameter. Raises DataError if they are something else."""
    given = value if isinstance(value, list) else [value]
    point = [number_from_json(one, f"{where}: a number of a point") for one in given]
    if len(point) != len(names):
        raise DataError(f"{where}: the point {tuple(point)} has {len(point)} numbers for {len(names)} parameters: {_AGAIN}.")
    if min(point) <= 0:
        raise DataError(f"{where}: the point {tuple(point)} is not positive; every value of a parameter must be: leave it out.")
    return point


def _number(value: object, where: str) -> float:
    if isinstance(value, float) and value != value:
        return value
    return number_from_json(value, f"{where}: a value")


def _from_text(value: object, what: str, *, nan: bool = False) -> float:
    """Return a number, also one written as text, as the old layout may have it."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise DataError(f"{what} is {shortened(value)}; a number is needed: {_AGAIN}.") from None
    if nan and isinstance(value, float) and value != value:
        return value
    return number_from_json(value, what)


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
    series = Series(content.where)
    names: list[str] = []
    parameters: tuple[str, ...] = ()
    cut = ""
    for line in content.lines():
        if not line.text.strip():
            continue
        try:
            record = json_line(line.text)
        except ValueError as error:
            if line == content.unended and len(series.gathered):
                cut = f"line {line.number} is cut and left out: {shortened(line.text.strip())}"
                break
            raise content.error(
                line, f"{error}; each line must be one object, perhaps the file was cut or edited there: write it again."
            ) from None
        params = record.get("params")
        if not isinstance(params, dict) or not params:
            raise content.error(line, f"'params' is {shortened(params)}; an object of names and numbers is needed.")
        if not names:
            names = list(params)
            parameters = parameters_of_names(names, f"{content.where}, line {line.number}")
        if list(params) != names and set(params) != set(names):
            told = f"the parameters are {', '.join(params)}, before they were {', '.join(names)}"
            raise content.error(line, f"{told:.200}; name the same ones in each line.")
        params = {name: params[name] for name in names}
        _add(content, line, series, record, parameters, params)
    if not len(series.gathered):
        raise DataError(f"{content.where} holds no measurement; write the file again.")
    return found_in("Extra-P JSON Lines", series, parameters, cut)


def _add(
    content: Content,
    line: Line,
    series: Series,
    record: dict[str, object],
    parameters: tuple[str, ...],
    params: dict[str, object],
) -> None:
    where = f"{content.where}, line {line.number}"
    point = [number_from_json(value, f"{where}: {name!r}") for name, value in params.items()]
    if min(point) <= 0:
        raise content.error(line, f"the point {tuple(point)} is not positive; every value of a parameter must be: leave it out.")
    given = record.get("value")
    values = [_value(one, where) for one in (given if isinstance(given, list) else [given])]
    if not values:
        raise content.error(line, "'value' is an empty list; a number is needed.")
    texts = {key: record.get(key) for key in ("callpath", "metric", "unit")}
    for key, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise content.error(line, f"{key!r} is {shortened(text)}; a text is needed.")
    run = record.get("run", 0)
    if not isinstance(run, int) or isinstance(run, bool) or not 0 <= run < 2**31:
        raise content.error(line, f"'run' is {shortened(run)}; a whole number from 0 on is needed.")
    unit = texts["unit"]
    series.add(
        str(texts["callpath"] or "<root>"),
        str(texts["metric"] or ""),
        parameters,
        point,
        values,
        unit=str(unit) if unit is not None else None,
        run=run,
        exact=record.get("exact") is True,
    )


def _value(value: object, where: str) -> float:
    if isinstance(value, float) and value != value:
        return value
    return number_from_json(value, f"{where}: 'value'")
