"""The bound of waits for several targets is exact."""

from __future__ import annotations

import numpy as np
import pytest

from scalkit.trace.local.arrays import Frame
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.waits.progress_waits import covered_by_targets
from scalkit.trace.waits.requests import Progress

N = 12_000


@pytest.mark.parametrize("chunk", [64, 1 << 20])
def test_intervals_of_a_long_call_are_fetched_in_rounds(chunk: int) -> None:
    rng = np.random.default_rng(3)
    starts = [10 * np.arange(N, dtype=np.int64) + rng.integers(0, 4, N) for _ in range(2)]
    length = 3
    end = 10 * N + length
    busy = np.zeros(end, dtype=bool)
    for one in starts:
        for k in range(length):
            busy[one + k] = True
    frame = Frame(0, 0, end.bit_length())
    progress = Progress(frame, N * len(starts), ((frame.key(k, one), frame.key(k, one + length)) for k, one in enumerate(starts)))
    target, nothing = np.arange(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.int64)
    times = np.array([0]), np.array([end], dtype=np.int64)
    assert covered_by_targets(Ranks(), progress, target, nothing, nothing, *times, chunk).tolist() == [int(busy.sum())]
