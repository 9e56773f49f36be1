"""Planted bugs change what a person is told: the verdict or the rule, judged on real runs with the bundled expectations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import scalkit as sk
from scalkit.validation import Validation

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

COUNTS = (2, 4, 8, 16, 32)
RUNS = 2
MESSAGE_US = 1000  # far above what 32 processes on few cores wait for each other


@pytest.fixture
def judged(launch) -> Callable[..., Validation]:
    """Launch a program at five numbers of processes, twice each, and judge what it wrote."""

    def run(program: str, *options: str, **how: object) -> Validation:
        paths = []
        for number in range(RUNS):
            for p in COUNTS:
                done = launch(p, program, *options, f"--run-id=r{number}", f"--seed={number}", **how)
                assert done.status == 0, done.messages
                paths.append(done.path)
        return sk.validate(sk.read(paths), "mpi")

    return run


def test_linear_broadcast_is_told_from_a_tree(judged):
    options = ("--ops=MPI_Bcast,Bcast_binary_tree", "--max-reps=20", "--passes=1")
    tree = judged("sk_time", *options, fault="bcast_tree", message_us=MESSAGE_US)["MPI_Bcast"]
    linear = judged("sk_time", *options, fault="bcast_linear", message_us=MESSAGE_US)["MPI_Bcast"]
    assert tree.rank in ("total", "approximate"), tree.sentence
    assert (linear.rank, linear.direction) == ("none", "grows faster"), linear.sentence


def test_leak_in_comm_dup_decides_the_exit_status(judged):
    options = ("--ops=MPI_Comm_dup", "--slope-objects=16")
    clean = judged("sk_memory", *options)
    leaky = judged("sk_memory", *options, fault="dup_leak")
    assert (clean["MPI_Comm_dup"].rank, clean.exit_status()) == ("total", 0), clean["MPI_Comm_dup"].sentence
    verdict = leaky["MPI_Comm_dup"]
    assert (verdict.rank, verdict.direction, str(verdict.model.growth)) == ("none", "grows faster", "p")
    assert verdict.model.coefficient == pytest.approx(64, rel=0.01)
    assert leaky.exit_status() == 1


def test_slow_allreduce_breaks_the_rule(judged):
    options = ("--ops=MPI_Allreduce,MPI_Reduce,MPI_Bcast", "--max-reps=30", "--passes=2")
    broken = judged("sk_time", *options, fault="allreduce_slow").rules[0]
    assert broken.status == "violated"
    assert broken.violated_at == COUNTS
    sound = judged("sk_time", *options).rules[0]
    assert set(sound.violated_at) < set(COUNTS), sound.sentence
    assert min(broken.ratio / sound.ratio) > 2
