"""Performance models along the message size or the number of processes: lines and bands under what was measured."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import UsageError
from scalkit.perfmodels import Cells
from scalkit.perfmodels.formulas.quantities import format_value, values_in
from scalkit.perfmodels.models.model import PerformanceModel, require_model
from scalkit.plots.drawing import SILENT, Drawing, band, dots, lines, spread
from scalkit.plots.style import DATA, PALETTE, SHADES, number, quantity, rounded, safe, shade_of, value_axis, x_axis
from scalkit.support.arguments import each_of, require_kind, require_text
from scalkit.support.arrays import Floats

_TITLES = {"S": "message size S", "P": "processes P", "R": "queued receives R"}
_UNITS = {"S": "B", "P": "processes", "R": "requests"}
_MOST_TICKS = 9


def in_words(name: str, value: float) -> str:
    """Return a parameter at a value, as in ``S = 64 KiB``."""
    unit = _UNITS.get(name, "1")
    return f"{name} = {format_value(value, unit) if unit != 'B' or value >= 1024 else quantity(value, 'B')}"


def model_axis(name: str, values: Floats) -> dict[str, Any]:
    """Return the axis of a parameter, with ticks at some of its values, sizes in KiB and MiB."""
    shown = np.unique(values)
    axis = x_axis(shown, float(shown[0]), float(shown[-1]), name)
    axis["title"] = {**axis["title"], "text": _TITLES.get(name, name)}
    ticks = shown if len(shown) <= _MOST_TICKS else _powers(float(shown[0]), float(shown[-1]))
    if not len(ticks):
        ticks = shown[:: -(-len(shown) // _MOST_TICKS)]
    if name != "S":
        axis |= {"tickvals": rounded(ticks), "ticktext": [number(one) for one in ticks]}
    else:
        axis |= {"tickvals": rounded(ticks), "ticktext": [in_words("S", float(one)).removeprefix("S = ") for one in ticks]}
    return axis


def _powers(low: float, high: float) -> Floats:
    """Return powers of two between two ends, every one, every second, and so on."""
    if low < 0 or high < 8 * max(low, 1.0):
        return np.empty(0)
    first, last = math.ceil(math.log2(max(low, 1.0))), math.floor(math.log2(high))
    return np.asarray(2.0 ** np.arange(first, last + 1, -(-(last - first + 1) // _MOST_TICKS)))


def places(low: float, high: float, *, whole: bool, points: int = 121) -> Floats:
    """Return values from `low` to `high`, on a logarithmic scale where it is wide; whole numbers where asked."""
    spaced = np.geomspace(low, high, points) if low > 0 and high >= 8 * low else np.linspace(low, high, points)
    return np.unique(np.round(spaced)) if whole else np.unique(np.concatenate([[low], spaced, [high]]))


_MOST_MODELS, _MOST_LINES = 7, 7
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
_COUNTED = ("P", "R")


def model(
    models: PerformanceModel | Mapping[str, PerformanceModel],
    measured: Cells | None = None,
    *,
    along: str = "S",
    at: Mapping[str, float | Sequence[float]] | None = None,
    between: tuple[float | str, float | str] | None = None,
) -> go.Figure:
    """Return models as lines, or as bands where they have bounds, under measured times.

    Parameters
    ----------
    models : PerformanceModel, or mapping from label to PerformanceModel
        One model at up to seven values of the other parameter, or up to seven models at one.
    measured : Cells, optional
        Times to compare with; those at the values of `at` are drawn.
    along : str
        Parameter of the x axis: ``"S"``, ``"P"``, or another one of the models.
    at : mapping from parameter to value or values, optional
        The other parameters; by default those of `measured`.
    between : pair of quantities, optional
        Ends of the x axis, such as ``(1, "1 MiB")``; by default those of `measured`.

    Returns
    -------
    plotly.graph_objects.Figure
        Logarithmic axes. Outside of the valid range of a model its line is missing. Points are medians, their bars go from the
        least to the largest replicate.

    Raises
    ------
    UsageError
        If a value is missing, several vary at once, or nothing of the models lies between the ends.
    """
    require_kind(models, PerformanceModel | Mapping, "the models", "give one, or a dict of them")
    table = {models.name: models} if isinstance(models, PerformanceModel) else dict(models)
    for one in table.values():
        require_model(one, "a model")
    _require_few(table)
    require_kind(measured, Cells | None, "the measured times", "make cells with cells_of(data, 'MPI_Bcast')")
    require_kind(at, Mapping | None, "at", "give a mapping such as {'P': 16}")
    require_text(along, "along")
    name, others = _fixed(table, measured, along, at or {})
    x = _range(along, measured, between)
    unit = next(iter(table.values())).unit
    figure = Drawing(360, _sentence(table, measured, along, name, others))
    seen: list[Floats] = []
    for m, (label, one) in enumerate(table.items()):
        for k, other in enumerate(others):
            if name:
                look = {"color": shade_of(k, len(others)), "dash": "solid"}
            else:
                look = {"color": PALETTE[m % len(PALETTE)] if len(table) > 1 else SHADES[1], "dash": _DASHES[m]}
            values = {key: x if key == along else np.full_like(x, other[key]) for key in one.parameters}
            ends = one.bounds(outside="nan", **values)
            low, high = (np.broadcast_to(end, x.shape) for end in ends)
            _add_line(figure, x, low, high, in_words(name, other[name]) if name else label, look, along, unit)
            seen += [low, high]
    if measured is not None:
        for k, other in enumerate(others):
            seen.append(_add_points(figure, measured, along, other, shade_of(k, len(others)) if name else ""))
    known = np.concatenate(seen)
    known = known[np.isfinite(known)]
    if not len(known):
        raise UsageError(f"none of {', '.join(table)} has a value from {along} = {x[0]:g} to {x[-1]:g}; see their valid ranges.")
    figure.update_xaxes(model_axis(along, x if measured is None else _own(measured, along)))
    word = measured.title if measured is not None else "run time"
    figure.update_yaxes(value_axis(float(known[known > 0].min(initial=np.inf)), float(known.max()), unit, word))
    return figure.figure()


def _require_few(table: Mapping[str, PerformanceModel]) -> None:
    if not 1 <= len(table) <= _MOST_MODELS:
        raise UsageError(f"{len(table)} models are no picture; give 1 to {_MOST_MODELS}.")
    if len({one.unit for one in table.values()}) > 1:
        raise UsageError(f"the models are in {' and '.join(sorted({m.unit for m in table.values()}))}; draw one unit.")


def _own(cells: Cells, along: str) -> Floats:
    return cells.sizes if along == "S" else cells.processes


def _fixed(
    table: Mapping[str, PerformanceModel], measured: Cells | None, along: str, at: Mapping[str, float | Sequence[float]]
) -> tuple[str, list[dict[str, float]]]:
    """Return the parameter that varies from line to line, empty if none does, and the other parameters of each line."""
    needed = sorted({name for one in table.values() for name in one.parameters} - {along})
    given = {name: np.atleast_1d(np.asarray(at[name], dtype=float)) for name in at}
    if measured is not None:
        usual = {"P": measured.processes, "S": measured.sizes}
        for name in {"P", "S"} - {along} - set(given):
            found = usual[name]
            step = np.linspace(0, len(found) - 1, min(len(found), 1 if len(table) > 1 else 5)).round().astype(int)
            given[name] = found[step] if len(table) == 1 else found[-1:]
    if missing := [name for name in needed if name not in given]:
        raise UsageError(f"say at which {missing[0]} the models are to be drawn, as in at={{{missing[0]!r}: 16}}.")
    varying = [name for name, values in given.items() if len(values) > 1]
    if len(varying) > 1 or (varying and len(table) > 1):
        raise UsageError(
            f"{' and '.join(varying) or 'values'} vary beside {len(table)} models; let one thing vary from line to line."
        )
    name = varying[0] if varying else ""
    count = len(given[name]) if name else 1
    if count > _MOST_LINES:
        raise UsageError(f"{count} values of {name} are too many lines; give up to {_MOST_LINES}.")
    return name, [
        {key: float(values[k if key == name else 0]) for key, values in given.items() if key != along} for k in range(count)
    ]


def _range(along: str, measured: Cells | None, between: tuple[float | str, float | str] | None) -> Floats:
    if between is None and measured is None:
        raise UsageError(f"say from where to where {along} is to go, as in between=(8, 65536).")
    if between is None:
        assert measured is not None
        low, high = float(_own(measured, along).min()), float(_own(measured, along).max())
    else:
        ends = each_of(between, object, "between", "give two numbers", 2)
        low, high = (float(values_in(end, along)) for end in ends)
    if not 0 <= low < high:
        raise UsageError(f"between is ({low:g}, {high:g}); give two rising numbers that are not negative.")
    found = places(low, high, whole=along in _COUNTED)
    return found if measured is None else np.unique(np.concatenate([found, _own(measured, along)]))


def _add_line(
    figure: Drawing, x: Floats, low: Floats, high: Floats, label: str, look: Mapping[str, str], along: str, unit: str
) -> None:
    """Add a model as a line, between its bounds where it has two."""
    keep = np.isfinite(low) & np.isfinite(high)
    if (low[keep] != high[keep]).any():
        red, green, blue = (int(look["color"][i : i + 2], 16) for i in (1, 3, 5))
        figure.add_scatter(**band(x[keep], low[keep], high[keep], f"rgba({red},{green},{blue},0.14)"), **SILENT)
    middle = np.sqrt(low * high)
    figure.add_scatter(
        **lines(x, middle, look["color"], 2, look["dash"]),
        text=[
            f"{in_words(along, float(at))}: {quantity(m, unit)}"
            + ("" if least == most else f" ({quantity(least, unit)} to {quantity(most, unit)})")
            for at, least, most, m in zip(x, low, high, middle, strict=True)
        ],
        hovertemplate=f"<b>{safe(label)}</b><br>%{{text}}<extra></extra>",
        name=safe(label),
    )


def _add_points(figure: Drawing, cells: Cells, along: str, other: Mapping[str, float], colour: str) -> Floats:
    """Add what was measured where the other parameters have these values; return the medians."""
    mine = np.ones(len(cells), dtype=bool)
    for key, values in cells.at.items():
        if key != along and key in other:
            mine &= values == other[key]
    rows = np.flatnonzero(mine)
    x = cells.S if along == "S" else cells.P
    rows = rows[np.argsort(x[rows])]
    where, times, middle = x[rows], cells.times[rows], cells.time[rows]
    figure.add_scatter(
        **dots(where, middle, colour or DATA, 8, rim=1, rim_colour="#ffffff"),
        text=[f"{in_words(along, float(at))}: {quantity(float(time), 's')}" for at, time in zip(where, middle, strict=True)],
        hovertemplate=f"{cells.origin}, %{{text}}<extra></extra>",
        name=cells.origin,
        showlegend=not colour,
        error_y=spread(middle - np.nanmin(times, axis=1), np.nanmax(times, axis=1) - middle, colour or DATA),
    )
    return middle


def _sentence(
    table: Mapping[str, PerformanceModel], measured: Cells | None, along: str, name: str, others: Sequence[Mapping[str, float]]
) -> str:
    what = "Times of " + (f"{measured.function}, {measured.origin}, and " if measured else "")
    if name:
        where = f" at {', '.join(in_words(name, one[name]) for one in others)}"
    else:
        where = f" at {', '.join(in_words(key, value) for key, value in others[0].items())}" if others[0] else ""
    return f"{what}{'the model ' if len(table) == 1 else 'the models '}{', '.join(table)} along {along}{where}."
