"""One function: measurements with their spread over runs, the model, the expectation and the deviation limits."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import UsageError
from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.crossing import shown_scale
from scalkit.judge.limit import Limit
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.told.curves import Curves, anchored_curves
from scalkit.plots.drawing import SILENT, Drawing, band, crowd, dots, lines, spread
from scalkit.plots.style import (
    BAND,
    DATA,
    EXPECTED,
    MODEL,
    TROUBLE,
    growth_label,
    is_log_axis,
    metric_word,
    quantity,
    safe,
    value_axis,
    x_axis,
)
from scalkit.plots.verdicts.curves import Reach, fit_sentence, reach, sample
from scalkit.plots.verdicts.several import several
from scalkit.support.arguments import require_kind
from scalkit.support.arrays import Floats

_FARTHEST = 2.0**20  # times the largest measured setting: a budget that is reached beyond it is not drawn to


def fit(verdict: AnyVerdict, parameter: str | None = None, *, within: Limit | None = None) -> go.Figure:
    """Return measurements and model of one function as a plotly figure; along one parameter with the deviation limits.

    Parameters
    ----------
    verdict : Verdict or SeveralVerdict
        One verdict of a `Validation`. Over several parameters the figure has a panel for each.
    parameter : str, optional
        Of several, only the panel of this one.
    within : scalkit.judge.limit.Limit, optional
        Of one parameter: its budget is drawn, the share of one process, up to beyond the setting where the model reaches it.

    Returns
    -------
    plotly.graph_objects.Figure
        Both axes logarithmic where the values allow it; the model is dashed beyond the measured range. The limits meet
        the model at the first measured point (see `scalkit.judge.told.curves.anchored_curves`).

    Raises
    ------
    UsageError
        If `within` is that of another function, metric or parameter.
    """
    require_kind(verdict, AnyVerdict, "the verdict", "give one, as in result['MPI_Bcast']")
    require_kind(within, Limit | None, "within", "give one of result.limit('time', '10 ms')")
    if within:
        over = verdict.parameters if isinstance(verdict, SeveralVerdict) else (verdict.parameter,)
        shown, budget = (
            f"the {one.metric} of {one.function} over {' and '.join(names)}"
            for one, names in ((verdict, over), (within, (within.parameter,)))
        )
        if shown != budget:
            raise UsageError(f"the figure shows {shown}, and the budget is that of {budget}; draw the verdict it was made of.")
    if isinstance(verdict, SeveralVerdict):
        return several(verdict, parameter)
    if parameter not in (None, verdict.parameter):
        verdict.along(str(parameter))  # says which there are
    return draw_fit(verdict, within).figure()


def draw_fit(verdict: Verdict, within: Limit | None = None) -> Drawing:
    """Return the same, unchecked and quick to make."""
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x)
    log = is_log_axis(x)
    if within and span.shown < within.value <= _FARTHEST * span.highest:
        span = replace(span, shown=within.value * (2 if log else 1.2))
    curves = anchored_curves(verdict, sample(span.lowest, span.shown, log))
    figure = Drawing(330, fit_sentence(verdict))
    low, high = _value_range(verdict, curves)
    if within:
        each = within.budget / within.ppn
        low, high = min(low, each / 1.5), max(high, 1.5 * each)
    _add_band(figure, curves, low)
    _add_expectation(figure, verdict, curves)
    _add_model(figure, verdict, span, log)
    _add_measurements(figure, verdict, x)
    _add_beside(figure, verdict)
    if within:
        _add_budget(figure, within, span)
    figure.update_xaxes(x_axis(x, span.lowest, span.shown, verdict.parameter))
    figure.update_yaxes(value_axis(low, high, verdict.unit, safe(metric_word(verdict))))
    return figure


def _value_range(verdict: Verdict, curves: Curves) -> tuple[float, float]:
    """Return the range of values in view: all measurements and the model whole, the limits as far as they fit."""
    values = np.asarray(verdict.series.values, dtype=float)
    beside = np.empty(0) if verdict.series.beside is None else verdict.series.beside.y
    seen = np.concatenate([values[np.isfinite(values)], beside, curves.model[np.isfinite(curves.model)]])
    low, high = float(seen.min()), float(seen.max())
    if low <= 0:
        return low, high
    room = 10.0 ** (0.35 * np.log10(high / low) + 0.25)
    band = np.concatenate([curves.lower, curves.upper])
    band = band[np.isfinite(band) & (band > 0)]
    if band.size:
        low, high = min(low, max(low / room, float(band.min()))), max(high, min(high * room, float(band.max())))
    return low, high


def _add_band(figure: Drawing, curves: Curves, floor: float) -> None:
    keep = np.isfinite(curves.lower) & np.isfinite(curves.upper)
    x, lower, upper = curves.x[keep], curves.lower[keep], curves.upper[keep]
    if floor > 0:
        lower = np.maximum(lower, floor * 1e-3)
    figure.add_scatter(**band(x, lower, upper, BAND), hoverinfo="skip", name="limits")


def _add_expectation(figure: Drawing, verdict: Verdict, curves: Curves) -> None:
    figure.add_scatter(
        **lines(curves.x, curves.expected, EXPECTED, 1.8, "dot"),
        hoverinfo="skip",
        name=f"expected {growth_label(verdict.expectation.growth)}",
    )


def _add_model(figure: Drawing, verdict: Verdict, span: Reach, log: bool) -> None:
    for start, end, dash in ((span.lowest, span.highest, "solid"), (span.highest, span.shown, "dash")):
        x = sample(start, end, log, 33 if dash == "solid" else 17)
        y = np.asarray(verdict.model(x), dtype=float) * np.ones_like(x)
        figure.add_scatter(
            **lines(x, y, MODEL, 2.4, dash),
            text=[quantity(v, verdict.unit) for v in y],
            name=f"model {growth_label(verdict.model.growth)}",
            legendgroup="model",
            showlegend=dash == "solid",
            hovertemplate="%{x:.4~g}: model %{text}<extra></extra>",
        )


def _add_measurements(figure: Drawing, verdict: Verdict, x: Floats) -> None:
    values = np.asarray(verdict.series.values, dtype=float)
    y = np.asarray(verdict.series.y, dtype=float)
    if values.shape[1] > 1:
        figure.add_scatter(**crowd(x, values, DATA, 0.35), **SILENT)
    low, high = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
    word = "measured" if verdict.decides else "measured, not deciding"
    figure.add_scatter(
        **dots(x, y, DATA, 9, "circle" if verdict.decides else "circle-open", rim=2),
        text=[_hover(verdict, k, float(low[k]), float(high[k])) for k in range(len(x))],
        hovertemplate=f"<b>{safe(verdict.function)}</b><br>%{{text}}<extra></extra>",
        name=word,
        error_y=spread(y - low, high - y, DATA, width=5),
    )


def _add_beside(figure: Drawing, verdict: Verdict) -> None:
    beside = verdict.series.beside
    if beside is None:
        return
    figure.add_scatter(
        **dots(beside.x, beside.y, DATA, 7, "circle-open", rim=1.2),
        text=[quantity(float(y), beside.unit, 4) for y in beside.y],
        hovertemplate=f"{safe(verdict.parameter)} = %{{x:.6~g}}: %{{text}}, not judged<extra></extra>",
        name="not judged",
    )


def _add_budget(figure: Drawing, within: Limit, span: Reach) -> None:
    each = within.budget / within.ppn
    share = f" / {within.ppn}" if within.ppn > 1 else ""
    name = f"budget {quantity(within.budget, within.unit)}{share}"
    figure.add_scatter(**lines([span.lowest, span.shown], [each, each], TROUBLE, 1.6, "longdash"), hoverinfo="skip", name=name)
    if span.lowest <= within.value <= span.shown:
        figure.add_scatter(
            **dots([within.value], [each], TROUBLE, 11, "x") | {"mode": "markers+text"},
            text=[f"<b>{shown_scale(within.value)}</b>"],
            textposition="top left",
            textfont={"color": TROUBLE},
            hovertemplate=f"the budget is full at {safe(within.parameter)} = %{{x:,.0f}}<extra></extra>",
            showlegend=False,
        )


def _hover(verdict: Verdict, k: int, low: float, high: float) -> str:
    series, unit = verdict.series, verdict.unit
    runs = int(np.isfinite(np.asarray(series.values, dtype=float)[k]).sum())
    lines = [
        f"{safe(verdict.parameter)} = {float(series.x[k]):.6g}: {quantity(float(series.y[k]), unit, 4)}",
        f"runs: {quantity(low, unit, 4)} to {quantity(high, unit, 4)} ({runs} run{'s' * (runs != 1)})",
        f"model: {quantity(float(np.asarray(verdict.model(float(series.x[k])))), unit, 4)}",
    ]
    return "<br>".join(lines)
