"""Cost of each further queued receive or reduced byte, as a line with intervals."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.perfmodels.fits.affine import Affine, fit_line
from scalkit.perfmodels.fits.messages import spread_of
from scalkit.perfmodels.formulas.quantities import seconds_in
from scalkit.support.arrays import Floats

_FEWEST = 3
"""A line needs three points to have a residual."""


Step = Literal["queued receive", "reduced byte"]
"""What there is more and more of: receives that wait for other messages, bytes to reduce."""


@dataclass(frozen=True)
class StepFit:
    """The line of times over the number of steps.

    Attributes
    ----------
    step : str
    counts : tuple of float
        How many there were.
    times : tuple of float, in s
        One for each count.
    fit : Affine
        Its ``constant`` is the time without any, its ``slope`` what each adds, in s, both with intervals.
    """

    step: Step
    counts: tuple[float, ...]
    times: tuple[float, ...]
    fit: Affine

    @property
    def each(self) -> float:
        """What one more costs, in s."""
        return self.fit.slope

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of `each`, in s."""
        return self.fit.slope_interval

    @property
    def is_seen(self) -> bool:
        """Whether the interval excludes that it costs nothing."""
        return self.interval[0] > 0

    @property
    def residuals(self) -> Floats:
        """Time over fit minus one, at each count."""
        return np.asarray(np.array(self.times) / self.fit(np.array(self.counts)) - 1)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know."""
        found = [] if self.is_seen else [f"No cost of a {self.step} is visible: the interval reaches to zero."]
        if "slope" in self.fit.bounded:
            found.append(f"The cost of a {self.step} came out negative without a bound; it is held at zero.")
        return tuple(found)


def fit_steps(step: Step, counts: ArrayLike, times: ArrayLike) -> StepFit:
    """Return what each further step costs.

    Parameters
    ----------
    step : {"queued receive", "reduced byte"}
    counts : array_like of shape (counts,)
        How many there were, at least three numbers; some may be equal.
    times : array_like of shape (counts,) or (counts, repetitions), in s
        Round trips that pass a queue once, or reductions such as ``MPI_Reduce_local``.

    Raises
    ------
    DataError
        If there are fewer than three rows, all counts are equal, or a time is not positive.

    References
    ----------
    Hoefler et al. 2010, ``T_match(R) <= 100 ns R`` (docs/references.md).
    """
    at, table = seconds_in(counts, f"numbers of a {step}", "plain numbers"), seconds_in(times)
    rows = table[:, None] if table.ndim == 1 else table
    if at.ndim != 1 or rows.ndim != 2 or len(rows) != len(at) or len(at) < _FEWEST or len(set(at.tolist())) < 2:
        raise DataError(
            f"the cost of a {step} needs {_FEWEST} rows of times or more, at different numbers, got {at.shape} and "
            f"{np.shape(times)}; measure more."
        )
    known = ~np.isnan(rows)
    if not ((at >= 0) & np.isfinite(at)).all() or not ((rows > 0) & (rows < np.inf))[known].all() or not known.any(1).all():
        raise DataError(
            f"the numbers of a {step} are finite and not negative, times positive and finite, in s; leave others out."
        )
    order = np.argsort(at, kind="stable")
    at, rows = at[order], rows[order]
    middle = np.nanmedian(rows, axis=1)
    fit = fit_line(at, middle, spread_of(rows) * middle)
    return StepFit(step, tuple(at.tolist()), tuple(middle.tolist()), fit)
