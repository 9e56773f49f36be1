"""What a figure shows, said in one or two sentences: the text for screen readers and captions."""

import math
from collections.abc import Sequence

import numpy as np

from scalkit.plots.style import RANK_WORDS, metric_word, plain, quantity, rank_key
from scalkit.validation import RuleResult, Verdict


def fit_sentence(verdict: Verdict) -> str:
    """Return what the fit figure shows: the range of the values, the model and the expectation."""
    x, y = np.asarray(verdict.series.x, dtype=float), np.asarray(verdict.series.y, dtype=float)
    metric = metric_word(verdict)
    return (
        f"{verdict.function}: {metric} from {quantity(float(y[0]), verdict.unit)} at {verdict.parameter} = {x[0]:g} "
        f"to {quantity(float(y[-1]), verdict.unit)} at {verdict.parameter} = {x[-1]:g}; "
        f"model {plain(verdict.model.growth)}, expected {plain(verdict.expectation.growth)}."
    )


def divergence_sentence(verdict: Verdict) -> str:
    """Return what the divergence figure shows: the divergence, its limits and where it leaves them."""
    return (
        f"{verdict.function}: model over expectation is {plain(verdict.divergence)}; the limits are "
        f"{plain(verdict.expectation.deviation)} and its inverse; {crossing_words(verdict)}."
    )


def crossing_words(verdict: Verdict) -> str:
    """Return where the divergence leaves the limits, seen from the measured range."""
    crossing = float(verdict.crossing)
    if verdict.rank != "none":
        return "it stays inside the limits at every scale" if math.isnan(crossing) else "in the long run it stays inside"
    if math.isinf(crossing):
        return "it leaves the limits only beyond every machine"
    if math.isnan(crossing) or crossing <= 1:
        return f"it is outside the limits for all {verdict.parameter} > 1"
    if crossing < float(np.min(verdict.series.x)):
        return "it is outside the limits over the whole measured range and beyond"
    highest = float(np.max(verdict.series.x))
    place = "inside the measured range" if crossing <= highest else f"{crossing / highest:.3g} times beyond the largest"
    return f"it leaves the limits at {verdict.parameter}* = {crossing:.4g}, {place}"


def ruler_sentence(verdict: Verdict) -> str:
    """Return what the ruler shows: how many growth classes competed, the best, the expected, the limits."""
    lower, upper = verdict.expectation.limits
    return (
        f"{verdict.function}: of {len(verdict.space.ticks)} growth classes from {plain(verdict.space.ticks[0])} to "
        f"{plain(verdict.space.ticks[-1])} the best is {plain(verdict.model.growth)}; expected is "
        f"{plain(verdict.expectation.growth)}, limits {plain(lower)} and {plain(upper)}."
    )


def scaling_sentence(verdicts: Sequence[Verdict]) -> str:
    """Return what the overview of measurements and models shows, function by function."""
    words = "; ".join(f"{v.function} grows as {plain(v.model.growth)}" for v in verdicts)
    return f"Measurements and models of {len(verdicts)} functions: {words}."


def overview_sentence(verdicts: Sequence[Verdict]) -> str:
    """Return what the overview of divergences shows, function by function."""
    words = "; ".join(f"{v.function} {plain(v.divergence)}, {RANK_WORDS[rank_key(v)]}" for v in verdicts)
    return f"Divergence from the expectation: {words}."


def rule_sentence(result: RuleResult) -> str:
    """Return what the figure of a rule shows."""
    return f"Ratio of the two sides of the rule {result.rule} at each measured scale: {result.sentence}"
