"""Measurements as rows: gathered one by one, numbered by suite, summarised, made a table."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.measure.pattern_records import WORKERS, Trip, Units
from scalkit.measure.records import Cell
from scalkit.store.runs.columns import COLUMNS, SUITE_KEY, arrow_schema
from scalkit.store.runs.summaries import recomputed

if TYPE_CHECKING:
    import pyarrow as pa


_EMPTY: dict[str, Any] = {"string": "", "int64": 0, "double": 0.0, "bool": False, "ints": ()}
_DEFAULTS: dict[str, Any] = {
    **{column.name: None if column.nullable else _EMPTY[column.kind] for column in COLUMNS if not column.derived},
    "verified": True,
    "status": "ok",
    "processes_per_node": 1,
}
_X_UNITS = {"p": "1", "msg_By": "By"}


def fixed_text(fixed: Mapping[str, float]) -> str:
    """Return what a suite is not varied over, as JSON text."""
    return json.dumps(dict(sorted(fixed.items())), separators=(",", ":"))


def axis_of(x: Sequence[int]) -> str:
    """Return ``"log2"`` if the values, ascending, grow by factors rather than by steps, else ``"lin"``."""
    points = np.unique(np.asarray(x, dtype=np.float64))
    points = points[points > 0] if len(points) > 3 else points
    if len(points) < 3 or points[0] <= 0:
        return "log2" if len(points) > 1 and points[0] > 0 and points[-1] >= 2 * points[0] else "lin"
    steps, factors = np.diff(points), np.diff(np.log2(points))
    return "log2" if factors.std() / factors.mean() <= steps.std() / steps.mean() else "lin"


class Rows:
    """Measurements of one run while they are gathered."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, statistic: str, **values: Any) -> None:
        """Add a measurement; `statistic` says which of its repetitions stands for it."""
        self._rows.append({**_DEFAULTS, **values, "statistic": statistic})

    def launched(self, program: str) -> list[dict[str, Any]]:
        """Number the launches, one for each point, in every row; return what the record says of them."""
        numbers: dict[tuple[int, int], int] = {}
        for row in self._rows:
            row["launch"] = numbers.setdefault((row["p"], row["x"]), len(numbers))
        return [{"program": program, "p": p, "point": x, "complete": True} for p, x in numbers]

    def over(self, parameter: str) -> None:
        """Say for every measurement what its suite is varied over.

        Suites are over the number of processes, unless an operation was measured with several message sizes: then there is a
        suite over the size for each number of processes. Suites of a master are over its workers, unless there are more sizes of
        units than numbers of workers. A parameter of the user's own is taken as it is; a measurement that says it stays.
        """
        sizes: dict[tuple[Any, ...], set[int]] = {}
        points: dict[tuple[Any, ...], set[int]] = {}
        for row in self._rows:
            sizes.setdefault((row["op"], row["metric"]), set()).add(row["msg_By"])
            points.setdefault((row["op"], row["metric"]), set()).add(row["x"])
        for row in self._rows:
            key = row["op"], row["metric"]
            if row["x_name"]:
                continue
            if parameter == WORKERS and len(sizes[key]) > len(points[key]):
                row.update(x=row["msg_By"], x_name="msg_By", fixed=fixed_text({"p": row["p"]}))
            elif parameter == WORKERS:
                row.update(x_name=WORKERS, fixed=fixed_text({"msg_By": row["msg_By"]}))
            elif parameter != "p":
                row.update(x_name=parameter, x_unit="1", fixed=fixed_text({"p": row["p"], "msg_By": row["msg_By"]}))
            elif len(sizes[key]) > 1:
                row.update(x=row["msg_By"], x_name="msg_By", fixed=fixed_text({"p": row["p"]}))
            else:
                row.update(x=row["p"], x_name="p", fixed=fixed_text({"msg_By": row["msg_By"]}))
            row["x_unit"] = _X_UNITS.get(row["x_name"], "1")

    def table(self) -> pa.Table:
        """Return the measurements as a table of the newest schema, suite after suite."""
        import pyarrow as pa

        suites: dict[tuple[Any, ...], list[int]] = {}
        for row in self._rows:
            suites.setdefault(tuple(row[key] for key in SUITE_KEY), []).append(row["x"])
        numbers = {key: (number, axis_of(x), _step(x)) for number, (key, x) in enumerate(sorted(suites.items()))}
        for row in self._rows:
            number, axis, step = numbers[tuple(row[key] for key in SUITE_KEY)]
            row.update(suite=number, axis=axis, x_step=step)
        ordered = sorted(self._rows, key=lambda row: (row["suite"], row["x"], row["launch"]))
        empty = {column.name: _EMPTY[column.kind] for column in COLUMNS if column.derived and not column.nullable}
        arrays = [pa.array([{**empty, **row}.get(field.name) for row in ordered], type=field.type) for field in arrow_schema()]
        return recomputed(pa.table(arrays, schema=arrow_schema()))


def _step(x: Sequence[int]) -> float | None:
    """Return the step between the values of a suite, if it is fixed."""
    steps = np.diff(np.unique(np.asarray(x, dtype=np.float64)))
    return float(steps[0]) if len(steps) and (steps == steps[0]).all() else None


CELL_PROGRAMS = ("sk_master_worker", "sk_p2p")
"""Programs whose measurements are suites by themselves, over what each of them is varied over."""

_SHARES = ("master_share", "idle_share")
_POOLED = "round"
"""Random matchings: repetitions of one thing."""


def add_units(rows: Rows, common: Mapping[str, Any], units: Iterable[Units]) -> None:
    """Add the time for each unit and both shares of a launch, of every repetition.

    Times are whole ns, shares whole millionths.
    """
    groups: dict[tuple[str, int], list[Units]] = {}
    for one in sorted(units, key=lambda one: one.number):
        groups.setdefault((one.op, one.size_bytes), []).append(one)
    for passes in groups.values():
        first = passes[0]
        shared = {**common, **named(first.op, "master-worker"), **_of_bytes(passes)}
        shared["definition"] = f"a unit of work; {first.units} in a repetition, results of {first.result_bytes} B"
        times = [max(1, round(1e9 * t)) for one in passes for t in one.time.tolist()]
        rows.add("med", **shared, metric="time", unit="ns", raw=times, seq=len(rows))
        for name in _SHARES:
            shares = [round(1e6 * share) for one in passes for share in getattr(one, name).tolist()]
            rows.add("med", **shared, metric=name, unit="[ppm]", raw=shares, seq=len(rows))


def add_trips(rows: Rows, common: Mapping[str, Any], trips: Iterable[Trip]) -> None:
    """Add the times of messages of a launch.

    What has a number beside its size is a suite over that number, as strided messages over their stride; random matchings are
    repetitions of one thing.
    """
    groups: dict[tuple[str, int, int], list[Trip]] = {}
    for one in sorted(trips, key=lambda one: (one.number, one.value)):
        value = 0 if one.detail == _POOLED else one.value
        if one.t_ns:
            groups.setdefault((one.op, one.size_bytes, value), []).append(one)
    for passes in groups.values():
        first = passes[0]
        shared = {**common, **named(first.op, "point-to-point"), **_of_bytes(passes)}
        if first.detail and first.detail != _POOLED:
            fixed = fixed_text({"p": common["p"], "msg_By": first.size_bytes})
            shared |= {"x": first.value, "x_name": first.detail, "x_unit": "1", "fixed": fixed}
        times = [max(1, t) for one in passes for t in one.t_ns]
        rows.add("med", **shared, metric="time", unit="ns", raw=times, seq=len(rows))


def of_passes(passes: Sequence[Cell] | Sequence[Units] | Sequence[Trip]) -> dict[str, Any]:
    """Return what all passes of one measurement say together: verification, the load by others, and their lengths."""
    known = [(one.foreign_load, len(one.t_ns)) for one in passes if not math.isnan(one.foreign_load)]
    total = sum(n for _, n in known)
    return {
        "verified": all(one.verified for one in passes),
        "foreign_load": sum(load * n for load, n in known) / total if total else None,
        "passes": [len(one.t_ns) for one in passes],
    }


def _of_bytes(passes: Sequence[Units] | Sequence[Trip]) -> dict[str, Any]:
    return {"msg_By": passes[0].size_bytes, "datatype": "byte", **of_passes(passes)}


def named(op: str, pattern: str, role: str = "subject") -> dict[str, str]:
    """Return the columns that name what was measured; a variant stands in brackets behind it."""
    inside = re.search(r"\[(.*)\]$", op)
    return {"op": op, "variant": inside[1] if inside else "", "pattern": pattern, "role": role}
