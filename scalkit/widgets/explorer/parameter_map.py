"""One function of two parameters: the model as a map over both, and slices through it."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
import numpy as np

from scalkit.errors import ScalkitError
from scalkit.plots.verdicts.rival_curves import plain_with, rivals_on_map, rivals_on_slice
from scalkit.plots.verdicts.surface import slice_of, surface
from scalkit.session import Session
from scalkit.validation.several.verdict import SeveralVerdict
from scalkit.widgets.base.cells import CellWidget, in_one_piece
from scalkit.widgets.base.part import Action, Part, number_of
from scalkit.widgets.base.plot_view import PlotView, flowing, wide
from scalkit.widgets.base.templates import drawn

_SHOWN = frozenset({"selected", "result", "data"})


class SliceControls(Part):
    """Chooses a slice: along which parameter, and by a slider at which measured value of the other one.

    `session`: over two parameters.
    `on_slice`: called when another slice was chosen.
    `**traits`: values of the traits.
    `index`: of the value among those that were measured.
    """

    shown = _SHOWN

    def __init__(self, session: Session, on_slice: Callable[[], object] | None = None, **traits: Any) -> None:
        self.along, self.index = session.parameters[0], 0
        self._drawn_at = 0
        self._on_slice = on_slice
        super().__init__(session, **traits)

    @property
    def other(self) -> str:
        """The parameter that is fixed on a slice."""
        return next(name for name in self.session.parameters if name != self.along)

    @property
    def values(self) -> list[float]:
        """Measured values of the parameter that is fixed."""
        column = self.session.parameters.index(self.other)
        return sorted({setting[column] for setting in self.session.settings if isinstance(setting, tuple)})

    @property
    def at(self) -> float:
        """The value at which the slice is."""
        values = self.values
        return values[min(self.index, len(values) - 1)]

    def choose(self, along: str, at: float) -> None:
        """Choose the slice along a parameter that is nearest to a value of the other one."""
        if along in self.session.parameters:
            self.along = along
            values = np.asarray(self.values)
            self.index = self._drawn_at = int(np.argmin(np.abs(np.log(values) - np.log(at)))) if at > 0 else 0
            self._tell()

    def _told(self, changed: frozenset[str]) -> None:
        if len(self.session.parameters) == 2:
            super()._told(changed)

    def _drawn(self) -> dict[str, str]:
        last = len(self.values) - 1
        names = {name: name for name in self.session.parameters}
        # The place of the slider is that of the last drawing: drawn anew, it would slip out of the hand.
        places = {"last": last, "at": min(self._drawn_at, last), "value": self.at}
        return drawn("parts.html", part="slice", session=self.session, names=names, along=self.along, other=self.other, **places)

    def _actions(self) -> dict[str, Action]:
        return {"along": self._turn, "at": self._slide}

    def _turn(self, values: Mapping[str, str]) -> None:
        if values.get("key") in self.session.parameters:
            self.along, self.index, self._drawn_at = values["key"], 0, 0
            self._tell()

    def _slide(self, values: Mapping[str, str]) -> None:
        index = number_of(values, len(self.values))
        if index is not None:
            self.index = index
            self._tell()

    def _tell(self) -> None:
        self.refresh()
        if self._on_slice is not None:
            self._on_slice()


class ParameterMap(CellWidget, ipywidgets.VBox):  # type: ignore[misc]
    """The model over both parameters as a map with the measured points, and a slice through it; a press on the map moves it.

    Parameters
    ----------
    session : Session
        Over two parameters.

    Attributes
    ----------
    controls : SliceControls
    map, slice : PlotView
    zoom : ipywidgets.Link
        Keeps what they show of each parameter together in the page.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._about: object = session.selected
        flow = flowing()
        with in_one_piece():
            self.controls = SliceControls(session, self.refresh)
            self.map, self.slice = PlotView(layout=wide()), PlotView(layout=wide())
        both = ipywidgets.Box([self.map, self.slice], layout=flow)
        super().__init__([self.controls, both], layout=ipywidgets.Layout(width="100%", overflow="visible"))
        self.zoom = ipywidgets.jslink((self.map, "ranges"), (self.slice, "ranges"))
        self.map.observe(self._pressed, "clicked")
        session.observe(self._told)
        self.refresh()
        self._enter_cell()

    @property
    def pictures(self) -> tuple[PlotView, ...]:
        """All that it shows."""
        return (self.map, self.slice)

    def refresh(self) -> None:
        """Draw what the session holds now."""
        if self._about != self.session.selected:
            self._about = self.session.selected
            self.map.ranges = self.slice.ranges = {}
        verdict = self.session.verdict
        is_there = verdict is not None and len(verdict.parameters) == 2
        self.layout.display = None if is_there else "none"
        if isinstance(verdict, SeveralVerdict) and is_there:
            self._draw(verdict)

    def close(self) -> None:
        """Close the widget; the session lives on."""
        self.session.unobserve(self._told)
        self.zoom.close()
        super().close()

    def _draw(self, verdict: SeveralVerdict) -> None:
        along, at = self.controls.along, self.controls.at
        try:
            self.map.show(plain_with(surface(verdict, along, at), rivals_on_map(verdict)))
            self.slice.show(plain_with(slice_of(verdict, along, at), rivals_on_slice(verdict, along, at)))
        except ScalkitError:
            self.layout.display = "none"

    def _pressed(self, change: Any) -> None:
        place = change["new"]
        column = self.session.parameters.index(self.controls.other)
        value = place.get("xy"[column])
        if isinstance(value, int | float):
            self.controls.choose(self.controls.along, float(value))

    def _told(self, changed: frozenset[str]) -> None:
        if changed & _SHOWN and len(self.session.parameters) == 2:
            self.refresh()
