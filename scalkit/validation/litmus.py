"""The litmus test: an own implementation whose behaviour is known tells the code from the machine."""

from __future__ import annotations

from dataclasses import dataclass

from scalkit.validation.verdict import Verdict

__all__ = ["Litmus"]


@dataclass(frozen=True, eq=False)
class Litmus:
    """The verdict on the litmus function, and what follows for the others.

    References
    ----------
    Shudler et al. 2015, sections 2.2 and 3.2 (docs/references.md).
    """

    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Whether the litmus function does not grow faster than its limits."""
        return not (self.verdict.rank == "none" and self.verdict.direction == "grows faster")

    @property
    def sentence(self) -> str:
        """What the test says, in plain words."""
        name = self.verdict.function
        if self.passed:
            return (
                f"The litmus test {name} behaves as its algorithm promises ({self.verdict.model.growth}): a deviation of "
                "another function is more likely its own than the machine's."
            )
        return (
            f"The litmus test {name} itself {self.verdict.direction} than its algorithm promises "
            f"({self.verdict.model.growth} instead of {self.verdict.expectation.growth}): machine or scheduling, not the "
            "library alone, may explain the deviations of other run times."
        )
