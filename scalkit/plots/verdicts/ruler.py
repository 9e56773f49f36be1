"""One function: the ticks of its search space on a ruler, limits shaded, expectation and best model marked."""

from collections.abc import Sequence

import plotly.graph_objects as go

from scalkit.growth import Growth
from scalkit.plots.drawing import area, dots, lines, note
from scalkit.plots.style import BAND, EXPECTED, MODEL, QUIET, blank, growth_label
from scalkit.plots.verdicts.curves import ruler_sentence
from scalkit.validation import Verdict

_BIG, _SMALL = 1.0, 0.55


def ruler(verdict: Verdict) -> go.Figure:
    """Return the search space of one function as a ruler.

    Parameters
    ----------
    verdict : Verdict

    Returns
    -------
    plotly.graph_objects.Figure
        Static. Ticks stand in the order of growth at equal distances; long ticks have a single factor, short ones two.
        The classes between the deviation limits are shaded, a triangle below marks the expectation, one above the best.
    """
    ticks = tuple(sorted({*verdict.space.ticks, verdict.expectation.growth, verdict.model.growth}))
    figure = blank(112, ruler_sentence(verdict), is_static=True)
    _add_limits(figure, verdict, ticks)
    _add_ticks(figure, ticks)
    _name_ends(figure, ticks, ticks.index(verdict.model.growth))
    _mark(figure, ticks.index(verdict.expectation.growth), len(ticks), verdict.expectation.growth, is_model=False)
    _mark(figure, ticks.index(verdict.model.growth), len(ticks), verdict.model.growth, is_model=True)
    figure.update_xaxes(visible=False, range=[-1.2, len(ticks) + 0.2], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-1.25, 2.35], fixedrange=True)
    figure.update_layout(margin={"l": 8, "r": 8, "t": 0, "b": 0})
    return figure


def _add_limits(figure: go.Figure, verdict: Verdict, ticks: Sequence[Growth]) -> None:
    lower, upper = verdict.expectation.limits
    inside = [k for k, tick in enumerate(ticks) if lower <= tick <= upper]
    figure.add_shape(**area(BAND), x0=min(inside) - 0.5, x1=max(inside) + 0.5, y0=-0.12, y1=1.18)


def _add_ticks(figure: go.Figure, ticks: Sequence[Growth]) -> None:
    x: list[float | None] = []
    y: list[float | None] = []
    for k, tick in enumerate(ticks):
        x += [k, k, None]
        y += [0, _BIG if n_factors(tick) < 2 else _SMALL, None]
    figure.add_scatter(**lines([-0.7, len(ticks) - 0.3], [0, 0], QUIET, 1.5), hoverinfo="skip")
    figure.add_scatter(**lines(x, y, QUIET, 1.5), hoverinfo="skip")


def _name_ends(figure: go.Figure, ticks: Sequence[Growth], model: int) -> None:
    """Write the first and the last class above the ruler, where the model's label leaves room."""
    share = model / max(1, len(ticks) - 1)
    for k, side, is_free in ((0, "left", share > 0.35), (len(ticks) - 1, "right", share < 0.55)):
        if not is_free:
            continue
        figure.add_annotation(
            **note(growth_label(ticks[k]), QUIET), x=k + (-0.7 if side == "left" else 0.7), y=1.15, xanchor=side, yanchor="bottom"
        )


def n_factors(growth: Growth) -> int:
    """Return of how many factors a growth is."""
    return sum(
        exponent != 0
        for name in growth.parameters
        for exponent in (growth.exponential(name), growth.power(name), growth.log(name))
    )


def _mark(figure: go.Figure, position: int, n_ticks: int, growth: Growth, *, is_model: bool) -> None:
    colour, word = (MODEL, "model") if is_model else (EXPECTED, "expected")
    share = position / max(1, n_ticks - 1)
    figure.add_scatter(**lines([position, position], [0, 1], colour, 3), hoverinfo="skip")
    figure.add_scatter(
        **dots([position], [1.28 if is_model else -0.28], colour, 10, "triangle-down" if is_model else "triangle-up"),
        hoverinfo="skip",
    )
    figure.add_annotation(
        **note(f"{word} <b>{growth_label(growth)}</b>", colour, size=12),
        x=position,
        y=1.45 if is_model else -0.45,
        xanchor="left" if share < 0.2 else "right" if share > 0.8 else "center",
        yanchor="bottom" if is_model else "top",
    )
