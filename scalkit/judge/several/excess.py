"""By how much values over several parameters outgrow the best fit of a claim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalkit.judge.answer import fitted_coefficients
from scalkit.support.arrays import Floats, Ints


def excess_along(values: Floats, claimed: Sequence[Floats], x: Floats, lines: Sequence[Ints], *, with_constant: bool) -> float:
    """Return the factor by which values outgrow the best fit of a claim along one parameter.

    On each line of points on which the other parameters are fixed, the ratio of value and fit at
    the largest point over its least; the largest of them counts. Without a line the largest value
    takes the place of the largest point.

    Parameters
    ----------
    values : array of shape (points,), positive
    claimed : sequence of arrays of shape (points,)
        The claimed terms. They are fitted to the values with relative weights; no coefficient is
        negative.
    x : array of shape (points,)
        Coordinates of the parameter.
    lines : sequence of arrays of places
    with_constant : bool
        Whether a constant is fitted, too. One would excuse anything that falls too slowly.
    """
    columns = [np.ones_like(values), *claimed] if with_constant or not claimed else list(claimed)
    coefficients = fitted_coefficients(values, columns)
    fit = sum(c * column for c, column in zip(coefficients, columns, strict=True))
    ratio = values / np.maximum(fit, np.finfo(float).tiny)
    if not lines:
        return float(ratio[np.argmax(values)] / ratio.min())
    return max(float(ratio[line[np.argmax(x[line])]] / ratio[line].min()) for line in lines)
