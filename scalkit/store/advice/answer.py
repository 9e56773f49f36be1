"""What `advise` returns: winners, crossovers, the portable choice, and all of it as C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scalkit.stats.between_runs import CONFIDENCE
from scalkit.stats.samples import Floats, Integers
from scalkit.store.advice.snippets import Operation
from scalkit.store.views.comparison import TOO_FEW, probability_words
from scalkit.support.clocks import VIRTUAL
from scalkit.support.json_values import json_fields, json_value
from scalkit.support.markup import counted
from scalkit.support.text import as_percent
from scalkit.support.units import format_quantity

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Crossover:
    """From which message size on another candidate is faster, in B, with its interval.

    At its ends, one of the two begins or ends to be surely the faster one. `low` is 0 and `high` infinite where that is at no
    size; both are NaN where so few runs cannot tell.
    """

    size: float
    low: float
    high: float


@dataclass(frozen=True)
class Segment:
    """A range of message sizes in which one candidate wins.

    `first`, `last` in B: the smallest and the largest measured size.
    `probability`: that it is the best, smallest over the sizes; NaN where so few runs cannot differ, as `compare` says.
    `n_runs`: the fewest of it or another candidate at a size.
    `gain`: how many times faster it is than the second best, at most; NaN without a second.
    `crossover`: where it ends; None for the last. `lacking`: candidates that have too few runs to be compared with it, which
    the probability is not about.
    """

    winner: str
    first: int
    last: int
    probability: float
    n_runs: int
    gain: float
    crossover: Crossover | None
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Setting:
    """A platform and a number of processes.

    `sizes` of shape (sizes,), in B.
    `times_s` of shape (candidates, sizes): the median over the runs, NaN where a candidate was not measured. `n_runs` of the
    same shape.
    `probability` of shape (sizes,): that the fastest one is the best.
    `segments`: by size.
    """

    platform: str
    p: int
    sizes: Integers
    candidates: tuple[str, ...]
    times_s: Floats
    probability: Floats
    n_runs: Integers
    segments: tuple[Segment, ...]
    clock: str
    oversubscribed: bool

    @property
    def place(self) -> str:
        """Platform and number of processes in words."""
        return f"{self.platform}, p = {self.p}"


@dataclass(frozen=True)
class Portable:
    """The candidate for all platforms of a kind: whose largest loss against the best is smallest.

    `factor`: how many times slower than the best it is where it loses most.
    `where`: the platform, number of processes and size of that. `factors`: of every candidate that was measured everywhere.
    `left_out`: settings with more processes than cores, which do not count beside others.
    `clock`, {"real", "virtual", "simulated"}: of which settings.
    """

    choice: str
    factor: float
    where: str
    platforms: int
    factors: dict[str, float]
    left_out: int = 0
    clock: str = "real"


@dataclass(frozen=True, eq=False)
class Advice:
    """Which of an operation and its substitutes to call.

    `candidates`: those that were measured. `portable`: of simulated, virtual and measured times, in this order.
    """

    operation: Operation
    candidates: tuple[str, ...]
    settings: tuple[Setting, ...]
    portable: tuple[Portable, ...]
    statistic: str

    @property
    def missing(self) -> tuple[str, ...]:
        """Substitutes that the catalogue knows and the store has no times of."""
        return tuple(one.name for one in self.operation.substitutes if one.name not in self.candidates)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words: a sentence for each setting, and the portable choice."""
        found = [self._setting(setting) for setting in self.settings]
        several = len({setting.clock for setting in self.settings}) > 1
        found += [_portable_sentence(one, several) for one in reversed(self.portable)]
        if len(self.candidates) < 2:
            found.append(f"Only {self.candidates[0]} was measured; there is nothing to choose between.")
        return tuple(found)

    def _setting(self, setting: Setting) -> str:
        where = f"{_marked(setting)}, p = {setting.p}"
        if not (setting.n_runs > 0).sum(axis=0).max(initial=0) > 1:
            there = [name for name, n in zip(setting.candidates, setting.n_runs, strict=True) if n.any()]
            return f"{where}: nothing to choose between, only {' or '.join(there)} was measured."
        parts = []
        for segment in setting.segments:
            sure = f", {_probability(segment)}"
            if segment.lacking and not math.isnan(segment.probability):
                sure += f", {TOO_FEW} of {' and '.join(segment.lacking)}"
            gain = "" if math.isnan(segment.gain) or segment.gain < 1.005 else f", up to {segment.gain:.3g} times faster"
            unsure = ", not sure" if segment.probability < CONFIDENCE else ""
            span = _span(segment.first, segment.last)
            winner = self.operation.named(segment.winner)
            needs = f" (needs {winner.needs})" if winner is not None and winner.needs else ""
            parts.append(f"{segment.winner}{needs} {span}{gain}{sure}{unsure}")
        crossings = [_crossing_words(segment.crossover) for segment in setting.segments if segment.crossover]
        ends = f"; changes {', '.join(crossings)}" if crossings else ""
        return f"{where}: {'; '.join(parts)}{ends}."

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what does not exist is null."""
        settings = [
            {
                **json_fields(setting, "platform p clock oversubscribed"),
                "sizes_B": setting.sizes.tolist(),
                **json_fields(setting, "candidates times_s probability"),
                "runs": setting.n_runs.tolist(),
                "segments": [
                    json_value({k: v for k, v in row.items() if k not in ("platform", "p", "clock")})
                    for row in _segment_rows(setting)
                ],
            }
            for setting in self.settings
        ]
        return {
            "operation": self.operation.name,
            "candidates": list(self.candidates),
            "not_measured": list(self.missing),
            "statistic": self.statistic,
            "confidence": CONFIDENCE,
            "settings": settings,
            "portable": [json_value(vars(one)) for one in self.portable],
            "sentences": list(self.sentences),
        }

    def c_ifdef(self) -> str:
        """Return C with the choice made by the preprocessor: a macro for each platform."""
        from scalkit.store.advice.snippets import ifdef

        return ifdef(self)

    def c_runtime(self) -> str:
        """Return C with the choice made when it runs, by the MPI library that it finds."""
        from scalkit.store.advice.snippets import runtime

        return runtime(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        from scalkit.support.markup import block

        return block(self.markup())

    def markup(self) -> str:
        """Return the portable choice, what to call in each setting, folded, and C to paste, folded."""
        from html import escape

        from scalkit.support.markup import bullets, details

        n = len(self.settings)
        each = details(f"Setting by setting: {n}", bullets(self.sentences[:n]))
        return bullets(self.sentences[n:]) + each + details("C to paste", f"<pre>{escape(self.c_ifdef())}</pre>")


def _marked(setting: Setting) -> str:
    """Return the platform, and whether its times tell about the scheduler."""
    return f"{setting.platform} (more processes than cores)" if setting.oversubscribed else setting.platform


def _span(first: int, last: int) -> str:
    return f"at {_bytes(first)}" if first == last else f"from {_bytes(first)} to {_bytes(last)}"


def _bytes(size: float) -> str:
    return format_quantity(float(round(size)), "B")


def _crossing_words(crossover: Crossover) -> str:
    if math.isnan(crossover.low):
        return f"at {_bytes(crossover.size)}"
    low = "below all" if crossover.low == 0 else _bytes(crossover.low)
    high = "beyond all" if math.isinf(crossover.high) else _bytes(crossover.high)
    return f"at {_bytes(crossover.size)} ({as_percent(CONFIDENCE)}: {low} to {high})"


def _probability(segment: Segment) -> str:
    """Return the probability that a winner is the best, in words."""
    if math.isnan(segment.probability):
        return TOO_FEW
    said = probability_words(segment.probability, segment.n_runs)
    if said.startswith(">"):
        return f"P {said}"
    return f"P = {said}" if segment.first == segment.last else f"P >= {said}"  # the smallest of several


def _portable_sentence(portable: Portable, several: bool) -> str:
    is_one = portable.platforms == 1
    place = "everywhere on this platform" if is_one else f"on all {portable.platforms} platforms"
    of_clock = {"simulated": "For all that is simulated", "virtual": f"For all {VIRTUAL}", "real": "For all that was measured"}
    what = of_clock[portable.clock] if several else "For all of it"
    if portable.left_out:
        what += f" but {counted(portable.left_out, 'setting')} with more processes than cores"
    if portable.factor <= 1.005:
        return f"{what}: {portable.choice} is the best {place}."
    return f"{what}: {portable.choice} {place}, at worst {portable.factor:.3g} times the best ({portable.where})."


def _segment_rows(setting: Setting) -> list[dict[str, Any]]:
    rows = []
    for segment in setting.segments:
        end = segment.crossover or Crossover(math.nan, math.nan, math.nan)
        rows.append(
            {
                "platform": setting.platform,
                "p": setting.p,
                "clock": setting.clock,
                "winner": segment.winner,
                "first_B": segment.first,
                "last_B": segment.last,
                "probability": segment.probability,
                "runs": segment.n_runs,
                "too_few_runs_of": ", ".join(segment.lacking),
                "gain": segment.gain,
                "crossover_B": end.size,
                "crossover_low_B": end.low,
                "crossover_high_B": end.high,
            }
        )
    return rows
