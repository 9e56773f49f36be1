"""Curves: what stands for a choice's measurements at every point, from each of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.stats.samples import Floats, Integers
from scalkit.store.choices import Choice
from scalkit.store.columns import BASE_UNITS, STATISTICS, UNITS

if TYPE_CHECKING:
    from scalkit.store.store import Store

__all__ = ["Curve", "curve_of"]

_COLUMNS = ("run_id", "platform", "op", "metric", "unit", "x_name", "x", "p", "msg_By", "simulated", "oversubscribed")
_ALIKE = ("datatype", "sync", "pattern")


@dataclass(frozen=True, eq=False)
class Curve:
    """One graph of a joint plot.

    Attributes
    ----------
    label, op, platform, metric : str
        `op` and `platform` name several between commas if there are several.
    x_name : str
        What it is over: ``"p"``, ``"msg_By"``, or a parameter of one's own.
    x : ndarray of int64 of shape (points,)
        Ascending.
    values : ndarray of shape (points, runs), in `unit`
        What stands for the measurement in each run; NaN where a run has none.
    unit : str
        ``"s"``, ``"B"``, ``"op"`` or ``"1"``.
    run_ids : tuple of str
        Of the columns.
    fixed : str
        What is the same at all points, as ``"p = 32"``; empty if nothing is.
    simulated, oversubscribed : bool
        Whether any of it is.
    kind : tuple of str
        Data type, synchronisation and pattern; empty texts where it has several, on several platforms.
    n_platforms : int
        How many platforms the runs are of.
    """

    label: str
    op: str
    platform: str
    metric: str
    x_name: str
    x: Integers
    values: Floats
    unit: str
    run_ids: tuple[str, ...]
    fixed: str
    simulated: bool
    oversubscribed: bool
    kind: tuple[str, ...] = ()
    n_platforms: int = 1

    @property
    def y(self) -> Floats:
        """The median over the runs at each point, in `unit`."""
        median: Floats = np.nanmedian(self.values, axis=1)
        return median

    @property
    def spread(self) -> tuple[Floats, Floats]:
        """The smallest and the largest run at each point, in `unit`."""
        return np.nanmin(self.values, axis=1), np.nanmax(self.values, axis=1)


def curve_of(store: Store, choice: Choice, statistic: str = "med") -> Curve:
    """Return the curve of a choice, from the index alone.

    Parameters
    ----------
    store : Store
    choice : Choice
    statistic : str
        What stands for the repetitions of a measurement: ``med``, ``q1``, ``mean``, ``min``, ``cut_mean``, ...

    Raises
    ------
    DataError
        If nothing is chosen, or what cannot be one curve: of several metrics, over several parameters, or of an operation that
        a platform has with several data types, patterns or kinds of synchronisation.
    UsageError
        If the statistic or a filter is unknown.
    """
    if statistic not in STATISTICS:
        raise UsageError(f"the statistic {statistic!r:.40} is unknown; choose from {', '.join(STATISTICS)}.")
    rows = store.arrays((*_COLUMNS, statistic), choice.filters)
    shown = ", ".join(f"{name}={value}" for name, value in choice.filters.items())
    if not len(rows["x"]):
        raise DataError(f"nothing in the store fits {shown!r}; 'scalkit store suites' lists what is there.")
    metric, unit = _single(rows, "metric", shown), _single(rows, "unit", shown)
    kind = _kind(store, choice, shown)
    x_name, x, fixed = _varied(rows, shown)
    points, at = np.unique(x, return_inverse=True)
    ids, of = np.unique(rows["run_id"].astype(str), return_inverse=True)
    values = np.full((len(points), len(ids)), np.nan)
    said = np.ma.filled(rows[statistic].astype(np.float64), np.nan) * UNITS[unit]
    if len({*zip(at.tolist(), of.tolist(), strict=True)}) < len(at):
        raise DataError(
            f"{shown!r} has several measurements at one {x_name} of one run; choose more narrowly, for example one op or "
            "one msg_By."
        )
    values[at, of] = said
    op, platform = _joined(rows, "op"), _joined(rows, "platform")
    return Curve(
        label=choice.label or f"{op} on {platform}",
        op=op,
        platform=platform,
        metric=metric,
        x_name=x_name,
        x=points.astype(np.int64),
        values=values,
        unit=BASE_UNITS[unit],
        run_ids=tuple(ids.tolist()),
        fixed=fixed,
        simulated=bool(rows["simulated"].any()),
        oversubscribed=bool(rows["oversubscribed"].any()),
        kind=kind,
        n_platforms=len(np.unique(rows["platform"].astype(str))),
    )


def _kind(store: Store, choice: Choice, shown: str) -> tuple[str, ...]:
    """Return what `Curve.kind` is; refuse measurements of one operation on one platform that tell of different things."""
    kinds = store.arrays(("platform", "op", *_ALIKE), choice.filters, distinct=True)
    seen: dict[tuple[str, str], tuple[str, ...]] = {}
    for platform, op, *values in zip(*(kinds[name].tolist() for name in ("platform", "op", *_ALIKE)), strict=True):
        first = seen.setdefault((platform, op), tuple(values))
        for name, one, other in zip(_ALIKE, first, values, strict=True):
            if one != other:
                both = " and ".join(repr(value) for value in sorted((one, other)))
                raise DataError(
                    f"{shown!r} has {op} with {name} {both} on {platform}; choose one, as in {name}={one or other}."
                )
    columns = zip(*seen.values(), strict=True)
    return tuple(values[0] if len(set(values)) == 1 else "" for values in columns)


def _varied(rows: dict[str, Any], shown: str) -> tuple[str, Any, str]:
    """Return what the measurements are over, its values, and what is fixed."""
    own = set(np.unique(rows["x_name"].astype(str)).tolist()) - {"p", "msg_By"}
    if own:
        from scalkit.measure.assemble_units import WORKERS

        name, size = _single(rows, "x_name", shown), np.unique(rows["msg_By"])
        return name, rows["x"], f"{size[0]} B" if name == WORKERS and len(size) == 1 else ""
    p, size = (np.unique(rows[name]) for name in ("p", "msg_By"))
    if len(p) > 1 and len(size) > 1:
        raise DataError(
            f"{shown!r} has {len(p)} numbers of processes and {len(size)} message sizes; choose one p or one msg_By."
        )
    if len(size) > 1:
        return "msg_By", rows["msg_By"], f"p = {p[0]}"
    return "p", rows["p"], f"{size[0]} B" if size[0] else ""


def _single(rows: dict[str, Any], name: str, shown: str) -> str:
    values = np.unique(rows[name].astype(str)).tolist()
    if len(values) > 1:
        raise DataError(f"{shown!r} has the {name}s {', '.join(values)}; choose one, as in {name}={values[0]}.")
    return str(values[0])


def _joined(rows: dict[str, Any], name: str) -> str:
    values = np.unique(rows[name].astype(str)).tolist()
    return ", ".join(values[:3]) + (f" and {len(values) - 3} more" if len(values) > 3 else "")
