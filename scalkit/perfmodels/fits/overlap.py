"""How much of a transfer is hidden behind work of the process that sends or receives it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.perfmodels.fits.affine import LEVEL
from scalkit.perfmodels.fits.messages import checked_times

_DRAWS = 999
"""With these the ends of a 90 % interval are those of the 50th and the 950th drawn value."""


@dataclass(frozen=True)
class OverlapFit:
    """The share of a transfer that is hidden behind work, by message size.

    Attributes
    ----------
    side : str
        The process that works meanwhile: ``"sender"`` or ``"receiver"``.
    sizes : tuple of float, in B
    shares, low, high : tuple of float
        From 0 to 1, with intervals.
    """

    side: str
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def fit_overlap(sizes: ArrayLike, pure: ArrayLike, work: ArrayLike, both: ArrayLike, *, side: str, seed: int = 1) -> OverlapFit:
    """Return which share of a transfer is hidden behind work, at each size.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
        At least three.
    pure, work, both : array_like of shape (sizes, repetitions), in s
        The transfer alone, the work alone, both at once.
    side : str
        The process that works: ``"sender"`` or ``"receiver"``.
    seed : int
        Of the medians that are drawn again for the intervals.

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
    if side not in ("sender", "receiver"):
        raise DataError(f"the side is {side!r:.40}; it is 'sender' or 'receiver'.")
    rng = np.random.default_rng(seed)
    shares, low, high = (np.empty(len(at)) for _ in range(3))
    for k in range(len(at)):
        values = [one[k][np.isfinite(one[k])] for one in tables]
        shares[k] = _share(*(float(np.median(one)) for one in values))
        drawn = [np.median(one[rng.integers(len(one), size=(_DRAWS, len(one)))], axis=1) for one in values]
        low[k], high[k] = np.quantile(_share(*drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    sizes_b, hidden, below, above = (tuple(one.tolist()) for one in (at, shares, low, high))
    return OverlapFit(side, sizes_b, hidden, below, above)


def _share(pure: Any, work: Any, both: Any) -> Any:
    return np.clip((pure + work - both) / np.minimum(pure, work), 0.0, 1.0)
