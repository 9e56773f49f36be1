"""The benchmarks of virtual time: what is called different between launches, what a message costs, and a real row of each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from scalkit.bench import Mpi
from scalkit.bench.virtual.mpi import virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import BuildError, UsageError

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import virtual_cost
from virtual_repeats import Launch, computing, differing, main


def test_launches_differ_between_and_within() -> None:
    one = Launch((("a", 5), ("b", 5)), (("a", (1, 1)), ("b", (2, 2))))
    assert differing([one, one]) == (set(), set())
    assert differing([one, Launch((("a", 5), ("b", 6)), (("a", (1, 1)), ("b", (3, 3))))]) == ({"b"}, {"b"})
    assert differing([Launch((("a", 5),), (("a", (1, 2)),))]) == ({"a"}, set())


@pytest.mark.mpi
def test_a_row_of_the_benchmark_repeats(mpi: Mpi, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--mpicc", mpi.mpicc, "-n", "3", "--sizes", "8", "--ops", "MPI_Allreduce", "--repeats", "2", "--load", "1"]
    status = main([*words, "--json"])
    out, err = capsys.readouterr()
    if "cannot run in virtual time" in err:
        pytest.skip(err.strip())
    row = json.loads(out)
    assert (status, row["launches"], row["operations"], row["differ"], row["failures"]) == (0, 2, 1, [], [])


@pytest.mark.mpi
def test_the_cost_of_a_message_counts_those_of_the_loop(mpi: Mpi, capsys: pytest.CaptureFixture[str]) -> None:
    assert virtual_cost.main(["--mpi", mpi.mpicc, "-n", "4", "--ops", "MPI_Alltoall:8", "--json"]) == 0
    out, err = capsys.readouterr()
    if "cannot run in virtual time" in err:
        pytest.skip(err.strip())
    row = json.loads(out)
    assert row["messages"] == 20 * 4 * 3  # linear: every process to every other one
    assert row["us_per_message"] > 0


@pytest.mark.mpi
def test_the_kernel_computes_as_long_as_its_own_clock_says(mpi: Mpi) -> None:
    try:
        above = virtual(mpi, read_network("cluster"))
    except (BuildError, UsageError) as error:
        pytest.skip(str(error))
    row = computing(above, "cpu", 2, 1)
    assert row["virtual_s"] == pytest.approx(row["used_s"], rel=0.02)
