"""The ticks along each of several parameters: a named space, ticks by hand, or a space for one of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.validation.expectation import Expectation
from scalkit.validation.space import SearchSpace


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
            made = SearchSpace.of([Growth.constant(), *ticks], "by hand", parameter)
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
