"""What to do about a verdict, in one of three answers: fix, fine, cannot tell."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from scalkit.errors import ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.judge.expectation import Expectation
from scalkit.measure.reduce import Values
from scalkit.support.arrays import Floats

Answer = Literal["fix", "cannot tell", "fine"]
ANSWERS: tuple[Answer, ...] = ("fix", "cannot tell", "fine")
"""The worst first."""

ANSWER_SYMBOLS: dict[Answer, str] = {"fix": "✗", "cannot tell": "?", "fine": "✓"}

SURE = 0.95
"""Probability of growing faster than claimed from which on it is to be fixed."""

FINE = 0.25
"""Probability of growing faster than claimed up to which a claim is fine; what else the values leave possible is said by the
resolution. At 0.3 twice as many too optimistic claims would pass at 5 % noise."""

_EXCLUDED = 0.05
"""Growths beyond the resolution are together this probable at most."""

_OCTAVE = 0.01
"""Octaves over which the slope of a growth is taken."""

APART = 0.9
"""Probability that the largest point is lifted by something of its own from which on nobody can tell how the values go on."""

LOW = 2.5
"""A value is far below what its neighbours continue to if that is so many times as large."""

SEVERAL = 3
"""So many launches that agree on a value make a disturbance unlikely, as one that lasts over all of them is rare."""

MATERIAL = 1.25
"""Factor by which a machine may drift over a campaign, 20 %, and 5 % for noise; a drift along the points looks like growth."""

MEMORY = 8.0
"""Factor by which each operation becomes slower at most as data outgrow caches, branch predictors and pools of small objects, but
for one function in sixteen."""

CLEAN_MEMORY = 2.0
"""The same where the values surely follow a faster growth without a drift: less is nothing to fix, as a rise by caches may look
like a logarithm over a short range."""

MOST_MEMORY = 35.0
"""Factor beyond which caches are not named as a reason: they reach it in one in forty of the functions whose times outgrow a
true claim."""

_SPAN_POWER, _MOST_HALF, _CLEAN_HALF, _STEEPNESS = 0.3, 6.0, 1.5, 8.0
"""Factors at which a faster growth counts by half: the 0.3rd power of the range of sizes, at most
`_MOST_HALF`, where the values follow it only with a drift, and `_CLEAN_HALF` where they follow it
without one and may follow the claim as well. `_STEEPNESS` is the power by which larger factors
count more. Chosen on the training half of `data/real/functions.jsonl`: larger ones let more claims
pass that are too optimistic."""

PROCESSES = frozenset("p np nprocs procs processes ranks nodes threads cores workers".split())
"""Names of parameters that are numbers of processes, in lower case; any other is the size of a problem."""


def counts_processes(parameter: str) -> bool:
    """Return whether a parameter is a number of processes by its name."""
    return parameter.lower() in PROCESSES


def unexplained(factor: float, span: float, faster: float) -> dict[str, float]:
    """Return the probabilities that data outgrowing caches do not explain a rise of times over a size.

    Parameters
    ----------
    factor : float
        By how much the values outgrow the claim, from 1 on.
    span : float
        The largest size over the smallest one.
    faster : float
        Probability that the values follow a faster growth.

    Returns
    -------
    dict
        ``"drifting"``, for hypotheses that need a drift to follow a faster growth, and ``"clean"``,
        for those that need none: 1 where the claim is less than 5 % probable.
    """

    def beyond(half: float) -> float:
        return float(1 / (1 + (half / factor) ** _STEEPNESS))

    half = min(_MOST_HALF, span**_SPAN_POWER)
    clean = 1.0 if faster >= SURE else beyond(min(_CLEAN_HALF, half))
    return {"clean": clean, "drifting": beyond(half)}


def machine_factor(series: Values, parameters: Sequence[str]) -> float:
    """Return the factor by which a machine alone may make values rise over the measured points; 1 for exact values.

    Times over the size of a problem also rise where data outgrow caches; bytes and counts do not.
    """
    if series.exact or series.virtual:
        return 1.0
    over_size = not all(map(counts_processes, parameters))
    return MEMORY if over_size and series.unit == "s" else MATERIAL


_NAMES = ("auto", "strict", "paper")
_FRACTION = re.compile(r"\((-?\d+)/(\d+)\)")


def tolerance_of(expectation: Expectation, strictness: str, *, bundled: bool, is_exact: bool) -> Growth:
    """Return by which growth a function may outgrow its expectation and be fine.

    `strictness`: ``"strict"``: not at all; ``"paper"``: by the deviation, half of the leading class unless one was
    given; a growth; or ``"auto"``: by a deviation that was given, else not at all. The deviations of the bundled
    catalogues are about noisy times; bytes, counts and virtual times are taken at their word there.
    `bundled`: whether the expectation is one of a bundled catalogue.
    `is_exact`: whether the values are free of noise.
    Raises UsageError if a growth cannot be read, falls, or is in another parameter.
    """
    strict = Growth()
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
        growth = Growth(strictness)
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
    if not found.max() > 0:
        return 1.0
    found = _positive(found)
    columns = [np.ones_like(found), *expected]
    claimed = sum(c * column for c, column in zip(fitted_coefficients(found, columns), columns, strict=True))
    ratio = found / np.maximum(claimed, np.finfo(float).tiny)
    return float(ratio[-1] / ratio.min())


def claim_ahead(y: Floats, growth: Growth, x: Floats, ahead: float) -> float:
    """Return the value at a setting if what was measured at `x` grew as claimed: a constant and the growth, fitted to `y`."""
    logs = growth.log2_value(np.append(x, ahead))
    terms = np.exp2(logs - logs[:-1].max())
    if not y.max() > 0:
        return 0.0
    constant, coefficient = fitted_coefficients(_positive(y), [np.ones_like(x), terms[:-1]])
    return float(constant + coefficient * terms[-1])


def _positive(values: Floats) -> Floats:
    """Return values with half the least positive one in place of zeros, which a relative fit would follow alone."""
    return np.asarray(np.where(values > 0, values, 0.5 * values[values > 0].min()))


def fitted_coefficients(found: Floats, columns: Sequence[Floats]) -> list[float]:
    """Return coefficients of the least relative squares; the least one is left out while it is negative."""
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


def resolution_of(
    growths: Sequence[Growth], probabilities: Floats, bound: Growth, parameter: str, last: float, *, is_exact: bool
) -> Growth:
    """Return the slowest growth such that anything faster is excluded.

    Exact values exclude all candidates beyond it. Noisy ones tell a growth from the next one of
    the ruler only, so the next power beyond it is taken.

    Parameters
    ----------
    growths : sequence of Growth
        What competed, ascending, with `probabilities`, of shape (growths,).
    bound : Growth
        The fastest growth that is fine.
    last : float
        The largest measured point, where powers and logarithms are compared.
    """
    start = bisect_right(growths, bound)
    beyond = probabilities[::-1].cumsum()[::-1]  # of each growth and all faster ones
    place = next((k for k in range(start, len(growths)) if beyond[k] <= _EXCLUDED), len(growths))
    slowest = growths[place - 1] if place > start else bound
    if is_exact or slowest.exponential(parameter):
        return slowest
    slope = _slope(slowest, last)
    powers = [g for g in growths if g > Growth() and not g.log(parameter)]
    found = next((g for g in powers if _slope(g, last) > slope), None)
    return found or slowest * Growth.of(parameter, power=Fraction(1, 4))


def _slope(growth: Growth, last: float) -> float:
    """Return by which power of the parameter a growth rises at the largest point."""
    logs = growth.log2_value(np.array([last, last * 2**_OCTAVE]))
    return float(logs[1] - logs[0]) / _OCTAVE


def required_resolution(text: str, parameters: Sequence[str]) -> Growth | None:
    """Return the growth by which a claim may be outgrown unseen; None for any.

    Over several parameters it is a product; those that it does not name may have any resolution.

    Raises UsageError if a text is no growth, or one that does not grow.
    """
    if text == "any":
        return None
    try:
        if len(parameters) == 1:
            (name,) = parameters
            return Expectation(Growth.of(name, power=1), text, name).deviation
        growth = Growth(text)
        if growth.is_constant or not {*growth.parameters} <= {*parameters}:
            raise ExpectationError(f"it is not in terms of {' and '.join(parameters)}")
        for name in growth.parameters:
            # An expectation checks that what it is given as a deviation grows.
            Expectation(Growth.of(name, power=1), Growth.product({name: growth.exponents(name)}), name)
    except ExpectationError as error:
        example = " * ".join(f"{name}^(1/4)" for name in parameters)
        raise UsageError(
            f"the resolution {text!r:.60} is no growth in {' and '.join(parameters)}; write one such as '{example}', or 'any'."
        ) from error
    return growth


def resolution_in_words(found: Growth | Mapping[str, Growth]) -> str:
    """Return the resolution of a verdict as text; of one over several parameters along each."""
    return in_decimals(found) if isinstance(found, Growth) else ", ".join(map(in_decimals, found.values()))


def in_decimals(growth: object) -> str:
    """Return the text of a growth with exponents as people write them: ``n^1.06`` for ``n^(53/50)``, and short fractions."""

    def shown(match: re.Match[str]) -> str:
        above, below = int(match[1]), int(match[2])
        shorter = f"{above / below:.2f}".rstrip("0")
        return match[0] if below <= 4 or shorter.endswith(".") else shorter

    return _FRACTION.sub(shown, str(growth))


def scaled(growth: Growth, x: Floats) -> Floats:
    """Return a growth at settings over its largest value there, which may be too large for a number."""
    logs = growth.log2_value(x)
    return np.asarray(np.exp2(logs - logs.max()))
