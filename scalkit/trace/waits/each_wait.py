"""How long each call of a trace waited, and for what, which results only hold as sums."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Ints
from scalkit.trace.files.definitions import Definitions
from scalkit.trace.local.arrays import find_frame
from scalkit.trace.local.joined import PLACE
from scalkit.trace.local.part import LocalTrace
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.options import Options
from scalkit.trace.results.summary import WAITS
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.patterns import add_waits
from scalkit.trace.waits.progress_waits import Analysis
from scalkit.trace.waits.surroundings import Surroundings


@dataclass(frozen=True)
class EachWait:
    """The longest wait of each call.

    `wait` of shape (n_calls,), in ns.
    `metric` of shape (n_calls,): its place in `scalkit.trace.results.summary.WAITS`; 0 where there is no wait.
    """

    wait: Ints
    metric: NDArray[np.uint8]


def each_wait(trace: LocalTrace) -> EachWait:
    """Return the waits of the calls of a trace that one process has read whole; the trace stays as it is.

    The patterns are those of `analyse`, run with a call path for each call: what they add up by path is then that of a call.
    """
    n = len(trace.calls["enter"])
    apart = replace(
        trace,
        calls={**trace.calls, "path": np.arange(n, dtype=PLACE)},
        definitions=cast(Definitions, _PathOfEachCall(trace)),
        marks={name: values[:0] for name, values in trace.marks.items()},
    )
    found = _Kept(n)
    frame = find_frame(trace, Ranks())
    waits = cast(Waits, found)
    add_waits(Analysis(apart, Ranks(), Options(), frame, Surroundings(frame, apart), waits))
    return EachWait(found.wait, found.metric)


class _PathOfEachCall:
    """Definitions in which every call has a path of its own."""

    def __init__(self, trace: LocalTrace) -> None:
        self._of, self._path = trace.definitions, trace.calls["path"]
        self.paths = range(len(self._path))
        self.scopes, self.sizes = trace.definitions.scopes, trace.definitions.sizes

    def paths_in(self, names: Iterable[str]) -> NDArray[np.bool_]:
        return np.asarray(self._of.paths_in(names)[self._path])

    def library_calls(self, apart_from: Iterable[str] = ()) -> NDArray[np.bool_]:
        return np.asarray(self._of.library_calls(apart_from)[self._path])


class _Kept:
    """Takes what patterns add, and keeps the longest wait of each path."""

    def __init__(self, n: int) -> None:
        self.wait, self.metric = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.uint8)

    def add(self, metric: str, path: Ints, location: Ints, value: Ints) -> None:
        if metric in WAITS:
            longer = np.flatnonzero(value > self.wait[path])
            self.wait[path[longer]] = value[longer]
            self.metric[path[longer]] = WAITS.index(metric)

    def blame(self, *_: Any) -> None:
        """Who caused it is not kept."""
