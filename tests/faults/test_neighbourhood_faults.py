"""A library that permutes wrongly, or makes another topology, is caught with the row of the experiment."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.mpi

TABLE = """experiment,operation,size,topology,n_dim,n_finite,radius,order,constructor,reorder
7,MPI_Neighbor_alltoall,8,vonneumann,1,0,2,rand,MPI_Dist_graph_create,0
1,MPI_Neighbor_allgather,8,moore,2,0,1,fmaj,MPI_Dist_graph_create_adjacent,1
5,MPI_Neighbor_alltoallw,8,cart,2,1,,,,0
3,MPI_Neighbor_alltoallv,8,full,,,,rand,,0
4,MPI_Dist_graph_create,,vonneumann,1,0,2,lmaj,,0
2,MPI_Cart_create,,cart,3,1,,,,1
"""


@pytest.fixture
def run(launch, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(TABLE)
    return lambda **how: launch(6, "sk_neighbours", f"--experiments={table}", "--repetitions=2", **how)


def test_a_right_library_has_nothing_to_be_said_of(run):
    done = run()
    assert (done.status, done.messages.strip()) == (0, "")
    assert [(r["line"], r["experiment"]) for r in done.records[1:-1]] == [(2, 7), (3, 1), (4, 5), (5, 3), (6, 4), (7, 2)]


@pytest.mark.parametrize(
    ("fault", "experiments", "said"),
    [
        ("neighbour_swapped", [7], "line 2, experiment 7: MPI_Neighbor_alltoall gives a wrong result with 6 processes: on"),
        pytest.param("graph_turned", [1, 3], "has its neighbours in a wrong order", marks=pytest.mark.slow),
        pytest.param(
            "graph_other", [7, 4], "line 6, experiment 4: MPI_Dist_graph_create gives a wrong result", marks=pytest.mark.slow
        ),
        (
            "cart_transposed",
            [5, 2],
            "line 4, experiment 5: MPI_Neighbor_alltoallw gives a wrong result with 6 processes: process 0 has wrong sources",
        ),
    ],
)
def test_what_is_wrong_is_not_timed_and_named_with_its_row(run, fault, experiments, said):
    done = run(fault=fault)
    assert done.status == 4
    assert said in done.messages
    assert done.messages.count("sk_neighbours: ") == len(experiments)
    skipped = [r for r in done.records if r["rec"] == "skip"]
    assert [r["experiment"] for r in skipped] == experiments
    assert all(r["verified"] is False and r["why"] for r in skipped)
    assert len([r for r in done.records if r["rec"] == "cell"]) == 6 - len(experiments)
    assert done.records[-1]["rec"] == "end"
