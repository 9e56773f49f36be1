"""Sets of expectations: by function and metric, with their search spaces."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scalkit.growth.relation import Relation
from scalkit.judge.against.claimed import Claimed
from scalkit.judge.expectation import Expectation
from scalkit.judge.names import candidates, function_in
from scalkit.judge.several.expectation import SeveralExpectation, Space, space_along
from scalkit.judge.space import SearchSpace


@dataclass(frozen=True)
class Expected:
    """The expectation of one function, its search space or the name of that, and the model whose multiple is expected."""

    expectation: Expectation | SeveralExpectation
    space: Space = "around"
    model: Claimed | None = None

    def along(self, parameter: str, fixed: Collection[str] = ()) -> Expectation:
        """Return the expectation in terms of `parameter`, where those in `fixed` have one value."""
        if isinstance(self.expectation, SeveralExpectation):
            return self.expectation.at(parameter, fixed)
        if self.expectation.parameter in fixed:
            return Expectation(1, None, parameter)
        return self.expectation.in_parameter(parameter)

    def search_spaces(
        self, parameters: Sequence[str], fixed: Collection[str] = ()
    ) -> tuple[Expectation | SeveralExpectation, dict[str, SearchSpace]]:
        """Return the expectation in terms of the parameters of data, and the ticks to try along each.

        `fixed`: parameters of which the data have one value.
        """
        given = self.expectation
        if len(parameters) == 1:
            expectation: Expectation | SeveralExpectation = self.along(parameters[0], fixed)
        elif isinstance(given, Expectation):
            own = {given.parameter: given.deviation} if given.has_own_deviation else None
            expectation = SeveralExpectation(given.growth, own, parameters)
        else:
            expectation = given.over(parameters)
        is_only = len(parameters) == 1 and not fixed
        spaces = {name: space_along(one, self.space, is_only=is_only) for name, one in expectation.along.items()}
        return expectation, spaces


@dataclass(frozen=True)
class ExpectationSet:
    """Expectations by function name, rules between functions, and the litmus function.

    ``lines`` has the line of each function in the file that the set was read from.
    """

    functions: Mapping[str, Expected]
    rules: tuple[Relation, ...] = ()
    litmus: str | None = None
    name: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ExpectationSet {self.name or 'of a mapping'}: {len(self.functions)} functions, {len(self.rules)} rules>"

    def _repr_html_(self) -> str:
        from scalkit.judge.told.shown import expectations_html

        return expectations_html(self)

    def of(self, function: str, metric: str = "", is_primary: bool = True) -> Expected | None:
        """Return the expectation of a metric of a function; a variant such as ``f[random]`` falls back to ``f``.

        `metric`: without one, what stands for all primary metrics.
        `is_primary`: whether an expectation that names no metric is about this one: see `scalkit.judge.names.primary`.
        """
        return self.functions.get(self.name_of(function, metric, is_primary))

    def name_of(self, function: str, metric: str = "", is_primary: bool = True) -> str:
        """Return the name under which the set knows a metric of a function; empty if it does not."""
        return next((name for name in candidates(function, metric, is_primary) if name in self.functions), "")

    @property
    def names(self) -> tuple[str, ...]:
        """All names of functions that may be meant, with and without metrics."""
        return tuple(dict.fromkeys((*self.functions, *map(function_in, self.functions))))
