"""How sure a choice is: the runs are drawn again and again, all operations of a run together."""

import numpy as np

from scalkit.stats.samples import Floats


def winsorised(logs: Floats) -> Floats:
    """Return values moved to Tukey's fence where they lie beyond it, from five runs on.

    `logs` of shape (..., runs): NaN where a run has no value.
    """
    if logs.shape[-1] < 5:
        return logs
    with np.errstate(all="ignore"):
        q1, q3 = (
            (np.nanquantile(logs, q, axis=-1, keepdims=True) for q in (0.25, 0.75))
            if np.isnan(logs).any()
            else (np.quantile(logs, q, axis=-1, keepdims=True) for q in (0.25, 0.75))
        )
    reach = 1.5 * (q3 - q1)
    clipped: Floats = np.clip(logs, q1 - reach, q3 + reach)
    return clipped


def means(logs: Floats) -> Floats:
    """Return the mean over the runs, NaN where none has a value."""
    there = np.isfinite(logs)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(there, logs, 0.0).sum(axis=-1) / there.sum(axis=-1)
    return mean


def drawn_means(logs: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Return the means of runs that are drawn with replacement, of shape (draws, ...); NaN where none has a value."""
    runs = logs.shape[-1]
    weights = rng.multinomial(runs, np.full(runs, 1 / runs), size=n_draws).astype(np.float64)
    flat = logs.reshape(-1, runs)
    there = np.isfinite(flat)
    if there.all():
        drawn: Floats = (weights @ flat.T) / runs
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = (weights @ np.where(there, flat, 0.0).T) / (weights @ there.T.astype(np.float64))
    return drawn.reshape(n_draws, *logs.shape[:-1])


def probabilities(drawn: Floats) -> Floats:
    """Return how often each candidate is the fastest; equal ones share.

    `drawn` of shape (draws, candidates, cells).
    Result of shape (candidates, cells): they sum up to 1; NaN in cells where no candidate was measured.
    """
    filled = np.where(np.isnan(drawn), np.inf, drawn)
    best = filled.min(axis=1, keepdims=True)
    is_best = (filled == best) & np.isfinite(best)
    shares = is_best.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        won = np.where(is_best, 1.0 / shares, 0.0)
    valid = np.isfinite(best[:, 0]).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = won.sum(axis=0) / np.where(valid > 0, valid, np.nan)
    return share


def crossing(sizes: Floats, differences: Floats, near: int) -> Floats:
    """Return where the first of two operations stops to be the faster one.

    `sizes` of shape (sizes,): message sizes, positive and ascending.
    `differences` of shape (draws, sizes): logarithm of the first one's time less that of the second: negative where the first
    is faster. `near`: where the change is expected: between this size and the next.
    Result of shape (draws,): interpolated between sizes on log axes; 0 where the second is always faster, infinite where the
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
