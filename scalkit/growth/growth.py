"""Growth: a product of rational powers of 2^x, x and log2 x for each parameter, without a coefficient."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from scalkit.errors import ExpectationError
from scalkit.growth.parse import parse_product
from scalkit.growth.product import Product
from scalkit.growth.refusals import short
from scalkit.growth.render import to_mathml, to_sympy
from scalkit.support.arguments import require_text
from scalkit.support.arrays import Floats


class Growth(Product):
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

    def __init__(self, text: object = 1, parameter: str | None = None) -> None:
        found = text if isinstance(text, Growth) else parse_product(text)
        if parameter is not None:
            require_text(parameter, "the parameter")
            if set(found.parameters) - {parameter}:
                raise ExpectationError(
                    f"expectation '{short(str(found))}' depends on {short(', '.join(found.parameters))}, "
                    f"but the parameter is '{parameter}'. Write it in terms of {parameter}."
                )
        self.__dict__["factors"] = found.factors

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

    @classmethod
    def _operand(cls, value: object) -> Growth:
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
