"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.fit import Model
from scalkit.fit.pure_error import standard_error
from scalkit.growth import Growth
from scalkit.json_values import json_fields, json_value
from scalkit.measure import Series
from scalkit.units import format_quantity
from scalkit.validation.answer import excess, passing_growth, scaled, steps_explain, tolerance_of
from scalkit.validation.crossing import crossing
from scalkit.validation.expectation import Direction, Expectation, Rank
from scalkit.validation.judged import POOR, Along, Judged
from scalkit.validation.pieces import piecewise_remark
from scalkit.validation.posterior import Posterior, VerdictWord
from scalkit.validation.posterior.exact import common_step
from scalkit.validation.several.along import AlongVerdict
from scalkit.validation.space import SearchSpace
from scalkit.validation.told.sentences import hidden_sentence_of, likelihood_sentence_of, problem_of, sentence_of

if TYPE_CHECKING:
    from scalkit.arrays import Floats
    from scalkit.validation.against.ratio import Against

Estimator = Literal["posterior", "adjusted_r2"]
"""What chooses the model that is shown: its probability, or the adjusted R^2 of the paper."""

_COARSE = 1000.0
"""Ticks of a clock in the largest value from which on noise hides them: 0.1 %, as little as the quietest machine scatters."""

SYMBOLS: dict[VerdictWord, str] = {"total": "✓", "approximate": "≈", "none": "✗", "undecided": "?"}


@dataclass(frozen=True, eq=False)
class Verdict(Judged):
    """What the measurements of one function and metric say about its expectation.

    Attributes
    ----------
    model : Model
        The most probable one; `rivals` are the others by falling probability, the `weight` of each. With the strictness
        ``"paper"``, and with fewer than five settings, the best and the others by adjusted R^2.
    expectation : Expectation
    space : SearchSpace
        The ticks that were tried.
    series : Series
        The measurements that were fitted.
    remarks : tuple of str
        What limits the meaning of the model, in plain words.
    posterior : Posterior
        What the values make probable.
    tolerated : Growth, optional
        By which growth it may outgrow the expectation; by default a deviation that was given, else not at all.
    against : Against, optional
        How the values compare with those of a model with constants, where one was the expectation.
    by_adjusted_r2 : Model
        The best model by adjusted R^2, as the paper chooses it.
    estimator : {"posterior", "adjusted_r2"}
        What chose `model`.
    """

    model: Model
    rivals: Sequence[Model]
    expectation: Expectation
    space: SearchSpace
    series: Series
    posterior: Posterior
    remarks: tuple[str, ...] = ()
    tolerated: Growth | None = None
    against: Against | None = None
    by_adjusted_r2: Model = field(kw_only=True)
    estimator: Estimator = "posterior"

    @cached_property
    def tolerance(self) -> Growth:
        """By which growth it may outgrow the expectation and be fine; 1 for not at all."""
        if self.tolerated is not None:
            return self.tolerated
        return tolerance_of(self.expectation, "auto", bundled=False, is_exact=self.series.exact)

    @property
    def too_fast(self) -> float:
        """Probability that it grows faster than claimed by more than is tolerated."""
        return float(self.posterior.weights[self._first_too_fast :].sum())

    @property
    def _first_too_fast(self) -> int:
        return bisect_right(self.posterior.growths, self.expectation.growth * self.tolerance)

    @property
    def suspect(self) -> Growth | None:
        """The most probable growth beyond what is tolerated, or a plain one that explains exact values; None without any."""
        first, series = self._first_too_fast, self.series
        if series.exact and series.resolution:
            for growth in self.posterior.growths[first:]:
                is_plain = growth.power(self.parameter).denominator == 1 and growth.log(self.parameter) in (0, 1)
                if is_plain and steps_explain(series.y, scaled(growth, series.x), series.resolution):
                    return growth
        weights = self.posterior.weights[first:]
        return self.posterior.growths[first + int(np.argmax(weights))] if weights.size else None

    @cached_property
    def excess(self) -> float:
        """Factor by which the values outgrow the best fit of the claim over the measured range; see `answer.excess`."""
        found, series = self.suspected, self.series
        if found is None:
            return 1.0
        claimed = [scaled(self.expectation.growth, series.x)]
        return min(excess(found(series.x), claimed), excess(series.y, claimed))

    @property
    def leaks(self) -> bool:
        """Whether bytes are not given back, ever more with a larger parameter: they never fall and rise at least twice."""
        lost = self.series.lost
        if lost is None or len(lost) < 3:
            return False
        steps = np.diff(lost)
        return bool((steps >= 0).all() and np.count_nonzero(steps > 0) >= 2)

    @property
    def misses(self) -> bool:
        """Whether it grows faster than claimed by more than is tolerated, or leaks, as far as the values go."""
        return self.leaks or (super().misses and not self.coarse_tick)

    @cached_property
    def coarse_tick(self) -> float:
        """Tick of a clock too coarse to tell settings apart, where the claim explains every value to within two; else 0."""
        series, values = self.series, self.series.replicates
        if series.exact or series.virtual or len(np.unique(series.y)) == len(series.y):
            return 0.0
        if not (tick := common_step(np.append(values[np.isfinite(values)], 0.0))):
            return 0.0
        claimed = scaled(self.expectation.growth, series.x)
        return tick if series.y.max() <= _COARSE * tick and steps_explain(series.y, claimed, 2 * tick) else 0.0

    @property
    def is_poor(self) -> bool:
        """Whether the best term beyond the claim leaves a fifth of what noisy values vary by unexplained."""
        found, is_exact = self.suspected, self.series.exact or self.series.virtual
        is_noisy = self.against is None and not is_exact and not self.leaks
        if not is_noisy or found is None:
            return False
        best = self.by_adjusted_r2
        return found.adjusted_r2 < POOR and not (best.growth > self.expectation.growth and best.adjusted_r2 >= POOR)

    @cached_property
    def is_explained(self) -> bool:
        """Whether the claim explains every value to within the step in which the metric is counted; see `steps_explain`."""
        series = self.series
        return (
            series.exact
            and not self.leaks
            and steps_explain(series.y, scaled(self.expectation.growth, series.x), series.resolution)
        )

    @property
    def by_likelihood(self) -> Growth:
        """The growth that the values alone make most probable, without regard to what is expected."""
        return self.posterior.growths[int(np.argmax(self.posterior.likelihood))]

    @cached_property
    def suspected(self) -> Model | None:
        """The best model beyond what is tolerated."""
        suspect = self.suspect
        return next((one for one in chain([self.model], self.rivals) if one.growth == suspect), None)  # each is made when seen

    @cached_property
    def passes_up_to(self) -> Growth:
        """The fastest growth that would still be fine: what is tolerated, and what noise and drift of the machine hide."""
        series, bound = self.series, self.expectation.growth * self.tolerance
        return passing_growth(bound, series.x, self.parameter, 0.0 if series.exact else standard_error(series))

    @cached_property
    def problem(self) -> str:
        """What is wrong, as one says it to a person who decides; empty unless the answer is to fix it."""
        return problem_of(self) if self.answer == "fix" else ""

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self.series.parameter

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters: the only one."""
        return self.series.parameters

    @cached_property
    def along(self) -> Along:
        """The verdict along the parameter, in the form that verdicts over several parameters have."""
        x, model = self.series.x, self.model
        top = float(np.asarray(model(x[-1])))
        effect = 1 - float(np.asarray(model(x[0]))) / top if top else 0.0
        weights = {growth: self.posterior.weight_of(growth) for growth in self.posterior.growths}
        facts = self.probability, float(x[-1]), effect, self.space, self.tolerance, self.answer
        found = AlongVerdict(self.expectation, model.growth, weights, *facts)
        return Along({self.parameter: found})

    @property
    def effects(self) -> dict[str, float]:
        """Share of the value at the largest point that is due to the parameter; what remains to 1 is the smallest point's."""
        return {name: one.effect for name, one in self.along.items()}

    @property
    def divergence(self) -> Growth:
        """Growth of model / expectation."""
        return self.model.growth / self.expectation.growth

    def divergence_at(self, x: ArrayLike) -> Floats:
        """Return the divergence model, coefficients stripped, at `x`; same shape as `x`."""
        return self.divergence(x)

    @property
    def rank(self) -> Rank:
        """Match rank of the model: total, approximate (on or inside the deviation limits) or none."""
        return self.expectation.rank(self.model.growth)

    @property
    def verdict(self) -> VerdictWord:
        """The match rank that is at least 90 % probable, or ``"undecided"``; see `Posterior.verdict`."""
        return self.posterior.verdict

    @property
    def probability(self) -> dict[Rank, float]:
        """Probability of each match rank."""
        return self.posterior.probability

    @property
    def hidden(self) -> float:
        """Largest share of the slowest term beyond the limits, at the last setting, that the values do not exclude at 95 %."""
        return self.posterior.hidden

    def interval(self, x: ArrayLike, level: float = 0.9) -> Floats:
        """Return the prediction interval at `x`, of shape (2, *shape of x), in `unit`; see `Posterior.interval`."""
        return self.posterior.interval(x, level)

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected: by the posterior where the verdict is none, else by the model."""
        if self.verdict == "none":
            return "grows faster" if self.posterior.faster >= self.probability["none"] / 2 else "grows slower"
        return self.expectation.direction(self.model.growth)

    @cached_property
    def crossing(self) -> float:
        """The largest x where the divergence meets a limit; 1 if outside for all x > 1, NaN if inside."""
        return crossing(self.model.growth, self.expectation)

    @property
    def adjusted_r2(self) -> float:
        """Adjusted coefficient of determination of the model; NaN for a constant."""
        return self.model.adjusted_r2

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the meaning of the measurements and of the model."""
        factor = self.against.remark if self.against else ""
        if super().misses and self.coarse_tick:
            tick = format_quantity(self.coarse_tick, self.unit)
            factor = f"the clock has steps of {tick}, and the claim explains every value to within two"
        if self.misses and self.is_poor and self.suspected is not None:
            factor = f"no term follows the values (adjusted R² {self.suspected.adjusted_r2:.2f}); measure again"
        return (*self.series.caveats, *self.remarks, *(one for one in (self.change, factor) if one))

    @cached_property
    def change(self) -> str | None:
        """Where the growth changes, in words, if it very probably does; see `scalkit.piecewise`."""
        return piecewise_remark(self.series, self.by_adjusted_r2)

    @property
    def fitted(self) -> tuple[Floats, Floats, Model]:
        """Settings, values, and the model that was fitted to them."""
        return self.series.x, self.series.y, self.model

    @property
    def sentence(self) -> str:
        """The verdict in plain words, with direction and crossing point."""
        return sentence_of(self)

    @property
    def likelihood_sentence(self) -> str:
        """What the values alone make most probable, in plain words, where that is another growth than the model's."""
        return likelihood_sentence_of(self)

    @property
    def hidden_sentence(self) -> str:
        """What could still hide in the values, in plain words; empty if nothing of that kind was tried."""
        return hidden_sentence_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **json_fields(self, "function metric unit parameter"),
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "limits": json_value(self.expectation.limits),
            "space": {"name": self.space.name, "ticks": list(_texts(self.space.ticks))},
            "model": _model(self.model),
            "by_adjusted_r2": _model(self.by_adjusted_r2),
            **json_fields(self, "by_likelihood divergence rank verdict"),
            **self.answer_to_dict(),
            **json_fields(self, "passes_up_to probability"),
            "hidden": {"growth": json_value(self.posterior.hidden_growth), "share": json_value(self.hidden)},
            "growth_band": json_value(self.posterior.growth_band()),
            **json_fields(self, "direction crossing decides caveats sentence"),
            "rivals": [_model(model) for model in self.rivals[:5]],
            **json_fields(self.series, "x y"),
            "n_repetitions": [int(n) for n in self.series.n_repetitions],
            "noise": json_value(self.series.noise),
        }

    def __repr__(self) -> str:
        return f"Verdict({self.function!r}, {self.metric}: {self.model}, {self.verdict})"

    def _repr_html_(self) -> str:
        from scalkit.validation.told.shown import verdict_html

        return verdict_html(self)

    def _repr_latex_(self) -> str:
        return f"$E = {self.expectation.to_latex()},\\quad G = {self.model.to_latex()}$"


@lru_cache(maxsize=256)
def _texts(ticks: tuple[Growth, ...]) -> tuple[str, ...]:
    """Return the texts of ticks, which many verdicts share."""
    return tuple(str(tick) for tick in ticks)


def _model(model: Model) -> dict[str, Any]:
    return json_fields(model, "growth constant coefficient adjusted_r2 weight") | {"text": str(model)}
