"""A clock that moves only when a call says what it costs: what is measured does not depend on the machine."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest


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
