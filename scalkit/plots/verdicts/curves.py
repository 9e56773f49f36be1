"""Parts of the figure of a verdict: its range, the curves of other growths, and a sentence."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from scalkit.growth import Growth
from scalkit.judge import RuleResult, Verdict
from scalkit.judge.told.curves import anchor_of, met_at, relative
from scalkit.plots.style import is_log_axis, metric_word, plain, quantity, rounded
from scalkit.support.arrays import Floats, Ints


@dataclass(frozen=True)
class Reach:
    """The range of the parameter that a figure shows, and the part of it that was measured."""

    lowest: float
    highest: float
    shown: float


def reach(x: Floats, beyond: float = 4.0) -> Reach:
    """Return the measured range and how far the figure goes on: `beyond` times further on a log axis, else 30 %."""
    lowest, highest = float(x.min()), float(x.max())
    if is_log_axis(x):
        return Reach(lowest, highest, highest * beyond)
    return Reach(lowest, highest, highest + 0.3 * (highest - lowest or 1.0))


def sample(lowest: float, highest: float, is_log: bool, points: int = 49) -> Floats:
    """Return `points` values from `lowest` to `highest`, equally spaced on the axis that shows them."""
    spaced = np.geomspace if is_log else np.linspace
    return np.asarray(spaced(lowest, highest, points), dtype=float)


def groups_along(points: Floats, column: int) -> list[Ints]:
    """Return the rows of points, of shape (points, parameters), that differ in one column only, in the order of that."""
    _, group = np.unique(np.delete(points, column, axis=1), axis=0, return_inverse=True)
    order = np.lexsort((points[:, column], group.reshape(-1)))
    ends = np.flatnonzero(np.diff(group.reshape(-1)[order])) + 1
    return np.split(order, ends)


def expected_curves(verdict: Verdict, growths: Iterable[Growth], x: Floats) -> dict[Growth, list[float | None]]:
    """Return at `x` what would be drawn if each growth were expected, or were a limit; see `anchored_curves`.

    Curves with a gap are left out.
    """
    met = cache(lambda anchor: met_at(verdict, anchor))  # most growths have the same anchor
    found = {}
    for growth in growths:
        anchor = anchor_of(verdict, verdict.expectation.growth, verdict.expectation.deviation, growth)
        base, above = met(anchor)
        curve = base + relative(growth, x, anchor) * above
        if np.isfinite(curve).all():
            found[growth] = rounded(curve)
    return found


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
    if verdict.match != "none":
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
    words = "; ".join(f"{v.function} {plain(v.divergence)}, {v.answer}" for v in verdicts)
    return f"Divergence from the expectation: {words}."


def rule_sentence(result: RuleResult) -> str:
    """Return what the figure of a rule shows."""
    return f"Ratio of the two sides of the rule {result.rule} at each measured scale: {result.sentence}"
