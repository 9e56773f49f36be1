"""The processes of the explorer of waits: each with its value, and how these are spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import traitlets as t

from scalkit.markup import esc
from scalkit.plots.traces.matrix import shown_amount
from scalkit.trace.views.explorer import Browsing, Spread
from scalkit.widgets.base.part import Action
from scalkit.widgets.base.source import source
from scalkit.widgets.trace_explorer.panes import toggled
from scalkit.widgets.trace_explorer.tree import TraceRows, checkbox, line_of, number_of, options

MOST_BARS = 48
"""With more processes than these all are cells of a field, and those with most have a row."""

_ROWS_BESIDE = 16


class TraceProcesses(TraceRows):
    """What each process has in the chosen call paths: a row each, or a field of cells if there are many.

    `heat`: ``order``: processes as they are shown; ``shares``: per cent of the largest; ``texts``; ``chosen``. Empty
    with few.
    """

    _esm = source("base/kernel.js", "base/part.js", "trace_explorer/tree.js", "trace_explorer/heat.js")

    heat: t.Dict[Any, Any] = t.Dict().tag(sync=True)

    def __init__(self, browsing: Browsing, told: Callable[[str], object]) -> None:
        self._adds, self._by_size = False, False
        super().__init__(browsing, told, kind="listbox", label="Processes")

    def _fill(self) -> None:
        browsing = self.browsing
        values = browsing.by_location()
        unit, most = browsing.node.unit, max(float(values.max(initial=0.0)), 1e-300)
        order = np.argsort(-values, kind="stable")
        many = len(values) > MOST_BARS
        cells = order if self._by_size else np.arange(len(values))
        chosen = set(browsing.locations)
        texts = {float(one): shown_amount(float(one), unit) for one in np.unique(values).tolist()}
        self.heat = (
            {
                "order": cells.tolist(),
                "shares": np.round(100 * values[cells] / most, 1).tolist(),
                "texts": [texts[one] for one in values[cells].tolist()],
                "chosen": sorted(chosen),
            }
            if many
            else {}
        )
        beside = order[:_ROWS_BESIDE].tolist()
        listed = [*beside, *sorted(chosen.difference(beside))[:_ROWS_BESIDE]] if many else cells.tolist()
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

    def _head(self) -> str:
        browsing = self.browsing
        every = f"all {browsing.n_locations}" if browsing.n_locations > 1 else "the only one"
        said = f"{len(browsing.locations)} of {browsing.n_locations} chosen" if browsing.locations else every
        which = ""
        if browsing.is_comparison:
            choices = {str(k): name for k, name in enumerate(browsing.names)}
            which = f"<form>{options('result', 'Of', choices, str(browsing.shown))}</form>"
        return (
            f"<h3>3. Processes</h3>{which}{self._spreads()}"
            f'<div class="line checks">{checkbox("size", "Largest first", self._by_size)}'
            f"{checkbox('several', 'Choose several', self._adds)}"
            '<button type="button" data-press="everyone" data-key="everyone">Choose all</button>'
            f'<span class="quiet" role="status">{said}</span></div>'
        )

    def _spreads(self) -> str:
        browsing = self.browsing
        if not browsing.is_comparison:
            of = '<p class="quiet">Of those chosen:</p>' if len(browsing.locations) > 1 else ""
            return of + _spread(browsing.spread(), browsing.node.unit)
        return "".join(
            f"<p><b>{esc(name)}</b></p>{_spread(browsing.spread(k), browsing.node.unit)}"
            for k, name in enumerate(browsing.names)
        )

    def _actions(self) -> dict[str, Action]:
        return {
            "choose": self._choose,
            "result": self._show_result,
            "everyone": lambda _: self._then([]),
            "size": lambda _: self._flip(),
            "several": lambda _: self._several(),
        }

    def _flip(self) -> None:
        self._by_size = not self._by_size
        self.show()

    def _several(self) -> None:
        self._adds = not self._adds

    def _show_result(self, values: Mapping[str, str]) -> None:
        k = number_of(values, len(self.browsing.results))
        if k is not None:
            self.browsing.show_result(k)
            self._tell("result")

    def _choose(self, values: Mapping[str, str]) -> None:
        one, before = number_of(values, self.browsing.n_locations), self.browsing.locations
        if one is not None:
            adds = self._adds or values.get("how") == "add"
            self._then(toggled(before, one) if adds else [] if before == (one,) else [one])

    def _then(self, locations: Sequence[int]) -> None:
        self.browsing.choose_locations(locations)
        self._tell("locations")


def _spread(spread: Spread, unit: str) -> str:
    """Return markup of how values are spread."""
    amounts = [("min", spread.least), ("median", spread.median), ("mean", spread.mean), ("max", spread.most)]
    texts = [f"<span>{title} <b>{esc(shown_amount(value, unit))}</b></span>" for title, value in amounts]
    if not spread.most:
        return f'<div class="spread">{"".join(texts)}</div>'
    texts.append(f"<span>max at process <b>{spread.most_at}</b></span>")
    text = "the largest is this much above the mean"
    texts.append(f'<span title="{text}">imbalance <b>{100 * spread.imbalance:.0f} %</b></span>')
    return f'<div class="spread">{"".join(texts)}</div>'
