"""An expectation over several parameters, such as ``log(p) + S``: along each parameter, and as a whole."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum, outgrows
from scalkit.judge.expectation import Direction, Expectation, HasGrowth, Match
from scalkit.judge.space import SearchSpace
from scalkit.support.markup import block, formula, table
from scalkit.support.text import joined


@dataclass(frozen=True)
class GrowthRatio:
    """The growth of a model over that of an expectation, both of several parameters."""

    model: GrowthSum
    expectation: GrowthSum

    @property
    def quotient(self) -> Growth | None:
        """The ratio as one product; None where one of the two is a sum and they differ."""
        if self.model == self.expectation:
            return Growth()
        if len(self.model.terms) == len(self.expectation.terms) == 1:
            return self.model.terms[0] / self.expectation.terms[0]
        return None

    def __str__(self) -> str:
        if (quotient := self.quotient) is not None:
            return str(quotient)
        return "/".join(_enclosed(growth) for growth in (self.model, self.expectation))

    def to_mathml(self) -> str:
        """Return presentation MathML without the enclosing ``<math>``."""
        if (quotient := self.quotient) is not None:
            return quotient.to_mathml()
        return f"<mfrac>{self.model.to_mathml()}{self.expectation.to_mathml()}</mfrac>"


def _enclosed(growth: GrowthSum) -> str:
    text = str(growth)
    return f"({text})" if any(sign in text for sign in "+*/") else text


@dataclass(frozen=True, init=False, repr=False)
class SeveralExpectation:
    """What the developer expects of a function of several parameters, for example ``SeveralExpectation("log(p) + S")``.

    `expression`: a sum of products in big O notation; terms that others outgrow do not count.
    `deviation`: how far a model may deviate along each parameter, as a product such as ``"p^(1/2)*log(S)"`` or by
    parameter; 1 allows none. Along parameters that it does not name half of the leading class is allowed.
    `parameters`: those of the data; one that the expression does not name is expected to have no effect. By default
    those of the expression.
    `along`: the leading term along each parameter, the others fixed.
    Raises ExpectationError if a text cannot be read or names a parameter that the data do not have.
    """

    growth: GrowthSum
    parameters: tuple[str, ...]
    along: Mapping[str, Expectation]

    def __init__(
        self, expression: object, deviation: object | Mapping[str, object] | None = None, parameters: Sequence[str] | None = None
    ) -> None:
        growth = GrowthSum.parse(expression.growth if isinstance(expression, HasGrowth) else expression)
        names = tuple(parameters) if parameters is not None else growth.parameters
        if unknown := [name for name in growth.parameters if name not in names]:
            raise ExpectationError(
                f"expectation '{growth}' depends on '{unknown[0]}', the data on {', '.join(names)}; "
                f"write it in terms of {', '.join(names)}."
            )
        allowed = _by_parameter(deviation, names)
        along = {name: Expectation(growth.leading(name), allowed.get(name), name) for name in names}
        for field, value in (("growth", growth), ("parameters", names), ("along", along)):
            object.__setattr__(self, field, value)

    def __hash__(self) -> int:
        return hash((self.growth, tuple(self.along.items())))

    @property
    def own_deviations(self) -> dict[str, Growth]:
        """The deviations that were given, by parameter."""
        return {name: one.deviation for name, one in self.along.items() if one.has_own_deviation}

    def over(self, parameters: Sequence[str]) -> "SeveralExpectation":
        """Return it for data over `parameters`; along those that it does not name no effect is expected."""
        if tuple(parameters) == self.parameters:
            return self
        return SeveralExpectation(self.growth, self.own_deviations or None, parameters)

    def at(self, parameter: str, fixed: Collection[str] = ()) -> Expectation:
        """Return what is expected along one parameter of data that vary in nothing else.

        `fixed`: parameters of which the data have one value.
        Raises ExpectationError if it depends on a parameter that is neither.
        """
        others = [name for name in self.growth.parameters if name != parameter and name not in fixed]
        if others:
            raise ExpectationError(
                f"the expectation '{self.growth}' is in terms of {' and '.join(self.growth.parameters)}, the data in terms of "
                f"'{parameter}' alone; write it in terms of {parameter}, or, if {joined(others)} varied as well, read the "
                f"data over {joined([parameter, *others])}: parameter={[parameter, *others]} (--parameter "
                f"{','.join([parameter, *others])})."
            )
        return Expectation(self.growth.leading(parameter), self.own_deviations.get(parameter), parameter)

    @cached_property
    def deviation(self) -> Growth:
        """The product of the deviations along all parameters."""
        product = Growth()
        for expectation in self.along.values():
            product = product * expectation.deviation
        return product

    def match(self, model: GrowthSum) -> Match:
        """Return the match of a model's growth as a whole.

        Total if it has the same leading terms. Approximate if every term of the model is at most one of the expected terms
        times the deviation, along every parameter, and every expected term at most one of the model's so widened; none
        otherwise: ``p*S`` grows as ``p + S`` along each parameter, but is not a match.
        """
        if set(model.terms) == set(self.growth.terms):
            return "total"
        return "approximate" if self._is_below(model) and self._is_above(model) else "none"

    def direction(self, model: GrowthSum) -> Direction:
        """Return whether a model's growth as a whole is faster, slower or as expected.

        A model that is beyond the limits both ways, such as ``p^2`` for ``p*S``, grows faster.
        """
        if set(model.terms) == set(self.growth.terms):
            return "as expected"
        if not self._is_below(model):
            return "grows faster"
        if not self._is_above(model):
            return "grows slower"
        return "grows slower" if _is_covered(model, self.growth) else "grows faster"

    def _is_below(self, model: GrowthSum) -> bool:
        return _is_covered(model, self.growth, self.deviation)

    def _is_above(self, model: GrowthSum) -> bool:
        return _is_covered(self.growth, model, self.deviation)

    def __str__(self) -> str:
        return f"O({self.growth})"

    def __repr__(self) -> str:
        return f"SeveralExpectation({str(self.growth)!r})"

    def _repr_html_(self) -> str:
        rows = [
            (escape(name), formula(one.growth, big_o=True), formula(one.limits[0]) + " to " + formula(one.limits[1]))
            for name, one in self.along.items()
        ]
        return block(table((), [("expected", formula(self.growth, big_o=True))]), table(("along", "expected", "limits"), rows))


def _is_covered(low: GrowthSum, high: GrowthSum, deviation: Growth | None = None) -> bool:
    """Return whether each term of `low` is at most some term of `high` times the deviation, along every parameter."""
    allowed = deviation or Growth()
    return all(any(outgrows(term * allowed, other) for term in high.terms) for other in low.terms)


def _by_parameter(deviation: object | Mapping[str, object] | None, names: Sequence[str]) -> dict[str, object]:
    if deviation is None:
        return {}
    given = deviation if isinstance(deviation, Mapping) else None
    if given is not None:
        if unknown := [str(name) for name in given if name not in names]:
            raise ExpectationError(
                f"there is a deviation for '{unknown[0]}', the parameters are {', '.join(names)}; name one of these."
            )
        return dict(given)
    product = Growth(deviation)
    if unknown := [name for name in product.parameters if name not in names]:
        raise ExpectationError(
            f"deviation '{product}' depends on '{unknown[0]}', the parameters are {', '.join(names)}; write it in terms of these."
        )
    if product.is_constant and str(deviation).strip() not in {"1", "1.0", "O(1)"}:
        raise ExpectationError(f"deviation '{deviation}' is a number; write a growth, or 1 to allow none.")
    if product.is_constant:
        return dict.fromkeys(names, 1)
    return {name: Growth.product({name: product.exponents(name)}) for name in product.parameters}


@dataclass(frozen=True)
class SeveralSpace:
    """A named space along every parameter, with ticks that were moved by hand.

    `ticks`: all ticks along the parameters that occur in them, in place of the named space.
    `added`, `removed`: each of one parameter.
    """

    name: str = "around"
    ticks: tuple[Growth, ...] = ()
    added: tuple[Growth, ...] = ()
    removed: tuple[Growth, ...] = ()

    def along(self, expectation: Expectation) -> SearchSpace:
        """Return the space along the parameter of an expectation."""
        parameter = expectation.parameter
        ticks = [tick for tick in self.ticks if parameter in tick.parameters]
        made = SearchSpace.named(self.name, expectation)
        if ticks:
            made = SearchSpace.of([Growth(), *ticks], "by hand", parameter)
        for tick in self.added:
            made = made.with_tick(tick) if parameter in tick.parameters else made
        for tick in self.removed:
            made = made.without_tick(tick) if tick in made.ticks and parameter in tick.parameters else made
        return made


Space = str | SearchSpace | SeveralSpace | Mapping[str, str | SearchSpace]
"""What says which growths are tried: a name, a space of one parameter, or spaces by parameter."""


def space_along(expectation: Expectation, space: Space, *, is_only: bool) -> SearchSpace:
    """Return the space along the parameter of an expectation.

    `space`: what it does not say of a parameter is ``"around"``.
    `is_only`: whether the data have no other parameter, so that a space of another one is an error.
    Raises ExpectationError if a name is unknown, the space is none, or it is in terms of another parameter.
    """
    if isinstance(space, str):
        return SearchSpace.named(space, expectation)
    if isinstance(space, SeveralSpace):
        return space.along(expectation)
    if isinstance(space, Mapping):
        return space_along(expectation, space.get(expectation.parameter, "around"), is_only=True)
    if not isinstance(space, SearchSpace):
        raise ExpectationError(
            f"the search space is {space!r:.60}; give a name, as 'ics15', or a space, as SearchSpace.of(['1', 'p'], 'own', 'p')."
        )
    if space.parameter == expectation.parameter:
        return space
    if is_only:
        raise ExpectationError(
            f"the search space '{space.name}' is in terms of '{space.parameter}', the data in terms of "
            f"'{expectation.parameter}'; make it from an expectation in {expectation.parameter}."
        )
    return SearchSpace.around(expectation)
