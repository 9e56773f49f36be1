"""The processes of the explorer of waits: each with its value, and how these are spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import traitlets as t

from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.part import Action, number_of
from scalkit.widgets.base.templates import drawn, source
from scalkit.widgets.trace_explorer.tree import TraceRows, line_of

MOST_BARS = 48
"""With more processes than these all are cells of a field, and those with most have a row."""

_ROWS_BESIDE = 16


class TraceProcesses(TraceRows):
    """What each process has in the chosen call paths: a row each, or a field of cells if there are many.

    `heat`, in the order of the processes: ``shares``: per cent of the largest; ``texts``; ``chosen``. Empty
    with few.
    """

    _esm = source("base/kernel.js", "base/part.js", "trace_explorer/tree.js", "trace_explorer/heat.js")

    heat: t.Dict[Any, Any] = t.Dict().tag(sync=True)

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        super().__init__(browsing, told, kind="listbox", label="Processes")

    def _fill(self) -> None:
        browsing = self.browsing
        values = browsing.by_location()
        unit, most = browsing.node.unit, max(float(values.max(initial=0.0)), 1e-300)
        order = np.argsort(-values, kind="stable")
        many = len(values) > MOST_BARS
        chosen = set(browsing.locations)
        texts = {float(one): shown_amount(float(one), unit) for one in np.unique(values).tolist()}
        self.heat = (
            {
                "shares": np.round(100 * values / most, 1).tolist(),
                "texts": [texts[one] for one in values.tolist()],
                "chosen": sorted(chosen),
            }
            if many
            else {}
        )
        beside = order[:_ROWS_BESIDE].tolist()
        listed = [*beside, *sorted(chosen.difference(beside))[:_ROWS_BESIDE]] if many else list(range(len(values)))
        self.rows = [
            line_of(
                one,
                f"process {one}",
                [texts[float(values[one])]],
                chosen=one in chosen,
                share=float(values[one]) / most,
                quiet=not values[one],
            )
            for one in listed
        ]

    def _drawn(self) -> dict[str, str]:
        browsing = self.browsing
        every = f"all {browsing.n_locations}" if browsing.n_locations > 1 else "the only one"
        spread = browsing.spread()
        amounts = {"min": spread.min(), "median": spread.median(), "mean": spread.mean(), "max": spread.max()}
        return drawn(
            "trace.html",
            part="processes",
            browsing=browsing,
            spread=spread,
            amounts=[(title, shown_amount(float(amount), browsing.node.unit)) for title, amount in amounts.items()],
            adds=self._adds,
            said=f"{len(browsing.locations)} of {browsing.n_locations} chosen" if browsing.locations else every,
        )

    def _actions(self) -> dict[str, Action]:
        return {"choose": self._choose, "everyone": lambda _: self._then([]), "several": self._several}

    def _choose(self, values: Mapping[str, str]) -> None:
        one, before = number_of(values, self.browsing.n_locations), self.browsing.locations
        if one is not None:
            self._then(self._choice(before, one, values, [] if before == (one,) else [one]))

    def _then(self, locations: Sequence[int]) -> None:
        self.browsing.choose_locations(locations)
        self._tell("locations")
