"""The launches of a campaign in their random order, and how its time is shared among them."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scalkit.bench.arguments import Arguments

MEMORY_RUNS = 3
"""Memory of objects repeats exactly; three launches show that it does."""

UNLIMITED_S = 600.0
"""Budget of one launch where the campaign has none."""

_T = TypeVar("_T")
STEMS = {"collectives": "time", "functions": "function"} | {
    kind: kind for kind in ("memory", "messages", "bisection", "hops", "neighbourhood", "master-worker", "program")
}


@dataclass(frozen=True)
class Launch:
    """One start of one program.

    Attributes
    ----------
    kind : str
    p : int
        Processes.
    run : int
    """

    kind: str
    p: int
    run: int

    @property
    def name(self) -> str:
        """Name of its run file without suffix."""
        return f"{STEMS[self.kind]}-p{self.p:04d}-r{self.run:02d}"

    @property
    def weight(self) -> float:
        """Time that it needs, relative to others."""
        return 4.0 + self.p

    @property
    def start_s(self) -> float:
        """Time in s that starting and ending this many processes takes, about."""
        return 0.2 + 0.05 * self.p

    @property
    def least_s(self) -> float:
        """Budget in s below which it is not worth starting; memory needs all of its objects."""
        return 5.0 + self.p / 2 if self.kind == "memory" else 1.0


class Pace:
    """How long launches take for their weight, each kind by itself: memory may need ten times as long as virtual times."""

    def __init__(self) -> None:
        self._spent_s: defaultdict[str, float] = defaultdict(float)
        self._weight: defaultdict[str, float] = defaultdict(float)

    def learn(self, launch: Launch, seconds: float) -> None:
        """Take in what a launch took."""
        self._spent_s[launch.kind] += seconds
        self._weight[launch.kind] += launch.weight

    def left_s(self, waiting: Iterable[Launch]) -> float | None:
        """Return what launches will take, in s, a kind without a launch so far as the fastest one; None before the first."""
        if not self._weight:
            return None
        rates = {kind: self._spent_s[kind] / weight for kind, weight in self._weight.items()}
        return sum(rates.get(launch.kind, min(rates.values())) * launch.weight for launch in waiting)


def make_plan(arguments: Arguments) -> tuple[Launch, ...]:
    """Return all launches: run after run, within each in an order drawn from the seed."""

    def launches(run: int) -> list[Launch]:
        kinds = [kind for kind in arguments.kinds if kind != "memory" or run < MEMORY_RUNS]
        return [Launch(kind, p, run) for kind in kinds for p in arguments.counts_of(kind)]

    return tuple(drawn_orders(arguments.seed, map(launches, range(arguments.runs))))


def drawn_orders(seed: int, runs: Iterable[Iterable[_T]]) -> Iterator[_T]:
    """Yield what each run consists of, run after run, within each in an order drawn from the seed."""
    generator = random.Random(seed)
    for run in runs:
        launches = list(run)
        generator.shuffle(launches)
        yield from launches


def share(launch: Launch, waiting: Sequence[Launch], left_s: float | None) -> float:
    """Return the budget in s of the next launch.

    `waiting`: all that are still to do, `launch` among them.
    `left_s` in s: what is left for all of them; None without a limit.
    """
    if left_s is None:
        return UNLIMITED_S
    part = left_s * launch.weight / sum(other.weight for other in waiting)
    return max(launch.least_s, part - launch.start_s)


def least_time(plan: Sequence[Launch]) -> float:
    """Return the time in s below which a budget for these launches cannot be kept."""
    return sum(launch.start_s + launch.least_s for launch in plan)
