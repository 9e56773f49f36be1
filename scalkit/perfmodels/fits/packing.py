"""What packing scattered data takes, over sizes and strides, as collective operations do it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.markup import block, paragraph, table
from scalkit.perfmodels.fits.messages import MessageFit, checked_times, fit_messages
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.range_model import within

_NOTHING_S = 1e-9
"""What a clock cannot tell from nothing, as where a simulator makes the times."""


@dataclass(frozen=True, repr=False)
class PackingFit:
    """What `fit_packing` returns.

    Attributes
    ----------
    stride : int
        From one block to the next, in blocks.
    sizes : tuple of float, in B
        Of the data.
    times : tuple of float, in s
        What packing took at each size, and again unpacking.
    fit : MessageFit or None
        Of these times; None where nothing is seen.
    """

    stride: int
    sizes: tuple[float, ...]
    times: tuple[float, ...]
    fit: MessageFit | None

    def model(self) -> PerformanceModel:
        """Return the time of packing S bytes, and again of unpacking them; it holds for the sizes that were measured."""
        found: PerformanceModel = ExactModel("c*S", {"c": "0 s/B"}, name="packing")
        if self.fit is not None:
            found = self.fit.point_to_point(name="packing").time
        return within(found, "S", self.sizes[0], self.sizes[-1])

    def rows(self) -> list[tuple[str, str, str]]:
        """Return a row of texts for each size: size, time, time per byte."""
        return [
            (format_value(size, "B"), format_value(time, "s"), format_value(time / size, "s/B"))
            for size, time in zip(self.sizes, self.times, strict=True)
        ]

    def __repr__(self) -> str:
        return f"PackingFit(stride {self.stride}: {self.model().statement})"

    def _repr_html_(self) -> str:
        said = f"Stride {self.stride}, in blocks; once at each end of a message."
        return block(table(("data", "packing", "a byte"), self.rows()), paragraph(said))


def fit_packing(stride: int, sizes: ArrayLike, times: ArrayLike, *, statistic: str = "median") -> PackingFit:
    """Return what packing scattered data takes, and again unpacking them.

    Parameters
    ----------
    stride : int
        From one block to the next, in blocks.
    sizes : array_like of shape (sizes,), in B
        Of the data, at least three.
    times : array_like of shape (sizes, repetitions), in s
        Of packing and unpacking together, such as ``MPI_Pack`` and ``MPI_Unpack`` take.
    statistic : {"median", "q1", "min"}
        What makes one time of the repetitions.

    Raises
    ------
    DataError
        If there are fewer than three sizes, the stride is none, or a time is not positive.
    """
    at, table_of_times = checked_times(sizes, times)
    if isinstance(stride, bool) or not isinstance(stride, int | np.integer) or stride < 1:
        raise DataError(f"the stride is {stride!r:.20}; packing needs a positive one.")
    each = table_of_times / 2
    if float(np.nanmax(each)) < _NOTHING_S:
        return PackingFit(stride, tuple(at.tolist()), (0.0,) * len(at), None)
    fit = fit_messages(at, each, statistic=statistic, scatter=True)
    return PackingFit(stride, tuple(at.tolist()), fit.times, fit)
