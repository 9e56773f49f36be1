"""Models that are made when they are looked at, and their coefficients without noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

_Key = TypeVar("_Key")
_Made = TypeVar("_Made")

_NEARLY = 1e-5
"""Relative distance from a whole number that is below what the prior of the shares moves exact coefficients by."""

_FARTHEST = 0.01
"""Distance from a whole number beyond which a large coefficient is another one, however near it is relatively."""


class MadeModels(Sequence[_Made], Generic[_Key, _Made]):
    """Models that are created on first access, because few of dozens are shown.

    Parameters
    ----------
    make : callable
        Called with a key, returns its model.
    keys : sequence
        One for each model, in their order.
    made : dict from key to model, optional
        Those that are there already; slices share them.
    """

    def __init__(self, make: Callable[[_Key], _Made], keys: Sequence[_Key], made: dict[_Key, _Made] | None = None) -> None:
        self._make, self._keys = make, keys
        self._made = {} if made is None else made

    def __repr__(self) -> str:
        return f"<{len(self)} models of {', '.join(map(str, self._keys[:3]))}{', ...' if len(self) > 3 else ''}>"

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> _Made: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Made]: ...
    def __getitem__(self, index: int | slice) -> _Made | Sequence[_Made]:
        if isinstance(index, slice):
            return MadeModels(self._make, self._keys[index], self._made)
        key = self._keys[index]
        if key not in self._made:
            self._made[key] = self._make(key)
        return self._made[key]


def nearest_whole(value: float) -> float | None:
    """Return the whole number that an exact coefficient stands for: 64 for 64.0000004; None if there is none."""
    if not math.isfinite(value):
        return None
    whole = float(round(value))
    return whole if abs(value - whole) <= min(_NEARLY * abs(value), _FARTHEST) else None
