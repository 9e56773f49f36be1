"""Waits over process counts as pictures: strong scaling of a program and of its analysis, what the time goes to, who waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go

from scalkit.plots.drawing import linked_dots
from scalkit.plots.style import QUIET, blank, number, quantity, rounded, value_axis, x_axis
from scalkit.support.colours import light
from scalkit.support.text import as_percent
from scalkit.trace.results.over_processes import KINDS, Breakdown

_APPLICATION, _ANALYSIS = map(light, ("model", "expected"))
_WAITING: Final = light("trouble")
_KIND_COLOURS: Final = dict(zip(KINDS, ("#d9dee3", *map(light, ("slower", "cannot-tell", "expected", "quiet"))), strict=True))


@dataclass(frozen=True)
class WaitingRun:
    """A run on one number of processes.

    `analysis_s` in s: what the analysis on one process took; NaN where it was not timed.
    """

    processes: int
    parts: Breakdown
    analysis_s: float = float("nan")
    simulated: bool = False


def scaling_of_program(runs: Sequence[WaitingRun]) -> go.Figure:
    """Return the time of the program and of the analysis over the processes, with the line of ideal scaling."""
    p, wall = _processes(runs), np.array([run.parts.wall for run in runs])
    analysis = np.array([run.analysis_s for run in runs])
    word = _word(runs)
    first, last = quantity(wall[0], "s"), quantity(wall[-1], "s")
    alt = f"Time of the program{word} from {first} on {p[0]:g} to {last} on {p[-1]:g} processes"
    alt += f"; analysis from {quantity(analysis[0], 's')} to {quantity(analysis[-1], 's')}." if _all(analysis) else "."
    figure = blank(360, alt)
    ideal = wall[0] * p[0] / p
    figure.add_scatter(x=rounded(p), y=rounded(ideal), mode="lines", name="ideal", line={"color": QUIET, "dash": "dash"},
                       hoverinfo="skip")  # fmt: skip
    _line(figure, p, wall, "program" + word.rstrip(","), _APPLICATION, "circle", "s")
    _line(figure, p, analysis, "analysis, measured", _ANALYSIS, "diamond", "s")
    seen = np.concatenate([wall, ideal, analysis])
    return _finished(figure, p, seen, "s", "time")


def analysis_speed(runs: Sequence[WaitingRun]) -> go.Figure:
    """Return the number of one-sided operations over the processes, and how many of them the analysis treats in a second."""
    p, operations = _processes(runs), np.array([float(run.parts.operations.sum()) for run in runs])
    speed = operations / np.array([run.analysis_s for run in runs])
    alt = f"One-sided operations in the trace, from {operations[0]:g} on {p[0]:g} to {operations[-1]:g} on {p[-1]:g} processes"
    alt += f"; the analysis treats up to {np.nanmax(speed):.3g} in a second." if _all(speed) else "."
    figure = blank(360, alt)
    figure.add_bar(x=rounded(p), y=rounded(operations), name="operations in the trace", marker={"color": light("slower")},
                   width=(0.28 * p).tolist(), hovertemplate="%{x} processes: %{y}<extra>operations</extra>")  # fmt: skip
    _line(figure, p, speed, "analysed in a second", _ANALYSIS, "diamond", "")
    return _finished(figure, p, np.concatenate([operations, speed]), "", "operations")


def parts_of_time(runs: Sequence[WaitingRun]) -> go.Figure:
    """Return what the time of all processes goes to, in percent over the processes; waiting for progress apart."""
    p = _processes(runs)
    last = runs[-1]
    whole = float(last.parts.total.sum()) or 1.0
    shares = {kind: 100 * float(last.parts.kinds[kind].sum()) / whole for kind in KINDS}
    told = ", ".join(f"{kind} {share:.0f} %" for kind, share in shares.items() if share >= 0.5)
    alt = f"What the time{_word(runs)} goes to; on {last.processes} processes {told}, of which waiting for progress "
    figure = blank(360, f"{alt}{as_percent(last.parts.share, '.1f')} of all.")
    names = [f"{count:g}" for count in p]
    for kind in KINDS:
        values = np.array([_part(run, kind) for run in runs])
        if values.any():
            _bar(figure, names, values, kind if kind != "one-sided" else "one-sided, the rest", _KIND_COLOURS[kind])
        if kind == "one-sided":
            waits = np.array([100 * run.parts.share for run in runs])
            _bar(figure, names, np.nan_to_num(waits), "waiting for progress", _WAITING)
    figure.update_layout(barmode="stack", bargap=0.35)
    figure.update_xaxes(type="category", title={"text": "processes p", "font": {"size": 12}}, linecolor=QUIET, showline=True)
    figure.update_yaxes(value_axis(0, 100, "", "% of the time of all processes"), range=[0, 100])
    return figure


def waiting_over_processes(runs: Sequence[WaitingRun]) -> go.Figure:
    """Return time in one-sided calls against waiting for progress of a process: boxes over the processes of each run."""
    p = _processes(runs)
    calls = [run.parts.kinds["one-sided"] for run in runs]
    waits = [run.parts.waiting for run in runs]
    bound = np.array([float(np.mean(run.parts.bound)) for run in runs])
    means = [quantity(float(np.mean(one)), "s") for one in (calls[-1], waits[-1])]
    alt = f"On {p[-1]:g} processes a process spends{_word(runs)} {means[0]} in one-sided calls, of which {means[1]} waiting for "
    figure = blank(380, f"{alt}progress; in {quantity(float(bound[-1]), 's')} no target was in a call.")
    for side, values, name, colour in (
        (-1, calls, "in one-sided calls", light("model")),
        (1, waits, "waiting for progress", _WAITING),
    ):
        x = 1.07**side * p
        for k, one in enumerate(values):
            figure.add_box(
                x=[float(x[k])],
                **{
                    key: [float(v)] for key, v in zip(("lowerfence", "q1", "median", "q3", "upperfence"), _five(one), strict=True)
                },
                width=0.045,
                marker={"color": colour},
                line={"width": 1.5},
                showlegend=False,
                name=f"{name}, {p[k]:g} processes",
                hoverinfo="y",
            )
        _line(figure, x, np.array([np.mean(one) for one in values]), f"{name}, mean", colour, "circle", "s")
    figure.add_scatter(x=rounded(1.07 * p), y=rounded(bound), mode="lines", name="no target in a call, mean",
                       line={"color": _WAITING, "dash": "dot"}, hoverinfo="skip")  # fmt: skip
    seen = np.concatenate([*calls, *waits, bound])
    low = float(np.min(seen[seen > 0], initial=np.inf))
    return _finished(figure, p, np.maximum(seen, low if np.isfinite(low) else 0), "s", "time of a process")


def _five(values: np.ndarray) -> list[float]:
    """Return least, quartiles and largest; on a log axis nothing is drawn at 0."""
    found = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    positive = values[values > 0]
    return [float(v) for v in np.maximum(found, positive.min() if len(positive) else 0)]


def _part(run: WaitingRun, kind: str) -> float:
    """Return the percent of the time in a kind of call, without waiting for progress."""
    whole = float(run.parts.total.sum()) or 1.0
    found = 100 * float(run.parts.kinds[kind].sum()) / whole
    waits = 100 * run.parts.share if kind == "one-sided" and np.isfinite(run.parts.share) else 0.0
    return max(found - waits, 0.0)


def _bar(figure: go.Figure, x: list[str], y: np.ndarray, name: str, colour: str) -> None:
    figure.add_bar(x=x, y=rounded(y), name=name, marker={"color": colour, "line": {"color": light("paper"), "width": 0.5}},
                   hovertemplate=f"%{{x}} processes: %{{y:.1f}} %<extra>{name}</extra>")  # fmt: skip


def _line(figure: go.Figure, x: np.ndarray, y: np.ndarray, name: str, colour: str, symbol: str, unit: str) -> None:
    if not np.isfinite(y).any():
        return
    texts = [quantity(float(v), unit) if unit else number(float(v)) for v in y]
    figure.add_scatter(
        **linked_dots(x, y, colour, 1.8, 8, symbol=symbol), name=name, text=texts, hovertemplate=f"%{{text}}<extra>{name}</extra>"
    )


def _finished(figure: go.Figure, p: np.ndarray, seen: np.ndarray, unit: str, title: str) -> go.Figure:
    good = seen[np.isfinite(seen) & (seen > 0)]
    low, high = (float(good.min()), float(good.max())) if len(good) else (0.0, 1.0)
    figure.update_xaxes(x_axis(p, float(p.min()) / 1.2, 1.2 * float(p.max()), "p"))
    figure.update_yaxes(value_axis(low, high, unit, title))
    return figure


def _processes(runs: Sequence[WaitingRun]) -> np.ndarray:
    return np.array([float(run.processes) for run in runs])


def _all(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).any())


def _word(runs: Sequence[WaitingRun]) -> str:
    return ", simulated," if all(run.simulated for run in runs) else ""
