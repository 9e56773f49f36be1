"""Suites of a store in one joint plot, and its export as SVG, PDF or CSV."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from scalkit.errors import DataError, ReportError, UsageError
from scalkit.plots.drawing import SYMBOLS, Drawing, linked_dots, spread
from scalkit.plots.style import METRIC_WORDS, PALETTE, is_log_axis, number, quantity, safe, value_axis, x_axis
from scalkit.store.views.comparison import Comparison
from scalkit.store.views.curves import Curve
from scalkit.support.clocks import TIMES
from scalkit.support.extras import require

_PATIENCE_S, _TRIES = 60, 2
_DRAW = """
import sys
import plotly.io
try:
    figure = plotly.io.from_json(sys.stdin.read())
    image = plotly.io.to_image(figure, format=sys.argv[1], width=int(sys.argv[2]), height=float(sys.argv[3]))
except Exception as error:  # kaleido raises what its browser happens to
    sys.exit((str(error).strip().splitlines() or [type(error).__name__])[0])
sys.stdout.buffer.write(image)
"""


_WORDS = {"root": " of root alone", "processes": " of each process"}
"""Whose times they are, where they are not those of all processes together."""


FORMATS = ("svg", "pdf", "csv")
"""Formats in which a joint plot can be saved."""

_DASHES = ("solid", "dash", "dashdot", "dot")
_MOST_NAMED = 16
_WIDTH = 900


def joint(comparison: Comparison) -> go.Figure:
    """Return all curves of a comparison as one plotly figure.

    `comparison`: as ``store.compare([...])`` returns it; a single choice is enough.
    Returns: colour, symbol and dash tell the curves apart. Symbols are the medians over the runs, hollow where there were
    more processes than cores or values are simulated; bars reach from the smallest to the largest run.
    Raises DataError if there is no curve.
    """
    curves = comparison.curves
    if not curves:
        raise DataError("a joint plot needs a curve, got none.")
    low = min(float(np.nanmin(curve.spread[0])) for curve in curves)
    high = max(float(np.nanmax(curve.spread[1])) for curve in curves)
    named = len(curves) <= _MOST_NAMED
    drawing = Drawing(380 + (20 * len(curves) if named else 0), _alt(comparison))
    for place, curve in enumerate(curves):
        _add(drawing, curve, place, show_name=named)
    first = curves[0]
    drawing.update_xaxes(parameter_axis(np.unique(np.concatenate([one.x for one in curves])).astype(float), first.x_name))
    drawing.update_yaxes(value_axis(low, high, first.unit, _title(comparison)))
    figure = drawing.figure()
    figure.update_layout(legend={"orientation": "v", "y": -0.2, "yanchor": "top"}, showlegend=named)
    return figure


def _title(comparison: Comparison) -> str:
    """Return the subject of the plot and its numbers of processes in words."""
    metric = comparison.curves[0].metric
    return safe(METRIC_WORDS.get(metric, metric)) + _WORDS.get(comparison.statistic, "")


def parameter_axis(x: Any, name: str) -> dict[str, Any]:
    """Return the axis of the processes, of the message size or of a parameter; a size of nothing stands at 1 on a log axis."""
    if name == "process":  # ranks, of which there is no factor between two
        return x_axis(x, float(x.min()), float(x.max()), name) | {"type": "linear"}
    if name != "msg_By":
        return x_axis(x, float(x.min()), float(x.max()), name)
    moved = np.maximum(x, 1.0) if is_log_axis(np.maximum(x, 1.0)) else x
    return size_axis(x_axis(moved, float(moved.min()), float(moved.max()), name), "message size")


def size_axis(axis: dict[str, Any], title: str) -> dict[str, Any]:
    """Return an axis whose ticks are sizes in bytes."""
    ticks = [float(tick) for tick in axis["tickvals"]]
    return axis | {"title": {**axis["title"], "text": title}, "ticktext": [_size(tick) for tick in ticks]}


def _size(size: float) -> str:
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= step and size % step == 0:
            return f"{size / step:g} {unit}"
    return f"{number(size)} B"


def _add(drawing: Drawing, curve: Curve, place: int, *, show_name: bool) -> None:
    colour, symbol = PALETTE[place % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)]
    y = curve.y
    low, high = curve.spread
    is_hollow = curve.clock == "simulated" or curve.oversubscribed
    x = np.maximum(curve.x, 1) if curve.x_name == "msg_By" else curve.x
    symbol = f"{symbol}-open" if is_hollow else symbol
    dash = _DASHES[(place // len(PALETTE)) % len(_DASHES)]
    drawing.add_scatter(
        **linked_dots(x, y, colour, 1.8, 7, dash=dash, symbol=symbol, rim=1.4),
        name=safe(_named(curve)),
        showlegend=show_name,
        text=[quantity(float(value), curve.unit) for value in y],
        hovertemplate=f"<b>{safe(curve.label)}</b><br>{safe(curve.x_name)} = %{{x}}: %{{text}}<extra></extra>",
        error_y=spread(y - low, high - y, colour, thickness=1, width=3),
    )


def _named(curve: Curve) -> str:
    """Return the label with what must be known of the values."""
    marks = [] if curve.clock == "real" else [TIMES[curve.clock]]
    marks += ["more processes than cores"] * curve.oversubscribed
    marks = [mark for mark in marks if mark not in curve.label]
    fixed = f", {curve.fixed}" if curve.fixed and curve.fixed not in curve.label.split(", ") else ""
    return f"{curve.label}{fixed}{' (' + ', '.join(marks) + ')' if marks else ''}"


def _alt(comparison: Comparison) -> str:
    x_name = comparison.curves[0].x_name
    over = "message size" if x_name == "msg_By" else x_name
    named = [_named(curve) for curve in comparison.curves]
    some = "; ".join(named[:_MOST_NAMED]) + (f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else "")
    return f"{_title(comparison)} over {over}, a line each: {some}."


def save(comparison: Comparison, path: str | os.PathLike[str]) -> Path:
    """Write the joint plot into a file whose suffix says the format, and return its path.

    CSV has the values; the others need Chromium.
    Raises UsageError if the format is unknown; ReportError if Chromium is missing or fails, or the file cannot be written.
    """
    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise UsageError(f"a joint plot cannot be saved as {kind!r:.20}; choose from {', '.join(FORMATS)}.")
    if kind == "csv":
        content = comparison.to_csv().encode()
    else:
        content = _image(joint(comparison).update_layout(title=None, margin={"l": 80, "r": 20, "t": 20, "b": 60}), kind)
    try:
        target.write_bytes(content)
    except OSError as error:
        raise ReportError(f"cannot write {str(target)!r}: {error.strerror or error}; name another file.") from error
    return target


def _image(figure: go.Figure, kind: str) -> bytes:
    """Return a figure as Chromium draws it, by way of kaleido in a process of its own: it waits for ever where Chromium ends."""
    require("pdf")
    browser = os.environ.get("BROWSER_PATH") or os.environ.get("SCALKIT_CHROMIUM")
    environment = os.environ | ({"BROWSER_PATH": browser} if browser else {})
    words = [sys.executable, "-c", _DRAW, kind, str(_WIDTH), str(figure.layout.height)]
    why = ""
    for _ in range(_TRIES):
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True
        ) as drawing:
            try:
                image, said = drawing.communicate(figure.to_json().encode(), timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(drawing.pid, signal.SIGKILL)  # the browser ends with its pipe
                drawing.communicate()
                why = f"Chromium did not answer within {_PATIENCE_S} s"
                continue
        if drawing.returncode == 0:
            return image
        why = (said.decode(errors="replace").strip().splitlines() or ["kaleido failed"])[-1][:160]
        break
    raise ReportError(f"cannot draw the plot as {kind}: {why}; install chromium, or name it in SCALKIT_CHROMIUM, or save CSV.")
