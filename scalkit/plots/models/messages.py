"""Models of messages and what they were fitted to: latency and bandwidth, LogGP, queued receives, hops, the bisection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import UsageError
from scalkit.perfmodels.fits.bisection import BisectionFit
from scalkit.perfmodels.fits.loggp import LogGPFit, LogGPLine, Rendezvous
from scalkit.perfmodels.fits.messages import FittedProtocol, MessageFit
from scalkit.perfmodels.fits.packing import PackingFit
from scalkit.perfmodels.fits.steps import StepFit
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.models.residuals import FittedLine, with_residuals
from scalkit.plots.style import TROUBLE

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
            raise UsageError(
                f"packing at the stride {fit.stride} costs nothing that is seen; there is nothing to draw."
            )
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
    alt = f"{what} over their size{more}: {len(lines)} protocols" + (
        f", switching {', '.join(found)}." if found else "."
    )
    figure = with_residuals(
        lines, alt=alt, x_title=_SIZE, y_title=y_title or f"time, one way{more}", unit="s", x_unit="B"
    )
    for one in fit.switches:
        low, high = (max(end, 0.5) for end in one.interval)
        figure.add_vrect(x0=low, x1=high, fillcolor=TROUBLE, opacity=0.12, line_width=0, layer="below")
    return figure


def _protocol(one: FittedProtocol, sizes: np.ndarray, times: np.ndarray) -> FittedLine:
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
        figure.add_vrect(
            x0=max(fit.after, 0.5), x1=fit.before, fillcolor=TROUBLE, opacity=0.12, line_width=0, layer="below"
        )
    return figure


def _kept(lines: Sequence[LogGPLine], by: str) -> list[FittedLine]:
    if not lines:
        raise UsageError(f"this fit keeps no measured values; fit it again with {by}.")
    return [FittedLine(one.name, one.sizes, one.values, one.fitted, one.sizes, one.fitted) for one in lines]


def _steps(fit: StepFit, more: str) -> go.Figure:
    counts = np.array(fit.counts)
    dense = np.linspace(float(counts.min()), float(counts.max()), _POINTS)
    line = FittedLine(str(fit), counts, np.array(fit.times), fit.fit(counts), dense, fit.fit(dense))
    return with_residuals(
        [line],
        alt=f"Time of a message{more}: {fit}.",
        x_title=f"{fit.step}s",
        y_title=f"time{more}",
        unit="s",
        log=False,
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
