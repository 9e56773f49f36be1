"""The answer that follows from evidence, and what verdicts over one and several parameters share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.judge.answer import FINE, SURE, Answer, machine_factor
from scalkit.judge.asked import checked_level, predictable_points
from scalkit.judge.expectation import Direction, Match, likely_direction, match_probabilities, sure_match
from scalkit.judge.fit.model import at_points, stacked
from scalkit.judge.several.along import AlongVerdict
from scalkit.judge.told.remarks import remarks_of
from scalkit.judge.told.sentences import problem_of, sentence_of
from scalkit.measure import Series, SeveralSeries
from scalkit.support.arrays import Floats
from scalkit.support.json_values import json_fields

if TYPE_CHECKING:
    from lmfit.model import ModelResult

    from scalkit.judge.against.ratio import Against
    from scalkit.judge.fit.model import Model
    from scalkit.judge.fit.refine import Weights


class Along(dict[str, AlongVerdict]):
    """The verdict along each parameter, by name: ``along["p"]`` and ``along("p")`` are the same."""

    def __call__(self, parameter: str | None = None) -> AlongVerdict:
        """Return the verdict along a parameter, by default the only one.

        Raises UsageError if there is no such parameter, or several and none is named.
        """
        if parameter is None and len(self) == 1:
            return next(iter(self.values()))
        if not isinstance(parameter, str) or parameter not in self:
            raise UsageError(f"there is no verdict along {parameter!r:.40}; choose one of {', '.join(self)}.")
        return self[parameter]


class AnyEvidence:
    """Evidence of a series for and against its expectation, and the answer that follows.

    `against`: how the values compare with those of a model with constants; the series is measured
    over model then.
    `since_baseline`: what got worse since a baseline, in a sentence; empty if nothing did.
    """

    series: Series | SeveralSeries
    against: Against | None
    since_baseline: str

    @property
    def competing(self) -> Sequence[Sequence[Growth]]:
        """The growths that compete along each parameter."""
        raise NotImplementedError

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
        return machine_factor(self.series, self.series.parameters)

    @property
    def leaks(self) -> bool:
        """Whether bytes are not given back, ever more with a larger parameter."""
        return False

    @property
    def hangs_on_last(self) -> bool:
        """Whether something of its own lifts the value at the largest point."""
        return False

    @property
    def jumps(self) -> bool:
        """Whether several launches found the largest point far above what the others follow."""
        return False

    @property
    def resolves(self) -> bool:
        """Whether the resolution is as fine as was required."""
        return True

    @property
    def misses(self) -> bool:
        """Whether it grows faster than claimed by more than is tolerated, as far as the values go."""
        if self.against is not None:
            return bool(self.against.growing)
        return self.leaks or (self._is_too_fast and not self.hangs_on_last)

    @property
    def _is_too_fast(self) -> bool:
        """Whether it surely grows too fast, and by more than the machine explains."""
        explained = self.machine_factor
        return self.too_fast >= SURE and (explained == 1 or self.excess >= explained)

    @cached_property
    def answer(self) -> Answer:
        """Answer to what to do: ``"fix"``, ``"fine"``, or ``"cannot tell"`` where the values do not decide."""
        if not self.series.decides:
            return "cannot tell"
        if self.against is not None:
            return self.against.answer
        if self.leaks:
            return "fix"
        if self.hangs_on_last:
            return "cannot tell"
        if self._is_too_fast:
            return "fix"
        return "fine" if self.too_fast <= FINE and self.resolves else "cannot tell"


class AnyVerdict:
    """Members that verdicts over one and over several parameters share.

    `evidence`: what the verdict rests on.
    """

    evidence: Any
    series: Series | SeveralSeries

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
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.series.parameters

    @property
    def decides(self) -> bool:
        """Whether it may decide an exit status; `caveats` says why not."""
        return self.series.decides

    @property
    def answer(self) -> Answer:
        """Answer to what to do: ``"fix"``, ``"fine"``, or ``"cannot tell"`` where the values do not decide."""
        found: Answer = "fix" if self.evidence.since_baseline else self.evidence.answer
        return found

    @property
    def too_fast(self) -> float:
        """Probability that it grows faster than claimed by more than is tolerated."""
        return float(self.evidence.too_fast)

    @property
    def model(self) -> Model:
        """The model that is shown; its values are those of the posterior's average."""
        found: Model = self.evidence.model
        return found

    @property
    def rivals(self) -> tuple[Model, ...]:
        """The next best models, by falling probability; with the strictness ``"paper"`` by falling adjusted R^2."""
        found: tuple[Model, ...] = self.evidence.rivals
        return found

    @cached_property
    def sentence(self) -> str:
        """The verdict in plain words: the growth, and excluded growths or missing data."""
        return str(self.evidence.since_baseline) or sentence_of(self)

    @cached_property
    def problem(self) -> str:
        """The problem in one sentence; empty unless the answer is *fix*."""
        if self.evidence.since_baseline:
            return str(self.evidence.since_baseline).removesuffix(".")
        return problem_of(self) if self.answer == "fix" else ""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks on limitations of the measurements and of the model."""
        against = self.evidence.against
        return (*self.series.caveats, *remarks_of(self), *([against.remark] if against and against.remark else []))

    def interval(self, x: ArrayLike | Mapping[str, ArrayLike] | None = None, level: float = 0.9, **values: ArrayLike) -> Floats:
        """Return the central prediction interval at points, of shape (2, *shape of the points), in `unit`.

        Parameters
        ----------
        x : array_like, over several parameters of shape (..., parameters), or mapping from parameter to values
            By name, ``interval(p=4096)`` is the same as ``interval(4096)``.
        level : float
            Probability that a new value lies inside.

        Raises
        ------
        DataError
            If a parameter is missing or unknown.
        UsageError
            If a point is not positive, a growth that competes has no value there, or `level` is no probability.
        """
        at, shape = stacked(at_points(values if x is None else x, self.parameters))
        predictable_points(at, self.series, self.evidence.competing)
        low = (1 - checked_level(level)) / 2
        found: Floats = self.evidence.posterior.quantiles(at, (low, 1 - low))
        return found.reshape(2, *shape)

    @property
    def match(self) -> Match:
        """Match of the model with the expectation: total, approximate (within the deviation limits) or none."""
        found: Match = self.evidence.expectation.match(self.model.growth)
        return found

    @cached_property
    def probability(self) -> dict[Match, float]:
        """Probability of each match."""
        return match_probabilities(self.evidence.expectation, self.evidence.shares)

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected: the more probable one where there surely is no match."""
        evidence = self.evidence
        return likely_direction(evidence.expectation, self.model.growth, evidence.shares, self.probability)

    @property
    def _effects(self) -> Mapping[str, float]:
        """Share of the value at the largest point that is due to each parameter."""
        raise NotImplementedError

    @cached_property
    def along(self) -> Along:
        """The verdict along each parameter, the others fixed."""
        evidence, effects = self.evidence, self._effects
        found = {}
        for name, expectation in evidence.expectation.along.items():
            growth, weights = self.model.leading(name), evidence.along(name)
            space, tolerance = evidence.spaces[name], evidence.tolerances[name]
            found[name] = AlongVerdict(expectation, growth, weights, effects[name], space, tolerance, self)
        return Along(found)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        expectation, against = self.evidence.expectation, self.evidence.against
        return {
            **json_fields(self, "function metric unit"),
            "expectation": str(expectation.growth),
            "deviation": str(expectation.deviation),
            **json_fields(self, "divergence match answer too_fast problem"),
            **({} if against is None else {"against": against.to_dict()}),
            **json_fields(self, "resolution probability direction decides caveats sentence"),
            **json_fields(self.series, "y n_repetitions noise"),
            "model": model_to_dict(self.model),
            "rivals": [model_to_dict(model) for model in self.rivals[:5]],
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.answer}. {self.sentence}>"

    def _repr_html_(self) -> str:
        from scalkit.judge.told.shown import verdict_html

        return verdict_html(self)

    def refine(self, *, free_exponents: bool = False, weights: Weights = "relative", nonnegative: bool = True) -> ModelResult:
        """Return lmfit's result for the terms of the model on the values that were fitted; see `scalkit.judge.fit.refine.refine`.

        `free_exponents`: whether the power of each parameter is fitted too.
        `weights`: whether relative or absolute residuals count.
        `nonnegative`: whether the constant and the coefficients must not be negative.
        """
        from scalkit.judge.fit.refine import refine

        points = self.series.points
        return refine(
            points if len(self.parameters) > 1 else points[:, 0],
            self.series.y,
            self.model,
            free_exponents=free_exponents,
            weights=weights,
            nonnegative=nonnegative,
        )

    def plot(self) -> Any:
        """Return the plotly figure of the values, the model and the expectation; see `scalkit.plot`."""
        # Drawing belongs to a higher layer; only the public face knows what draws a verdict.
        import scalkit

        return scalkit.plot(self)


def grows_slower(verdict: AnyVerdict) -> bool:
    """Return whether it surely grows slower than the limits allow, so that the claim could be sharper."""
    is_outside = sure_match(verdict.probability) == "none"
    return is_outside and verdict.direction == "grows slower"


def is_decided(verdict: AnyVerdict) -> bool:
    """Return whether the growth is known well enough to predict by."""
    return verdict.decides and sure_match(verdict.probability) is not None


def model_to_dict(model: Model) -> dict[str, object]:
    """Return a model as plain values for JSON."""
    terms = [json_fields(term, "growth coefficient") for term in model.terms]
    return {"growth": str(model.growth), "terms": terms, **json_fields(model, "adjusted_r2 weight"), "text": str(model)}
