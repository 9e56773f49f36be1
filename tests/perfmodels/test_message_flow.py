"""The algorithm of an operation from its messages: played ones are named, changed ones are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scalkit import plots
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import name_messages
from scalkit.perfmodels.collectives.message_flow import Flow, Plays
from scalkit.perfmodels.played import Machine

MACHINE = Machine(1_000_000, 300_000, 100_000, 80.0)


@pytest.fixture(scope="module")
def mpich() -> Plays:
    return Plays("MPICH", MACHINE)


def named(plays: Plays | None, messages: Sequence[Sequence[int]], P: int = 13, S: int = 1024, root: int = 0) -> Flow:
    return name_messages("MPI_Bcast", "broadcast", P, S, messages, plays, root=root)


def test_a_tree_is_proved_by_its_messages(mpich: Plays) -> None:
    flow = named(mpich, mpich.of("broadcast", "binomial", 13, 1024).wire)
    assert (flow.names, flow.match, flow.n_rounds) == (("binomial",), "to the nanosecond", 4)
    assert flow.sentence == (
        "MPI_Bcast of 1 KiB with 13 processes: binomial, 12 messages in 4 rounds; each message is sent and arrives when that "
        "algorithm's does."
    )


def test_ranks_count_from_the_root(mpich: Plays) -> None:
    wire = mpich.of("broadcast", "binomial", 13, 1024).wire
    turned = [((one.source + 5) % 13, (one.to + 5) % 13, *one[2:]) for one in wire]
    assert named(mpich, turned, root=5).match == "to the nanosecond"
    assert named(mpich, turned).names == ("other",)


def test_times_may_differ_and_bytes_may_not(mpich: Plays) -> None:
    wire = mpich.of("broadcast", "binomial", 13, 1024).wire
    late = [(*one[:3], one.sent, one.arrival + 5000) for one in wire]
    assert named(mpich, late).match == "message by message"
    longer = [(one.source, one.to, one.n_bytes + 8, one.sent, one.arrival) for one in wire]
    assert (named(mpich, longer).names, named(mpich, longer).match) == (("binomial",), "by its edges")


def test_an_unknown_tree_is_other_whatever_its_times(mpich: Plays) -> None:
    wire = [tuple(one) for one in mpich.of("broadcast", "binomial", 13, 1024).wire]
    source, _, *rest = wire[-1]
    flow = named(mpich, [*wire[:-1], (source, 1 if source != 1 else 2, *rest)])
    assert (flow.names, flow.match) == (("other",), "")
    assert "no algorithm that scalkit knows of; 12 messages" in flow.sentence


def test_an_unknown_library_is_compared_by_its_edges() -> None:
    wire = Plays("Open MPI", MACHINE).of("broadcast", "binomial", 8, 65536).wire
    flow = named(None, wire, 8, 65536)
    assert (flow.names, flow.match) == (("binomial",), "by its edges")
    assert sum(number == 0 for number in flow.rounds) == 3 * 7
    assert "7 messages and 21 of the protocol in 3 rounds" in flow.sentence


@pytest.mark.parametrize(
    ("operation", "name", "rounds"),
    [("allgather", "ring", 7), ("allgather", "recursive-doubling", 3), ("reduce", "binomial", 3), ("alltoall", "linear", 7)],
)
def test_a_process_sends_and_gets_one_message_a_round(mpich: Plays, operation: str, name: str, rounds: int) -> None:
    flow = name_messages("MPI", operation, 8, 1024, mpich.of(operation, name, 8, 1024).wire, mpich)
    assert flow.n_rounds == rounds
    for k in range(1, rounds + 1):
        sent = [row[:2] for row, number in zip(flow.messages, flow.rounds, strict=True) if number == k]
        assert len({one[0] for one in sent}) == len({one[1] for one in sent}) == len(sent)


def test_the_picture_has_a_line_for_each_message(mpich: Plays) -> None:
    flow = named(mpich, mpich.of("broadcast", "binomial", 4, 1024).wire, 4)
    figure = plots.message_flow(flow)
    assert [trace.name for trace in figure.data] == ["round 1", "round 2"]
    assert list(figure.data[0].y) == [0, 2, None]
    assert figure.data[0].text[0] == "0 to 2: 1056 B, 0.00 to 1.38 us"


def test_no_message_is_an_error() -> None:
    with pytest.raises(DataError, match=r"^MPI_Bcast with 13 processes sent no message; there is nothing to name\.$"):
        named(None, [])


def test_an_unknown_library_has_no_plays() -> None:
    with pytest.raises(UsageError) as caught:
        Plays("Intel MPI", MACHINE)
    assert str(caught.value) == "the messages of 'Intel MPI' are not known; those of MPICH, Open MPI are."
