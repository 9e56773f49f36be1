"""What the hypotheses of a posterior predict at other settings.

The power of real code need not be one of the ruler. So each hypothesis about noisy values also stands with a power that is
free about its tick: its logarithm changes by ``da * w(x) * ln(x)``, with the share `w` of the leading term, and `da` is normal.
With normal noise the values say in closed form how probable that is, what `da` is, and how uncertain.
"""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.growth import Growth
from scalkit.validation.posterior.hypotheses import Hypotheses
from scalkit.validation.posterior.profiles import DRIFTS_ON, OFF_DENSITY, Noise, Profile, Summary, widened
from scalkit.validation.posterior.shapes import middle

NEGLIGIBLE = 1e-6
_NORMAL = np.array([-1.8339, -1.1503, -0.7479, -0.4299, -0.1408, 0.1408, 0.4299, 0.7479, 1.1503, 1.8339])
_SINGLE_SHARE = 0.1
_BEYOND, _NODES, _NOTHING = 80.0, 300, 1e-12
_FREE = 0.08
"""Standard deviation of a power about its tick: the ticks of the bundled rulers lie 1/12 to 1/4 apart."""
_FREE_MASS = 0.5
_DRAWN = 400
"""Hypotheses that stand for all: the ends of a 90 % interval are then known to a share of 1/400."""
_LAST = 0.7
"""Power of the density of the last value: it speaks of what comes next more than the others do, as terms and caches that small
scales do not show have begun there. On the series of ``benchmarks/real_series.py`` 0.4 to 1 are equally good."""
_TINIEST = 1e-300
_ROWS = 128  # of shapes in one product
_FLAT = 0.5
"""Power of the probability by which they are drawn: with a free power others are likely than without."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """What hypotheses predict.

    `logs` (shape (H, m)): natural logarithm of the value at each setting.
    `weights` (shape (H,)): probability.
    `spread` (shape (H, m)): standard deviation of the logarithm of a new value.
    `tick`: which of `growths` leads.
    `is_single`: whether it is one term beside the constant, not two.
    """

    logs: Floats
    weights: Floats
    spread: Floats
    growths: tuple[Growth, ...]
    tick: Ints
    is_single: Flags

    def of_one_term(self) -> "Predictions":
        """Return the hypotheses of one term alone, if they are at least a tenth of the probability; all otherwise."""
        one, share = self.is_single, float(self.weights[self.is_single].sum())
        if share < _SINGLE_SHARE:
            return self
        return Predictions(self.logs[one], self.weights[one] / share, self.spread[one], self.growths, self.tick[one], one[one])

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of the values that are predicted, of shape (len(shares), m)."""
        found = np.empty((len(shares), self.logs.shape[1]))
        weights = np.repeat(self.weights, len(_NORMAL))
        for column in range(found.shape[1]):
            points = (self.logs[:, column, None] + self.spread[:, column, None] * _NORMAL[None, :]).ravel()
            order = np.argsort(points)
            below = np.cumsum(weights[order])
            found[:, column] = np.interp(shares, below / below[-1], points[order])
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(found))


def noisy_predictions(drawn: "Drawn", hyp: Hypotheses, at: Floats, ahead: float = 1.0) -> Predictions:
    """Return what the hypotheses that were drawn for one series predict at settings of shape (m,).

    `ahead`: how much larger the variance of a drift is beyond the settings than as far among them.
    """
    rows, weights, z = drawn.rows, drawn.weights, drawn.z
    settings, n = np.concatenate([hyp.x, at]), len(hyp.x)
    logs, shares = hyp.ahead(settings, rows)
    slopes = shares * np.log(settings / middle(hyp.x))
    total, along, length = np.empty((len(rows), 1)), np.empty(len(rows)), np.empty(len(rows))
    moved = np.zeros((len(rows), len(at)))
    for profile, these in drawn.profiles:
        total[these] = profile.level.sum()
        mean = profile.level / profile.level.sum()
        logs[these] += ((z - logs[these, :n]) @ mean)[:, None]
        slopes[these] -= (slopes[these, :n] @ mean)[:, None]
        turned = slopes[these, :n] @ profile.precision
        along[these] = (turned * (z - logs[these, :n])).sum(axis=1)
        length[these] = (turned * slopes[these, :n]).sum(axis=1)
        moved[these] = profile.moved(np.log(at / hyp.x[-1]) / np.log(hyp.x[-1] / hyp.x[0])) * np.where(at > hyp.x[-1], ahead, 1.0)
    logs, slopes = logs[:, n:] + drawn.level, slopes[:, n:]
    if not drawn.is_free:
        return _made(hyp, rows, logs, weights, np.sqrt(drawn.variance[:, None] * (1 + 1 / total + moved)))
    stays, changes = _free(drawn, along, length)
    freedom = 1 / (1 / _FREE**2 + length / changes[1])
    other = logs + (freedom * along / changes[1])[:, None] * slopes
    wide = changes[1][:, None] * (1 + 1 / total + moved) + freedom[:, None] * slopes**2
    narrow = stays[1][:, None] * (1 + 1 / total + moved)
    ratio = np.concatenate([(1 - _FREE_MASS) * stays[0], _FREE_MASS * changes[0]])
    return _made(
        hyp, np.tile(rows, 2), np.concatenate([logs, other]), np.tile(weights, 2) * ratio, np.sqrt(np.concatenate([narrow, wide]))
    )


@dataclass(frozen=True, eq=False)
class Drawn:
    """The hypotheses that stand for all about one series, wherever something is predicted.

    `z` of shape (n,): centred logarithms of the values; `level`: their mean.
    `rows` of shape (R,): which hypotheses; `weights`: their probability, or where powers are free what the likelihood is times.
    `squares`, `variance` of shape (R,): of the residuals, weighted by the profile; mean variance.
    """

    z: Floats
    level: float
    is_free: bool
    noise: Noise
    rows: Ints
    weights: Floats
    squares: Floats
    variance: Floats
    profiles: tuple[tuple[Profile, slice], ...]


def draw(summary: Summary, hyp: Hypotheses, level: float, is_free: bool) -> Drawn:
    """Return which hypotheses count for one series.

    `summary`: of one series.
    `level`: mean natural logarithm of what is predicted at the settings.
    `is_free`: whether powers between the ticks take part.
    """
    z = summary.z[0] - summary.z[0].mean()
    prior, squares = hyp.prior.copy(), np.empty(len(hyp.squares))
    for profile, part in hyp.profiles:
        z_part = profile.centring @ z
        squares[part] = np.maximum(hyp.squares[part] - 2 * _times(hyp.shapes[part], z_part) + z @ z_part, 0.0)
        prior[part] *= DRIFTS_ON if is_free and profile.drift else 1.0
    still = min(float(squares[part].min()) for profile, part in hyp.profiles if not profile.drift)
    noise = widened(summary.noise, np.array([still], dtype=np.float32), len(z))
    likely, variance = _likelihoods(hyp, squares, noise)
    weights = likely * prior
    rows = np.flatnonzero(weights > NEGLIGIBLE * weights.max())
    if is_free:
        prior[rows] *= _foretold(hyp, rows, z, variance)
        rows, weights = _drawn(likely * prior, rows)
        weights = weights * prior[rows]
    else:
        weights = weights[rows]
    return Drawn(z, level, is_free, noise, rows, weights, squares[rows], variance[rows], _parts(hyp, rows))


def _foretold(hyp: Hypotheses, rows: Ints, z: Floats, variance: Floats) -> Floats:
    """Return how well each hypothesis foretells the last value from the others, of shape (rows,): a power of its density."""
    found = np.empty(len(rows))
    for profile, these in _parts(hyp, rows):
        last = profile.centring[:, -1]
        if profile.off == len(z) - 1:
            found[these] = OFF_DENSITY
            continue
        variances = variance[rows[these]] / last[-1]
        away = (z - hyp.shapes[rows[these]]) @ last / last[-1]
        found[these] = -0.5 * (np.log(2 * np.pi * variances) + away**2 / variances)
    return np.asarray(np.exp(_LAST * (found - found.max())))


def _parts(hyp: Hypotheses, rows: Ints) -> tuple[tuple[Profile, slice], ...]:
    """Return the profiles of rows, which ascend, each with where its rows are among them."""
    return tuple((profile, slice(*np.searchsorted(rows, (part.start, part.stop)))) for profile, part in hyp.profiles)


def _likelihoods(hyp: Hypotheses, squares: Floats, noise: Noise) -> tuple[Floats, Floats]:
    """Return the likelihood of each hypothesis, the largest being 1, and the mean variance, both of shape (H,)."""
    found = []
    for _, some in groupby(hyp.profiles, key=lambda each: (each[0].count, each[0].drift)):
        (profile, first), *more = some  # wherever one setting is left out, the same squares are as likely
        found.append(_likely(squares[first.start : more[-1][1].stop if more else first.stop], noise, profile))
    top = max(part[2] for part in found)
    return np.concatenate([part[0] * np.exp(part[2] - top) for part in found]), np.concatenate([part[1] for part in found])


def _times(shapes: Floats, z: Floats) -> Floats:
    """Return the products of shapes of shape (H, n) with `z`, in parts so small that no threads are started for them."""
    whole = len(shapes) // _ROWS * _ROWS
    many = np.matmul(shapes[:whole].reshape(-1, _ROWS, len(z)), z)
    return np.concatenate([many.ravel(), shapes[whole:] @ z])


def _made(hyp: Hypotheses, rows: Ints, logs: Floats, weights: Floats, spread: Floats) -> Predictions:
    return Predictions(logs, weights / weights.sum(), spread, hyp.growths, hyp.tick[rows], np.isnan(hyp.base[rows]))


def _likely(squares: Floats, noise: Noise, profile: Profile) -> tuple[Floats, Floats, float]:
    """Return the likelihood of squared residuals, the largest being 1, the mean variance, both (H,), and the log of that 1.

    Both are tabulated over the logarithm of what even a large prior would leave something of; the rest is 0.
    """
    variances = noise.variances[0]
    least, low = variances.min() * 1e-3, float(squares.min())
    logs = np.log(noise.masses) - (profile.count - 1) / 2 * np.log(variances) - low / (2 * variances)
    logs = np.where(profile.allows(variances), logs, -np.inf)
    if not np.isfinite(logs).any():
        return np.zeros(len(squares)), np.full(len(squares), variances.max()), -np.inf
    nodes = np.linspace(np.log(low + least), np.log(low + least + _BEYOND * variances.max()), _NODES)
    each = logs[None, :] - (np.exp(nodes)[:, None] - least - low) / (2 * variances[None, :])
    heights = np.exp(each - logs.max())
    sums = heights.sum(axis=1)
    last = int(np.flatnonzero(sums > _NOTHING * sums[0])[-1])
    near = np.flatnonzero(squares <= np.exp(nodes[last]) - least)
    place = (np.log(squares[near] + least) - nodes[0]) / (nodes[1] - nodes[0])
    below = np.clip(place.astype(np.int64), 0, max(last - 1, 0))
    place -= below
    found, mean = np.zeros(len(squares)), np.full(len(squares), variances.max())
    sums = np.maximum(sums, _TINIEST)
    found[near] = np.exp(_between(np.log(sums / sums[0]), below, place))
    mean[near] = _between((heights * variances).sum(axis=1) / sums, below, place)
    return found, mean, float(np.log(sums[0]) + logs.max() + profile.log_constant)


def _between(table: Floats, below: Ints, place: Floats) -> Floats:
    """Return values of a table, linear between a place and the next one; `place` is the way from the one to the other."""
    low = table[below]
    return np.asarray(low + place * (table[below + 1] - low))


def _drawn(weights: Floats, rows: Ints) -> tuple[Ints, Floats]:
    """Return rows that stand for all of them, evenly drawn by a root of their weights, and how many each stands for."""
    flat = weights[rows] ** _FLAT
    below = np.cumsum(flat)
    drawn = np.searchsorted(below, (np.arange(_DRAWN) + 0.5) / _DRAWN * below[-1])
    drawn, times = np.unique(np.minimum(drawn, len(rows) - 1), return_counts=True)
    return rows[drawn], times / flat[drawn]


def _free(drawn: Drawn, along: Floats, length: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return likelihood and mean variance, each of shape (rows,), with the power of the tick, and with a free one."""
    variances = drawn.noise.variances[:1]
    logs, base = np.log(variances), np.empty((len(drawn.rows), variances.shape[1]))
    for profile, these in drawn.profiles:
        whole = np.log(drawn.noise.masses) - (profile.count - 1) / 2 * logs + profile.log_constant
        base[these] = np.where(profile.allows(variances), whole, -np.inf)
    base -= drawn.squares[:, None] / (2 * variances)
    gain = along[:, None] ** 2 * _FREE**2 / (2 * variances * (variances + _FREE**2 * length[:, None]))
    free = base + gain - 0.5 * np.log1p(_FREE**2 * length[:, None] / variances)
    top = max(float(base.max()), float(free.max()))
    found = []
    for each in (base, free):
        heights = np.exp(each - each.max(axis=1, keepdims=True))
        sums = heights.sum(axis=1)
        found.append((sums * np.exp(each.max(axis=1) - top), (heights * variances).sum(axis=1) / sums))
    return found[0], found[1]
