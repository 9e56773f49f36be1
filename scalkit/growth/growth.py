"""Growth: a product of rational powers of 2^x, x and log2 x for each parameter, without a coefficient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, total_ordering
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import ExpectationError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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


_NONE = Exponents()
_SMALL = 2**25


@total_ordering
@dataclass(frozen=True)
class Growth:
    """A term of the ruler, for example ``p^(1/2)*log(p)``; logarithms are base 2.

    Values are immutable, hashable, and form an ordered group under ``*``: growths of one parameter are compared
    lexicographically by the exponents of 2^x, x and log x, as their limits for large x demand.

    Parameters
    ----------
    factors : tuple of (str, Exponents)
        Sorted by parameter name, without parameters whose exponents are all zero; use `Growth.of` to make one.

    References
    ----------
    Shudler et al. 2015, section 2.3 (docs/references.md).
    """

    factors: tuple[tuple[str, Exponents], ...] = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Growth) or hash(self) != hash(other) or self.factors != other.factors:
            return False
        other.__dict__["factors"] = self.factors  # fractions are compared slowly, and the same ones at once
        return True

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:  # fractions hash slowly, and growths are keys everywhere
            found = self.__dict__["_hash"] = hash(self.factors)
        return int(found)

    def __reduce__(self) -> tuple[type[Growth], tuple[object, ...]]:
        return type(self), (self.factors,)  # another process hashes names otherwise

    @classmethod
    def constant(cls) -> Growth:
        """Return the growth 1."""
        return cls()

    @classmethod
    def of(
        cls, parameter: str, exponential: Fraction | int | str = 0, power: Fraction | int | str = 0, log: Fraction | int | str = 0
    ) -> Growth:
        """Return ``2^(exponential*x) * x^power * log2(x)^log`` of one parameter; exponents are exact rationals."""
        return cls.product({parameter: Exponents(Fraction(exponential), Fraction(power), Fraction(log))})

    @classmethod
    def product(cls, exponents: Mapping[str, Exponents]) -> Growth:
        """Return the product over several parameters."""
        return cls(tuple(sorted((name, e) for name, e in exponents.items() if e != _NONE)))

    @classmethod
    def parse(cls, text: object, parameter: str | None = None) -> Growth:
        """Return the growth of the leading term of `text`, see `scalkit.growth.parse.parse_growth`."""
        from scalkit.growth.parse import parse_growth

        return parse_growth(text, parameter)

    @property
    def _order(self) -> tuple[str, tuple[float, ...]] | None:
        """The parameter and its exponents as floats, which order as the fractions do; None if that is not certain.

        Different fractions below 2^25 over below 2^25 are different floats, in the same order.
        """
        if "_ordered" not in self.__dict__:
            name, found = self.factors[0] if self.factors else ("", _NONE)
            three = (found.exponential, found.power, found.log)
            is_small = all(abs(e.numerator) < _SMALL and e.denominator < _SMALL for e in three)
            is_plain = len(self.factors) < 2 and is_small
            self.__dict__["_ordered"] = (name, tuple(float(e) for e in three)) if is_plain else None
        known: tuple[str, tuple[float, ...]] | None = self.__dict__["_ordered"]
        return known

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that it depends on, sorted."""
        return tuple(name for name, _ in self.factors)

    @property
    def is_constant(self) -> bool:
        """Whether it is the growth 1."""
        return not self.factors

    def exponents(self, parameter: str) -> Exponents:
        """Return the exponents of `parameter`; zeros if it does not depend on it."""
        return dict(self.factors).get(parameter, _NONE)

    def leading(self, parameter: str) -> Growth:
        """Return the power of the fastest class alone: p for ``p*log(p)``, 1 if it does not depend on `parameter`."""
        return Growth.product({parameter: self.exponents(parameter).leading()})

    def exponential(self, parameter: str) -> Fraction:
        """Return the exponent c of ``2^(c*x)``."""
        return self.exponents(parameter).exponential

    def power(self, parameter: str) -> Fraction:
        """Return the exponent a of ``x^a``."""
        return self.exponents(parameter).power

    def log(self, parameter: str) -> Fraction:
        """Return the exponent b of ``log2(x)^b``."""
        return self.exponents(parameter).log

    def __mul__(self, other: Growth) -> Growth:
        if not isinstance(other, Growth):
            return NotImplemented
        if not self.factors or not other.factors:
            return self if self.factors else other
        mine, others = dict(self.factors), dict(other.factors)
        both = {name: mine[name] + others[name] for name in mine.keys() & others.keys()}
        return Growth.product(mine | others | both)

    def __truediv__(self, other: Growth) -> Growth:
        if not isinstance(other, Growth):
            return NotImplemented
        return self * other**-1

    def __pow__(self, exponent: Fraction | int) -> Growth:
        factor = Fraction(exponent)
        return Growth.product({name: e.scaled(factor) for name, e in self.factors})

    def __lt__(self, other: Growth) -> bool:
        if not isinstance(other, Growth):
            return NotImplemented
        mine, others = self._order, other._order
        if mine and others and (mine[0] == others[0] or not mine[0] or not others[0]):
            return mine[1] < others[1]
        names = {*self.parameters, *other.parameters}
        if len(names) > 1:
            raise ExpectationError(
                f"cannot order '{self}' and '{other}': they depend on different parameters "
                f"({', '.join(sorted(names))}). Compare growths of one parameter."
            )
        return all(self.exponents(name) < other.exponents(name) for name in names) if names else False

    def log2_value(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Return log2 of the growth at `x`, which never overflows for a finite `x`.

        `x`: values of the parameter. At 1 a positive power of log2 x gives -inf, a negative one +inf; below 1 it gives NaN.
        """
        values = x if isinstance(x, Mapping) else dict.fromkeys(self.parameters, x)
        for name in self.parameters:
            if name not in values:
                raise ExpectationError(f"'{self}' needs a value of '{name}'; there are {', '.join(values) or 'none'}.")
        shape = np.broadcast_shapes(*(np.shape(v) for v in values.values())) if values else np.shape(np.asarray(x))
        total = np.zeros(shape)
        for name, e in self.factors:
            at = np.asarray(values[name], dtype=np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                log2 = np.log2(at)
                total = total + float(e.exponential) * at + float(e.power) * log2
                if e.log:
                    total = total + float(e.log) * np.log2(log2)
        return total

    def __call__(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Return the growth at `x`; infinite where it exceeds the range of floating-point numbers."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp2(self.log2_value(x)))

    def __str__(self) -> str:
        found = self.__dict__.get("_text")
        if found is None:
            from scalkit.growth.render import to_text

            found = self.__dict__["_text"] = to_text(self)
        return str(found)

    def __repr__(self) -> str:
        return f"Growth({str(self)!r})"

    def to_latex(self) -> str:
        """Return LaTeX, for example ``p^{1/2} \\log p``."""
        from scalkit.growth.render import to_latex

        return to_latex(self)

    def to_mathml(self) -> str:
        """Return a presentation MathML row without the enclosing ``<math>``."""
        from scalkit.growth.render import to_mathml

        return to_mathml(self)

    def to_sympy(self) -> Any:
        """Return a sympy expression in positive symbols; log2 is ``log(x, 2)``."""
        from scalkit.growth.render import to_sympy

        return to_sympy(self)

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def _repr_html_(self) -> str:
        return f"<math>{self.to_mathml()}</math>"


@lru_cache(maxsize=64)
def log2_values(points: tuple[float, ...], growths: tuple[Growth, ...]) -> Floats:
    """Return log2 of each growth at each point, of shape (growths, points).

    Kept in a cache, as many series share points and growths.
    """
    x = np.array(points)
    found = np.array([growth.log2_value(x) for growth in growths]).reshape(len(growths), len(x))
    found.flags.writeable = False
    return found
