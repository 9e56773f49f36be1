"""Chosen measurements of several runs, grouped such that each group can be one Dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scalkit.store.filed.rows import CELL_PROGRAMS
from scalkit.store.runs.content import trusted
from scalkit.store.runs.dataset import Row, dataset_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from scalkit.store.folder import StoreFolder

Key = tuple[str, str, str]

_ROW = ("op", "metric", "p", "msg_By", "launch", "x", "datatype", "sync")


def selected_datasets(rows: pd.DataFrame, folder: StoreFolder) -> dict[str, xr.Dataset]:
    """Return what `grouped_datasets` does by a name that says where they differ."""
    found = grouped_datasets(rows, folder)
    names = _names(list(found))
    return {names[key]: ds for key, ds in found.items()}


def grouped_datasets(rows: pd.DataFrame, folder: StoreFolder) -> dict[Key, xr.Dataset]:
    """Return a Dataset for each platform, parameter and message size.

    Work units and messages have one for what they are over, and what is fixed there.

    `rows`: the measurements that are wanted, as `Store.points` returns them.
    `folder`: that has the files of their runs.
    """
    records: dict[str, Mapping[str, Any]] = {}
    groups: dict[Key, dict[str, list[Row]]] = {}
    for run_id, of_run in rows.groupby("run_id", sort=False):
        record, table = trusted(folder.read_run(str(run_id)), str(run_id))
        records[str(run_id)] = record
        wanted = set(of_run[list(_ROW)].itertuples(index=False, name=None))
        platform, parameter = str(of_run["platform"].iloc[0]), str(record["measured"]["parameter"])
        for row in table.to_pylist():
            if tuple(row[name] for name in _ROW) in wanted:
                groups.setdefault((platform, *_kind(row, parameter)), {}).setdefault(str(run_id), []).append(row)
    _join_timeless(groups)
    return {key: dataset_of([(records[run_id], some) for run_id, some in parts.items()]) for key, parts in groups.items()}


def _kind(row: Row, parameter: str) -> tuple[str, str]:
    """Return the parameter of a measurement, and what is fixed, in words: empty of what has no message.

    Programs that measure cells make suites by themselves. Other times are over the parameter of their run.
    """
    if row["program"] in CELL_PROGRAMS:
        fixed = json.loads(row["fixed"]).items()
        return row["x_name"], ", ".join(f"{value} B" if key == "msg_By" else f"{key} = {value}" for key, value in fixed)
    is_time = row["metric"] == "time"
    return parameter, f"{row['msg_By']} B {row['datatype']} {row['sync']}".strip() if is_time else ""


def _join_timeless(groups: dict[Key, dict[str, list[Row]]]) -> None:
    """Put bytes and counts beside the times of the same platform, where they are of one size."""
    for platform, parameter, kind in list(groups):
        timed = [key for key in groups if key[:2] == (platform, parameter) and key[2]]
        if kind == "" and len(timed) == 1:
            for run_id, rows in groups.pop((platform, parameter, "")).items():
                groups[timed[0]].setdefault(run_id, []).extend(rows)


def _names(keys: Sequence[Key]) -> dict[Key, str]:
    """Return a name of its own for each group: the platform, then parameter and size where they differ."""
    has_parameters = len({key[1] for key in keys}) > 1
    has_kinds = len({key[2] for key in keys}) > 1
    names: dict[Key, str] = {}
    for key in keys:
        platform, parameter, kind = key
        parts = [platform, *([parameter] if has_parameters else []), *([kind or "no message"] if has_kinds else [])]
        name = ", ".join(parts).replace("/", "-")
        names[key] = f"{name} ({len(names) + 1})" if name in names.values() else name
    return names
