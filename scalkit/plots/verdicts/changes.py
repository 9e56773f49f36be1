"""All functions since a baseline: values now over values then, with what counts as unchanged."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.judge.baseline.comparison import Change, Comparison
from scalkit.plots.drawing import dots, spread
from scalkit.plots.style import BAND, EXPECTED, METRIC_WORDS, QUIET, STATE_COLOURS, blank, look, safe, value_axis
from scalkit.support.colours import light
from scalkit.support.text import cut

_KINDS = {
    "worse": (STATE_COLOURS["fix"], "triangle-up", "▲ grows faster"),
    "factor": (STATE_COLOURS["warning"], "square", "× or ÷ another factor"),
    "cannot tell": (STATE_COLOURS["cannot tell"], "diamond", "? cannot tell"),
    "better": (light("slower"), "triangle-down", "▼ grows slower"),
    "same": (QUIET, "circle", "= as before"),
}
_MOST_LETTERS = 30


def changes(comparison: Comparison) -> go.Figure:
    """Return, for each function that a baseline and a later result have, the value now over the value then.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    plotly.graph_objects.Figure
        One symbol for each function and metric, where it changed, else at the largest point that both have. Colour,
        symbol and word tell what became of the growth; hollow symbols do not decide. The shaded range is the tolerance.

    Raises
    ------
    DataError
        If there is nothing that both have.
    """
    rows = [change for change in comparison if math.isfinite(change.ratio) and change.ratio > 0][::-1]
    if not rows:
        raise DataError("a picture of the changes needs a function that was measured before and now, there is none.")
    words = "; ".join(f"{change.function} {change.ratio:.3g}" for change in rows[::-1])
    figure = blank(104 + 26 * len(rows), f"Values now over values then: {words}.")
    wide = 1 + comparison.tolerance
    figure.add_vrect(x0=1 / wide, x1=wide, fillcolor=BAND, line={"width": 0}, layer="below")
    figure.add_vline(x=1, line={"color": EXPECTED, "width": 1.8, "dash": "dot"})
    for kind in _KINDS:
        _add_kind(figure, kind, [(k, change) for k, change in enumerate(rows) if change.kind == kind])
    ends = [end for change in rows for end in _ends(change)]
    figure.update_xaxes(value_axis(min(*ends, 1 / wide**2), max(*ends, wide**2), "", "value now over value then"))
    one_metric = len({change.metric for change in rows}) == 1
    names = [_name(change, one_metric) for change in rows]
    figure.update_yaxes(look("rows"), tickvals=list(range(len(rows))), ticktext=names, range=[-0.7, len(rows) - 0.3])
    return figure


def _name(change: Change, one_metric: bool) -> str:
    name = cut(change.function, _MOST_LETTERS)
    return safe(name if one_metric else f"{name}, {METRIC_WORDS.get(change.metric, change.metric)}")


def _ends(change: Change) -> tuple[float, float]:
    """Return the ends of the bar of a change: two standard errors of the ratio's logarithm."""
    error = 2 * change.error if math.isfinite(change.error) else 0.0
    return change.ratio * math.exp(-error), change.ratio * math.exp(error)


def _add_kind(figure: go.Figure, kind: str, rows: Sequence[tuple[int, Change]]) -> None:
    if not rows:
        return
    colour, symbol, word = _KINDS[kind]
    ratios = np.asarray([change.ratio for _, change in rows])
    low, high = np.asarray([_ends(change) for _, change in rows]).T
    symbols = [symbol if change.decides else f"{symbol}-open" for _, change in rows]
    figure.add_scatter(
        **dots(ratios, [k for k, _ in rows], colour, 10, symbols, rim=1.8),
        error_x=spread(ratios - low, high - ratios, colour, thickness=1.4),
        text=[safe(change.sentence) for _, change in rows],
        hovertemplate="%{text}<extra></extra>",
        name=word,
    )
