"""Chosen measurements of several runs, grouped such that each group can be one Dataset."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from scalkit.store.filed.rows import CELL_PROGRAMS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import xarray as xr

_Key = TypeVar("_Key")
Run = tuple[Mapping[str, Any], "pa.Table"]

_ROW = ("op", "metric", "p", "msg_By", "launch", "x", "datatype", "sync")


def selected_datasets(
    rows: pd.DataFrame, read: Callable[[str], Run], build: Callable[[Sequence[Run]], xr.Dataset]
) -> dict[str, xr.Dataset]:
    """Return what `grouped_datasets` does by a name that says where they differ."""
    found = grouped_datasets(rows, read, build)
    names = _names(list(found))
    return {names[key]: ds for key, ds in found.items()}


def grouped_datasets(
    rows: pd.DataFrame, read: Callable[[str], Run], build: Callable[[Sequence[Run]], xr.Dataset]
) -> dict[tuple[str, str, str], xr.Dataset]:
    """Return a Dataset for each platform, parameter and message size.

    Work units and messages have one for what they are over, and what is fixed there.

    `rows`: the measurements that are wanted, as `Store.points` returns them.
    `read`, `build`: of a run's id its record and table; of such runs their Dataset.
    """
    import pyarrow.compute as pc

    runs: dict[str, Run] = {}
    groups: dict[tuple[str, str, str], dict[str, Any]] = {}
    for run_id, wanted in rows.groupby("run_id", sort=False):
        runs[str(run_id)] = record, table = read(str(run_id))
        table = _only(table, set(wanted[list(_ROW)].itertuples(index=False, name=None)))
        platform, parameter = str(wanted["platform"].iloc[0]), str(record["measured"]["parameter"])
        cells = _of_cells(table)
        for (name, fixed), part in _suites(table.filter(cells)).items():
            groups.setdefault((platform, name, fixed), {})[str(run_id)] = part
        for kind, part in _kinds(table.filter(pc.invert(cells))).items():
            groups.setdefault((platform, parameter, kind), {})[str(run_id)] = part
    _join_timeless(groups)
    return {key: build([(runs[run_id][0], table) for run_id, table in parts.items()]) for key, parts in groups.items()}


def _only(table: pa.Table, wanted: set[tuple[Any, ...]]) -> pa.Table:
    import pyarrow as pa

    columns = [table[name].to_pylist() for name in _ROW]
    return table.filter(pa.array([row in wanted for row in zip(*columns, strict=True)], type=pa.bool_()))


def _of_cells(table: pa.Table) -> pa.Array:
    """Return which measurements are of programs that measure cells: suites by themselves."""
    import pyarrow as pa

    return pa.array([program in CELL_PROGRAMS for program in table["program"].to_pylist()], type=pa.bool_())


def _suites(table: pa.Table) -> dict[tuple[str, str], pa.Table]:
    """Return measurements by what they are over and what is fixed, in words."""
    keys = [
        (name, ", ".join(f"{value} B" if key == "msg_By" else f"{key} = {value}" for key, value in json.loads(fixed).items()))
        for name, fixed in zip(table["x_name"].to_pylist(), table["fixed"].to_pylist(), strict=True)
    ]
    return _split(table, keys)


def _kinds(table: pa.Table) -> dict[str, pa.Table]:
    """Return the times by message size, data type and synchronisation, and the rest under an empty name."""
    kinds = [
        f"{size} B {datatype} {sync}".strip() if metric == "time" else ""
        for metric, size, datatype, sync in zip(
            *(table[name].to_pylist() for name in ("metric", "msg_By", "datatype", "sync")), strict=True
        )
    ]
    return _split(table, kinds)


def _split(table: pa.Table, keys: Sequence[_Key]) -> dict[_Key, pa.Table]:
    """Return the rows of each key; `keys`: that of each row."""
    import pyarrow as pa

    return {key: table.filter(pa.array([one == key for one in keys], type=pa.bool_())) for key in dict.fromkeys(keys)}


def _join_timeless(groups: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    """Put bytes and counts beside the times of the same platform, where they are of one size."""
    import pyarrow as pa

    for platform, parameter, kind in list(groups):
        timed = [key for key in groups if key[:2] == (platform, parameter) and key[2]]
        if kind == "" and len(timed) == 1:
            into = groups[timed[0]]
            for run_id, table in groups.pop((platform, parameter, "")).items():
                into[run_id] = pa.concat_tables([into[run_id], table]) if run_id in into else table


def _names(keys: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """Return a name of its own for each group: the platform, then parameter and size where they differ."""
    has_parameters = len({key[1] for key in keys}) > 1
    has_kinds = len({key[2] for key in keys}) > 1
    names: dict[tuple[str, str, str], str] = {}
    for key in keys:
        platform, parameter, kind = key
        parts = [platform, *([parameter] if has_parameters else []), *([kind or "no message"] if has_kinds else [])]
        name = ", ".join(parts).replace("/", "-")
        names[key] = f"{name} ({len(names) + 1})" if name in names.values() else name
    return names
