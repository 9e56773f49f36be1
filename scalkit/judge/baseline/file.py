"""Reads and writes baselines; a file is checked by its JSON schema and by what that cannot say, as it may come from anywhere."""

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from scalkit.errors import DataError, ScalkitError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.baseline import Baseline, BaselineEntry
from scalkit.judge.fit.model import Model, Term
from scalkit.support.files import whole_file
from scalkit.support.schema_errors import schema_errors, schema_in

MAX_BYTES = 20_000_000
_SCHEMA = Path(__file__).parents[1] / "baseline.schema.json"


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
        raise DataError(
            f"cannot read the baseline '{path}': {error.strerror}; write one with Baseline.save or --save-baseline."
        ) from error
    what = f"'{path}' is no baseline"
    if len(content) > MAX_BYTES:
        raise DataError(f"{what}: it is larger than {MAX_BYTES // 10**6} MB.")
    try:
        return baseline_from(json.loads(content.decode("utf-8"), parse_constant=_no_constant), what)
    except UnicodeDecodeError as error:
        raise DataError(f"{what}: it is not text in UTF-8.") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{what}: it is not JSON, {error.msg} in line {error.lineno}.") from error
    except ScalkitError as error:
        raise DataError(str(error) if str(error).startswith(what) else f"{what}: {error}") from error
    except (RecursionError, OverflowError, ValueError) as error:
        raise DataError(f"{what}: it is nested too deep, or a number in it is too long.") from error


def _no_constant(name: str) -> NoReturn:
    raise DataError(f"it holds the number {name}, which JSON does not know.")


def baseline_from(table: Any, what: str) -> Baseline:
    """Return the baseline that `Baseline.to_dict` wrote. Raises DataError that begins with `what`, or names the entry."""
    if not isinstance(table, Mapping):
        raise DataError("its top is not an object; write one with Baseline.save.")
    if wrong := schema_errors(table, schema_in(_SCHEMA), {}, what):
        raise DataError(wrong[0])
    entries: dict[tuple[str, str], BaselineEntry] = {}
    for number, row in enumerate(table["entries"]):
        key = row["function"], row["metric"]
        if key in entries:
            raise DataError(f"entries[{number}]: '{key[1]}' of '{key[0]}' appears twice.")
        try:
            entries[key] = _entry(row)
        except ScalkitError as error:
            raise DataError(f"entries[{number}]: {error}") from error
    return Baseline.of_entries(tuple(entries.values()), table["statistic"])


def _entry(row: Mapping[str, Any]) -> BaselineEntry:
    """Return an entry that the schema allows. Raises ScalkitError where its parts do not fit together."""
    parameters, points = tuple(row["parameters"]), tuple(map(tuple, row["points"]))
    if unprintable := [name for name in (row["function"], row["metric"], row["unit"], *parameters) if not name.isprintable()]:
        raise DataError(f"the name {unprintable[0]!r:.60} has characters that cannot be shown.")
    for point in points:
        if len(point) != len(parameters) or min(point) <= 0:
            raise DataError(f"the point {point!r:.60} needs a positive value of each of {', '.join(parameters)}.")
    if any(later <= earlier for earlier, later in pairwise(points)):
        raise DataError("the points must ascend.")
    if not len(points) == len(row["y"]) == len(row["errors"]):
        raise DataError(f"there are {len(points)} points, {len(row['y'])} values and {len(row['errors'])} errors of these.")
    expectation = GrowthSum.parse(row["expectation"])
    entry = BaselineEntry(
        function=row["function"],
        metric=row["metric"],
        model=_model(row["model"], parameters, row["unit"]),
        expectation=expectation if len(parameters) > 1 else Growth(row["expectation"], parameters[0]),
        deviation={name: Growth(text) for name, text in row["deviation"].items()},
        points=tuple(tuple(map(float, point)) for point in points),
        y=tuple(map(float, row["y"])),
        noise=float(row["noise"]),
        errors=tuple(map(float, row["errors"])),
    )
    for name in (*expectation.parameters, *entry.deviation):
        if name not in parameters:
            raise DataError(f"a growth depends on '{name:.60}', the points on {', '.join(parameters)}.")
    _ = entry.status_quo  # says what is wrong with the deviation
    return entry


def _model(row: Mapping[str, Any], parameters: tuple[str, ...], unit: str) -> Model:
    terms = tuple(_term(one, parameters) for one in row["terms"])
    r2 = math.nan if row["adjusted_r2"] is None else float(row["adjusted_r2"])
    return Model(parameters, terms, unit, float(row["rss"]), r2)


def _term(row: Mapping[str, Any], parameters: tuple[str, ...]) -> Term:
    growth, log2 = _in(parameters, row["growth"]), row["log2_coefficient"]
    if log2 is None and not growth.is_constant:
        raise DataError(f"the log2_coefficient of {growth} is null; only a constant may be 0.")
    return Term(growth, -math.inf if log2 is None else float(log2), row["is_subtracted"])


def _in(parameters: tuple[str, ...], text: str) -> Growth:
    """Return the growth that a text names. Raises DataError if it depends on something else than the points."""
    growth = Growth(text, parameters[0] if len(parameters) == 1 else None)
    for name in growth.parameters:
        if name not in parameters:
            raise DataError(f"the growth '{growth}' depends on '{name}', the points on {', '.join(parameters)}.")
    return growth
