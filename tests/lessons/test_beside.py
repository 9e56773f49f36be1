"""The paper's tables beside today's libraries and simulated machines: what is claimed follows from the data."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.lessons import libraries_latency, libraries_memory, libraries_times, mafia_claims, simulated_times
from scalkit.lessons.beside import Beside, beside
from scalkit.measure import combine

P = 2.0 ** np.arange(2, 9)


def made(**values: np.ndarray) -> xr.Dataset:
    return combine([sk.measurements(P, 1e-6 * y, name=f"MPI_{name}") for name, y in values.items()])


@pytest.fixture(scope="module")
def memory() -> Beside:
    return libraries_memory()


def test_memory_of_the_libraries_is_that_of_the_notes(memory: Beside) -> None:
    models = {(column, name): v.model for column, found in memory.verdicts.items() for name, v in found.items()}
    mpich, openmpi = models["MPICH 5.0.2", "Comm dup"], models["Open MPI 5.0.11", "Comm dup"]
    assert (mpich.constant, mpich.coefficient) == (5400, 0)
    assert (openmpi.constant, openmpi.coefficient, str(openmpi.growth)) == (
        pytest.approx(8856),
        pytest.approx(8),
        "p",
    )


def test_comm_dup_is_said_to_be_constant_where_it_is(memory: Beside) -> None:
    said = next(text for text in memory.claims if text.startswith("Comm dup"))
    assert "2015: as expected on Juqueen and Juropa; too fast on Piz Daint (p)." in said
    assert "as expected with MPICH 5.0.2; too fast with Open MPI 5.0.11 (p)." in said
    assert "not decided with Intel MPI 2021.16.0" in said
    assert "too fast then and now: Comm dup" in memory.summary


def test_what_malloc_does_not_see_is_not_claimed(memory: Beside) -> None:
    assert set(memory.verdicts["Intel MPI 2021.16.0"]) == {"MPI memory"}
    assert any(text.startswith("Intel MPI 2021.16.0: an allocator of its own") for text in memory.remarks)
    assert memory.to_frame().loc["Comm dup", ("today's libraries", "Intel MPI 2021.16.0")] == "–"


def test_times_on_too_few_cores_decide_nothing() -> None:
    table = libraries_times()
    assert len(table.verdicts) == 3
    assert "nothing is decided" in table.summary
    assert all("more processes than cores" in text for text in table.remarks)
    frame = table.to_frame()
    assert frame["today's libraries"].map(lambda cell: cell.endswith("⚠")).all(axis=None)
    latency = libraries_latency()
    assert ((latency > 0.1) & (latency < 100)).all(axis=None)


def test_simulated_machines_say_so() -> None:
    table = simulated_times()
    assert all(column.startswith("simulated ") for column in table.verdicts)
    assert table.remarks[0].startswith("Simulated, not measured")
    assert all(float(v.series.x[0]) == 4 for found in table.verdicts.values() for v in found.values())
    assert "<b>" not in table._repr_html_()
    assert "simulated Juropa, 8 a node" in table._repr_html_()


def test_claims_follow_the_data() -> None:
    log = np.log2(P)
    good = beside(2, {"A": made(Barrier=3 + log, Bcast=3 + log)}, "ours")
    assert good.claims[0] == (
        "Barrier, O(log(p)). 2015: as expected on Juqueen; too fast on Juropa (p^(2/3)*log(p)); inside the limits on Piz Daint "
        "(p^(1/3)). Ours: as expected with A."
    )
    assert good.claims[2].endswith("Ours: not decided with A.")
    assert good.summary == (
        "Ours, beside 2015: too fast then, no more: Barrier; not decided now: Reduce, Allreduce, Gather, Allgather, Alltoall, "
        "Bcast (BT)."
    )
    bad = beside(2, {"A": made(Barrier=3 + P, Bcast=3 + P**2, Gather=1 + 0 * P)}, "ours")
    assert "too fast then and now: Barrier; too fast only now: Bcast" in bad.summary
    assert "slower with A (1)" in bad.claims[4]
    assert bad.to_frame().loc["Gather", ("ours", "A")] == "✗ slower: 1"
    assert "✗ slower: 1" in bad._repr_html_()


def test_claims_on_mafia_are_those_of_the_table() -> None:
    lines = mafia_claims().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["gen", "dedup", "pcount", "unjoin"]
    assert lines[2] == "pcount, O(k*2^k). 2015: as expected. Here: by time as expected, by operations as expected."
