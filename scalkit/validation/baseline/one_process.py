"""Which process alone takes longer than before, where the times of each were kept."""

import numpy as np
from numpy.typing import ArrayLike

_OUT = 5.0  # times as far from the others as these scatter
_LEAST = 4  # processes


def one_process(before: ArrayLike, after: ArrayLike, place: str, tolerance: float) -> str:
    """Return in words which process alone takes longer; empty if none does, or the times were not kept.

    `before`, `after` of shape (processes,): when each was done, as with ``--per-process``.
    `place`: where, in words.
    `tolerance`: relative change that is none.
    """
    then, now = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if len(then) != len(now) or len(now) < _LEAST or not ((then > 0) & (now > 0)).all():
        return ""
    logs = np.log(now / then)
    slowest = int(np.argmax(logs))
    others = np.delete(logs, slowest)
    usual = float(np.median(others))
    scatter = 1.4826 * float(np.median(np.abs(others - usual)))
    is_alone = logs[slowest] - usual > max(np.log1p(tolerance), _OUT * scatter) and others.max() <= np.log1p(tolerance)
    return f"process {slowest} alone, {np.exp(logs[slowest]):.3g} times {place}" if is_alone else ""
