"""A master and its workers: the time for each work unit, and who waits, over the number of workers or the size of a unit."""

import re

import numpy as np
import plotly.graph_objects as go
import xarray as xr

from scalkit.errors import UsageError
from scalkit.measure.pattern_records import SHARES, WORKERS
from scalkit.measure.schema import parameters_of
from scalkit.measure.virtual_time import is_virtual
from scalkit.plots.drawing import SILENT, SYMBOLS, lines
from scalkit.plots.store.suites import size_axis
from scalkit.plots.style import PALETTE, blank, look, quantity, rounded, safe, value_axis, x_axis

_TOP, _BOTTOM = (0.42, 1.0), (0.0, 0.34)


def master_worker(ds: xr.Dataset) -> go.Figure:
    """Return the time for each work unit above the shares of time in which master and workers do something.

    Parameters
    ----------
    ds : xarray.Dataset
        As `scalkit.read` makes it of what ``scalkit measure master-worker`` wrote, over ``workers`` or over the size of a unit
        ``S``. Of a Dataset over both choose one: ``ds.sel(S=1024)``.

    Returns
    -------
    plotly.graph_objects.Figure
        A line for each function, medians over repetitions, then over runs. Dotted lines fall as 1/workers from the first point:
        what the time would be if the master were never busy. Below, solid lines are the master's share, dashed ones the share
        of their time in which workers have a unit. Hollow symbols: more processes than cores, or simulated.

    Raises
    ------
    UsageError
        If it is no such Dataset, or is over both.
    """
    names = parameters_of(ds)
    if not set(SHARES) <= set(ds.data_vars):
        raise UsageError("this is no Dataset of a master and its workers; 'scalkit measure master-worker' measures them.")
    if len(names) != 1:
        raise UsageError(f"the Dataset is over {' and '.join(names)}; choose one, as in ds.sel(S={int(ds['S'][0])}).")
    (name,) = names
    x = ds[name].values.astype(float)
    is_simulated = bool(ds.attrs.get("simulated", 0))
    more = ", virtual" if is_virtual(ds.attrs) else ", simulated" if is_simulated else ""
    middle = {key: ds[key].median("repetition").median("run") for key in ("time", *SHARES)}
    hollow = np.broadcast_to(np.asarray(ds["oversubscribed"].values, dtype=bool) | is_simulated, x.shape)
    figure = blank(500 + 9 * ds.sizes["function"], _alt(ds, name, more))
    for place, function in enumerate(ds["function"].values.tolist()):
        values = {key: one.sel(function=function).transpose(name).values for key, one in middle.items()}
        _add(figure, place, function, name, x, hollow, values)
    times = middle["time"].values
    axis = x_axis(x, float(x.min()), float(x.max()), name)
    if name != WORKERS:
        axis = size_axis(axis, "size of a unit")
    title = {"text": f"master (solid), workers<br>(dashed) busy{more}", "font": {"size": 12}}
    figure.update_layout(
        xaxis={**axis, "anchor": "y2"},
        yaxis={**value_axis(float(np.nanmin(times)), float(np.nanmax(times)), "s", f"time for each unit{more}"), "domain": _TOP},
        yaxis2={**look("shares"), "domain": _BOTTOM, "title": title},
        legend={"orientation": "h", "y": -0.14, "yanchor": "top"},
    )
    return figure


def _add(
    figure: go.Figure, place: int, function: str, name: str, x: np.ndarray, hollow: np.ndarray, values: dict[str, np.ndarray]
) -> None:
    colour, symbol = PALETTE[place % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)]
    label = safe(_label(function))
    marker = {
        "color": colour,
        "size": 7,
        "symbol": [f"{symbol}-open" if one else symbol for one in hollow],
        "line": {"width": 1.4, "color": colour},
    }
    figure.add_scatter(
        x=rounded(x), y=rounded(values["time"]), mode="lines+markers", name=label, legendgroup=label, marker=marker,
        line={"color": colour, "width": 1.8},
        text=[quantity(float(value), "s") if np.isfinite(value) else "" for value in values["time"]],
        hovertemplate=f"<b>{label}</b><br>{name} = %{{x}}: %{{text}} a unit<extra></extra>",
    )  # fmt: skip
    there = np.flatnonzero(np.isfinite(values["time"]))
    if name == WORKERS and len(there) > 1:
        first = there[0]
        figure.add_scatter(
            **lines(x, values["time"][first] * x[first] / x, colour, 1, "dot"),
            name=f"{label}: 1/workers",
            legendgroup=label,
            **SILENT,
        )
    for shares, dash, whose in ((values["master_share"], "solid", "master"), (1.0 - values["idle_share"], "dash", "workers")):
        figure.add_scatter(
            x=rounded(x), y=rounded(shares), mode="lines+markers", name=f"{label}: {whose}", legendgroup=label,
            showlegend=False, marker=marker, line={"color": colour, "width": 1.8, "dash": dash}, yaxis="y2",
            hovertemplate=f"<b>{label}</b><br>{name} = %{{x}}: {whose} busy %{{y:.1%}}<extra></extra>",
        )  # fmt: skip


def _label(function: str) -> str:
    """Return ``Waitany, work of 20 us`` of ``Master_worker[Waitany:20us]``."""
    found = re.fullmatch(r"Master_worker\[([^:\]]+)(?::(\d+)us)?\]", function)
    if found is None:
        return function
    return f"{found[1]}, work of {quantity(1e-6 * int(found[2]), 's')}" if found[2] else f"{found[1]}, communication alone"


def _alt(ds: xr.Dataset, name: str, more: str) -> str:
    over = "the number of workers" if name == WORKERS else "the size of a unit"
    labels = "; ".join(_label(one) for one in ds["function"].values.tolist())
    return f"Time for each work unit{more}, and shares of time in which master and workers are busy, over {over}: {labels}."
