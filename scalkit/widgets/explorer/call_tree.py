"""Call paths among functions, as ``main->solve->exchange``: which lies below which."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

_ARROW = "->"


class CallTree:
    """The tree of functions and metrics, by their numbers; a caller that was not measured is part of the name below it.

    `names`: functions and their metrics.
    """

    def __init__(self, names: Sequence[tuple[str, str]]) -> None:
        self._names = names
        numbers = {name: k for k, name in enumerate(names)}
        self.parents = [self._above(numbers, *name) for name in names]
        self.below: dict[int, list[int]] = {}
        for k, parent in enumerate(self.parents):
            self.below.setdefault(parent, []).append(k)

    @staticmethod
    def _above(numbers: dict[tuple[str, str], int], function: str, metric: str) -> int:
        """Return the nearest caller that was measured, -1 if none was."""
        while _ARROW in function:
            function = function.rpartition(_ARROW)[0]
            if (function, metric) in numbers:
                return numbers[function, metric]
        return -1

    @cached_property
    def is_flat(self) -> bool:
        """Whether nothing lies below anything."""
        return set(self.below) <= {-1}

    def callers(self, k: int) -> list[int]:
        """Return the callers of a function that were measured, the nearest first."""
        found = []
        while (k := self.parents[k]) >= 0:
            found.append(k)
        return found

    def label(self, k: int) -> str:
        """Return the name of a function below its caller."""
        parent = self.parents[k]
        return self._names[k][0].removeprefix("" if parent < 0 else self._names[parent][0] + _ARROW)

    def within(self, k: int) -> list[int]:
        """Return a function and all below it."""
        found, waiting = [], [k]
        while waiting:
            found.append(waiting.pop())
            waiting += self.below.get(found[-1], ())[::-1]
        return found

    def order(self, ranks: Sequence[Any], folded: Collection[int] = ()) -> list[int]:
        """Return the functions with those that they call below them, the branch with the least rank first.

        `ranks`: one for each function.
        `folded`: functions whose callees are left out.
        """
        best = list(ranks)
        for k in sorted(range(len(best)), key=lambda k: -len(self._names[k][0])):  # a caller's name is the shorter one
            if (parent := self.parents[k]) >= 0:
                best[parent] = min(best[parent], best[k])
        found: list[int] = []
        waiting = [-1]
        while waiting:
            k = waiting.pop()
            found += [k] if k >= 0 else []
            if k not in folded:
                waiting += sorted(self.below.get(k, ()), key=best.__getitem__)[::-1]
        return found
