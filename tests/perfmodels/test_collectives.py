"""The formulas of the algorithms are the critical paths of their schedules, played message by message."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy

from scalkit.errors import UsageError
from scalkit.perfmodels import LogGP, PointToPoint, Range, bluegene_p, collective, collectives_of
from scalkit.perfmodels.collectives.model import OPERATIONS, algorithms_of
from scalkit.perfmodels.models.point_to_point import Protocol

GAMMA = 1e-10
HOCKNEY = PointToPoint.hockney("4 us", "2 ns/B", reduce_per_byte="0.1 ns/B")
SWITCHING = PointToPoint(bluegene_p()["point-to-point"], reduce_per_byte="0.1 ns/B")
LOGGP = LogGP(L=2e-6, o_send=1e-6, o_receive=1e-6, g=0.7e-6, G=1e-9, S=65536).point_to_point("0.1 ns/B")
COUNTS = [1, 2, 3, 4, 5, 8, 13, 16]


def played(P, rounds, message, S):
    """Return the time of rounds in which everyone waits for the messages to it: lists of (source, target, bytes, reduced)."""
    clock = [0.0] * P
    for messages in rounds:
        after = list(clock)
        for source, target, size, reduced in messages:
            done = max(clock[source], clock[target]) + message(S=size) + GAMMA * reduced
            after[target] = max(after[target], done)
            after[source] = max(after[source], clock[source] + message(S=size))
        clock = after
    return max(clock)


def binomial_broadcast(P, S):
    for k in range(math.ceil(math.log2(P)) if P > 1 else 0):
        yield [(r, r + 2**k, S, 0) for r in range(2**k) if r + 2**k < P]


def binomial_scatter(P, block):
    """Blocks of all processes of a subtree travel with the message to its root."""
    levels = math.ceil(math.log2(P)) if P > 1 else 0
    for k in reversed(range(levels)):
        yield [(r, r + 2**k, min(2**k, P - r - 2**k) * block, 0) for r in range(0, P, 2 ** (k + 1)) if r + 2**k < P]


def ring(P, block, reduced=0):
    for _ in range(P - 1):
        yield [(r, (r + 1) % P, block, reduced) for r in range(P)]


def bruck_alltoall(P, S):
    for k in range(math.ceil(math.log2(P)) if P > 1 else 0):
        blocks = sum(1 for j in range(P) if j >> k & 1)
        yield [(r, (r + 2**k) % P, blocks * S, 0) for r in range(P)]


def bruck_allgather(P, S):
    have = 1
    while have < P:
        send = min(have, P - have)
        yield [(r, (r - have) % P, send * S, 0) for r in range(P)]
        have += send


def doubling(P, S, grows):
    for k in range(int(math.log2(P))):
        size = 2**k * S if grows else S
        yield [(r, r ^ 2**k, size, 0 if grows else S) for r in range(P)]


@pytest.mark.parametrize("message", [HOCKNEY, SWITCHING])
@pytest.mark.parametrize("P", COUNTS)
def test_formulas_are_critical_paths(message, P):
    S = 800.0
    schedules = {
        ("broadcast", "binomial"): binomial_broadcast(P, S),
        ("scatter", "binomial"): binomial_scatter(P, S),
        ("broadcast", "scatter-ring"): [*binomial_scatter(P, S / P), *ring(P, S / P)],
        ("allgather", "ring"): ring(P, S),
        ("allgather", "bruck"): bruck_allgather(P, S),
        ("alltoall", "bruck"): bruck_alltoall(P, S),
        ("allreduce", "ring"): [*ring(P, S / P, S / P), *ring(P, S / P)],
        ("broadcast", "chain"): [[(r, r + 1, S, 0)] for r in range(P - 1)],
        ("reduce", "chain"): [[(r, r + 1, S, S)] for r in range(P - 1)],
        ("reduce-scatter", "pairwise"): [[(r, (r + d) % P, S, S) for r in range(P)] for d in range(1, P)],
    }
    if P & (P - 1) == 0:
        schedules["allreduce", "recursive-doubling"] = doubling(P, S, False)
        schedules["allgather", "recursive-doubling"] = doubling(P, S, True)
    for (operation, name), rounds in schedules.items():
        found = collective(operation, name, message)(S=S, P=P)
        assert found == pytest.approx(played(P, rounds, message, S), rel=1e-9, abs=1e-18), (operation, name)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_one_process_needs_no_time(operation):
    for model in collectives_of(operation, LOGGP).values():
        at = {"P": 1} | ({"S": 4096} if "S" in model.parameters else {})
        assert model(**at) == 0, model.name


def test_pipeline_is_a_chain_of_segments():
    P, n = 6, 5
    rounds = [[(r, r + 1, 8192, 0) for r in range(P - 1) if 0 <= k - r < n] for k in range(P + n - 2)]
    assert collective("broadcast", "pipeline", HOCKNEY)(S=8192 * n, P=P) == pytest.approx(played(P, rounds, HOCKNEY, 0), rel=1e-9)


def test_messages_of_a_linear_algorithm_leave_a_gap_apart():
    gap = max(1e-6, 0.7e-6 + 99e-9)
    assert collective("gather", "linear", LOGGP)(S=100, P=9) == pytest.approx(7 * gap + LOGGP(S=100), rel=1e-12)


def test_exchanges_cost_more_where_processes_copy_themselves():
    both = replace(HOCKNEY, exchange=2 * HOCKNEY.time)
    for (operation, name), exchanges, messages in [
        (("allgather", "ring"), 7, 0),
        (("alltoall", "pairwise"), 7, 0),
        (("allreduce", "recursive-doubling"), 3, 0),
        (("broadcast", "binomial"), 0, 3),
        (("barrier", "tree"), 0, 6),
    ]:
        at = {"P": 8} | ({"S": 800} if operation != "barrier" else {})
        each = HOCKNEY(S=800.0 if operation != "barrier" else 0.0)
        reducing = 3 * 800 * GAMMA if operation == "allreduce" else 0
        model = collective(operation, name, both)
        assert model(**at) == pytest.approx((2 * exchanges + messages) * each + reducing, rel=1e-9), name
    assert "exchange" in collective("allgather", "ring", both)._repr_html_()
    with pytest.raises(UsageError, match="cannot be the time of a message"):
        replace(HOCKNEY, exchange=bluegene_p()["matching"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_symbols_say_the_same_as_numbers(operation):
    S, P = sympy.Symbol("S", positive=True), sympy.Symbol("P", positive=True)
    for name, model in collectives_of(operation, SWITCHING).items():
        if "segment" in algorithms_of(operation)[name].formula:
            continue  # sympy does not evaluate conditions on a minimum
        expression = model.to_sympy().subs({S: 3000, P: 8}).doit()
        at = {"P": 8} | ({"S": 3000} if "S" in model.parameters else {})
        assert float(expression) == pytest.approx(model(**at), rel=1e-9), name


GROWTHS = {
    ("broadcast", "linear"): "S*p",
    ("broadcast", "chain"): "S*p",
    ("broadcast", "pipeline"): "S + p",
    ("broadcast", "binomial"): "S*log(p)",
    ("broadcast", "scatter-ring"): "S + p",
    ("broadcast", "scatter-doubling"): "S + log(p)",
    ("reduce", "linear"): "S*p",
    ("reduce", "chain"): "S*p",
    ("reduce", "pipeline"): "S + p",
    ("reduce", "binomial"): "S*log(p)",
    ("reduce", "rabenseifner"): "S + log(p)",
    ("allreduce", "linear"): "S*p",
    ("allreduce", "reduce-broadcast"): "S*log(p)",
    ("allreduce", "recursive-doubling"): "S*log(p)",
    ("allreduce", "rabenseifner"): "S + log(p)",
    ("allreduce", "ring"): "S + p",
    ("allgather", "gather-broadcast"): "S*p*log(p)",
    ("alltoall", "bruck"): "S*p*log(p)",
    ("barrier", "linear"): "p",
    ("barrier", "tree"): "log(p)",
    ("barrier", "recursive-doubling"): "log(p)",
    ("barrier", "dissemination"): "log(p)",
}


@pytest.mark.slow
def test_growths_are_those_of_the_literature():
    for operation in OPERATIONS:
        for name in algorithms_of(operation):
            expected = GROWTHS.get((operation, name), "S*p")
            for message in (HOCKNEY, LOGGP):
                assert str(collective(operation, name, message).growth) == expected, (operation, name)


def test_algorithms_for_powers_of_two_say_so():
    model = collective("allgather", "recursive-doubling", HOCKNEY)
    with pytest.raises(UsageError) as error:
        model(S=8, P=12)
    assert str(error.value) == (
        "'allgather, recursive-doubling' holds for P >= 1, powers of two, got P = 12; stay inside, or say outside='nan'."
    )
    assert np.isnan(model(S=8, P=[8, 12], outside="nan")).tolist() == [False, True]


def test_messages_beyond_the_range_of_their_model_are_refused():
    short = PointToPoint.of_protocols([Protocol(Range(0, 1024), 1e-6, 1e-9)], name="short")
    model = collective("allgather", "bruck", short)
    with pytest.raises(UsageError, match=r"^'short' holds for S <= 1 KiB, got S = "):
        model(S=1000, P=8)
    assert np.isnan(model(S=1000, P=8, outside="nan"))


def test_representations_show_the_algorithm():
    model = collective("allreduce", "recursive-doubling", LOGGP)
    assert "gap" not in model.statement
    html = model._repr_html_()
    assert ">message</th>" in html
    assert ">gap</th>" in html
    assert "Thakur" in html
    assert repr(model).startswith("CollectiveModel('allreduce, recursive-doubling': T(S, P) = ")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: collective("bcast", "x", HOCKNEY), "there are no algorithms of 'bcast'; choose one of broadcast,"),
        (lambda: collective("barrier", "x", HOCKNEY), "barrier has no algorithm 'x'; choose one of linear, tree,"),
        (lambda: collectives_of("broadcast", "card"), "the message cannot be 'card'; give a PointToPoint, as"),
        (lambda: PointToPoint(bluegene_p()["barrier"]), "'barrier' cannot be the time of a message"),
        (lambda: PointToPoint.hockney("1 us", "1 ns/B", reduce_per_byte="1 us"), "reduce_per_byte is '1 us'"),
        (lambda: PointToPoint.hockney("1 us", "1 ns/B", reduce_per_byte="-1 ns/B"), "reduce_per_byte is '-1 ns/B'"),
        (lambda: PointToPoint.hockney("-1 us", "1 ns/B"), "the latency of a message is '-1 us'; it must not be negative."),
        (lambda: LogGP(-1, 0, 0, 0, 0), "L of LogGP is -1; it must be finite and not negative."),
        (lambda: Protocol(Range(), -1e-6, 0), "the latency of a protocol is -1e-06; it must be finite"),
    ],
)
def test_models_that_make_no_sense_are_refused(made, said):
    with pytest.raises(UsageError) as error:
        made()
    assert str(error.value).startswith(said)


def test_rendezvous_costs_a_request_and_its_answer():
    assert LOGGP(S=65536) == pytest.approx(4e-6 + 65535e-9, rel=1e-12)
    assert LOGGP(S=65537) == pytest.approx(3 * 4e-6 + 65536e-9, rel=1e-12)
    assert [round(one.latency_s * 1e6, 3) for one in LOGGP.protocols()] == [3.999, 11.999]


def test_a_last_round_that_is_not_full_costs_a_gap():
    """As MPICH 5.0.2 broadcasts 8 B in virtual time: L 2 us, o 0.5 us, G 0.1 ns/B, 40 B on the wire."""
    message = LogGP(L=2e-6, o_send=0.5e-6, o_receive=0.5e-6, g=0.3e-6, G=0.1e-9).point_to_point()
    for P, us in ((2, 3.004), (3, 3.504), (4, 6.008), (6, 6.508), (12, 9.512), (64, 18.024)):
        assert 1e6 * collective("broadcast", "binomial", message)(S=41, P=P) == pytest.approx(us, abs=1e-9), P


def test_a_busy_processor_sends_all_before_it_receives():
    """As Open MPI 5.0.11 exchanges 8 B with everyone in virtual time: 126 overheads with 64 processes."""
    message = LogGP(L=2e-6, o_send=0.5e-6, o_receive=0.5e-6, g=0.3e-6, G=0.1e-9).point_to_point()
    model = collective("alltoall", "linear", message)
    assert 1e6 * model(S=31, P=4) == pytest.approx(4.003)
    assert 1e6 * model(S=31, P=64) == pytest.approx(63)
