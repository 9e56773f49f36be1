"""Where growths stand on the ruler: which class the axis counts, and in which of three rows each growth lies."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scalkit.growth import Growth
from scalkit.judge import Expectation, Verdict
from scalkit.judge.several.along import AlongVerdict
from scalkit.support.arguments import require_kind

PLAIN, LOGGED, OTHER = 0, 1, 2


@dataclass(frozen=True)
class Axis:
    """The axis of a ruler: it counts the exponent of one class.

    `base`: the class that is counted: p, log(p) or 2^p.
    `small`: the next lower class, which every growth of the second row has as a factor; None below log(p).
    `classes`: all classes of the parameter, the fastest first.
    """

    base: Growth
    small: Growth | None
    classes: tuple[Growth, ...]
    parameter: str

    @classmethod
    def of(cls, growths: Iterable[Growth], parameter: str) -> "Axis":
        """Return the axis that counts the class of the fastest of the growths; p if all are constant."""
        classes = (Growth.of(parameter, exponential=1), Growth.of(parameter, power=1), Growth.of(parameter, log=1))
        fastest = max(growths, default=Growth())
        rank = max((rank for rank, _ in fastest.exponents(parameter).by_rank()), default=None)
        base = classes[1] if rank is None else next(c for c in classes if _rank(c, parameter) == rank)
        small = next((c for c in classes if c < base), None)
        return cls(base, small, classes, parameter)

    def place(self, growth: Growth) -> tuple[int, Fraction]:
        """Return the row of a growth and its place in it.

        Row 0 holds the powers of `base`, row 1 the same times `small`, row 2 all else. The place is the exponent of
        `base`; in row 2, for growths without `base`, that of their fastest class.
        """
        exponents = dict(growth.exponents(self.parameter).by_rank())
        at = exponents.pop(_rank(self.base, self.parameter), Fraction(0))
        if not exponents:
            return PLAIN, at
        if self.small is not None and exponents == {_rank(self.small, self.parameter): Fraction(1)}:
            return LOGGED, at
        return OTHER, at or exponents[max(exponents)]

    def span(self, growths: Iterable[Growth]) -> tuple[int, int]:
        """Return the whole numbers between which all growths of the first two rows lie; at least 0 and 1."""
        places = [self.place(growth) for growth in growths]
        counted = [at for row, at in places if row != OTHER]
        return min(0, *map(math.floor, counted), 0), max(1, *map(math.ceil, counted), 1)

    def to_dict(self) -> dict[str, Any]:
        """Return it as the page needs it: texts."""
        return {
            "base": str(self.base),
            "small": "" if self.small is None else str(self.small),
            "classes": [str(growth) for growth in self.classes],
        }


def _rank(growth: Growth, parameter: str) -> int:
    return growth.exponents(parameter).by_rank()[0][0]


AnyVerdict = Verdict | AlongVerdict
_NEGLIGIBLE = 0.0005


def marks(verdict: AnyVerdict | None, expectation: Expectation | None = None) -> dict[str, Any]:
    """Return the traits of a ruler that say what was expected and found; empty ones for what is not known."""
    require_kind(verdict, AnyVerdict | None, "the verdict", "give one such as verdict.along('p')")
    require_kind(expectation, Expectation | None, "the expectation", "give one such as Expectation('log(p)')")
    one = verdict.along[verdict.parameter] if isinstance(verdict, Verdict) else verdict
    expected = expectation if one is None else one.expectation
    weights = {} if one is None else one.weights
    return {
        "expectation": "" if expected is None else str(expected.growth),
        "limits": [] if expected is None else [str(limit) for limit in expected.limits],
        "best": "" if one is None else str(one.growth),
        "weights": {str(growth): round(float(w), 4) for growth, w in weights.items() if w >= _NEGLIGIBLE},
    }
