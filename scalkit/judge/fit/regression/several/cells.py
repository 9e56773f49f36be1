"""Combinations of what values over several parameters may deviate by from every law."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product

import numpy as np

from scalkit.judge.fit.regression.priors import NoisePrior
from scalkit.support.arrays import Flags, Floats, Ints

_SCATTER = ((0.4, 0.02), (1.0, 0.01))
"""Standard deviations of values that follow no law, and their priors: with many points and many sums something would always
fit their scatter."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Combinations of what values may deviate by from every law.

    Attributes
    ----------
    drift : array of shape (cells, parameters)
        Standard deviation of a Brownian motion along each parameter.
    error : array of shape (cells,)
        Standard deviation of an independent error.
    event : array of shape (cells,)
        Place of an event; that after the last one is none.
    log_prior : array of shape (cells,)
    """

    drift: Floats
    error: Floats
    event: Ints
    log_prior: Floats

    def chosen(self, places: Ints | Flags) -> Cells:
        """Return some of the cells."""
        return Cells(self.drift[places], self.error[places], self.event[places], self.log_prior[places])

    def joined(self, other: Cells) -> Cells:
        """Return these cells and others."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Cells(*(np.concatenate(pair) for pair in pairs))

    def around(self, cells: Cells) -> Cells:
        """Return those whose errors and drifts are at most one level above the largest of some cells."""
        found = self
        for name, largest in (("error", cells.error.max()), ("drift", cells.drift.max())):
            levels = np.unique(getattr(self, name))
            following = levels[min(int(np.searchsorted(levels, largest)) + 1, len(levels) - 1)]
            values = getattr(found, name).reshape(len(found.error), -1)
            found = found.chosen((values <= following).all(axis=1))
        return found

    def with_less_error(self, errors: Floats) -> Cells:
        """Return them with errors two levels lower, as far as there are lower ones.

        `errors`: the levels, ascending.
        """
        places = np.maximum(np.searchsorted(errors, self.error) - 2, 0)
        return Cells(self.drift, errors[places], self.event, self.log_prior)


def all_cells(noise: NoisePrior, n_parameters: int) -> Cells:
    """Return all cells without an event: no parameter drifts, or one, or all alike."""
    which = [*np.eye(n_parameters)]
    if n_parameters > 1:
        which.append(np.ones(n_parameters))
    rows: list[tuple[Floats, float]] = []
    for size, probability in noise.drifts:
        if size:
            rows += [(size * each, probability / len(which)) for each in which]
        else:
            rows.append((np.zeros(n_parameters), probability))
    rest = 1 - sum(share for _, share in _SCATTER)
    errors = [*((error, rest * share) for error, share in noise.errors), *_SCATTER]
    grid = [(drift, error, p * q) for (drift, p), (error, q) in product(rows, errors)]
    drifts = np.array([each for each, _, _ in grid])
    own = np.array([each for _, each, _ in grid])
    prior = np.array([each for _, _, each in grid])
    return Cells(drifts, own, np.full(len(own), -1), np.log(prior))
