"""Strong scaling: a claim that falls, such as 1/p, is judged by the product of parameter and value.

A problem of fixed size that is shared by p processes takes 1/p of the time and no more, so the
product p * time stays constant. What the product grows as is the cost of parallelism.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.expectation import Expectation
from scalkit.measure import Series


def falls(growth: Growth) -> bool:
    """Return whether a claim says that values become smaller."""
    return growth < Growth()


def product_metric(parameter: str, metric: str) -> str:
    """Return the name of the product of parameter and metric."""
    return f"{parameter}*{metric}"


def product_series(series: Series) -> Series:
    """Return the series times its parameter: processor-seconds for times, in the same unit.

    Caveats, and whether it may decide, stay. A resolution grows as the values do.
    """
    return replace(
        series,
        metric=product_metric(series.parameter, series.metric),
        values=series.values * series.x[:, np.newaxis],
        y=series.y * series.x,
        resolution=series.resolution * float(series.x.max()),
        repetitions=None if series.repetitions is None else series.repetitions * series.x[:, None],
    )


def product_expectation(expectation: Expectation) -> Expectation:
    """Return the expectation about the product: ``log(p)`` for ``log(p)/p``.

    A deviation stays if it was given.
    """
    growth = expectation.growth * Growth.of(expectation.parameter, power=1)
    own = expectation.deviation if expectation.has_own_deviation else None
    return Expectation(growth, own, expectation.parameter)


def product_sentence(series: Series, expectation: Expectation) -> str:
    """Return the note that a function is judged by its product.

    Parameters
    ----------
    series : Series
        As it was measured.
    expectation : Expectation
        As it was claimed.
    """
    name = product_metric(series.parameter, series.metric)
    claim = product_expectation(expectation).growth
    return (
        f"the claim {expectation.growth} about {series.function} falls, so {name} is judged, "
        f"{series.parameter} times the {series.metric}, with the claim {claim}"
    )
