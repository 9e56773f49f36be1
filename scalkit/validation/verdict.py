"""The verdict on one function and metric: model against expectation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.fit import Model
from scalkit.fit.regression.posterior import Posterior
from scalkit.growth import Growth
from scalkit.json_values import json_fields, json_value
from scalkit.measure import Series
from scalkit.validation.answer import (
    APART,
    CLEAN_MEMORY,
    LOW,
    MATERIAL,
    MEMORY,
    MOST_MEMORY,
    SEVERAL,
    SURE,
    excess,
    resolution_of,
    scaled,
    tolerance_of,
    unexplained,
)
from scalkit.validation.asked import checked_level, predictable_points
from scalkit.validation.crossing import crossing
from scalkit.validation.expectation import RANKS, Direction, Expectation, Rank, VerdictWord, word_of
from scalkit.validation.formula import models_of
from scalkit.validation.judged import Along, Judged
from scalkit.validation.several.along import AlongVerdict
from scalkit.validation.space import SearchSpace
from scalkit.validation.told.remarks import remarks_of
from scalkit.validation.told.sentences import problem_of, sentence_of

if TYPE_CHECKING:
    from scalkit.arrays import Floats
    from scalkit.validation.against.ratio import Against

Estimator = Literal["posterior", "adjusted_r2"]
"""What chooses the model that is shown: its probability, or the adjusted R^2 of the paper."""

_NEGLIGIBLE = 0.01
"""A growth with a smaller probability is neither explained by the machine nor shown."""

_MOST_OCTAVES = 1000.0

SYMBOLS: dict[VerdictWord, str] = {"total": "✓", "approximate": "≈", "none": "✗", "undecided": "?"}


@dataclass(frozen=True, eq=False)
class Verdict(Judged):
    """What the measurements of one function and metric say about its expectation.

    Attributes
    ----------
    series : Series
        The measurements that were judged.
    expectation : Expectation
    space : SearchSpace
        The growths that competed, beside a constant and falling ones.
    posterior : Posterior
        Probabilities, predictions and intervals; everything else follows from it.
    estimator : {"posterior", "adjusted_r2"}
        What chooses `model`: its probability, or the adjusted R^2 of the paper.
    tolerated : Growth, optional
        By which growth it may outgrow the expectation; by default a deviation that was given, else not at all.
    against : Against, optional
        How the values compare with those of a model with constants, where one was the expectation.
    required : Growth, optional
        The answer is fine only if growths are excluded that outgrow the claim by more than this.
    """

    series: Series
    expectation: Expectation
    space: SearchSpace
    posterior: Posterior
    estimator: Estimator = "posterior"
    tolerated: Growth | None = None
    against: Against | None = None
    required: Growth | None = None

    @cached_property
    def tolerance(self) -> Growth:
        """By which growth it may outgrow the expectation and be fine; 1 for not at all."""
        if self.tolerated is not None:
            return self.tolerated
        return tolerance_of(self.expectation, "auto", bundled=False, is_exact=self.series.exact)

    @property
    def bound(self) -> Growth:
        """The fastest growth that is fine."""
        return self.expectation.growth * self.tolerance

    @cached_property
    def too_fast(self) -> float:
        """Probability that it grows faster than claimed by more than is tolerated.

        Times over the size of a problem also rise where data outgrow caches: a faster growth counts
        as far as that does not explain by how much they outgrow the claim, which it does more
        easily where they follow that growth only with a drift. A largest point that several
        launches found far above the others is a faster growth, too.
        """
        posterior = self.posterior
        if self.jumps:
            return posterior.last_is_above
        faster = posterior.too_fast(self.bound)
        if super().machine_factor < MEMORY or faster < _NEGLIGIBLE:
            return faster
        x = self.series.x
        return posterior.too_fast(self.bound, **unexplained(self.excess, float(x[-1] / x[0]), faster))

    @property
    def may_be_caches(self) -> bool:
        """Whether caches may be the reason why the values outgrow the claim."""
        may_rise = super().machine_factor >= MEMORY and self.excess <= MOST_MEMORY
        if not may_rise or self.answer == "fine" or self.posterior.too_fast(self.bound) < SURE:
            return False
        # Data that outgrow caches follow no law to the end, so that it takes a drift beside one.
        return self.posterior.too_fast(self.bound, drifting=0.0) < 1 / 2

    @property
    def machine_factor(self) -> float:
        """Factor by which the machine alone may make the values rise; `too_fast` takes more of caches into account."""
        return min(super().machine_factor, CLEAN_MEMORY)

    @property
    def suspect(self) -> Growth | None:
        """The most probable growth beyond what is tolerated; None without any."""
        return next((g for g in self.posterior.by_probability if g > self.bound), None)

    @cached_property
    def resolution(self) -> Growth:
        """The slowest growth such that anything faster is excluded.

        Exact values exclude all candidates beyond it. Noisy ones tell a growth from the next one
        of the ruler only, so the next power beyond it is taken.
        """
        is_exact, last = self.series.exact or self.series.virtual, float(self.series.x[-1])
        growths, shares = self.posterior.growths, self.posterior.probabilities
        return resolution_of(growths, shares, self.bound, self.parameter, last, is_exact=is_exact)

    @property
    def resolves(self) -> bool:
        """Whether the resolution is as fine as was required."""
        return self.required is None or self.resolution <= self.bound * self.required

    @property
    def hangs_on_last(self) -> bool:
        """Whether the value at the largest point alone decides: it lies far above or below what the others suggest.

        Unless several launches agree on it, nobody can tell whether it is a disturbance.
        """
        is_open = self.posterior.too_fast(self.bound) < SURE
        return (self._last_is_apart or self.last_is_low) and is_open and not self._launches_agree

    @property
    def last_is_low(self) -> bool:
        """Whether the values only follow a law if the largest point, far below the others, is taken at its word."""
        return bool(self.posterior.reach[-1] > LOW and self.posterior.off[-1] < 1 / 2)

    @property
    def _last_is_apart(self) -> bool:
        """Whether the largest point lies above what the others follow, and well above what the claim allows."""
        y, logs = self.series.y, self.bound.log2_value(self.series.x[-2:])
        allowed = y[-2] * 2.0 ** float(np.clip(logs[1] - logs[0], 0, _MOST_OCTAVES))
        return self.posterior.last_is_above >= APART and bool(y[-1] > MATERIAL * allowed)

    @property
    def jumps(self) -> bool:
        """Whether several launches found the largest point far above what the others follow."""
        return self._last_is_apart and self._launches_agree

    @property
    def _launches_agree(self) -> bool:
        """Whether several launches measured the largest point, so that what lifts it is no disturbance."""
        series = self.series
        if series.exact or series.virtual:
            return False
        last = series.values[-1][np.isfinite(series.values[-1])]
        return len(last) >= SEVERAL and float(np.ptp(np.log(last))) < math.log(MATERIAL)

    @property
    def off_at(self) -> int | None:
        """Place of the point whose value is probably off by a factor; None without one."""
        off = self.posterior.off
        return int(np.argmax(off)) if off.size and off.max() > 1 / 2 else None

    @cached_property
    def excess(self) -> float:
        """Factor by which the values outgrow the best fit of the claim over the measured range; see `answer.excess`."""
        x, y, off = self.series.x, self.series.y, self.off_at
        is_last = off == len(x) - 1
        # A point that is off tells nothing, but for a largest one that may be growth.
        kept = np.arange(len(x)) != (-1 if off is None or (is_last and self.posterior.last_is_above > 1 / 2) else off)
        claimed = [scaled(self.expectation.growth, x[kept])]
        measured = excess(y[kept], claimed)
        if self.jumps or (is_last and kept.all()):
            return measured
        return min(excess(self.posterior.predict(x[kept]), claimed), measured)

    @cached_property
    def models(self) -> Sequence[Model]:
        """The models of all growths that follow the values: the shown one, then the others by falling probability.

        With the strictness ``"paper"`` by falling adjusted R^2.
        """
        return models_of(self)

    @property
    def model(self) -> Model:
        """The model that is shown; its values are those of the posterior's average."""
        return self.models[0]

    @property
    def rivals(self) -> Sequence[Model]:
        """The models of the other growths; none if no other one follows the values."""
        return self.models[1:]

    def predict(self, x: ArrayLike) -> Floats:
        """Return the values that are expected at `x`, in `unit`; same shape as `x`.

        Raises UsageError as `interval` does.
        """
        at = self._asked(x)
        return self.posterior.predict(at.ravel()).reshape(at.shape)

    def interval(self, x: ArrayLike, level: float = 0.9) -> Floats:
        """Return the central prediction interval at `x`, of shape (2, *shape of x), in `unit`.

        Raises UsageError if a point is not positive, a growth that competes has no value there, or
        `level` is no probability.
        """
        low, at = (1 - checked_level(level)) / 2, self._asked(x)
        return self.posterior.quantiles(at.ravel(), (low, 1 - low)).reshape(2, *at.shape)

    def _asked(self, x: ArrayLike) -> Floats:
        return predictable_points(x, self.series, (self.expectation.growth, *self.posterior.growths))

    @property
    def leaks(self) -> bool:
        """Whether bytes are not given back, ever more with a larger parameter: they never fall and rise at least twice."""
        lost = self.series.lost
        if lost is None or len(lost) < 3:
            return False
        steps = np.diff(lost)
        return bool((steps >= 0).all() and np.count_nonzero(steps > 0) >= 2)

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
        weights = dict(zip(self.posterior.growths, self.posterior.probabilities.tolist(), strict=True))
        facts = self.probability, float(x[-1]), effect, self.space, self.tolerance, self.answer
        is_exact = self.series.exact or self.series.virtual
        found = AlongVerdict(self.expectation, model.growth, weights, *facts, is_exact=is_exact)
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
        """The match rank that is at least 90 % probable, or ``"undecided"``."""
        return word_of(self.probability)

    @cached_property
    def probability(self) -> dict[Rank, float]:
        """Probability of each match rank."""
        found = dict.fromkeys(RANKS, 0.0)
        for growth, share in zip(self.posterior.growths, self.posterior.probabilities.tolist(), strict=True):
            found[self.expectation.rank(growth)] += share
        return found

    @property
    def direction(self) -> Direction:
        """Whether it grows faster, slower or as expected: by the posterior where the verdict is none, else by the model."""
        if self.verdict == "none":
            faster = self.posterior.too_fast(self.expectation.limits[1])
            return "grows faster" if faster >= self.probability["none"] / 2 else "grows slower"
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
        return (*self.series.caveats, *remarks_of(self), *((factor,) if factor else ()))

    @property
    def fitted(self) -> tuple[Floats, Floats, Model]:
        """Settings, values, and the model that was fitted to them."""
        return self.series.x, self.series.y, self.model

    @property
    def sentence(self) -> str:
        """The verdict in plain words, with direction and crossing point."""
        return sentence_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them."""
        return {
            **json_fields(self, "function metric unit parameter"),
            "expectation": str(self.expectation.growth),
            "deviation": str(self.expectation.deviation),
            "limits": json_value(self.expectation.limits),
            "space": {"name": self.space.name, "ticks": list(_texts(self.space.ticks))},
            "model": _model(self.model),
            **json_fields(self, "divergence rank verdict"),
            **self.answer_to_dict(),
            **json_fields(self, "resolution probability"),
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
    return json_fields(model, "growth constant coefficient lower lower_coefficient adjusted_r2 weight") | {"text": str(model)}
