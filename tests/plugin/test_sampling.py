"""The interval of a quartile, calibration, rounds, the budget, the garbage collector."""

from __future__ import annotations

import gc
import random
import weakref
from types import SimpleNamespace

import pytest

from scalkit.bench.functions import sampling
from scalkit.bench.functions.sampling import Effort, TooSlowError, quartile_interval, resolution_ns, sample_all, timed_loop

SIZES = [100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0]


def loops(clock, cost_ns, noise=0.0):
    call = clock.costs(cost_ns, noise)
    return (timed_loop(call, lambda n=n: (n,), False, clock) for n in SIZES)


@pytest.mark.parametrize("n", [0, 1, 10])
def test_too_few_values_have_no_interval(n: int) -> None:
    assert quartile_interval([1.0] * n) is None


def test_interval_of_the_first_quartile_covers_it() -> None:
    generator = random.Random(3)
    for n in (11, 20, 100):
        found = [quartile_interval([generator.random() for _ in range(n)]) for _ in range(1000)]
        covered = sum(low <= 0.25 <= high for low, high in found)
        assert covered >= 935, n
    assert quartile_interval(range(11)) == (0, 6)


def test_a_sample_lasts_a_millisecond_or_100_steps_of_the_clock(clock) -> None:
    samples = sample_all(loops(clock, lambda n: 10 * n), SIZES, Effort(), clock=clock)
    for size, one in zip(SIZES, samples, strict=True):
        assert one.loops * 10 * size >= 1e6 > (one.loops / 3) * 10 * size or one.loops == 1
        assert one.call_ns[0] == pytest.approx(10 * size, rel=1e-3)
        assert one.first_ns == pytest.approx(10 * size + 20)
    slow = sample_all(loops(clock, lambda n: 1e5 * n), SIZES, Effort(budget_s=60), clock=clock)
    assert {one.loops for one in slow} == {1}


def test_inputs_take_turns(clock, monkeypatch) -> None:
    monkeypatch.setattr(sampling, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    made, seen = [], []

    def arguments() -> tuple[int]:
        made.append(len(made))
        return (made[-1],)

    loop = timed_loop(seen.append, arguments, False, clock)
    for calls in (1, 3, 50):
        seen.clear()
        loop(calls)
        assert seen == [k % 32 for k in range(calls)]
    assert made == list(range(32))


def test_inputs_are_not_prepared_at_the_cost_of_the_samples(clock) -> None:
    def arguments() -> tuple[int]:
        clock.now += 200_000
        return (0,)

    call = clock.costs(lambda n: 50)
    loops = (timed_loop(call, arguments, False, clock) for _ in SIZES)
    found = sample_all(loops, SIZES, Effort(budget_s=0.2), clock=clock)
    assert all(one.loops * one.call_ns[0] >= 1e6 for one in found)


def test_an_input_that_takes_long_to_prepare_is_the_only_one(clock, monkeypatch) -> None:
    seconds = iter(range(9)).__next__
    monkeypatch.setattr(sampling, "time", SimpleNamespace(perf_counter=seconds))
    seen: list[object] = []
    timed_loop(seen.append, lambda: ("x",), False, clock)(3)
    assert seen == ["x"] * 3


def test_calls_that_wait_do_not_fill_a_sample_by_the_clock_of_the_processor() -> None:
    now = {"processor": 0, "wall": 0}

    def loop(k: int) -> int:
        now["processor"] += 1000 * k
        now["wall"] += 10_000_000 * k
        return 1000 * k

    found = sample_all(iter([loop] * 6), SIZES, Effort(budget_s=2), clock=lambda: now["processor"], watch=lambda: now["wall"])
    assert len(found) == 6
    assert now["wall"] < 3e9


def test_repeats_until_the_quartile_is_known(clock) -> None:
    quiet = sample_all(loops(clock, lambda n: n), SIZES, Effort(), clock=clock)
    assert {(one.status, len(one.call_ns)) for one in quiet} == {("converged", 11)}
    noisy = sample_all(loops(clock, lambda n: n * clock.random.lognormvariate(0, 3)), SIZES, Effort(max_samples=20), clock=clock)
    assert {(one.status, len(one.call_ns)) for one in noisy[1:]} == {("capped", 20)}
    short = sample_all(loops(clock, lambda n: 1e4 * n, 0.5), SIZES, Effort(budget_s=0.3), clock=clock)
    assert {one.status for one in short} == {"budget"}
    assert min(len(one.call_ns) for one in short) >= 1


def test_settings_take_turns(clock) -> None:
    turns: list[int] = []

    def loop(index: int):
        def run(k: int) -> int:
            turns.append(index)
            clock.now += k * 1_000_000
            return k * 1_000_000

        return run

    sample_all((loop(i) for i in range(6)), SIZES, Effort(), seed=1, clock=clock)
    drawn = turns[6:]
    rounds = [drawn[i : i + 6] for i in range(0, len(drawn), 6)]
    assert all(sorted(one) == list(range(6)) for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_the_last_settings_are_left_out_when_the_budget_does_not_last(clock) -> None:
    samples = sample_all(loops(clock, lambda n: 80 * n * n), SIZES, Effort(budget_s=1), clock=clock)
    assert len(samples) == 5
    assert clock.now < 2e9


def test_hopeless_growth_is_given_up(clock) -> None:
    with pytest.raises(TooSlowError) as caught:
        sample_all(loops(clock, lambda n: 2.0 ** (n / 20)), SIZES, Effort(budget_s=1e-3), clock=clock)
    assert caught.value.index == 3
    assert caught.value.forecast_s > 1
    assert clock.now < 1e9


def test_costly_preparation_counts(clock) -> None:
    calls = []

    def prepare() -> tuple[()]:
        calls.append(1)
        clock.now += 1_000_000
        return ()

    many = (timed_loop(lambda: clock.costs(lambda n: n)(40), prepare, True, clock) for _ in SIZES)
    samples = sample_all(many, SIZES, Effort(budget_s=2), clock=clock)
    assert clock.now <= 2.1e9
    assert {one.status for one in samples} == {"budget"}


def test_each_call_gets_arguments_of_its_own(clock) -> None:
    seen = []
    loop = timed_loop(lambda values: seen.append(values.pop()), lambda: ([1],), True, clock)
    loop(5)
    assert seen == [1] * 6  # one call before the clock starts


def test_what_calls_leave_behind_is_collected(clock) -> None:
    class Node: ...

    nodes = weakref.WeakSet()

    def call(_: float) -> None:
        node = Node()
        node.itself = node
        nodes.add(node)
        clock.now += 1_000_000

    sample_all((timed_loop(call, lambda: (1,), False, clock) for _ in SIZES), SIZES, Effort(), clock=clock)
    assert len(nodes) == 0


def test_a_clock_that_stands_still() -> None:
    assert resolution_ns(lambda: 5) == 1
    samples = sample_all((timed_loop(int, lambda: (), False, lambda: 5) for _ in SIZES), SIZES, Effort(), clock=lambda: 5)
    assert {one.call_ns[0] for one in samples} == {0.0}


@pytest.mark.parametrize("was_on", [True, False])
def test_the_garbage_collector_is_off_while_measuring_and_restored(clock, was_on: bool) -> None:
    seen = set()

    def loop(k: int) -> int:
        seen.add(gc.isenabled())
        clock.now += k * 1_000_000
        return k * 1_000_000

    before = gc.isenabled()
    (gc.enable if was_on else gc.disable)()
    try:
        sample_all(iter([loop] * 6), SIZES, Effort(), clock=clock)
        assert seen == {False}
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()
