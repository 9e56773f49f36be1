"""Who made whom wait, or what went from one process to another, as a matrix of colours."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import xarray as xr

from scalkit.plots.drawing import Drawing
from scalkit.plots.style import DATA, MODEL, axis_title, look, quantity, safe
from scalkit.support.arrays import Ints
from scalkit.trace.results.dataset import read_result
from scalkit.trace.results.pairs import Pairs, pairs
from scalkit.trace.results.summary import WAITS

MOST = 64
"""So many rows and columns are drawn at most; each then stands for several locations that follow each other."""

_SCALE = {"ns": (1e-9, "s"), "B": (1.0, "B"), "1": (1.0, "")}


@dataclass(frozen=True)
class MatrixAxes:
    """Which locations each row and column of a matrix stands for."""

    rows: tuple[tuple[int, ...], ...]
    columns: tuple[tuple[int, ...], ...]

    def at(self, row: object, column: object) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the locations of a row and a column by the labels that the figure has; None if there are none."""
        rows = {_label(group): group for group in self.rows}
        columns = {_label(group): group for group in self.columns}
        if str(row) not in rows or str(column) not in columns:
            return None
        return rows[str(row)], columns[str(column)]


def matrix_axes(locations: int, rows: Iterable[int] = (), columns: Iterable[int] = ()) -> MatrixAxes:
    """Return axes for all locations, or for some of them, of at most 64 rows and columns."""
    every = range(locations)
    return MatrixAxes(_grouped(sorted(set(rows)) or every), _grouped(sorted(set(columns)) or every))


def shown_amount(value: float, unit: str) -> str:
    """Return an amount in the unit of a metric as people write it: ``"12.3 ms"``, ``"1,024"``, ``"4.1 kB"``."""
    scale, base = _SCALE.get(unit, (1.0, unit))
    if base == "":
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"
    return quantity(value * scale, base) if value else f"0 {base}"


def trace_matrix(ds: xr.Dataset | str | os.PathLike[str], what: str = "waiting", metrics: Sequence[str] = WAITS) -> go.Figure:
    """Return the matrix of a result as a plotly figure.

    Parameters
    ----------
    ds : Dataset or path
        From `scalkit.trace.analyse` or `read_result`, or the file that `write_result` wrote.
    what : {"waiting", "operations", "bytes", "messages", "message_bytes"}
        Who waited for whom, or what went from whom to whom: one-sided operations that the first began on the second, or
        messages.
    metrics : sequence of str
        Waits that count; all by default.

    Returns
    -------
    plotly.graph_objects.Figure
        In s or B. Empty cells are 0. With more than 64 locations a cell stands for several of them.

    Raises
    ------
    UsageError
        If `what` is something else.
    DataError
        If the file cannot be read, or is something else.
    """
    ds = read_result(ds) if isinstance(ds, str | os.PathLike) else ds
    found = pairs(ds, what, metrics)
    return matrix_drawing(found, matrix_axes(found.locations), simulated=bool(ds.attrs["simulated"])).figure()


def matrix_drawing(
    found: Pairs, axes: MatrixAxes, *, simulated: bool = False, chosen: tuple[Iterable[int], Iterable[int]] = ((), ())
) -> Drawing:
    """Return the matrix of pairs while it is made; rows and columns with a location that is chosen have a frame."""
    row_group, column_group = (_groups(groups, found.locations) for groups in (axes.rows, axes.columns))
    sums = found.matrix(row_group, column_group, len(axes.rows), len(axes.columns))
    scale, base = _SCALE[found.unit]
    rows, columns = ([_label(group) for group in groups] for groups in (axes.rows, axes.columns))
    drawing = Drawing(min(470, 130 + 26 * max(len(rows), 3)), _alt(found, sums, rows, columns, simulated))
    what = {"text": safe(found.what), "side": "right", "font": {"size": 12}}
    drawing.add_heatmap(
        x=columns,
        y=rows,
        z=[[float(f"{scale * one:.6g}") if one else None for one in line] for line in sums.tolist()],
        colorscale=[[0, "rgba(86,180,233,0.28)"], [1, MODEL]],
        zmin=0,
        zmax=max(scale * float(sums.max(initial=0)), scale),
        xgap=1 if len(columns) <= 32 else 0,
        ygap=1 if len(rows) <= 32 else 0,
        hoverongaps=False,
        hovertemplate=f"{safe(found.row_title)}: %{{y}}<br>{safe(found.column_title)}: %{{x}}<br>%{{z:.3s}}{base}<extra></extra>",
        colorbar={**look("amounts"), "ticksuffix": base, "title": what},
    )
    more = ", simulated" if simulated else ""
    drawing.update_xaxes({**_axis(f"{found.column_title} ({_each(axes.columns)}){more}", axes.columns), "side": "top"})
    drawing.update_yaxes({**_axis(f"{found.row_title} ({_each(axes.rows)})", axes.rows), "autorange": "reversed"})
    drawing.layout(margin={"l": 62, "r": 10, "t": 52, "b": 10})
    for is_row, groups, wanted in ((True, axes.rows, chosen[0]), (False, axes.columns, chosen[1])):
        _frame(drawing, groups, set(wanted), is_row=is_row)
    return drawing


def _frame(drawing: Drawing, groups: tuple[tuple[int, ...], ...], wanted: set[int], *, is_row: bool) -> None:
    """Draw a frame around each group that has a location which is wanted."""
    along, across = ("y", "x") if is_row else ("x", "y")
    for k, group in enumerate(groups):
        if wanted.intersection(group):
            drawing.add_shape(
                type="rect",
                line={"color": DATA, "width": 1.5},
                **{f"{along}0": k - 0.5, f"{along}1": k + 0.5, f"{across}0": 0, f"{across}1": 1, f"{across}ref": "paper"},
            )


def _each(groups: tuple[tuple[int, ...], ...]) -> str:
    return f"process, {len(groups[0])} in a cell" if len(groups[0]) > 1 else "process"


def _axis(title: str, groups: tuple[tuple[int, ...], ...]) -> dict[str, Any]:
    ticks = groups[:: -(-len(groups) // 8)]
    shown = {"tickvals": [_label(group) for group in ticks], "ticktext": [str(group[0]) for group in ticks]}
    return {**look("locations"), "title": axis_title(safe(title), 6), **shown}


def _alt(found: Pairs, sums: Ints, rows: Sequence[str], columns: Sequence[str], simulated: bool) -> str:
    about = f"{found.what} as a matrix, rows: {found.row_title}, columns: {found.column_title}"
    about = f"simulated: {about}" if simulated else about
    if not sums.any():
        return f"{about}; all are 0"
    row, column = divmod(int(sums.argmax()), sums.shape[1])
    most = shown_amount(float(sums[row, column]), found.unit)
    return f"{about}; the largest value, {most}, is in the row of process {rows[row]} and the column of process {columns[column]}"


def _grouped(locations: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    size = -(-len(locations) // MOST)
    return tuple(tuple(locations[k : k + size]) for k in range(0, len(locations), size))


def _groups(groups: tuple[tuple[int, ...], ...], n: int) -> Ints:
    found = np.full(n, -1, dtype=np.int64)
    for k, group in enumerate(groups):
        found[list(group)] = k
    return found


def _label(group: tuple[int, ...]) -> str:
    if len(group) == 1:
        return str(group[0])
    return f"{group[0]}–{group[-1]}" if group[-1] - group[0] == len(group) - 1 else f"{group[0]}…{group[-1]}"
