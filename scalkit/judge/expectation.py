"""An expectation in big O, its deviation limits, and where a model's growth lies against them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.support.arguments import require_text
from scalkit.support.markup import block, formula, table
from scalkit.support.text import did_you_mean

Match = Literal["total", "approximate", "none"]
Direction = Literal["grows faster", "grows slower", "as expected"]
_NO_DEVIATION = ("1", "1.0", "O(1)")
WORDS = {
    "constant": (0, 0),
    "logarithmic": (0, 1),
    "linear": (1, 0),
    "linearithmic": (1, 1),
    "quadratic": (2, 0),
    "cubic": (3, 0),
}
"""Exponents of the parameter and of its logarithm."""
MATCHES: tuple[Match, ...] = ("total", "approximate", "none")
SURE_OF_MATCH = 0.9
"""Probability from which on a match counts as known."""


def sure_match(probability: Mapping[Match, float]) -> Match | None:
    """Return the match that is at least 90 % probable; None without one.

    It is approximate where total and approximate together are so probable.
    """
    if probability["total"] >= SURE_OF_MATCH:
        return "total"
    if probability["none"] >= SURE_OF_MATCH:
        return "none"
    inside = probability["total"] + probability["approximate"]
    return "approximate" if inside >= SURE_OF_MATCH else None


def match_probabilities(expectation: Any, shares: Iterable[tuple[Any, float]]) -> dict[Match, float]:
    """Return the probability of each match, of growths with their probabilities."""
    found = dict.fromkeys(MATCHES, 0.0)
    for growth, share in shares:
        found[expectation.match(growth)] += share
    return found


def likely_direction(
    expectation: Any, model: Any, shares: Iterable[tuple[Any, float]], probability: Mapping[Match, float]
) -> Direction:
    """Return the direction of a model; where there surely is no match, the more probable one of the growths outside."""
    if sure_match(probability) != "none":
        found: Direction = expectation.direction(model)
        return found
    outside = ((growth, share) for growth, share in shares if expectation.match(growth) == "none")
    faster = sum(share for growth, share in outside if expectation.direction(growth) == "grows faster")
    return "grows faster" if faster >= probability["none"] / 2 else "grows slower"


@runtime_checkable
class HasGrowth(Protocol):
    """Anything that knows its growth, such as a model, serves as an expectation."""

    @property
    def growth(self) -> Growth:
        """The growth of the leading term."""


def default_deviation(growth: Growth, parameter: str) -> Growth:
    """Return half of the leading class of `growth`: p for ``p^2*log(p)``, ``2^(k/2)`` for ``k^3*2^k``.

    The growth 1 counts as logarithmic and gets ``log(p)^(1/2)``.

    Source: Shudler et al. 2015, section 2.3 (docs/references.md).
    """
    half = Fraction(1, 2)
    leading = growth.leading(parameter)
    if leading.is_constant:
        return Growth.of(parameter, log=half)
    return max(leading, leading**-1) ** half


@dataclass(frozen=True, init=False, repr=False)
class Expectation:
    """What the developer expects of a function, for example ``Expectation("p*log(p)")``.

    Parameters
    ----------
    expression : str, int, Growth, sympy expression, or an object with a `growth`
        Big O notation; the leading term counts.
    deviation : str, Growth or sympy expression, optional
        How far a model may deviate and still match approximately; half of the leading class by default.
    parameter : str, optional
        Name of the parameter; needed only for ``"1"`` when it is not ``p``.

    Attributes
    ----------
    growth, deviation : Growth
    limits : tuple of Growth
        ``(growth / deviation, growth * deviation)``; a model on a limit is inside.

    Raises
    ------
    ExpectationError
        If a text cannot be read, several parameters occur, or the deviation does not grow.
    """

    growth: Growth
    deviation: Growth
    parameter: str
    has_own_deviation: bool

    def __init__(self, expression: object, deviation: object | None = None, parameter: str | None = None) -> None:
        growth = Growth(expression.growth if isinstance(expression, HasGrowth) else expression, parameter)
        allowed = None if deviation is None else Growth(deviation)
        if allowed == Growth() and str(deviation).strip() not in _NO_DEVIATION:
            raise ExpectationError(
                f"deviation '{deviation}' is a number; write a growth, for example 'p^(1/2)', or 1 to allow none."
            )
        name = parameter or _only_parameter(growth, allowed)
        if allowed is None:
            allowed = default_deviation(growth, name)
        elif set(allowed.parameters) - {name}:
            raise ExpectationError(
                f"deviation '{allowed}' depends on {', '.join(allowed.parameters)}, the expectation '{growth}' on '{name}'; "
                f"write the deviation in terms of {name}."
            )
        if allowed < Growth():
            raise ExpectationError(f"deviation '{allowed}' falls; it must be 1 or grow, for example '{name}^(1/2)'.")
        for field, value in (
            ("growth", growth),
            ("deviation", allowed),
            ("parameter", name),
            ("has_own_deviation", deviation is not None),
        ):
            object.__setattr__(self, field, value)

    @property
    def along(self) -> "dict[str, Expectation]":
        """What is expected along its only parameter: itself, as expectations over several parameters have it."""
        return {self.parameter: self}

    def in_parameter(self, parameter: str) -> "Expectation":
        """Return it in terms of `parameter`: a constant, a word such as ``"linear"``, or ``O(N)`` for n."""
        require_text(parameter, "the parameter")
        if parameter == self.parameter:
            return self
        if (growth := _spelled(self.growth, parameter)) is not None and not self.has_own_deviation:
            return Expectation(growth, None, parameter)
        if self.growth.is_constant and not (self.has_own_deviation and not self.deviation.is_constant):
            return Expectation(self.growth, self.deviation if self.has_own_deviation else None, parameter)
        raise ExpectationError(
            f"the expectation '{self.growth}' is in terms of '{self.parameter}', the data in terms of '{parameter}'; "
            f"write it in terms of {parameter}.{did_you_mean(self.parameter, WORDS)}"
        )

    @cached_property
    def limits(self) -> tuple[Growth, Growth]:
        """The lower and the upper deviation limit."""
        return self.growth / self.deviation, self.growth * self.deviation

    def __lt__(self, other: object) -> bool:
        return self.growth < _growth_of(other)

    def __le__(self, other: object) -> bool:
        return self.growth <= _growth_of(other)

    def __gt__(self, other: object) -> bool:
        return self.growth > _growth_of(other)

    def __ge__(self, other: object) -> bool:
        return self.growth >= _growth_of(other)

    def match(self, model: Growth) -> Match:
        """Return the match of a model's growth: total, approximate (on or inside the limits) or none."""
        model = Growth(model)
        lower, upper = self.limits
        if model == self.growth:
            return "total"
        return "approximate" if lower <= model <= upper else "none"

    def direction(self, model: Growth) -> Direction:
        """Return whether a model's growth is faster, slower or as expected."""
        model = Growth(model)
        if model == self.growth:
            return "as expected"
        return "grows faster" if model > self.growth else "grows slower"

    def __str__(self) -> str:
        return f"O({self.growth})"

    def __repr__(self) -> str:
        own = f", deviation={str(self.deviation)!r}" if self.has_own_deviation else ""
        return f"Expectation({str(self.growth)!r}{own})"

    def _repr_html_(self) -> str:
        lower, upper = self.limits
        own = "" if self.has_own_deviation else " (half of the leading class)"
        rows = [
            ("expected", formula(self.growth, big_o=True)),
            ("deviation", formula(self.deviation) + own),
            ("limits", f"{formula(lower)} to {formula(upper)}"),
        ]
        return block(table((), rows))


def _growth_of(other: object) -> Growth:
    """Return the growth that an expectation is compared with. Raises ExpectationError if it is none."""
    return Growth(other.growth if isinstance(other, HasGrowth) else other)


def _spelled(growth: Growth, parameter: str) -> Growth | None:
    """Return what a growth means that was written with a word, or with a parameter in the other case; None if it was not."""
    if len(growth.parameters) != 1:
        return None
    (name,) = growth.parameters
    if name.lower() == parameter.lower():
        return Growth.product({parameter: growth.exponents(name)})
    if name.lower() in WORDS and growth == Growth.of(name, power=1):
        power, log = WORDS[name.lower()]
        return Growth.of(parameter, power=power, log=log)
    return None


def _only_parameter(growth: Growth, deviation: Growth | None) -> str:
    names = growth.parameters or (deviation.parameters if deviation else ())
    if len(names) > 1:
        raise ExpectationError(
            f"expectation '{growth}' depends on several parameters ({', '.join(names)}); write it in terms of one."
        )
    return names[0] if names else "p"
