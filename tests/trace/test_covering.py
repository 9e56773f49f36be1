"""The bound of waits for several targets: exact, and never more intervals in memory than a chunk."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from scalkit.trace.local.arrays import Frame
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.waits.progress_waits import covered_by_targets
from scalkit.trace.waits.requests import Progress

N = 12_000


def covered(starts: list[np.ndarray], length: int, chunk: int) -> tuple[int, int]:
    """Return the ns that one call to the end of all of them is covered, and the most memory that took, in bytes."""
    end = 10 * N + length
    frame = Frame(0, 0, end.bit_length())
    spans = ((frame.key(k, one), frame.key(k, one + length)) for k, one in enumerate(starts))
    progress = Progress(frame, N * len(starts), spans)
    target = np.arange(len(starts), dtype=np.int64)
    nothing = np.zeros(len(starts), dtype=np.int64)
    tracemalloc.start()
    found = covered_by_targets(Ranks(), progress, target, nothing, nothing, np.array([0]), np.array([end], dtype=np.int64), chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return int(found[0]), peak


@pytest.mark.parametrize("chunk", [64, 1 << 20])
def test_intervals_of_a_long_call_are_fetched_in_parts(chunk: int) -> None:
    rng = np.random.default_rng(3)
    starts = [10 * np.arange(N, dtype=np.int64) + rng.integers(0, 4, N) for _ in range(2)]
    length = 3
    busy = np.zeros(10 * N + length, dtype=bool)
    for one in starts:
        for k in range(length):
            busy[one + k] = True
    found, peak = covered(starts, length, chunk)
    assert found == int(busy.sum())
    assert peak < 300_000 if chunk == 64 else peak > 800_000
