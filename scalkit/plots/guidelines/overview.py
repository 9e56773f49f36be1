"""A group of tests at a glance: what both sides took, and their ratio with its interval, along the varied parameter."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.guidelines import Assessment
from scalkit.guidelines.comparisons import repetitions
from scalkit.guidelines.sentences import setting, shown_ratio
from scalkit.plots.drawing import dots, linked_dots, spread
from scalkit.plots.guidelines.sides import LEFT, RIGHT, STATE_LOOKS, along, group_of, group_words, level_axis, sides_of
from scalkit.plots.style import BAND, EXPECTED, axis_title, blank, look, quantity, rounded, safe, value_axis

_CLOSE = 2.0


def guideline_overview(found: Assessment, test: int) -> go.Figure:
    """Return what both sides took at each value of the varied parameter: the medians of the medians of the runs.

    Parameters
    ----------
    found : Assessment
    test : int
        A row of `Assessment.to_frame`; all tests of its group are drawn.

    Returns
    -------
    plotly.graph_objects.Figure
        Two lines; a cross stands where the guideline is violated.

    Raises
    ------
    UsageError
        If there is no such test.

    References
    ----------
    F. D. Lübbe: *Micro-benchmarking MPI Neighborhood Collective Operations.* Euro-Par, 2017, figure 1a.
    """
    tests = group_of(found, test)
    levels = along(found, tests)
    axis, x = level_axis(levels, found.varied)
    sides = [np.nanmedian(side[tests], axis=1) for side in (found.left, found.right)]
    names, unit = sides_of(found, test), found.data.unit
    states = found.columns["state"][tests]
    broken = [str(level) for level, state in zip(levels, states, strict=True) if state == "violated"]
    at = f"violated at {found.varied} = {', '.join(broken)}" if broken else "violated nowhere"
    figure = blank(300, f"Times of both sides of {group_words(found, test)}: {at}.")
    for y, name, colour, symbol, dash in (
        (sides[0], f"left: {names[0]}", LEFT, "circle", "solid"),
        (sides[1], f"right: {names[1]}", RIGHT, "square", "dash"),
    ):
        figure.add_scatter(
            **linked_dots(x, y, colour, 1.8, 7, dash=dash, symbol=symbol),
            name=name,
            customdata=[quantity(float(value), unit) if unit else f"{value:.4g}" for value in y],
            text=[safe(str(level)) for level in levels],
            hovertemplate=f"{safe(found.varied)} = %{{text}}: %{{customdata}}<extra></extra>",
        )
    _crosses(figure, x, sides[0], states == "violated")
    seen = np.concatenate(sides)
    figure.update_xaxes(axis)
    figure.update_yaxes(value_axis(float(np.nanmin(seen)), float(np.nanmax(seen)), unit, "time" if unit else "measured value"))
    return figure


def _crosses(figure: go.Figure, x: list[float], y: np.ndarray, chosen: np.ndarray) -> None:
    if not chosen.any():
        return
    symbol, colour, word = STATE_LOOKS["violated"]
    figure.add_scatter(
        **dots([at for at, here in zip(x, chosen, strict=True) if here], y[chosen], colour, 11, symbol, rim=1),
        name=word,
        hoverinfo="skip",
    )


def guideline_ratios(found: Assessment, test: int) -> go.Figure:
    """Return the ratio of the sides, left over right, with its interval, at each value of the varied parameter.

    Parameters
    ----------
    found : Assessment
    test : int
        A row of `Assessment.to_frame`; all tests of its group are drawn.

    Returns
    -------
    plotly.graph_objects.Figure
        Colour, symbol and word tell the state of each test. The shaded range is what counts as equal, up to the threshold.

    Raises
    ------
    UsageError
        If there is no such test.
    """
    tests = group_of(found, test)
    levels = along(found, tests)
    axis, x = level_axis(levels, found.varied)
    columns, v = found.columns, found.thresholds.v
    ratio, low, high = (np.asarray(columns[key][tests], dtype=float) for key in ("ratio", "ratio_low", "ratio_high"))
    ratio = np.where(np.isfinite(ratio), ratio, columns["effect"][tests])
    states = columns["state"][tests]
    words = "; ".join(f"{level} {shown_ratio(one)} {state}" for level, one, state in zip(levels, ratio, states, strict=True))
    figure = blank(300, f"Left over right of {group_words(found, test)}, by {found.varied}: {words}.")
    similar = found.guidelines[int(found.which[test])].relation == "~"
    figure.add_hrect(y0=1 / v if similar else 1e-9, y1=v, fillcolor=BAND, line={"width": 0}, layer="below")
    figure.add_hline(y=1, line={"color": EXPECTED, "width": 1.8, "dash": "dot"})
    figure.add_hline(y=v, line={"color": EXPECTED, "width": 1, "dash": "dash"})
    for state, (symbol, colour, word) in STATE_LOOKS.items():
        chosen = states == state
        if not chosen.any():
            continue
        up, down = (np.where(np.isfinite(side[chosen]), side[chosen], ratio[chosen]) for side in (high, low))
        figure.add_scatter(
            **dots([at for at, here in zip(x, chosen, strict=True) if here], ratio[chosen], colour, 7, symbol, rim=1.2),
            name=word,
            text=[safe(found.sentence(int(one))) for one in tests[chosen]],
            hovertemplate="%{text}<extra></extra>",
            error_y=spread(ratio[chosen] - down, up - ratio[chosen], colour, thickness=1.6),
        )
    ends = [value for value in (*ratio, *low, *high, v, 1 / v if similar else 1.0) if math.isfinite(value) and value > 0]
    figure.update_xaxes(axis)
    figure.update_yaxes(_ratio_axis(min(ends), max(ends)))
    return figure


def _ratio_axis(lowest: float, highest: float) -> dict[str, Any]:
    """Return a logarithmic axis that is as close around the ratios as they allow."""
    axis = value_axis(lowest, highest, "", "left over right")
    if highest / lowest >= _CLOSE:
        return axis
    pad = 0.12 * math.log10(highest / lowest)
    low, high = math.log10(lowest) - pad, math.log10(highest) + pad
    step = next(one for one in (0.01, 0.02, 0.05, 0.1, 0.2) if (10**high - 10**low) / one <= 8)
    first, last = math.ceil(10**low / step), math.floor(10**high / step)
    ticks = [round(k * step, 2) for k in range(first, last + 1)]
    return axis | {"range": [low, high], "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


_WIDEST = 24


def guideline_focus(found: Assessment, test: int) -> go.Figure:
    """Return box plots of both sides for each run, over the median of the left side's run medians.

    Parameters
    ----------
    found : Assessment
    test : int
        A row of `Assessment.to_frame`.

    Returns
    -------
    plotly.graph_objects.Figure
        A pair of boxes a run: quartiles and median of the repetitions, whiskers to the smallest and largest within Tukey's
        fence; outliers are left out. Dashed lines are the medians of the run medians.

    Raises
    ------
    UsageError
        If there is no such test.

    References
    ----------
    F. D. Lübbe: *Micro-benchmarking MPI Neighborhood Collective Operations.* Euro-Par, 2017, figure 1b.
    """
    group_of(found, test)
    sides = repetitions(found, test)
    unit = float(np.nanmedian(found.left[test]))
    runs = [k for k, pair in enumerate(zip(*sides, strict=True)) if any(len(one) for one in pair)]
    names = sides_of(found, test)
    at = setting(found, test, [n for n in found.data.parameters if n != found.varied])
    middle = [float(np.nanmedian(side[test])) / unit for side in (found.left, found.right)]
    figure = blank(
        320,
        f"{len(runs)} runs of {group_words(found, test)}{f', {at}' if at else ''}: in units of the left side's median the right "
        f"side's median is {middle[1]:.3g}.",
    )
    ends: list[float] = []
    for side, name, colour, place in zip(sides, names, (LEFT, RIGHT), ("left", "right"), strict=True):
        kept = [k for k in runs if len(side[k])]
        numbers = np.array([np.quantile(side[k] / unit, [0, 0.25, 0.5, 0.75, 1]) for k in kept]).reshape(-1, 5)
        ends += [float(numbers[:, 0].min()), float(numbers[:, 4].max())] if len(kept) else []
        figure.add_box(
            x=[safe(str(found.data.runs[k])) for k in kept],
            lowerfence=rounded(numbers[:, 0]),
            q1=rounded(numbers[:, 1]),
            median=rounded(numbers[:, 2]),
            q3=rounded(numbers[:, 3]),
            upperfence=rounded(numbers[:, 4]),
            name=f"{place}: {name}",
            line={"color": colour, "width": 1.3},
            fillcolor=f"{colour}44",
            offsetgroup=place,
            boxpoints=False,
        )
    for y, colour in zip(middle, (LEFT, RIGHT), strict=True):
        figure.add_hline(y=y, line={"color": colour, "width": 1.2, "dash": "dash"})
    every = max(1, -(-len(runs) // _WIDEST))
    labels = [safe(str(found.data.runs[k])) for k in runs]
    figure.update_layout(boxmode="group", boxgap=0.25, boxgroupgap=0.1)
    figure.update_xaxes(
        look("runs"), categoryarray=labels, tickvals=labels[::every], ticktext=labels[::every], title=axis_title("run")
    )
    figure.update_yaxes(value_axis(min(ends), max(ends), "", "time over the left side's median"))
    return figure
