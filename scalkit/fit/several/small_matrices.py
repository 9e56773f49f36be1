"""Inverses and determinants of many small symmetric matrices at once, several times faster than one by one in LAPACK."""

import numpy as np

from scalkit.arrays import Floats


def inverses(matrices: Floats, least: float) -> Floats:
    """Return the inverse of each symmetric positive definite matrix, by Gauss-Jordan elimination without pivoting.

    `matrices` of shape (n, k, k).
    `least`: no eigenvalue is smaller, and so no pivot but by rounding.
    """
    left = np.moveaxis(matrices, 0, -1).copy()
    for i in range(len(left)):
        pivot = np.maximum(left[i, i], least)
        left[i, i] = 1.0
        left[i] /= pivot
        for j in range(len(left)):
            if j != i:
                factor = left[j, i].copy()
                left[j, i] = 0.0
                left[j] -= factor * left[i]
    return np.moveaxis(left, -1, 0)


def log_determinants(matrices: Floats, least: Floats) -> Floats:
    """Return the natural logarithm of the determinant of each symmetric positive definite matrix.

    `matrices` of shape (n, k, k).
    `least` of shape (n,): as of `inverses`, of each matrix.
    """
    left = np.moveaxis(matrices, 0, -1).copy()
    total = np.zeros(left.shape[-1])
    for i in range(len(left)):
        pivot = np.maximum(left[i, i], least)
        total += np.log(pivot)
        left[i + 1 :, i + 1 :] -= left[i + 1 :, i, None] * (left[i, i + 1 :] / pivot)
    return total
