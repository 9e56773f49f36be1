"""Who wins where, at a glance: settings down, message sizes across, a letter and a colour for each winner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scalkit.colours import light
from scalkit.markup import esc, table
from scalkit.text import as_percent
from scalkit.units import format_quantity

if TYPE_CHECKING:
    from scalkit.store.advice.answer import Setting

_COLOURS = tuple(light(name) for name in ("model", "trouble", "expected", "undecided", "approximate", "slower", "ink"))


def crossover_map(settings: Sequence[tuple[str, Setting]], confidence: float) -> str:
    """Return the map as markup: a cell is paler, with a question mark, where its winner is not sure.

    `settings`: each after what it is called. `confidence`: from which probability on a winner is sure.
    """
    sizes = sorted({int(size) for _, one in settings for size in one.sizes})
    winners = {segment.winner for _, one in settings for segment in one.segments}
    names = sorted(winners, key=lambda name: (not name.startswith("MPI_"), name))
    if not names:
        return ""
    rows = [[esc(title), str(one.p), *(_cell(one, size, names, confidence) for size in sizes)] for title, one in settings]
    head = ["platform", "p", *(format_quantity(float(size), "B") for size in sizes)]
    legend = "".join(f"<li>{_mark(k, 30, _letter(k))} {esc(name)}</li>" for k, name in enumerate(names))
    is_few = any(math.isnan(segment.probability) for _, one in settings for segment in one.segments)
    legend += f"<li>?: not sure by {as_percent(confidence)}{', or too few runs' * is_few}</li>"
    return f'<ul class="sk-legend">{legend}</ul>{table(head, rows, "Who wins where")}'


def _cell(setting: Setting, size: int, names: list[str], confidence: float) -> str:
    if size not in setting.sizes:
        return ""
    won = next((one for one in setting.segments if one.first <= size <= one.last), None)
    if won is None:
        return ""
    k, is_sure = names.index(won.winner), won.probability >= confidence
    return _mark(k, 30 if is_sure else 10, _letter(k) + "?" * (not is_sure), won.winner)


def _letter(k: int) -> str:
    return chr(ord("A") + k % 26)


def _mark(k: int, share: int, text: str, title: str = "") -> str:
    colour = f"color-mix(in srgb, {_COLOURS[k % len(_COLOURS)]} {share}%, transparent)"
    return f'<span class="sk-cell" style="background:{colour}" title="{esc(title)}">{text}</span>'
