"""Times a call robustly: calibrated loops, no garbage collection, samples until the first quartile is known well enough."""

import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle, islice
from typing import Any, Literal

Clock = Callable[[], int]
Loop = Callable[[int], int]
Status = Literal["converged", "capped", "budget"]

_LEVEL = 0.95
_MOST_LOOPS = 1_000_000
_STEPS = 100
_HOPELESS = 10
_MOST_INPUTS = 32
_PREPARING_S = 5e-3


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    `budget_s`: time for all settings together; each gets one sample at least.
    `min_sample_s`: a sample repeats the call until it lasts this long, or 100 steps of the clock if that is longer;
    fewer times where preparing the arguments anew would take most of the budget.
    `tolerance`: a setting is done when the 95 % interval of the first quartile of its samples is narrower than this
    share of it.
    `max_samples`, `min_samples`: most and fewest samples of a setting.
    `min_points`: when the budget does not last, so many of the first settings are measured all the same.
    """

    budget_s: float = 2.0
    min_sample_s: float = 1e-3
    tolerance: float = 0.05
    max_samples: int = 100
    min_points: int = 5
    min_samples: int = 5


@dataclass(frozen=True)
class Samples:
    """What was measured at one setting: the duration of a call in each sample, in order of execution, in ns."""

    call_ns: tuple[float, ...]
    first_ns: int
    loops: int
    status: Status


@dataclass(frozen=True)
class _Ready:
    """A setting that is warm.

    `loops`: calls in a sample.
    `first_ns`: duration of the very first call.
    `call_ns`: duration of a call when warm.
    `cost_ns`: what a sample costs, preparations included.
    """

    loop: Loop
    loops: int
    first_ns: int
    call_ns: float
    cost_ns: int

    def sample(self) -> float:
        return self.loop(self.loops) / self.loops


class TooSlowError(Exception):
    """The next setting would last far beyond the budget; `forecast_s` says how long one call is thought to take."""

    def __init__(self, index: int, forecast_s: float) -> None:
        super().__init__(index, forecast_s)
        self.index, self.forecast_s = index, forecast_s


def timed_loop(func: Callable[..., object], arguments: Callable[[], tuple[Any, ...]], fresh: bool, clock: Clock) -> Loop:
    """Return a function that calls `func` k times and returns the nanoseconds that this took.

    `arguments`: makes the positional arguments before the clock starts: for each call if `fresh`, otherwise for up to 32
    calls, which take turns.
    `clock`: nanoseconds from any origin.
    """

    def with_fresh(k: int) -> int:
        prepared = [arguments() for _ in range(k)]
        func(*arguments())  # preparing has emptied the caches
        start = clock()
        for args in prepared:
            func(*args)
        return clock() - start

    if fresh:
        return with_fresh
    inputs = _Inputs(arguments)

    def with_prepared(k: int) -> int:
        turns = islice(cycle(inputs.prepared(k)), k)
        start = clock()
        for args in turns:
            func(*args)
        return clock() - start

    return with_prepared


class _Inputs:
    """Arguments that take turns: up to 32, no more than a sample has calls, prepared in about 5 ms.

    With one input, a processor learns the branches of a short call: sorting 512 numbers is 2.5
    times as fast, which looks like growth at larger sizes.
    """

    def __init__(self, arguments: Callable[[], tuple[Any, ...]]) -> None:
        self._arguments = arguments
        self._made: list[tuple[Any, ...]] = []
        self._spent_s = 0.0
        self.prepared(1)

    def prepared(self, calls: int) -> list[tuple[Any, ...]]:
        """Return arguments for a sample of so many calls."""
        wanted = min(calls, _MOST_INPUTS)
        while not self._made or (len(self._made) < wanted and self._spent_s < _PREPARING_S):
            start = time.perf_counter()
            self._made.append(self._arguments())
            self._spent_s += time.perf_counter() - start
        return self._made


def resolution_ns(clock: Clock) -> int:
    """Return the smallest step of a clock seen in 100 pairs of readings, 1 if it never moved."""
    steps = []
    for _ in range(100):
        before = clock()
        steps.append(clock() - before)
    return min((step for step in steps if step > 0), default=1)


@lru_cache(maxsize=1024)
def _ranks(n: int) -> tuple[int, int] | None:
    """Return the ranks (from 0) of the narrowest pair of order statistics that holds the first quartile at 95 %."""
    mass = [math.comb(n, k) * 0.25**k * 0.75 ** (n - k) for k in range(n + 1)]
    pairs = []
    for low in range(1, n + 1):
        inside, high = 0.0, low
        while high <= n and inside < _LEVEL:
            inside += mass[high]
            high += 1
        if inside >= _LEVEL and high <= n:
            pairs.append((high - low, low - 1, high - 1))
    return min(pairs)[1:] if pairs else None


def quartile_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return a 95 % interval of the first quartile, whatever the distribution; None for fewer than 11 values.

    `values`: independent samples.

    Source: Hoefler and Belli 2015, section 3.1.3 (docs/references.md): the quantile q of n samples lies between the
    order statistics l and u with the probability that l <= B < u, where B is binomial (n, q).
    """
    ranks = _ranks(len(values)) if values else None
    if ranks is None:
        return None
    ordered = sorted(values)
    return ordered[ranks[0]], ordered[ranks[1]]


def sample_all(
    loops: Iterator[Loop],
    sizes: Sequence[float],
    effort: Effort,
    seed: int = 0,
    clock: Clock = time.perf_counter_ns,
    watch: Clock | None = None,
) -> list[Samples]:
    """Return the samples of every setting, interleaved in random order; fewer settings if the budget does not last.

    `loops`: as `timed_loop` returns them, one for each setting, made when its turn comes, so that nothing is prepared
    in vain.
    `sizes`: values of the parameter, ascending.
    `seed`: of the order.
    `clock`: nanoseconds from any origin.
    `watch`: the same, of the budget; by default `clock`.
    Raises TooSlowError if fewer than ``effort.min_points`` settings can be measured in ten times the budget.
    """
    watch = watch or clock
    start = watch()
    with _quiet_collector() as collect:
        ready = _calibrated(loops, sizes, effort, start, clock, watch)
        collect()
        drawn = _drawn(ready, effort, start + round(effort.budget_s * 1e9), random.Random(seed), watch, collect)
    return [
        Samples(tuple(values), one.first_ns, one.loops, status_of(values, effort))
        for one, values in zip(ready, drawn, strict=True)
    ]


def _calibrated(
    loops: Iterator[Loop], sizes: Sequence[float], effort: Effort, start: int, clock: Clock, watch: Clock
) -> list[_Ready]:
    """Return the settings that the budget allows; each is warm after this."""
    budget = effort.budget_s * 1e9
    target = max(round(effort.min_sample_s * 1e9), _STEPS * resolution_ns(clock))
    ready: list[_Ready] = []
    for index in range(len(sizes)):
        forecast = _forecast([one.call_ns for one in ready], sizes)
        if len(ready) >= effort.min_points and max(forecast, watch() - start) > budget / 4:
            break
        if forecast > _HOPELESS * budget:
            raise TooSlowError(index, forecast * 1e-9)
        ready.append(_warm(next(loops), target, budget / (8 * len(sizes)), watch))
    return ready


def _forecast(calls: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the duration of a call at the next size, by the power law through the last one and one before; 0 if there is none.

    The one before is of half the size at most, if there is one: between near sizes a disturbed call looks like growth.
    """
    n = len(calls)
    k = max((k for k in range(n - 1) if 2 * sizes[k] <= sizes[n - 1]), default=n - 2)
    if n < 2 or calls[k] <= 0 or calls[-1] <= calls[k]:
        return 0.0
    exponent = math.log(calls[-1] / calls[k]) / math.log(sizes[n - 1] / sizes[k])
    return calls[-1] * math.exp(min(exponent * math.log(sizes[n] / sizes[n - 1]), 500.0))


def _warm(loop: Loop, target: int, most: float, watch: Clock) -> _Ready:
    """Return the setting with as many calls in a sample as last `target` ns, or cost `most` ns with their preparation.

    `watch`: of what they cost: a call that waits takes little of a processor's time.
    """
    before = watch()
    first = elapsed = loop(1)
    k, cost = 1, watch() - before
    while elapsed < target:
        wanted = max(2 * k, min(math.ceil(1.2 * k * target / max(elapsed, 1)), 100 * k))
        affordable = math.floor(k * most / max(cost, 1))
        if min(wanted, affordable, _MOST_LOOPS) <= k:
            break
        k = min(wanted, affordable, _MOST_LOOPS)
        loop(min(k, _MOST_INPUTS))  # prepares the inputs, which later samples need not do
        before = watch()
        elapsed = loop(k)
        cost = watch() - before
    return _Ready(loop, k, first, elapsed / k, cost)


def _drawn(
    ready: Sequence[_Ready], effort: Effort, deadline: int, order: random.Random, watch: Clock, collect: Callable[[], object]
) -> list[list[float]]:
    """Return the samples of every setting, one at least, drawn in rounds until each is done or the deadline is near."""
    drawn: list[list[float]] = [[] for _ in ready]
    pending = list(range(len(ready)))
    while pending:
        order.shuffle(pending)
        for index in pending:
            if not drawn[index] or watch() + ready[index].cost_ns <= deadline:
                drawn[index].append(ready[index].sample())
        collect()
        pending = [
            index
            for index in pending
            if status_of(drawn[index], effort) == "budget" and watch() + ready[index].cost_ns <= deadline
        ]
    return drawn


def status_of(values: Sequence[float], effort: Effort) -> Status:
    """Return why no more samples are needed; ``"budget"`` says that only the budget ends them."""
    if len(values) >= effort.min_samples and is_known(values, effort):
        return "converged"
    return "capped" if len(values) >= effort.max_samples else "budget"


def is_known(values: Sequence[float], effort: Effort) -> bool:
    """Return whether the samples determine their first quartile well enough."""
    interval = quartile_interval(values)
    return interval is not None and interval[1] - interval[0] <= effort.tolerance * interval[0]


@contextmanager
def _quiet_collector() -> Iterator[Callable[[], object]]:
    """Switch the garbage collector off; yield a function that collects what the calls left behind."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield lambda: gc.collect(0)  # nothing ages while it is off, so all of it is young, and this is quick
    finally:
        if was_on:
            gc.enable()
