"""How much of a transfer is hidden behind work of the process that sends or receives it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.markup import block, paragraph, table
from scalkit.perfmodels.fits.messages import checked_times
from scalkit.perfmodels.formulas.quantities import format_value, level_in
from scalkit.text import as_percent

_DRAWS = 999
"""With these the ends of a 90 % interval are those of the 50th and the 950th drawn value."""

_PROGRESSES, _STANDS = 0.5, 0.2


@dataclass(frozen=True, repr=False)
class OverlapFit:
    """What `fit_overlap` returns.

    Attributes
    ----------
    side : str
        The process that works meanwhile: ``"sender"`` or ``"receiver"``.
    sizes : tuple of float, in B
    shares, low, high : tuple of float
        Of the transfer that is hidden, from 0 to 1, with intervals.
    level : float
    """

    side: str
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float

    def progresses(self, k: int) -> str:
        """Return whether the transfer of the k-th size goes on during work: ``"yes"``, ``"no"`` or ``"partly"``."""
        if self.low[k] > _PROGRESSES:
            return "yes"
        return "no" if self.high[k] < _STANDS else "partly"

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return a row of texts for each size: size, share, interval, and whether the transfer goes on."""
        return [
            (format_value(size, "B"), as_percent(share), f"{100 * low:.0f} to {as_percent(high)}", self.progresses(k))
            for k, (size, share, low, high) in enumerate(zip(self.sizes, self.shares, self.low, self.high, strict=True))
        ]

    def __str__(self) -> str:
        return f"{self.side}: " + ", ".join(f"{size} {share}" for size, share, *_ in self.rows())

    def __repr__(self) -> str:
        return f"OverlapFit({self})"

    def _repr_html_(self) -> str:
        head = ("size", "hidden", f"interval of {as_percent(self.level, 'g')}", "goes on during work")
        return block(table(head, self.rows()), paragraph(f"The {self.side} works between the call and the wait."))


def fit_overlap(
    sizes: ArrayLike, pure: ArrayLike, work: ArrayLike, both: ArrayLike, *, side: str, level: float = 0.9, seed: int = 1
) -> OverlapFit:
    """Return which share of a transfer is hidden behind work, at each size.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
        At least three.
    pure, work, both : array_like of shape (sizes, repetitions), in s
        The transfer alone, the work alone, both at once.
    side : str
        The process that works: ``"sender"`` or ``"receiver"``.
    level : float
        Of the intervals, from medians drawn again.
    seed : int
        Of the draws.

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
    level = level_in(level)
    if side not in ("sender", "receiver"):
        raise DataError(f"the side is {side!r:.40}; it is 'sender' or 'receiver'.")
    rng = np.random.default_rng(seed)
    shares, low, high = (np.empty(len(at)) for _ in range(3))
    for k in range(len(at)):
        values = [one[k][np.isfinite(one[k])] for one in tables]
        shares[k] = _share(*(float(np.median(one)) for one in values))
        drawn = [np.median(one[rng.integers(len(one), size=(_DRAWS, len(one)))], axis=1) for one in values]
        low[k], high[k] = np.quantile(_share(*drawn), [(1 - level) / 2, (1 + level) / 2])
    sizes_b, hidden, below, above = (tuple(one.tolist()) for one in (at, shares, low, high))
    return OverlapFit(side, sizes_b, hidden, below, above, level)


def _share(pure: Any, work: Any, both: Any) -> Any:
    return np.clip((pure + work - both) / np.minimum(pure, work), 0.0, 1.0)
