"""The models of a series, best first; each is made when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from scalkit.fit.model import Model


class RankedModels(Sequence[Model]):
    """A sequence of models that are made from their fits at first use.

    `make`: returns the model of a place; can be pickled.
    `places`: of the models, best first.
    """

    def __init__(self, make: Callable[[int], Model], places: Sequence[int]) -> None:
        self._make, self.places = make, tuple(places)
        self._made: dict[int, Model] = {}

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Model: ...
    @overload
    def __getitem__(self, index: slice) -> RankedModels: ...
    def __getitem__(self, index: int | slice) -> Model | RankedModels:
        if isinstance(index, slice):
            return self._at(self.places[index])
        place = self.places[index]
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]

    def by(self, weights: Sequence[float]) -> RankedModels:
        """Return the same models by falling weight, which stand at their places; equal ones in the order they have."""
        return self._at(sorted(self.places, key=lambda place: -weights[place]))

    def led_by(self, index: int) -> RankedModels:
        """Return the same models with one of them before the others."""
        return self._at(sorted(self.places, key=lambda place: place != self.places[index]))

    def _at(self, places: Sequence[int]) -> RankedModels:
        found = RankedModels(self._make, places)
        found._made = self._made
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RankedModels):
            return NotImplemented
        return self is other or list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[RankedModels], tuple[object, ...]]:
        return type(self), (self._make, self.places)  # another process makes them again

    def __repr__(self) -> str:
        return repr(list(self))
