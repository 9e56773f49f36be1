"""The timeline of a trace: every window shows what a search nanosecond by nanosecond finds."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from random_traces import Call, build, random_calls

from scalkit.errors import DataError, UsageError
from scalkit.trace import TraceBuilder, analyse
from scalkit.trace.local.part import load
from scalkit.trace.results.summary import WAITS
from scalkit.trace.views import timeline_index
from scalkit.trace.views.timeline import Timeline
from scalkit.trace.waits.each_wait import each_wait

SEEDS = (1, 2, 5)


def doing(calls: list[Call], time: int) -> str | None:
    """Return what is innermost in a nanosecond; None before the first and after the last record."""
    if not min(one.enter for one in calls) <= time < max(one.leave for one in calls):
        return None
    inside = [one.name for one in calls if one.enter <= time < one.leave]
    return inside[-1] if inside else "program"


def expected(timeline: Timeline, calls: list[Call], begin: int, first: int, bits: int, n: int) -> list[Counter[int]]:
    """Return the nanoseconds of each class in each column."""
    class_of = {region: timeline.class_of_path[k] for k, region in enumerate(timeline.regions)}
    columns = []
    for column in range(first, first + n):
        times = range(begin + (column << bits), begin + ((column + 1) << bits))
        columns.append(Counter(class_of[name] for t in times if (name := doing(calls, t)) is not None))
    return columns


@pytest.mark.parametrize("seed", SEEDS)
def test_raster_is_what_a_search_finds(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = random_calls(seed, locations=4, steps=40)
    build(calls).write(tmp_path)
    monkeypatch.setattr(timeline_index, "_FEWEST_BINS", 32)
    monkeypatch.setattr(timeline_index, "_CELLS", 4 * 128)
    timeline = Timeline(tmp_path)
    monkeypatch.setattr(timeline_index, "_FEW_STEPS", 0)
    prepared = Timeline(tmp_path)
    assert len(prepared._levels.rasters) > 1
    begin = min(one.enter for mine in calls for one in mine)
    bars = timeline.bars(0, timeline.span)
    assert bars is not None
    waiting = np.zeros((len(calls), timeline.span), dtype=int)
    for row, low, high in zip(bars.wait_row, bars.wait_begin, bars.wait_end, strict=True):
        waiting[row, low:high] = 1
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(25):
        low = int(rng.integers(0, timeline.span - 1))
        high = low + int(rng.integers(1, timeline.span))
        order = rng.permutation(len(calls)).tolist()
        raster, again = timeline.raster(low, high, 16), prepared.raster(low, high, 16, order)
        assert (raster.bits, raster.first) == (again.bits, again.first)
        np.testing.assert_array_equal(raster.kind[order], again.kind)
        np.testing.assert_array_equal(raster.wait[order], again.wait)
        seen.add(raster.bits >= prepared._levels.bits)
        assert 8 <= raster.kind.shape[1] <= 17 or raster.bits == 0
        assert raster.first << raster.bits <= low < high <= (raster.first + raster.kind.shape[1]) << raster.bits
        for row, mine in enumerate(calls):
            counts = expected(timeline, mine, begin, raster.first, raster.bits, raster.kind.shape[1])
            for column, amount in enumerate(counts):
                kind = int(raster.kind[row, column])
                assert amount[kind] == max(amount.values(), default=0), (row, column, amount, kind)
                low, high = ((raster.first + one) << raster.bits for one in (column, column + 1))
                assert raster.wait[row, column] == math.ceil(255 * waiting[row, low:high].sum() / (high - low))
    assert seen == {True, False}, "windows from prepared rasters and from records"


@pytest.mark.parametrize("seed", SEEDS)
def test_waits_of_calls_are_those_of_the_analysis(seed: int, tmp_path: Path) -> None:
    build(random_calls(seed, locations=4, steps=60)).write(tmp_path)
    trace = load(tmp_path)
    found, ds = each_wait(trace), analyse(tmp_path)
    shape = (len(ds["path"]), len(ds["location"]))
    sums, severity = np.zeros(shape, dtype=np.int64), ds["severity"].sel(metric=list(WAITS)).values
    np.add.at(sums, (trace.calls["path"], trace.calls["location"]), found.wait)
    is_one = (severity > 0).sum(axis=0) == 1
    assert is_one.sum() > 10
    assert (sums[is_one] == severity.sum(axis=0)[is_one]).all()
    assert (sums <= severity.sum(axis=0)).all()
    assert (sums >= severity.max(axis=0)).all()
    assert (found.wait <= trace.calls["leave"] - trace.calls["enter"]).all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two locations: a region of the user with a call in a call, a get that waits 20 ns for the other."""
    trace = TraceBuilder(2, simulated=True)
    trace.call(0, "MPI_Init", 100, 110)
    trace.enter(0, "solve", 120)
    outer = trace.call(0, "ARMCI_Get", 130, 190)
    inner = trace.call(0, "MPI_Get", 140, 180, under=outer, scope=1, peer=1)
    trace.transfer(0, "get", inner, 1, blocking=True)
    trace.call(0, "ARMCI_Fence", 190, 195)
    trace.leave(0, "solve", 200)
    trace.call(1, "MPI_Init", 100, 105)
    trace.call(1, "MPI_Finalize", 160, 300)
    return trace.write(tmp_path_factory.mktemp("t"))


def test_moments(folder: Path) -> None:
    timeline = Timeline(folder)
    assert repr(timeline) == "<Timeline: simulated, 2 locations, 2e-07 s, 11 steps>"
    for time, text, begin, length, wait in (
        (5, "program/MPI_Init", 0, 10, 0),
        (15, "program", 10, 10, 0),
        (25, "program/solve", 20, 80, 20),
        (35, "program/solve/ARMCI_Get", 30, 60, 20),
        (50, "program/solve/ARMCI_Get/MPI_Get", 40, 40, 20),
        (85, "program/solve/ARMCI_Get", 30, 60, 20),
        (92, "program/solve/ARMCI_Fence", 90, 5, 0),
    ):
        moment = timeline.at(0, time)
        assert moment is not None
        assert (moment.path, moment.begin, moment.length, moment.wait) == (text, begin, length, wait)
    assert timeline.at(0, 100) is None
    assert timeline.at(1, 30).region == "program"  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="there are locations 0 to 1; got 2 to 2"):
        timeline.at(2, 0)
    with pytest.raises(UsageError, match="a window from 5 to 5 ns is empty"):
        timeline.raster(5, 5)


def test_bars_and_arrows(folder: Path) -> None:
    timeline = Timeline(folder)
    bars = timeline.bars(0, timeline.span)
    assert bars is not None
    shown = [timeline.regions[path] for row, path in zip(bars.row, bars.path, strict=True) if row == 0]
    inside = ["solve", "ARMCI_Get", "MPI_Get", "ARMCI_Get", "ARMCI_Fence", "solve"]
    assert shown == ["MPI_Init", "program", *inside]
    assert (bars.wait_begin.tolist(), bars.wait_end.tolist()) == ([40], [60])
    arrows = (bars.from_row, bars.to_row, bars.from_time, bars.to_time, bars.operation)
    assert [one.tolist() for one in arrows] == [[0], [1], [40], [80], [2]]
    assert timeline.bars(0, timeline.span, most=3) is None
    alone = timeline.bars(0, timeline.span, [0])
    assert alone is not None
    assert alone.to_row.tolist() == [-1]


def test_messages_are_arrows_of_their_sends(tmp_path: Path) -> None:
    trace = TraceBuilder(2, simulated=True)
    trace.transfer(0, "send", trace.call(0, "MPI_Send", 10, 20, scope=0, peer=1), 1, blocking=True)
    trace.transfer(1, "receive", trace.call(1, "MPI_Recv", 5, 25, scope=0, peer=0), 0, blocking=True)
    bars = Timeline(trace.write(tmp_path)).bars(0, 30)
    assert bars is not None
    arrows = (bars.from_row, bars.to_row, bars.from_time, bars.to_time, bars.operation)
    assert [one.tolist() for one in arrows] == [[0], [1], [5], [15], [5]]
    assert (bars.wait_row.tolist(), bars.wait_end.tolist()) == ([1], [5]), "late sender"


def test_rows_share(folder: Path) -> None:
    """Of two locations that share a row, class and mean wait."""
    timeline = Timeline(folder)
    apart, together = timeline.raster(0, 16, 16), timeline.raster(0, 200, 16, rows=1)
    assert (apart.together, apart.kind.shape[0], together.together, together.kind.shape[0]) == (1, 2, 2, 1)
    whole = timeline.raster(0, 200, 16)
    assert (together.wait[0] == np.ceil(whole.wait.astype(int).mean(axis=0))).all()


def test_nothing_and_something_wrong(tmp_path: Path) -> None:
    empty = TraceBuilder(1).write(tmp_path / "empty")
    timeline = Timeline(empty)
    assert (len(timeline), timeline.at(0, 0)) == (0, None)
    assert not timeline.raster(0, 10).kind.any()
    with pytest.raises(DataError, match="there is no trace in"):
        Timeline(tmp_path)
    (empty / "000000.sktrace").unlink()
    with pytest.raises(DataError, match="000000"):
        Timeline(empty)
    assert len(Timeline(empty, keep_going=True)) == 0
