"""Prior probabilities of growths, misfits and events: every assumption of the regression.

The numbers were chosen on simulated series of `benchmarks/judging_series.py` and on the training
half of `benchmarks/real_times.py`; accuracy is reported on other seeds and on the other half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from scalkit.growth import Growth

CONSTANT = 0.12
"""Prior of values that do not grow at all. A test of scaling is written for what may grow."""

CLAIM = 0.4
"""Extra prior of the claimed growth: its author knows the algorithm."""

LOWER_TERM = 0.3
"""Prior of a second, slower term: programs have set-up, tables and loops beside the main one."""

DECAY = 0.5
"""Each power more is rarer by exp(-0.5): steep growths must not win by what noise allows."""

FALLING = 0.7
"""Weight of a falling term: as common as an odd power."""

NEGATIVE = 0.15
"""Prior of a negative constant or lower term, as of p - 1 partners or of levels below a node."""

FALLING_SLOWLY = 0.1
"""Prior, of values that do not grow, that a logarithm is subtracted from them."""

_COMMON, _HALF, _ODD = 4.0, 2.0, 1.0
"""Weights of whole powers, of half powers and of all others: most algorithms have whole ones."""

_LOGARITHMS = (1.0, 0.6, 0.2)
"""Weights of log^0, log^1 and log^2 beside a power."""

_ODD_LOGARITHM = 0.2
"""Weight of a fractional power of a logarithm, which hardly any algorithm has."""

_EXPONENTIAL = 3.0
"""An exponential counts as steep as this power; it competes only beside an exponential claim."""


@lru_cache(4096)
def growth_weight(growth: Growth, parameter: str) -> float:
    """Return the prior weight of a leading growth along a parameter, not normalised."""
    exponents = growth.exponents(parameter)
    if exponents < Growth().exponents(parameter):
        return FALLING
    power, log = exponents.power, exponents.log
    commonness = _COMMON if power.denominator == 1 else _HALF if power.denominator == 2 else _ODD
    is_plain = log.denominator == 1 and 0 <= log < len(_LOGARITHMS)
    commonness *= _LOGARITHMS[int(log)] if is_plain else _ODD_LOGARITHM
    steepness = float(power) + 0.15 * float(log)
    if exponents.exponential > 0:
        steepness += _EXPONENTIAL
    return commonness * math.exp(-DECAY * max(steepness, 0.0))


@lru_cache(64)
def falling_growths(parameter: str) -> tuple[Growth, ...]:
    """Return the falling growths that always compete, so that falling values have a model."""
    powers = [Fraction(-k, 8) for k in (1, 2, 4, 6, 8, 12, 16)]
    return (*(Growth.of(parameter, power=power) for power in powers), Growth.of(parameter, log=-1))


@lru_cache(64)
def lower_growths(parameter: str) -> tuple[Growth, ...]:
    """Return the growths that may stand as a second term below the leading one."""
    pairs = (("0", 1), ("1/4", 0), ("1/2", 0), ("1", 0), ("1", 1), ("3/2", 0), ("2", 0))
    return tuple(Growth.of(parameter, power=power, log=log) for power, log in pairs)


@dataclass(frozen=True)
class NoisePrior:
    """Prior of what values deviate by from every law.

    Attributes
    ----------
    drifts : tuple of (float, float)
        Standard deviations at the smallest point of a Brownian motion that is zero at the largest
        point, relative to the values, with their probabilities: programs follow another law at
        small scales, and machines drift.
    errors : tuple of (float, float)
        Standard deviations of an independent error of each point, relative, with probabilities.
    point_off, pair_off, step : float
        Prior probabilities that one point is off by a factor; that two points are by the same one
        (a library takes another algorithm there); that all points below some place are (it changes
        its algorithm, data outgrow a cache).
    point_size, step_size : float
        Standard deviations of their relative sizes. A point may be off by any factor, as where a
        run failed early, or met another job.
    """

    drifts: tuple[tuple[float, float], ...]
    errors: tuple[tuple[float, float], ...]
    point_off: float = 0.0
    pair_off: float = 0.0
    step: float = 0.0
    point_size: float = 1.2
    step_size: float = 0.7


TIMES = NoisePrior(
    # Half of the programs keep one law at all scales; a factor of 1.5 to 2 at the smallest
    # scale is not rare.
    drifts=((0.0, 0.5), (0.05, 0.12), (0.15, 0.13), (0.4, 0.15), (0.9, 0.1)),
    errors=((0.002, 0.35), (0.012, 0.3), (0.05, 0.23), (0.15, 0.12)),
    # Measured series have events often (other jobs, caches, NUMA, protocols).
    point_off=0.15,
    step=0.15,
)
"""Real times."""

EXACT = NoisePrior(
    # No jitter: counts of an algorithm and virtual times follow a formula to the last digits,
    # those of whole programs but for start-up code, libraries and allocators.
    drifts=((0.0, 0.45), (0.003, 0.1), (0.01, 0.15), (0.05, 0.15), (0.2, 0.15)),
    errors=((1e-6, 0.2), (1e-5, 0.1), (1e-4, 0.15), (1e-3, 0.2), (3e-3, 0.15), (0.01, 0.1), (0.03, 0.05), (0.1, 0.05)),
    point_off=0.05,
    pair_off=0.05,
    step=0.05,
)
"""Bytes, counts and virtual times: values without noise of the clock."""
