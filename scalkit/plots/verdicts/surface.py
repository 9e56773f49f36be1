"""One function of two parameters: the model over both as a map, with the measured points."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.drawing import dots
from scalkit.plots.style import blank, is_log_axis, metric_word, quantity, rounded, safe, value_axis, with_axes, x_axis
from scalkit.plots.verdicts.curves import sample
from scalkit.plots.verdicts.several import extremes
from scalkit.support.arrays import Floats

_GRID, _CONTOURS = 21, 10
_COLOURS = "Cividis"


def surface(verdict: SeveralVerdict) -> go.Figure:
    """Return the model over both parameters as colours with contours, and the measured points in the same colours.

    Parameters
    ----------
    verdict : SeveralVerdict
        Over two parameters.

    Returns
    -------
    plotly.graph_objects.Figure
        A point that stands out of the colour around it deviates from the model.

    Raises
    ------
    DataError
        If the verdict is not over two parameters.
    """
    if not isinstance(verdict, SeveralVerdict) or len(verdict.parameters) != 2:
        name = getattr(verdict, "function", verdict)
        raise DataError(f"'{name}' has no verdict over two parameters; draw it with scalkit.plot.")
    first, second = verdict.parameters
    series = verdict.series
    x, y = series.along(first), series.along(second)
    across, up = (sample(float(v[0]), float(v[-1]), is_log_axis(v), _GRID) for v in (x, y))
    points = np.stack([one.ravel() for one in np.meshgrid(across, up)], axis=1)
    model = np.asarray(verdict.model(points), dtype=float).reshape(len(up), len(across))
    every = np.concatenate([model.ravel(), series.y])
    every = every[np.isfinite(every)]
    is_log = bool(every.min() > 0)
    low, high = (float(end) for end in _place(np.array([every.min(), every.max()]), is_log))
    size = (high - low) / _CONTOURS or 1.0
    figure = blank(360, _sentence(verdict))
    figure.add_contour(
        x=rounded(across),
        y=rounded(up),
        z=[rounded(row) for row in _place(model, is_log)],
        text=[[_where(verdict, (a, b), quantity(v, verdict.unit)) for a, v in zip(across, row, strict=True)]
              for b, row in zip(up, model, strict=True)],
        coloraxis="coloraxis",
        contours={"coloring": "heatmap", "showlines": True, "start": low + size, "end": high - size / 2, "size": size},
        line={"width": 0.7, "color": "rgba(255,255,255,0.55)"},
        hovertemplate="model, %{text}<extra></extra>",
        name="model",
    )  # fmt: skip
    figure.add_scatter(
        **dots(series.points[:, 0], series.points[:, 1], rounded(_place(series.y, is_log)), 12, rim=2, rim_colour="#ffffff"),
        marker_coloraxis="coloraxis",
        cliponaxis=False,
        text=[_where(verdict, p, quantity(v, series.unit)) for p, v in zip(series.points, series.y, strict=True)],
        hovertemplate="measured, %{text}<extra></extra>",
        name="measured",
    )
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), first) | {"showgrid": False})
    figure.update_yaxes(x_axis(y, float(y[0]), float(y[-1]), second) | {"showgrid": False, "automargin": True})
    figure.update_layout(
        meta=with_axes(figure, {"xaxis": first, "yaxis": second}),
        showlegend=False,
        coloraxis={"colorscale": _COLOURS, "cmin": low, "cmax": high, "colorbar": _bar(verdict, every, is_log)},
    )
    return figure


def _place(values: Floats, is_log: bool) -> Floats:
    """Return the places of values on the scale of colours: their logarithms where all are positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log10(values) if is_log else values, dtype=float)


def _bar(verdict: SeveralVerdict, values: Floats, is_log: bool) -> dict[str, Any]:
    """Return the bar that explains the colours."""
    axis = value_axis(float(values.min()), float(values.max()), verdict.unit, "")
    ticks = np.asarray([tick for tick in axis["tickvals"] if tick is not None], dtype=float)
    return {
        "title": {"text": metric_word(verdict), "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "tickmode": "array",
        "tickvals": rounded(_place(ticks, is_log)),
        "ticktext": axis["ticktext"],
    }


def _where(verdict: SeveralVerdict, point: Any, value: str) -> str:
    place = ", ".join(f"{safe(name)} = {v:.4g}" for name, v in zip(verdict.parameters, point, strict=True))
    return f"{place}: {value}"


def _sentence(verdict: SeveralVerdict) -> str:
    low, high = extremes(verdict)
    names = " and ".join(verdict.parameters)
    return f"{verdict.function} over {names}: {metric_word(verdict)} from {low} to {high}; model {verdict.model.growth}."
