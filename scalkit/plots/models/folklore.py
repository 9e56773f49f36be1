"""The folklore check as a picture: how the time of each size grows with the processes, and how trees and the best would."""

import numpy as np
import plotly.graph_objects as go

from scalkit.perfmodels.collectives.folklore import Folklore
from scalkit.plots.drawing import SILENT, dots, lines
from scalkit.plots.models.measured import in_words, model_axis
from scalkit.plots.style import blank, quantity, safe, shade_of, value_axis
from scalkit.support.colours import light

_DASHES = {"S*log(P)": "dash", "S + log(P)": "solid", "S + P": "dot", "S*P": "dashdot"}
_MOST_SIZES = 5


def folklore(check: Folklore) -> go.Figure:
    """Return measured times over the processes, a colour for each size, with the fits of both forms of the folklore.

    Parameters
    ----------
    check : Folklore
        As `scalkit.perfmodels.collectives.folklore` returns it.

    Returns
    -------
    plotly.graph_objects.Figure
        Up to five sizes; solid is O(S + log P), dashed O(S log P), and the winner where it is another one.
    """
    cells = check.cells
    keep = np.unique(np.linspace(0, len(cells.sizes) - 1, min(len(cells.sizes), _MOST_SIZES)).round().astype(int))
    forms = list(dict.fromkeys(["S + log(P)", "S*log(P)", check.best]))
    figure = blank(370, check.sentence)
    word = cells.origin
    for k, size in enumerate(cells.sizes[keep]):
        rows = np.flatnonzero(size == cells.S)
        rows = rows[np.argsort(cells.P[rows])]
        colour = shade_of(k, len(keep))
        for form in forms:
            figure.add_scatter(**lines(cells.P[rows], check.fitted[form][rows], colour, 1.8, _DASHES[form]), **SILENT)
        figure.add_scatter(
            **dots(cells.P[rows], cells.time[rows], colour, 9),
            text=[f"P = {p:g}: {quantity(float(t), 's')}" for p, t in zip(cells.P[rows], cells.time[rows], strict=True)],
            hovertemplate=f"{in_words('S', float(size))}, %{{text}}<extra>{word}</extra>",
            name=in_words("S", float(size)),
        )
    for form in forms:
        figure.add_scatter(
            **lines([None], [None], light("ink"), 1.8, _DASHES[form]),
            name=safe(f"O({form.replace('*', ' ').replace('log(P)', 'log P')})"),
        )
    shown = np.isin(cells.S, cells.sizes[keep])
    seen = np.concatenate([cells.time[shown], *(check.fitted[form][shown] for form in forms)])
    figure.update_xaxes(model_axis("P", cells.processes))
    figure.update_yaxes(value_axis(float(seen[seen > 0].min()), float(seen.max()), "s", cells.title))
    return figure
