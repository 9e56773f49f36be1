"""The cost of derived datatypes: messages of blocks that do not lie side by side, against contiguous ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.perfmodels.fits.medians import of_medians
from scalkit.perfmodels.formulas.quantities import Range, format_value, seconds_in, values_in
from scalkit.perfmodels.models.exact import ExactModel


@dataclass(frozen=True)
class StrideFit:
    """Factors of strided messages over a contiguous one.

    Attributes
    ----------
    size : float, in B
        Data in a message, the same for all strides.
    strides : tuple of int
        From one block to the next, in blocks.
    factors, low, high : tuple of float
        Time over that of the contiguous message, with intervals.
    contiguous : float, in s
        Time of the contiguous message, one way.
    """

    size: float
    strides: tuple[int, ...]
    factors: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    contiguous: float

    @property
    def worst(self) -> int:
        """Index of the stride that costs most."""
        return int(np.argmax(self.factors))

    def worst_case(self) -> ExactModel:
        """Return the upper bound ``t*S`` of strided messages from this size on: the slowest memory decides.

        References
        ----------
        Hoefler et al. 2010, section 3 and figure 1(b) (docs/references.md).
        """
        each = self.factors[self.worst] * self.contiguous / self.size
        source = f"stride {self.strides[self.worst]} at {format_value(self.size, 'B')}"
        return ExactModel("t*S", {"t": f"{each!r} s/B"}, {"S": Range(low=self.size)}, "strided-worst", source)

    def __str__(self) -> str:
        stride, factor = self.strides[self.worst], self.factors[self.worst]
        return f"up to {factor:.3g} times a contiguous message, at stride {stride} ({format_value(self.size, 'B')})"


def fit_strides(size: float, strides: ArrayLike, times: ArrayLike) -> StrideFit:
    """Return how much slower strided messages are than a contiguous one.

    Parameters
    ----------
    size : float, in B
        Of the data in each message.
    strides : array_like of shape (strides,)
        From one block to the next, in blocks; 0 for the contiguous message.
    times : array_like of shape (strides, repetitions), in s
        Round trips.

    Raises
    ------
    DataError
        If the contiguous message or all others are missing, a stride is no whole number, or a size or time is not positive.
    """
    at, rows, data = seconds_in(strides, "strides", "whole numbers"), seconds_in(times), float(values_in(size, "S"))
    is_table = at.ndim == 1 and rows.ndim == 2 and len(at) == len(rows) and {0.0} < set(at.tolist())
    if not is_table or data <= 0 or (at < 0).any() or (at % 1).any() or not (np.nanmin(rows, axis=1) > 0).all():
        raise DataError(
            f"strides of {data:g} B need positive times of the contiguous message, stride 0, and of whole strides from 1 on, "
            f"got strides {at.tolist()!s:.40} and times of shape {rows.shape}; measure again."
        )
    plain = rows[at == 0][0]
    contiguous = np.broadcast_to(plain, rows[at > 0].shape)
    known = of_medians(lambda strided, other: strided / other, (rows[at > 0], contiguous))
    return StrideFit(data, tuple(at[at > 0].astype(int).tolist()), *known, float(np.nanmedian(plain)) / 2)
