"""Types of arrays that signatures name, and equality of values in which a number may be missing."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import UsageError
from scalkit.support.text import brief

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def floats_of(values: object, name: str) -> Floats:
    """Return an argument as an array of floats. Raises UsageError if it is none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} cannot be {brief(values)}; give numbers.") from error


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


_UNTHREADED = 200_000
"""Multiplications from which OpenBLAS starts threads: about 2^18. Its threads wait actively, which takes two to three times
the processor time, and beside other programs twice the time."""


def product(a: Floats, b: Floats) -> Floats:
    """Return the matrix product of `a` (..., n, k) and `b` (..., k, m), in parts too small for threads."""
    columns = max(1, _UNTHREADED // max(1, a.shape[-2] * a.shape[-1]))
    if b.shape[-1] <= columns:
        return np.asarray(a @ b)
    parts = np.split(b, range(columns, b.shape[-1], columns), axis=-1)
    return np.concatenate([a @ part for part in parts], axis=-1)
