"""Several functions, or one in several data sets: measurements as symbols and models as lines, a colour each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.judge import Validation, Verdict
from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.judge.fit import Model
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
from scalkit.support.arguments import require_kind


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
    require_kind(result, Validation, "the result", "give one of sk.validate")
    present = sorted({v.metric for v in result.verdicts})
    chosen = metric if metric is not None else (result.verdicts[0].metric if result.verdicts else "time")
    verdicts = without_variants([v for v in result.along_one if v.metric == chosen])
    if not verdicts:
        raise DataError(f"no verdict has the metric {chosen!r}; there are {', '.join(present) or 'none'}: choose one.")
    sets = [Overlaid.of(verdict, verdict.function) for verdict in verdicts]
    return _overlaid(sets, metric_word(verdicts[0]), 400 + 22 * len(sets), scaling_sentence(verdicts))


_DASHES = ("solid", "dash", "dashdot")


@dataclass(frozen=True)
class Overlaid:
    """One of several series in a figure: a function, or a data set.

    `label`: its name. `x`, `y`: settings, and values in the unit of the model. `mark`: of the verdict, for the
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
    title = METRIC_WORDS.get(metric, metric)
    return _overlaid(sets, title, 330 + 18 * len(sets), f"{function}, {title}: {alt}.", labels)


def _overlaid(sets: Sequence[Overlaid], title: str, height: int, alt: str, labels: Sequence[str] = ()) -> go.Figure:
    figure = blank(height, alt)
    x = np.unique(np.concatenate([np.asarray(one.x, dtype=float) for one in sets]))
    span, log = reach(x, beyond=2.0), is_log_axis(x)
    seen = []
    order = list(labels) or [one.label for one in sets]
    for one in sets:
        seen += _add_set(figure, one, order.index(one.label), span.shown, log)
    first = sets[0].model
    figure.update_xaxes(x_axis(x, span.lowest, span.shown, first.parameters[0]))
    figure.update_yaxes(value_axis(min(seen), max(seen), first.unit, safe(title)))
    figure.update_layout(legend={"y": -0.16, "yanchor": "top"})
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
