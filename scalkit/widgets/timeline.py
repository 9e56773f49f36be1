"""A trace over time in a notebook: zoom, pan, hover; only what is in view travels to the page, as bytes."""

import html
import os
from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets as t

from scalkit.errors import UsageError
from scalkit.plots.style import quantity
from scalkit.plots.traces.timeline import WAITING, colours, said_of, timeline_svg
from scalkit.support.text import as_percent
from scalkit.trace.files.tables import OPERATIONS
from scalkit.trace.results.summary import TITLES
from scalkit.trace.views.timeline import Bars, Moment, Raster, Timeline
from scalkit.widgets.base.cells import CellWidget, Fallback
from scalkit.widgets.base.templates import source

_MOST_COLUMNS, _MOST_ROWS = 4096, 4096


class TimelineView(Fallback, CellWidget, anywidget.AnyWidget):
    """Shows what every process of a trace does when.

    Drag moves it, the wheel (with Ctrl, or after a click) and the keys W and S zoom, A and D move, arrows choose a process; what
    is under the pointer is said below, and stays there after a click. Shift and drag selects a span, whose sums are listed.
    Where few calls are in view they are drawn one by one, with arrows for transfers.

    Parameters
    ----------
    trace : Timeline or path
        Of a folder with a trace.
    keep_going : bool
        Leave out what is wrong with the trace.

    Attributes
    ----------
    timeline : Timeline
    window : list of two numbers, in ns
        Begin and end of what is in view, from the begin of the trace. May be set, or see `zoom`.
    group : list of two whole numbers
        First process in view, and how many. May be set.

    Raises
    ------
    DataError
        If there is no trace, or something is wrong with it.
    """

    _esm = source("base/kernel.js", "timeline_draw.js", "timeline_chosen.js", "timeline.js")
    _css = source("base/kernel.css", "base/part.css", "timeline.css")

    facts = t.Dict().tag(sync=True)
    window = t.List(t.Float(), minlen=2, maxlen=2).tag(sync=True)
    group = t.List(t.Int(), minlen=2, maxlen=2).tag(sync=True)

    def __init__(self, trace: Timeline | str | os.PathLike[str], *, keep_going: bool = False) -> None:
        timeline = trace if isinstance(trace, Timeline) else Timeline(trace, keep_going=keep_going)
        whole, everyone = [0.0, float(timeline.span)], [0, timeline.locations]
        super().__init__(facts=_facts(timeline), window=whole, group=everyone)
        self.timeline = timeline
        self.on_msg(self._asked)
        self._enter_cell()

    def zoom(self, begin_s: float, end_s: float) -> "TimelineView":
        """Show a stretch of time, in s from the begin of the trace; what is beyond the trace is cut off. Return the view.

        Raises UsageError if it is empty, or there is nothing of the trace in it.
        """
        span_s = 1e-9 * self.facts["span"]
        if not end_s > begin_s:
            raise UsageError(f"a window from {begin_s} to {end_s} s is empty; its end comes after its begin.")
        if end_s <= 0 or begin_s >= span_s:
            raise UsageError(f"a window from {begin_s} to {end_s} s lies beyond the trace, which lasts from 0 to {span_s:.6g} s.")
        self.window = [1e9 * max(begin_s, 0), 1e9 * min(end_s, span_s)]
        return self

    @t.validate("group")
    def _some_group(self, proposal: Any) -> list[int]:
        first, count = proposal["value"]
        n = self.facts["locations"]
        if not (0 <= first < n and 1 <= count <= n - first):
            raise UsageError(f"there are processes 0 to {n - 1}; got {count} from {first} on.")
        return [first, count]

    def _asked(self, _widget: object, content: object, _buffers: object) -> None:
        """Answer a request of the page; one that makes no sense is ignored."""
        if not isinstance(content, Mapping) or not isinstance(content.get("value"), Mapping):
            return
        answers = {"look": self._look, "point": self._point, "sum": self._sum}
        answer = answers.get(str(content.get("name")))
        try:
            if answer is not None:
                answer({str(key): int(value) for key, value in content["value"].items()})
        except (KeyError, ValueError, TypeError, OverflowError, UsageError):
            return

    def _look(self, asked: Mapping[str, int]) -> None:
        begin, end = asked["begin"], max(asked["end"], asked["begin"] + 1)
        chosen = self._group_of(asked)
        some: Sequence[int] | None = None if len(chosen) == self.timeline.locations else chosen
        columns, rows = min(asked["columns"], _MOST_COLUMNS), min(max(asked["rows"], 1), _MOST_ROWS)
        bars = self.timeline.bars(begin, end, some) if asked.get("bars", 1) else None
        told = {key: asked[key] for key in ("n", "first", "count")} | {"begin": begin, "end": end}
        if bars is not None:
            self.send({"bars": told}, buffers=_packed(bars, self.timeline, begin))
            return
        raster = self.timeline.raster(begin, end, columns, some, rows)
        self.send({"raster": told | _shape(raster)}, buffers=[raster.kind.tobytes(), raster.wait.tobytes()])

    def _group_of(self, asked: Mapping[str, int]) -> range:
        return range(asked["first"], asked["first"] + asked["count"])

    def _sum(self, asked: Mapping[str, int]) -> None:
        found = self.timeline.sums(asked["begin"], asked["end"], self._group_of(asked))
        whole = 1e-9 * (asked["end"] - asked["begin"]) * asked["count"]
        rows = [[name, quantity(one, "s", 4), _share(one / whole)] for name, one in found.items()]
        self.send({"sums": {"n": asked["n"], "rows": rows}})

    def _point(self, asked: Mapping[str, int]) -> None:
        moment = self.timeline.at(asked["location"], asked["time"])
        told = {"n": asked["n"], "location": asked["location"], "text": "", "begin": 0, "length": 0}
        if moment is not None:
            told |= _told(moment)
        self.send({"said": told})

    def _fallback_text(self) -> str:
        return said_of(self.timeline)

    def _fallback_html(self) -> str:
        note = "<p>Simulated, not measured.</p>" if self.timeline.is_simulated else ""
        return f"{note}{timeline_svg(self.timeline)}<p>{html.escape(said_of(self.timeline))}</p>"


def _facts(timeline: Timeline) -> dict[str, Any]:
    light, dark = colours(timeline), colours(timeline, "dark")
    seconds = timeline.sums(0, timeline.span)
    waiting = seconds.pop("waiting", 0.0)
    total = sum(seconds.values()) or 1.0
    names = timeline.classes[1:]
    return {
        "locations": timeline.locations,
        "span": timeline.span,
        "alt": said_of(timeline),
        "simulated": timeline.is_simulated,
        "names": ["not recorded", *names],
        "light": light,
        "dark": dark,
        "shares": ["", *(_share(seconds.get(name, 0.0) / total) for name in names)],
        "waiting": {"colour": WAITING, "share": _share(waiting / total)},
        "operations": {str(number): name for number, name in OPERATIONS.items()},
    }


def _share(part: float) -> str:
    return "0 %" if part == 0 else "< 0.1 %" if part < 0.001 else as_percent(part, ".1f")


def _shape(raster: Raster) -> dict[str, int]:
    rows, columns = raster.kind.shape
    left = raster.first << raster.bits
    return {"rows": rows, "columns": columns, "left": left, "width": 1 << raster.bits, "together": raster.together}


def _packed(bars: Bars, timeline: Timeline, begin: int) -> list[bytes]:
    """Return columns as bytes: places as i32, times from the begin of the window as f64, classes and operations as u8."""
    kind = np.asarray(timeline.class_of_path, dtype=np.uint8)[bars.path]
    places = (bars.row, bars.wait_row, bars.from_row, bars.to_row)
    times = (bars.begin, bars.end, bars.wait_begin, bars.wait_end, bars.from_time, bars.to_time)
    found = [np.asarray(one, dtype="<i4").tobytes() for one in places]
    found += [(np.asarray(one) - begin).astype("<f8").tobytes() for one in times]
    return [*found, kind.tobytes(), np.asarray(bars.operation, dtype=np.uint8).tobytes()]


def _told(moment: Moment) -> dict[str, Any]:
    return {"location": moment.location, "text": _words(moment), "begin": moment.begin, "length": moment.length}


def _words(moment: Moment) -> str:
    """Return what a process does, in a line."""
    where = "outside of calls" if moment.path == "program" else moment.path.removeprefix("program/")
    begin, length, wait = (quantity(1e-9 * ns, "s", 4) for ns in (moment.begin, moment.length, moment.wait))
    waits = f", of which {wait} {TITLES.get(moment.metric, moment.metric)}" if moment.wait else ""
    return f"Process {moment.location}: {where}, from {begin} for {length}{waits}"
