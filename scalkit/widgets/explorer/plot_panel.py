"""The pictures of what is selected: the fit beside the divergence, zoomed together."""

from typing import Any

import ipywidgets

from scalkit import plots
from scalkit.errors import ScalkitError
from scalkit.plots.verdicts.divergence import draw_divergence
from scalkit.plots.verdicts.fit import draw_fit
from scalkit.plots.verdicts.rival_curves import plain_with, rival_divergences, rival_traces, rivals_along
from scalkit.session import Session
from scalkit.validation import Verdict
from scalkit.validation.several.verdict import SeveralVerdict
from scalkit.widgets.base.cells import CellWidget, in_one_piece
from scalkit.widgets.base.plot_view import PlotView, flowing, wide
from scalkit.widgets.explorer.fit_view import FitView, grips_of

_SHOWN = frozenset({"selected", "result"})
_HEIGHT = 250  # px: verdict, picture and ruler are seen at once on a screen of 800


class PlotPanel(CellWidget, ipywidgets.Box):  # type: ignore[misc]
    """Fit and divergence of the selected function; over several parameters one picture along each.

    Attributes
    ----------
    fit : FitView
    divergence : PlotView
    which : ipywidgets.ToggleButtons
        Which of both is seen where there is place for one only.
    zoom : ipywidgets.Link
        Keeps their x axes together in the page.
    pictures : tuple of PlotView
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._about: object = session.selected
        with in_one_piece():
            self.fit, self.divergence = FitView(session, layout=wide()), PlotView(layout=wide())
        self.zoom = ipywidgets.jslink((self.fit, "xrange"), (self.divergence, "xrange"))
        flow = flowing()
        self.which = ipywidgets.ToggleButtons(
            options=["Fit", "Divergence"], tooltips=["Values and model", "Model / expectation"], style={"button_width": "auto"}
        )
        self.which.add_class("sk-which")
        self.which.observe(self._turn, "value")
        super().__init__([self.which, self.fit, self.divergence], layout=flow)
        self.add_class("sk-plots")
        session.observe(self._told)
        self.refresh()
        self._enter_cell()

    def refresh(self) -> None:
        """Draw what the session holds now."""
        if self._about != self.session.selected:
            self._about = self.session.selected
            self.fit.xrange = self.divergence.xrange = []
            self.fit.ranges = {}
        verdict = self.session.verdict
        with self.fit.hold_sync():
            self.fit.problem = ""
            self.fit.grips = grips_of(verdict) if isinstance(verdict, Verdict) else {}
            if isinstance(verdict, SeveralVerdict):
                _draw(self.fit, _several, verdict)
            else:
                _draw(self.fit, _fit if verdict else None, verdict)
        one = verdict if isinstance(verdict, Verdict) else None
        _draw(self.divergence, _divergence if one else None, one)

    @property
    def pictures(self) -> tuple[PlotView, ...]:
        """All that it shows."""
        return (self.fit, self.divergence)

    @property
    def view(self) -> tuple[float, float] | None:
        """The range of the parameter that both show; None for all of it."""
        if len(self.fit.xrange) != 2:
            return None
        low, high = (float(end or 0) for end in self.fit.xrange)
        is_log = self.fit.figure.get("layout", {}).get("xaxis", {}).get("type") == "log"
        return (10.0**low, 10.0**high) if is_log else (low, high)

    def close(self) -> None:
        """Close the widget; the session lives on."""
        self.session.unobserve(self._told)
        self.zoom.close()
        super().close()

    def _turn(self, change: Any) -> None:
        """Show the other picture where there is place for one only."""
        (self.add_class if change["new"] == "Divergence" else self.remove_class)("sk-second")

    def _told(self, changed: frozenset[str]) -> None:
        if changed & _SHOWN:
            self.refresh()


def _fit(verdict: Any) -> dict[str, Any]:
    """Return the fit with the hidden curves of its rivals."""
    figure: dict[str, Any] = draw_fit(verdict).plain()
    figure["layout"]["height"] = _HEIGHT
    for trace in figure["data"]:
        if trace.get("legendgroup") == "model":
            trace["meta"] = {"growth": str(verdict.model.growth)}
    return {**figure, "data": [*figure["data"], *rival_traces(verdict)]}


def _divergence(verdict: Any) -> dict[str, Any]:
    """Return the divergence with the hidden ones of its rivals."""
    figure: dict[str, Any] = draw_divergence(verdict).plain()
    figure["layout"]["height"] = _HEIGHT
    return {**figure, "data": [*figure["data"], *rival_divergences(verdict)]}


def _several(verdict: Any) -> dict[str, Any]:
    """Return the pictures along each parameter, with what its rivals say hidden in them."""
    return plain_with(plots.several(verdict), rivals_along(verdict))


def _draw(view: PlotView, figure_of: Any, verdict: Any) -> None:
    """Show a figure, or nothing if there is none."""
    try:
        figure = figure_of(verdict) if figure_of else None
    except ScalkitError:
        figure = None
    view.layout.display = "none" if figure is None else None
    if figure is not None:
        view.show(figure)
