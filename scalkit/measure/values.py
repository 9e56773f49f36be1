"""What the values of one function and metric have, over one parameter or several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Values:
    """The values of one function and metric, point by point.

    Attributes
    ----------
    function, metric, unit : str
    exact : bool
        Whether the values are free of noise (bytes, counts).
    values : ndarray of shape (points, runs), in `unit`
        The statistic over the repetitions of each run; NaN where a run has no value.
    y : ndarray of shape (points,), in `unit`
        The statistic over the runs.
    n_repetitions : ndarray of int, shape (points,)
        Repetitions that entered, all runs together.
    caveats : tuple of str
        What a reader should know, in plain words.
    decides : bool
        Whether a verdict on these values may decide an exit status.
    noise : float
        Standard deviation between runs over their mean, median over the points; NaN with fewer than two runs.
    resolution : float, in `unit`
        Differences up to this mean nothing, because values are rounded to such steps; 0 if they are not.
    repetitions : ndarray of shape (points, repetitions), in `unit`, optional
        Of the only run; None where there are several runs.
    simulated : bool
        Whether a simulator computed the values.
    virtual : bool
        Whether they are times of a virtual clock.
    lost : ndarray of shape (points,), optional
        Bytes that are not given back when the objects of a launch are freed, of memory per object.
    """

    function: str
    metric: str
    unit: str
    exact: bool
    values: NDArray[np.float64]
    y: NDArray[np.float64]
    n_repetitions: NDArray[np.int64]
    caveats: tuple[str, ...]
    decides: bool
    noise: float
    resolution: float = 0.0
    repetitions: NDArray[np.float64] | None = None
    simulated: bool = False
    virtual: bool = False
    lost: NDArray[np.float64] | None = None

    @property
    def replicates(self) -> NDArray[np.float64]:
        """Values that tell the noise, of shape (points, replicates): of the runs, or of the repetitions of an only run."""
        return self.values if self.repetitions is None else self.repetitions
