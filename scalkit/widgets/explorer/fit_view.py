"""The fit of a session: the ends of its expectation and of its limits can be pulled to other growths."""

from typing import Any

import numpy as np
import traitlets as t

from scalkit.errors import ScalkitError
from scalkit.growth import Growth
from scalkit.judge import Expectation, Verdict
from scalkit.plots.style import is_log_axis, plain, rounded
from scalkit.plots.verdicts.curves import expected_curves, reach, sample
from scalkit.session import Session
from scalkit.widgets.base.plot_view import PlotView
from scalkit.widgets.base.templates import source

_POINTS = 17


class FitView(PlotView):
    """Shows a fit with two grips, which pointer and arrow keys pull: the expectation's end and the edge of the limits.

    `session`: gets what was pulled, as one step each time. `traits`: values of those below and of those of `PlotView`.

    Attributes
    ----------
    grips : dict
        ``{"x": [...], "ticks": [{"growth": "p", "name": "p", "y": [...]}, ...], "expectation": 3, "limit": 5}``:
        the curves of all growths that a grip can be pulled to, ascending, and where the grips are; empty if there are none.
    pulled : dict
        What was pulled last: ``{"n": 1, "grip": "expectation", "growth": "p^2"}``, also ``"grip": "limit"``; `n` counts.
        ``"undo"`` and ``"redo"`` are grips too.
    problem : str
        Why the session refused it; empty if it did not.
    """

    _esm = source("base/kernel.js", "base/plot_view.js", "explorer/fit_view.js")
    _css = source("base/kernel.css", "base/plot_view.css", "explorer/fit_view.css")

    grips = t.Dict().tag(sync=True)
    pulled = t.Dict().tag(sync=True)
    problem = t.Unicode("").tag(sync=True)

    def __init__(self, session: Session, **traits: Any) -> None:
        self.session = session
        super().__init__(**traits)
        self.observe(self._pull, "pulled")

    def _pull(self, change: Any) -> None:
        grip, growth = (str(change["new"].get(name, "")) for name in ("grip", "growth"))
        session, expectation = self.session, self.session.expectation
        self.problem = ""
        try:
            if grip == "expectation":
                session.expect(growth)
            elif grip == "limit" and isinstance(expectation, Expectation):
                session.set_deviation(str(Growth(growth, expectation.parameter) / expectation.growth))
            elif grip == "undo" and session.history:
                session.undo()
            elif grip == "redo" and session.undone:
                session.redo()
        except ScalkitError as error:
            self.problem = str(error)


def grips_of(verdict: Verdict) -> dict[str, Any]:
    """Return the trait `FitView.grips` for a verdict: the ticks of its ruler, its expectation and its upper limit."""
    x = np.asarray(verdict.series.x, dtype=float)
    span = reach(x)
    at = sample(span.lowest, span.shown, is_log_axis(x), _POINTS)
    expected, limit = verdict.expectation.growth, verdict.expectation.limits[1]
    wanted = dict.fromkeys([*verdict.space.ticks, expected, limit])  # nearly in order, which saves time
    drawable = expected_curves(verdict, sorted(wanted), at)
    if expected not in drawable or limit not in drawable:
        return {}
    growths = list(drawable)
    return {
        "x": rounded(at),
        "ticks": [{"growth": str(growth), "name": plain(growth), "y": y} for growth, y in drawable.items()],
        "expectation": growths.index(expected),
        "limit": growths.index(limit),
    }
