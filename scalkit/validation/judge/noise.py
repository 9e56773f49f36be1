"""What the values of a series are taken to deviate by: standard errors, prior of the noise, step of the values."""

import numpy as np

from scalkit.arrays import Floats
from scalkit.fit.regression.locations import standard_errors
from scalkit.fit.regression.priors import EXACT, TIMES, NoisePrior
from scalkit.measure.reduce import Values


def errors_of(series: Values) -> Floats:
    """Return the relative standard error of each value; 0 where the values are free of noise."""
    is_positive = series.y > 0
    if series.exact or series.virtual or not is_positive.any():
        return np.zeros(len(series.y))
    # A value of 0 has no relative error: its point counts as not repeated.
    is_kept = is_positive[:, None] & (series.replicates > 0)
    y = np.where(is_positive, series.y, series.y[is_positive].min())
    return standard_errors(np.where(is_kept, series.replicates, np.nan), y)


def noise_of(series: Values) -> NoisePrior:
    """Return the prior of the noise of a series."""
    return EXACT if series.exact or series.virtual else TIMES


def step_of(series: Values) -> float:
    """Return the step in which values are counted: their resolution, or 1 for whole numbers.

    Whole numbers that are all equal are no rounded growth: one message is one message.
    """
    if series.resolution or not series.exact:
        return series.resolution
    return float(bool(np.ptp(series.y) > 0 and (series.y == np.round(series.y)).all()))
