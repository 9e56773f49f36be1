"""The paper's tables beside today's libraries and simulated machines: what is claimed follows from the data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from lessons.beside import (
    Beside,
    _explain,
    beside,
    libraries_latency,
    libraries_memory,
    libraries_times,
    libraries_virtual,
    simulated_times,
)
from scalkit.measure import combine

P = 2.0 ** np.arange(2, 9)
DATA = Path(__file__).parents[2] / "data"


def made(**values: np.ndarray) -> xr.Dataset:
    return combine([sk.measurements(P, 1e-6 * y, name=f"MPI_{name}") for name, y in values.items()])


@pytest.fixture(scope="module")
def memory() -> Beside:
    return libraries_memory()


def test_memory_of_the_libraries_is_that_of_the_notes(memory: Beside) -> None:
    models = {(column, name): v.model for column, found in memory.verdicts.items() for name, v in found.items()}
    mpich, openmpi = models["MPICH 5.0.2", "Comm dup"], models["Open MPI 5.0.11", "Comm dup"]
    assert (mpich.constant, mpich.coefficient) == (5400, 0)
    assert (openmpi.constant, openmpi.coefficient, str(openmpi.growth)) == (pytest.approx(8856), pytest.approx(8, rel=1e-4), "p")


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


@pytest.fixture(scope="module")
def virtual() -> Beside:
    return libraries_virtual()


@pytest.mark.slow
def test_virtual_times_of_three_libraries_decide(virtual: Beside) -> None:
    assert list(virtual.verdicts) == ["Intel MPI 2021.16.0", "MPICH 5.0.2", "Open MPI 5.0.11"]
    verdicts = {(column, name): v for column, found in virtual.verdicts.items() for name, v in found.items()}
    assert len(verdicts) == 24
    assert {v.answer for v in verdicts.values()} == {"fine"}
    assert all(v.decides and v.series.virtual for v in verdicts.values())
    assert virtual.summary == "Today's libraries, beside 2015: too fast then, no more: Barrier, Allreduce, Bcast (BT)."


@pytest.mark.slow
def test_what_its_algorithms_decide_is_what_the_library_took(virtual: Beside) -> None:
    """Each time of these operations is that of an algorithm that the library was told to use."""
    assert {text.split(":")[0] for text in virtual.remarks if "the fastest growth of the algorithms" in text} == {
        "Open MPI 5.0.11, Bcast"
    }
    broadcast = DATA / "virtual-algorithms/openmpi-5.0.11/Bcast/binary-tree"
    alone = sk.validate(sk.read(broadcast), {"MPI_Bcast": "log(p)"}, progress=False)["MPI_Bcast"]
    whole = sk.validate(sk.read(DATA / "virtual-256/openmpi-5.0.11"), {"MPI_Bcast": "log(p)"}, progress=False)["MPI_Bcast"]
    assert not _explain(whole, [alone])


@pytest.mark.slow
def test_the_table_of_the_docs_is_the_computed_one(virtual: Beside) -> None:
    text = (Path(__file__).parents[2] / "docs/virtual-time.md").read_text(encoding="utf-8")
    lines = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    head = next(place for place, cells in enumerate(lines) if cells[:2] == ["function", "expected"])
    written = {cells[0]: [cell.replace("`", "") for cell in cells[1:]] for cells in lines[head + 2 : head + 10]}
    assert lines[head][2:] == [column for _, column in virtual.to_frame().columns[1:]]
    computed = {
        str(name): ["?" if cell.startswith("?") else cell for cell in row] for name, *row in virtual.to_frame().itertuples()
    }
    assert written == computed
