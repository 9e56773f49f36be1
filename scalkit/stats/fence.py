"""Tukey's fence: medians of samples without their outliers."""

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.stats.samples import Floats, Integers, samples


def tukey_fence(values: ArrayLike, k: float = 1.5) -> tuple[Floats, Floats]:
    """Return the bounds beyond which a value is an outlier: q1 - k (q3 - q1) and q3 + k (q3 - q1).

    `values` (shape (samples, n) or (n,)): NaN where a value is missing.
    `k`: not negative.
    Returns (shape (samples,)): quartiles interpolate linearly, as numpy's and R's do by default; NaN for a sample without
    values.
    Raises DataError if a value is infinite.
    Raises UsageError if `k` is negative.

    Source: J. W. Tukey: *Exploratory Data Analysis*, 1977.
    """
    ordered, counts = _ordered(values)
    return _fence(ordered, counts, k)


def fenced_medians(values: ArrayLike, k: float = 1.5) -> tuple[Floats, Integers]:
    """Return the median of each sample without its outliers, and how many values it kept.

    Parameters and errors are those of `tukey_fence`.

    Returns (shape (samples,)): NaN for a sample without values.
    Returns: shape (samples,).
    """
    ordered, counts = _ordered(values)
    low, high = _fence(ordered, counts, k)
    below = np.count_nonzero(ordered < low[:, None], axis=1)
    kept = np.count_nonzero(ordered <= high[:, None], axis=1) - below  # NaN is on neither side
    return _between(ordered, below + (kept - 1) / 2, counts), kept.astype(np.int64)


def _ordered(values: ArrayLike) -> tuple[Floats, Integers]:
    ordered = np.sort(samples(values), axis=1)
    return ordered, np.count_nonzero(~np.isnan(ordered), axis=1).astype(np.int64)


def _fence(ordered: Floats, counts: Integers, k: float) -> tuple[Floats, Floats]:
    if not k >= 0:
        raise UsageError(f"the fence's factor is {k!r}; it must not be negative.")
    q1, q3 = (_between(ordered, q * (counts - 1), counts) for q in (0.25, 0.75))
    reach = k * (q3 - q1)
    return q1 - reach, q3 + reach


def _between(ordered: Floats, place: ArrayLike, counts: Integers) -> Floats:
    """Return values at fractional places of sorted rows, NaN where there are none."""
    if not ordered.shape[1]:
        return np.full(len(ordered), np.nan)
    place = np.clip(np.asarray(place, dtype=np.float64), 0, None)
    first = np.floor(place).astype(np.int64)
    second = np.minimum(first + 1, np.maximum(counts - 1, 0))
    rows = np.arange(len(ordered))
    start, end = ordered[rows, first], ordered[rows, second]
    # a value exactly on the fence must stay inside: no rounding between equal values
    found: Floats = start + (end - start) * (place - first)
    return found
