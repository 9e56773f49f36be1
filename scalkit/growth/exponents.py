"""Exponents of 2^x, x and log2 x."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_ZERO = Fraction(0)


@dataclass(frozen=True, order=True)
class Exponents:
    """Exponents of 2^x, x and log2 x; ordered as the growths are."""

    exponential: Fraction = _ZERO
    power: Fraction = _ZERO
    log: Fraction = _ZERO

    def __add__(self, other: Exponents) -> Exponents:
        return Exponents(self.exponential + other.exponential, self.power + other.power, self.log + other.log)

    def scaled(self, factor: Fraction) -> Exponents:
        """Return every exponent times `factor`."""
        return Exponents(self.exponential * factor, self.power * factor, self.log * factor)

    def by_rank(self) -> list[tuple[int, Fraction]]:
        """Return (rank, exponent) without zeros, the fastest first; ranks: 3 is 2^x, 2 is x, 1 is log2 x."""
        return [(rank, e) for rank, e in ((3, self.exponential), (2, self.power), (1, self.log)) if e]

    def leading(self) -> Exponents:
        """Return the exponent of the fastest factor alone, the others zero."""
        if self.exponential:
            return Exponents(exponential=self.exponential)
        return Exponents(power=self.power) if self.power else Exponents(log=self.log)
