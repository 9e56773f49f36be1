"""Algorithms in virtual time are told by their messages: the right name, several that take as long, or "other"."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import ExactModel, PointToPoint
from scalkit.perfmodels.collectives.identify import OTHER
from scalkit.perfmodels.collectives.identify_played import Plays, identify_played, plays_of
from scalkit.perfmodels.collectives.study import study
from scalkit.perfmodels.played import Machine

DATA = Path(__file__).resolve().parents[2] / "data/virtual"
MACHINE = Machine.of(2e-6, 0.5e-6, 0.3e-6, 0.1e-9)
P = [2, 3, 4, 5, 6, 8, 12, 16]


@pytest.fixture(scope="module")
def mpich() -> Plays:
    return Plays("MPICH", MACHINE)


def times(plays: Plays, operation: str, name: str, S: int) -> np.ndarray:
    return np.array([1e-9 * int(plays.of(operation, name, one, S).time) for one in P])


@pytest.mark.parametrize("name", ["binomial", "scatter-doubling", "scatter-ring", "(tree)", "(pipelined tree)"])
def test_every_broadcast_is_named(mpich: Plays, name: str) -> None:
    found = identify_played("broadcast", 65536, P, times(mpich, "broadcast", name, 65536), mpich)
    assert {cell.likeliest for cell in found.cells[1:]} == {name}
    assert all(cell.probability > 0.9 for cell in found.cells)
    assert abs(found.cells[3].predicted - found.cells[3].time) < 2e-9
    assert found.cells[5].best_time == min(1e-9 * mpich.of("broadcast", one, 8, 65536).time for one in found.names[:-1])


def test_ten_nanoseconds_refute(mpich: Plays) -> None:
    late = times(mpich, "broadcast", "binomial", 8) + 1e-8
    found = identify_played("broadcast", 8, P, late, mpich)
    assert {(cell.likeliest, cell.algorithms) for cell in found.cells} == {(OTHER, (OTHER,))}
    assert all(np.isnan(cell.predicted) for cell in found.cells)


def test_what_is_left_out_is_other_even_where_another_one_takes_as_long(mpich: Plays) -> None:
    without = {(one, 65536): ("scatter-ring",) for one in P}
    taken = times(mpich, "broadcast", "scatter-ring", 65536)
    found = identify_played("broadcast", 65536, P, taken, mpich, without=without)
    assert mpich.of("broadcast", "scatter-doubling", 2, 65536).time == pytest.approx(1e9 * taken[0], abs=1)
    assert {cell.likeliest for cell in found.cells} == {OTHER}


def test_what_takes_as_long_everywhere_is_named_together(mpich: Plays) -> None:
    found = identify_played("allgather", 8, P, times(mpich, "allgather", "recursive-doubling", 8), mpich)
    named = {int(cell.P): cell.algorithms for cell in found.cells}
    assert named[8] == named[16] == ("bruck", "recursive-doubling")
    assert mpich.of("allgather", "bruck", 8, 8).sends != mpich.of("allgather", "recursive-doubling", 8, 8).sends
    assert mpich.of("allgather", "bruck", 6, 8).sends == mpich.of("allgather", "recursive-doubling", 6, 8).sends


def test_between_two_processes_many_are_one(mpich: Plays) -> None:
    found = identify_played("alltoall", 8, 2, times(mpich, "alltoall", "pairwise", 8)[:1], mpich)
    assert set(found.cells[0].algorithms) == {"bruck", "pairwise", "linear"}


def test_parts_of_items_are_not_played(mpich: Plays) -> None:
    assert identify_played("reduce", 12, 4, [1e-5], mpich).cells[0].likeliest == OTHER


def test_wrong_input_is_named(mpich: Plays) -> None:
    with pytest.raises(UsageError) as caught:
        Plays("Intel MPI", MACHINE)
    assert str(caught.value) == "the messages of 'Intel MPI' are not known; those of MPICH, Open MPI are."
    with pytest.raises(DataError) as empty:
        identify_played("scan", 8, 2, [1e-5], mpich)
    assert str(empty.value) == "no algorithm of 'scan' is known for MPICH."
    with pytest.raises(DataError) as uneven:
        identify_played("barrier", 8, [2, 4], [1e-5], mpich)
    assert str(uneven.value) == "there must be S, P and times of each cell, got 2, 2 and 1."


def virtual(library: str, **facts: object) -> xr.Dataset:
    known = {"L_s": 1e-6, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "settings": {"FI_PROVIDER": "tcp"}, **facts}
    return xr.Dataset(attrs={"virtual": json.dumps(known), "mpi_library": library})


def test_library_and_machine_come_with_the_data() -> None:
    found = plays_of(virtual("MPICH Version: 5.0.2"))
    assert found is not None
    assert (found.library, found.machine) == ("MPICH", Machine(1_000_000, 300_000, 100_000, 80.0))
    assert plays_of(virtual("Open MPI v5.0.11")) is not None
    for other in (
        xr.Dataset(attrs={"mpi_library": "MPICH Version: 5.0.2"}),
        virtual("Intel(R) MPI Library 2021.16"),
        virtual("MPICH Version: 5.0.2", per_node=8),
        virtual("MPICH Version: 5.0.2", compute="cpu"),
        virtual("MPICH Version: 4.0.2", settings={"UCX_TLS": "tcp,self"}),
        xr.Dataset(attrs={"mpi_library": "MPICH", "virtual": "[]"}),
    ):
        assert plays_of(other) is None


def test_a_campaign_in_virtual_time_names_what_its_library_chose() -> None:
    data = sk.read(DATA / "mpich-5.0.2").sel(p=[2, 4, 8, 16])
    time = ExactModel("a + b*S", {"a": "1.6 us", "b": "0.08 ns/B"})
    gap = ExactModel("a + b*S", {"a": "0.3 us", "b": "0.08 ns/B"})
    found = {one.function: one.sentences[0] for one in study(data, PointToPoint(time, gap), ["MPI_Gather", "MPI_Alltoall"])}
    assert found["MPI_Gather"] == "Of 4 cells MPI_Gather seems to use binomial in 4; 4 of them are sure."
    assert "bruck in 1" in found["MPI_Alltoall"]
