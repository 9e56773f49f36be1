"""What the measurements make probable: the growths, the ranks, a hidden faster term, and bands of what follows from them."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats, Ints
from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.options import Prior
from scalkit.text import percent
from scalkit.validation.asked import checked_level, checked_settings, checked_shares, without_value
from scalkit.validation.expectation import RANKS, Expectation, Rank
from scalkit.validation.posterior.exact import exact_predictions
from scalkit.validation.posterior.hypotheses import SUM_MASS, Hypotheses, hypotheses, tick_mass
from scalkit.validation.posterior.likelihoods import Seen
from scalkit.validation.posterior.masses import Trust, exact_masses, noisy_masses
from scalkit.validation.posterior.predictions import NEGLIGIBLE, Drawn, Predictions, draw, noisy_predictions
from scalkit.validation.posterior.profiles import AHEAD, Summary, summarise
from scalkit.validation.space import SearchSpace


@dataclass(frozen=True, eq=False)
class Competing:
    """Growths about an expectation.

    `ranks`, shape (growths,): index into ``RANKS`` of each.
    `first_beyond`: place of the first one beyond the upper limit; their number if there is none.
    """

    growths: tuple[Growth, ...]
    places: Mapping[Growth, int]
    ranks: Ints
    first_beyond: int


@lru_cache(maxsize=64)
def competing(growths: tuple[Growth, ...], expectation: Expectation) -> Competing:
    """Return growths, ascending, with their places and ranks about an expectation."""
    return Competing(
        growths,
        {growth: place for place, growth in enumerate(growths)},
        np.array([RANKS.index(expectation.rank(growth)) for growth in growths]),
        bisect_right(growths, expectation.limits[1]),
    )


SURE = 0.9
"""A verdict is undecided below this probability."""

VerdictWord = Literal["total", "approximate", "none", "undecided"]

_STEP = 0.012
_REFINED = Fraction(1, 24)
_LOG_OF_ZERO = -2000.0
_OFF = 0.5  # more probable than not


def word_of(probability: Mapping[Rank, float]) -> VerdictWord:
    """Return the rank that is at least 90 % probable, total and approximate together where total alone is not."""
    if probability["total"] >= SURE:
        return "total"
    if probability["none"] >= SURE:
        return "none"
    return "approximate" if probability["total"] + probability["approximate"] >= SURE else "undecided"


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of one series over the ruler of its expectation.

    `competing`: the leading terms, ascending, with their ranks.
    `weights` (shape (growths,)): probability of each.
    `hidden_weights` (shape (growths,)): the part of it that is a faster term beside the expected one.
    `hidden`: largest share at the last setting of `hidden_growth` that the values do not exclude at 95 %; NaN if no growth
    of the space is outside the upper limit.
    `is_exact`: whether the values were taken as free of noise.
    `apart`: settings that most probably follow something else than the rest, as where a library changes its algorithm; asked
    of exact times only.
    `off`: probability that the value of each setting is off by a factor; empty for exact values, where `apart` is asked.
    `trust`: how the settings follow the most probable growth.

    Source: docs/method.md, "How sure is it?".
    """

    series: Series
    expectation: Expectation
    space: SearchSpace
    competing: Competing
    weights: Floats
    hidden_weights: Floats
    hidden: float
    prior: Prior
    is_exact: bool
    apart: tuple[float, ...] = ()
    off: tuple[float, ...] = ()
    trust: Trust = field(default_factory=Trust)

    @property
    def growths(self) -> tuple[Growth, ...]:
        """Leading terms that competed, ascending."""
        return self.competing.growths

    @cached_property
    def probability(self) -> dict[Rank, float]:
        """Probability of each match rank."""
        found = np.bincount(self.competing.ranks, self.weights, len(RANKS))
        return dict(zip(RANKS, found.tolist(), strict=True))

    @cached_property
    def likelihood(self) -> Floats:
        """Probability of each growth by the values alone, as if all had been equally probable before, of shape (growths,)."""
        found = self.weights / tick_mass(self.growths, self.competing.ranks, self.expectation, self.prior)
        return np.asarray(found / found.sum())

    @cached_property
    def faster(self) -> float:
        """Probability that the growth is beyond the upper limit."""
        beyond = float(self.weights[self.competing.first_beyond :].sum())
        return min(beyond, self.probability["none"])  # where nothing slower is outside, sums may differ in the last bit

    @property
    def off_at(self) -> int | None:
        """Place of the setting whose value is probably off by a factor, so that the others are judged; None without one."""
        return self.off.index(max(self.off)) if self.off and max(self.off) >= _OFF else None

    def __repr__(self) -> str:
        said = ", ".join(f"{rank} {percent(p)}" for rank, p in self.probability.items())
        return f"<Posterior of {self.series.function} about {self.expectation.growth}: {said}>"

    @property
    def verdict(self) -> VerdictWord:
        """The rank that is at least 90 % probable, or ``"undecided"``.

        ``"approximate"`` also where only the sum of total and approximate is that probable: inside the limits in any case.
        """
        return word_of(self.probability)

    @property
    def hidden_growth(self) -> Growth | None:
        """The slowest growth beyond the upper limit, which is the hardest one to see; None if none competed."""
        place = self.competing.first_beyond
        return self.growths[place] if place < len(self.growths) else None

    def weight_of(self, growth: Growth) -> float:
        """Return the probability of a growth; 0 for one that did not compete."""
        place = self.competing.places.get(growth)
        return 0.0 if place is None else float(self.weights[place])

    def growth_band(self, level: float = 0.9) -> tuple[Growth, Growth]:
        """Return the slowest and the fastest growth of the central band of probability `level`."""
        below = np.cumsum(self.weights)
        low, high = (1 - checked_level(level)) / 2, (1 + level) / 2
        first = int(np.searchsorted(below, low, side="right"))
        last = int(np.searchsorted(below, high - 1e-12))
        top = len(self.growths) - 1
        return self.growths[min(first, top)], self.growths[min(last, top)]

    def divergence_band(self, level: float = 0.9) -> tuple[Growth, Growth]:
        """Return the band of growth over expectation."""
        low, high = self.growth_band(level)
        return low / self.expectation.growth, high / self.expectation.growth

    def interval(self, x: ArrayLike, level: float = 0.9) -> Floats:
        """Return the central prediction interval of a setting's value.

        `x`: settings of the parameter.
        `level`: probability that a value measured there lies inside, if it follows a class of the refined ruler.
        Returns: shape (2, *shape of x).

        Hypotheses on the ruler take part, each also with a power that is free about its tick, the uncertainty of the level,
        and the noise of the new value; a misfit that drifts moves farther beyond the settings than among them. Exact values have
        a ruler refined to 1/24 instead. Another regime there is outside of any such interval.
        """
        low = (1 - checked_level(level)) / 2
        return self._quantiles(x, [low, 1 - low], True, AHEAD)

    def predict(self, x: ArrayLike) -> Floats:
        """Return the median of what the classes of the ruler predict at `x`, same shape as `x`, in the unit of the series."""
        return np.asarray(self.quantiles(x, [0.5])[0])

    def quantiles(self, x: ArrayLike, shares: Sequence[float], refined: bool = True) -> Floats:
        """Return quantiles of the predictions at `x`, of shape (len(shares), *shape of x), in the unit of the series.

        `refined`: whether growths between the ticks take part, as they do in an interval.
        Raises UsageError if a setting is not positive, a growth that competes has no value there, or a share is no
        probability.
        """
        return self._quantiles(x, shares, refined, 1.0)

    def _quantiles(self, x: ArrayLike, shares: Sequence[float], refined: bool, ahead: float) -> Floats:
        at, wanted = checked_settings(x, self.series.parameter), checked_shares(shares)
        if nowhere := without_value(self.growths, self.series.x, at.ravel()):
            raise UsageError(
                f"nothing can be predicted at {self.series.parameter} = {nowhere[0]:g}, where {nowhere[1]} has no value; ask "
                "for larger settings."
            )
        seen = self.predictions(np.atleast_1d(at).ravel(), refined, ahead)
        return seen.quantiles(wanted).reshape(len(shares), *at.shape)

    def predictions(self, at: ArrayLike, refined: bool = True, ahead: float = 1.0) -> Predictions:
        """Return what each hypothesis predicts at settings of shape (m,).

        `at`: shape (m,).
        `refined`: whether growths between the ticks take part.
        `ahead`: how much larger the variance of a drift is beyond the settings than as far among them.
        """
        at = np.asarray(at, dtype=np.float64)
        if self.is_exact:
            return self._exact_predictions(at, _refined(self.space) if refined else self.space.ticks)
        hyp = hypotheses(self.series.x, self.expectation, self.space.ticks, _STEP, self.prior)
        return noisy_predictions(self._drawn if refined else self._draw(hyp, False), hyp, at, ahead)

    @cached_property
    def _drawn(self) -> Drawn:
        """The hypotheses that stand for all, with free powers."""
        return self._draw(hypotheses(self.series.x, self.expectation, self.space.ticks, _STEP, self.prior), True)

    def _draw(self, hyp: Hypotheses, is_free: bool) -> Drawn:
        summary = summarise(_positive(self.series.replicates)[None])
        level = float(np.median(np.log(_positive(self.series.y)) - summary.z[0])) + summary.z[0].mean()
        return draw(summary, hyp, level, is_free)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_drawn"}  # made again where it is asked for

    def _exact_predictions(self, at: Floats, ticks: tuple[Growth, ...]) -> Predictions:
        series = self.series
        growths = tuple(sorted({*ticks, Growth.constant(), self.expectation.growth}))
        seen = exact_predictions(series.x, series.y, growths, _step_of(series), at, self.space.ticks)
        rank = np.array([RANKS.index(self.expectation.rank(g)) for g in growths])
        mass = tick_mass(growths, rank, self.expectation, self.prior)[seen.tick]
        evidence = seen.evidence + np.log(mass * np.where(seen.is_sum, SUM_MASS, 1 - SUM_MASS))[:, None]
        weights = np.exp(evidence - evidence.max())
        k, q = np.nonzero(weights > NEGLIGIBLE)
        found = seen.values[k, q]
        is_positive = found > 0
        return Predictions(
            logs=np.where(is_positive, np.log(np.where(is_positive, found, 1.0)), _LOG_OF_ZERO),
            weights=weights[k, q] / weights[k, q].sum(),
            spread=np.where(is_positive, np.minimum(seen.errors[k, q] / np.where(is_positive, found, 1.0), 1.0), 1.0),
            growths=growths,
            tick=seen.tick[k],
            is_single=~np.asarray(seen.is_sum)[k],
        )


def posteriors(
    measured: Sequence[Series],
    expectation: Expectation,
    space: SearchSpace,
    prior: Prior = "ranks",
    memory: "Memory | None" = None,
) -> list[Posterior]:
    """Return the posterior of each series about one expectation; series of equal settings are computed together.

    What comes out for a series does not depend on the others, to the last bit.

    `prior`: equal mass for the three ranks, for all ticks, or half of it for the expectation.
    `memory`: what the same series left behind when they were judged with other ticks; the same comes out, sooner.
    Raises UsageError if the prior is unknown.
    """
    if prior not in get_args(Prior):
        raise UsageError(f"the prior {prior!r} is unknown; choose one of {', '.join(get_args(Prior))}.")
    memory = Memory() if memory is None else memory
    found: dict[int, Posterior] = {}
    batches: dict[tuple[float, ...], list[int]] = {}
    for index, series in enumerate(measured):
        if memory.is_exact(series):
            growths = tuple(sorted({*space.ticks, Growth.constant(), expectation.growth}))
            m = exact_masses(series.x, series.y, growths, expectation, _step_of(series), prior, series.virtual)
            order = competing(growths, expectation)
            apart = () if m.apart is None else tuple(series.x[m.apart].tolist())
            found[index] = Posterior(
                series,
                expectation,
                space,
                order,
                m.growth[0],
                m.hidden[0],
                float(m.bound[0]),
                prior,
                True,
                apart,
                trust=m.trust[0] if m.trust else Trust(),
            )
        else:
            key = (*series.x.tolist(), series.replicates.shape[1])  # the last bit of a sum depends on its length
            batches.setdefault(key, []).append(index)
    for (*settings, _), indices in batches.items():
        batch = [measured[index] for index in indices]
        hyp = hypotheses(np.array(settings), expectation, space.ticks, _STEP, prior)
        summary, seen = memory.of(batch)
        m = noisy_masses(summary, hyp, seen)
        order = competing(hyp.growths, expectation)
        for row, (index, series) in enumerate(zip(indices, batch, strict=True)):
            bound, off = float(m.bound[row]), () if m.off is None else tuple(m.off[row].tolist())
            found[index] = Posterior(
                series, expectation, space, order, m.growth[row], m.hidden[row], bound, prior, False, off=off, trust=m.trust[row]
            )
    return [found[index] for index in range(len(measured))]


def _step_of(series: Series) -> float:
    """Return the step in which values are counted: the resolution of the metric, or 1 for a count of whole numbers."""
    y = series.y
    is_count = series.exact and bool((y == np.round(y)).all()) and float(np.max(np.abs(y))) < 2**53
    return series.resolution or float(is_count)


def _positive(values: Floats) -> Floats:
    """Return values whose logarithm exists: zeros become a thousandth of the smallest positive value."""
    if not (values <= 0).any():
        return values
    least = np.min(np.where(values > 0, values, np.inf))
    return np.where(values <= 0, least * 1e-3 if np.isfinite(least) else 1.0, values)


@lru_cache(maxsize=64)
def _refined(space: SearchSpace) -> tuple[Growth, ...]:
    """Return the ticks with the powers between them in steps of 1/24, each also times a logarithm."""
    powers = [tick.power(space.parameter) for tick in space.ticks if not tick.exponential(space.parameter)]
    if not powers:
        return space.ticks
    steps = range(int(min(powers) / _REFINED), int(max(powers) / _REFINED) + 1)
    between = (Growth.of(space.parameter, power=k * _REFINED, log=log) for k in steps for log in (0, 1))
    return tuple(sorted({*space.ticks, *between}))


_AGREE = 1e-12
_BATCHES = 16
_SERIES = 4000


class Memory:
    """Keeps what verdicts on the same series have in common; see `posteriors`."""

    def __init__(self) -> None:
        self._batches: OrderedDict[tuple[int, ...], tuple[tuple[Series, ...], Summary, Seen]] = OrderedDict()
        self._is_exact: OrderedDict[int, tuple[Series, bool]] = OrderedDict()

    def of(self, batch: Sequence[Series]) -> tuple[Summary, Seen]:
        """Return location and noise of series of equal settings, and what was found for them."""
        key = tuple(map(id, batch))
        if key not in self._batches:
            summary = summarise(np.stack([one.replicates for one in batch]))
            self._batches[key] = tuple(batch), summary, Seen()
            if len(self._batches) > _BATCHES:
                self._batches.popitem(last=False)
        self._batches.move_to_end(key)
        _, summary, seen = self._batches[key]
        return summary, seen

    def is_exact(self, series: Series) -> bool:
        """Return whether the values have no noise: by their metric, where replicates agree, or where a logarithm fails."""
        key = id(series)
        if key not in self._is_exact:
            self._is_exact[key] = series, _is_exact(series)
            if len(self._is_exact) > _SERIES:
                self._is_exact.popitem(last=False)
        return self._is_exact[key][1]


def _is_exact(series: Series) -> bool:
    values = series.replicates
    there = np.isfinite(values)
    if series.exact or (series.y <= 0).any() or (values[there] <= 0).any():
        return True
    repeated = there.sum(axis=1) > 1
    if not repeated.any():
        return False
    rows, there = values[repeated], there[repeated]
    most, least = np.where(there, rows, -np.inf).max(axis=1), np.where(there, rows, np.inf).min(axis=1)
    return bool((most - least <= _AGREE * most).all())
