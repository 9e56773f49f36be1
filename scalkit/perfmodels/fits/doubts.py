"""Why the numbers of a model card may be wrong: other programs, scatter, contradictions, lines that do not fit."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scalkit.perfmodels.files.card import ModelCard, Quantity, place_of
from scalkit.perfmodels.fits.messages import STATISTICS
from scalkit.perfmodels.fits.runs import MessageRuns
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.support.arrays import Floats
from scalkit.support.text import as_percent

FOREIGN = 0.05
"""Share of the machine that others may use: on two cores one busy program is 0.5, and an idle system 0.01."""

_SCATTER = 0.25
"""Half of the repetitions within this share of their median is usual; idle machines stay below 0.05."""

_CONTRADICTION = 0.15
"""By which two measurements of one number may differ: medians of round trips are good to about 5 % each."""

_HALF = "half_round_trip"
_MISFIT = 0.2
"""Further than this from its line a time is predicted by luck."""


def with_doubts(card: ModelCard, runs: MessageRuns, again: Callable[[str], ModelCard]) -> ModelCard:
    """Return the card with its largest residuals and its doubts; in doubt its intervals reach over all that could be meant.

    `again`: the card of the same runs by another statistic of the repetitions.
    """
    misfits = misfits_of(card.fits)
    doubts = doubts_of(runs, card.fits, misfits)
    quantities = card.quantities
    if doubts:
        others = [one for name in STATISTICS if name != card.about["statistic"] for one in again(name).quantities]
        halves = [replace(one, name="latency", low=one.value, high=one.value) for one in quantities if one.name == _HALF]
        quantities = widened(quantities, [*others, *halves])
    return replace(card, quantities=quantities, doubts=doubts, misfits=misfits)


def misfits_of(fits: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return for each fit its largest residual, and the size in B, or the count, where it is."""
    found: dict[str, tuple[float, float]] = {}
    for name, x, share in _residuals(fits):
        if len(share) and (name not in found or abs(found[name][0]) < np.abs(share).max()):
            worst = int(np.argmax(np.abs(share)))
            found[name] = (float(share[worst]), float(x[worst]))
    return found


def _residuals(fits: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[float] | Floats, Any]]:
    for name, fit in fits.items():
        if name in ("latency", "exchange"):
            yield name, fit.sizes, fit.residuals
        elif name == "loggp":
            for line, (sizes, shares) in fit.residuals.items():
                yield f"loggp {line}", sizes, shares
        elif name == "matching":
            yield name, fit.counts, fit.residuals
        elif name == "reduce":
            for element, one in fit.items():
                yield f"reduce {element} B", one.counts, one.residuals
        elif name == "packing":
            for stride, one in fit.items():
                yield f"packing every {stride}", one.sizes, one.residuals


def doubts_of(runs: MessageRuns, fits: Mapping[str, Any], misfits: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Return sentences that say why a card is not to be trusted; none for times that repeat exactly."""
    if runs.is_exact:
        return ()
    found = []
    if runs.foreign_load > FOREIGN:
        found.append(f"Other programs used {as_percent(runs.foreign_load)} of the machine meanwhile.")
    if (scatter := _scatter(runs)) > _SCATTER:
        found.append(f"Half of the repetitions of a message scatter over {as_percent(scatter)} of their median.")
    found += _contradictions(fits)
    for name, (share, at) in misfits.items():
        if abs(share) > _MISFIT and not name.startswith("loggp"):
            found.append(f"The fit of {name} is {as_percent(abs(share))} off at {place_of(name, at)}: it is not one line.")
    return tuple(found)


def _scatter(runs: MessageRuns) -> float:
    if "Round_trip" not in runs.ops:
        return 0.0
    low, middle, high = np.nanquantile(runs.table("Round_trip")[1], [0.25, 0.5, 0.75], axis=1)
    return float(np.median((high - low) / middle))


def _contradictions(fits: Mapping[str, Any]) -> Iterator[str]:
    if not {"latency", "loggp"} <= set(fits):
        return
    latency, half = float(fits["latency"].protocols[0].fit.constant), float(fits["loggp"].half_round_trip)
    gap = float(fits["loggp"].parameters.g)
    if abs(math.log(max(latency, 1e-12) / half)) > _CONTRADICTION:
        shown = " and ".join(format_value(one, "s") for one in (latency, half))
        yield f"The latency of the fit and half the smallest round trip are {shown}."
    if gap > 2 * (1 + _CONTRADICTION) * half:
        shown = f"{format_value(gap, 's')} apart, and a round trip takes {format_value(2 * half, 's')}"
        yield f"Messages follow each other {shown}."


def widened(quantities: Sequence[Quantity], others: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """Return quantities whose intervals reach over those of others of the same name."""
    found = []
    for one in quantities:
        alike = [same for same in others if same.name == one.name and math.isfinite(same.low)]
        if math.isfinite(one.low) and alike:
            low, high = min(same.low for same in (one, *alike)), max(same.high for same in (one, *alike))
            found.append(replace(one, low=low, high=high))
        else:
            found.append(one)
    return tuple(found)
