"""A figure in a notebook: one trait that is always whole, drawn anew when it changes."""

import json
from typing import Any

import anywidget
import ipywidgets
import traitlets as t
from ipywidgets import widget_serialization

from scalkit.errors import UsageError
from scalkit.support.text import brief
from scalkit.widgets.base.cells import CellWidget
from scalkit.widgets.base.plot_runtime import PlotRuntime
from scalkit.widgets.base.templates import source


class PlotView(CellWidget, anywidget.AnyWidget):
    """Shows a plotly figure, such as those of `scalkit.plots`.

    Parameters
    ----------
    figure : plotly figure or dict, optional
    alt : str, optional
        What the figure shows, in a sentence; by default what the figure says of itself.
    **traits
        Values of the traits below.

    Attributes
    ----------
    figure : dict
        ``{"data": [...], "layout": {...}}``; the view is always drawn from all of it. Use `show` to change it.
    alt : str
    xrange : list of two numbers
        The visible range of the x axis, logarithms on a log axis; empty for all. `ipywidgets.jslink` of two views links
        their zoom without the kernel.
    clicked : dict
        ``{"curve": 0, "point": 3, "x": ..., "y": ..., "name": ..., "n": 1}`` of the last point; `n` counts.
    hover, term : str
        Growths of which curves are shown that are hidden else: traces with ``meta["growth"]`` that are not visible. A curve
        with such a growth sets `hover` while the pointer is on it.
    """

    _esm = source("base/kernel.js", "base/plot_view.js", "base/plot_main.js")
    _css = source("base/kernel.css", "base/plot_view.css")

    runtime = t.Instance(PlotRuntime).tag(sync=True, **widget_serialization)
    figure = t.Dict().tag(sync=True)
    alt = t.Unicode("").tag(sync=True)
    xrange = t.List(t.Any(), maxlen=2).tag(sync=True)
    clicked = t.Dict().tag(sync=True)
    hover = t.Unicode("").tag(sync=True, echo_update=False)
    term = t.Unicode("").tag(sync=True, echo_update=False)

    def __init__(self, figure: Any = None, alt: str | None = None, **traits: Any) -> None:
        traits.setdefault("runtime", PlotRuntime.shared())
        if figure is not None:
            traits |= _shown(figure, alt)
        super().__init__(**traits)
        self._enter_cell()

    def show(self, figure: Any, alt: str | None = None) -> "PlotView":
        """Show another figure. Return the view.

        `alt`: what it shows, in a sentence; by default what the figure says of itself.
        """
        with self.hold_sync():
            for name, value in _shown(figure, alt).items():
                setattr(self, name, value)
        return self


def _shown(figure: Any, alt: str | None) -> dict[str, Any]:
    whole = json.loads(figure.to_json()) if hasattr(figure, "to_json") else figure
    if not isinstance(whole, dict) or whole.keys() - {"data", "layout", "frames"}:
        raise UsageError(f"the figure is {brief(figure)}; give one such as sk.plot(result).")
    plain = {"data": whole.get("data", []), "layout": whole.get("layout", {})}
    said = alt if alt is not None else plain["layout"].get("meta", {}).get("alt", "")
    return {"figure": plain, "alt": str(said)}


def wide() -> Any:
    """Return the layout of a picture that has others beside it where there is place."""
    return ipywidgets.Layout(flex="1 1 380px", min_width="0", width="auto")


def flowing(**more: Any) -> Any:
    """Return the layout of a box whose parts stand beside each other where there is place."""
    return ipywidgets.Layout(display="flex", flex_flow="row wrap", width="100%", overflow="visible", **more)
