"""Where to measure next: the setting that tells most about the verdict for its cost."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.text import percent
from scalkit.units import format_quantity
from scalkit.validation.asked import without_value
from scalkit.validation.expectation import RANKS
from scalkit.validation.posterior import Posterior, Predictions

ENOUGH = 0.98
"""A rank needs no further measurement if it is that probable among growths of one term."""

SHARE = 0.75
"""A candidate that tells less than this share of the most telling one is passed over, however cheap it is."""

Cost = str | Callable[[float], float] | None

_NOTHING = 0.03  # bits
_PER_SPREAD = 3.0  # nodes of the grid within one standard deviation: the sum over a normal density is then exact to 1e-9
_MOST_BINS = 4096


@dataclass(frozen=True)
class Candidate:
    """One setting that could be measured.

    `x`: setting of the parameter.
    `information` in bits: expected gain of knowledge about the rank.
    `predictions`: the two most probable growths of different rank, and the value that each predicts there, in the unit
    of the series.
    """

    x: float
    cost: float
    information: float
    predictions: tuple[tuple[Growth, float], ...]

    @property
    def value(self) -> float:
        """Information per square root of cost, by which candidates are ranked."""
        return self.information / math.sqrt(self.cost)


@dataclass(frozen=True, eq=False)
class Advice:
    """Settings to measure next, the most valuable first.

    `candidates`: first those that tell at least 75 % of what the most telling one does, by information per square root
    of cost; then the others likewise. Many cheap settings of little information each cost more in the end than one that
    tells.
    `probability`: of the most probable match now.
    `apparent`: the same if no second term hides beside the one that shows: what measuring on can make out. A small
    hidden term is excluded by few settings in reach, so the doubt about it is not what the advice goes by, as long as
    it does not change which rank is the most probable.
    """

    posterior: Posterior
    candidates: tuple[Candidate, ...]
    probability: float
    apparent: float

    @property
    def information(self) -> float:
        """What the most telling candidate is expected to tell, in bits."""
        return max(one.information for one in self.candidates)

    @property
    def stop(self) -> bool:
        """Whether measuring more is hardly worth its cost.

        So it is if a rank is 98 % probable while no second term hides, or if no candidate tells 0.03 bit. The verdict may
        be undecided all the same; larger settings than the candidates may decide it.
        """
        return self.apparent >= ENOUGH or self.information < _NOTHING

    @property
    def sentence(self) -> str:
        """The advice in plain words."""
        series = self.posterior.series
        if not series.decides:
            return f"Measure {series.function} again first, as its values decide nothing: {series.caveats[0]}."
        now = f"the most probable match of {series.function} has {percent(self.probability)}"
        if round(100 * self.apparent) > round(100 * self.probability):
            now += f", {percent(self.apparent)} if no second term hides"
        if self.apparent >= ENOUGH and self.posterior.verdict == "undecided":
            return f"More of these settings decide nothing: {now}; a larger one may."
        if self.apparent >= ENOUGH:
            return f"Stop: {now}."
        if self.stop:
            return f"Stop: {now}, and no candidate tells more than {self.information:.2f} bit; offer larger settings."
        best = self.candidates[0]
        told = " and ".join(f"{growth} predicts {_quantity(y, series.unit)}" for growth, y in best.predictions)
        return f"Measure {series.parameter} = {best.x:g}: {now}; there {told}."

    def __repr__(self) -> str:
        return f"<Advice: {self.sentence}>"

    def _repr_html_(self) -> str:
        series = self.posterior.series
        head = "".join(
            f"<th scope='col'>{escape(name)}</th>"
            for name in (series.parameter, "cost", "information", "per √cost", "predictions")
        )
        rows = "".join(
            f"<tr><td>{c.x:g}</td><td>{c.cost:g}</td><td>{c.information:.3f} bit</td><td>{c.value:.2g}</td>"
            f"<td>{escape('; '.join(f'{g}: {_quantity(y, series.unit)}' for g, y in c.predictions))}</td></tr>"
            for c in self.candidates
        )
        return f"<table><caption>{escape(self.sentence)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def advise(posterior: Posterior, candidates: ArrayLike, cost: Cost = "p") -> Advice:
    """Return candidates ranked by expected information about the rank per square root of their cost.

    Those that tell much less than the most telling one come last.

    `candidates` (shape (m,)): settings that could be measured, also ones that were.
    `cost`: the name of the parameter, or ``"p"`` whatever it is called, if a measurement costs as much as its setting says;
    a function of the setting; or None where all cost the same.
    Raises UsageError if there is no candidate, one is not positive or has no value of a growth, or a cost is not positive.

    Source: docs/method.md, "Where to measure next".
    """
    at = _settings(candidates)
    costs = _costs(at, cost, posterior.series.parameter)
    _require_values(posterior, at)
    seen, ranks = _competing(posterior, at)
    rivals = _rivals(posterior)
    widths = _widths(posterior, at, (seen.weights[:, None] * seen.spread**2).sum(axis=0))
    found = [
        Candidate(
            float(x),
            float(costs[k]),
            _information(seen.logs[:, k], seen.weights, widths[k], ranks),
            tuple((growth, _prediction(seen, k, growth)) for growth in rivals),
        )
        for k, x in enumerate(at)
    ]
    least = SHARE * max(one.information for one in found)
    found.sort(key=lambda one: (one.information < least, -one.value, one.x))
    apparent = float(np.bincount(ranks, seen.weights, len(RANKS)).max())
    return Advice(posterior, tuple(found), max(posterior.probability.values()), apparent)


def _competing(posterior: Posterior, at: Floats) -> tuple[Predictions, Any]:
    """Return the hypotheses that the advice goes by, and the place of each one's rank in ``RANKS``.

    Those of one term, unless they make another rank the most probable one: then a second term is no mere doubt.
    """
    every = posterior.predictions(at, refined=False)
    one = every.of_one_term()
    ranks = np.array([RANKS.index(posterior.expectation.rank(growth)) for growth in every.growths])
    first, alone = (np.bincount(ranks[seen.tick], seen.weights, len(RANKS)).argmax() for seen in (every, one))
    seen = one if alone == first else every
    return seen, ranks[seen.tick]


def _settings(candidates: ArrayLike) -> Floats:
    """Return the distinct candidates, ascending."""
    try:
        at = np.unique(np.asarray(candidates, dtype=np.float64))
    except (TypeError, ValueError):
        at = np.empty(0)
    if not at.size or not np.isfinite(at).all() or (at <= 0).any():
        shown = candidates.tolist() if isinstance(candidates, np.ndarray) else candidates
        raise UsageError(f"candidates are {shown!r:.100}; name at least one positive setting to measure.")
    return at


def _require_values(posterior: Posterior, at: Floats) -> None:
    """Refuse candidates where a growth that competes has no value, as a logarithm below 1."""
    if found := without_value(posterior.growths, posterior.series.x, at):
        x, growth = found
        raise UsageError(f"the candidate {posterior.series.parameter} = {x:g} is where {growth} has no value; leave it out.")


def _costs(at: Floats, cost: Cost, parameter: str) -> Floats:
    if cost is None:
        return np.ones(len(at))
    if not callable(cost):
        if not isinstance(cost, str) or cost not in (parameter, "p"):
            raise UsageError(f"cost is {cost!r:.60}; name the parameter, {parameter!r}, give a function of it, or None.")
        return at
    given = [cost(float(x)) for x in at]
    try:
        costs = np.array([float(one) for one in given])
    except (TypeError, ValueError) as error:
        raise UsageError(f"costs are {given!r:.100}; the function of the setting must return a number.") from error
    if not np.isfinite(costs).all() or (costs <= 0).any():
        raise UsageError(f"costs are {costs.tolist()}; every cost must be positive and finite.")
    return costs


def _widths(posterior: Posterior, at: Floats, variances: Floats) -> Floats:
    """Return the standard deviation of the logarithm of what is measured at each setting.

    At a new setting it is the root of `variances`. Repetitions at a measured setting leave what it deviates by from every
    model, and make its mean more precise. They tell as much as an independent value whose variance makes up the difference;
    of exact values they tell nothing.
    """
    x, values = posterior.series.x, posterior.series.replicates
    there = np.isfinite(values) & (values > 0)
    count = np.maximum(there.sum(axis=1), 1)
    n = len(x)
    logs = np.log(np.where(there, values, 1.0))
    mean = logs.sum(axis=1, where=there) / count
    freedom = int((count - 1).sum())
    scatter = float(((logs - mean[:, None]) ** 2).sum(where=there)) / freedom if freedom else math.inf
    scatter = 0.0 if posterior.is_exact else scatter
    widths = np.sqrt(variances)
    again, share = float(np.median(count)), float(np.mean(1 / count))
    for k, setting in enumerate(at):
        for i in np.flatnonzero(np.isclose(x, setting, rtol=1e-9)):
            variance = float(variances[k]) / (1 + 1 / n)  # of the value of a setting
            each = min(scatter, variance / share)  # of one repetition
            stays = variance - each * share
            before, after = stays + each / count[i], stays + each / (count[i] + again)
            told = before * after / (before - after) if before > after else math.inf
            widths[k] = math.sqrt(told + variance / n)
    return widths


def _information(logs: Floats, weights: Floats, width: float, ranks: Any) -> float:
    """Return the mutual information of the rank and a new value, in bits, on a grid of values."""
    if not math.isfinite(width):
        return 0.0
    low, high = float(logs.min()) - 5 * width, float(logs.max()) + 5 * width
    n = int(min((high - low) / width * _PER_SPREAD, _MOST_BINS)) + 1
    step = (high - low) / n
    place = np.clip(((logs - low) / step).astype(int), 0, n - 1)
    reach = max(1, min(int(5 * width / step), n))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    kernel /= kernel.sum()
    joint = [np.convolve(np.bincount(place[ranks == r], weights[ranks == r], n), kernel, "full") for r in range(len(RANKS))]
    total = _entropy(np.sum(joint, axis=0))
    known = sum(float(part.sum()) * _entropy(part / part.sum()) for part in joint if part.sum() > 0)
    return max(0.0, total - known)


def _entropy(mass: Floats) -> float:
    positive = mass[mass > 0]
    return float(-(positive * np.log2(positive)).sum())


def _rivals(posterior: Posterior) -> Sequence[Growth]:
    """Return the most probable growth, and the most probable one of another rank."""
    order = [posterior.growths[k] for k in np.argsort(-posterior.weights) if posterior.weights[k] > 0]
    rank = posterior.expectation.rank
    return [order[0], *[growth for growth in order[1:] if rank(growth) != rank(order[0])][:1]]


def _prediction(seen: Predictions, column: int, growth: Growth) -> float:
    mine = seen.tick == seen.growths.index(growth)
    if not mine.any():
        return math.nan
    weights = seen.weights[mine]
    return float(np.exp((weights * seen.logs[mine, column]).sum() / weights.sum()))


def _quantity(value: float, unit: str) -> str:
    return "nothing certain" if math.isnan(value) else format_quantity(value, unit)
