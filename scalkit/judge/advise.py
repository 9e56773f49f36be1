"""Where to measure next: the setting that tells most about the verdict for its cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.answer import counts_processes
from scalkit.judge.asked import predictable_points, without_value
from scalkit.judge.fit.regression.mixture import Mixture
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.told.sentences import is_strict, place
from scalkit.support.arrays import Flags, Floats
from scalkit.support.markup import block, table
from scalkit.support.text import brief, percent
from scalkit.support.units import format_quantity

if TYPE_CHECKING:
    from scalkit.judge.measured import AnyVerdict
    from scalkit.judge.verdict import Verdict

SHARE = 0.75
"""A candidate that tells less than this share of the most telling one is passed over, however cheap it is."""

Cost = str | Callable[..., float] | None

_NOTHING = 0.03  # bits
_NODES = 100  # equally probable new values
_LIKELY = 0.5


@dataclass(frozen=True)
class Candidate:
    """One point that could be measured.

    `x`: the point; over several parameters the values of all of them.
    `information` in bits: expected gain of knowledge about whether it grows too fast.
    `predictions`: the most probable growth that is fine and the most probable one that is not, and the value that each
    predicts there, in the unit of the series.
    """

    x: float | tuple[float, ...]
    cost: float
    information: float
    predictions: tuple[tuple[Growth | GrowthSum, float], ...]

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

    verdict: AnyVerdict
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
        too_fast = "faster than claimed" if is_strict(verdict) else "faster than tolerated"
        now = f"{series.function} grows {too_fast} with a probability of {percent(verdict.too_fast)}"
        if self.stop:
            return f"Stop: {now}, and no candidate tells more than {self.information:.2f} bit; offer larger points."
        best = self.candidates[0]
        values = " and ".join(f"{growth} predicts {_quantity(y, series.unit)}" for growth, y in best.predictions)
        return f"Measure {place(verdict, np.atleast_1d(best.x))}: {now}; there {values}."

    def __repr__(self) -> str:
        return f"<Advice: {self.sentence}>"

    def _repr_html_(self) -> str:
        head = (", ".join(self.verdict.parameters), "cost", "information", "per √cost", "predictions")
        rows = [
            (_shown(c.x), f"{c.cost:g}", f"{c.information:.3f} bit", f"{c.value:.2g}", escape(self._predictions(c)))
            for c in self.candidates
        ]
        return block(table(head, rows, self.sentence))

    def _predictions(self, candidate: Candidate) -> str:
        unit = self.verdict.unit
        return "; ".join(f"{growth}: {_quantity(y, unit)}" for growth, y in candidate.predictions)


def advise(verdict: AnyVerdict, candidates: ArrayLike, cost: Cost = "p") -> Advice:
    """Return candidates ranked by expected information about the answer per square root of their cost.

    Those that tell much less than the most telling one come last.

    Parameters
    ----------
    verdict : Verdict or SeveralVerdict
    candidates : array_like of shape (m,), over several parameters (m, parameters)
        Points that could be measured, also ones that were.
    cost : str, callable or None
        The name of a parameter, if a measurement costs as much as its value says; ``"p"`` also means
        the only parameter, or the number of processes, whatever it is called. A function of the
        point, whose coordinates are its arguments. None where all cost the same.

    Raises
    ------
    UsageError
        If there is no candidate, one is not positive or has no value of a growth, or a cost is not
        positive.

    References
    ----------
    docs/method.md, "Where to measure next".
    """
    names = verdict.parameters
    at = _points(candidates, len(names))
    costs = _costs(at, cost, names)
    outlook = _outlook(verdict, at)
    information = _information(outlook.mixture, outlook.is_too_fast)
    if verdict.series.exact or verdict.series.virtual:
        # The same value would come again.
        information[[bool((verdict.series.points == point).all(axis=1).any()) for point in at]] = 0.0
    found = [
        Candidate(
            tuple(point) if len(names) > 1 else point[0],
            float(costs[k]),
            float(information[k]),
            tuple((growth, _prediction(outlook.mixture, of_it, k)) for growth, of_it in outlook.rivals),
        )
        for k, point in enumerate(at.tolist())
    ]
    least = SHARE * max(one.information for one in found)
    found.sort(key=lambda one: (one.information < least, -one.value, one.x))
    return Advice(verdict, tuple(found))


@dataclass(frozen=True, eq=False)
class _Outlook:
    """What new values may be.

    `mixture`: their distribution at the candidates.
    `is_too_fast`: of each component.
    `rivals`: the most probable growth, and the most probable one of the other answer, with the components that are
    theirs.
    """

    mixture: Mixture
    is_too_fast: Flags
    rivals: Sequence[tuple[Growth | GrowthSum, Flags]]


def _outlook(verdict: AnyVerdict, at: Floats) -> _Outlook:
    if isinstance(verdict, SeveralVerdict):
        return _over_several(verdict, at)
    return _along_one(verdict, at[:, 0])


def _along_one(verdict: Verdict, at: Floats) -> _Outlook:
    growths = (verdict.expectation.growth, *verdict.posterior.growths)
    if found := without_value(growths, verdict.series.x, at):
        x, growth = found
        raise UsageError(f"the candidate {verdict.parameter} = {x:g} is where {growth} has no value; leave it out.")
    mixture, growths = _mixture(verdict, at), verdict.posterior.growths
    is_too_fast = np.array([growth > verdict.evidence.bound for growth in growths])[mixture.lead]
    rivals = [(growth, np.equal(mixture.lead, growths.index(growth))) for growth in _rivals(verdict)]
    return _Outlook(mixture, is_too_fast, rivals)


def _over_several(verdict: SeveralVerdict, at: Floats) -> _Outlook:
    posterior = verdict.posterior
    predictable_points(at, verdict.series, verdict.evidence.competing)
    found = posterior.mixture(at)
    # Where something was measured, all hypotheses follow that, as the drifts by which some explain it are there again. What
    # lifts a single point may be a disturbance.
    centre = found.centre.copy()
    for k, point in enumerate(at):
        for row in np.flatnonzero((posterior.design.points == point).all(axis=1)):
            if posterior.y[row] > 0 and posterior.off[row] < _LIKELY:
                centre[:, k] = np.log(posterior.y[row])
    mixture = Mixture(found.weights, centre, found.width, found.lead)
    outgrows = posterior.outgrows(verdict.evidence.bounds)
    is_faster = posterior.of_sets(outgrows)
    first = posterior.order[0]
    other = [k for k in posterior.order if is_faster[k] != is_faster[first]]
    rivals = []
    for one in (first, *other[:1]):
        growth = GrowthSum.of(term.growth for term in posterior.sum_at(one)[1:])
        rivals.append((growth, posterior.of_set(one)[mixture.lead]))
    return _Outlook(mixture, outgrows[mixture.lead], rivals)


def _points(candidates: ArrayLike, n_parameters: int) -> Floats:
    """Return the distinct candidates, ascending, of shape (m, parameters)."""
    try:
        at = np.asarray(candidates, dtype=np.float64)
        at = np.unique(at.reshape(-1, 1) if n_parameters == 1 else np.atleast_2d(at), axis=0)
    except (TypeError, ValueError):
        at = np.empty((0, n_parameters))
    shown = candidates.tolist() if isinstance(candidates, np.ndarray) else candidates
    if at.size and at.shape[1] != n_parameters:
        raise UsageError(f"candidates are {brief(shown)}; each needs {n_parameters} values, one for each parameter.")
    if not at.size or not np.isfinite(at).all() or (at <= 0).any():
        raise UsageError(f"candidates are {brief(shown)}; name at least one positive setting to measure.")
    return at


def _costs(at: Floats, cost: Cost, names: Sequence[str]) -> Floats:
    if cost is None:
        return np.ones(len(at))
    if not callable(cost):
        known = {name: column for column, name in enumerate(names)}
        processes = next((name for name in names if counts_processes(name)), names[0])
        known.setdefault("p", known[processes])
        if not isinstance(cost, str) or cost not in known:
            either = repr(names[0]) if len(names) == 1 else f"one of {', '.join(names)}"
            raise UsageError(f"cost is {cost!r:.60}; name the parameter, {either}, give a function of it, or None.")
        return at[:, known[cost]]
    given = [cost(*point) for point in at.tolist()]
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
    is_too_fast = first > verdict.evidence.bound
    return [first, *[growth for growth in others if (growth > verdict.evidence.bound) != is_too_fast][:1]]


def _prediction(mixture: Mixture, mine: Flags, column: int) -> float:
    """Return the value that some components predict at a candidate."""
    weights = mixture.weights[mine, column]
    if not weights.sum() > 0:
        return math.nan
    return float(np.exp((weights * mixture.centre[mine, column]).sum() / weights.sum()))


def _shown(x: float | tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in (x if isinstance(x, tuple) else (x,)))


def _quantity(value: float, unit: str) -> str:
    return "nothing certain" if math.isnan(value) else format_quantity(value, unit)
