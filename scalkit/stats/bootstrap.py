"""Bootstrap intervals of medians, and of ratios of medians, for many samples at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scalkit.stats.samples import Floats, by_counts, fraction, same_rows, samples
from scalkit.stats.shift import Shift

_MOST_DRAWN = 1 << 22


def bootstrap_medians(
    left: ArrayLike,
    right: ArrayLike | None = None,
    confidence: float = 0.95,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1999,
) -> Shift:
    """Return medians, or ratios of the medians of two sides, with percentile intervals.

    `left`: shape (samples, n) or (n,).
    `right` (shape (samples, m) or (m,)): then the result is the ratio of the medians, left over right; both sides are drawn
    independently.
    `confidence`: between 0 and 1.
    Returns: NaN where a side has no value.
    Raises DataError if a value is infinite, or the sides have different numbers of samples.
    Raises UsageError if the confidence is not between 0 and 1.

    Source: B. Efron, R. J. Tibshirani: *An Introduction to the Bootstrap*, 1993. `hodges_lehmann_ratio` has shorter
    intervals from about ten values on.
    """
    ends = np.array([(1 - fraction(confidence, "confidence")) / 2])
    ends = np.append(ends, 1 - ends)
    a = samples(left, "left")
    sides = (a,) if right is None else same_rows(a, samples(right, "right"))
    found = np.full((3, len(sides[0])), np.nan)
    for rows, values in by_counts(*sides):
        if not all(side.shape[1] for side in values):
            continue
        draws = [rng.integers(side.shape[1], size=(n_resamples, side.shape[1])) for side in values]
        step = max(1, _MOST_DRAWN // max(draw.size for draw in draws))
        for at in range(0, len(rows), step):
            part = rows[at : at + step]
            parts = [side[at : at + step] for side in values]
            found[0, part] = _ratio([np.median(side, axis=1) for side in parts])
            drawn = _ratio([np.median(side[:, draw], axis=2) for side, draw in zip(parts, draws, strict=True)])
            found[1:, part] = np.quantile(drawn, ends, axis=1)
    return Shift(found[0], found[1], found[2], float(confidence))


def _ratio(medians: list[Floats]) -> Floats:
    return medians[0] if len(medians) == 1 else medians[0] / medians[1]
