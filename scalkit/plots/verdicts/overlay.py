"""One function in several data sets: measurements as symbols and models as lines, one colour for each data set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.fit import Model
from scalkit.plots.drawing import SILENT, SYMBOLS, dots, lines
from scalkit.plots.style import (
    METRIC_WORDS,
    PALETTE,
    blank,
    growth_label,
    is_log_axis,
    metric_word,
    plain,
    quantity,
    safe,
    value_axis,
    without_variants,
    x_axis,
)
from scalkit.plots.verdicts.curves import reach, sample, scaling_sentence
from scalkit.validation import Validation, Verdict
from scalkit.validation.answer import ANSWER_SYMBOLS

_DASHES_OF_FUNCTIONS = ("solid", "dash", "dot", "dashdot")


def scaling(result: Validation, metric: str | None = None) -> go.Figure:
    """Return measurements and models of all functions of a metric as one plotly figure.

    Parameters
    ----------
    result : Validation
    metric : str, optional
        ``"time"``, ``"object_memory"`` or ``"process_memory"``; by default the metric of the first verdict.

    Returns
    -------
    plotly.graph_objects.Figure
        One symbol and one line for each function (variants ``f[...]`` left out). Symbol, colour and dash tell them
        apart, hollow symbols do not decide; the legend names the growth and the mark of the answer.

    Raises
    ------
    DataError
        If no verdict has this metric.

    References
    ----------
    Exascaling Your Library, figure 2 (docs/references.md).
    """
    present = sorted({v.metric for v in result.verdicts})
    chosen = metric if metric is not None else (result.verdicts[0].metric if result.verdicts else "time")
    verdicts = without_variants([v for v in result.along_one if v.metric == chosen])
    if not verdicts:
        raise DataError(f"no verdict has the metric {chosen!r}; there are {', '.join(present) or 'none'}: choose one.")
    figure = blank(400 + 22 * len(verdicts), scaling_sentence(verdicts))
    for k, verdict in enumerate(verdicts):
        _add_function(figure, verdict, k)
    x = np.unique(np.concatenate([np.asarray(v.series.x, dtype=float) for v in verdicts]))
    span = reach(x, beyond=2.0)
    low, high = _value_range(verdicts)
    figure.update_xaxes(x_axis(x, span.lowest, span.shown, verdicts[0].parameter))
    figure.update_yaxes(value_axis(low, high, verdicts[0].unit, safe(metric_word(verdicts[0]))))
    figure.update_layout(legend={"y": -0.16, "yanchor": "top"})
    return figure


def _value_range(verdicts: Sequence[Verdict]) -> tuple[float, float]:
    ends = [float(np.asarray(v.model(2.0 * float(np.max(v.series.x))))) for v in verdicts]
    seen = np.concatenate([*(np.asarray(v.series.y, dtype=float) for v in verdicts), ends])
    return float(np.nanmin(seen)), float(np.nanmax(seen))


def _add_function(figure: go.Figure, verdict: Verdict, k: int) -> None:
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x, beyond=2.0)
    line = sample(span.lowest, span.shown, is_log_axis(x), 33)
    colour, symbol = PALETTE[k % len(PALETTE)], SYMBOLS[k % len(SYMBOLS)]
    name = f"{safe(verdict.function)}  {growth_label(verdict.model.growth)} {ANSWER_SYMBOLS[verdict.answer]}"
    values = np.asarray(verdict.model(line), dtype=float) * np.ones_like(line)
    dash = _DASHES_OF_FUNCTIONS[(k // len(PALETTE)) % len(_DASHES_OF_FUNCTIONS)]
    figure.add_scatter(**lines(line, values, colour, 1.8, dash), legendgroup=f"f{k}", **SILENT)
    y = np.asarray(verdict.series.y, dtype=float)
    figure.add_scatter(
        **dots(x, y, colour, 8, symbol if verdict.decides else f"{symbol}-open", rim=1.6),
        text=[quantity(v, verdict.unit) for v in y],
        name=name,
        legendgroup=f"f{k}",
        hovertemplate=f"<b>{safe(verdict.function)}</b><br>%{{x}}: %{{text}}<extra></extra>",
    )


_DASHES = ("solid", "dash", "dashdot")


@dataclass(frozen=True)
class Overlaid:
    """A function in one data set.

    `label`: name of the data set. `x`, `y`: settings, and values in the unit of the model. `mark`: of the verdict, for the
    legend. `decides`: symbols are hollow where not.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    model: Model
    mark: str = ""
    decides: bool = True

    @classmethod
    def of(cls, verdict: Verdict, label: str) -> "Overlaid":
        """Return what a verdict is about."""
        x, y = (np.asarray(one, dtype=float).tolist() for one in (verdict.series.x, verdict.series.y))
        return cls(label, x, y, verdict.model, ANSWER_SYMBOLS[verdict.answer], verdict.decides)


def overlay(function: str, sets: Sequence[Overlaid], metric: str, labels: Sequence[str] = ()) -> go.Figure:
    """Return measurements and models of one function in several data sets as one plotly figure.

    Parameters
    ----------
    function : str
    sets : sequence of Overlaid
    metric : str
    labels : sequence of str
        Of all data sets, in the order of their colours, so that a data set keeps its own where others lack the function.

    Returns
    -------
    plotly.graph_objects.Figure
        Colour, symbol and dash tell the data sets apart; lines get thin beyond what was measured.

    Raises
    ------
    DataError
        If there is no data set.
    """
    if not sets:
        raise DataError(f"a picture of {function!r} needs a data set, got none.")
    alt = "; ".join(f"{one.label} grows as {plain(one.model.growth)}" for one in sets)
    figure = blank(330 + 18 * len(sets), f"{function}, {METRIC_WORDS.get(metric, metric)}: {alt}.")
    x = np.unique(np.concatenate([np.asarray(one.x, dtype=float) for one in sets]))
    span, log = reach(x, beyond=2.0), is_log_axis(x)
    seen = []
    order = list(labels) or [one.label for one in sets]
    for one in sets:
        seen += _add_set(figure, one, order.index(one.label), span.shown, log)
    first = sets[0].model
    figure.update_xaxes(x_axis(x, span.lowest, span.shown, first.parameter))
    low, high = min(seen), max(seen)
    figure.update_yaxes(value_axis(low, high, first.unit, safe(METRIC_WORDS.get(metric, metric))))
    figure.update_layout(legend={"y": -0.18, "yanchor": "top"})
    return figure


def _add_set(figure: go.Figure, one: Overlaid, k: int, shown: float, log: bool) -> list[float]:
    """Draw a data set; return what values are in view."""
    x, unit = np.asarray(one.x, dtype=float), one.model.unit
    colour, symbol = PALETTE[k % len(PALETTE)], SYMBOLS[k % len(SYMBOLS)]
    seen = [float(y) for y in one.y]
    for start, end, width in ((x.min(), x.max(), 2.2), (x.max(), shown, 1.0)):
        if start >= end:
            continue
        line = sample(float(start), float(end), log, 33 if width > 2 else 9)
        values = np.asarray(one.model(line), dtype=float) * np.ones_like(line)
        seen += values[np.isfinite(values)].tolist()
        figure.add_scatter(**lines(line, values, colour, width, _DASHES[k % len(_DASHES)]), legendgroup=f"s{k}", **SILENT)
    figure.add_scatter(
        **dots(x, one.y, colour, 8, symbol if one.decides else f"{symbol}-open", rim=1.6),
        text=[quantity(float(value), unit) for value in one.y],
        name=f"{safe(one.label)}  {growth_label(one.model.growth)} {one.mark}".rstrip(),
        legendgroup=f"s{k}",
        hovertemplate=f"<b>{safe(one.label)}</b><br>%{{x}}: %{{text}}<extra></extra>",
    )
    return seen
