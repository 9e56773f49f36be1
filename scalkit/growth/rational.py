"""Exact rational coefficients: their size, and logarithms of those that no float could hold."""

import math
from fractions import Fraction


def n_bits(number: Fraction) -> int:
    """Return the binary digits of the longer of numerator and denominator."""
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def log2(number: Fraction) -> Fraction:
    """Return the logarithm of a positive number, rounded as a float is."""
    return Fraction(math.log2(number.numerator) - math.log2(number.denominator))


def is_power_of_two(number: Fraction) -> bool:
    """Return whether a positive number is 2 to a whole power."""
    return all(n & (n - 1) == 0 for n in (number.numerator, number.denominator))
