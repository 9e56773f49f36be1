"""What a verdict over one parameter and one over several have in common, and the verdicts along each parameter."""

from __future__ import annotations

from scalkit.errors import UsageError
from scalkit.measure.values import Values
from scalkit.validation.expectation import Direction
from scalkit.validation.posterior import VerdictWord
from scalkit.validation.several.along import AlongVerdict

__all__ = ["Along", "Judged"]


class Along(dict[str, AlongVerdict]):
    """The verdict along each parameter, by name: ``verdict.along["p"]`` and ``verdict.along("p")`` are the same."""

    def __call__(self, parameter: str) -> AlongVerdict:
        """Return the verdict along a parameter.

        Raises
        ------
        UsageError
            If there is no such parameter.
        """
        if parameter not in self:
            raise UsageError(f"there is no verdict along {parameter!r:.40}; choose one of {', '.join(self)}.")
        return self[parameter]


class Judged:
    """What follows from the `series` that a verdict is about, and from its word and direction."""

    series: Values

    @property
    def verdict(self) -> VerdictWord:
        """The match rank that is at least 90 % probable, or ``"undecided"``."""
        raise NotImplementedError

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected."""
        raise NotImplementedError

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.series.function

    @property
    def metric(self) -> str:
        """Name of the metric, for example ``time``."""
        return self.series.metric

    @property
    def unit(self) -> str:
        """Unit of the metric without prefix."""
        return self.series.unit

    @property
    def decides(self) -> bool:
        """Whether it may decide an exit status; `caveats` says why not."""
        return self.series.decides

    @property
    def misses(self) -> bool:
        """Whether the expectation is missed: verdict none and faster growth."""
        return self.verdict == "none" and self.direction == "grows faster"

    @property
    def is_failure(self) -> bool:
        """Whether it decides that the expectation is missed."""
        return self.decides and self.misses
