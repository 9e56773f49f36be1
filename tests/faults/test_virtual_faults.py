"""Planted bugs in virtual time: exact times of many processes on few cores find and decide each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import xarray as xr

import scalkit as sk
from scalkit.bench import Arguments, prepare
from scalkit.bench.libraries.mpi import find_mpi
from scalkit.bench.virtual.mpi import VirtualMpi, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.support.native import build

pytestmark = pytest.mark.mpi

NETWORK = "L=2us,o=0.5us,g=0.3us,G=0.1ns/B"
MANY = (2, 4, 8, 16, 32)
FEW = (2, 4, 6, 8, 16)
"""Where the number of processes does not decide."""
ANY = {"MPI_Bcast": "p"}
"""An expectation that no fault here breaks, so that rules decide."""
Measured = Callable[..., xr.Dataset]


@pytest.fixture(scope="session")
def above() -> VirtualMpi:
    """Return the library of this machine in virtual time."""
    try:
        return virtual(find_mpi(), read_network(NETWORK))
    except (BuildError, LaunchError, UsageError) as error:
        pytest.skip(f"needs an MPI library and the layer of virtual time: {error}")


@pytest.fixture
def measured(above: VirtualMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Measure functions of a library with a bug, or without."""
    faults = build(Path(__file__).parent, above.mpicc, library=above.library)
    monkeypatch.setenv("LD_PRELOAD", str(faults.program("libskfault.so")))
    numbers = itertools.count()

    def measure(fault: str, *functions: str, counts: tuple[int, ...] = FEW) -> xr.Dataset:
        monkeypatch.setenv("SKFAULT", fault)
        out = tmp_path / f"runs{next(numbers)}"
        result = prepare(out, Arguments(("collectives",), counts, 1, 1, functions), above).run()
        assert (result.failures, result.missing) == ((), ())
        return sk.read(out)

    return measure


@pytest.mark.slow
def test_a_linear_barrier_grows_faster(measured: Measured) -> None:
    right = sk.validate(measured("", "MPI_Barrier"), {"MPI_Barrier": "log(p)"})
    wrong = sk.validate(measured("barrier_linear", "MPI_Barrier"), {"MPI_Barrier": "log(p)"})
    assert (right["MPI_Barrier"].match, right.exit_status()) == ("total", 0), right["MPI_Barrier"].sentence
    verdict = wrong["MPI_Barrier"]
    assert (verdict.match, verdict.direction, str(verdict.model.growth)) == ("none", "grows faster", "p"), verdict.sentence
    assert wrong.exit_status() == 1


def test_a_linear_broadcast_grows_faster(measured: Measured) -> None:
    verdict = sk.validate(measured("bcast_linear", "MPI_Bcast"), {"MPI_Bcast": "log(p)"})["MPI_Bcast"]
    assert (verdict.match, verdict.direction) == ("none", "grows faster"), verdict.sentence


@pytest.mark.slow
def test_an_allgather_that_is_slow_above_16_processes_breaks_its_rule_there(measured: Measured) -> None:
    functions, rule = ("MPI_Allgather", "MPI_Gather", "MPI_Bcast"), "MPI_Allgather <= MPI_Gather + MPI_Bcast"
    right = sk.validate(measured("", *functions, counts=MANY), ANY, rules=[rule])
    wrong = sk.validate(measured("allgather_thrice", *functions, counts=MANY), ANY, rules=[rule])
    assert (right.rules[0].status, right.exit_status()) == ("holds", 0), right.rules[0].sentence
    assert (wrong.rules[0].violated_at, wrong.exit_status()) == ((32,), 1), wrong.rules[0].sentence


@pytest.mark.slow
def test_a_broadcast_with_a_late_root_breaks_its_rule(measured: Measured) -> None:
    """Whatever tree a library has, nobody is done before the root has begun."""
    functions, rule = ("MPI_Bcast", "Bcast_binary_tree"), "MPI_Bcast <= Bcast_binary_tree"
    right, wrong = (measured(fault, *functions, counts=MANY) for fault in ("", "bcast_late"))
    late = (wrong["time"] - right["time"]).sel(function="MPI_Bcast")
    assert late.values == pytest.approx(12e-6, abs=0.1e-6)
    assert sk.validate(right, ANY, rules=[rule]).exit_status() == 0
    verdict = sk.validate(wrong, ANY, rules=[rule])
    assert (verdict.rules[0].violated_at, verdict.exit_status()) == (MANY, 1), verdict.rules[0].sentence


@pytest.mark.slow
def test_an_allreduce_slower_than_its_parts_breaks_the_rule_everywhere(measured: Measured) -> None:
    """Without the bug the rule holds, or breaks at some numbers of processes, as that of Open MPI 4.1 with 4 and 6."""
    functions, rule = ("MPI_Allreduce", "MPI_Reduce", "MPI_Bcast"), "MPI_Allreduce <= MPI_Reduce + MPI_Bcast"
    right = sk.validate(measured("", *functions), ANY, rules=[rule])
    wrong = sk.validate(measured("allreduce_parts", *functions), ANY, rules=[rule])
    assert set(right.rules[0].violated_at) <= {4, 6}, right.rules[0].sentence
    assert (wrong.rules[0].violated_at, wrong.exit_status()) == (FEW, 1), wrong.rules[0].sentence
