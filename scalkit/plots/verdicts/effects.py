"""What each of several parameters contributes: shares of the value at the largest point, a bar for each function."""

from collections.abc import Sequence

import plotly.graph_objects as go

from scalkit.errors import DataError
from scalkit.judge import Validation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.style import PALETTE, axis_title, blank, look, safe
from scalkit.support.colours import light
from scalkit.support.text import as_percent, cut

_REST = "#c9ced4"
_LEAST_LABELLED = 0.09


def effects(result: Validation) -> go.Figure:
    """Return the effect of each parameter on each function of a validation over several parameters.

    Parameters
    ----------
    result : Validation

    Returns
    -------
    plotly.graph_objects.Figure
        One bar for each function and metric, divided by parameter; the grey rest is the value at the smallest point.

    Raises
    ------
    DataError
        If no verdict is one over several parameters.
    """
    verdicts = result.over_several
    if not verdicts:
        raise DataError("a picture of effects needs a verdict over several parameters, there is none; draw plots.scaling.")
    words = "; ".join(f"{v.function} {effect_words(v)}" for v in verdicts)
    figure = blank(96 + 34 * len(verdicts), f"Effect of each parameter at the largest point: {words}.")
    rows = verdicts[::-1]
    names = list(dict.fromkeys(name for v in rows for name in v.parameters))
    effects = [_effects(v) for v in rows]
    shown = [(name, [one.get(name, 0.0) for one in effects], PALETTE[k % 6]) for k, name in enumerate(names)]
    shown.append(("smallest point", [1 - sum(one.values()) for one in effects], _REST))
    for name, shares, colour in shown:
        figure.add_bar(
            **look("effect"),
            x=[max(share, 0.0) for share in shares],
            y=list(range(len(rows))),
            name=safe(name),
            text=[f"{safe(name)} {as_percent(share)}" if share >= _LEAST_LABELLED else "" for share in shares],
            textfont={"color": light("ink") if colour == _REST else light("paper"), "size": 12},
            marker={"color": colour, "line": {"color": light("paper"), "width": 1}},
            customdata=[safe(v.function) for v in rows],
            hovertemplate=f"%{{customdata}}<br>{safe(name)}: %{{x:.1%}}<extra></extra>",
        )
    ticks = [0, 0.25, 0.5, 0.75, 1]
    texts, title = [as_percent(tick) for tick in ticks], axis_title("share of the value at the largest point")
    figure.update_xaxes(range=[0, 1], tickvals=ticks, ticktext=texts, title=title, zeroline=False, fixedrange=True)
    figure.update_layout(margin={"r": 30}, legend={"traceorder": "normal"}, barmode="stack", bargap=0.25)
    labels = [_row(v, verdicts) for v in rows]
    figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, automargin=True, fixedrange=True)
    return figure


def effect_words(verdict: SeveralVerdict) -> str:
    """Return the effects in words: ``p 31 %, S 41 %``."""
    return ", ".join(f"{name} {as_percent(share)}" for name, share in _effects(verdict).items())


def _row(verdict: SeveralVerdict, verdicts: Sequence[SeveralVerdict]) -> str:
    name = cut(verdict.function, 24)
    is_twice = sum(v.function == verdict.function for v in verdicts) > 1
    return safe(f"{name} ({verdict.metric})" if is_twice else name)


def _effects(verdict: SeveralVerdict) -> dict[str, float]:
    """Return the share of the value at the largest point that is due to each parameter."""
    return {name: one.effect for name, one in verdict.along.items()}
