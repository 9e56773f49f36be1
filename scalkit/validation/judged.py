"""What a verdict over one parameter and one over several have in common, and the verdicts along each parameter."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scalkit.errors import UsageError
from scalkit.measure.reduce import Values
from scalkit.validation.answer import FINE, SURE, Answer, machine_factor
from scalkit.validation.expectation import Direction, VerdictWord
from scalkit.validation.several.along import AlongVerdict

if TYPE_CHECKING:
    from scalkit.arrays import Floats
    from scalkit.fit.model import Model
    from scalkit.fit.refine import Refined, Weights
    from scalkit.fit.several.model import SeveralModel
    from scalkit.validation.against.ratio import Against


class Along(dict[str, AlongVerdict]):
    """The verdict along each parameter, by name: ``verdict.along["p"]`` and ``verdict.along("p")`` are the same."""

    def __call__(self, parameter: str) -> AlongVerdict:
        """Return the verdict along a parameter. Raises UsageError if there is no such parameter."""
        if parameter not in self:
            raise UsageError(f"there is no verdict along {parameter!r:.40}; choose one of {', '.join(self)}.")
        return self[parameter]


class Judged:
    """What follows from the `series` that a verdict is about, and from its word and direction.

    `against`: how the values compare with those of a model with constants; the series is measured over model then.
    """

    series: Values
    against: Against | None

    @property
    def verdict(self) -> VerdictWord:
        """The match rank that is at least 90 % probable, or ``"undecided"``."""
        raise NotImplementedError

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected."""
        raise NotImplementedError

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
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
    def too_fast(self) -> float:
        """Probability that it grows faster than claimed by more than is tolerated."""
        raise NotImplementedError

    @property
    def excess(self) -> float:
        """Factor by which the values outgrow the best fit of the claim over the measured range."""
        raise NotImplementedError

    @property
    def machine_factor(self) -> float:
        """Factor by which the machine alone may make the values rise over the measured points."""
        return machine_factor(self.series, self.parameters)

    @property
    def is_material(self) -> bool:
        """Whether the values outgrow the claim by more than the machine explains."""
        return self.machine_factor == 1 or self.excess >= self.machine_factor

    @property
    def leaks(self) -> bool:
        """Whether bytes are not given back, ever more with a larger parameter."""
        return False

    @property
    def hangs_on_last(self) -> bool:
        """Whether something of its own lifts the value at the largest point."""
        return False

    @property
    def resolves(self) -> bool:
        """Whether the resolution is as fine as was required."""
        return True

    @cached_property
    def answer(self) -> Answer:
        """What to do: ``"fix"``, it grows faster than claimed; ``"fine"``; or ``"cannot tell"``, the values do not decide."""
        if not self.decides:
            return "cannot tell"
        if self.against is not None:
            return self.against.answer
        if self.leaks:
            return "fix"
        if self.hangs_on_last:
            return "cannot tell"
        if self.too_fast >= SURE and self.is_material:
            return "fix"
        return "fine" if self.too_fast <= FINE and self.resolves else "cannot tell"

    @property
    def misses(self) -> bool:
        """Whether it grows faster than claimed by more than is tolerated, as far as the values go."""
        if self.against is not None:
            return bool(self.against.growing)
        return self.leaks or (self.too_fast >= SURE and self.is_material and not self.hangs_on_last)

    @property
    def is_decided(self) -> bool:
        """Whether the growth is known well enough to predict by."""
        return self.decides and self.verdict != "undecided"

    @property
    def is_failure(self) -> bool:
        """Whether the answer is to fix it."""
        return self.answer == "fix"

    @property
    def is_better(self) -> bool:
        """Whether it grows slower than the limits allow, so that the claim could be sharper."""
        return self.verdict == "none" and self.direction == "grows slower"

    @property
    def fitted(self) -> tuple[Floats, Floats, Model | SeveralModel]:
        """Settings, values, and the model that was fitted to them."""
        raise NotImplementedError

    def refine(self, *, free_exponents: bool = False, weights: Weights = "relative", nonnegative: bool = True) -> Refined:
        """Return the model refined by lmfit on the values that were fitted; see `scalkit.fit.refine.refine`.

        `free_exponents`: whether the power of each parameter is fitted too.
        `weights`: whether relative or absolute residuals count.
        `nonnegative`: whether the constant and the coefficients must not be negative.
        """
        from scalkit.fit.refine import refine

        x, y, model = self.fitted
        return refine(x, y, model, free_exponents=free_exponents, weights=weights, nonnegative=nonnegative)

    def answer_to_dict(self) -> dict[str, object]:
        """Return the answer and what it rests on as plain values for JSON."""
        found = {"answer": self.answer, "too_fast": self.too_fast, "problem": self.problem}
        return found | ({} if self.against is None else {"against": self.against.to_dict()})

    @property
    def problem(self) -> str:
        """What is wrong, as one says it to a person who decides; empty unless the answer is to fix it."""
        raise NotImplementedError
