"""A clock that moves only when a call says what it costs: what is measured does not depend on the machine."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from scalkit import quick_check
from scalkit.bench.functions import probe


class Clock:
    """Nanoseconds; reading it takes 20."""

    def __init__(self) -> None:
        self.now = 0
        self.random = random.Random(7)

    def __call__(self) -> int:
        self.now += 20
        return self.now

    def costs(self, cost_ns: Callable[[float], float], noise: float = 0.0) -> Callable[[float], None]:
        """Return a function whose call at n takes `cost_ns(n)`, up to the share `noise` longer."""

        def call(n: float) -> None:
            self.now += round(cost_ns(n) * (1 + noise * self.random.random()))

        return call


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Alone:
    """Stands for `ForeignLoad` on a machine that nobody else uses."""

    share = 0.0

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *error: object) -> None: ...


@pytest.fixture
def checked_by(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock that `sk.check` reads instead of every clock of this machine."""

    def seconds() -> float:
        return clock() * 1e-9

    names = ("perf_counter", "process_time", "monotonic")
    own = SimpleNamespace(**dict.fromkeys(names, seconds), perf_counter_ns=clock)
    monkeypatch.setattr(probe, "time", own)
    monkeypatch.setattr(quick_check, "time", own)
    monkeypatch.setattr(quick_check, "_CLOCKS", {"wall": clock, "cpu": clock})
    monkeypatch.setattr(quick_check, "ForeignLoad", Alone)
    return clock
