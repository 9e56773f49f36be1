"""Guidelines judged on measurements: run medians, a rank test for each setting, four states."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.guidelines.comparisons import Pairs, matched
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.guideline import CATALOGUES, Guideline, GuidelineSource, guidelines
from scalkit.guidelines.result import STATES, Assessment, Thresholds
from scalkit.stats import adjusted_p, hodges_lehmann_ratio, least_rank_sum_p, least_signed_rank_p, rank_sum, signed_rank
from scalkit.stats.rank_tests import ADJUSTMENTS, runs_needed
from scalkit.stats.samples import Floats, Integers

TESTS = ("auto", "rank-sum", "paired")
VIOLATED, COMPLIANT, INCONCLUSIVE, UNDECIDABLE = STATES


@dataclass(frozen=True)
class _Options:
    thresholds: Thresholds
    test: str


def assess(
    table: Any,
    guideline: GuidelineSource = CATALOGUES,
    *,
    p_threshold: float = 0.001,
    v_threshold: float = 1.03,
    test: Literal["auto", "rank-sum", "paired"] = "auto",
    adjust: Literal["bh", "by", "none"] = "bh",
    confidence: float = 0.95,
    varied: str = "size",
    value: str = "time",
    run: str = "run",
    ignore: Sequence[str] = ("repetition",),
    decides: bool = True,
) -> Assessment:
    """Return which guidelines the measurements violate, and at which settings.

    The median of each run is taken after Tukey's fence; a test compares medians of runs, never repetitions. With
    ``test="rank-sum"`` and ``adjust="none"`` this is the assessment of the paper, with the
    relations that it tests: GL11 on one side.

    Parameters
    ----------
    table : pandas.DataFrame, xarray.Dataset, structured array, mapping of arrays, or Measured
        See `scalkit.guidelines.measured`.
    guideline : str, Path, Guideline, or several of these
        See `scalkit.guidelines.guidelines`; by default all bundled ones that the measurements allow.
    p_threshold : float
        A violation needs an adjusted p-value up to this.
    v_threshold : float
        A violation needs a left side that takes this many times as long as the right; above 1.
    test : {"auto", "rank-sum", "paired"}
        ``paired`` compares within each run that both sides share, by signed ranks of the logarithms of ratios; ``auto`` does so
        where enough runs are shared to show a single violation among all tests of the family, or where the rank sum could not
        show it either.
    adjust : {"bh", "by", "none"}
        How p-values are adjusted within a family, which is a guideline's name.
    confidence : float
        Of the intervals of ratios.
    varied : str
        The parameter whose values make up a group, mostly the message size; all others tell groups apart.
    value, run, ignore
        Columns, see `scalkit.guidelines.measured`.
    decides : bool
        Whether a violation may decide the exit status. Tests with more processes than cores (``oversubscribed``), or beside
        other programs (``foreign_load`` above 0.1), never do; those of virtual time always may.

    Raises
    ------
    DataError
        If the table is wrong.
    RuleError
        If a guideline is wrong.
    UsageError
        If an option is wrong.

    References
    ----------
    F. D. Lübbe: *Micro-benchmarking MPI Neighborhood Collective Operations.* Euro-Par, 2017, section 3.2.
    """
    if test not in TESTS:
        raise UsageError(f"the test {test!r} is unknown; choose from {', '.join(TESTS)}.")
    if adjust not in ADJUSTMENTS:
        raise UsageError(f"the adjustment {adjust!r} is unknown; choose from {', '.join(ADJUSTMENTS)}.")
    thresholds = Thresholds(p_threshold, v_threshold, confidence, adjust)
    asked = guidelines(guideline)
    if test == "rank-sum" and adjust == "none":
        asked = tuple(one.as_published() for one in asked)
    data = measured(table, value=value, run=run, ignore=ignore)
    if not len(data.values):
        raise DataError(f"no row of the measurements has a '{value}'.")
    pairs = [matched(one, data) for one in asked]
    options = _Options(thresholds, test)
    sizes: Counter[str] = Counter()
    for one, found in zip(asked, pairs, strict=True):
        sizes[one.family] += len(found)
    columns = [_tested(one, found, options, sizes[one.family]) for one, found in zip(asked, pairs, strict=True)]
    if data.exact:
        columns = [one | _exactly(one["violation_ratio"], guide.relation) for one, guide in zip(columns, asked, strict=True)]
    joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
    which = np.repeat(np.arange(len(asked)), [len(found) for found in pairs])
    joined["decides"] = np.concatenate([decides & ~found.crowded(data) for found in pairs])
    joined["q_value"] = _adjusted(joined, [asked[i].family for i in which.tolist()], adjust)
    similar = np.array([asked[i].relation == "~" for i in which.tolist()], dtype=bool)
    joined |= _judged(joined, similar, thresholds)
    return Assessment(
        guidelines=asked,
        thresholds=thresholds,
        data=data,
        which=which,
        codes=np.concatenate([found.codes for found in pairs]),
        against=np.concatenate([found.against for found in pairs]),
        left=np.concatenate([found.left for found in pairs]),
        right=np.concatenate([found.right for found in pairs]),
        columns=joined,
        experiments=tuple(found.rows for found in pairs),
        varied=varied,
        not_tested={i: found.why_not for i, found in enumerate(pairs) if found.why_not},
        decides=decides,
    )


def _tested(guideline: Guideline, pairs: Pairs, options: _Options, n_tests: int) -> dict[str, Any]:
    """Return the columns of one guideline's tests, of `n_tests` in its family, before their p-values are adjusted."""
    left, right = pairs.left, pairs.right
    sided = 2 if guideline.relation == "~" else 1
    n_left, n_right = (np.count_nonzero(~np.isnan(side), axis=1) for side in (left, right))
    shared = np.count_nonzero(~np.isnan(left) & ~np.isnan(right), axis=1)
    least = np.minimum(1, sided * _least(shared)), np.minimum(1, sided * _least(n_left, n_right))
    is_paired = _paired(n_left, n_right, shared, least, options, n_tests)
    found: dict[str, Any] = {
        "n_left": np.where(is_paired, shared, n_left),
        "n_right": np.where(is_paired, shared, n_right),
        "test": np.where(is_paired, "paired", "rank-sum"),
        "p_value": np.full(len(pairs), np.nan),
        "least_p": np.where(is_paired, *least),
        "violation_ratio": _median(left) / _median(right),
    }
    found |= {key: np.full(len(pairs), np.nan) for key in ("ratio", "ratio_low", "ratio_high")}
    for paired in (False, True):
        rows = np.flatnonzero(is_paired == paired)
        if not len(rows):
            continue
        a, b = np.log(left[rows]), np.log(right[rows])
        alternative: Literal["two-sided", "greater"] = "two-sided" if sided == 2 else "greater"
        found["p_value"][rows] = (signed_rank if paired else rank_sum)(a, b, alternative).p
        shift = hodges_lehmann_ratio(left[rows], right[rows], options.thresholds.confidence, paired=paired)
        for key, part in (("ratio", shift.estimate), ("ratio_low", shift.low), ("ratio_high", shift.high)):
            found[key][rows] = part
    found["can_decide"] = (found["least_p"] <= options.thresholds.p) & ~np.isnan(found["p_value"])
    p = options.thresholds.p
    of_sums, of_pairs = (
        runs_needed(p, lambda n: sided * least_rank_sum_p(n, n)),
        runs_needed(p, lambda n: sided * least_signed_rank_p(n)),
    )
    found["runs_needed"] = np.where(is_paired & (options.test == "paired"), of_pairs, of_sums)
    return found


def _exactly(ratio: Floats, relation: str) -> dict[str, Any]:
    """Return the columns of tests on values that repeat exactly: a ratio has no interval, and a difference no chance."""
    differs = ratio != 1 if relation == "~" else ratio > 1
    return {
        "p_value": np.where(np.isnan(ratio), np.nan, np.where(differs, 0.0, 1.0)),
        "least_p": np.zeros(len(ratio)),
        "can_decide": ~np.isnan(ratio),
        "runs_needed": np.ones(len(ratio), dtype=np.int64),
        **dict.fromkeys(("ratio", "ratio_low", "ratio_high"), ratio),
    }


def _least(*counts: Integers) -> Floats:
    """Return the smallest p-values: of so many pairs, or of so many runs on each side."""
    kinds, which = np.unique(np.stack(counts, axis=1), axis=0, return_inverse=True)
    least = least_signed_rank_p if len(counts) == 1 else least_rank_sum_p
    found: Floats = np.array([least(*kind) for kind in kinds.tolist()])[which.ravel()]
    return found


def _paired(
    n_left: Integers, n_right: Integers, shared: Integers, least: tuple[Floats, Floats], options: _Options, n_tests: int
) -> Any:
    """Return which tests are of pairs; `least` are the smallest p-values of pairs and of rank sums.

    A family of many tests asks for smaller p-values than so few pairs may have: 2^-n, where the rank sum of n and n runs
    comes down to about 4^-n. The choice depends on numbers of runs and tests alone, not on what was measured.
    """
    if options.test != "auto":
        return np.full(len(shared), options.test == "paired")
    of_pairs, of_sums = least
    limit = options.thresholds.p
    alone = limit / _penalty(n_tests, options.thresholds.adjust)
    enough = (of_pairs <= limit) & (2 * shared >= np.minimum(n_left, n_right))
    return enough & ((of_pairs <= alone) | (of_sums > alone))


def _penalty(n_tests: int, adjust: str) -> float:
    """Return what the p-value of a single violation among so many tests is multiplied by."""
    if adjust == "none" or not n_tests:
        return 1.0
    return n_tests * (float(np.sum(1 / np.arange(1, n_tests + 1))) if adjust == "by" else 1.0)


def _median(times: Floats) -> Floats:
    ordered = np.sort(times, axis=1)
    n = np.count_nonzero(~np.isnan(ordered), axis=1)
    rows = np.arange(len(ordered))
    if not len(ordered):
        return np.empty(0)
    found: Floats = (ordered[rows, np.maximum(n - 1, 0) // 2] + ordered[rows, np.minimum(n // 2, ordered.shape[1] - 1)]) / 2
    return found


def _adjusted(columns: dict[str, Any], families: list[str], adjust: str) -> Floats:
    """Return adjusted p-values: a test that no values could make significant is not counted."""
    q = np.full(len(families), np.nan)
    p = np.where(columns["can_decide"], columns["p_value"], np.nan)
    names = np.array(families, dtype=object)
    for family in dict.fromkeys(families):
        rows = np.flatnonzero(names == family)
        q[rows] = adjusted_p(p[rows], adjust)
    return q


def _judged(columns: dict[str, Any], similar: Any, thresholds: Thresholds) -> dict[str, Any]:
    v = thresholds.v
    effect = np.where(columns["test"] == "paired", columns["ratio"], columns["violation_ratio"])
    low, high = columns["ratio_low"], columns["ratio_high"]
    with np.errstate(invalid="ignore"):
        large = (effect >= v) | (similar & (effect <= 1 / v))
        violated = (columns["q_value"] <= thresholds.p) & large
        severe = violated & ((low >= v) | (similar & (high <= 1 / v)))
        compliant = (high < v) & (~similar | (low > 1 / v))
    state = np.select([violated, ~columns["can_decide"], compliant], [VIOLATED, UNDECIDABLE, COMPLIANT], INCONCLUSIVE)
    return {"effect": effect, "state": state, "is_severe": severe}
