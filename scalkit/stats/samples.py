"""Samples as rows of arrays, of different lengths: checked, and gathered by their number of values."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Alternative = Literal["greater", "less", "two-sided"]


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


def same_rows(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return both sides with the same number of samples; a single sample serves all of the other side.

    Raises DataError if the numbers differ.
    """
    rows = max(len(left), len(right))
    if {len(left), len(right)} - {1, rows}:
        raise DataError(f"left has {len(left)} samples, right {len(right)}; give as many on both sides.")
    return np.broadcast_to(left, (rows, left.shape[1])), np.broadcast_to(right, (rows, right.shape[1]))


def alternative_of(word: str) -> Alternative:
    """Return the word if it is one of the alternatives. Raises UsageError."""
    for known in ("greater", "less", "two-sided"):
        if word == known:
            return known
    raise UsageError(f"the alternative {word!r} is unknown; choose from greater, less, two-sided.")


def fraction(value: float, name: str) -> float:
    """Return a number between 0 and 1, both excluded. Raises UsageError."""
    if not 0 < value < 1:
        raise UsageError(f"{name} is {value!r}; it must lie between 0 and 1.")
    return float(value)


def by_counts(*sides: Floats) -> Iterator[tuple[Integers, tuple[Floats, ...]]]:
    """Yield the rows that have the same numbers of values, and their values, ascending and without gaps."""
    ordered = [np.sort(side, axis=1) for side in sides]  # NaN comes last
    counts = np.stack([np.count_nonzero(~np.isnan(side), axis=1) for side in sides], axis=1)
    kinds, which = np.unique(counts, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        rows = np.flatnonzero(which.ravel() == number)
        yield rows, tuple(side[rows, :count] for side, count in zip(ordered, kind.tolist(), strict=True))
