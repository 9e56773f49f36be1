"""What each further thing costs: a queued receive or a hop in the way of a message, a byte to reduce; a line with intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.markup import block, bullets, table
from scalkit.perfmodels.fits.affine import Affine, fit_line
from scalkit.perfmodels.fits.messages import spread_of
from scalkit.perfmodels.formulas.quantities import format_value, level_in, seconds_in
from scalkit.text import as_percent

_FEWEST = 3
"""A line needs three points to have a residual."""


@dataclass(frozen=True, repr=False)
class StepFit:
    """What `fit_matching`, `fit_hops` and `fit_reducing` return.

    Attributes
    ----------
    step : str
        What there is more and more of: ``"queued receive"``, ``"hop"`` or ``"reduced byte"``.
    counts : tuple of float
        How many there were.
    times : tuple of float, in s
        One for each count.
    fit : Affine
        Its ``constant`` is the time without any, its ``slope`` what each adds, in s, both with intervals.
    level : float
    """

    step: str
    counts: tuple[float, ...]
    times: tuple[float, ...]
    fit: Affine
    level: float

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

    def __str__(self) -> str:
        low, high = (format_value(end, "s") for end in self.interval)
        return f"{format_value(self.each, 's')} for each {self.step} ({low} to {high})"

    def __repr__(self) -> str:
        return f"StepFit({self})"

    def _repr_html_(self) -> str:
        rows = [
            (name, format_value(value, "s"), " to ".join(format_value(end, "s") for end in ends))
            for name, value, ends in (
                (f"for each {self.step}", self.each, self.interval),
                ("without any", self.fit.constant, self.fit.constant_interval),
            )
        ]
        return block(table(("", "time", f"interval of {as_percent(self.level, 'g')}"), rows), bullets(self.remarks))


def fit_matching(queued: ArrayLike, times: ArrayLike, *, level: float = 0.9) -> StepFit:
    """Return what a message pays for each receive that waits for another message.

    Parameters
    ----------
    queued : array_like of shape (queues,)
        Receives that wait on one side, at least three numbers.
    times : array_like of shape (queues,) or (queues, repetitions), in s
        Round trips that pass the queue once.
    level : float
        Of the intervals.

    Raises
    ------
    DataError
        If there are fewer than three numbers, or a time is not positive.

    References
    ----------
    Hoefler et al. 2010, ``T_match(R) <= 100 ns R`` (docs/references.md).
    """
    return _fitted("queued receive", queued, times, level)


def fit_hops(hops: ArrayLike, times: ArrayLike, *, level: float = 0.9) -> StepFit:
    """Return what each hop adds to the time of a message.

    Parameters
    ----------
    hops : array_like of shape (peers,)
        Links between the two nodes, see `hops_of`; several peers may be equally far.
    times : array_like of shape (peers,) or (peers, repetitions), in s
        One way: half of a round trip.
    level : float

    Raises
    ------
    DataError
        If there are fewer than three peers, all are equally far, or a time is not positive.
    """
    return _fitted("hop", hops, times, level)


def fit_reducing(sizes: ArrayLike, times: ArrayLike, *, level: float = 0.9) -> StepFit:
    """Return what a reduction pays for each byte, `reduce_per_byte` of `PointToPoint`.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
        Of the vectors, at least three.
    times : array_like of shape (sizes,) or (sizes, repetitions), in s
        Of ``MPI_Reduce_local``.
    level : float
        Of the intervals.

    Raises
    ------
    DataError
        If there are fewer than three sizes, or a time is not positive.
    """
    return _fitted("reduced byte", sizes, times, level)


def _fitted(step: str, counts: ArrayLike, times: ArrayLike, level: float) -> StepFit:
    at, table = seconds_in(counts, f"numbers of a {step}", "plain numbers"), seconds_in(times)
    level = level_in(level)
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
    fit = fit_line(at, middle, spread_of(rows) * middle, level)
    return StepFit(step, tuple(at.tolist()), tuple(middle.tolist()), fit, level)
