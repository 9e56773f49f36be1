"""Predictions at sizes that were held out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.perfmodels import Cells, PointToPoint, collective, collectives_of
from scalkit.perfmodels.collectives.in_context import fit_in_context
from scalkit.perfmodels.collectives.study import held_out, held_out_in_context

FAR = PointToPoint.hockney("2 us", "0.5 ns/B", reduce_per_byte="0.1 ns/B")


def test_what_an_algorithm_takes_beyond_its_messages_is_fitted_to_its_own_runs():
    """An all-to-all that copies its own block, through another memory than that of messages."""
    S, P = (one.ravel() for one in np.meshgrid(4.0 ** np.arange(2, 9), [2.0, 5.0]))
    pairwise = collectives_of("alltoall", FAR)["pairwise"]
    cells = Cells("alltoall", "MPI_Alltoall", S, P, (1.3 * pairwise(S=S, P=P) + 0.2e-9 * S)[:, None])
    found = fit_in_context(cells, FAR)
    assert set(found) == {2.0, 5.0}
    assert found[5.0].algorithm == "linear"  # takes as long as pairwise
    assert (found[5.0].factor, found[5.0].per_byte) == pytest.approx((1.3, 0.2e-9), rel=1e-6)
    assert found[5.0].misfit < 1e-6
    assert held_out_in_context(cells, FAR).errors.max() < 1e-6
    assert held_out(cells, FAR).errors.min() > 0.1
    with pytest.raises(DataError, match=r"^MPI_Alltoall: no number of processes has 3 sizes; two constants need as many\.$"):
        fit_in_context(cells.where(S < 100), FAR)


def test_an_operation_that_only_copies_has_no_messages():
    S = 4.0 ** np.arange(2, 9)
    cells = Cells("alltoall", "MPI_Alltoall", S, np.full(7, 2.0), (1e-9 * S)[:, None])
    slow = PointToPoint.hockney("1 s", "0 s/B")
    (found,) = fit_in_context(cells, slow).values()
    assert (found.factor, found.per_byte) == pytest.approx((0.0, 1e-9))
    assert found.model(S=8, P=2) == pytest.approx(8e-9)


def test_sizes_that_were_held_out_are_predicted():
    points = np.array(list(itertools.product([4.0, 8.0, 16.0, 32.0], 4.0 ** np.arange(2, 10))))
    P, S = points.T
    truth = np.where(
        S < 5000, collective("broadcast", "binomial", FAR)(S=S, P=P), collective("broadcast", "scatter-ring", FAR)(S=S, P=P)
    )
    times = truth[:, None] * np.random.default_rng(3).lognormal(0, 0.03, (len(S), 5))
    found = held_out(Cells("broadcast", "MPI_Bcast", S, P, times), FAR)
    assert len(found.cells) == 16
    assert np.median(found.errors) < 0.05
    assert str(found).startswith("16 of 16 cells predicted, median error ")
    with pytest.raises(DataError, match="MPI_Bcast has 1 size; predictions at other sizes need two"):
        held_out(Cells("broadcast", "MPI_Bcast", S[:1], P[:1], times[:1]), FAR)
