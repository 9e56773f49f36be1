"""The folklore check tells trees from the best algorithms, rings, and one process that does it all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import Cells, PointToPoint, cells_of, collective, folklore

MESSAGE = PointToPoint.hockney("2 us", "0.5 ns/B", reduce_per_byte="0.1 ns/B")
POINTS = np.array(list(itertools.product(2.0 ** np.arange(1, 9), 4.0 ** np.arange(3, 11))))


def dataset(operation, name, noise=0.02, seed=1, function="MPI_Bcast"):
    times = collective(operation, name, MESSAGE)(P=POINTS[:, 0], S=POINTS[:, 1])
    y = times[:, None] * np.random.default_rng(seed).lognormal(0, noise, (len(times), 5))
    return sk.measurements(POINTS, y, ["p", "S"], name=function)


@pytest.mark.parametrize(
    ("operation", "name", "form"),
    [
        ("broadcast", "binomial", "S*log(P)"),
        ("broadcast", "scatter-doubling", "S + log(P)"),
        ("broadcast", "scatter-ring", "S + P"),
        ("broadcast", "linear", "S*P"),
        ("allreduce", "recursive-doubling", "S*log(P)"),
        ("allreduce", "rabenseifner", "S + log(P)"),
        ("allreduce", "ring", "S + P"),
    ],
)
def test_the_form_of_each_algorithm_is_found(operation, name, form):
    for seed in range(3):
        check = folklore(cells_of(dataset(operation, name, 0.05, seed), "MPI_Bcast", operation))
        assert check.verdict == form, (seed, check)
        assert sum(check.probabilities.values()) == pytest.approx(1)


def test_the_sentence_says_verdict_and_growth():
    check = folklore(cells_of(dataset("broadcast", "binomial", 1e-9), "MPI_Bcast"))
    assert check.growth[1:] == pytest.approx((8, 1.9921875))
    assert check.growth[0] == pytest.approx(8, rel=1e-6)
    assert check.sentence.startswith("MPI_Bcast takes O(S log P) (more than 99.9 %): 1 MiB take 8 times as long from 2 to 256")
    assert "O(S log P)" in check._repr_html_()


def test_protocols_do_not_matter():
    """The time per byte of each size is free: a step in the middle of the sizes does not change the verdict."""
    cells = cells_of(dataset("allreduce", "rabenseifner"), "MPI_Bcast", "allreduce")
    stepped = np.where(cells.S > 5000, 3.0, 1.0)[:, None] * cells.times
    assert folklore(Cells("allreduce", "f", cells.S, cells.P, stepped)).verdict == "S + log(P)"


def test_what_does_not_tell_is_refused():
    cells = cells_of(dataset("broadcast", "binomial"), "MPI_Bcast")
    with pytest.raises(DataError, match="sizes that tell, the smallest and those that take 10 % longer"):
        folklore(cells.where(cells.S < 300))
    with pytest.raises(DataError, match="with 3 numbers of processes; 3 sizes with 4 are needed"):
        folklore(cells.where(cells.P < 10))
    with pytest.raises(UsageError, match="the folklore is about broadcast and allreduce, got alltoall"):
        folklore(Cells("alltoall", "MPI_Alltoall", cells.S, cells.P, cells.times))


def test_cells_of_one_size_and_of_other_names():
    data = dataset("broadcast", "binomial").sel(S=1024.0)
    cells = cells_of(data.assign_attrs(message_size_B=1024), "MPI_Bcast")
    assert (cells.sizes.tolist(), cells.processes.tolist()) == ([1024.0], (2.0 ** np.arange(1, 9)).tolist())
    assert repr(cells) == "Cells('MPI_Bcast': 1 sizes, 8 numbers of processes)"
    with pytest.raises(UsageError, match="the operation behind 'mine' is unknown"):
        cells_of(data, "mine")
    with pytest.raises(DataError, match=r"there are no run times of 'MPI_Reduce'; there are those of MPI_Bcast\."):
        cells_of(data, "MPI_Reduce")
    other = sk.measurements(2.0 ** np.arange(1, 9), np.ones(8), "threads", name="MPI_Bcast")
    with pytest.raises(DataError, match="the data are over threads; models of collective operations need them over processes"):
        cells_of(other, "MPI_Bcast")
