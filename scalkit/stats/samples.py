"""Samples as rows of arrays, of different lengths: checked, and gathered by their number of values."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Alternative = Literal["greater", "two-sided"]


def samples(values: ArrayLike, name: str = "values") -> Floats:
    """Return samples as an array of shape (samples, values); one sample may come without the first axis.

    Raises DataError if they are not numbers, of more than two axes, or infinite.
    """
    try:
        array: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers in rows of one length; fill up short rows with NaN.") from None
    if array.ndim > 2:
        raise DataError(f"{name} has {array.ndim} axes; give one sample, or rows that are samples.")
    array = np.atleast_2d(array)
    if np.isinf(array).any():
        place = tuple(int(i) for i in np.argwhere(np.isinf(array))[0])
        raise DataError(f"{name} is infinite at {place}; leave it out, or write NaN where a value is missing.")
    return array


def both_sides(left: ArrayLike, right: ArrayLike, *, paired: bool = False) -> tuple[Floats, Floats]:
    """Return the samples of both sides. Raises DataError as `samples`, or if the sides do not fit each other."""
    a, b = samples(left, "left"), samples(right, "right")
    if len(a) != len(b):
        raise DataError(f"left has {len(a)} samples, right {len(b)}; give as many on both sides.")
    if paired and a.shape != b.shape:
        raise DataError(f"left has {a.shape[1]} values a sample, right {b.shape[1]}; pairs need as many on both sides.")
    return a, b


def by_counts(*sides: Floats) -> Iterator[tuple[Integers, tuple[Floats, ...]]]:
    """Yield the rows that have the same numbers of values, and their values, ascending and without gaps."""
    ordered = [np.sort(side, axis=1) for side in sides]  # NaN comes last
    counts = np.stack([np.count_nonzero(~np.isnan(side), axis=1) for side in sides], axis=1)
    kinds, which = np.unique(counts, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        rows = np.flatnonzero(which.ravel() == number)
        yield rows, tuple(side[rows, :count] for side, count in zip(ordered, kind.tolist(), strict=True))
