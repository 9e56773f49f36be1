"""Means that leave out quarters of the repetitions: one definition for statistics, the store and the stop rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import UsageError
from scalkit.support.arrays import Floats

_QUARTERS = 4


@dataclass(frozen=True)
class Cut:
    """How many quarters of the sorted repetitions are left out at each end.

    `lowest`, `highest`: together at most 2 in statistics, so that half of the repetitions stays; the C programs allow
    3.
    """

    lowest: int = 0
    highest: int = 0

    @classmethod
    def of(cls, quartiles: Sequence[int]) -> "Cut":
        """Return the cut that leaves out quarters by number: 1 is the lowest, 4 the highest.

        `quartiles`: None, or one of 1; 4; 1, 4; 1, 2; 3, 4.
        Raises UsageError if they are others.

        >>> Cut.of((1, 4))
        Cut(lowest=1, highest=1)
        """
        for cut in (cls(), *CUT_MEANS.values()):
            if sorted(quartiles) == list(cut.quartiles):
                return cut
        shown = ",".join(map(str, quartiles))
        raise UsageError(f"quartiles to cut: {shown} is not possible; choose 1,4 or 4 or 1 or 3,4 or 1,2, or none.")

    @classmethod
    def of_text(cls, text: str) -> "Cut | None":
        """Return the cut that a text says, as ``"1,4"``; None if it says none that leaves a quarter or more."""
        return next((cut for cut in CUTS if text == str(cut)), None)

    def __str__(self) -> str:
        return ",".join(map(str, self.quartiles))

    @property
    def quartiles(self) -> tuple[int, ...]:
        """The quarters that are left out, by number."""
        return (*range(1, self.lowest + 1), *range(_QUARTERS - self.highest + 1, _QUARTERS + 1))


CUT_MEANS = MappingProxyType(
    {"cut_mean": Cut(1, 1), "cut_mean_1": Cut(1, 0), "cut_mean_4": Cut(0, 1), "cut_mean_12": Cut(2, 0), "cut_mean_34": Cut(0, 2)}
)
"""Statistics by name: `cut_mean` leaves out the lowest and the highest quarter, the others those of their name."""


CUTS = tuple(Cut(low, high) for low in range(_QUARTERS) for high in range(_QUARTERS - low))
"""All that leave a quarter or more, none among them."""


def cut_mean(ordered: Floats, count: NDArray[Any], cut: Cut) -> Floats:
    """Return the mean of the values from one quartile to another, both included; the median if none lies between them.

    `ordered` of shape (..., n): ascending along the last axis; NaN behind the values.
    `count` of shape (...): values in each row.
    The result is of shape (...).
    Returns: NaN where there is no value. Quartiles interpolate linearly between the values.

    Source: Reussner and Hunzelmann 2001, section 4 (docs/references.md): quartiles are cut, then the average is taken.
    """
    if ordered.shape[-1] == 0:
        return np.full(ordered.shape[:-1], np.nan)
    low = quantile(ordered, count, cut.lowest / _QUARTERS)
    high = quantile(ordered, count, 1 - cut.highest / _QUARTERS)
    inside = (ordered >= low[..., None]) & (ordered <= high[..., None])
    found = inside.sum(axis=-1)
    sums = np.where(inside, ordered, 0.0).sum(axis=-1)
    median = quantile(ordered, count, 0.5)
    return np.asarray(np.where(found > 0, sums / np.maximum(found, 1), median))


def quantile(ordered: Floats, count: NDArray[Any], share: float) -> Floats:
    """Return a quantile of each row, linear between its values; `ordered` and `count` as for `cut_mean`."""
    last = np.maximum(count - 1, 0)
    place = last * share
    low = np.floor(place).astype(np.int64)
    below, above = (np.take_along_axis(ordered, index[..., None], axis=-1)[..., 0] for index in (low, np.minimum(low + 1, last)))
    found: Floats = below + (place - low) * (above - below)
    return found


def relative_error(values: NDArray[Any], cut: Cut) -> float:
    """Return the standard error of the mean that a cut leaves, as a share of that mean; NaN for fewer than two values.

    `values` of shape (n,).

    Source: Tukey and McLaughlin 1963: the standard deviation of the values with what is cut moved to the quartiles,
    over the share that is left and the root of n. The stop rule of the C programs asks for the same.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n < 2:
        return float("nan")
    count = np.array(n)
    mean = float(cut_mean(ordered, count, cut))
    low, high = (float(quantile(ordered, count, s)) for s in (cut.lowest / _QUARTERS, 1 - cut.highest / _QUARTERS))
    left = 1 - (cut.lowest + cut.highest) / _QUARTERS
    spread = float(np.clip(ordered, low, high).std(ddof=1))
    return spread / (left * float(np.sqrt(n))) / mean if mean > 0 else float("nan")
