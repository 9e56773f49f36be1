"""Ticks of a ruler as a figure needs them."""

from scalkit.growth import Growth


def n_factors(growth: Growth) -> int:
    """Return of how many factors a growth is."""
    return sum(
        exponent != 0
        for name in growth.parameters
        for exponent in (growth.exponential(name), growth.power(name), growth.log(name))
    )
