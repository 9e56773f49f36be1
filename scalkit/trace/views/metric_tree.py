"""The metrics of results as a tree: all time, the waits in it by what is waited for, and counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from scalkit.trace.results.metrics import AWAITED, FACTS, WAITS


@dataclass(frozen=True)
class MetricNode:
    """A metric, or several of them together.

    `name`: of the metric; of several ``"waiting"``, or ``"waiting "`` and for what. `title`: for people.
    `members`: the metrics that are summed. `parent`: name of the node above; empty for those at the top.
    `whole`: name of the node whose total is 100 %.
    """

    name: str
    title: str
    unit: str
    members: tuple[str, ...]
    parent: str
    whole: str

    @property
    def is_wait(self) -> bool:
        """Whether somebody caused it."""
        return self.members[0] in WAITS


def metric_tree(units: Mapping[str, str]) -> tuple[MetricNode, ...]:
    """Return the nodes for metrics and their units, each after the one above it."""
    waits = tuple(name for name in WAITS if name in units)
    found: list[MetricNode] = []

    def add(name: str, members: tuple[str, ...], parent: str, title: str, whole: str = "time") -> None:
        if members:
            above = parent if any(one.name == parent for one in found) else ""
            found.append(MetricNode(name, title, units[members[0]], members, above, whole if whole in units else name))

    def single(name: str, parent: str, whole: str = "time") -> None:
        add(name, tuple(one for one in (name,) if one in units), parent, FACTS[name].title if name in FACTS else name, whole)

    single("time", "")
    add("waiting", waits, "time", "waiting")
    for awaited in AWAITED:
        title, names = f"for {awaited}", tuple(name for name in WAITS if FACTS[name].awaits == awaited)
        here = tuple(name for name in names if name in units)
        group = f"waiting {title}" if len(names) > 1 else "waiting"
        if len(names) > 1:
            add(group, here, "waiting", title)
        for name in here:
            single(name, group)
    single("wait_for_progress_bound", "time")
    single("wait_for_grant_bound", "time")
    single("visits", "", "visits")
    single("rma_operations", "", "rma_operations")
    single("without_progress", "rma_operations", "rma_operations")
    single("rma_bytes", "", "rma_bytes")
    known = {name for one in found for name in one.members}
    for name in units:
        if name not in known:
            single(name, "", name)
    return tuple(found)
