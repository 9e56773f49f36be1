"""The hypotheses of a posterior: growth shapes with positive shares, one term or an expectation with a hidden faster term.

A shape is what a model looks like at the settings, up to a factor: ``(1 - u) + u * t / t(mid)`` for one term `t` with the
share `u` at the geometric middle of the settings; ``base + v / (1 - v) * base(end) * t / t(end)`` for a term `t` that grows
faster than the expected one and makes up the share `v` at the last setting; ``(1 - u) * ((1 - v) + v * s / s(mid)) + u * t /
t(mid)`` for a term `t` with a slower one `s` beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.fit.linear import log2_values
from scalkit.growth import Growth
from scalkit.options import Prior
from scalkit.validation.expectation import RANKS, Expectation
from scalkit.validation.posterior.exact import OFFSET_MASS
from scalkit.validation.posterior.profiles import DRIFT_MASS, DRIFTS, OFF_MASS, Batch, Profile, batch, drifting, even, without
from scalkit.validation.posterior.shapes import Family, Kind, family, in_range, log_ticks, middle

Bools = Flags

HIDDEN_MASS = 0.2  # with a half in its place 81 % instead of 89 % of plain series decide: docs/accuracy.md, hidden terms
SUM_MASS = 0.15
Rows = slice | Ints

_SLOWER = 3
_COARSE = 0.1
_LEAST_SETTINGS = 5  # with one left out, two coefficients need as many settings that could contradict
_MOST_SETTINGS = 16  # more of them outvote one that is off
_LEAST_LEFT = 1e-3
_SMALL = 20.0  # natural logarithm: what is smaller at the first setting is none of its value


@dataclass(frozen=True, eq=False)
class Group:
    """A family of hypotheses among the others.

    `tick`: index of the leading growth.
    `mass`: prior of the family.
    `profile`: how precisely the settings follow it; groups with the same one stand together.
    """

    tick: int
    mass: float
    family: Family
    profile: Profile


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """All hypotheses about one expectation at given settings, group by group, tick by tick.

    `growths`: leading terms; the constant among them. One that has no value at a setting (a logarithm below 1) has no
    hypothesis.
    `groups`: their masses sum to 1.
    `rank`, shape (K,): index into ``RANKS`` of each growth.
    `is_faster`, shape (K,): than the expected growth.
    `x` of shape (points,).
    `expected`: index of the expected growth.
    """

    growths: tuple[Growth, ...]
    groups: tuple[Group, ...]
    rank: Ints
    is_faster: Bools
    x: Floats
    expected: int

    @cached_property
    def shapes(self) -> Floats:
        """Natural logarithm of each shape, its mean over the settings subtracted, of shape (H, points)."""
        return np.concatenate([group.family.shapes for group in self.groups])

    @cached_property
    def prior(self) -> Floats:
        """Prior of each hypothesis, of shape (H,); sums to 1."""
        return np.concatenate([group.mass * group.family.weights for group in self.groups])

    @cached_property
    def tick(self) -> Ints:
        """Which of `growths` leads, of shape (H,)."""
        return np.repeat([group.tick for group in self.groups], [len(group.family.shares) for group in self.groups])

    @cached_property
    def base(self) -> Floats:
        """Share of the second term in the base, NaN for one term, of shape (H,)."""
        return np.concatenate([group.family.bases for group in self.groups])

    @cached_property
    def profiles(self) -> tuple[tuple[Profile, slice], ...]:
        """How precisely the settings follow the hypotheses, each with its rows."""
        found, first = [], 0
        for profile, groups in groupby(self.groups, key=lambda group: group.profile):
            last = first + sum(len(group.family.shares) for group in groups)
            found.append((profile, slice(first, last)))
            first = last
        return tuple(found)

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """The families of the groups in order: each alone where all settings are alike, else those of a profile together."""
        alike = even(len(self.x))
        found: list[Batch] = []
        for profile, groups in groupby(self.groups, key=lambda group: group.profile):
            families = tuple(group.family for group in groups)
            found += [batch(some, profile) for some in ([(one,) for one in families] if profile == alike else [families])]
        return tuple(found)

    @cached_property
    def ticks(self) -> Ints:
        """Which of `growths` leads each group."""
        return np.array([group.tick for group in self.groups])

    @cached_property
    def are_offsets(self) -> Bools:
        """Whether a group takes a constant off its term."""
        return np.array([group.family.kind == "offset" for group in self.groups])

    @cached_property
    def are_hidden(self) -> Bools:
        """Whether the term of a group hides behind the expected one."""
        return np.array([group.family.kind == "hidden" for group in self.groups])

    @cached_property
    def profile_places(self) -> Ints:
        """Which of `profiles` each group has."""
        counts = [len(list(groups)) for _, groups in groupby(self.groups, key=lambda group: group.profile)]
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def off_places(self) -> Ints:
        """Place of the setting that follows something else, from 1 on, of each group; 0 where none does."""
        places = np.array([0 if profile.off is None else profile.off + 1 for profile, _ in self.profiles])
        return np.asarray(places[self.profile_places])

    @cached_property
    def squares(self) -> Floats:
        """Sum of the squares of each shape around its mean, weighted by the profile, of shape (H,)."""
        return np.concatenate(
            [((self.shapes[rows] @ profile.centring) * self.shapes[rows]).sum(axis=1) for profile, rows in self.profiles]
        )

    def ahead(self, at: Floats, rows: Rows = slice(None)) -> tuple[Floats, Floats]:
        """Return the logarithm of shapes at `at`, of shape (rows, len(at)), and the share of the leading term in the value.

        The logarithms are relative to their means over the settings. Where a negative constant would leave nothing of a term it
        is a thousandth of it, so that no value is negative.
        """
        parts, signs, tick, other, means = (array[rows] for array in self._parts)
        with np.errstate(invalid="ignore"):
            ticks = log2_values(tuple(at.tolist()), self.growths) - log2_values((middle(self.x),), self.growths)
        ticks = in_range(ticks)
        term = parts[:, 2:] + ticks[tick]
        added = np.logaddexp(parts[:, 1:2] + ticks[other], term)
        less = parts[:, :1] - added
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            rest = np.log(np.maximum(-np.expm1(np.minimum(less, 0.0)), _LEAST_LEFT))
        found: Floats = np.where(signs[:, None] < 0, added + rest, np.logaddexp(parts[:, :1], added))
        return np.asarray(found - means[:, None]), np.exp(term - found)

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Ints, Ints, Floats]:
        """Logarithms of the parts of `Family` and the sign of the first, both terms, and the mean over the settings."""
        parts = np.concatenate([group.family.parts for group in self.groups])
        place = {growth: k for k, growth in enumerate(self.growths)}
        other = np.repeat(
            [0 if group.family.other is None else place[group.family.other] for group in self.groups],
            [len(group.family.shares) for group in self.groups],
        )
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(parts))
        means = np.concatenate([group.family.offsets for group in self.groups])
        return logs, np.sign(parts[:, 0]), self.tick, np.asarray(other), means


def hypotheses(
    x: Floats,
    expectation: Expectation,
    ticks: tuple[Growth, ...],
    step: float = 0.012,
    prior: Prior = "ranks",
    summed: tuple[Growth, ...] | None = None,
) -> Hypotheses:
    """Return the hypotheses about an expectation at the settings `x`.

    `x` of shape (points,).
    `ticks`: the search space; the constant and the expectation always compete.
    `step`: distance of neighbouring shapes of one tick, root of the summed squares of their logarithms.
    `prior`: equal mass for total, approximate and none; for all ticks; or half of it for the expectation.
    `summed`: ticks that also stand in sums with a slower one; all by default.
    """
    settings = tuple(np.asarray(x, dtype=float).tolist())
    return _hypotheses(settings, expectation, tuple(ticks), step, prior, None if summed is None else tuple(summed))


@lru_cache(maxsize=24)
def _hypotheses(
    settings: tuple[float, ...],
    expectation: Expectation,
    ticks: tuple[Growth, ...],
    step: float,
    prior: Prior,
    summed: tuple[Growth, ...] | None,
) -> Hypotheses:
    growths = tuple(sorted({*ticks, Growth.constant(), expectation.growth}))
    rank = np.array([RANKS.index(expectation.rank(g)) for g in growths])
    mass = tick_mass(growths, rank, expectation, prior).tolist()
    expected = growths.index(expectation.growth)
    usable = [_has_values(settings, growth) for growth in growths]
    hidden_too = not expectation.growth.is_constant and usable[expected]
    places = {growth: k for k, growth in enumerate(growths)}
    is_common = [_is_common(growth) for growth in growths]
    found: list[tuple[int, float, Family, Profile]] = []
    alike = even(len(settings))
    for k, growth in enumerate(growths):
        if not usable[k]:
            continue
        is_hidden = hidden_too and k > expected
        is_summed = not growth.is_constant and (summed is None or growth in summed)
        there = [i for i in range(k) if usable[i] and is_common[i] and not (is_hidden and i == expected)]
        beside = _beside(growth, there, places) if is_summed else []
        hidden_mass, sum_mass = HIDDEN_MASS * is_hidden, SUM_MASS * bool(beside)
        offset_mass = OFFSET_MASS * _has_offsets(settings, growth)
        kinds: list[tuple[float, Growth | None, Kind]] = [
            (1 - hidden_mass - sum_mass - offset_mass, None, "term"),
            (offset_mass, None, "offset"),
            (hidden_mass, expectation.growth, "hidden"),
            *((sum_mass / len(beside), growths[s], "sum") for s in beside),
        ]
        found += [(k, mass[k] * m, family(settings, growth, s, kind, step), alike) for m, s, kind in kinds if m > 0]
    part = sum(each for _, each, _, _ in found)
    terms = [(k, family(settings, growths[k], None, "term", max(step, _COARSE))) for k in np.flatnonzero(usable).tolist()]
    found += [(k, mass[k] * share * part, one, profile) for share, profile in _profiles(settings) for k, one in terms]
    total = sum(each for _, each, _, _ in found)
    return Hypotheses(
        growths=growths,
        groups=tuple(Group(k, each / total, one, profile) for k, each, one, profile in found),
        rank=rank,
        is_faster=np.arange(len(growths)) > expected,
        x=np.array(settings),
        expected=expected,
    )


def _profiles(settings: tuple[float, ...]) -> Iterator[tuple[float, Profile]]:
    """Yield profiles where not all settings follow a term alike, with their prior relative to those where they do."""
    n = len(settings)
    if n < _LEAST_SETTINGS:
        return
    yield from ((DRIFT_MASS / len(DRIFTS), drifting(settings, most)) for most in DRIFTS)
    places = range(n) if n <= _MOST_SETTINGS else (n - 1,)
    yield from ((OFF_MASS, without(n, place)) for place in places)


@lru_cache(maxsize=2048)
def _has_values(settings: tuple[float, ...], growth: Growth) -> bool:
    x = np.array(settings)
    return bool(np.isfinite(log_ticks(x, growth, middle(x))).all())


@lru_cache(maxsize=2048)
def _has_offsets(settings: tuple[float, ...], growth: Growth) -> bool:
    """Return whether a constant may be taken off: from a term that grows over the settings and is positive at all of them."""
    values = log_ticks(np.array(settings), growth, middle(np.array(settings)))
    return bool((np.diff(values) > 0).all() and values[0] > -_SMALL)


def tick_mass(growths: tuple[Growth, ...], rank: Ints, expectation: Expectation, prior: Prior) -> Floats:
    """Return the prior mass of each tick."""
    if prior == "ticks":
        return np.full(len(growths), 1 / len(growths))
    if prior == "expectation":
        others = max(len(growths) - 1, 1)
        return np.array([0.5 if g == expectation.growth else 0.5 / others for g in growths])
    counts = np.bincount(rank, minlength=len(RANKS))
    return np.asarray(1 / counts[rank] / np.count_nonzero(counts))


def _beside(growth: Growth, there: list[int], places: dict[Growth, int]) -> list[int]:
    """Return a few of the indices, evenly spread; beside x^k the middle one is x^(k-1), as polynomials have it."""
    spread = np.linspace(0, len(there) - 1, min(len(there), _SLOWER)).round().astype(int)
    found = [there[place] for place in spread.tolist()]
    (parameter, exponents), *others = growth.factors
    if not others and exponents.power > 1:  # logarithms are left aside
        below = places.get(Growth.of(parameter, power=exponents.power - 1), -1)
        if below in there and below not in found and len(found) == _SLOWER:
            found[_SLOWER // 2] = below
    return found


@lru_cache(maxsize=2048)
def _is_common(growth: Growth) -> bool:
    """Return whether algorithms often have such a term: log x, and half powers of x, perhaps times log x."""
    exponents = [e for _, e in growth.factors]
    return bool(exponents) and all(
        2 % e.power.denominator == 0 and e.log in (0, 1) and not e.exponential and not e.own for e in exponents
    )
