"""Exact times of a library that changes its algorithm: settings that follow something else than the rest.

A library chooses its algorithm by the number of processes, so that exact times may follow one term to the nanosecond at most
settings and be far off at a few. As an error of every setting that would hide the term; as an error of these few it does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scalkit.arrays import Flags, Floats

Bools = Flags

_APART = 0.1
"""Prior of a run of settings that follow something else, and of the last setting that does."""
_JUMP = 1.0
"""Relative error of a value of another algorithm: the ones that libraries choose among differ by a factor of up to three."""
_KINK = 0.1
"""Relative error of a last value where another path of the same algorithm becomes the longest one."""
_MUSH = 0.3
"""Relative error of all values where no algorithm lasts; the tuned broadcasts of Open MPI scatter so around log(p)."""
_LEAST_LEFT = 4
"""So many settings must follow the term: two coefficients, and two settings that could contradict."""
_MOST = 16
"""With more settings a few that are apart weigh little, and the runs would be many."""
_TIGHT = slice(2, 6)
"""The misfits of 0.03 % to 1 % that the rest may have; where it fits worse nothing is apart."""


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of the values that are tried.

    `scales` of shape (Q, points).
    `masses` of shape (Q,): prior of each.
    `apart`, shape (Q, points): settings that follow something else.
    """

    scales: Floats
    masses: Floats
    apart: Bools

    @property
    def is_open(self) -> Bools:
        """Whether the last setting is one of them, of shape (Q,): how it grows from there on nobody has seen."""
        return np.asarray(self.apart[:, -1])


def with_regimes(y: Floats, scales: Floats, masses: Floats) -> Errors:
    """Return errors of shape (Q, points) with masses (Q,) and those where some values of `y` follow something else.

    These are one run of settings, of one or two, of all before the last four or of every second one, and the last setting.
    """
    n = len(y)
    size = np.where(y > 0, y, np.min(y, where=y > 0, initial=float(y.max())))  # a share may be 0
    rows = [scales, _MUSH * size[None]]
    weights, apart = [masses, masses[-1:]], [np.zeros((len(masses) + 1, n), dtype=bool)]
    tight, mass = scales[_TIGHT], masses[_TIGHT]
    for run in _runs(n):
        for last in (0.0, _KINK, _JUMP):
            left = n - len(run) - (last > 0)
            if left < _LEAST_LEFT or not (len(run) or last):
                continue
            added = np.zeros(n)
            added[list(run)], added[-1] = _JUMP, last
            rows.append(np.hypot(tight, added * size))
            weights.append(mass * _APART ** (bool(len(run)) + (last > 0)))
            apart.append(np.tile(added == _JUMP, (len(mass), 1)))
    return Errors(np.concatenate(rows), np.concatenate(weights), np.concatenate(apart))


def _runs(n: int) -> Iterator[range]:
    """Yield no setting, each alone and each with its neighbour but the last, the first ones, and every second one.

    At powers of two every second one has whole levels of a tree with four children, and the others half a level more.
    """
    yield range(0)
    if n > _MOST:
        return
    for length in (1, 2):
        yield from (range(first, first + length) for first in range(n - length))
    yield from (range(length) for length in range(3, n - _LEAST_LEFT + 1))
    yield range(n % 2, n, 2)
