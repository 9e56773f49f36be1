"""Strong scaling: times that fall as processes are added are modelled as cost, processes times time.

No class of the search space falls, so a constant would be the best model of such times. Their cost does not fall, and what
it grows as is what parallelism costs.
"""

from dataclasses import dataclass, replace

import numpy as np

from scalkit.fit.pure_error import trend_tail
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.text import as_percent
from scalkit.validation.expectation import Expectation

SIGNIFICANCE = 0.05  # beside `LEAST_FALL`, which is what decides of few settings: four values in order happen once in 24
LEAST_FALL = 0.8  # a machine alone drifts by up to a fifth


@dataclass(frozen=True, eq=False)
class StrongScaling:
    """What was found in times that fall.

    `series`: the times.
    `cost`: to be modelled instead.
    `fall`: last value over the first one; 0.1 is a speed-up of 10.
    `tail`: probability that values without a trend fall as consistently as these.
    """

    series: Series
    cost: Series
    fall: float
    tail: float

    @property
    def sentence(self) -> str:
        """What was found and what follows, in plain words."""
        one = self.series
        return (
            f"the {one.metric} of {one.function} falls to {as_percent(self.fall, '.3g')} from {one.parameter} = {one.x[0]:g} to "
            f"{one.x[-1]:g}, as for a problem of fixed size (strong scaling); its cost {self.cost.metric} is modelled"
        )


def strong_scaling(series: Series, significance: float = SIGNIFICANCE) -> StrongScaling | None:
    """Return what strong scaling makes of a series, or None if its values do not fall.

    They fall if a rank test against "no trend" says so at `significance` (Mann-Kendall, exact; a tie counts as a rise) and
    the last value is less than 80 % of the first, because small drifts have other causes.

    `series`: at least four settings; fewer cannot pass the test at 5 %.

    Source: Mann, Nonparametric tests against trend, Econometrica 13 (1945).
    """
    y = series.y
    if len(y) < 2 or not (np.isfinite(y).all() and (y > 0).all()):
        return None
    if y[-1] >= LEAST_FALL * y[0] or (tail := trend_tail((-y).tolist())) > significance:
        return None
    return StrongScaling(series, cost_series(series), float(y[-1] / y[0]), tail)


def cost_series(series: Series) -> Series:
    """Return the series times its parameter: processor-seconds for times, in the same unit.

    The metric is called ``p*time``; caveats, and whether it may decide, stay. A resolution grows as the values do.
    """
    return replace(
        series,
        metric=f"{series.parameter}*{series.metric}",
        values=series.values * series.x[:, np.newaxis],
        y=series.y * series.x,
        resolution=series.resolution * float(series.x.max()),
        repetitions=None if series.repetitions is None else series.repetitions * series.x[:, np.newaxis],
    )


def cost_expectation(expectation: Expectation) -> Expectation:
    """Return what is expected of the cost: a falling expectation, which speaks of times, times the parameter.

    ``1/p`` becomes ``1`` and ``log(p)/p`` becomes ``log(p)``; an expectation that does not fall speaks of the cost already,
    unless it is the growth of a performance model in seconds.
    Deviations stay if they were given.
    """
    if expectation.growth >= Growth.constant() and not expectation.is_of_time:
        return expectation
    cost = expectation.growth * Growth.of(expectation.parameter, power=1)
    return Expectation(cost, expectation.deviation if expectation.has_own_deviation else None, expectation.parameter)
