"""`compare`: several curves in one picture, and how many times slower each is than the first, point by point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import UsageError
from scalkit.stats.between_runs import CONFIDENCE, FEW, run_ratios
from scalkit.stats.samples import Floats
from scalkit.store.runs.texts import no_formula
from scalkit.store.views.curves import Curve, choice_of, curves_of
from scalkit.support.arguments import require_kind
from scalkit.support.clocks import TIMES, with_clock
from scalkit.support.json_values import json_fields, json_value

if TYPE_CHECKING:
    from scalkit.store.store import Store


TOO_FEW = "too few runs"
"""What `compare` and `advise` say where no test of so many runs could find a difference."""


TOLERANCE = 0.05
"""Ratios from 1/1.05 to 1.05 are the same for all practical purposes."""


@dataclass(frozen=True)
class Ratio:
    """One curve against its reference at one point.

    `label`, `reference`: of the curve and of its reference.
    `ratio`, `low`, `high`: how many times larger it is than the reference, with its interval; unbounded with too few runs.
    `probability`: that they differ as the ratio says, by the runs; see `scalkit.stats.between_runs`. NaN if so few runs cannot
    reach the confidence.
    `verdict`, {"slower", "faster", "same", "cannot tell"}: for values other than times read larger and smaller. ``same`` needs
    an interval within the tolerance.
    """

    label: str
    x: int
    ratio: float
    low: float
    high: float
    probability: float
    verdict: str
    n_runs: tuple[int, int] = (0, 0)
    reference: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Curves side by side.

    `curves`: those of the first choice are references.
    `references`: for each curve the place of its reference; -1 for a reference, and for a curve that has none.
    `ratios`: of the others, at the points that they share with theirs.
    """

    curves: tuple[Curve, ...]
    ratios: tuple[Ratio, ...]
    statistic: str
    references: tuple[int, ...]
    n_references: int = 1

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the ratios say of each curve, in a sentence each."""
        return tuple(
            self._sentence(curve, place)
            for curve, place in zip(self.curves[self.n_references :], self.references[self.n_references :], strict=True)
        )

    def _sentence(self, curve: Curve, place: int) -> str:
        if place < 0:
            first = self.curves[0]
            what = f"was not measured with {curve.fixed}" if curve.fixed else "is several curves, choose one of them"
            return f"{curve.label} has nothing to be compared with: {first.op} {what}."
        own = [ratio for ratio in self.ratios if ratio.label == curve.label]
        reference = self.curves[place]
        if not own:
            return f"{curve.label} and {reference.label} share no {curve.x_name}; they cannot be compared."
        counts = {word: sum(ratio.verdict == word for ratio in own) for word in ("slower", "faster", "same", "cannot tell")}
        said = ", ".join(f"{word} at {n}" for word, n in counts.items() if n)
        ratios = [ratio.ratio for ratio in own]
        few = sum(math.isnan(ratio.probability) for ratio in own)
        marks = f"; {TOO_FEW}{'' if few == len(own) else f' at {few}'}" if few else ""
        fewest = min((n for ratio in own if not math.isnan(ratio.probability) for n in ratio.n_runs), default=FEW)
        marks += f"; only {fewest} runs" if fewest < FEW else ""
        if curve.clock != reference.clock:
            marks += f"; {curve.clock} against {reference.clock} times"
        elif curve.clock != "real":
            marks += f"; {TIMES[curve.clock]}"
        marks += "; more processes than cores" if curve.oversubscribed or reference.oversubscribed else ""
        pooled = max(curve.n_platforms, reference.n_platforms)
        together = f"; runs of {pooled} platforms taken together, platform=... chooses one" if pooled > 1 else ""
        return (
            f"{curve.label} takes {_ranged(min(ratios), max(ratios))} times as much as {reference.label}: of "
            f"{len(own)} value{'' if len(own) == 1 else 's'} of {curve.x_name} {said}{marks}{together}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what does not exist is null."""
        return {
            "statistic": self.statistic,
            "confidence": CONFIDENCE,
            "tolerance": TOLERANCE,
            "curves": [
                {
                    **json_fields(curve, "label op platform metric unit fixed clock oversubscribed x_name"),
                    "runs": list(curve.run_ids),
                    **json_fields(curve, "x y"),
                    "reference": self.curves[place].label if place >= 0 else None,
                }
                for curve, place in zip(self.curves, self.references, strict=True)
            ],
            "ratios": [json_value(vars(ratio)) for ratio in self.ratios],
            "sentences": list(self.sentences),
        }

    def to_csv(self) -> str:
        """Return the curves as CSV: a row for each point of each, with no cell that a spreadsheet takes for a formula."""
        import pandas as pd

        tables = []
        for curve in self.curves:
            named = {name: no_formula(getattr(curve, name)) for name in ("label", "op", "platform", "metric", "unit")}
            least, most = curve.spread
            values = {"x": curve.x, "median": curve.y, "min": least, "max": most, "runs": np.isfinite(curve.values).sum(axis=1)}
            tables.append(pd.DataFrame({**named, "clock": curve.clock, "x_name": curve.x_name, **values}))
        text: str = pd.concat(tables).to_csv(index=False, lineterminator="\n")
        return text

    def _points(self) -> list[str]:
        return [f"{one.label} at {one.x}: {one.ratio:.3g} ({_interval(one)}){_sure(one)}, {one.verdict}" for one in self.ratios]

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *(f"  {point}" for point in self._points())])

    def _repr_html_(self) -> str:
        from scalkit.support.markup import block, bullets, details

        return block(bullets(self.sentences), details("Point by point", bullets(self._points())))


def _ranged(low: float, high: float) -> str:
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"


def _interval(ratio: Ratio) -> str:
    """Return the interval in words; of few runs it is unbounded."""
    return f"{ratio.low:.3g} to {ratio.high:.3g}" if math.isfinite(ratio.high) else f"{TOO_FEW} for an interval"


def _sure(ratio: Ratio) -> str:
    if math.isnan(ratio.probability):
        return ""
    words = probability_words(ratio.probability, min(ratio.n_runs))
    return f", P {words}" if words.startswith(">") else f", P = {words}"


def probability_words(probability: float, n_runs: int) -> str:
    """Return a probability in words, with the number of runs where they are few; runs never make it 1."""
    words = "> 0.99" if probability > 0.99 else f"{math.floor(100 * probability) / 100:.2f}"
    return f"{words} ({n_runs} runs)" if n_runs < FEW else words


def compare(
    store: Store, choices: Sequence[str | Mapping[str, Any]], *, where: Mapping[str, Any] | None = None, statistic: str = "med"
) -> Comparison:
    """Return curves and their ratios to the first; different operations on different machines may be compared.

    Where the first choice leaves open the number of processes, or the size, it is a curve for each, and a curve of another
    choice is compared with the one that has as many processes, or the same size.

    `choices`: each becomes a curve: ``"MPI_Gather"``, ``"op=MPI_Gather,platform=daint*"``, ``{"op": "MPI_Gather", "p":
    32}``. ``"op=MPI_Gather,run=3f2a"`` is one run, by the beginning of its id.
    `where`: filters of all choices; what a choice says itself goes first.
    `statistic`: what stands for the repetitions of a measurement; the runs are the sample.
    Raises DataError if a choice is empty, or they are of different metrics or over different parameters.
    Raises UsageError if there is no choice.
    """
    if isinstance(choices, str | Mapping) or not isinstance(choices, Iterable) or not choices:
        raise UsageError("compare needs a list of choices, such as ['MPI_Gather', 'Gather_send_recv'].")
    require_kind(where, Mapping | None, "where", "give a mapping such as {'p': 32}")
    by_choice = [curves_of(store, {**(where or {}), **choice_of(choice)}, statistic) for choice in choices]
    curves = _labelled([curve for own in by_choice for curve in own])
    first = curves[0]
    for curve in curves[1:]:
        for name in ("metric", "x_name"):
            mine, theirs = getattr(curve, name), getattr(first, name)
            if mine != theirs:
                raise UsageError(
                    f"{curve.label} has the {name} {mine}, {first.label} {theirs}; choose curves that have the same."
                )
    n_references = len(by_choice[0])
    places = {curve.fixed: place for place, curve in enumerate(curves[:n_references])}
    references = [-1] * n_references
    references += [0 if n_references == 1 else places.get(curve.fixed, -1) for curve in curves[n_references:]]
    found: list[Ratio] = []
    for curve, place in zip(curves, references, strict=True):
        if place >= 0:
            found += _ratios(curves[place], curve)
    judged = tuple(replace(ratio, verdict=_verdict(ratio)) for ratio in found)
    return Comparison(tuple(curves), judged, statistic, tuple(references), n_references)


def _labelled(curves: list[Curve]) -> list[Curve]:
    """Return the curves with labels that say what differs between them, and no two alike."""
    same_platform = len({curve.platform for curve in curves}) == 1
    same_fixed = len({curve.fixed for curve in curves}) == 1
    same_clock = len({curve.clock for curve in curves}) == 1
    same_kind = [len(set(values)) == 1 for values in zip(*(curve.kind for curve in curves), strict=True)]
    seen: dict[str, int] = {}
    labelled = []
    for curve in curves:
        label = curve.op if same_platform else curve.label
        label += f", {curve.fixed}" if curve.fixed and not same_fixed else ""
        label += "".join(f", {said}" for said, is_same in zip(curve.kind, same_kind, strict=True) if said and not is_same)
        label = label if same_clock else with_clock(label, curve.clock)
        label += f", {curve.runs}" if curve.runs else ""
        seen[label] = number = seen.get(label, 0) + 1
        labelled.append(replace(curve, label=label if number == 1 else f"{label} ({number})"))
    return labelled


def _ratios(first: Curve, curve: Curve) -> list[Ratio]:
    shared, at, of = np.intersect1d(first.x, curve.x, return_indices=True)
    if not len(shared):
        return []
    reference, values = first.values[at], curve.values[of]
    positive = (np.nan_to_num(reference, nan=1.0) > 0).all() and (np.nan_to_num(values, nan=1.0) > 0).all()
    if not positive:
        raise UsageError(f"{curve.label} or {first.label} has values that are not positive, which have no ratio.")
    ids = sorted({*first.run_ids, *curve.run_ids})
    found = run_ratios(_by_run(values, curve.run_ids, ids), _by_run(reference, first.run_ids, ids))
    counts = list(zip(found.n_left.tolist(), found.n_right.tolist(), strict=True))
    columns = (shared, found.ratio, found.low, found.high, found.probability, counts)
    return [
        Ratio(curve.label, int(x), float(ratio), float(low), float(high), float(probability), "cannot tell", n, first.label)
        for x, ratio, low, high, probability, n in zip(*columns, strict=True)
    ]


def _by_run(values: Floats, run_ids: Sequence[str], ids: Sequence[str]) -> Floats:
    """Return values of shape (points, runs) with a column for each of `ids`; NaN for those that have none."""
    found = np.full((len(values), len(ids)), np.nan)
    found[:, [ids.index(run_id) for run_id in run_ids]] = values
    return found


def _verdict(ratio: Ratio) -> str:
    if ratio.low >= 1 / (1 + TOLERANCE) and ratio.high <= 1 + TOLERANCE:
        return "same"
    if ratio.probability >= CONFIDENCE:
        return "slower" if ratio.ratio > 1 else "faster"
    return "cannot tell"
