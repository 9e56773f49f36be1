"""Where to measure next: the setting that tells most about the verdict for its cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Flags, Floats
from scalkit.errors import UsageError
from scalkit.fit.regression.mixture import Mixture
from scalkit.growth import Growth
from scalkit.text import percent
from scalkit.units import format_quantity
from scalkit.validation.asked import without_value
from scalkit.validation.told.sentences import too_fast_in_words

if TYPE_CHECKING:
    from scalkit.validation.verdict import Verdict

SHARE = 0.75
"""A candidate that tells less than this share of the most telling one is passed over, however cheap it is."""

Cost = str | Callable[[float], float] | None

_NOTHING = 0.03  # bits
_NODES = 100  # equally probable new values


@dataclass(frozen=True)
class Candidate:
    """One setting that could be measured.

    `x`: setting of the parameter.
    `information` in bits: expected gain of knowledge about whether it grows too fast.
    `predictions`: the most probable growth that is fine and the most probable one that is not, and the value that each
    predicts there, in the unit of the series.
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
    """

    verdict: Verdict
    candidates: tuple[Candidate, ...]

    @property
    def information(self) -> float:
        """What the most telling candidate is expected to tell, in bits."""
        return max(one.information for one in self.candidates)

    @property
    def stop(self) -> bool:
        """Whether measuring more is hardly worth its cost: there is an answer, or no candidate tells 0.03 bit."""
        return self.verdict.answer != "cannot tell" or self.information < _NOTHING

    @property
    def sentence(self) -> str:
        """The advice in plain words."""
        verdict, series = self.verdict, self.verdict.series
        if not series.decides:
            return f"Measure {series.function} again first, as its values decide nothing: {series.caveats[0]}."
        if verdict.answer != "cannot tell":
            return f"Stop: the answer for {series.function} is {verdict.answer}."
        now = f"{series.function} grows {too_fast_in_words(verdict)} with a probability of {percent(verdict.too_fast)}"
        if self.stop:
            return f"Stop: {now}, and no candidate tells more than {self.information:.2f} bit; offer larger points."
        best = self.candidates[0]
        values = " and ".join(f"{growth} predicts {_quantity(y, series.unit)}" for growth, y in best.predictions)
        return f"Measure {series.parameter} = {best.x:g}: {now}; there {values}."

    def __repr__(self) -> str:
        return f"<Advice: {self.sentence}>"

    def _repr_html_(self) -> str:
        series = self.verdict.series
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


def advise(verdict: Verdict, candidates: ArrayLike, cost: Cost = "p") -> Advice:
    """Return candidates ranked by expected information about the answer per square root of their cost.

    Those that tell much less than the most telling one come last.

    `verdict`: over one parameter.
    `candidates` (shape (m,)): points that could be measured, also ones that were.
    `cost`: the name of the parameter, or ``"p"`` whatever it is called, if a measurement costs as much as its point says;
    a function of the point; or None where all cost the same.
    Raises UsageError if there is no candidate, one is not positive or has no value of a growth, or a cost is not positive.

    Source: docs/method.md, "Where to measure next".
    """
    at = _settings(candidates)
    costs = _costs(at, cost, verdict.parameter)
    _require_values(verdict, at)
    mixture = _mixture(verdict, at)
    growths = verdict.posterior.growths
    is_too_fast = np.array([growth > verdict.bound for growth in growths])[mixture.lead]
    rivals = _rivals(verdict)
    information = _information(mixture, is_too_fast)
    if verdict.series.exact or verdict.series.virtual:
        information[np.isin(at, verdict.series.x)] = 0.0  # the same value would come again
    found = [
        Candidate(
            float(x),
            float(costs[k]),
            float(information[k]),
            tuple((growth, _prediction(mixture, growths.index(growth), k)) for growth in rivals),
        )
        for k, x in enumerate(at)
    ]
    least = SHARE * max(one.information for one in found)
    found.sort(key=lambda one: (one.information < least, -one.value, one.x))
    return Advice(verdict, tuple(found))


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


def _require_values(verdict: Verdict, at: Floats) -> None:
    """Refuse candidates where a growth that competes has no value, as a logarithm below 1."""
    growths = (verdict.expectation.growth, *verdict.posterior.growths)
    if found := without_value(growths, verdict.series.x, at):
        x, growth = found
        raise UsageError(f"the candidate {verdict.parameter} = {x:g} is where {growth} has no value; leave it out.")


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


def _mixture(verdict: Verdict, at: Floats) -> Mixture:
    """Return the distribution of new values at candidates.

    Below the largest point all hypotheses follow what was measured: the drifts and steps by which
    some of them explain it are there again when it is measured again.
    """
    design, n, y = verdict.posterior.design, len(at), verdict.series.y
    found = verdict.posterior.mixture(np.concatenate([at, design.x]))
    is_positive = y > 0
    off = np.where(is_positive, np.log(np.where(is_positive, y, 1.0)) - found.centre[:, n:], 0.0)
    off[:, -1] = 0.0  # a drift is zero there, and what else lifts that point may be a disturbance
    places = -design.distance(at), -design.distance(design.x)
    share = np.array([np.interp(*places, one) for one in np.eye(len(y))])
    centre = found.centre[:, :n] + off @ share
    return Mixture(found.weights[:, :n], centre, found.width[:, :n], found.lead)


def _information(mixture: Mixture, is_too_fast: Flags) -> Floats:
    """Return the mutual information of the answer and a new value at each point, in bits."""
    values = mixture.quantiles([(k + 0.5) / _NODES for k in range(_NODES)])
    z = (values - mixture.centre[:, None]) / mixture.width[:, None]  # (components, nodes, points)
    density = (mixture.weights / mixture.width)[:, None] * np.exp(-0.5 * z**2)
    found = np.zeros(values.shape[1])
    for is_this in (is_too_fast, ~is_too_fast):
        before = mixture.weights[is_this].sum(axis=0)
        after = density[is_this].sum(axis=0) / density.sum(axis=0)
        ratio = np.divide(after, before, out=np.ones_like(after), where=after > 0)
        found += (after * np.log2(ratio)).mean(axis=0)
    return np.maximum(found, 0.0)


def _rivals(verdict: Verdict) -> Sequence[Growth]:
    """Return the most probable growth, and the most probable one of the other answer."""
    first, *others = verdict.posterior.by_probability
    is_too_fast = first > verdict.bound
    return [first, *[growth for growth in others if (growth > verdict.bound) != is_too_fast][:1]]


def _prediction(mixture: Mixture, lead: int, column: int) -> float:
    mine = np.flatnonzero(mixture.lead == lead)
    if not mine.size:
        return math.nan
    weights = mixture.weights[mine, column]
    return float(np.exp((weights * mixture.centre[mine, column]).sum() / weights.sum()))


def _quantity(value: float, unit: str) -> str:
    return "nothing certain" if math.isnan(value) else format_quantity(value, unit)
