"""A planted leak changes the verdict on real runs with the bundled expectations; for times see the tests in virtual time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import scalkit as sk
from scalkit.judge import Validation

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

COUNTS = (2, 3, 4, 6, 8)
RUNS = 2


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


def test_leak_in_comm_dup_decides_the_exit_status(judged):
    options = ("--ops=MPI_Comm_dup", "--slope-objects=16")
    clean = judged("sk_memory", *options)
    leaky = judged("sk_memory", *options, fault="dup_leak")
    own = clean["MPI_Comm_dup"].model
    kept = own.coefficient if str(own.growth) == "p" else 0.0  # Open MPI 4 keeps some bytes for every process itself
    if not kept:
        assert (clean["MPI_Comm_dup"].match, clean.exit_status()) == ("total", 0), clean["MPI_Comm_dup"].sentence
    verdict = leaky["MPI_Comm_dup"]
    assert (verdict.match, verdict.direction, str(verdict.model.growth)) == ("none", "grows faster", "p")
    assert verdict.model.coefficient - kept == pytest.approx(64, rel=0.01)
    assert leaky.exit_status() == 1
