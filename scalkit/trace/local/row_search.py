"""Finds rows by several columns of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints


class Matching:
    """The rows of a table, to be found by all their columns; no two rows are equal.

    `columns`: not negative, and below 2^31.
    """

    def __init__(self, columns: Sequence[Ints]) -> None:
        self._levels: list[Ints] = []
        code = columns[0]
        for column in columns[1:]:
            known, place = np.unique(code, return_inverse=True)
            self._levels.append(known)
            code = (place.reshape(-1).astype(np.int64) << 32) | column
        self._order = np.argsort(code, kind="stable")
        self._codes = code[self._order]

    def find(self, *columns: Ints) -> Ints:
        """Return the place of each row that is asked for; -1 where there is none."""
        code, exists = columns[0], np.ones(len(columns[0]), dtype=bool)
        for known, column in zip(self._levels, columns[1:], strict=True):
            place, has = _place(known, code)
            exists &= has
            code = (place << 32) | column
        place, has = _place(self._codes, code)
        return np.where(exists & has, self._order[place] if len(self._order) else -1, -1)


def _place(known: Ints, values: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    if len(known) == 0:
        nothing = np.zeros(len(values), dtype=np.int64)
        return nothing, nothing != 0
    place = np.minimum(np.searchsorted(known, values), len(known) - 1).astype(np.int64)
    return place, known[place] == values
