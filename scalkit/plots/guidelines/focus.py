"""One test in focus: how the repetitions of both sides were distributed within each run."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from scalkit.guidelines import Assessment
from scalkit.guidelines.distributions import repetitions
from scalkit.guidelines.sentences import setting
from scalkit.plots.guidelines.sides import LEFT, RIGHT, group_of, group_words, sides_of
from scalkit.plots.style import QUIET, blank, rounded, safe, value_axis
from scalkit.stats.samples import Floats

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
        numbers = np.array([_five(side[k] / unit) for k in kept]).reshape(-1, 5)
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
        type="category",
        categoryorder="array",
        categoryarray=labels,
        tickvals=labels[::every],
        ticktext=labels[::every],
        title={"text": "run", "standoff": 8, "font": {"size": 12}},
        linecolor=QUIET,
        showline=True,
        showgrid=False,
    )
    figure.update_yaxes(value_axis(min(ends), max(ends), "", "time over the left side's median"))
    return figure


def _five(values: Floats) -> Floats:
    return np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
