"""The evidence for one parameter: what the measurements say about an expectation, and the answer that follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from scalkit.growth import Growth
from scalkit.judge.answer import (
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
from scalkit.judge.expectation import Expectation
from scalkit.judge.fit import Model
from scalkit.judge.fit.regression.posterior import Posterior
from scalkit.judge.formula import model_of, rivals_of
from scalkit.judge.judged import AnyEvidence
from scalkit.judge.space import SearchSpace
from scalkit.measure import Series
from scalkit.support.arrays import Floats

if TYPE_CHECKING:
    from scalkit.judge.against.ratio import Against

Estimator = Literal["posterior", "adjusted_r2"]
"""What chooses the model that is shown: its probability, or the adjusted R^2 of the paper."""

_NEGLIGIBLE = 0.01
"""A growth with a smaller probability is neither explained by the machine nor shown."""

_MOST_OCTAVES = 1000.0


@dataclass(frozen=True, eq=False)
class Evidence(AnyEvidence):
    """Evidence of one series for and against its expectation.

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
    since_baseline : str
        What got worse since a baseline, in a sentence; empty if nothing did, or the growth says it already.
    """

    series: Series
    expectation: Expectation
    space: SearchSpace
    posterior: Posterior
    estimator: Estimator = "posterior"
    tolerated: Growth | None = None
    against: Against | None = None
    required: Growth | None = None
    since_baseline: str = ""

    @cached_property
    def tolerance(self) -> Growth:
        """By which growth it may outgrow the expectation and be fine; 1 for not at all."""
        if self.tolerated is not None:
            return self.tolerated
        return tolerance_of(self.expectation, "auto", bundled=False, is_exact=self.series.exact)

    @property
    def spaces(self) -> dict[str, SearchSpace]:
        """The search space of each parameter."""
        return {self.series.parameter: self.space}

    @property
    def tolerances(self) -> dict[str, Growth]:
        """The growth by which the function may outgrow the expectation, for each parameter."""
        return {self.series.parameter: self.tolerance}

    @property
    def competing(self) -> Sequence[Sequence[Growth]]:
        """The growths that compete along the only parameter, the expectation first."""
        return [(self.expectation.growth, *self.posterior.growths)]

    @property
    def shares(self) -> tuple[tuple[Growth, float], ...]:
        """The growths that compete, with their probabilities."""
        return tuple(zip(self.posterior.growths, self.posterior.probabilities.tolist(), strict=True))

    def along(self, parameter: str) -> dict[Growth, float]:
        """Return the probability of each growth along the only parameter."""
        return dict(self.shares)

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

    @cached_property
    def resolution(self) -> Growth:
        """The slowest growth such that anything faster is excluded.

        Exact values exclude all candidates beyond it. Noisy ones tell a growth from the next one
        of the ruler only, so the next power beyond it is taken.
        """
        is_exact, last = self.series.exact or self.series.virtual, float(self.series.x[-1])
        growths, shares = self.posterior.growths, self.posterior.probabilities
        return resolution_of(growths, shares, self.bound, self.series.parameter, last, is_exact=is_exact)

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
    def hanging_point(self) -> Floats:
        """The largest point, on whose value the answer hangs where `hangs_on_last` is true."""
        return self.series.x[-1:]

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
    def model(self) -> Model:
        """The model that is shown; its values are those of the posterior's average."""
        return model_of(self)

    @cached_property
    def rivals(self) -> tuple[Model, ...]:
        """The models of other growths that follow the values best, by falling probability.

        With the strictness ``"paper"`` by falling adjusted R^2.
        """
        return rivals_of(self)

    @property
    def leaks(self) -> bool:
        """Whether bytes are not given back, ever more with a larger parameter: they never fall and rise at least twice."""
        lost = self.series.lost
        if lost is None or len(lost) < 3:
            return False
        steps = np.diff(lost)
        return bool((steps >= 0).all() and np.count_nonzero(steps > 0) >= 2)
