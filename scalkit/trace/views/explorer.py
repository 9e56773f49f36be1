"""State of an explorer of a result: chosen metric, call paths and locations, and their values."""

import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import UsageError
from scalkit.trace.results.dataset import read_result
from scalkit.trace.results.pairs import Pairs, causes, pairs
from scalkit.trace.views.call_tree import CallTree, MetricNode, Row, metric_tree

Result: TypeAlias = xr.Dataset | str | os.PathLike[str]
Values: TypeAlias = NDArray[np.float64]

_NEEDED = ("severity", "unit", "path_name", "region", "parent", "cause_metric", "traffic_bytes")


class Browsing:
    """A result with the chosen metric, call paths and locations.

    `result`: as `scalkit.trace.analyse` returns or writes it.
    `metrics`, `tree`: of the result.
    `open_metrics`: those that are unfolded. `metric`: name of the node that is chosen.
    `paths`: call paths that are chosen: with all below them if they are folded, alone if not.
    `locations`, `causers`: locations that are chosen, and those that they waited for; empty for all.
    `words`: only call paths with these words are shown, and what is above them; empty for all.
    Raises UsageError if something is no result; DataError if a file cannot be read.
    """

    def __init__(self, result: Result) -> None:
        self.result = _opened(result)
        names, units = self.result["metric"].values, self.result["unit"].values
        self.metrics = metric_tree({str(name): str(unit) for name, unit in zip(names, units, strict=True)})
        self._nodes = {one.name: one for one in self.metrics}
        self.tree = CallTree(self.result)
        self._numbers = {str(name): k for k, name in enumerate(names)}
        self._severity = self.result["severity"].values
        self._totals = self._severity.sum(axis=2)
        self._pairs: dict[tuple[str, tuple[str, ...]], Pairs] = {}
        self.locations: tuple[int, ...] = ()
        self.causers: tuple[int, ...] = ()
        self.words = ""
        self.open_metrics = {"time", "waiting"} | {one.parent for one in self.metrics if one.parent and self.total(one.name)}
        self.metric = self._first_metric()
        self.paths: tuple[int, ...] = tuple(self.tree.top[:1])
        self.go_hottest()

    def _first_metric(self) -> str:
        """Return the largest wait, or the first metric without one."""
        waits = [one for one in self.metrics if one.is_wait and len(one.members) == 1 and self.total(one.name)]
        return max(waits, key=lambda one: self.total(one.name)).name if waits else self.metrics[0].name

    @property
    def node(self) -> MetricNode:
        """The metric that is chosen."""
        return self._nodes[self.metric]

    @property
    def n_locations(self) -> int:
        """The number of locations of the result."""
        return int(self.result.sizes["location"])

    def find(self, name: str) -> MetricNode:
        """Return a metric. Raises UsageError if there is none of this name."""
        if name not in self._nodes:
            raise UsageError(f"there is no metric {name!r}; there are {', '.join(self._nodes)}.")
        return self._nodes[name]

    # Values

    def own(self, metric: str) -> Values:
        """Return the exclusive value of each call path, of shape (n_paths,)."""
        return np.asarray(self._totals[self._members(metric)].sum(axis=0, dtype=np.float64))

    def total(self, metric: str) -> float:
        """Return the sum of a metric over call paths and locations."""
        return float(self.own(metric).sum())

    def by_path(self) -> tuple[Values, Values]:
        """Return own and inclusive values of the chosen metric, each of shape (n_paths,)."""
        own = self.own(self.metric)
        return own, self.tree.inclusive(own)

    def by_location(self) -> Values:
        """Return the value of each location in the chosen call paths."""
        places = np.flatnonzero(self.tree.covered(self.paths))
        found = np.zeros(self.n_locations, dtype=np.int64)
        for number in self._members(self.metric):
            found += self._severity[number][places].sum(axis=0)
        return found.astype(np.float64)

    def spread(self) -> pd.Series:
        """Return the values by location; if several locations are chosen, only of these."""
        values = pd.Series(self.by_location())
        return values[list(self.locations)] if len(self.locations) > 1 else values

    def pairs(self, what: str = "waiting") -> Pairs:
        """Return who made whom wait, in the chosen metric, or what went between locations."""
        key = (what, self.node.members if what == "waiting" else ())
        if key not in self._pairs:
            self._pairs[key] = pairs(self.result, what, self.node.members)
        return self._pairs[key]

    def causes(self) -> pd.DataFrame:
        """Return who, where, made the chosen locations wait, in the chosen metric."""
        return causes(self.result, self.node.members, self.locations, self.causers)

    def rows(self) -> list[Row]:
        """Return the call paths that are seen: those with a value, the largest first, and those that are chosen."""
        _, whole = self.by_path()
        kept = whole > 0
        for path in (*self.tree.top, *self.paths):
            kept[[path, *self.tree.above(path)]] = True
        if self.words:
            kept &= self._with_words()
        return self.tree.rows(whole, kept)

    def metric_rows(self) -> list[MetricNode]:
        """Return the metrics that are seen."""
        return [one for one in self.metrics if all(parent in self.open_metrics for parent in self.above(one))]

    # What is chosen

    def choose_metric(self, name: str) -> None:
        """Choose a metric, and unfold what is above it."""
        node = self.find(name)
        self.metric = name
        self.open_metrics |= set(self.above(node))

    def choose_paths(self, paths: Iterable[int]) -> None:
        """Choose call paths, and unfold what is above them; without one, all together.

        Raises UsageError if there is no such call path.
        """
        wanted = tuple(dict.fromkeys(int(one) for one in paths))
        for one in wanted:
            if not 0 <= one < len(self.tree):
                raise UsageError(f"there is no call path {one}; there are 0 to {len(self.tree) - 1}.")
            self.tree.reveal(one)
        self.paths = wanted or tuple(self.tree.top[:1])

    def choose_locations(self, locations: Iterable[int], causers: Iterable[int] = ()) -> None:
        """Choose locations, and those that they waited for; without one, all. Raises UsageError if there is no such location."""
        wanted = [tuple(dict.fromkeys(int(one) for one in given)) for given in (locations, causers)]
        for one in (*wanted[0], *wanted[1]):
            if not 0 <= one < self.n_locations:
                raise UsageError(f"there is no process {one}; there are 0 to {self.n_locations - 1}.")
        self.locations, self.causers = wanted

    def follow_metric(self) -> None:
        """Go to the hottest path of the chosen metric, if the chosen paths have none of it."""
        if self.total(self.metric) and not self.by_location().any():
            self.go_hottest()

    def fold(self, path: int) -> None:
        """Fold or unfold a call path; one that is folded stands for those below it that were chosen."""
        if path in self.tree.open:
            self.paths = tuple(self.tree.fold(path, self.paths))
        else:
            self.tree.open.add(path)

    def unfold_all(self) -> None:
        """Unfold all call paths."""
        self.tree.open = {k for k, below in enumerate(self.tree.children) if below}

    def fold_all(self) -> None:
        """Fold all call paths but the outermost."""
        for path in sorted(self.tree.open - set(self.tree.top), reverse=True):
            self.fold(path)

    def go_hottest(self) -> None:
        """Choose the call path that one gets to by always taking the largest part, until that is a path's own value."""
        own, whole = self.by_path()
        start = max(self.tree.top, key=lambda one: float(whole[one]))
        self.choose_paths([self.tree.hottest(own, whole, start)])

    def search(self, words: str) -> int:
        """Show only call paths with all words, unfold what is above them, and return how many there are."""
        self.words = words.strip()
        if not self.words:
            return len(self.tree)
        found = np.flatnonzero(self.tree.matching(self.words))
        for path in found.tolist():
            self.tree.reveal(path)
        return len(found)

    def selection(self) -> dict[str, Any]:
        """Return what is chosen, as plain values: `metric`, `paths`, `locations`, `causers`."""
        return {
            "metric": self.metric,
            "paths": list(self.paths),
            "locations": list(self.locations),
            "causers": list(self.causers),
        }

    def select(self, wanted: Mapping[str, Any]) -> None:
        """Choose what `selection` would return; what is not named stays as it is.

        Raises UsageError if there is no such metric, call path or location, or a key or a value is something else.
        """
        known = self.selection()
        for key in wanted:
            if key not in known:
                raise UsageError(f"a selection has no {key!r}; it may have {', '.join(known)}.")
        whole = {**known, **wanted}
        for key in ("paths", "locations", "causers"):
            try:
                whole[key] = [operator.index(one) for one in whole[key]]
            except TypeError as error:
                raise UsageError(f"{key} of a selection are {whole[key]!r}; they may be a list of numbers.") from error
        before = self.metric, self.paths
        try:
            self.choose_metric(str(whole["metric"]))
            self.choose_paths(whole["paths"])
            self.choose_locations(whole["locations"], whole["causers"])
        except UsageError:
            self.metric, self.paths = before
            raise

    def above(self, node: MetricNode) -> list[str]:
        """Return the names of the metrics above one, the nearest first."""
        found = []
        while node.parent:
            found.append(node.parent)
            node = self._nodes[node.parent]
        return found

    def _members(self, metric: str) -> list[int]:
        return [self._numbers[name] for name in self._nodes[metric].members]

    def _with_words(self) -> NDArray[np.bool_]:
        """Return which call paths have the words, or are above one that has."""
        found = self.tree.matching(self.words)
        for path in np.flatnonzero(found).tolist():
            found[self.tree.above(path)] = True
        return found


def _opened(result: object) -> xr.Dataset:
    if isinstance(result, str | os.PathLike):
        if Path(result).is_dir():
            raise UsageError(f"{result} is a folder; name the file that 'scalkit trace analyse {result} --out FILE' writes.")
        return read_result(Path(result))
    if not isinstance(result, xr.Dataset) or not all(name in result for name in _NEEDED):
        raise UsageError(
            "an explorer of waits shows what scalkit.trace.analyse returns, or the file that it was written to, got "
            f"{'another Dataset' if isinstance(result, xr.Dataset) else type(result).__name__}."
        )
    return result
