"""The litmus test: an own implementation whose behaviour is known tells the code from the machine."""

from dataclasses import dataclass

from scalkit.markup import block, paragraph
from scalkit.validation.judge.choices import AnyVerdict


@dataclass(frozen=True, eq=False)
class Litmus:
    """The verdict on the litmus function, and what follows for the others.

    Source: Shudler et al. 2015, sections 2.2 and 3.2 (docs/references.md).
    """

    verdict: AnyVerdict

    def __repr__(self) -> str:
        return f"<Litmus: {self.sentence}>"

    def _repr_html_(self) -> str:
        return block(paragraph(self.sentence))

    @property
    def passed(self) -> bool:
        """Whether the litmus function does not grow faster than its limits."""
        return not self.verdict.misses

    @property
    def sentence(self) -> str:
        """What the test says, in plain words."""
        verdict = self.verdict
        name, found, expected = verdict.function, verdict.model.growth, verdict.expectation.growth
        if verdict.answer == "cannot tell":
            return (
                f"The litmus test {name} cannot tell whether it grows as its algorithm promises ({expected}), so it says nothing "
                "about the others; measure it again, at more settings or on an idle machine."
            )
        if verdict.rank == "total":
            behaviour = f"behaves as its algorithm promises ({found})"
        else:
            inside = "within the limits" if verdict.rank == "approximate" else "outside the limits"
            behaviour = f"{verdict.direction} than its algorithm promises, {inside} ({found} instead of {expected})"
        if self.passed:
            return (
                f"The litmus test {name} {behaviour}: where another run time grows too fast, "
                "suspect the library before the machine."
            )
        return (
            f"The litmus test {name} itself {behaviour}: machine, scheduling or benchmark, not the library alone, "
            "may explain the deviations of other run times."
        )
