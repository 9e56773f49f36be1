"""What derived datatypes cost: messages of blocks that do not lie side by side, against contiguous ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.markup import block, paragraph, table
from scalkit.perfmodels.fits.messages import MessageFit, checked_times, fit_messages
from scalkit.perfmodels.formulas.quantities import format_value, level_in, seconds_in, values_in
from scalkit.perfmodels.models.exact import ExactModel, within
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.text import as_percent


@dataclass(frozen=True, repr=False)
class StrideFit:
    """What `fit_strides` returns.

    Attributes
    ----------
    size : float, in B
        Data in a message, the same for all strides.
    strides : tuple of int
        In blocks.
    factors, low, high : tuple of float
        Time over that of a contiguous message, with intervals.
    contiguous : float, in s
        Round trip of the contiguous message.
    level : float
    """

    size: float
    strides: tuple[int, ...]
    factors: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    contiguous: float
    level: float

    def copy_per_byte(self, stride: int) -> float:
        """Return what packing, and again unpacking, takes at a stride, in s/B, as `with_datatype` takes it.

        Raises DataError if that stride was not measured.
        """
        if stride not in self.strides:
            known = ", ".join(map(str, self.strides))
            raise DataError(f"the stride {stride!r:.20} was not measured; there are {known}.")
        more = self.factors[self.strides.index(stride)] - 1
        return max(0.0, more * self.contiguous / 4 / self.size)  # a round trip packs and unpacks twice

    @property
    def worst(self) -> tuple[int, float]:
        """The stride that costs most, and its factor."""
        k = int(np.argmax(self.factors))
        return self.strides[k], self.factors[k]

    def rows(self) -> list[tuple[str, str, str]]:
        """Return a row of texts for each stride: stride, factor, interval."""
        return [
            (str(stride), f"{factor:.3g}", f"{low:.3g} to {high:.3g}")
            for stride, factor, low, high in zip(self.strides, self.factors, self.low, self.high, strict=True)
        ]

    def __str__(self) -> str:
        stride, factor = self.worst
        return f"up to {factor:.3g} times a contiguous message, at stride {stride} ({format_value(self.size, 'B')})"

    def __repr__(self) -> str:
        return f"StrideFit({self})"

    def _repr_html_(self) -> str:
        return block(
            table(("stride", "times a contiguous message", f"interval of {as_percent(self.level, 'g')}"), self.rows()),
            paragraph(f"Worst: {self}."),
        )


def fit_strides(
    size: float, strides: ArrayLike, times: ArrayLike, contiguous: ArrayLike, *, level: float = 0.9, seed: int = 1
) -> StrideFit:
    """Return how much slower strided messages are than contiguous ones.

    Parameters
    ----------
    size : float, in B
        Of the data.
    strides : array_like of shape (strides,)
        From one block to the next, in blocks, at least 1.
    times : array_like of shape (strides, repetitions), in s
        Round trips.
    contiguous : array_like of shape (repetitions,), in s
        The same of a plain message.
    level : float
        Of the intervals, from medians drawn again.
    seed : int

    Raises
    ------
    DataError
        If the size is not positive, there is no stride, a stride is below 1, or a time is not positive.
    """
    size, level = float(values_in(size, "S")), level_in(level)
    if not size > 0:
        raise DataError(f"messages of {size:g} B have no strides; give a positive size.")
    steps, rows = np.atleast_1d(seconds_in(strides, "strides", "whole numbers")), seconds_in(times)
    plain = seconds_in(contiguous, "times of contiguous messages").ravel()
    if not np.array_equal(steps, np.rint(steps)):
        raise DataError(f"the strides are {str(strides)[:40]!r}; give whole numbers.")
    steps = steps.astype(np.int64)
    if not len(steps) or rows.ndim != 2 or len(rows) != len(steps) or (steps < 1).any():
        raise DataError(f"there must be a row of times for each stride from 1 on, got {len(steps)} and {rows.shape}.")
    if not (plain[np.isfinite(plain)] > 0).all() or not (rows[np.isfinite(rows)] > 0).all():
        raise DataError("a time of a strided message is not positive; times are in s. Leave it out.")
    rng = np.random.default_rng(seed)
    ratios = np.stack([_medians(row, rng) / _medians(plain, rng) for row in rows])
    low, high = np.quantile(ratios[:, 1:], [(1 - level) / 2, (1 + level) / 2], axis=1)
    factors, low, high = (tuple(one.tolist()) for one in (ratios[:, 0], low, high))
    return StrideFit(float(size), tuple(steps.tolist()), factors, low, high, float(np.nanmedian(plain)), level)


_DRAWS = 999


def _medians(values: Floats, rng: np.random.Generator) -> Floats:
    """Return the median of a sample, then those of samples drawn again from it; NaN without values."""
    kept = values[np.isfinite(values)]
    if not len(kept):
        return np.full(1 + _DRAWS, np.nan)
    return np.append(np.median(kept), np.median(rng.choice(kept, (_DRAWS, len(kept))), axis=1))


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
