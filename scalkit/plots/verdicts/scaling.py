"""All functions of a metric in one picture: measurements as symbols, models as lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.plots.marks import SILENT, dots, lines
from scalkit.plots.style import (
    PALETTE,
    RANK_MARKS,
    blank,
    growth_label,
    is_log_axis,
    metric_word,
    quantity,
    rank_key,
    safe,
    value_axis,
    without_variants,
    x_axis,
)
from scalkit.plots.verdicts.curves import reach, sample
from scalkit.plots.verdicts.sentences import scaling_sentence
from scalkit.validation import Validation, Verdict

_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star")
_DASHES = ("solid", "dash", "dot", "dashdot")


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
        apart, hollow symbols do not decide; the legend names the growth and the match mark.

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
    colour, symbol = PALETTE[k % len(PALETTE)], _SYMBOLS[k % len(_SYMBOLS)]
    mark = RANK_MARKS[rank_key(verdict)]
    name = f"{safe(verdict.function)}  {growth_label(verdict.model.growth)} {mark}"
    figure.add_scatter(
        **lines(
            line,
            np.asarray(verdict.model(line), dtype=float) * np.ones_like(line),
            colour,
            1.8,
            _DASHES[(k // len(PALETTE)) % len(_DASHES)],
        ),
        legendgroup=f"f{k}",
        **SILENT,
    )
    y = np.asarray(verdict.series.y, dtype=float)
    figure.add_scatter(
        **dots(x, y, colour, 8, symbol if verdict.decides else f"{symbol}-open", rim=1.6),
        text=[quantity(v, verdict.unit) for v in y],
        name=name,
        legendgroup=f"f{k}",
        hovertemplate=f"<b>{safe(verdict.function)}</b><br>%{{x}}: %{{text}}<extra></extra>",
    )
