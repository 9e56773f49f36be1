"""What a result says in short: totals, the call paths that wait most, and for whom."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scalkit.support.toml.tables import table_beside

if TYPE_CHECKING:
    import xarray as xr

AWAITED = ("progress", "messages", "collective operations", "windows")
"""What a process waits for, in the order in which trees and tables show it."""


@dataclass(frozen=True)
class Facts:
    """What is known of a metric.

    `awaits`: one of `AWAITED`; empty if the metric is no wait.
    `of_progress`: whether it is missing where a thread makes progress, since nobody waits for calls there.
    """

    unit: str
    title: str
    awaits: str = ""
    of_progress: bool = False


FACTS = {name: Facts(**one) for name, one in table_beside(__file__, "metrics.toml").items()}
"""Every metric of metrics.toml; its place is its number in files, so that new ones stand at the end."""

WAITS = tuple(name for name, one in FACTS.items() if one.awaits)
"""Metrics that are waiting time."""

WHY = ("critical_path", "delay_cost")
"""Metrics that say why a run takes as long as it does."""

TITLES = {name: FACTS[name].title for name in WAITS}
"""Names of the waits for people."""


def share(ds: xr.Dataset, metric: str) -> float:
    """Return the part of the time of all locations that they spent in a wait; 0 if there is no time."""
    time = int(ds["severity"].sel(metric="time").sum())
    return int(ds["severity"].sel(metric=metric).sum()) / time if time else 0.0


def lacks_progress(ds: xr.Dataset) -> bool:
    """Return whether nobody knows the waiting for progress, as the recorder was to leave calls out."""
    asynchronous = json.loads(ds.attrs.get("trace", "{}")).get("asynchronous_progress", False)
    return "wait_for_progress" not in ds["metric"].values and not asynchronous


def summary(ds: xr.Dataset, n_rows: int = 10) -> dict[str, Any]:
    """Return totals, the `n_rows` longest waits by call path and by causer, and why, as plain values; times in ns."""
    severity = ds["severity"].values
    names = [str(name) for name in ds["metric"].values]
    totals = {name: int(severity[number].sum()) for number, name in enumerate(names)}
    return {
        "simulated": bool(ds.attrs["simulated"]),
        "locations": int(ds.sizes["location"]),
        "paths": int(ds.sizes["path"]),
        "totals": totals,
        "units": {name: str(unit) for name, unit in zip(names, ds["unit"].values, strict=True)},
        "where": _where(ds, severity, names, n_rows),
        "causes": _causes(ds, names, n_rows),
        **_why(ds, names, n_rows),
    }


def _why(ds: xr.Dataset, names: list[str], n_rows: int) -> dict[str, Any]:
    """Return where the critical path lies, and the delays that cost most; nothing of a result without causes."""
    if "delay_cost" not in names:
        return {}
    columns = (ds[name].values.tolist() for name in ("gain_path", "gain_location", "gain_ns"))
    gains = {(path, at): gain for path, at, gain in zip(*columns, strict=True)}
    found = {}
    for name in WHY:
        values = ds["severity"].sel(metric=name).values
        order = np.argsort(-values, axis=None, kind="stable")[:n_rows]
        rows = [(int(k) // values.shape[1], int(k) % values.shape[1]) for k in order if values.flat[k]]
        found[name] = [
            {"path": str(ds["path_name"].values[path]), "location": at, "ns": int(values[path, at])}
            | ({"gain_ns": gains[path, at]} if name == "delay_cost" and (path, at) in gains else {})
            for path, at in rows
        ]
    return found


def _where(ds: xr.Dataset, severity: Any, names: list[str], n_rows: int) -> list[dict[str, Any]]:
    metric, path = np.nonzero(severity.sum(axis=2) * np.isin(names, WAITS)[:, None])
    each = severity[metric, path]
    rows = pd.DataFrame({"metric": np.array(names)[metric], "path": ds["path_name"].values[path], "ns": each.sum(axis=1)})
    rows = rows.assign(most_at=each.argmax(axis=1), most_ns=each.max(axis=1))
    return _records(rows.sort_values(["ns", "metric", "path"], ascending=[False, True, True]), n_rows)


def _causes(ds: xr.Dataset, names: list[str], n_rows: int) -> list[dict[str, Any]]:
    keys = {"metric": "cause_metric", "location": "cause_by", "path": "cause_path"}
    rows = pd.DataFrame({name: ds[column].values for name, column in (keys | {"ns": "cause_severity"}).items()})
    sums = rows.groupby(list(keys), as_index=False)["ns"].sum().sort_values("ns", ascending=False, kind="stable")
    named = {"metric": np.array(names)[sums["metric"]], "path": ds["path_name"].values[sums["path"]]}
    return _records(sums.assign(**named), n_rows)


def _records(rows: pd.DataFrame, n_rows: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rows.head(n_rows).to_dict("records")
    return found
