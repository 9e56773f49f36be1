"""What the values of one function and metric have, over one parameter or several."""

from dataclasses import dataclass

from scalkit.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Values:
    """The values of one function and metric, point by point.

    `exact`: whether the values are free of noise (bytes, counts).
    `values` of shape (points, runs), in `unit`: the statistic over the repetitions of each run; NaN where a run has no
    value.
    `y` of shape (points,), in `unit`: the statistic over the runs.
    `n_repetitions`, shape (points,): repetitions that entered, all runs together.
    `caveats`: what a reader should know, in plain words.
    `decides`: whether a verdict on these values may decide an exit status.
    `noise`: standard deviation between runs over their mean, median over the points; NaN with fewer than two runs.
    `resolution` in `unit`: differences up to this mean nothing, because values are rounded to such steps; 0 if they are
    not.
    `repetitions` of shape (points, repetitions), in `unit`: of the only run; None where there are several runs.
    `simulated`: whether a simulator computed the values.
    `virtual`: whether they are times of a virtual clock.
    `lost` of shape (points,): bytes that are not given back when the objects of a launch are freed, of memory per
    object.
    """

    function: str
    metric: str
    unit: str
    exact: bool
    values: Floats
    y: Floats
    n_repetitions: Ints
    caveats: tuple[str, ...]
    decides: bool
    noise: float
    resolution: float = 0.0
    repetitions: Floats | None = None
    simulated: bool = False
    virtual: bool = False
    lost: Floats | None = None

    @property
    def replicates(self) -> Floats:
        """Values that tell the noise, of shape (points, replicates): of the runs, or of the repetitions of an only run."""
        return self.values if self.repetitions is None else self.repetitions
