"""Which sizes a callable is measured at: calls at growing sizes until the next one costs too much."""

import math
import time
from collections.abc import Callable
from typing import Any

from scalkit.bench.functions.callables import name_of
from scalkit.errors import UsageError

FEWEST = 5
_SIZES, _LEAST_SIZE = 12, 4
_LOADED = 3.0
"""The smallest size takes so many times as long as the least cost of a call, where a range is left."""
_NARROW, _WIDE = 16, 64
"""Start-up shortens a range to the first at most, else not at all; below the second, sizes between two doublings count, too."""
_TRIES = 3
_NOTICED_S = 1e-4
"""Calls that take less are no burden, and their times say little about growth."""
_REACH = 512
"""Smallest to largest size: nine doublings tell n from n log n; below them start-up costs and caches of level 1 dominate."""
_MOST = 2**21


class Probe:
    """Calls at growing sizes, until the next one would cost more than is allowed.

    `least`: the size from which on calls take several times as long as the cheapest one.
    `most`: the size that would just fit, by the growth of the last two calls.
    `cpu_s`, `wall_s`: of all calls, without their setup.
    """

    def __init__(
        self, func: Callable[..., object], setup: Callable[[Any], object] | None, whole_s: float, most_s: float, preparing: float
    ) -> None:
        self.wall_s = self.cpu_s = spent = 0.0
        self._calls = self._waits = 0
        size, power, last = _LEAST_SIZE, 1.0, (_LEAST_SIZE, math.inf)
        seen: list[tuple[int, float]] = []
        while True:
            cost, ahead, forecast = math.inf, size, math.inf
            for _ in range(_TRIES):
                prepared, called = self._call(func, setup, size)
                spent, cost = spent + prepared + called, min(called + prepared * preparing, cost)
                if cost > last[1] and cost > _NOTICED_S:
                    power = max(1.0, math.log(cost / last[1]) / math.log(size / last[0]))
                ahead = min(_MOST, 2 * size if cost < _NOTICED_S else math.ceil(1.25 * size))
                forecast = cost * (ahead / size) ** power
                if max(forecast / most_s, (spent + forecast) / whole_s) < 1:
                    break  # else perhaps something disturbed the call
            else:
                break
            seen.append((size, called))
            if size == _MOST:
                break
            last, size = (size, cost), ahead
        floor = min((one for _, one in seen), default=0.0)
        self.least = 1 + max((at for at, one in seen if one < _LOADED * floor), default=0)
        self.most = min(size * max(1.0, most_s / cost) ** (1 / power), ahead)

    @property
    def waiting(self) -> float:
        """The share of calls that gave the processor away by themselves."""
        return self._waits / self._calls

    def _call(self, func: Callable[..., object], setup: Callable[[Any], object] | None, size: int) -> tuple[float, float]:
        """Return what the setup of a call costs, and the call, in s."""
        begin = time.perf_counter()
        made = size if setup is None else setup(size)
        args = made if isinstance(made, tuple) else (made,)
        gone, wall, cpu = _given_away(), time.perf_counter(), time.process_time()
        try:
            func(*args)
        except TypeError as error:
            if setup is not None:
                raise
            raise UsageError(
                f"{name_of(func)}({size}) failed: {error}; if it takes something else than a size, give what makes that from a "
                "size, as in setup=lambda n: list(range(n))."
            ) from error
        called = time.perf_counter() - wall
        self.wall_s += called
        self.cpu_s += time.process_time() - cpu
        self._calls, self._waits = self._calls + 1, self._waits + (_given_away() > gone)
        return wall - begin, called


def _given_away() -> int:
    """Return how often this thread gave the processor away, as it waited; 0 where the system does not tell.

    Others that take it away do not count.
    """
    try:
        import resource
    except ModuleNotFoundError:  # on Windows, and in a browser
        return 0
    return resource.getrusage(getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)).ru_nvcsw


def sizes(least: float, most: float, neighbouring: bool = False) -> list[int]:
    """Return sizes up to the largest that is affordable; neighbouring numbers where these are few, or where that is wanted.

    They double, or are halved and 3/4 of one another in a narrow range: hash tables, transforms and loops over blocks are at
    the same place between two of their steps then.
    """
    if most < 3 * _SIZES or neighbouring:
        top = max(int(most), _LEAST_SIZE + FEWEST)
        return list(range(max(1, top - _SIZES), top + 1))
    power = 2 ** math.floor(math.log2(most))
    top = power if most < 1.5 * power else power * 3 // 2
    least = max(_LEAST_SIZE, top / _REACH, least if least <= top / _NARROW else 0)
    steps = [(2, 2)] if top / least >= _WIDE else [(4, 3), (3, 2)] if top == power else [(3, 2), (4, 3)]
    found = [top]
    while found[-1] >= least:
        above, below = steps[(len(found) - 1) % len(steps)]
        found.append(found[-1] // 2 if above == below else found[-1] * below // above)
    return sorted({one for one in found if one >= least})
