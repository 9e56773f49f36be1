"""Cells of patterns become measurements: units of a master and its workers, and trips of messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scalkit.measure.pattern_records import Trip, Units
from scalkit.store.filed.rows import Rows, fixed_text

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
        shared = {**common, **_named(first.op, "master-worker"), **_of_passes(passes)}
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
        shared = {**common, **_named(first.op, "point-to-point"), **_of_passes(passes)}
        if first.detail and first.detail != _POOLED:
            fixed = fixed_text({"p": common["p"], "msg_By": first.size_bytes})
            shared |= {"x": first.value, "x_name": first.detail, "x_unit": "1", "fixed": fixed}
        times = [max(1, t) for one in passes for t in one.t_ns]
        rows.add("med", **shared, metric="time", unit="ns", raw=times, seq=len(rows))


def _of_passes(passes: Sequence[Units] | Sequence[Trip]) -> dict[str, Any]:
    known = [(one.foreign_load, len(one.t_ns)) for one in passes if not math.isnan(one.foreign_load)]
    total = sum(n for _, n in known)
    return {
        "msg_By": passes[0].size_bytes,
        "datatype": "byte",
        "verified": all(one.verified for one in passes),
        "foreign_load": sum(load * n for load, n in known) / total if total else None,
        "passes": [len(one.t_ns) for one in passes],
    }


def _named(op: str, pattern: str) -> dict[str, str]:
    return {"op": op, "variant": op.partition("[")[2].rstrip("]"), "pattern": pattern, "role": "subject"}
