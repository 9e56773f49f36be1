"""Products of rational powers of 2^x, x and log2 x for each parameter: the algebra of growths."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scalkit.errors import ExpectationError
from scalkit.growth.exponents import Exponents
from scalkit.growth.render import to_text
from scalkit.support.arguments import require_kind, require_text
from scalkit.support.arrays import Floats, floats_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_NONE = Exponents()
_SMALL = 2**25


class Product:
    """A product of powers, immutable and hashable; products form an ordered group under ``*``.

    Those of one parameter are compared lexicographically by the exponents of 2^x, x and log x, as
    their limits for large x demand.

    Attributes
    ----------
    factors : tuple of (str, Exponents)
        Sorted by parameter name, without parameters whose exponents are all zero.
    """

    factors: tuple[tuple[str, Exponents], ...]

    @classmethod
    def _of_factors(cls, factors: tuple[tuple[str, Exponents], ...]) -> Self:
        made = cls.__new__(cls)
        made.__dict__["factors"] = factors
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a growth does not change; make another one, as in growth * 'n' ({name}).")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Product) or hash(self) != hash(other) or self.factors != other.factors:
            return False
        # Fractions are compared slowly, and the same ones at once.
        other.__dict__["factors"] = self.factors
        return True

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:  # fractions hash slowly, and growths are keys everywhere
            found = self.__dict__["_hash"] = hash(self.factors)
        return int(found)

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        # Another process hashes names otherwise, so that no hash goes along.
        return type(self)._of_factors, (self.factors,)

    @classmethod
    def of(
        cls, parameter: str, exponential: Fraction | int | str = 0, power: Fraction | int | str = 0, log: Fraction | int | str = 0
    ) -> Self:
        """Return ``2^(exponential*x) * x^power * log2(x)^log`` of one parameter; exponents are exact rationals."""
        require_text(parameter, "the parameter")
        try:
            exponents = Exponents(Fraction(exponential), Fraction(power), Fraction(log))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ExpectationError(f"an exponent of {parameter} is no rational number: {error}; write it as '1/2'.") from error
        return cls.product({parameter: exponents})

    @classmethod
    def product(cls, exponents: Mapping[str, Exponents]) -> Self:
        """Return the product over several parameters."""
        require_kind(exponents, dict, "the product", "give a dict from names to Exponents")
        kept = ((name, e) for name, e in exponents.items() if e != _NONE)
        return cls._of_factors(tuple(sorted(kept)))

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
        if type(parameter) is not str:  # called too often for a check by a function
            require_text(parameter, "the parameter")
        return dict(self.factors).get(parameter, _NONE)

    def leading(self, parameter: str) -> Self:
        """Return the power of the fastest class alone: p for ``p*log(p)``, 1 if it does not depend on `parameter`."""
        return self.product({parameter: self.exponents(parameter).leading()})

    def exponential(self, parameter: str) -> Fraction:
        """Return the exponent c of ``2^(c*x)``."""
        return self.exponents(parameter).exponential

    def power(self, parameter: str) -> Fraction:
        """Return the exponent a of ``x^a``."""
        return self.exponents(parameter).power

    def log(self, parameter: str) -> Fraction:
        """Return the exponent b of ``log2(x)^b``."""
        return self.exponents(parameter).log

    def __mul__(self, other: Self | str) -> Self:
        if not isinstance(other, Product):
            other = self._operand(other)
        if not self.factors or not other.factors:
            return self if self.factors else other
        mine, others = dict(self.factors), dict(other.factors)
        both = {name: mine[name] + others[name] for name in mine.keys() & others.keys()}
        return self.product(mine | others | both)

    def __rmul__(self, other: str) -> Self:
        return self._operand(other) * self

    def __truediv__(self, other: Self | str) -> Self:
        if not isinstance(other, Product):
            other = self._operand(other)
        return self * other**-1

    def __rtruediv__(self, other: str) -> Self:
        return self._operand(other) / self

    def __pow__(self, exponent: Fraction | int) -> Self:
        factor = Fraction(exponent)
        return self.product({name: e.scaled(factor) for name, e in self.factors})

    def __le__(self, other: Self | str) -> bool:
        return not bool(self > other)

    def __gt__(self, other: Self | str) -> bool:
        if not isinstance(other, Product):
            other = self._operand(other)
        return other < self

    def __ge__(self, other: Self | str) -> bool:
        return not bool(self < other)

    def __lt__(self, other: Self | str) -> bool:
        if not isinstance(other, Product):
            other = self._operand(other)
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
            at = floats_of(values[name], name)
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
            found = self.__dict__["_text"] = to_text(self)
        return str(found)

    @classmethod
    def _operand(cls, value: object) -> Self:
        """Return what is compared or multiplied with. Raises TypeError if it is no product."""
        if isinstance(value, cls):
            return value
        raise TypeError(f"{value!r:.60} is no growth; write one as text, for example 'n*log(n)'.")
