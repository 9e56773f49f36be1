"""All functions in one picture: how many times more than expected each grows on the way to a larger scale."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.plots.marks import SILENT, area, dots, lines
from scalkit.plots.style import (
    BAND,
    EXPECTED,
    RANK_COLOURS,
    RANK_MARKS,
    RANK_WORDS,
    blank,
    growth_label,
    number,
    rank_key,
    rounded,
    safe,
    value_axis,
    without_variants,
)
from scalkit.plots.verdicts.sentences import overview_sentence
from scalkit.validation import Validation, Verdict


def divergence(result: Validation, target: float | None = None) -> go.Figure:
    """Return, for each function, by which factor it grows beyond its expectation from the measured scale to `target`.

    Parameters
    ----------
    result : Validation
    target : float, optional
        Value of the parameter to look ahead to; by default 1024 times the largest measured one.

    Returns
    -------
    plotly.graph_objects.Figure
        One bar for each function (variants ``f[...]`` left out) from 1, as expected, to
        ``delta(target) / delta(largest measured)``: coefficients cancel. A shaded box is the factor that the deviation
        limits allow; colour, mark and word tell the rank; hollow symbols do not decide.

    Raises
    ------
    DataError
        If there is no verdict.
    """
    if not result.verdicts:
        raise DataError("a picture of the divergences needs a verdict, got none; state an expectation for a function.")
    verdicts = list(without_variants(result.along_one))[::-1]
    highest = max(float(np.max(v.series.x)) for v in verdicts)
    goal = 1024.0 * highest if target is None else float(target)
    names = [safe(_short(v.function)) for v in verdicts]
    figure = blank(96 + 30 * len(verdicts), overview_sentence(verdicts[::-1]))
    allowed = [_factor(v.expectation.deviation, v, goal) for v in verdicts]
    factors = [_factor(v.divergence, v, goal) for v in verdicts]
    for k, factor in enumerate(allowed):
        figure.add_shape(**area(BAND), x0=1 / factor, x1=factor, y0=k - 0.36, y1=k + 0.36)
    for key in RANK_COLOURS:
        _add_rank(figure, key, [(k, v, factors[k]) for k, v in enumerate(verdicts)])
    seen = [1.0, *allowed, *(1 / a for a in allowed), *factors]
    axis = value_axis(
        min(seen), max(seen), "", f"times the expected growth<br>from {number(highest)} to {number(goal)}"
    )
    figure.update_xaxes(axis)
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[-0.6, len(names) - 0.4], showgrid=False
    )
    figure.update_yaxes(automargin=True, fixedrange=True, zeroline=False)
    figure.add_vline(x=1, line={"color": EXPECTED, "width": 1.8, "dash": "dot"})
    return figure


def _short(function: str, most: int = 24) -> str:
    return function if len(function) <= most else f"{function[: most - 1]}…"


def _factor(growth: Growth, verdict: Verdict, goal: float) -> float:
    ends = np.asarray([float(np.max(verdict.series.x)), goal], dtype=float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = np.asarray(growth.log2_value(ends), dtype=float) * np.ones(2)
    return float(np.exp2(np.clip(logs[1] - logs[0], -300.0, 300.0)))


def _add_rank(figure: go.Figure, key: str, rows: list[tuple[int, Verdict, float]]) -> None:
    mine = [row for row in rows if rank_key(row[1]) == key]
    if not mine:
        return
    colour = RANK_COLOURS[key]
    x: list[float | None] = []
    y: list[float | None] = []
    for k, _, factor in mine:
        x += [1.0, factor, None]
        y += [k, k, None]
    figure.add_scatter(**lines(x, y, colour, 5), legendgroup=key, **SILENT)
    figure.add_scatter(
        **dots(
            rounded([factor for _, _, factor in mine]),
            [k for k, _, _ in mine],
            colour,
            11,
            [_symbol(key) if v.decides else f"{_symbol(key)}-open" for _, v, _ in mine],
            rim=2,
        ),
        text=[f"<b>{safe(v.function)}</b><br>divergence {growth_label(v.divergence)}" for _, v, _ in mine],
        hovertemplate="%{text}<br>%{x:.3~g} times<extra></extra>",
        name=f"{RANK_MARKS[key]} {RANK_WORDS[key]}",
        legendgroup=key,
    )


def _symbol(key: str) -> str:
    return {"total": "circle", "approximate": "square", "none": "x", "slower": "triangle-left", "undecided": "diamond"}[
        key
    ]
