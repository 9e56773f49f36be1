"""Growth: a product of rational powers of 2^x, x and log2 x for each parameter, without a coefficient."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import ExpectationError
from scalkit.growth.exponents import Exponents
from scalkit.growth.refusals import short
from scalkit.growth.render import to_mathml, to_sympy, to_text
from scalkit.support.arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_NONE = Exponents()
_SMALL = 2**25


class Growth:
    """A term of the ruler, for example ``p^(1/2)*log(p)``; logarithms are base 2.

    Values are immutable, hashable, and form an ordered group under ``*``: growths of one parameter are compared
    lexicographically by the exponents of 2^x, x and log x, as their limits for large x demand.

    Parameters
    ----------
    text : str, number, Growth or sympy expression
        Big O notation, of which the leading term counts, for example ``"n log n"`` or
        ``"O(p^(2/3))"``; 1 by default.
    parameter : str, optional
        The only parameter that may occur.

    Attributes
    ----------
    factors : tuple of (str, Exponents)
        Sorted by parameter name, without parameters whose exponents are all zero.

    Raises
    ------
    ExpectationError
        If the text is no growth; the sentence says why.

    References
    ----------
    Shudler et al. 2015, section 2.3 (docs/references.md).
    """

    factors: tuple[tuple[str, Exponents], ...]

    def __init__(self, text: object = 1, parameter: str | None = None) -> None:
        from scalkit.growth.parse import parsed  # reads texts with the algebra of this class

        found = text if isinstance(text, Growth) else parsed(text)
        if parameter is not None and set(found.parameters) - {parameter}:
            raise ExpectationError(
                f"expectation '{short(str(found))}' depends on {short(', '.join(found.parameters))}, "
                f"but the parameter is '{parameter}'. Write it in terms of {parameter}."
            )
        self.__dict__["factors"] = found.factors

    @classmethod
    def _of_factors(cls, factors: tuple[tuple[str, Exponents], ...]) -> Growth:
        made = cls.__new__(cls)
        made.__dict__["factors"] = factors
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a growth does not change; make another one, as in growth * 'n' ({name}).")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Growth) or hash(self) != hash(other) or self.factors != other.factors:
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
    ) -> Growth:
        """Return ``2^(exponential*x) * x^power * log2(x)^log`` of one parameter; exponents are exact rationals."""
        exponents = Exponents(Fraction(exponential), Fraction(power), Fraction(log))
        return cls.product({parameter: exponents})

    @classmethod
    def product(cls, exponents: Mapping[str, Exponents]) -> Growth:
        """Return the product over several parameters."""
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
        return dict(self.factors).get(parameter, _NONE)

    def leading(self, parameter: str) -> Growth:
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

    def __mul__(self, other: Growth | str) -> Growth:
        other = _operand(other)
        if not self.factors or not other.factors:
            return self if self.factors else other
        mine, others = dict(self.factors), dict(other.factors)
        both = {name: mine[name] + others[name] for name in mine.keys() & others.keys()}
        return self.product(mine | others | both)

    def __rmul__(self, other: str) -> Growth:
        return _operand(other) * self

    def __truediv__(self, other: Growth | str) -> Growth:
        other = _operand(other)
        return self * other**-1

    def __rtruediv__(self, other: str) -> Growth:
        return _operand(other) / self

    def __pow__(self, exponent: Fraction | int) -> Growth:
        factor = Fraction(exponent)
        return self.product({name: e.scaled(factor) for name, e in self.factors})

    def __le__(self, other: Growth | str) -> bool:
        return not bool(self > other)

    def __gt__(self, other: Growth | str) -> bool:
        other = _operand(other)
        return other < self

    def __ge__(self, other: Growth | str) -> bool:
        return not bool(self < other)

    def __lt__(self, other: Growth | str) -> bool:
        other = _operand(other)
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
            found = self.__dict__["_text"] = to_text(self)
        return str(found)

    def __repr__(self) -> str:
        return f"Growth({str(self)!r})"

    def to_mathml(self) -> str:
        """Return a presentation MathML row without the enclosing ``<math>``."""
        return to_mathml(self)

    def to_sympy(self) -> Any:
        """Return a sympy expression in positive symbols; log2 is ``log(x, 2)``."""
        return to_sympy(self)

    def _repr_html_(self) -> str:
        return f"<math>{self.to_mathml()}</math>"


def _operand(value: Growth | str) -> Growth:
    """Return a growth, or the growth that a text means. Raises TypeError for anything else."""
    if isinstance(value, Growth):
        return value
    if isinstance(value, str):
        return Growth(value)
    raise TypeError(f"{value!r:.60} is no growth; write one as text, for example 'n*log(n)'.")


@lru_cache(maxsize=64)
def log2_values(points: tuple[float, ...], growths: tuple[Growth, ...]) -> Floats:
    """Return log2 of each growth at each point, of shape (growths, points).

    Kept in a cache, as many series share points and growths.
    """
    x = np.array(points)
    found = np.array([growth.log2_value(x) for growth in growths]).reshape(len(growths), len(x))
    found.flags.writeable = False
    return found
