"""Models of messages and what they were fitted to: latency and bandwidth, LogGP, queued receives, hops, the bisection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.perfmodels.fits.bisection import BisectionFit
from scalkit.perfmodels.fits.loggp import LogGPFit, LogGPLine, Rendezvous
from scalkit.perfmodels.fits.messages import FittedProtocol, MessageFit
from scalkit.perfmodels.fits.steps import StepFit
from scalkit.perfmodels.fits.strides import PackingFit
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import dots
from scalkit.plots.drawing import lines as drawn
from scalkit.plots.style import DATA, PALETTE, TROUBLE, blank, look, number, quantity, safe, value_axis

_POINTS = 40
_SIZE = "message size"


def messages(
    fit: MessageFit | PackingFit | LogGPFit | Rendezvous | StepFit | BisectionFit, *, simulated: bool = False
) -> go.Figure:
    """Return what a model of messages was fitted to, the fit, and its residuals.

    Parameters
    ----------
    fit : MessageFit, PackingFit, LogGPFit, Rendezvous, StepFit or BisectionFit
        As `fit_messages`, `fit_packing`, `fit_loggp`, `find_rendezvous`, `fit_matching`, `fit_hops`, `fit_reducing` and
        `fit_bisection` return it, or ``card.fits``.
    simulated : bool
        Whether a simulator made the times; the axis says so.

    Returns
    -------
    plotly.graph_objects.Figure
        Vertical bands are the intervals of protocol switches. Residuals are in per cent of the fit.

    Raises
    ------
    UsageError
        If it is no such fit, or keeps no measured values.
    """
    more = ", simulated" if simulated else ""
    if isinstance(fit, MessageFit):
        return _protocols(fit, more)
    if isinstance(fit, PackingFit):
        if fit.fit is None:
            raise UsageError(f"packing at the stride {fit.stride} costs nothing that is seen; there is nothing to draw.")
        return _protocols(fit.fit, more, "Time of packing", f"packing, stride {fit.stride}{more}")
    if isinstance(fit, LogGPFit):
        return _loggp(fit, more)
    if isinstance(fit, Rendezvous):
        return _rendezvous(fit, more)
    if isinstance(fit, StepFit):
        return _steps(fit, more)
    if isinstance(fit, BisectionFit):
        return _bisection(fit, more)
    raise UsageError(f"a picture of messages needs a fit of messages, got {type(fit).__name__}.")


def _protocols(fit: MessageFit, more: str, what: str = "Time of messages", y_title: str = "") -> go.Figure:
    sizes, times = np.array(fit.sizes), np.array(fit.times)
    lines = [_protocol(one, sizes, times) for one in fit.protocols]
    found = [f"between {format_value(one.after, 'B')} and {format_value(one.before, 'B')}" for one in fit.switches]
    alt = f"{what} over their size{more}: {len(lines)} protocols" + (f", switching {', '.join(found)}." if found else ".")
    figure = with_residuals(lines, alt=alt, x_title=_SIZE, y_title=y_title or f"time, one way{more}", unit="s", x_unit="B")
    for one in fit.switches:
        low, high = (max(end, 0.5) for end in one.interval)
        figure.add_vrect(x0=low, x1=high, fillcolor=TROUBLE, opacity=0.12, line_width=0, layer="below")
    return figure


def _protocol(one: FittedProtocol, sizes: np.ndarray, times: np.ndarray) -> "FittedLine":
    inside = (sizes >= one.first) & (sizes <= one.last)
    x = sizes[inside]
    dense = np.unique(np.concatenate([x, np.geomspace(max(one.first, 0.5), max(one.last, 0.5), _POINTS)]))
    name = f"{format_value(one.fit.constant, 's')} + {format_value(one.fit.slope, 's/B')} S"
    return FittedLine(name, x, times[inside], one.fit(x), dense, one.fit(dense))


def _loggp(fit: LogGPFit, more: str) -> go.Figure:
    lines = _kept(fit.lines, "fit_loggp")
    alt = f"LogGP from round trips{more}: {', '.join(one.name for one in fit.lines)}, over the message size, with their lines."
    return with_residuals(lines, alt=alt, x_title=_SIZE, y_title=f"time{more}", unit="s", x_unit="B")


def _rendezvous(fit: Rendezvous, more: str) -> go.Figure:
    lines = _kept(fit.lines, "find_rendezvous")
    until = "no size waits" if not np.isfinite(fit.before) else f"from {format_value(fit.before, 'B')} on it waits"
    alt = f"Time in a send whose receiver is late{more}, over the message size: {until}."
    figure = with_residuals(lines, alt=alt, x_title=_SIZE, y_title=f"time in the send{more}", unit="s", x_unit="B")
    if np.isfinite(fit.before):
        figure.add_vrect(x0=max(fit.after, 0.5), x1=fit.before, fillcolor=TROUBLE, opacity=0.12, line_width=0, layer="below")
    return figure


def _kept(lines: Sequence[LogGPLine], by: str) -> "list[FittedLine]":
    if not lines:
        raise UsageError(f"this fit keeps no measured values; fit it again with {by}.")
    return [FittedLine(one.name, one.sizes, one.values, one.fitted, one.sizes, one.fitted) for one in lines]


def _steps(fit: StepFit, more: str) -> go.Figure:
    counts = np.array(fit.counts)
    dense = np.linspace(float(counts.min()), float(counts.max()), _POINTS)
    line = FittedLine(str(fit), counts, np.array(fit.times), fit.fit(counts), dense, fit.fit(dense))
    return with_residuals(
        [line], alt=f"Time of a message{more}: {fit}.", x_title=f"{fit.step}s", y_title=f"time{more}", unit="s", log=False
    )


def _bisection(fit: BisectionFit, more: str) -> go.Figure:
    p, mean = np.array(fit.processes, dtype=float), np.array(fit.effective)
    curve = fit.scale * p**-fit.decay if np.isfinite(fit.decay) else mean
    line = FittedLine(str(fit), p, mean, curve, p, curve)
    alt = f"Effective bisection bandwidth{more} over the number of processes: {fit}."
    figure = with_residuals([line], alt=alt, x_title="processes", y_title=f"bandwidth of a process{more}", unit="B/s")
    figure.update_traces(
        selector={"mode": "markers", "yaxis": None},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": (np.array(fit.high) - mean).tolist(),
            "arrayminus": (mean - np.array(fit.low)).tolist(),
        },
    )
    return figure


_COLOURS = tuple(colour for colour in PALETTE if colour not in (DATA, TROUBLE))
_TOP, _BOTTOM = [0.34, 1.0], [0.0, 0.22]
_ZERO_AT = 0.5
"""Where zero stands on a logarithmic axis, of the smallest positive value."""


@dataclass(frozen=True)
class FittedLine:
    """A series and its fit.

    `name`: in the legend.
    `x`, `y`, `fitted` of shape (points,): measured places, values there, and fit there.
    `dense_x`, `dense_y` of shape (any,): the fit as a curve.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    fitted: ArrayLike
    dense_x: ArrayLike
    dense_y: ArrayLike


def with_residuals(
    lines: Sequence[FittedLine], *, alt: str, x_title: str, y_title: str, unit: str, x_unit: str = "", log: bool = True
) -> go.Figure:
    """Return the lines with their points, and below the residuals, in per cent of the fit.

    `alt`: one sentence for screen readers.
    `unit`, `x_unit`: of values and places; base units.
    `log`: whether places are drawn on a logarithmic axis; zero then stands left of the smallest.
    """
    figure = blank(430, alt)
    every = np.concatenate([np.asarray(one.x, dtype=float) for one in lines])
    zero = float(every[every > 0].min(initial=np.inf)) * _ZERO_AT if log else 0.0

    def at(x: ArrayLike) -> Any:
        return np.maximum(np.asarray(x, dtype=float), zero)

    every_missed: list[np.ndarray] = []
    for k, one in enumerate(lines):
        colour = _COLOURS[k % len(_COLOURS)]
        x, y, fitted = (np.asarray(values, dtype=float) for values in (one.x, one.y, one.fitted))
        name = safe(one.name).replace(" us", " µs")
        figure.add_scatter(**drawn(at(one.dense_x), one.dense_y, colour, 2), name=name, legendgroup=str(k), hoverinfo="skip")
        missed = 100 * (y / np.where(fitted > 0, fitted, np.nan) - 1)
        every_missed.append(missed)
        places, quiet = [_place(float(a), x_unit) for a in x], {"legendgroup": str(k), "showlegend": False}
        quiet["hovertemplate"] = "%{text}<extra></extra>"
        texts = [f"{place}: {quantity(float(b), unit)}" for place, b in zip(places, y, strict=True)]
        figure.add_scatter(**dots(at(x), y, colour, 6), text=texts, **quiet)
        texts = [f"{place}: {b:+.1f} %" for place, b in zip(places, missed, strict=True)]
        figure.add_scatter(**dots(at(x), missed, colour, 5), text=texts, yaxis="y2", **quiet)
    values = np.concatenate([np.concatenate([np.ravel(one.y), np.ravel(one.dense_y)]) for one in lines]).astype(float)
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    figure.update_layout(
        xaxis=_places(every, zero, x_title, x_unit, log) | {"anchor": "y2"},
        yaxis=value_axis(low if log else 0.0, high, unit, y_title) | {"domain": _TOP},
        yaxis2=_residual_axis(np.abs(np.concatenate(every_missed))) | {"domain": _BOTTOM},
    )
    return figure


def _place(value: float, unit: str) -> str:
    return _size(value) if unit == "B" else f"{number(value)}{' ' * bool(unit)}{unit}"


def _size(value: float) -> str:
    for power, name in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if value >= 1024**power:
            return f"{value / 1024**power:.3g} {name}"
    return f"{value:g} B"


def _places(every: Any, zero: float, title: str, unit: str, log: bool) -> dict[str, Any]:
    low, high = float(max(every.min(), zero)), float(every.max())
    axis = {**look("fitted"), "title": {"text": title, "standoff": 8}}
    if not log:
        return axis
    base = 4 if unit == "B" else 2
    ticks = [base**k for k in range(40) if low <= base**k <= high * 1.001]
    ticks = ticks[:: max(1, -(-len(ticks) // 9))]
    texts = [_place(float(one), unit) for one in ticks]
    if every.min() <= 0:
        ticks, texts = [zero, *ticks[1:]], [f"0{' B' if unit == 'B' else ''}", *texts[1:]]
    pad = 0.03 * np.log10(high / low) if high > low else 0.1
    ends = [float(np.log10(low) - pad), float(np.log10(high) + pad)]
    return axis | {"type": "log", "range": ends, "tickmode": "array", "tickvals": ticks, "ticktext": texts}


def _residual_axis(missed: np.ndarray) -> dict[str, Any]:
    far = max(1.15 * float(np.nanmax(missed)) if np.isfinite(missed).any() else 1.15, 1.0)
    return {**look("residual"), "title": {"text": "residual", "standoff": 8}, "range": [-far, far]}
