"""What a result says of pairs of locations: who made whom wait, and what went from one to the other."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import UsageError
from scalkit.support.arguments import each_of
from scalkit.trace.local.arrays import exact_sums, summed
from scalkit.trace.results.dataset import require_result
from scalkit.trace.results.summary import TITLES

TRAFFIC_TITLES = {
    "operations": "one-sided operations",
    "bytes": "one-sided bytes",
    "messages": "messages",
    "message_bytes": "bytes of messages",
}
"""What went between locations, for people."""

_UNITS = {"operations": "1", "bytes": "B", "messages": "1", "message_bytes": "B"}


@dataclass(frozen=True)
class Pairs:
    """Values of pairs of locations, a row each, in order.

    `what`: for people.
    `unit`: ``"ns"``, ``"B"`` or ``"1"``.
    `row_title`, `column_title`: what the first, and the second, of a pair are.
    `row`, `column`, `value` of shape (n,): location, the other location, and the value, above 0.
    `locations`: how many there are.
    """

    what: str
    unit: str
    row_title: str
    column_title: str
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: NDArray[np.int64]
    locations: int

    def matrix(self, rows: NDArray[Any], columns: NDArray[Any], n_rows: int, n_columns: int) -> NDArray[np.int64]:
        """Return sums by group.

        `rows`, `columns` of shape (n_locations,): group of each location; -1 leaves it out.
        `n_rows`, `n_columns`: numbers of groups.
        The result is of shape (n_rows, n_columns).
        """
        row, column = rows[self.row], columns[self.column]
        kept = (row >= 0) & (column >= 0)
        sums = exact_sums(row[kept] * n_columns + column[kept], self.value[kept], n_rows * n_columns)
        return sums.reshape(n_rows, n_columns)


def pairs(ds: xr.Dataset, what: str, metrics: Iterable[str] = ()) -> Pairs:
    """Return who made whom wait, or what went from one location to another.

    `ds`: from `scalkit.trace.analyse` or `read_result`.
    `metrics`: which waits; those of other names add nothing.
    Raises UsageError if `what` is something else.
    """
    require_result(ds)
    n = int(ds.sizes["location"])
    if what == "waiting":
        names = each_of(metrics, str, "the metrics", "give names of waits")
        metric = _of_metrics(ds, names)
        title = TITLES.get(names[0], names[0]) if len(names) == 1 else "waiting"
        row, column, value = (ds[name].values[metric] for name in ("cause_location", "cause_by", "cause_severity"))
        known, sums = summed(row * n + column, value)
        return Pairs(title, "ns", "who waited", "for whom", *np.divmod(known, n), sums, n)
    if what not in tuple(TRAFFIC_TITLES):
        raise UsageError(f"what is {what!r}; it may be {', '.join(('waiting', *TRAFFIC_TITLES))}.")
    row, column, value = (ds[f"traffic_{name}"].values for name in ("location", "peer", what))
    kept = value > 0
    return Pairs(TRAFFIC_TITLES[what], _UNITS[what], "from", "to", row[kept], column[kept], value[kept], n)


def causes(ds: xr.Dataset, metrics: Iterable[str], waited: Iterable[int] = (), caused: Iterable[int] = ()) -> pd.DataFrame:
    """Return which locations, in which call path, made others wait, the longest first: `location`, `path`, and `ns`.

    `metrics`: waits that count.
    `waited`, `caused`: only the waits of these locations, and for these; all by default.
    """
    columns = {"waiter": "cause_location", "location": "cause_by", "path": "cause_path", "ns": "cause_severity"}
    rows = pd.DataFrame({name: ds[column].values for name, column in columns.items()}).iloc[_of_metrics(ds, metrics)]
    for name, wanted in (("waiter", list(waited)), ("location", list(caused))):
        if wanted:
            rows = rows[rows[name].isin(wanted)]
    sums = rows.groupby(["location", "path"], as_index=False)["ns"].sum()
    return sums.sort_values("ns", ascending=False, kind="stable", ignore_index=True)


def _of_metrics(ds: xr.Dataset, metrics: Iterable[str]) -> NDArray[np.intp]:
    """Return the rows of causes that are of these metrics."""
    names = [str(name) for name in ds["metric"].values]
    numbers = [names.index(name) for name in metrics if name in names]
    return np.flatnonzero(np.isin(ds["cause_metric"].values, numbers))
