"""Extra-P's JSON Lines and the lines of TaLPas: an object for each measurement."""

import re

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, shortened
from scalkit.formats.readers.extra_p_common import Series, found_in, parameters_of_names
from scalkit.formats.readers.json_text import json_line
from scalkit.formats.readers.observed import Found, number_from_json


def is_talpas(content: Content) -> bool:
    """Return whether the first line is an object in TaLPas's spelling, with semicolons for commas."""
    first = content.head.lstrip().split("\n", 1)[0]
    return first.startswith("{") and '"parameters"' in first and ";" in first and '"callpath"' in first


def is_extra_p_lines(content: Content) -> bool:
    """Return whether the first line is an object with ``params``, or the beginning of one."""
    first = next((line for line in content.head.split("\n") if line.strip()), "")
    if '"params"' not in first or not first.lstrip().startswith("{"):
        return False
    try:
        return "params" in json_line(first)
    except ValueError:
        return re.match(r'\s*\{\s*"(params|callpath|metric|value|unit)"\s*:', first) is not None


def read_talpas(content: Content) -> Found:
    """Return the measurements in a file of TaLPas. Raises DataError if a line is damaged or lacks a key."""
    return _read(content, "TaLPas", "parameters", needed=("metric", "callpath"))


def read_extra_p_lines(content: Content) -> Found:
    """Return the measurements in JSON Lines as Extra-P reads them; ``unit``, ``run`` and ``exact`` are scalkit's own keys.

    Raises DataError if a line is damaged or lacks ``params`` or ``value``.
    """
    return _read(content, "Extra-P JSON Lines", "params")


def _read(content: Content, kind: str, key: str, needed: tuple[str, ...] = ()) -> Found:
    series = Series(content.where)
    names: list[str] = []
    parameters: tuple[str, ...] = ()
    cut = ""
    for line in content.lines():
        if not line.text.strip():
            continue
        try:
            record = json_line(line.text.replace(";", ",") if kind == "TaLPas" else line.text)
        except ValueError as error:
            if line == content.unended and len(series.gathered):
                cut = f"line {line.number} is cut and left out: {shortened(line.text.strip())}"
                break
            raise content.error(
                line, f"{error}; each line must be one object, perhaps the file was cut or edited there: write it again."
            ) from None
        params = record.get(key)
        if not isinstance(params, dict) or not params:
            raise content.error(line, f"{key!r} is {shortened(params)}; an object of names and numbers is needed.")
        if not names:
            names = list(params)
            parameters = parameters_of_names(names, f"{content.where}, line {line.number}")
        if list(params) != names and set(params) != set(names):
            told = f"the parameters are {', '.join(params)}, before they were {', '.join(names)}"
            raise content.error(line, f"{told:.200}; name the same ones in each line.")
        params = {name: params[name] for name in names}
        for one in needed:
            if one not in record:
                raise content.error(line, f"{one!r} is missing; TaLPas writes it in each line.")
        _add(content, line, series, record, parameters, params)
    if not len(series.gathered):
        raise DataError(f"{content.where} holds no measurement; write the file again.")
    return found_in(kind, series, parameters, cut)


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
