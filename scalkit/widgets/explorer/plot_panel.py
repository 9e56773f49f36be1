"""The pictures of what is selected: the fit beside the divergence, zoomed together."""

from collections.abc import Callable
from typing import Any

import ipywidgets

from scalkit.errors import ScalkitError
from scalkit.judge import AnyVerdict, Verdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.drawing import Drawing
from scalkit.plots.verdicts.divergence import draw_divergence
from scalkit.plots.verdicts.rival_curves import fit_with_rivals
from scalkit.plots.verdicts.several import several
from scalkit.session import Session
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
        verdict = self.session.verdict
        with self.fit.hold_sync():
            self.fit.problem = ""
            self.fit.grips = grips_of(verdict) if isinstance(verdict, Verdict) else {}
            _draw(self.fit, several if isinstance(verdict, SeveralVerdict) else fit_with_rivals, verdict)
        _draw(self.divergence, draw_divergence, verdict if isinstance(verdict, Verdict) else None)

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


def _draw(view: PlotView, figure_of: Callable[[Any], Any], verdict: AnyVerdict | None) -> None:
    """Show a figure of a verdict, or nothing if there is none."""
    try:
        figure = figure_of(verdict) if verdict else None
    except ScalkitError:
        figure = None
    view.layout.display = "none" if figure is None else None
    if isinstance(figure, Drawing):
        figure.layout(height=_HEIGHT)
        figure = figure.plain()
    if figure is not None:
        view.show(figure)
