"""The truth of virtual time: schedules of messages are played, and a real library does the same to the nanosecond."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from scalkit.bench import Mpi
from scalkit.errors import BuildError, UsageError
from scalkit.perfmodels.played import WIRES, play
from scalkit.perfmodels.played.steps import Receive, Send, WaitAny, receive

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def truth() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        import virtual_algorithms

        yield virtual_algorithms
    for name in [name for name in sys.modules if name.startswith("virtual_")]:
        del sys.modules[name]


def test_every_choice_has_a_schedule(truth: ModuleType) -> None:
    told = {(library, one.operation, one.algorithm) for library, all in truth.FORCED.items() for one in all}
    assert told == set(truth.SCHEDULES)
    assert len(told) == 70
    launches = truth.rounds(truth.FORCED["Open MPI"])
    assert sum(map(len, launches)) == 47
    assert all(len({one.operation for one in launch}) == len(launch) for launch in launches)


def test_messages_are_played_as_a_machine_lets_them_pass(truth: ModuleType) -> None:

    def two_to_one(me, P, S):  # type: ignore[no-untyped-def]
        if me:
            yield Send(0, S)
            return
        first, second = (yield Receive(1)), (yield Receive(2))
        done = yield WaitAny((first, second))
        assert done == first
        done = yield WaitAny((second,))
        assert done == second

    wire = replace(WIRES["MPICH"], header=0)
    played = play(two_to_one, 3, 1000, wire, truth.MACHINE)
    hop = 500 + 2000 + 100  # o, L, 1000 B of 0.1 ns
    card = 300 + 100  # g and the bytes again: the receiver's network card takes one after the other
    assert played.done == (hop + 500 + max(500, card), 500, 500)
    assert played.messages == (0, 1, 1)


def test_a_schedule_that_does_not_fit_is_an_error(truth: ModuleType) -> None:

    with pytest.raises(RuntimeError, match=r"processes \[0, 1\] wait for ever; their schedules do not fit"):
        play(lambda me, P, S: receive(1 - me), 2, 8, WIRES["MPICH"], truth.MACHINE)


def test_libraries_do_what_their_schedules_say(truth: ModuleType) -> None:
    few = [row for row in truth.read() if row.P <= 8]
    assert len(few) == 7 * (70 * 2 - 7)
    assert {(row.library, row.operation, row.algorithm, row.P) for row in few if truth.misfit(row) >= truth.EQUAL_NS} == set()
    late = replace(few[0], each_ns=tuple(t + 3 for t in few[0].each_ns))
    assert truth.misfit(late) >= truth.EQUAL_NS


@pytest.mark.slow
def test_algorithms_are_named_or_nothing_is_said(truth: ModuleType) -> None:
    few = [row for row in truth.read() if row.P <= 12]
    counts = truth.by_forms(few)
    assert counts["right, by the most probable name"][0] >= 0.85 * counts["right, by the most probable name"][1]
    assert counts["wrong, and sure"][0] == 0


def test_the_growth_is_that_of_the_nearer_line(truth: ModuleType) -> None:
    assert truth.growth([4, 8, 16, 32], [2.0, 3.0, 4.0, 5.0]) == "log P"
    assert truth.growth([4, 8, 16, 32], [4.0, 8.0, 16.0, 32.0]) == "P"


@pytest.mark.mpi
def test_this_library_does_what_its_schedules_say(truth: ModuleType, mpi: Mpi, tmp_path: Path) -> None:
    from scalkit.bench.virtual.mpi import virtual

    if mpi.kind not in truth.FORCED:
        pytest.skip(f"needs MPICH or Open MPI, got {mpi.kind}")
    try:
        virtual(mpi, truth.NETWORK)
    except (BuildError, UsageError) as error:
        pytest.skip(f"needs the layer of virtual time: {error}")
    told = [one for one in truth.FORCED[mpi.kind] if one.algorithm in ("recursive-doubling", "dissemination", "ring")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(truth.FORCED, mpi.kind, tuple(told))
        rows = truth.measure(mpi, (3,))
    truth.write(rows, ["virtual time"], tmp_path / "found.csv")
    found = truth.read(tmp_path / "found.csv")
    assert {(row.operation, row.algorithm) for row in found} == {(one.operation, one.algorithm) for one in told}
    assert [row for row in found if truth.misfit(row) >= truth.EQUAL_NS] == []


@pytest.mark.slow
@pytest.mark.mpi
def test_forced_algorithms_are_named_by_their_messages(
    truth: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import named_messages

    from scalkit.bench import find_mpi

    mpi = find_mpi()
    if "MPICH Version: 5" not in " ".join(mpi.library.split()):
        pytest.skip("its messages are known of MPICH 5")
    monkeypatch.setattr(sys, "argv", ["named_messages", mpi.mpicc, "-n", "11", "--sizes", "8", "--network", "dragonfly"])
    assert named_messages.main() == 0
    said = capsys.readouterr().out
    assert "23 of 23 right, 0 named as another one; {'to the nanosecond': 23}" in said
    assert "23 of 23 are other or unsure, 0 named" in said
