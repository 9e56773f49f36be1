"""Late Post and Early Wait: waits of post-start-complete-wait synchronisation."""

import numpy as np

from scalkit.arrays import Ints
from scalkit.trace.local.arrays import Matching, next_of_group, with_ordinals
from scalkit.trace.local.part import Table
from scalkit.trace.local.ranks import rounds
from scalkit.trace.waits.formulas import Longest
from scalkit.trace.waits.functions import COMPLETE, POST, START, WAIT
from scalkit.trace.waits.progress_waits import Analysis


def waits_in_epochs(analysis: Analysis) -> None:
    """Add the waits for late posts, and of early waits.

    The k-th start of an origin that names a target, on a window, belongs to the k-th post of the target that names the
    origin. Start and complete wait until the last of their targets has posted; wait waits until the last of its origins has
    called complete.
    """
    trace = analysis.trace
    starts, posts = _pairs(analysis, START, COMPLETE), _pairs(analysis, POST, WAIT)
    matching = Matching(tuple(posts[name] for name in ("scope", "location", "partner", "ordinal")))
    late_post, early_wait = (Longest(name, trace) for name in ("late_post", "early_wait"))
    enter = trace.calls["enter"]
    completed = np.where(starts["closed"] >= 0, enter[starts["closed"]] if len(enter) else 0, -1)
    before = analysis.surroundings.before(starts["location"], completed)
    columns = (*(starts[name] for name in ("scope", "partner", "location", "ordinal")), starts["closed"], completed, before)
    for each in rounds(analysis.ranks, trace.owner(starts["partner"], analysis.ranks.size), analysis.options.chunk):
        scope, target, origin, ordinal, closed, complete, path = np.ascontiguousarray(each.ask(*columns).T)
        row = matching.find(scope, target, origin, ordinal)
        has = row >= 0
        posted = np.where(has, enter[posts["call"][row]] if len(posts["call"]) else 0, 0)
        waited = np.where(has, posts["closed"][row] if len(posts["call"]) else -1, -1)
        ends = np.flatnonzero((waited >= 0) & (closed >= 0))
        early_wait.offer(waited[ends], complete[ends], origin[ends], path[ends])
        answer = each.answer(has, posted, analysis.surroundings.before(target, posted))
        _late_posts({name: values[each.sent] for name, values in starts.items()}, answer, late_post)
    late_post.add_to(analysis.waits)
    early_wait.add_to(analysis.waits)


def _late_posts(starts: Table, answer: Ints, late: Longest) -> None:
    matched, posted, before = answer.T
    for column in ("call", "closed"):
        kept = np.flatnonzero((matched != 0) & (starts[column] >= 0))
        late.offer(starts[column][kept], posted[kept], starts["partner"][kept], before[kept])


def _pairs(analysis: Analysis, opening: frozenset[str], closing: frozenset[str]) -> Table:
    """Return a row for each opening call and each member of its group: the member, the ordinal, and the closing call."""
    trace = analysis.trace
    calls = trace.calls
    opened, closes = (np.flatnonzero(trace.is_call(*names) & (calls["scope"] >= 0)) for names in (opening, closing))
    following = next_of_group(
        [calls["location"][closes], calls["scope"][closes]],
        calls["number"][closes],
        [calls["location"][opened], calls["scope"][opened]],
        calls["number"][opened],
    )
    closed = np.where(following >= 0, closes[following] if len(closes) else -1, -1)
    groups = [trace.groups[calls["location"][one] - trace.first].get(int(calls["peer"][one]), ()) for one in opened]
    lengths = [len(group) for group in groups]
    call = np.repeat(opened, lengths).astype(np.int64)
    partner = np.array([member for group in groups for member in group], dtype=np.int64)
    rows = {"call": call, "closed": np.repeat(closed, lengths), "partner": partner}
    rows |= {name: calls[name][call] for name in ("location", "scope", "number")}
    return with_ordinals(rows, ("location", "scope", "partner"), by="number")
