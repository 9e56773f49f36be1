"""Algorithms that send the same messages: their schedules, written out, are equal; and trees that serve small children first."""

from __future__ import annotations

import pytest

from scalkit.errors import UsageError
from scalkit.perfmodels import LogGP, PointToPoint, collective
from scalkit.perfmodels.collectives.model import OPERATIONS, algorithms_of, same_messages

BYTES_ALONE = PointToPoint.hockney("0 s", "2 ns/B", reduce_per_byte="0.1 ns/B")
LOGGP = LogGP(L=2e-6, o_send=1e-6, o_receive=1e-6, g=0.7e-6, G=1e-9).point_to_point()
HOCKNEY = PointToPoint.hockney("4 us", "2 ns/B", reduce_per_byte="0.1 ns/B")
S = 4096.0
DOWN, UP, BOTH = [(0, 1, S)], [(1, 0, S)], [(0, 1, S), (1, 0, S)]
HALVES = [(0, 1, S / 2), (1, 0, S / 2)]
EMPTY = [(0, 1, 0.0), (1, 0, 0.0)]
OF_TWO = {
    "broadcast": {
        **{key: [DOWN] for key in ("linear", "chain", "pipeline", "binomial")},
        **{key: [[(0, 1, S / 2)], HALVES] for key in ("scatter-ring", "scatter-doubling")},
    },
    "reduce": {**{key: [UP] for key in ("linear", "chain", "pipeline", "binomial")}, "rabenseifner": [HALVES, [(1, 0, S / 2)]]},
    "allreduce": {
        "linear": [UP, DOWN],
        "reduce-broadcast": [UP, DOWN],
        "recursive-doubling": [BOTH],
        "rabenseifner": [HALVES, HALVES],
        "ring": [HALVES, HALVES],
    },
    "allgather": {
        **{key: [BOTH] for key in ("linear", "ring", "recursive-doubling", "bruck")},
        "gather-broadcast": [UP, [(0, 1, 2 * S)]],
    },
    "alltoall": {key: [BOTH] for key in ("linear", "pairwise", "bruck")},
    "gather": {key: [UP] for key in ("linear", "in-turn", "binomial")},
    "scatter": {key: [DOWN] for key in ("linear", "in-turn", "binomial", "near-first")},
    "reduce-scatter": {key: [BOTH] for key in ("pairwise", "recursive-halving")},
    "barrier": {
        "linear": [EMPTY[1:], EMPTY[:1]],
        "tree": [EMPTY[1:], EMPTY[:1]],
        "recursive-doubling": [EMPTY],
        "dissemination": [EMPTY],
    },
}
"""Rounds of messages between two processes: source, target, bytes."""


@pytest.mark.parametrize("operation", OPERATIONS)
def test_between_two_processes_schedules_say_which_are_the_same(operation):
    schedules = OF_TWO[operation]
    assert set(schedules) == set(algorithms_of(operation))
    for name, rounds in schedules.items():
        model = collective(operation, name, HOCKNEY)
        at = {"P": 2} | ({"S": S} if "S" in model.parameters else {})
        reduced = model(**at) - sum(HOCKNEY(S=max(size for *_, size in one)) for one in rounds)
        assert 0 <= reduced + 1e-15 <= 1.01e-10 * S, name  # what is left reduces bytes
        for other, others in schedules.items():
            assert same_messages(operation, name, other, P=2, S=S) == (rounds == others), (name, other)


def test_a_pipeline_of_one_segment_is_a_chain():
    assert same_messages("reduce", "pipeline", "chain", P=64, S=8192)
    assert not same_messages("reduce", "pipeline", "chain", P=64, S=8193)
    assert not same_messages("broadcast", "pipeline", "binomial", P=2, S=8193)
    assert not same_messages("broadcast", "linear", "binomial", P=4, S=8)
    assert not same_messages("allgather", "recursive-doubling", "bruck", P=8, S=8)  # other partners
    assert same_messages("barrier", "tree", "tree", P=1024)
    assert same_messages("reduce", "pipeline", "chain", P="64", S="8 KiB")
    with pytest.raises(UsageError, match="S is '8 us'; it must be in B"):
        same_messages("reduce", "pipeline", "chain", P=64, S="8 us")
    with pytest.raises(UsageError, match="broadcast has no algorithm 'magic'"):
        same_messages("broadcast", "magic", "chain", P=8)
    with pytest.raises(UsageError, match="P = 0; there must be a process"):
        same_messages("broadcast", "chain", "chain", P=0)


def near_first(P, message, block):
    """Return when the last of P processes has its block if everyone serves its smallest child first."""
    done, begun, step = 0.0, 0.0, 1
    while step < P:
        below = min(step, P - step) * block
        done = max(done, begun + message(S=below) + near_first(min(step, P - step), message, block))
        begun += (message.gap or message.time)(S=below)
        step *= 2
    return done


@pytest.mark.parametrize("message", [BYTES_ALONE, HOCKNEY, LOGGP])
def test_small_children_are_served_first(message):
    model = collective("scatter", "near-first", message)
    for P in (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 20, 24, 33, 64):
        assert model(S=100, P=P) == pytest.approx(near_first(P, message, 100), rel=1e-12), P
    for P in (7, 11, 13, 15, 63, 255):
        assert 0.75 <= model(S=100, P=P) / near_first(P, message, 100) < 1 + 1e-12, P
