"""One function of two parameters: the model over both as a map, with the measured points; and a slice through it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.arrays import Floats
from scalkit.errors import DataError, UsageError
from scalkit.fit.several.model import SeveralModel
from scalkit.plots.drawing import dots, lines
from scalkit.plots.style import (
    DATA,
    MODEL,
    QUIET,
    TROUBLE,
    blank,
    is_log_axis,
    metric_word,
    number,
    quantity,
    rounded,
    safe,
    value_axis,
    with_axes,
    x_axis,
)
from scalkit.plots.verdicts.curves import sample
from scalkit.plots.verdicts.several import extremes
from scalkit.validation.several.verdict import SeveralVerdict

_GRID, _LINE, _MOST_BESIDE, _CONTOURS = 21, 49, 8, 10
_COLOURS = "Cividis"


def surface(verdict: SeveralVerdict, along: str | None = None, at: float | None = None) -> go.Figure:
    """Return the model over both parameters as colours with contours, and the measured points in the same colours.

    Parameters
    ----------
    verdict : SeveralVerdict
        Over two parameters.
    along : str, optional
        Parameter along which a slice is marked.
    at : float, optional
        Value of the other parameter on the slice.

    Returns
    -------
    plotly.graph_objects.Figure
        A point that stands out of the colour around it deviates from the model.

    Raises
    ------
    DataError
        If the verdict is not over two parameters.
    UsageError
        If there is no such parameter.
    """
    first, second = _require_two(verdict)
    series = verdict.series
    x, y = series.along(first), series.along(second)
    across, up = _grid(verdict)
    model = _model_on_grid(verdict, across, up)
    scale = ColourScale(np.concatenate([model.ravel(), series.y]), verdict.unit)
    figure = blank(360, _surface_sentence(verdict))
    figure.add_contour(
        x=rounded(across),
        y=rounded(up),
        z=[rounded(row) for row in scale.place(model)],
        text=[[_where(verdict, (a, b), quantity(v, verdict.unit)) for a, v in zip(across, row, strict=True)]
              for b, row in zip(up, model, strict=True)],
        coloraxis="coloraxis",
        contours={"coloring": "heatmap", "showlines": True, **scale.steps},
        line={"width": 0.7, "color": "rgba(255,255,255,0.55)"},
        hovertemplate="model, %{text}<extra></extra>",
        name="model",
    )  # fmt: skip
    figure.add_scatter(
        **dots(series.points[:, 0], series.points[:, 1], rounded(scale.place(series.y)), 12, rim=2, rim_colour="#ffffff"),
        marker_coloraxis="coloraxis",
        cliponaxis=False,
        text=[_where(verdict, p, quantity(v, series.unit)) for p, v in zip(series.points, series.y, strict=True)],
        hovertemplate="measured, %{text}<extra></extra>",
        name="measured",
    )
    if along is not None and at is not None:
        _mark_slice(figure, _column(verdict, along), at)
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), first) | {"showgrid": False})
    figure.update_yaxes(x_axis(y, float(y[0]), float(y[-1]), second) | {"showgrid": False, "automargin": True})
    title = {"text": metric_word(verdict), "side": "right"}
    bar = {"title": title, "thickness": 12, "outlinewidth": 0, **scale.ticks}
    figure.update_layout(
        meta=with_axes(figure, {"xaxis": first, "yaxis": second}),
        showlegend=False,
        coloraxis={"colorscale": _COLOURS, "cmin": scale.low, "cmax": scale.high, "colorbar": bar},
    )
    return figure


def slice_of(verdict: SeveralVerdict, along: str, at: float) -> go.Figure:
    """Return model and measured values along one parameter at a value of the other one.

    Parameters
    ----------
    verdict : SeveralVerdict
        Over two parameters.
    along : str
        Parameter of the axis.
    at : float
        Value of the other one; the model at its other measured values is drawn thinly.

    Raises
    ------
    DataError
        If the verdict is not over two parameters.
    UsageError
        If there is no such parameter.
    """
    _require_two(verdict)
    column = _column(verdict, along)
    other = verdict.parameters[1 - column]
    series = verdict.series
    x, values = series.along(along), series.along(other)
    figure = blank(360, _slice_sentence(verdict, along, other, at))
    seen = [series.y]
    beside = values[~np.isclose(values, at)]
    kept = np.unique(np.linspace(0, max(0, len(beside) - 1), min(len(beside), _MOST_BESIDE)).round().astype(int))
    for value in (*beside[kept], at):
        dense, line = line_along(verdict, verdict.model, along, float(value))
        seen.append(line)
        is_chosen = value == at
        figure.add_scatter(
            **lines(dense, line, MODEL if is_chosen else QUIET, 2.6 if is_chosen else 0.9),
            text=[quantity(v, verdict.unit) for v in line],
            hovertemplate=f"{safe(other)} = {number(float(value))}, %{{x:.4~g}}: model %{{text}}<extra></extra>",
            name=f"model at {other} = {value:g}" if is_chosen else "model elsewhere",
            showlegend=bool(is_chosen),
        )
    here = np.isclose(series.points[:, 1 - column], at)
    figure.add_scatter(
        **dots(series.points[here, column], series.y[here], DATA, 9),
        text=[quantity(v, series.unit, 4) for v in series.y[here]],
        hovertemplate="%{x:.4~g}: measured %{text}<extra></extra>",
        name=f"measured at {other} = {at:g}",
    )
    every = np.concatenate(seen)
    every = every[np.isfinite(every)]
    figure.update_xaxes(x_axis(x, float(x[0]), float(x[-1]), along))
    figure.update_layout(meta=with_axes(figure, {"xaxis": along}))
    title = safe(metric_word(verdict))
    figure.update_yaxes(value_axis(float(every.min()), float(every.max()), verdict.unit, title))
    return figure


class ColourScale:
    """Colours by the logarithm of a value, or by the value where some are not positive."""

    @classmethod
    def of(cls, verdict: SeveralVerdict) -> "ColourScale":
        """Return that of the map of a verdict over two parameters."""
        model = _model_on_grid(verdict, *_grid(verdict))
        return cls(np.concatenate([model.ravel(), verdict.series.y]), verdict.unit)

    def __init__(self, values: Floats, unit: str) -> None:
        values = values[np.isfinite(values)]
        self._is_log = bool(values.min() > 0)
        shown = self.place(values)
        self.low, self.high = float(shown.min()), float(shown.max())
        axis = value_axis(float(values.min()), float(values.max()), unit, "")
        ticks = [tick for tick in axis["tickvals"] if tick is not None]
        self.ticks: dict[str, Any] = {
            "tickmode": "array",
            "tickvals": rounded(self.place(np.asarray(ticks, dtype=float))),
            "ticktext": axis["ticktext"],
        }

    @property
    def steps(self) -> dict[str, float]:
        """Where contours are drawn."""
        size = (self.high - self.low) / _CONTOURS or 1.0
        return {"start": self.low + size, "end": self.high - size / 2, "size": size}

    def place(self, values: Floats) -> Floats:
        """Return what stands for values on the scale."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log10(values) if self._is_log else values, dtype=float)


def _require_two(verdict: object) -> tuple[str, str]:
    if not isinstance(verdict, SeveralVerdict) or len(verdict.parameters) != 2:
        name = getattr(verdict, "function", verdict)
        raise DataError(f"'{name}' has no verdict over two parameters; draw it with plots.fit or plots.several.")
    first, second = verdict.parameters
    return first, second


def _column(verdict: SeveralVerdict, along: str) -> int:
    if along not in verdict.parameters:
        raise UsageError(f"'{verdict.function}' has no parameter '{along}'; choose one of {', '.join(verdict.parameters)}.")
    return verdict.parameters.index(along)


def line_along(verdict: SeveralVerdict, model: SeveralModel, along: str, at: float) -> tuple[Floats, Floats]:
    """Return places along one of two measured parameters, at a value of the other one, and a model there."""
    column, x = _column(verdict, along), verdict.series.along(along)
    dense = sample(float(x[0]), float(x[-1]), is_log_axis(x), _LINE)
    points = np.full((len(dense), 2), at)
    points[:, column] = dense
    return dense, np.asarray(model(points), dtype=float)


def _grid(verdict: SeveralVerdict) -> tuple[Floats, Floats]:
    """Return where the map is computed: places along the first and along the second parameter."""
    x, y = (verdict.series.along(name) for name in verdict.parameters)
    across, up = (sample(float(v[0]), float(v[-1]), is_log_axis(v), _GRID) for v in (x, y))
    return across, up


def _model_on_grid(verdict: SeveralVerdict, across: Floats, up: Floats) -> Floats:
    points = np.stack([one.ravel() for one in np.meshgrid(across, up)], axis=1)
    return np.asarray(verdict.model(points), dtype=float).reshape(len(up), len(across))


def _mark_slice(figure: go.Figure, column: int, at: float) -> None:
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": at, "y1": at}
    if column == 1:
        ends = {"y0": 0, "y1": 1, "yref": "paper", "x0": at, "x1": at}
    figure.add_shape(type="line", **ends, line={"color": TROUBLE, "width": 2.5, "dash": "dash"})


def _where(verdict: SeveralVerdict, point: Any, value: str) -> str:
    place = ", ".join(f"{safe(name)} = {v:.4g}" for name, v in zip(verdict.parameters, point, strict=True))
    return f"{place}: {value}"


def _surface_sentence(verdict: SeveralVerdict) -> str:
    low, high = extremes(verdict)
    names = " and ".join(verdict.parameters)
    metric = metric_word(verdict)
    return f"{verdict.function} over {names}: {metric} from {low} to {high}; model {verdict.model.growth}."


def _slice_sentence(verdict: SeveralVerdict, along: str, other: str, at: float) -> str:
    metric = metric_word(verdict)
    _, line = line_along(verdict, verdict.model, along, at)
    low, high = (quantity(float(v), verdict.unit) for v in (line[0], line[-1]))
    return f"{verdict.function} along {along} at {other} = {at:g}: the model's {metric} goes from {low} to {high}."
