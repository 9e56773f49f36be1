"""How much of a transfer is hidden behind work of the process that sends or receives it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.perfmodels.fits.medians import of_medians
from scalkit.perfmodels.fits.messages import checked_times


@dataclass(frozen=True)
class OverlapFit:
    """The share of a transfer that is hidden behind work, by message size.

    Attributes
    ----------
    sizes : tuple of float, in B
    shares, low, high : tuple of float
        From 0 to 1, with intervals.
    """

    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def fit_overlap(sizes: ArrayLike, pure: ArrayLike, work: ArrayLike, both: ArrayLike) -> OverlapFit:
    """Return which share of a transfer is hidden behind work, at each size.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
        At least three.
    pure, work, both : array_like of shape (sizes, repetitions), in s
        The transfer alone, the work alone, both at once.

    Raises
    ------
    DataError
        If there are fewer than three sizes, or a time is not positive.

    Notes
    -----
    ``(pure + work - both) / min(pure, work)`` of medians, cut to 0 and 1, as Intel's benchmarks define it.
    """
    at, alone = checked_times(sizes, pure)
    tables = [alone, *(checked_times(sizes, one)[1] for one in (work, both))]
    return OverlapFit(tuple(at.tolist()), *of_medians(_share, tables))


def _share(pure: Any, work: Any, both: Any) -> Any:
    return np.clip((pure + work - both) / np.minimum(pure, work), 0.0, 1.0)
