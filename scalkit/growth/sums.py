"""Sums of growths without coefficients, such as log p + S."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import ExpectationError
from scalkit.growth.growth import Growth
from scalkit.support.arrays import Floats

MAX_TERMS = 20
_MAX_LENGTH = 1000
_BIG_O = re.compile(r"\s*(?:O|Theta|Θ)\s*\(")
_NUMBER_BEFORE_SIGN = re.compile(r"(?:^|[^A-Za-z_0-9.])[\d.]+[eE]$")


@dataclass(frozen=True)
class GrowthSum:
    """A sum of growths without coefficients; terms that another one outgrows in every parameter are left out.

    `terms`: in the order of their text; use `GrowthSum.of` or `GrowthSum.parse` to make one.
    """

    terms: tuple[Growth, ...]

    @classmethod
    def of(cls, terms: Iterable[Growth]) -> "GrowthSum":
        """Return the sum of `terms`; without any, the growth 1."""
        distinct = sorted(set(terms), key=str) or [Growth()]
        kept = [t for t in distinct if not any(t != other and outgrows(other, t) for other in distinct)]
        return cls(tuple(kept))

    @classmethod
    def parse(cls, text: object) -> "GrowthSum":
        """Return the sum that a text names, each summand read as `Growth` does.

        `text`: for example ``"log(p) + S"``, ``"O(p*S + n^2)"``.
        Raises ExpectationError if a summand cannot be read or is subtracted.
        """
        if isinstance(text, GrowthSum):
            return text
        if isinstance(text, Growth):
            return cls((text,))
        shown = str(text) if hasattr(text, "free_symbols") else text
        if not isinstance(shown, str) or len(shown) > _MAX_LENGTH:
            return cls((Growth(shown),))
        parts = list(_summands(_bare(shown), shown))
        if len(parts) > MAX_TERMS:
            raise ExpectationError(
                f"expectation '{shown[:40]}...' has {len(parts)} summands; at most {MAX_TERMS} are allowed. "
                "Keep the leading ones."
            )
        return cls.of(Growth(part) for part in parts)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that it depends on, sorted."""
        return tuple(sorted({name for term in self.terms for name in term.parameters}))

    def leading(self, parameter: str) -> Growth:
        """Return the growth along one parameter where the others are fixed; 1 if it does not depend on it."""
        return Growth.product({parameter: max(term.exponents(parameter) for term in self.terms)})

    def log2_value(self, x: Mapping[str, ArrayLike]) -> Floats:
        """Return log2 of the sum at `x`, a mapping from parameter to values."""
        shape = np.broadcast_shapes(*(np.shape(value) for value in x.values()))
        total = np.full(shape, -np.inf)
        for term in self.terms:
            total = np.logaddexp2(total, term.log2_value(x))
        return np.asarray(total)

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms)

    def __repr__(self) -> str:
        return f"GrowthSum({str(self)!r})"

    def to_mathml(self) -> str:
        """Return presentation MathML without the enclosing ``<math>``."""
        return f"<mrow>{'<mo>+</mo>'.join(term.to_mathml() for term in self.terms)}</mrow>"

    def to_sympy(self) -> Any:
        """Return a sympy expression in positive symbols."""
        return sum((term.to_sympy() for term in self.terms[1:]), self.terms[0].to_sympy())

    def _repr_html_(self) -> str:
        return f"<math>{self.to_mathml()}</math>"


def outgrows(one: Growth, other: Growth) -> bool:
    """Return whether `one` grows at least as fast as `other` along every parameter."""
    return all(one.exponents(name) >= other.exponents(name) for name in {*one.parameters, *other.parameters})


def _bare(text: str) -> str:
    """Return the text inside ``O(...)`` if that encloses all of it."""
    match = _BIG_O.match(text)
    if not match or not text.rstrip().endswith(")"):
        return text
    inner = text.rstrip()[match.end() : -1]
    depth = 0
    for character in inner:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return text
    return inner


def _summands(text: str, whole: str) -> Iterator[str]:
    """Return the parts of a text between plus signs outside parentheses."""
    depth = start = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        before = text[start:at].rstrip()
        if depth or character not in "+-" or not before or before[-1] in "*/^+-·×√":
            continue
        if _NUMBER_BEFORE_SIGN.search(before):
            continue
        if character == "-":
            raise ExpectationError(
                f"cannot read '{whole[:60]}': a run time or a size is a sum of costs, so nothing is subtracted; "
                "leave out the term after the minus sign."
            )
        yield before
        start = at + 1
    yield text[start:]
