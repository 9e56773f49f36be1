"""A smooth surface through values, to which their errors are relative."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from scalkit.support.arrays import Floats

_ROUNDS = 5
_TYPICAL = 1.4826
"""The median absolute deviation of normal values is a standard deviation over this."""
_FAR = 2.0
"""Residuals so many standard deviations away count less, by their distance."""
_LEAST_SPREAD = 1e-3


def smoothed(points: Floats, y: Floats) -> Floats:
    """Return a quadratic surface through the logarithms of values, shape (points,).

    If errors were relative to the values themselves, a shift of all values would explain a part of
    each value with its error. Values far from the surface count less. Where there are too few
    points for the surface, the values are returned.

    Parameters
    ----------
    points : array of shape (points, parameters), positive
    y : array of shape (points,), positive
    """
    logs = np.log(points)
    logs = (logs - logs.mean(axis=0)) / logs.std(axis=0)
    squares = [logs[:, i] * logs[:, j] for i, j in combinations(range(logs.shape[1]), 2)]
    squares += [column**2 for column in logs.T]
    columns = np.column_stack([np.ones(len(y)), logs, *squares])
    if len(y) <= columns.shape[1] + 1:
        return y
    target, weights = np.log(y), np.ones(len(y))
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)[:, None]
        coefficients = np.linalg.lstsq(columns * root, target * root[:, 0], rcond=None)[0]
        off = np.abs(target - columns @ coefficients)
        spread = max(_TYPICAL * float(np.median(off)), _LEAST_SPREAD)
        weights = (_FAR * spread / np.maximum(off, _FAR * spread)) ** 2
    return np.asarray(np.exp(columns @ coefficients))
