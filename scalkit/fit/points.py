"""Points of one parameter or several, as a caller gives them: an array, a mapping, or values by name."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError


def at_points(points: ArrayLike | Mapping[str, ArrayLike], parameters: Sequence[str]) -> dict[str, Floats]:
    """Return the values of each parameter from points of shape (..., parameters) or from a mapping.

    Raises DataError if a parameter is missing or unknown, or the last axis does not have one entry for each.
    """
    if isinstance(points, Mapping):
        missing = [name for name in parameters if name not in points]
        if missing:
            raise DataError(f"the point has no '{missing[0]}'; give a value of each of {', '.join(parameters)}.")
        if unknown := [name for name in points if name not in parameters]:
            raise DataError(f"the model has no parameter '{unknown[0]}'; give a value of each of {', '.join(parameters)}.")
        return {name: np.asarray(points[name], dtype=np.float64) for name in parameters}
    at = np.asarray(points, dtype=np.float64)
    if at.ndim == 0 or at.shape[-1] != len(parameters):
        raise DataError(
            f"the points have shape {at.shape}; the last axis must have one entry for each of {', '.join(parameters)}."
        )
    return {name: at[..., i] for i, name in enumerate(parameters)}
