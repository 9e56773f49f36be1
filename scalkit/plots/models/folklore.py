"""The folklore check as a picture: how the time of each size grows with the processes, and how trees and the best would."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.colours import light
from scalkit.perfmodels import Folklore, XuFit
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.plots.drawing import SILENT, dots, lines, spread
from scalkit.plots.models.measured import in_words, model_axis, places
from scalkit.plots.style import DATA, MODEL, blank, growth_label, plain, quantity, safe, shade_of, value_axis
from scalkit.text import percent

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


def xu(fit: XuFit) -> go.Figure:
    """Return alpha(P) and beta(P) of a fit of ``alpha(P) + S * beta(P)``, beside each other.

    Parameters
    ----------
    fit : XuFit
        As `scalkit.perfmodels.fit_xu` returns it.

    Returns
    -------
    plotly.graph_objects.Figure
        Points with intervals are the lines at each number of processes, curves the most probable forms.
    """
    processes = np.array(sorted(fit.lines), dtype=float)
    dense = places(float(processes[0]), float(processes[-1]), whole=True)
    alpha, beta = fit.growths
    said = (
        f"alpha(P), in seconds, grows as {plain(alpha)}, beta(P), in seconds a byte, as {plain(beta)}; "
        f"probability of both {percent(fit.weights[alpha, beta])}."
    )
    figure = blank(330, said)
    values = fit.model(S=0 if fit.model.valid["S"].low == 0 else fit.model.valid["S"].low, P=dense)
    far = fit.model(S=fit.model.valid["S"].high, P=dense)
    slope = (far - values) / (fit.model.valid["S"].high - fit.model.valid["S"].low)
    base = values - slope * fit.model.valid["S"].low
    panels: list[tuple[str, str, Any, Any]] = [
        ("constant", "latency α(P)", base, alpha),
        ("slope", "time per byte β(P)", slope, beta),
    ]
    for k, (part, title, curve, growth) in enumerate(panels):
        unit = "s/B" if k else "s"
        axes = {"xaxis": f"x{k + 1 if k else ''}", "yaxis": f"y{k + 1 if k else ''}"}
        middle = np.array([getattr(fit.lines[int(p)], part) for p in processes])
        ends = np.array([getattr(fit.lines[int(p)], f"{part}_interval") for p in processes])
        figure.add_scatter(
            **lines(dense, curve, MODEL, 2),
            hoverinfo="skip",
            name=f"{'βα'[1 - k]} ~ {growth_label(growth)}",
            showlegend=True,
            **axes,
        )
        figure.add_scatter(
            **dots(processes, middle, DATA, 8),
            text=[format_value(float(one), unit) for one in middle],
            hovertemplate="P = %{x}: %{text}<extra></extra>",
            name="fitted at each P",
            showlegend=k == 0,
            **axes,
            error_y=spread(middle - ends[:, 0], ends[:, 1] - middle, DATA),
        )
        seen = np.concatenate([middle, curve, ends[:, 0], ends[:, 1]])
        low, high = float(seen[seen > 0].min(initial=np.inf)), float(seen.max())
        side = value_axis(low, high, "s", title) if np.isfinite(low) else value_axis(0.0, 1.0, "s", title)
        if k:
            side["ticktext"] = [f"{text}/B" for text in side["ticktext"]]
        place = {"domain": [0.0, 0.43] if k == 0 else [0.57, 1.0], "anchor": axes["yaxis"]}
        figure.update_layout(
            {f"xaxis{k + 1}": model_axis("P", processes) | place, f"yaxis{k + 1}": side | {"anchor": axes["xaxis"]}}
        )
    return figure
