"""The call paths of a result as a tree that can be unfolded and folded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.trace.results.summary import AWAITED, FACTS, WAITS


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


_ABOVE = {
    "wait_for_progress_bound": "time",
    "wait_for_grant_bound": "time",
    "visits": "",
    "rma_operations": "",
    "without_progress": "rma_operations",
    "rma_bytes": "",
}
"""The metric above each of those that are no waits, in the order in which they are shown."""


def metric_tree(units: Mapping[str, str]) -> tuple[MetricNode, ...]:
    """Return the nodes for metrics and their units, each after the one above it."""
    found = [MetricNode("time", FACTS["time"].title, units["time"], ("time",), "", "time")]
    waits = tuple(name for name in WAITS if name in units)
    if waits:
        found.append(MetricNode("waiting", "waiting", "ns", waits, "time", "time"))
    for awaited in AWAITED:
        here, group = tuple(name for name in waits if FACTS[name].awaits == awaited), "waiting"
        if len(here) > 1:
            group = f"waiting for {awaited}"
            found.append(MetricNode(group, f"for {awaited}", "ns", here, "waiting", "time"))
        found += [MetricNode(name, FACTS[name].title, "ns", (name,), group, "time") for name in here]
    for name in dict.fromkeys((*_ABOVE, *units)):
        if name in units and name not in ("time", *waits):
            above, title = _ABOVE.get(name, ""), FACTS[name].title if name in FACTS else name
            found.append(MetricNode(name, title, units[name], (name,), above, above or name))
    return tuple(found)


Values = NDArray[Any]


@dataclass(frozen=True)
class Row:
    """A line of a tree.

    `key`: call path. `level`: from 1 on. `is_open`: None where nothing is below.
    `place`, `of`: which one it is among those below the same one, from 1 on, and how many these are.
    """

    key: int
    level: int
    is_open: bool | None
    place: int
    of: int


class CallTree:
    """The call paths of a result.

    `names`: name of each path. `labels`, list of (str, str): region and call site, which may be empty, of each path.
    `parents`: -1 at the top. `open`: the paths that are unfolded.
    Raises DataError if a path comes before the one above it.
    """

    def __init__(self, ds: xr.Dataset) -> None:
        self.names = [str(name) for name in ds["path_name"].values]
        self.parents: list[int] = ds["parent"].values.tolist()
        self.labels: list[tuple[str, str]] = []
        self.children: list[list[int]] = [[] for _ in self.names]
        for k, (name, region, parent) in enumerate(zip(self.names, ds["region"].values.tolist(), self.parents, strict=True)):
            if not -1 <= parent < k:
                raise DataError(f"call path {k} ({name}) stands before the one above it; analyse the trace anew.")
            step = name[len(self.names[parent]) + 1 :] if parent >= 0 else name
            self.labels.append((str(region), step[len(region) + 1 :] if step.startswith(f"{region}@") else ""))
            if parent >= 0:
                self.children[parent].append(k)
        self.top = [k for k, parent in enumerate(self.parents) if parent < 0]
        self.open: set[int] = set(self.top)

    def __len__(self) -> int:
        return len(self.names)

    def inclusive(self, own: Values) -> Values:
        """Return values of shape (n_paths,) with those of all paths below."""
        found = own.copy()
        for k in range(len(self) - 1, 0, -1):
            if self.parents[k] >= 0:
                found[self.parents[k]] += found[k]
        return found

    def above(self, path: int) -> list[int]:
        """Return the paths above one, the nearest first."""
        found = []
        while (path := self.parents[path]) >= 0:
            found.append(path)
        return found

    def covered(self, chosen: Iterable[int]) -> NDArray[np.bool_]:
        """Return which paths rows stand for: themselves if they are open, with all below if not."""
        found = np.zeros(len(self), dtype=bool)
        todo = list(chosen)
        while todo:
            path = todo.pop()
            found[path] = True
            if path not in self.open:
                todo += self.children[path]
        return found

    def reveal(self, path: int) -> None:
        """Unfold what is above a path."""
        self.open |= set(self.above(path))

    def fold(self, path: int, chosen: Sequence[int]) -> list[int]:
        """Fold a path, and return the choice in which it stands for those below it that were chosen."""
        self.open.discard(path)
        kept = [one for one in chosen if path not in self.above(one)]
        return kept if len(kept) == len(chosen) or path in kept else [*kept, path]

    def rows(self, size: Values, kept: NDArray[np.bool_]) -> list[Row]:
        """Return the lines that are seen.

        `size` of shape (n_paths,): the largest comes first.
        `kept` of shape (n_paths,): the others are left out, with what is below them.
        """

        def among(paths: list[int], level: int) -> list[tuple[int, int, int, int]]:
            seen = sorted((one for one in paths if kept[one]), key=size.__getitem__, reverse=True)
            return [(one, level, place, len(seen)) for place, one in enumerate(seen, 1)][::-1]

        found, todo = [], among(self.top, 1)
        while todo:
            path, level, place, of = todo.pop()
            is_open = path in self.open if any(kept[one] for one in self.children[path]) else None
            found.append(Row(path, level, is_open, place, of))
            if is_open:
                todo += among(self.children[path], level + 1)
        return found

    def hottest(self, own: Values, whole: Values, start: int) -> int:
        """Return where one gets from `start` by always taking the largest part, until that is a path's own value."""
        at = start
        while self.children[at]:
            best = max(self.children[at], key=lambda one: float(whole[one]))
            if not whole[best] > own[at]:
                break
            at = best
        return at

    def matching(self, words: str) -> NDArray[np.bool_]:
        """Return which paths have all words in their region and call site, in upper or lower case."""
        asked = words.lower().split()
        lines = ("@".join(label).lower() for label in self.labels)
        return np.array([all(word in line for word in asked) for line in lines], dtype=bool)
