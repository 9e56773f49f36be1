"""Where one of two operations stops to be the faster one, between the sizes that were measured."""

import numpy as np

from scalkit.stats.samples import Floats


def crossing(sizes: Floats, differences: Floats, near: int) -> Floats:
    """Return where the first of two operations stops to be the faster one.

    `sizes` of shape (sizes,): message sizes, positive and ascending.
    `differences` of shape (curves, sizes): logarithm of the first one's time less that of the second: negative where the first
    is faster. `near`: where the change is expected: between this size and the next.
    Result of shape (curves,): interpolated between sizes on log axes; 0 where the second is always faster, infinite where the
    first is.
    """
    steps = np.log2(sizes)
    left, right = differences[:, :-1], differences[:, 1:]
    changes = (left <= 0) & (right >= 0) & (right > left)  # equal times at one size are a change there
    distance = np.abs(np.arange(len(sizes) - 1) - near)
    at = np.where(changes, distance, len(sizes) + 1).argmin(axis=1)
    rows = np.arange(len(differences))
    before, after = differences[rows, at], differences[rows, at + 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip(np.where(after > before, -before / (after - before), 0.0), 0.0, 1.0)
    found = 2.0 ** (steps[at] + share * (steps[at + 1] - steps[at]))
    never = np.where(np.nan_to_num(differences[:, near]) > 0, 0.0, np.inf)
    where: Floats = np.where(changes.any(axis=1), found, never)
    return where
