"""All guidelines at a glance: a map of guideline by size, a panel for each MPI library."""

import math
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import UsageError
from scalkit.guidelines import Assessment
from scalkit.guidelines.sentences import setting, shown_ratio, titled
from scalkit.plots.style import axis_title, blank, look, safe
from scalkit.support.arrays import Flags, Ints
from scalkit.support.markup import counted
from scalkit.support.text import cut

_ROW, _MOST_LETTERS = 21, 60
_BESIDE, _PANEL = 400, 150
"""Px that labels and the scale of colours take, and a panel needs: on a narrower page the map is scrolled."""
_MOST_COLUMNS = 7
_STEP = 8.0
"""Sizes are put together by powers of this where there are more than `_MOST_COLUMNS`: some six columns from 8 B to 1 MiB."""

_CANNOT_TELL, _HOLDS, _MOST = -1.0, 0.0, 3.0
_SCALE: Final = [
    [0, "#e6e8eb"], [0.12, "#e6e8eb"], [0.12, "#d3eae1"], [0.252, "#d3eae1"], [0.252, "#fbdcc7"], [0.5, "#f0a06c"],
    [1, "#a33c00"],
]  # fmt: skip


def guideline_map(found: Assessment) -> go.Figure:
    """Return where each guideline is violated: guidelines down, sizes across, the colour the largest ratio.

    Parameters
    ----------
    found : Assessment

    Returns
    -------
    plotly.graph_objects.Figure
        With a panel for each MPI library where there are several. A cell says how many of its tests are violated; all other
        parameters, such as the number of processes, are in it.
        Violations that do not decide count as cells that cannot tell. Cells without a test are empty.

    Raises
    ------
    UsageError
        If no guideline could be tested.
    """
    if not len(found):
        raise UsageError("no guideline could be tested, so there is no map; measure both sides of one.")
    rows = list(dict.fromkeys(found.which.tolist()))
    columns, names = _columns(found)
    panels = _panels(found)
    figure = blank(120 + _ROW * len(rows), _sentence(found, len(panels)))
    labels = [safe(cut(titled(found.guidelines[row]), _MOST_LETTERS)) for row in rows]
    gap = 0.02
    width = (1 - gap * (len(panels) - 1)) / len(panels)
    for place, (level, chosen) in enumerate(panels.items()):
        cells = [
            [_cell(found, np.flatnonzero(chosen & (found.which == row) & (columns == k))) for k in range(len(names))]
            for row in rows
        ]
        suffix = "" if place == 0 else str(place + 1)
        figure.add_heatmap(
            z=[[z for z, _, _ in line] for line in cells],
            text=[[text for _, text, _ in line] for line in cells],
            customdata=[[hover for _, _, hover in line] for line in cells],
            x=names,
            y=labels,
            xaxis=f"x{suffix}",
            yaxis="y",
            texttemplate="%{text}",
            textfont={"size": 10},
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            colorscale=_SCALE,
            zmin=_CANNOT_TELL,
            zmax=_MOST,
            xgap=1,
            ygap=1,
            showscale=place == 0,
            colorbar=look("violations"),
        )
        begin = place * (width + gap)
        title = " ".join([level] * bool(level) + ["(virtual time)"] * found.data.exact)
        axis = {
            "domain": [begin, begin + width],
            "anchor": "y",
            "type": "category",
            "side": "top",
            "tickangle": 0,
            "tickfont": {"size": 10},
            "title": axis_title(safe(title), 6),
        }
        figure.update_layout({f"xaxis{suffix}": axis})
    figure.update_yaxes(autorange="reversed", type="category", tickfont={"size": 11}, automargin=True, showgrid=False)
    figure.update_layout(margin={"l": 10, "r": 10, "t": 60, "b": 10}, showlegend=False)
    figure.update_layout(meta={**figure.layout.meta, "wide": _BESIDE + _PANEL * len(panels)})
    return figure


def _panels(found: Assessment) -> dict[str, Flags]:
    """Return the tests of each panel by its name."""
    if "library" not in found.data.parameters:
        return {"": np.ones(len(found), dtype=bool)}
    codes = found.codes[:, found.data.parameters.index("library")]
    return {str(found.data.level("library", code)): codes == code for code in sorted(set(codes.tolist()))}


def _columns(found: Assessment) -> tuple[Ints, list[str]]:
    """Return the column of each test, and the names of the columns: sizes, or powers of eight with a plus for what is larger."""
    if found.varied not in found.data.parameters:
        return np.zeros(len(found), dtype=np.int64), ["all"]
    codes = found.codes[:, found.data.parameters.index(found.varied)]
    levels = [found.data.level(found.varied, code) for code in codes.tolist()]
    kinds: list[Any] = sorted({one for one in levels if one is not None}, key=_order)
    if len(kinds) > _MOST_COLUMNS and all(isinstance(one, int | float) and one > 0 for one in kinds):
        levels = [None if one is None else _STEP ** math.floor(math.log(one, _STEP) + 1e-9) for one in levels]
        kinds = sorted({one for one in levels if one is not None})
        names = [f"{_size(one).replace(' ', '')}+" for one in kinds]
    else:
        names = [_size(one) if isinstance(one, int | float) else safe(str(one)) for one in kinds]
    if None in levels:
        kinds, names = [*kinds, None], [*names, "–"]
    return np.array([kinds.index(one) for one in levels], dtype=np.int64), names


def _order(level: Any) -> tuple[int, float, str]:
    return (0, float(level), "") if isinstance(level, int | float) else (1, 0.0, str(level))


def _size(size: float) -> str:
    for factor, prefix in ((2**20, "Mi"), (2**10, "Ki")):
        if size >= factor and size % factor == 0:
            return f"{size / factor:g} {prefix}"
    return f"{size:g}"


def _cell(found: Assessment, tests: Ints) -> tuple[float | None, str, str]:
    """Return the colour, the text and the words of a cell."""
    if not len(tests):
        return None, "", ""
    states, decides = found.columns["state"][tests], np.asarray(found.columns["decides"][tests], dtype=bool)
    violated = states == "violated"
    sure = violated & decides
    title = safe(titled(found.guidelines[int(found.which[tests[0]])]))
    if not violated.any():
        holds = bool(((states == "compliant") & decides).any())
        words = "holds" if holds else "cannot tell"
        return _HOLDS - 0.25 if holds else _CANNOT_TELL, "", f"{title}<br>{words}: {counted(len(tests), 'test')}"
    chosen = tests[sure] if sure.any() else tests[violated]
    size = np.abs(np.log2(found.columns["effect"][chosen]))
    worst = int(chosen[int(np.argmax(size))])
    ratio = shown_ratio(float(found.columns["effect"][worst]))
    words = f"{int(sure.sum())} of {counted(len(tests), 'test')} violated"
    if (more := int((violated & ~decides).sum())) > 0:
        words += f", {more} more that {'does' if more == 1 else 'do'} not decide"
    hover = f"{title}<br>{words}<br>largest: {ratio} times at {safe(setting(found, worst))}"
    if not sure.any():
        return _CANNOT_TELL, f"({int(violated.sum())})", hover
    return float(min(max(size.max(), 0.02), _MOST)), f"{int(sure.sum())}/{len(tests)}", hover


def _sentence(found: Assessment, panels: int) -> str:
    """Return the map in words."""
    violated = (found.columns["state"] == "violated") & np.asarray(found.columns["decides"], dtype=bool)
    worst = list(dict.fromkeys(titled(found.guidelines[i]) for i in found.which[violated].tolist()))
    said = f"{int(violated.sum())} of {counted(len(found), 'test')} violated"
    clock = " in virtual time" if found.data.exact else ""
    where = f", in {counted(panels, 'panel')}" if panels > 1 else ""
    return f"Guidelines by {found.varied}{clock}{where}: {said}{': ' + '; '.join(worst[:6]) if worst else ''}."
