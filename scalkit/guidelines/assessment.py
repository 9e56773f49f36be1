"""Guidelines judged on measurements: run medians, a rank test for each setting, four states."""

from collections import Counter
from typing import Any, Literal

import numpy as np
import pandas as pd

from scalkit.errors import DataError
from scalkit.guidelines.comparisons import Pairs, matched
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.guideline import CATALOGUES, Guideline, GuidelineSource, guidelines
from scalkit.guidelines.result import STATES, Assessment, Thresholds
from scalkit.guidelines.sentences import CONFIDENCE
from scalkit.stats.rank_tests import adjusted_p, least_rank_sum_p, rank_sum, runs_needed, signed_rank
from scalkit.stats.samples import Floats, Integers
from scalkit.stats.shift import hodges_lehmann_ratio
from scalkit.support.arguments import require_text

VIOLATED, COMPLIANT, INCONCLUSIVE, UNDECIDABLE = STATES


def assess(
    source: Any,
    guideline: GuidelineSource = CATALOGUES,
    *,
    p_threshold: float = 0.001,
    v_threshold: float = 1.03,
    strictness: Literal["strict", "paper"] = "strict",
    varied: str = "size",
    value: str = "time",
) -> Assessment:
    """Return which guidelines the measurements violate, and at which settings.

    The median of each run is taken after Tukey's fence; a test compares medians of runs, never repetitions. Where both sides
    share enough runs to show a single violation among all tests of the family, or where the rank sum could not show it
    either, signed ranks compare them run by run; elsewhere the rank sum does. P-values are adjusted for the number of tests
    of a family, which is a guideline's name.

    Parameters
    ----------
    source : paths, Dataset of sk.read, pandas.DataFrame, or mapping of columns
        See `scalkit.guidelines.tables.read_tables`. A row is one repetition, or one experiment in one run whose values are a
        list. All columns but `value`, ``run``, ``repetition``, ``oversubscribed`` and ``foreign_load`` are parameters. Tests
        with more processes than cores (``oversubscribed``), or next to other programs (``foreign_load`` above 0.1), never
        decide; those of virtual time always may.
    guideline : str, Path, Guideline, or several of these
        See `scalkit.guidelines.guidelines`; by default all bundled ones that the measurements allow.
    p_threshold : float
        A violation needs an adjusted p-value up to this.
    v_threshold : float
        A violation needs a left side that takes this many times as long as the right; above 1.
    strictness : {"strict", "paper"}
        ``paper`` is the published assessment: rank sums, p-values that are not adjusted, and the relations that the source
        tests: GL11 on one side.
    varied : str
        The parameter whose values make up a group, mostly the message size; all others tell groups apart.
    value : str
        Column or metric of the measured values.

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
    thresholds = Thresholds(p_threshold, v_threshold, strictness)
    require_text(value, "the column of the values")
    asked = guidelines(guideline)
    if strictness == "paper":
        asked = tuple(one.as_published() for one in asked)
    data = measured(source, value)
    if not len(data.values):
        raise DataError(f"no row of the measurements has a '{value}'.")
    pairs = [matched(one, data) for one in asked]
    sizes: Counter[str] = Counter()
    for one, found in zip(asked, pairs, strict=True):
        sizes[one.family] += len(found)
    columns = [_tested(one, found, thresholds, sizes[one.family]) for one, found in zip(asked, pairs, strict=True)]
    if data.exact:
        columns = [one | _exactly(one["violation_ratio"], guide.relation) for one, guide in zip(columns, asked, strict=True)]
    joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
    which = np.repeat(np.arange(len(asked)), [len(found) for found in pairs])
    joined["decides"] = np.concatenate([~found.crowded(data) for found in pairs])
    joined["q_value"] = _adjusted(joined, [asked[i].family for i in which.tolist()], thresholds)
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
    )


def _tested(guideline: Guideline, pairs: Pairs, thresholds: Thresholds, n_tests: int) -> dict[str, Any]:
    """Return the columns of one guideline's tests, of `n_tests` in its family, before their p-values are adjusted."""
    left, right = pairs.left, pairs.right
    from scipy.special import comb

    sided = 2 if guideline.relation == "~" else 1
    n_left, n_right = (np.count_nonzero(~np.isnan(side), axis=1) for side in (left, right))
    shared = np.count_nonzero(~np.isnan(left) & ~np.isnan(right), axis=1)
    of_pairs, of_sums = 2.0**-shared, 1 / comb(n_left + n_right, n_left)
    least = np.minimum(1, sided * of_pairs), np.minimum(1, sided * of_sums)
    is_paired = _paired(n_left, n_right, shared, least, thresholds, n_tests)
    found: dict[str, Any] = {
        "n_left": np.where(is_paired, shared, n_left),
        "n_right": np.where(is_paired, shared, n_right),
        "test": np.where(is_paired, "paired", "rank-sum"),
        "p_value": np.full(len(pairs), np.nan),
        "least_p": np.where(is_paired, *least),
        "violation_ratio": (pd.DataFrame(left).median(axis=1) / pd.DataFrame(right).median(axis=1)).to_numpy(),
    }
    found |= {key: np.full(len(pairs), np.nan) for key in ("ratio", "ratio_low", "ratio_high")}
    alternative: Literal["two-sided", "greater"] = "two-sided" if sided == 2 else "greater"
    for paired in (False, True):
        rows = np.flatnonzero(is_paired == paired)
        if not len(rows):
            continue
        found["p_value"][rows] = (signed_rank if paired else rank_sum)(np.log(left[rows]), np.log(right[rows]), alternative)
        shift = hodges_lehmann_ratio(left[rows], right[rows], CONFIDENCE, paired=paired)
        for key, part in (("ratio", shift.estimate), ("ratio_low", shift.low), ("ratio_high", shift.high)):
            found[key][rows] = part
    found["can_decide"] = (found["least_p"] <= thresholds.p) & ~np.isnan(found["p_value"])
    found["runs_needed"] = np.full(len(pairs), runs_needed(thresholds.p, lambda n: sided * least_rank_sum_p(n, n)))
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


def _paired(
    n_left: Integers, n_right: Integers, shared: Integers, least: tuple[Floats, Floats], thresholds: Thresholds, n_tests: int
) -> Any:
    """Return which tests are of pairs; `least` are the smallest p-values of pairs and of rank sums.

    A family of many tests asks for smaller p-values than so few pairs may have: 2^-n, where the rank sum of n and n runs
    comes down to about 4^-n. The choice depends on numbers of runs and tests alone, not on what was measured.
    """
    if thresholds.strictness == "paper":
        return np.zeros(len(shared), dtype=bool)
    of_pairs, of_sums = least
    alone = thresholds.p / max(n_tests, 1)  # what the p-value of a single violation must reach
    enough = (of_pairs <= thresholds.p) & (2 * shared >= np.minimum(n_left, n_right))
    return enough & ((of_pairs <= alone) | (of_sums > alone))


def _adjusted(columns: dict[str, Any], families: list[str], thresholds: Thresholds) -> Floats:
    """Return adjusted p-values: a test that no values could make significant is not counted."""
    p = pd.Series(np.where(columns["can_decide"], columns["p_value"], np.nan), dtype=np.float64)
    adjusted = p if thresholds.strictness == "paper" else p.groupby(families, sort=False).transform(adjusted_p)
    return np.asarray(adjusted, dtype=np.float64)


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
