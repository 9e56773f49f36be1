"""Values by variable and place, which become the variables of a Dataset."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.measure.schema import REPETITION, empty_value

Place = tuple[Any, ...]
"""A label on each axis."""


class Filling:
    """Values gathered one by one. Those of one place are a single value, or several that lie on an axis of their own."""

    def __init__(self) -> None:
        self.values: dict[str, dict[Place, Any]] = {}

    def put(self, place: Place, values: Mapping[str, Any]) -> None:
        """Set the values of some variables at a place."""
        for name, value in values.items():
            self.values.setdefault(name, {})[place] = value

    def extend(self, place: Place, name: str, values: Iterable[float]) -> None:
        """Add to the values of a variable at a place."""
        self.values.setdefault(name, {}).setdefault(place, []).extend(values)

    def variables(
        self, axes: Mapping[str, Sequence[Any]], last: Mapping[str, str] | None = None
    ) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
        """Return dimensions and array of each variable; what was not put has the empty value of its type.

        `axes`: the labels on each axis, in the order of the labels of a place.
        `last`: by variable, the dimension that several values lie on; by default the repetitions.
        """
        places = [{label: place for place, label in enumerate(labels)} for labels in axes.values()]
        shape = tuple(map(len, places))
        beyond = {name: (last or {}).get(name, REPETITION) for name in self.values if self._is_deep(name)}
        depth: dict[str, int] = {}
        for name, dim in beyond.items():
            depth[dim] = max(depth.get(dim, 0), *map(len, self.values[name].values()))
        found = {}
        for name, cells in self.values.items():
            dims = (beyond[name],) if name in beyond else ()
            kind = np.dtype(np.float64) if dims else np.array(list(cells.values())).dtype
            array = np.full((*shape, *(depth[dim] for dim in dims)), empty_value(name, kind), dtype=kind)
            for labels, value in cells.items():
                at = tuple(axis[label] for axis, label in zip(places, labels, strict=True))
                if dims:
                    array[at][: len(value)] = value
                else:
                    array[at] = value
            found[name] = ((*axes, *dims), array)
        return found

    def _is_deep(self, name: str) -> bool:
        return isinstance(next(iter(self.values[name].values())), list | np.ndarray)
