"""Piecewise models: the range of the parameter cut where the behaviour changes, each segment one tick or a constant.

The cut is exact: dynamic programming over all segments finds, for every number of segments, the least residual; the
Bayesian information criterion chooses the number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.judge.fit.model import Model
from scalkit.judge.fit.paper import Fits, fit_growths, growing_of
from scalkit.stats.cuts import MIN_SETTINGS, best_cuts, least_of_sums, least_without, penalty
from scalkit.stats.pure_error import PRIOR_FREEDOM, Noise
from scalkit.support.arrays import Floats
from scalkit.support.markup import block, bullets, counted, details, formula, paragraph, table
from scalkit.support.text import percent

_MAX_POINTS = 200
_AS_GOOD = 2.0  # of -2 log likelihood: what one parameter costs by the AIC
_STEP = 1.1  # a smaller jump is none, as a smaller change of a baseline is none


@dataclass(frozen=True)
class Segment:
    """One piece: the settings from `first` to `last`, both included, and their model."""

    first: float
    last: float
    n_points: int
    model: Model


@dataclass(frozen=True)
class ChangePoint:
    """The behaviour changes after `after` and no later than `before`, which are neighbouring settings.

    `jump`: model of the right piece over that of the left one, both at `before`; 1.2 means 20 % more.
    """

    after: float
    before: float
    jump: float
    left: Model
    right: Model

    @property
    def step(self) -> float:
        """What is a step at any place between the two settings: 1 where the two models meet, else the lesser jump."""
        logs = [float(self.right.log2_value(x) - self.left.log2_value(x)) for x in (self.after, self.before)]
        return 1.0 if min(logs) <= 0 <= max(logs) else 2.0 ** min(logs, key=abs)

    @property
    def at(self) -> float:
        """The setting from which on the right piece holds: `after`, where it meets the left one there, else `before`."""
        log2 = float(self.right.log2_value(self.after) - self.left.log2_value(self.after))
        return self.after if abs(log2) < min(math.log2(_STEP), abs(math.log2(self.jump))) else self.before

    def __str__(self) -> str:
        old, new = self.left.growth, self.right.growth
        (name,) = self.right.parameters
        meet = self.at == self.after
        where = f"from {name} = {self.at:g} on it" if meet else f"after {name} = {self.after:g}, from {self.at:g} on, it"
        step = self.step
        shown = f", after a step {'up' if step > 1 else 'down'} to {step:.3g} times the value"
        shown = shown if max(step, 1 / step) >= _STEP else ""
        if old != new and new.is_constant:
            return f"{where} stays constant instead of {'growing' if _grows(old) else 'falling'} as {old}{shown}"
        if old != new:
            was = "staying constant" if old.is_constant else str(old)
            return f"{where} {_verb(new)} as {new} instead of {was}{shown}"
        if old.is_constant:
            return f"{where} is {self.jump:.3g} times as large"
        if shown:
            return f"{where} still {_verb(new)} as {new}{shown}"
        factor = float(np.exp2(self.right.terms[-1].log2_coefficient - self.left.terms[-1].log2_coefficient))
        return f"{where} still {_verb(new)} as {new}, with {factor:.3g} times the coefficient"


def _grows(growth: Growth) -> bool:
    return growth >= Growth()


def _verb(growth: Growth) -> str:
    return "grows" if _grows(growth) else "falls"


@dataclass(frozen=True)
class Piecewise:
    """Segments in ascending order, and how much better they are than one.

    `bic`, `bic_single`, `bic_several`: Bayesian information criterion of this model, of the best single piece, and of
    the best model with a change point; the lower, the better, and infinite where there is none.
    `bic_sum`, `bic_strays`: the same for what else may look like a change point: a sum of two terms, and one term but
    for stray settings.
    `noise`: relative standard error of a value that entered the fit.
    `x`, `y`: what was fitted.
    """

    segments: tuple[Segment, ...]
    bic: float
    bic_single: float
    bic_several: float
    bic_sum: float
    bic_strays: float
    noise: float
    x: tuple[float, ...]
    y: tuple[float, ...]

    @property
    def is_single(self) -> bool:
        """Whether there is no change point."""
        return len(self.segments) == 1

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self.segments[0].model.parameters[0]

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return self.segments[0].model.unit

    @property
    def growths(self) -> tuple[Growth, ...]:
        """Growth of each piece."""
        return tuple(segment.model.growth for segment in self.segments)

    @property
    def change_points(self) -> tuple[ChangePoint, ...]:
        """Where the behaviour changes, ascending."""
        return tuple(_change(left, right) for left, right in pairwise(self.segments))

    @property
    def probability(self) -> float:
        """Probability of a change point, against one piece: one term, a sum of two, or one term but for stray settings."""
        if not math.isfinite(self.bic_several):
            return 0.0
        smooth = (self.bic_single, self.bic_sum, self.bic_strays)
        others = (min(max(self.bic_several - bic, -1400.0), 1400.0) / 2 for bic in smooth)
        return 1 / (1 + sum(math.exp(other) for other in others))

    @property
    def sentence(self) -> str:
        """What changes where, in plain words."""
        growth = self.growths[0]
        if self.is_single:
            how = "it is constant" if growth.is_constant else f"it {_verb(growth)} as {growth}"
            return f"From {self._range()} {how}; no change point is needed (probability of one: {percent(self.probability)})."
        changes = "; ".join(str(change) for change in self.change_points)
        return f"{changes[0].upper()}{changes[1:]} (probability {percent(self.probability)}{self._doubt()})."

    def _doubt(self) -> str:
        if min(self.bic_sum, self.bic_strays) >= self.bic:
            return ""
        what = "a sum of two terms" if self.bic_sum <= self.bic_strays else "one term but for stray settings"
        return f"; {what} explains the values as well"

    def _range(self) -> str:
        return f"{self.parameter} = {self.segments[0].first:g} to {self.segments[-1].last:g}"

    def __call__(self, x: ArrayLike) -> Floats:
        """Return the model at `x`, in its unit; same shape as `x`.

        The outer segments continue beyond the data; between two segments the one that is nearer on a logarithmic scale holds.
        """
        at = np.asarray(x, dtype=np.float64)
        which = np.searchsorted(self._borders, at)
        values = np.empty(at.shape)
        for index, segment in enumerate(self.segments):
            values[which == index] = segment.model(at[which == index])
        return values

    @property
    def _borders(self) -> list[float]:
        return [math.sqrt(left.last) * math.sqrt(right.first) for left, right in pairwise(self.segments)]

    def __str__(self) -> str:
        return "; ".join(f"{self.parameter} = {s.first:g} to {s.last:g}: {s.model}" for s in self.segments)

    def __repr__(self) -> str:
        return f"Piecewise({self}; probability of a change point {percent(self.probability)})"

    def _repr_html_(self) -> str:
        rows = [(f"{one.first:g} to {one.last:g}", formula(one.model)) for one in self.segments]
        changes = self.change_points
        return block(
            paragraph(self.sentence),
            table((self.parameter, "model"), rows),
            details(counted(len(changes), "change point"), bullets(changes)),
        )


def _change(left: Segment, right: Segment) -> ChangePoint:
    log2_jump = right.model.log2_value(right.first) - left.model.log2_value(right.first)
    return ChangePoint(left.last, right.first, float(np.exp2(log2_jump)), left.model, right.model)


def fit_piecewise(
    x: ArrayLike,
    y: ArrayLike,
    ticks: Sequence[Growth],
    noise: Noise,
    *,
    max_segments: int | None = None,
    switches: Sequence[float] = (),
    parameter: str = "p",
    unit: str = "",
) -> Piecewise:
    """Return the piecewise model of one series with the least Bayesian information criterion.

    `x` of shape (points,): ascending.
    `y` of shape (points,), in `unit`: positive.
    `ticks`: what a segment may grow as, beside a constant; the more there are, the more evidence a change point needs.
    `noise`: from `pure_error`.
    `max_segments`: at most so many, by default as many as there is room for; each has at least three settings.
    `switches`: change points that are known, for example the largest size of an eager message: no segment reaches
    across one.
    `parameter`, `unit`: for the models.
    Raises DataError if there are fewer than three settings or more than 200, they do not ascend, or a value is not
    positive.

    The residuals of a segmentation are squared relative errors over the squared standard error of a value. Their
    likelihood is that of `Noise.misfit`: Student's, because the noise itself is estimated; with much pure error it is
    chi-squared. Each coefficient costs ``ln(points)`` and each change point three times that, because it may lie
    anywhere (the plain criterion, with one, finds change points in noise); a segment that grows also pays for the
    choice of its tick, ``2 ln(ticks)``. Of the ticks that explain a segment as well as the best does, to within 2 of
    the criterion, the plainest is shown: a few settings do not tell ``p`` from ``p^(3/4)*log(p)``.

    Source: Bellman, On the approximation of curves by line segments using dynamic programming, CACM 4 (1961). Zhang and
    Siegmund, A modified Bayes information criterion with applications to the analysis of comparative genomic
    hybridization data, Biometrics 63 (2007): 3 ln n for a change point.
    """
    at, values = _checked(x, y, parameter)
    growing = growing_of(ticks)
    cuts = best_cuts(at, values[np.newaxis], growing, [noise], max_segments=max_segments, switches=switches)[0]
    bounds = [(i, j, is_grown) for (i, _), (j, is_grown) in pairwise([(0, False), *cuts.pieces])]
    fits = [fit_growths(at[i:j], values[np.newaxis, i:j], growing if is_grown else ()) for i, j, is_grown in bounds]
    chosen = _plainest(fits, growing, noise, len(at))
    segments = tuple(
        Segment(float(at[i]), float(at[j - 1]), j - i, fit.model(index, parameter, unit))
        for (i, j, _), fit, index in zip(bounds, fits, chosen, strict=True)
    )
    known = len(switches) > 0
    return Piecewise(
        segments,
        cuts.bic,
        cuts.bic_single,
        cuts.bic_several,
        math.inf if known else _bic_sum(at, values, growing, noise, parameter),
        math.inf if known else _bic_strays(at, values, growing, noise),
        noise.error,
        tuple(at.tolist()),
        tuple(values.tolist()),
    )


def _bic_sum(x: Floats, y: Floats, ticks: tuple[Growth, ...], noise: Noise, parameter: str) -> float:
    """Return the criterion of a constant and two ticks: three coefficients and the choice of a pair."""
    terms = (Growth.of(parameter, power=-1), *ticks) if ticks else ()
    pairs = max(1, len(terms) * (len(terms) - 1) // 2)
    found = noise.misfit(least_of_sums(x, y, tuple(dict.fromkeys(terms))), len(x))
    return float(found) + 3 * math.log(len(x)) + 2 * math.log(pairs)


def _bic_strays(x: Floats, y: Floats, ticks: tuple[Growth, ...], noise: Noise) -> float:
    """Return the criterion of one piece that leaves out a setting, or two if none is repeated: a place and a value for each."""
    n, best = len(x), math.inf
    most = 1 if noise.freedom > PRIOR_FREEDOM else 2
    for k in range(1, min(most, n - MIN_SETTINGS - 1) + 1):
        for g, rss in enumerate(least_without(x, y, ticks, k)):
            cost = penalty(1, g, n, len(ticks)) + 3 * k * math.log(n)
            best = min(best, float(noise.misfit(rss, n)) + cost)
    return best


def _checked(x: ArrayLike, y: ArrayLike, parameter: str) -> tuple[Floats, Floats]:
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if at.ndim != 1 or at.shape != values.shape:
        raise DataError(f"a piecewise model needs one value a setting, got shapes {at.shape} and {values.shape}.")
    if not MIN_SETTINGS <= len(at) <= _MAX_POINTS:
        raise DataError(
            f"a piecewise model needs {MIN_SETTINGS} to {_MAX_POINTS} values of '{parameter}', got {len(at)}; "
            "measure more or thin them out."
        )
    if not (np.diff(at) > 0).all():
        raise DataError(f"the values of '{parameter}' must ascend, each once; sort them and merge repetitions.")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if bad.size:
        raise DataError(
            f"the value at {parameter} = {at[bad[0]]:g} is {values[bad[0]]:g}; it must be positive and finite. "
            "Drop that point or measure it again."
        )
    return at, values


def _plainest(fits: Sequence[Fits], ticks: Sequence[Growth], noise: Noise, n: int) -> list[int]:
    """Return for each segment the index of the plainest tick that is as good as the best; -1 for a constant."""
    least = [float(fit.rss.min()) if fit.growths else float(fit.tss[0]) for fit in fits]
    best = float(noise.misfit(sum(least), n))
    order = _by_plainness(tuple(ticks))
    chosen = []
    for fit, own in zip(fits, least, strict=True):
        as_good = noise.misfit(sum(least) - own + fit.rss[0], n) <= best + _AS_GOOD if fit.growths else np.empty(0)
        chosen.append(next((index for index in order if as_good[index]), -1) if fit.growths else -1)
    return chosen


@lru_cache(maxsize=64)
def _by_plainness(ticks: tuple[Growth, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(ticks)), key=lambda index: _roughness(ticks[index])))


def _roughness(growth: Growth) -> tuple[int, int, Growth]:
    """Return what a growth is sorted by: p before p*log(p) before p^(1/2) before p^(2/3)*log(p)."""
    exponents = [e for name in growth.parameters for _, e in growth.exponents(name).by_rank()]
    return max((e.denominator for e in exponents), default=1), len(exponents), growth
