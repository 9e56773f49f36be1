"""Types of arrays that signatures name, and equality of values in which a number may be missing."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class EqualIfMissingAlike:
    """Equality and hash for dataclasses with ``eq=False``: a missing number (NaN) equals a missing number.

    Python compares NaN as unequal to itself. The equality that dataclasses generate hid that up to Python 3.12, which
    compared tuples and took the same object for equal, and shows it from 3.13 on, which compares field by field.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _comparable(self) == _comparable(other)

    def __hash__(self) -> int:
        return hash(_comparable(self))


def _comparable(value: Any) -> tuple[object, ...]:
    """Return the fields of a dataclass that are compared, with None in place of NaN."""
    values = (getattr(value, field.name) for field in fields(value) if field.compare)
    return tuple(None if isinstance(value, float) and value != value else value for value in values)
