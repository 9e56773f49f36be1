"""Posterior masses of many series at once: noisy values by a grid of shapes, exact ones by the best weighted fits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.growth import Growth
from scalkit.options import Prior
from scalkit.validation.expectation import RANKS, Expectation
from scalkit.validation.posterior.exact import exact_evidence
from scalkit.validation.posterior.hypotheses import HIDDEN_MASS, SUM_MASS, Hypotheses, tick_mass
from scalkit.validation.posterior.likelihoods import Block, Seen
from scalkit.validation.posterior.profiles import Noise, Summary
from scalkit.validation.posterior.shapes import HIDDEN_SHARES, Family

Singles = np.ndarray[Any, np.dtype[np.float32]]

_BLOCK = 128  # series at once: what is computed for them stays in the cache
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Trust:
    """How the settings of a series follow its most probable growth.

    `precision` of shape (points, points): of logarithms of values; None where all settings are alike.
    `takes_off`: whether a term less a constant is more probable than one beside a constant.
    """

    precision: Floats | None = None
    takes_off: bool = False


@dataclass(frozen=True, eq=False)
class Masses:
    """Posterior probabilities of many series about one expectation.

    `growth` of shape (series, K): of each leading growth.
    `hidden` of shape (series, K): the part of it that is a faster term beside the expected one.
    `bound` of shape (series,): largest share at the last setting of the slowest term outside the limits that the values
    do not exclude at 95 %; NaN if no term is.
    `apart`, shape (points,): settings of one exact series that most probably follow something else than the rest.
    `off` of shape (series, points): probability that the value of each setting of noisy series is off by a factor.
    `trust`: for each series how the settings follow its most probable growth, most probably.
    """

    growth: Floats
    hidden: Floats
    bound: Floats
    apart: Flags | None = None
    off: Floats | None = None
    trust: tuple[Trust, ...] = ()


def outside(hyp: Hypotheses) -> int | None:
    """Return the index of the slowest growth beyond the upper limit, the hardest one to see; None if there is none."""
    found = np.flatnonzero((hyp.rank == RANKS.index("none")) & hyp.is_faster)
    return int(found[0]) if found.size else None


def noisy_masses(summary: Summary, hyp: Hypotheses, seen: Seen | None = None) -> Masses:
    """Return the masses of series that have a value at every setting.

    `seen`: what was computed for the same series before; only what is not there is computed.
    """
    seen = Seen() if seen is None else seen
    parts = [slice(start, start + _BLOCK) for start in range(0, len(summary.z), _BLOCK)]
    while len(seen.blocks) < len(parts):
        part = parts[len(seen.blocks)]
        seen.blocks.append(Block(summary.z[part], Noise(summary.noise.variances[part], summary.noise.masses)))
    k = len(hyp.growths)
    growth, hidden = np.zeros((len(summary.z), k)), np.zeros((len(summary.z), k))
    bound, off = np.full(len(summary.z), np.nan), np.zeros(summary.z.shape)
    trust: list[Trust] = []
    for part, block in zip(parts, seen.blocks, strict=True):
        sums = block.sums(hyp.batches)
        sums *= [group.mass for group in hyp.groups]
        sums /= sums.sum(axis=1, keepdims=True)  # along a row, so that it is added up alike for any number of series
        growth[part] = [np.bincount(hyp.ticks, row, k) for row in sums]
        hidden[part] = [np.bincount(hyp.ticks, row, k) for row in sums * hyp.are_hidden]
        off[part] = [np.bincount(hyp.off_places, row, len(hyp.x) + 1)[1:] for row in sums]
        bound[part] = _bounds(block, hyp)
        trust += [_trust(hyp, row, tick) for row, tick in zip(sums, growth[part].argmax(axis=1), strict=True)]
    return Masses(growth, hidden, bound, off=off, trust=tuple(trust))


def _trust(hyp: Hypotheses, sums: Floats, tick: int) -> Trust:
    """Return how the settings follow a growth, from the mass of each group of hypotheses about one series."""
    here = hyp.ticks == tick
    by_profile = np.bincount(hyp.profile_places, sums * here)
    takes_off = sums[here & hyp.are_offsets].sum() > sums[here].sum() / 2
    profile = hyp.profiles[int(by_profile.argmax())][0]
    return Trust(profile.precision if profile.drift or profile.off is not None else None, bool(takes_off))


def exact_masses(
    x: Floats,
    y: Floats,
    growths: tuple[Growth, ...],
    expectation: Expectation,
    resolution: float,
    prior: Prior,
    changes: bool = False,
) -> Masses:
    """Return the masses of one series without noise; `y` of shape (points,). With `changes` a few may follow something else."""
    rank = np.array([RANKS.index(expectation.rank(g)) for g in growths])
    if np.ptp(y) == 0:
        growth = np.array([[float(g.is_constant) for g in growths]])
        return Masses(growth, np.zeros_like(growth), np.zeros(1))
    evidence = exact_evidence(x, y, growths, expectation.growth, resolution, changes)
    mass = tick_mass(growths, rank, expectation, prior)
    hides = np.array([g > expectation.growth and not expectation.growth.is_constant for g in growths]) * HIDDEN_MASS
    pairs = [not g.is_constant and any(not h.is_constant for h in growths[:k]) for k, g in enumerate(growths)]
    sums = np.array(pairs) * SUM_MASS
    top = max(float(each.max()) for each in (evidence.single, evidence.hidden, evidence.sums))
    single = mass * ((1 - hides - sums) * np.exp(evidence.single - top) + sums * np.exp(evidence.sums - top))
    hidden = mass * hides * np.exp(evidence.hidden - top)
    total = (single + hidden).sum()
    out = np.flatnonzero((rank == RANKS.index("none")) & np.array([g > expectation.growth for g in growths]))
    bound = np.array([evidence.bound[out[0]] if out.size else np.nan])
    growth = (single + hidden)[None] / total
    return Masses(growth, hidden[None] / total, bound, evidence.apart, trust=(Trust(evidence.precision),))


def _bounds(block: Block, hyp: Hypotheses) -> Floats:
    """Return the 95 % bound of the share of the slowest term outside the limits at the last setting, under a flat prior."""
    k, nothing = outside(hyp), np.full(len(block), np.nan)
    if k is None:
        return nothing
    families = [group.family for group in hyp.groups if group.tick == k]
    with_it = next((one for one in families if one.kind == "hidden"), next(iter(families), None))
    own = (group.family for group in hyp.groups if group.tick == hyp.expected and group.family.kind == "term")
    without = next(own, None)
    if with_it is None or without is None:
        return nothing
    shares, density = _by_end_share(block.likelihoods(with_it), with_it)
    zero = np.asarray((block.likelihoods(without) * without.weights).sum(axis=1))
    shares, density = np.concatenate([[0.0], shares]), np.concatenate([zero[:, None], density], axis=1)
    areas = (density[:, 1:] + density[:, :-1]) / 2 * np.diff(shares)
    area = np.concatenate([np.zeros((len(block), 1)), np.cumsum(areas, axis=1)], axis=1)
    goal = _LEVEL * area[:, -1:]
    above = np.argmax(area >= goal, axis=1)
    rows = np.arange(len(block))
    low, high = area[rows, above - 1], area[rows, above]
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where(high > low, (goal[:, 0] - low) / (high - low), 0.0)
    return np.asarray(shares[above - 1] + inside * (shares[above] - shares[above - 1]))


def _by_end_share(likely: Singles, one: Family) -> tuple[Floats, Floats]:
    """Return the distinct shares at the last setting of a family, and the likelihood of each, of shape (series, shares)."""
    width = len(one.shares) // len(HIDDEN_SHARES) if one.kind == "hidden" else 1  # bases of equal hidden share
    prior = one.weights.reshape(-1, width)
    each = (likely * one.weights).reshape(len(likely), -1, width).sum(axis=2)
    return one.end_shares[::width], each / prior.sum(axis=1)
