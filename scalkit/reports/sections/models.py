"""What performance models say: the model of a message, and for each operation algorithms, predictions, forms, folklore."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from scalkit import plots
from scalkit.perfmodels import PerformanceModel, PointToPoint, collectives_of
from scalkit.perfmodels.collectives.study import Studied, study
from scalkit.perfmodels.files.sources import message_of
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.reports.markup import details, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Drawable, Section

_MOST_ALGORITHMS = 4
_SPREAD = 0.25


def message_model(page: Page, message: str) -> Section:
    """Return formula, protocols and picture of the model of a message.

    Parameters
    ----------
    page : Page
    message : str
        See `scalkit.perfmodels.files.sources.message_of`.
    """
    model = _message(message)
    largest = max([float(x) for x in np.atleast_1d(page.data["S"])] if "S" in page.data.coords else [65536.0])
    rows = [
        (
            one.sizes.text("S") or "all sizes",
            format_value(one.latency_s, "s"),
            format_value(one.per_byte_s, "s/B"),
            format_value(1 / one.per_byte_s, "B/s") if one.per_byte_s > 0 else "–",
        )
        for one in model.protocols()
    ]
    shown: dict[str, PerformanceModel] = {"message": model.time}
    if model.gap is not None:
        shown["gap between two messages"] = model.gap
    if model.exchange is not None:
        shown["exchange of two messages"] = model.exchange
    return Section.rendered(
        "message_model.html",
        said=f"{model.name}; {model.source}." if model.source else f"{model.name}.",
        protocols=table("Protocols", ("sizes", "latency", "time per byte", "bandwidth"), rows, (1, 2, 3)),
        drawn=plots.model(shown, between=(1, max(largest, 2.0))),
    )


def operation_models(page: Page, message: str, functions: Sequence[str] = ()) -> Section:
    """Return a card for each collective operation.

    Parameters
    ----------
    page : Page
        Over processes and message sizes.
    message : str
    functions : sequence of str
        All by default.
    """
    model = _message(message)
    section = Section(())
    for one in study(page.data, model, list(functions) or None):
        section += _card(one, model)
    return section


@lru_cache(maxsize=4)
def _message(source: str) -> PointToPoint:
    return message_of(source)


def _card(one: Studied, message: PointToPoint) -> Section:
    sizes, processes = one.cells.sizes, one.cells.processes
    where = f"{len(one.cells)} cells, {one.cells.origin}: {len(sizes)} sizes, {len(processes)} numbers of processes"
    figures: list[tuple[Drawable, str]] = []
    if one.identified is not None:
        at = "" if one.cells.operation == "barrier" else f" with {processes[-1]:g} processes"
        said = "The most probable algorithm of each cell, paler if less sure; a white dot: another is predicted to be faster."
        figures.append((plots.algorithms(one.identified), said))
        said = f"Models of the most probable algorithms{at}, with a band of {100 * _SPREAD:g} %."
        figures.append((_models_under(one, message), said))
    if one.lore is not None:
        figures.append((plots.folklore(one.lore), "The forms of the folklore, fitted to all sizes at once."))
    if one.xu is not None:
        figures.append((plots.xu(one.xu), "Latency and time per byte at each number of processes, and their forms."))
    return Section.rendered("operation_card.html", one=one, where=where, figures=figures, cells=_table(one))


def _models_under(one: Studied, message: PointToPoint) -> Drawable:
    """Return the algorithms found at the largest number of processes under the times there."""
    assert one.identified is not None
    most = float(one.cells.processes[-1])
    seen = [cell.algorithms[0] for cell in one.identified.cells if most == cell.P and cell.algorithms[0] != "other"]
    names = list(dict.fromkeys(seen))[:_MOST_ALGORITHMS]
    every = collectives_of(one.cells.operation, message)
    models = {key: every[key] for key in names or every}
    where: dict[str, Any] = {"along": "P"} if one.cells.operation == "barrier" else {"at": {"P": most}}
    figure: Drawable = plots.model(models, one.cells, spread=_SPREAD, **where)
    return figure


def _table(one: Studied) -> str:
    if one.identified is None:
        return ""
    rows = [
        (
            format_value(cell.S, "B"),
            f"{cell.P:g}",
            " or ".join(cell.algorithms),
            f"{100 * cell.probability:.0f} %",
            format_value(cell.time, "s"),
            format_value(cell.predicted, "s") if np.isfinite(cell.predicted) else "–",
            f"{cell.best}: {format_value(cell.best_time, 's')}" if np.isfinite(cell.best_time) else "–",
        )
        for cell in one.identified.cells
    ]
    head = ("S", "P", "seems to be", "probability", "time", "predicted", "least predicted")
    return details("All cells", table(f"Cells of {one.function}", head, rows, (1, 3, 4, 5)))
