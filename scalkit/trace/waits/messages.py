"""Late Sender and Late Receiver: which send and which receive belong together, and who came too late."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.local.arrays import with_ordinals
from scalkit.trace.local.part import LocalTrace, Table, missing_before
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits.progress_waits import Analysis, Longest
from scalkit.trace.waits.requests import members


def waits_in_messages(analysis: Analysis) -> None:
    """Add the waits of receives for late senders, and of sends for late receivers.

    The k-th message from one rank to another in a communicator with a tag is the k-th receive of these, in the order in which
    sends and receives were posted. A receive waits, in the call that completes it, until the send was called; a send
    waits, in the call that completes it, until the receive was posted, unless that happens after the call: then it did not
    wait for it.
    """
    trace = analysis.trace
    sends, receives = messages_of(trace, SEND), messages_of(trace, RECEIVE)
    received = pd.MultiIndex.from_arrays([receives[name] for name in ("scope", "target", "source", "tag", "ordinal")])
    late_sender, late_receiver = (Longest(name, trace) for name in ("late_sender", "late_receiver"))
    enter, leave = trace.calls["enter"], trace.calls["leave"]
    began = enter[sends["call"]]
    before = analysis.surroundings.before(sends["source"], began)
    columns = (*(sends[name] for name in ("scope", "target", "source", "tag", "ordinal")), began, before)
    for each in rounds(analysis.ranks, trace.owner(sends["target"], analysis.ranks.size), analysis.options.chunk):
        scope, target, source, tag, ordinal, sent, path = np.ascontiguousarray(each.ask(*columns).T)
        found = received.get_indexer(pd.MultiIndex.from_arrays([scope, target, source, tag, ordinal]))
        has = np.flatnonzero(found >= 0)
        row = found[has]
        posted = np.zeros(len(found), dtype=np.int64)
        posted[has] = enter[receives["call"][row]]
        done = receives["done"][row]
        ended = np.flatnonzero(done >= 0)
        late_sender.offer(done[ended], sent[has][ended], source[has][ended], path[has][ended])
        surrounding = analysis.surroundings.before(target, posted)
        answer = each.answer(found >= 0, posted, surrounding)
        _late_receivers(sends, each.sent, answer, leave, late_receiver)
    late_sender.add_to(analysis.waits)
    late_receiver.add_to(analysis.waits)


def _late_receivers(sends: Table, rows: NDArray[np.intp], answer: Ints, leave: Ints, late: Longest) -> None:
    matched, posted, before = answer.T
    done = sends["done"][rows]
    kept = np.flatnonzero((matched != 0) & (done >= 0))
    kept = kept[posted[kept] <= leave[done[kept]]]
    late.offer(done[kept], posted[kept], sends["target"][rows][kept], before[kept])


def messages_of(trace: LocalTrace, kind: int) -> Table:
    """Return the sends or receives, with both locations and the ordinal among those that could be confused."""
    chosen = np.flatnonzero(trace.transfers["kind"] & 0xFF == kind)
    rows = {name: values[chosen] for name, values in trace.transfers.items()}
    partner = members(trace, rows["scope"], rows["peer"])
    rows["source"], rows["target"] = (rows["location"], partner) if kind == SEND else (partner, rows["location"])
    known = partner >= 0
    rows = {name: values[known] for name, values in rows.items()}
    ordered = with_ordinals(rows, ("location", "scope", "source", "target", "tag"), by="order")
    ordered["ordinal"] = ordered["ordinal"] + missing_before(trace, ordered, ordered, "order", kind)
    return ordered
