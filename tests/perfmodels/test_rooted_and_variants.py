"""Roots and placements, derived datatypes, sub-communicators, predictions at sizes that were held out."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import (
    BoundedModel,
    Cells,
    LogGP,
    Placement,
    PointToPoint,
    bluegene_p,
    collective,
    collectives_of,
    in_groups,
    over_roots,
    with_datatype,
)
from scalkit.perfmodels.collectives.in_context import fit_in_context
from scalkit.perfmodels.collectives.study import held_out, held_out_in_context

FAR = PointToPoint.hockney("2 us", "0.5 ns/B", reduce_per_byte="0.1 ns/B")
NEAR = PointToPoint.hockney("0.4 us", "0.1 ns/B", reduce_per_byte="0.1 ns/B")
LOGGP = LogGP.of(L="2 us", o="0.5 us", g="0.6 us", G="1 ns/B").point_to_point()


@pytest.mark.parametrize("message", [FAR, LOGGP])
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("broadcast", "binomial"),
        ("broadcast", "linear"),
        ("broadcast", "chain"),
        ("scatter", "binomial"),
        ("gather", "binomial"),
        ("gather", "linear"),
        ("reduce", "binomial"),
        ("reduce", "chain"),
    ],
)
def test_one_kind_of_message_gives_the_formula_for_every_root(operation, name, message):
    for P in (1, 2, 7, 16) if message is FAR else (1, 2, 16):  # with gaps 7 processes need less than the formula says
        found = over_roots(operation, name, message, message, P=P, S=800, placements=[Placement(4)])
        expected = collective(operation, name, message)(P=P, S=800)
        assert found.times == pytest.approx(np.full((1, P), expected), rel=1e-9), P


def test_a_broadcast_in_blocks_is_fastest_from_the_first_of_a_node():
    blocks, turns = over_roots(
        "broadcast", "binomial", NEAR, FAR, P=32, S="1 KiB", placements=[Placement(8), Placement(8, "cyclic")]
    ).times
    assert blocks[[0, 8, 16, 24]] == pytest.approx(blocks.min())
    assert blocks[3] > 1.2 * blocks[0]  # its tree leaves the node early and late
    assert blocks.min() == pytest.approx(float(2 * FAR(S=1024) + 3 * NEAR(S=1024)))
    assert turns[0] == pytest.approx(float(3 * NEAR(S=1024) + 2 * FAR(S=1024)))


def test_roots_are_shown():
    found = over_roots("gather", "binomial", NEAR, FAR, P=8, S=64, placements=[Placement(2)], roots=[0, 5])
    assert found.times.shape == (1, 2)
    assert found.spread >= 1
    assert "(root 0)" in found._repr_html_()
    assert "2 a node, block" in found._repr_html_()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"operation": "allreduce"}, "'allreduce' by 'binomial' is no tree from one root"),
        ({"algorithm": "chain", "operation": "gather"}, "'gather' by 'chain' is no tree"),
        ({"roots": [8]}, "root 8 is none of the 8 processes; choose from 0 to 7."),
        ({"P": 0}, "P is 0 with 1 placements"),
        ({"placements": []}, "P is 8 with 0 placements"),
    ],
)
def test_what_is_no_rooted_operation_is_refused(change, said):
    given = {"operation": "broadcast", "algorithm": "binomial", "P": 8, "S": 8, "placements": [Placement(2)]} | change
    with pytest.raises(UsageError) as error:
        over_roots(given.pop("operation"), given.pop("algorithm"), NEAR, FAR, **given)
    assert str(error.value).startswith(said)


def test_a_placement_needs_processes_and_an_order():
    with pytest.raises(UsageError, match="a placement of 2 processes a node, order 'random'"):
        Placement(2, "random")
    assert Placement(2, "cyclic").nodes(5).tolist() == [0, 1, 2, 0, 1]


def test_scattered_data_are_packed_and_unpacked():
    for message in (FAR, LOGGP, PointToPoint(bluegene_p()["point-to-point"])):
        scattered = with_datatype(message, "0.25 ns/B")
        assert scattered(S=4096) == pytest.approx(message(S=4096) + 2 * 0.25e-9 * 4096, rel=1e-12)
        model = collective("broadcast", "binomial", scattered)
        assert model(S=4096, P=16) == pytest.approx(4 * scattered(S=4096), rel=1e-12)
        assert str(model.growth) == "S*log(p)"
        assert str(collective("broadcast", "scatter-ring", scattered).growth) == "S + p"
    with pytest.raises(UsageError, match=r"packing is '1 us'; it must be in s/B, for example '0\.1 ns/B', or a model"):
        with_datatype(FAR, "1 us")
    with pytest.raises(UsageError, match="'p2p, congested' cannot be the time of packing; it must be exact"):
        with_datatype(FAR, BoundedModel(FAR.time, 2 * FAR.time, name="p2p, congested"))


def test_groups_cost_what_one_of_them_does_and_more_where_they_share_links():
    halves = in_groups("allreduce", "ring", FAR, 2)
    assert halves(S=4096, P=32) == collective("allreduce", "ring", FAR)(S=4096, P=16)
    shared = in_groups("allreduce", "recursive-doubling", FAR, 4, contention=3)
    slow = PointToPoint.hockney("2 us", "1.5 ns/B", reduce_per_byte="0.1 ns/B")
    assert shared(S=4096, P=64) == pytest.approx(collective("allreduce", "recursive-doubling", slow)(S=4096, P=16))
    both = replace(FAR, exchange=2 * FAR.time)
    exchanged = in_groups("allgather", "ring", both, 2, contention=3)
    assert exchanged(S=4096, P=8) == pytest.approx(3 * 2 * slow(S=4096))
    with pytest.raises(UsageError, match=r"^'allreduce, ring at P = P/2' has P/2 = 3\.5; it must be a whole number"):
        halves(S=4096, P=[4, 7])
    assert np.isnan(halves(S=4096, P=[4, 7], outside="nan")).tolist() == [False, True]
    with pytest.raises(UsageError, match="0 groups with contention 1"):
        in_groups("allreduce", "ring", FAR, 0)


def test_what_an_algorithm_takes_beyond_its_messages_is_fitted_to_its_own_runs():
    """An all-to-all that copies its own block, and a broadcast through another memory than that of messages."""
    S, P = (one.ravel() for one in np.meshgrid(4.0 ** np.arange(2, 9), [2.0, 5.0]))
    pairwise = collectives_of("alltoall", FAR)["pairwise"]
    times = (1.3 * pairwise(S=S, P=P) + 0.2e-9 * S)[:, None]
    cells = Cells("alltoall", "MPI_Alltoall", S, P, times)
    found = fit_in_context(cells, FAR)
    assert set(found) == {2.0, 5.0}
    assert found[5.0].algorithm == "linear"  # takes as long as pairwise
    assert (found[5.0].factor, found[5.0].per_byte) == pytest.approx((1.3, 0.2e-9), rel=1e-6)
    assert found[5.0].sentence == "P = 5: linear, 1.3 times its messages and 200 ps for each byte"
    assert held_out_in_context(cells, FAR).errors.max() < 1e-6
    assert held_out(cells, FAR).errors.min() > 0.1
    with pytest.raises(DataError, match=r"^MPI_Alltoall: no number of processes has 3 sizes; two constants need as many\.$"):
        fit_in_context(cells.where(S < 100), FAR)


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
