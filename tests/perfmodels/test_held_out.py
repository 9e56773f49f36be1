"""Predictions at sizes that were held out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.perfmodels import Cells, PointToPoint, collective
from scalkit.perfmodels.collectives.study import held_out

FAR = PointToPoint.hockney("2 us", "0.5 ns/B", reduce_per_byte="0.1 ns/B")


def test_sizes_that_were_held_out_are_predicted():
    points = np.array(list(itertools.product([4.0, 8.0, 16.0, 32.0], 4.0 ** np.arange(2, 10))))
    P, S = points.T
    truth = np.where(
        S < 5000, collective("broadcast", "binomial", FAR)(S=S, P=P), collective("broadcast", "scatter-ring", FAR)(S=S, P=P)
    )
    times = truth[:, None] * np.random.default_rng(3).lognormal(0, 0.03, (len(S), 5))
    found = held_out(Cells("broadcast", "MPI_Bcast", S, P, times), FAR)
    assert len(found.cells) == 16
    assert set(found.algorithms) == {"binomial", "scatter-ring"}
    assert np.median(found.errors) < 0.05
    assert str(found).startswith("16 of 16 cells predicted, median error ")
    with pytest.raises(DataError, match="MPI_Bcast has 1 size; predictions at other sizes need two"):
        held_out(Cells("broadcast", "MPI_Bcast", S[:1], P[:1], times[:1]), FAR)
