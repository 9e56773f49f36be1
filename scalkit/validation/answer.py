"""What to do about a verdict, in one of three answers: fix, fine, cannot tell."""

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.validation.expectation import Expectation

Answer = Literal["fix", "cannot tell", "fine"]
ANSWERS: tuple[Answer, ...] = ("fix", "cannot tell", "fine")
"""The worst first."""

ANSWER_SYMBOLS: dict[Answer, str] = {"fix": "✗", "cannot tell": "?", "fine": "✓"}

MATERIAL = 1.25
"""Noisy values must outgrow the best fit of the claim by this factor over the measured range: clocks and temperatures make a
machine drift by up to a fifth during a campaign, and a drift along the settings looks like growth; 5 % are for the noise."""

_NAMES = ("auto", "strict", "paper")
_FRACTION = re.compile(r"\((-?\d+)/(\d+)\)")
_LEAST_EXPLAINED = 5  # settings: two coefficients explain fewer by chance
_FEW_STEPS = 4
_SAME = 1e-12  # relative: a column that differs less from a multiple of another one says nothing more
_STANDARD_ERRORS = 2.0  # a slope beyond this is seen about 95 times in 100


def tolerance_of(expectation: Expectation, strictness: str, *, bundled: bool, is_exact: bool) -> Growth:
    """Return by which growth a function may outgrow its expectation and be fine.

    `strictness`: ``"strict"``: not at all; ``"paper"``: by the deviation, half of the leading class unless one was
    given; a growth; or ``"auto"``: by a deviation that was given, else not at all. The deviations of the bundled
    catalogues are about noisy times; bytes, counts and virtual times are taken at their word there.
    `bundled`: whether the expectation is one of a bundled catalogue.
    `is_exact`: whether the values are free of noise.
    Raises UsageError if a growth cannot be read, falls, or is in another parameter.
    """
    strict = Growth.constant()
    if strictness == "auto":
        is_tolerant = not is_exact if bundled else expectation.has_own_deviation
        return expectation.deviation if is_tolerant else strict
    if strictness in ("strict", "paper"):
        return strict if strictness == "strict" else expectation.deviation
    try:
        return Expectation(expectation.growth, strictness, expectation.parameter).deviation
    except ExpectationError as error:
        raise UsageError(_no_strictness(strictness, error)) from error


def tolerances(along: Mapping[str, Expectation], strictness: str, *, bundled: bool, is_exact: bool) -> dict[str, Growth]:
    """Return `tolerance_of` along each parameter; of several, a growth speaks of those that it names, the others are strict."""
    found = {}
    for name, expectation in along.items():
        own = strictness
        if len(along) > 1 and strictness not in _NAMES:
            own = str(_part(strictness, name, along))
        found[name] = tolerance_of(expectation, own, bundled=bundled, is_exact=is_exact)
    return found


def _part(strictness: str, name: str, along: Mapping[str, Expectation]) -> Growth:
    """Return what a growth over several parameters tolerates along one of them."""
    try:
        growth = Growth.parse(strictness)
        if unknown := sorted({*growth.parameters} - {*along}):
            raise ExpectationError(f"{unknown[0]!r} is no parameter; {', '.join(along)} are.")
    except ExpectationError as error:
        raise UsageError(_no_strictness(strictness, error)) from error
    return Growth.product({name: growth.exponents(name)})


def _no_strictness(strictness: str, error: ExpectationError) -> str:
    return f"the strictness {strictness!r:.60} is none of auto, strict, paper, and no growth to tolerate: {error}"


def excess(found: Floats, expected: Sequence[Floats]) -> float:
    """Return the factor by which values outgrow what is expected from where they are lowest against it to the last one.

    `found` (shape (points,)): values, or those of a model; the last point is the largest. See `_positive` for those that are
    0.
    `expected` (shape (points,)): the expected terms there. They are fitted to the values beside a constant, with relative
    weights; no coefficient is negative.
    """
    return _excess(*(np.asarray(one, dtype=float).tobytes() for one in (found, *expected)))


@lru_cache(4096)
def _excess(values: bytes, *terms: bytes) -> float:
    """Return what `excess` does; most edits of a ruler change neither the values nor the models of most functions."""
    found, *expected = (np.frombuffer(one) for one in (values, *terms))
    if not found.max() > 0:
        return 1.0
    found = _positive(found)
    columns = [np.ones_like(found), *expected]
    claimed = sum(c * column for c, column in zip(_fitted(found, columns), columns, strict=True))
    ratio = found / np.maximum(claimed, np.finfo(float).tiny)
    return float(ratio[-1] / ratio.min())


def steps_explain(y: Floats, term: Floats, step: float) -> bool:
    """Return whether exact values are a constant and a term that does not fall, up to the step in which they are counted.

    The smallest setting may be off by a few steps: two processes need no table for a third one.

    `y`, `term` of shape (points,).
    `step`: in which the values are counted; 0 if that is unknown, then nothing is explained.
    """
    if not step or len(y) < _LEAST_EXPLAINED:
        return False
    design = np.stack([np.ones_like(term), term], axis=1)
    found = np.linalg.lstsq(design[1:], y[1:], rcond=None)[0]
    off = np.abs(y - design @ found)
    return bool(found[1] >= 0 and off[1:].max() <= step and off[0] <= _FEW_STEPS * step)


def claim_ahead(y: Floats, growth: Growth, x: Floats, ahead: float) -> float:
    """Return the value at a setting if what was measured at `x` grew as claimed: a constant and the growth, fitted to `y`."""
    logs = growth.log2_value(np.append(x, ahead))
    terms = np.exp2(logs - logs[:-1].max())
    if not y.max() > 0:
        return 0.0
    constant, coefficient = _fitted(_positive(y), [np.ones_like(x), terms[:-1]])
    return float(constant + coefficient * terms[-1])


def _positive(values: Floats) -> Floats:
    """Return values with half the least positive one in place of zeros, which a relative fit would follow alone."""
    return np.asarray(np.where(values > 0, values, 0.5 * values[values > 0].min()))


def _fitted(found: Floats, columns: Sequence[Floats]) -> list[float]:
    """Return coefficients of the least relative squares; the least one is left out while it is negative."""
    if len(columns) == 2:
        return _fitted_two(found, *columns)
    used = list(range(len(columns)))
    while True:
        design = np.stack([columns[k] / found for k in used], axis=1)
        scale = np.abs(design).max(axis=0)
        coefficients = np.linalg.lstsq(design / scale, np.ones_like(found), rcond=None)[0] / scale
        if len(used) == 1 or coefficients.min() >= 0:
            break
        used.pop(int(np.argmin(coefficients * scale)))
    whole = dict(zip(used, coefficients.tolist(), strict=True))
    return [whole.get(k, 0.0) for k in range(len(columns))]


def _fitted_two(found: Floats, first: Floats, second: Floats) -> list[float]:
    """Return what `_fitted` does for two columns, in a tenth of the time: by orthogonal columns, made so twice."""
    a, b = first / found, second / found
    size = math.sqrt(a @ a)
    a, along = a / size, 0.0
    rest = b
    for _ in range(2):
        share = float(a @ rest)
        rest, along = rest - share * a, along + share
    own = float(rest @ rest)
    is_alone = own <= _SAME**2 * float(b @ b)
    slope = 0.0 if is_alone else float(rest.sum()) / own
    constant = (float(a.sum()) - along * slope) / size
    if slope < 0:
        slope, constant = 0.0, float(a.sum()) / size
    elif constant < 0:
        slope, constant = float(b.sum() / (b @ b)), 0.0
    return [constant, slope]


def passing_growth(bound: Growth, x: Floats, parameter: str, noise: float) -> Growth:
    """Return the fastest growth that would still be called fine.

    `bound`: the fastest one that is tolerated.
    `x` of shape (points,): settings, ascending.
    `noise`: relative standard error of a setting's value; 0 for exact values, whose bound is sharp.
    """
    if not noise > 0 or x[0] <= 0 or x[-1] <= x[0]:
        return bound
    logs = np.log(x)
    slope = _STANDARD_ERRORS * noise / math.sqrt(float(((logs - logs.mean()) ** 2).sum()))
    unseen = max(slope, math.log(MATERIAL) / float(logs[-1] - logs[0]))
    return bound * Growth.of(parameter, power=Fraction(round(100 * unseen), 100))


def in_decimals(growth: Growth) -> str:
    """Return the text of a growth with exponents as people write them: ``n^1.06`` for ``n^(53/50)``, and short fractions."""

    def shown(match: re.Match[str]) -> str:
        above, below = int(match[1]), int(match[2])
        shorter = f"{above / below:.2f}".rstrip("0")
        return match[0] if below <= 4 or shorter.endswith(".") else shorter

    return _FRACTION.sub(shown, str(growth))


def passed_in_words(bounds: Growth | Mapping[str, Growth]) -> str:
    """Return `passes_up_to` of a verdict as text; of one over several parameters along each."""
    return in_decimals(bounds) if isinstance(bounds, Growth) else ", ".join(map(in_decimals, bounds.values()))


def scaled(growth: Growth, x: Floats) -> Floats:
    """Return a growth at settings over its largest value there, which may be too large for a number."""
    return _scaled(growth, tuple(x.tolist()))


@lru_cache(1024)
def _scaled(growth: Growth, x: tuple[float, ...]) -> Floats:
    logs = growth.log2_value(np.asarray(x))
    found = np.asarray(np.exp2(logs - logs.max()))
    found.flags.writeable = False  # it is everybody's
    return found
