"""Evidence for growths in values without noise: bytes, counts, repetitions that agree.

No noise is invented for such values: an error is at least their rounding, and at most a misfit of the model, a relative
error on a short list. The integral over the shares is that of Laplace, around the best weighted fit.
"""

import math
from dataclasses import dataclass

import numpy as np

from scalkit.arrays import Flags, Floats, Ints
from scalkit.growth import Growth
from scalkit.validation.posterior.regimes import Errors, with_regimes

Bools = Flags

MISFITS = np.array([0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1])
_MISFIT_MASS = np.array([0.4, *[0.6 / 7] * 7])
_LEAST_SHARE = 1e-3
_LEAST_HIDDEN = 1e-2
OFFSET_MASS = 0.1
"""Of a term less a constant: p - 1 partners and levels between nodes are common, but most costs add up."""
_DRIFT, _DRIFT_MASS = 1000.0, 10.0
"""Variance by which the smallest setting may misfit more than the largest, and how probable that is; see `profiles`."""
_ALIKE = 3.0
"""Relative errors that differ by less than this factor count as equal where coefficients are shown."""
_ROUND = 1 / math.sqrt(12)
_TINY = 1e-12
_SAME = 1e-9
_FEW_STEPS = 2.5
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class ExactEvidence:
    """Logarithms of evidence, up to a common constant.

    `single` of shape (K,): of a constant plus each growth.
    `hidden` of shape (K,): of a constant plus the expected growth plus each growth; -inf where that does not fit.
    `sums` of shape (K,): of a constant plus a slower growth plus each growth, the mean over the slower ones; -inf where
    none fits, and for all if one term explains the values already.
    `bound` of shape (K,): largest share of each growth beside the expected one at the last setting that the values do
    not exclude at 95 %.
    `apart`, shape (points,): settings that most probably follow something else than the rest.
    `precision` of shape (points, points): of the logarithms of the values about the best growth; None where all have the
    same relative error.
    """

    single: Floats
    hidden: Floats
    sums: Floats
    bound: Floats
    apart: Bools
    precision: Floats | None


def exact_evidence(
    x: Floats, y: Floats, growths: tuple[Growth, ...], expected: Growth, resolution: float = 0.0, changes: bool = False
) -> ExactEvidence:
    """Return the evidence for each growth.

    `x`, `y` of shape (points,): finite; `y` not negative.
    `growths`: the expected one among them.
    `expected`: base of the two-term hypotheses.
    `resolution`: step in which the values are counted; 0 for values that are exact, to one where they are whole
    numbers.
    `changes`: whether a few values may follow something else, as times of an algorithm that changes; see
    `with_regimes`.
    """
    unit = _unit(y)
    y = y / unit
    logs = np.array([g.log2_value(x) for g in growths]).reshape(len(growths), len(x))
    with np.errstate(invalid="ignore"):
        terms = np.exp2(np.clip(logs - logs.max(axis=1, keepdims=True), -1000.0, 0.0))
    terms = np.nan_to_num(terms * np.isfinite(terms).all(axis=1, keepdims=True))
    base = terms[growths.index(expected)]
    is_constant = np.array([g.is_constant for g in growths])
    is_faster = np.array([g > expected for g in growths]) & (not expected.is_constant)
    single, scales, masses = _single_terms(terms, is_constant, x, y, resolution / unit)
    alone: Floats | None = None
    errors = Errors(scales, masses, np.zeros(scales.shape, dtype=bool))
    if changes:
        errors = with_regimes(y, *_scales(x, y, resolution / unit * _ROUND))  # a clock has no coarser steps
        scales, masses = errors.scales, errors.masses
        alone = terms - _at_one(growths, logs.max(axis=1))[:, None]  # p - 1 partners send p - 1 blocks
        single = np.where(is_constant[:, None], _constant(y, scales)[None, :], _single(terms, y, scales, alone))
    hidden = np.full(single.shape, -np.inf)
    bounds = np.full(single.shape, np.nan)
    if is_faster.any():
        hidden[is_faster], bounds[is_faster] = _two_terms(
            base[None, :], terms[is_faster], y, scales, None if alone is None else alone[is_faster]
        )
    weights = np.log(masses)[None, :]
    best = int(np.argmax((single + weights).max(axis=0)))
    sums = _sums(terms, is_constant, y, scales, alone) if best > 0 else np.full(single.shape, -np.inf)
    if errors.is_open.any():
        before = np.concatenate([single, sums])[:, errors.is_open]
        any_growth = np.logaddexp.reduce(before, axis=0) - math.log(len(single))
        for each in (single, hidden, sums):
            each[:, errors.is_open] = any_growth
    likely = np.logaddexp(np.logaddexp.reduce(single, axis=0), np.logaddexp.reduce(sums, axis=0)) + weights[0]
    top = max(float(each.max(initial=-np.inf)) for each in (single, hidden, sums))
    single, hidden, sums = (_log_sum(each + weights, top) for each in (single, hidden, sums))
    most = int(np.argmax(likely))
    return ExactEvidence(single, hidden, sums, bounds[:, best], errors.apart[most], _precision(y, scales[most]))


@dataclass(frozen=True, eq=False)
class ExactPredictions:
    """What hypotheses about exact values predict, R of them at Q sizes of the errors.

    `values`, `errors` of shape (R, Q, m): value at each setting, NaN where the hypothesis does not fit, and standard
    deviation of a new value there.
    `evidence` of shape (R, Q): its logarithm, without the prior of the growth.
    `tick`, shape (R,): which growth leads.
    `is_sum`, shape (R,): whether a slower growth stands beside it; the evidence is divided by the number of these.
    """

    values: Floats
    errors: Floats
    evidence: Floats
    tick: Ints
    is_sum: Bools


def exact_predictions(
    x: Floats, y: Floats, growths: tuple[Growth, ...], resolution: float, at: Floats, summed: tuple[Growth, ...]
) -> ExactPredictions:
    """Return what a constant plus each growth predicts, and plus two of them where no single one explains all values.

    `x`, `y` of shape (points,).
    `at` of shape (m,).
    `summed`: those of `growths` that also stand in sums of two.
    """
    unit = _unit(y)
    y = y / unit
    settings = np.concatenate([x, at])
    logs = np.array([g.log2_value(settings) for g in growths]).reshape(len(growths), len(settings))
    with np.errstate(invalid="ignore"):
        terms = np.exp2(np.clip(logs - logs[:, : len(x)].max(axis=1, keepdims=True), -1000.0, 1000.0))
    usable = np.isfinite(terms[:, : len(x)]).all(axis=1, keepdims=True)
    terms = np.where(usable, terms, 0.0)
    seen, ahead = terms[:, : len(x)], terms[:, len(x) :]
    is_constant = np.array([g.is_constant for g in growths])
    single_terms, scales, masses = _single_terms(seen, is_constant, x, y, resolution / unit)
    evidence = single_terms + np.log(masses)
    log_l, pairs, covariance = _fits([np.ones_like(seen), seen], y, scales)
    has_both = (pairs[..., 0, None] > 0) | (_less(seen, log_l, pairs, covariance) > single_terms - math.log(2))[..., None]
    _, alone, variance = _fits([seen], y, scales)
    _, level, level_variance = _fits([np.ones((1, len(x)))], y, scales)
    both, both_variance = _ahead([np.ones_like(ahead), ahead], pairs, covariance)
    single, single_variance = _ahead([ahead], alone, variance)
    values = np.where(has_both, both, single)
    spreads = np.where(has_both, both_variance, single_variance)
    values = np.where(is_constant[:, None, None], level[..., 0, None], values)
    spreads = np.where(is_constant[:, None, None], level_variance[..., 0, 0, None], spreads)
    tick = np.arange(len(growths))
    slow, fast = _pairs(seen, is_constant | np.array([g not in summed for g in growths]))
    if len(fast) and int(np.argmax(evidence.max(axis=0))) > 0:
        sums, _ = _two_terms(seen[slow], seen[fast], y, scales)
        _, found, errors = _fits([np.ones_like(seen[slow]), seen[slow], seen[fast]], y, scales)
        each, each_variance = _ahead([np.ones_like(ahead[slow]), ahead[slow], ahead[fast]], found, errors)
        values, spreads = np.concatenate([values, each]), np.concatenate([spreads, each_variance])
        count = np.bincount(fast, minlength=len(growths))[fast]
        evidence = np.concatenate([evidence, sums + np.log(masses) - np.log(count)[:, None]])
        tick = np.concatenate([tick, fast])
    positive = y > 0
    relative = np.median(scales[:, positive] / y[positive], axis=1) if positive.any() else np.zeros(len(scales))
    new = (relative[None, :, None] * values) ** 2
    fits = np.isfinite(evidence)[..., None]
    return ExactPredictions(
        values=np.where(fits, values, np.nan) * unit,
        errors=np.sqrt(np.maximum(spreads, 0.0) + new) * unit,
        evidence=evidence,
        tick=tick,
        is_sum=np.arange(len(tick)) >= len(growths),
    )


def _ahead(columns: list[Floats], coefficients: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return values and variances (K, Q, m) of fits at other settings; each column is of shape (K, m)."""
    design = np.stack(columns, axis=-1)
    values = np.einsum("kmi,kqi->kqm", design, coefficients)
    return values, np.einsum("kmi,kqij,kmj->kqm", design, covariance, design)


def _pairs(terms: Floats, out: Bools) -> tuple[Ints, Ints]:
    """Return the indices of a slower and a faster term for all pairs of those that are not out and have values."""
    there = [k for k in range(len(terms)) if not out[k] and terms[k].any()]
    pairs = [(slow, fast) for i, fast in enumerate(there) for slow in there[:i]]
    found = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return found[:, 0], found[:, 1]


def _at_one(growths: tuple[Growth, ...], scales: Floats) -> Floats:
    """Return each growth at 1 over 2 to the power of its scale, of shape (K,); 0 where it has no value there."""
    at = np.array([g.log2_value(np.ones(1))[0] for g in growths]) - scales
    return np.asarray(np.where(np.isfinite(at), np.exp2(np.clip(at, -1000.0, 0.0)), 0.0))


def _log_sum(logs: Floats, top: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(logs - top).sum(axis=1)) + top)


def _unit(y: Floats) -> float:
    """Return a power of two near the largest value, so that squares stay in range; 1 for zeros."""
    largest = float(np.max(np.abs(y)))
    return 2.0 ** math.floor(math.log2(max(largest, _LEAST))) if largest else 1.0


def _single_terms(terms: Floats, is_constant: Bools, x: Floats, y: Floats, step: float) -> tuple[Floats, Floats, Floats]:
    """Return the log evidence (K, Q) of one term each, the errors (Q, points) that were tried and their masses.

    Where no term explains every value to within `step`, they may be counted in coarser steps than that: in their largest
    common one. Where they span two of these at most, as 0, 0, 0, 0, 4096, they tell little: a step too many or too few, up
    or down, is no evidence.
    """
    common, known = common_step(y), step * _ROUND
    if float(np.ptp(y)) <= _FEW_STEPS * common:
        errors = [max(known, common / math.sqrt(3))]
    else:
        errors = [known, max(known, common * _ROUND)]
    for error in errors:
        scales, masses = _scales(x, y, error)
        single = np.where(is_constant[:, None], _constant(y, scales)[None, :], _single(terms, y, scales))
        if int(np.argmax((single + np.log(masses)).max(axis=0))) == 0:
            break
    return single, scales, masses


def common_step(y: Floats) -> float:
    """Return the largest step whose multiples are all differences of values; rounding is taken for none."""
    levels = np.unique(y)
    step, least = 0.0, _SAME * float(levels[-1])
    for distance in np.diff(levels).tolist():
        while distance > least:
            step, distance = distance, step % distance if step % distance < distance - least else 0.0
    return step


def _scales(x: Floats, y: Floats, error: float) -> tuple[Floats, Floats]:
    """Return the errors of the values that are tried, of shape (Q, points), and their masses, given that of counting.

    A misfit is the same part of every value, or grows away from the largest setting.

    A zero misfits as the smallest positive value does; a model that misses all others would have to go through it otherwise.
    """
    largest = float(np.max(np.abs(y))) or 1.0
    size = np.where(y > 0, y, np.min(y, where=y > 0, initial=largest))
    logs = np.log(x)
    away = (logs[-1] - logs) / (logs[-1] - logs[0])
    misfits = [misfit * size for misfit in MISFITS]
    misfits += [misfit * np.sqrt(1 + _DRIFT * away**2) for misfit in misfits[1:]]
    masses = np.concatenate([_MISFIT_MASS, _DRIFT_MASS * _MISFIT_MASS[1:]])
    return np.sqrt(np.square(misfits) + error**2 + (_TINY * largest) ** 2), masses / masses.sum()


def _precision(y: Floats, scales: Floats) -> Floats | None:
    """Return the precision of the logarithms of `y`, None where their errors are alike or one has no logarithm."""
    if not (y > 0).all() or (relative := scales / y).max() <= _ALIKE * relative.min():
        return None
    return np.diag((relative.min() / relative) ** 2)


def _fits(columns: list[Floats], y: Floats, scales: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log likelihoods (K, Q), coefficients (K, Q, m) and covariances (K, Q, m, m) of weighted least squares.

    `columns` of shape (K, points).
    `y` of shape (points,).
    `scales` of shape (Q, points).
    """
    design = np.stack(columns, axis=-1)[:, None] / scales[None, :, :, None]
    norms = np.sqrt((design**2).sum(axis=2))
    norms = np.where(norms > 0, norms, 1.0)
    q, r = np.linalg.qr(design / norms[:, :, None, :])
    diagonal = np.abs(np.diagonal(r, axis1=2, axis2=3)).min(axis=2)
    is_regular = diagonal > 1e-9
    inverse = np.linalg.inv(np.where(is_regular[:, :, None, None], r, np.eye(r.shape[-1])))
    target = (y / scales)[None, :, :]
    seen = np.einsum("kqnm,kqn->kqm", q, np.broadcast_to(target, q.shape[:3]))
    rest = target - np.einsum("kqnm,kqm->kqn", q, seen)
    log_l = -0.5 * (rest**2).sum(axis=2) - np.log(scales).sum(axis=1)[None, :]
    covariance = inverse @ np.swapaxes(inverse, 2, 3) / (norms[:, :, :, None] * norms[:, :, None, :])
    coefficients = np.einsum("kqij,kqj->kqi", inverse, seen) / norms
    return np.where(is_regular, log_l, -np.inf), coefficients, covariance


def _constant(y: Floats, scales: Floats) -> Floats:
    """Return the log evidence of a constant for each scale."""
    return np.asarray(_fits([np.ones((1, len(y)))], y, scales)[0][0])


def _single(terms: Floats, y: Floats, scales: Floats, without: Floats | None = None) -> Floats:
    """Return the log evidence (K, Q) of a constant plus each term; of the term alone too where the constant is negative.

    `terms` of shape (K, points).
    `without` of shape (K, points): what stands alone, by default the terms; with it no constant is negative.
    """
    middle = len(y) // 2
    log_l, coefficients, covariance = _fits([np.ones_like(terms), terms], y, scales)
    alone, slope, _ = _fits([terms if without is None else without], y, scales)
    a, b = coefficients[..., 0], coefficients[..., 1]
    at = b * terms[:, middle, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = at / (a + at)
        inside = log_l + np.log(_width(share, share * (1 - share) * _ratio_error(a, b, covariance)))
        edge = alone + np.log(_width(np.ones_like(alone), scales[None, :, middle] / max(float(y[middle]), _LEAST)))
        edge = np.where((a <= 0) & (slope[..., 0] > 0), edge, -np.inf)
        if without is None:
            edge = np.logaddexp(edge, _less(terms, log_l, coefficients, covariance))
    fits = (a > 0) & (b > 0) & (share > _LEAST_SHARE * 1e-3)
    return np.asarray(np.where(fits, inside, edge))


def _less(terms: Floats, log_l: Floats, coefficients: Floats, covariance: Floats) -> Floats:
    """Return the log evidence (K, Q) of each term less a constant, -inf where that is not positive at all settings."""
    a, b = coefficients[..., 0], coefficients[..., 1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        taken = -a / (b * terms[:, :1])  # of the term at the smallest setting
        found = log_l + np.log(OFFSET_MASS * _width(taken, taken * _ratio_error(a, b, covariance)))
        grows = (np.diff(terms, axis=1) > 0).all(axis=1, keepdims=True)
    return np.asarray(np.where(grows & (b > 0) & (taken > 0) & (taken < 1), found, -np.inf))


def _sums(terms: Floats, is_constant: Bools, y: Floats, scales: Floats, alone: Floats | None) -> Floats:
    """Return the log evidence (K, Q) of each term beside a slower one, the mean over those."""
    found = np.full((len(terms), len(scales)), -np.inf)
    slow, fast = _pairs(terms, is_constant)
    if not len(fast):
        return found
    evidence, _ = _two_terms(terms[slow], terms[fast], y, scales, None if alone is None else alone[fast])
    for k in np.unique(fast):
        found[k] = np.logaddexp.reduce(evidence[fast == k], axis=0) - math.log(np.count_nonzero(fast == k))
    return found


def _two_terms(bases: Floats, terms: Floats, y: Floats, scales: Floats, alone: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the log evidence of a constant, a term and a faster one, and the bound of its share; both (K, Q).

    With `alone`, of the shape of `terms`, these stand with the slower term and no constant where that would be negative.
    """
    middle, end = len(y) // 2, max(float(y[-1]), _LEAST)
    bases = np.broadcast_to(bases, terms.shape)
    log_l, coefficients, covariance = _fits([np.ones_like(terms), bases, terms], y, scales)
    a, b, c = (coefficients[..., i] for i in range(3))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        error = np.sqrt(np.maximum(covariance[..., 2, 2], 0.0))
        at = b * bases[:, middle, None]
        inner = at / (a + at)
        width = _width(inner, inner * (1 - inner) * _ratio_error(a, b, covariance))
        bound = np.clip((np.maximum(c, 0.0) + 1.645 * error) * terms[:, -1:] / end, 0.0, 1.0)
        bound = np.where(np.isfinite(log_l), bound, np.nan)
        fits = (a > 0) & (b > 0)
        if alone is not None:
            likely, two, variance = _fits([bases, alone], y, scales)
            only = (a <= 0) & (two[..., 0] > 0)
            log_l, c = np.where(only, likely, log_l), np.where(only, two[..., 1], c)
            error = np.where(only, np.sqrt(np.maximum(variance[..., 1, 1], 0.0)), error)
            least = _width(np.ones_like(likely), scales[None, :, middle] / max(float(y[middle]), _LEAST))
            width, fits = np.where(only, least, width), fits | only
        share = c * terms[:, -1:] / end
        evidence = log_l + np.log(width) + np.log(_width(share, error * terms[:, -1:] / end, _LEAST_HIDDEN))
    return np.where(fits & (share >= _LEAST_HIDDEN), evidence, -np.inf), bound


def _ratio_error(a: Floats, b: Floats, covariance: Floats) -> Floats:
    """Return the standard error of ``log(b / a)``."""
    variance = covariance[..., 0, 0] / a**2 + covariance[..., 1, 1] / b**2 - 2 * covariance[..., 0, 1] / (a * b)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _width(share: Floats, error: Floats, least: float = _LEAST_SHARE) -> Floats:
    """Return the part of the prior that the data leave, under a log-uniform prior of shares from `least` to 1."""
    density = 1 / (np.maximum(share, least) * math.log(1 / least))
    return np.asarray(np.clip(np.nan_to_num(math.sqrt(2 * math.pi) * error * density, nan=1.0), 1e-12, 1.0))
