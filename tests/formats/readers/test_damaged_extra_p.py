"""Damaged files of Extra-P are refused with the place, the value and the way on."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import scalkit as sk
from scalkit.errors import DataError

FILES = Path(__file__).resolve().parents[2] / "data" / "readers" / "extra-p"
AGAIN = "the file is damaged: write it again."

Keys = tuple[str | int, ...]

PRESENT: list[tuple[Keys, Any, str]] = [
    (("parameters",), [], f"FILE: 'parameters' is []; a list with something in it is needed: {AGAIN}"),
    (("parameters", 0), 3, f"FILE: a parameter is 3; a text is needed: {AGAIN}"),
    (("measurements",), [1], f"FILE: 'measurements' is [1]; an object by call path is needed: {AGAIN}"),
    (("measurements", "main"), 7, f"FILE: 'main' holds 7; an object by metric is needed: {AGAIN}"),
    (("measurements", "main", "time"), "x", f"FILE: 'time' of 'main' is 'x'; a list with something in it is needed: {AGAIN}"),
    (
        ("measurements", "main", "time", 0),
        5,
        f"FILE: 'time' of 'main' holds 5; an object with a point and values is needed: {AGAIN}",
    ),
    (
        ("measurements", "main", "time", 0, "point"),
        [4, 8],
        f"FILE: 'time' of 'main': the point (4.0, 8.0) has 2 numbers for 1 parameters: {AGAIN}",
    ),
    (
        ("measurements", "main", "time", 0, "point"),
        [0],
        "FILE: 'time' of 'main': the point (0.0,) is not positive; every value of a parameter must be: leave it out.",
    ),
    (
        ("measurements", "main", "time", 0, "values"),
        [],
        f"FILE: 'time' of 'main': 'values' is []; a list with something in it is needed: {AGAIN}",
    ),
]

OLD: list[tuple[Keys, Any, str]] = [
    (("metrics",), {}, f"FILE: 'metrics' is {{}}; a list with something in it is needed: {AGAIN}"),
    (("callpaths", 0), "main", f"FILE: 'callpaths' holds something that is no object: {AGAIN}"),
    (("callpaths", 0, "id"), "one", f"FILE: 'id' is 'one'; a whole number is needed: {AGAIN}"),
    (("callpaths", 0, "name"), None, f"FILE: a name in 'callpaths' is None; a text is needed: {AGAIN}"),
    (
        ("coordinates", 0, "parameter_value_pairs", 0, "parameter_id"),
        9,
        f"FILE: coordinate 1 has not one value for each parameter: {AGAIN}",
    ),
    (
        ("coordinates", 0, "parameter_value_pairs", 0, "parameter_value"),
        "four",
        f"FILE: a 'parameter_value' is 'four'; a number is needed: {AGAIN}",
    ),
    (
        ("coordinates", 0, "parameter_value_pairs", 0, "parameter_value"),
        -4.0,
        "FILE: the point (-4.0,) is not positive; every value of a parameter must be: leave it out.",
    ),
    (("measurements", 0, "callpath_id"), 77, f"FILE: a measurement names call path 77, which is not there: {AGAIN}"),
    (("measurements", 0, "metric_id"), "78", f"FILE: a measurement names metric 78, which is not there: {AGAIN}"),
]

ONE = '{"params": {"p": 4}, "callpath": "main", "metric": "time", "value": 1.5}\n'

LINES = [
    (ONE + '{"params": 3, "value": 1}\n', "FILE, line 2: 'params' is 3; an object of names and numbers is needed."),
    (ONE + ONE.replace('"p"', '"q"'), "FILE, line 2: the parameters are q, before they were p; name the same ones in each line."),
    (
        ONE + ONE.replace("4", "-4"),
        "FILE, line 2: the point (-4.0,) is not positive; every value of a parameter must be: leave it out.",
    ),
    (ONE + ONE.replace("1.5", "[]"), "FILE, line 2: 'value' is an empty list; a number is needed."),
    (ONE + ONE.replace('"time"', "[1]"), "FILE, line 2: 'metric' is [1]; a text is needed."),
    (ONE + ONE.replace('"value"', '"run": true, "value"'), "FILE, line 2: 'run' is True; a whole number from 0 on is needed."),
]


def changed(value: Any, keys: Keys, other: Any) -> Any:
    """Return a copy with another value at a place."""
    made = copy.deepcopy(value)
    inner = made
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = other
    return made


def refusal(path: Path) -> str:
    """Return the message with which a file is refused."""
    with pytest.raises(DataError) as caught:
        sk.read(path)
    return str(caught.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("name", "keys", "other", "message"), [("one.json", *case) for case in PRESENT] + [("old.json", *case) for case in OLD]
)
def test_a_damaged_object_is_named(name: str, keys: Keys, other: Any, message: str, tmp_path: Path) -> None:
    value = json.loads((FILES / name).read_text(encoding="utf-8"))
    path = tmp_path / name
    path.write_text(json.dumps(changed(value, keys, other)), encoding="utf-8")
    assert refusal(path) == message


@pytest.mark.parametrize(("text", "message"), LINES)
def test_a_damaged_line_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text, encoding="utf-8")
    assert refusal(path) == message


def test_numbers_of_the_old_layout_may_be_texts(tmp_path: Path) -> None:
    value = json.loads((FILES / "old.json").read_text(encoding="utf-8"))
    texts = changed(value, ("measurements", 0, "value"), str(value["measurements"][0]["value"]))
    texts = changed(texts, ("measurements", 0, "metric_id"), "1")
    path = tmp_path / "old.json"
    path.write_text(json.dumps(texts), encoding="utf-8")
    assert sk.read(path).identical(sk.read(FILES / "old.json").assign_attrs(sk.read(path).attrs))
