"""What is believed along a chain of settings, of which neighbours mostly have the same algorithm."""

import math

import numpy as np

from scalkit.arrays import Floats

_STAY = 0.9
"""Prior probability that the next setting has the same algorithm: one switch in a series of ten."""


def smoothed(likely: Floats) -> tuple[float, Floats]:
    """Return the log evidence and the marginals, by the forward-backward algorithm; the shape is (settings, algorithms)."""
    n = likely.shape[1]
    move = np.full((n, n), (1 - _STAY) / (n - 1)) + np.eye(n) * (_STAY - (1 - _STAY) / (n - 1))
    forward, backward = np.empty_like(likely), np.ones_like(likely)
    state, evidence = np.full(n, 1 / n), 0.0
    for k in range(len(likely)):
        state = likely[k] * (state if k == 0 else state @ move)
        evidence += math.log(state.sum())
        forward[k] = state = state / state.sum()
    for k in range(len(likely) - 2, -1, -1):
        state = move @ (likely[k + 1] * backward[k + 1])
        backward[k] = state / state.sum()
    both = forward * backward
    return evidence, np.asarray(both / both.sum(axis=1, keepdims=True))
