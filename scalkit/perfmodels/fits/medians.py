"""Values that follow from medians of repetitions, with intervals from repetitions drawn again."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scalkit.perfmodels.fits.affine import LEVEL
from scalkit.support.arrays import Floats

_DRAWS = 999
"""With these the ends of a 90 % interval are those of the 50th and the 950th drawn value."""

_Row = tuple[float, ...]


def of_medians(value: Callable[..., Any], tables: Sequence[Floats]) -> tuple[_Row, _Row, _Row]:
    """Return `value` of the medians of each row of tables, and the lower and upper ends of its intervals.

    `tables`: each of shape (rows, repetitions), NaN where a repetition is missing.
    """
    rng = np.random.default_rng(1)
    rows = []
    for row in zip(*tables, strict=True):
        known = [times[np.isfinite(times)] for times in row]
        drawn = [np.median(one[rng.integers(len(one), size=(_DRAWS, len(one)))], axis=1) for one in known]
        low, high = np.quantile(value(*drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        rows.append((float(value(*map(np.median, known))), float(low), float(high)))
    values, below, above = zip(*rows, strict=True)
    return values, below, above
