"""What the recorder was to leave out: how much it is, and where in the order of messages and collective calls it is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.errors import DataError
from scalkit.text import counted
from scalkit.trace.files.definitions import LeftOut
from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.results.metrics import FACTS
from scalkit.trace.waits.functions import COLLECTIVES, base_name, begun
from scalkit.units import format_quantity

if TYPE_CHECKING:
    from scalkit.trace.local.part import LocalTrace

CALLS, SMALL = 100, 101
"""Kinds of what is left out, beside those of messages."""


def missing_before(trace: LocalTrace, rows: Mapping[str, Ints], keys: Mapping[str, Ints], by: str, kind: int) -> Ints:
    """Return for each row how many of the same `keys` are left out before it.

    `keys`: ``location`` and ``scope``, for messages also ``peer`` and ``tag``.
    `by`: the column with the place in the order of calls.
    """
    found = np.zeros(len(rows[by]), dtype=np.int64)
    chosen = begun(COLLECTIVES) | COLLECTIVES
    for k, left in enumerate(trace.left_out):
        for (place, what, scope, which, tag), (count, _) in left.items():
            if place == 0 or what != kind or (kind == CALLS and base_name(which) not in chosen):
                continue
            same: NDArray[np.bool_] = (keys["location"] == k) & (keys["scope"] == scope) & (rows[by] >= place)
            if kind != CALLS:
                same &= (keys["peer"] == int(which)) & (keys["tag"] == tag)
            found[same] += count
    return found


def collective_calls(left: LeftOut) -> dict[int, int]:
    """Return how many collective calls on each scope a location did not record in pauses."""
    found: dict[int, int] = defaultdict(int)
    for (place, kind, scope, which, _), (count, _) in left.items():
        if place and kind == CALLS and base_name(which) in begun(COLLECTIVES) | COLLECTIVES:
            found[scope] += count
    return dict(found)


def lacks_messages(each: Iterable[LeftOut]) -> bool:
    """Return whether messages are missing of which nobody knows where: those of functions that are left out."""
    return any(place == 0 and kind in (SEND, RECEIVE) for left in each for place, kind, *_ in left)


def absent_metrics(each: Iterable[LeftOut]) -> frozenset[str]:
    """Return the metrics that nobody can tell of what is left."""
    everywhere = list(each)
    if not any(everywhere):
        return frozenset()
    windows = {name for name, one in FACTS.items() if one.of_progress or one.awaits == "windows"} - {"wait_at_fence"}
    messages = {name for name, one in FACTS.items() if one.awaits == "messages"}
    return frozenset(windows | (messages if lacks_messages(everywhere) else set()))


def sentences(each: Iterable[LeftOut]) -> list[str]:
    """Return what all locations left out, and what that means for the result."""
    calls: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    small = 0
    everywhere = list(each)
    for (_, kind, _, which, _), (count, ns) in (one for left in everywhere for one in left.items()):
        if kind == CALLS:
            calls[which][0] += count
            calls[which][1] += ns
        small += count * (kind == SMALL)
    found = [f"{counted(n, 'call')} of {name}, {format_quantity(1e-9 * ns, 's')}" for name, (n, ns) in sorted(calls.items())]
    found += [f"{counted(small, 'transfer')} of fewer bytes than asked for"] if small else []
    if not found:
        return []
    found.append("so waits in one-sided communication and causes are not looked for")
    found += ["the time of these calls is that of what is around them"] if calls else []
    if lacks_messages(everywhere):
        found.append("so waits for senders and receivers are not looked for")
    return [f"as asked: {one}" for one in found]


def require_all_calls(trace: LocalTrace, what: str) -> None:
    """Raise DataError if the recorder was to leave something out, which `what` needs."""
    if any(trace.left_out):
        raise DataError(
            f"{trace.header.folder}: the recorder left calls out, as asked, and {what} needs all; record without that."
        )
