"""The store that comes with scalkit: every pattern is there, measured, by the rules that the documentation names."""

from __future__ import annotations

from pathlib import Path

import pytest

import scalkit as sk
from scalkit.store import Store
from scalkit.store.runs.columns import PATTERNS

FOLDER = Path(__file__).resolve().parents[2] / "data" / "store"
LIBRARIES = ("vm, 2 cores, Intel MPI 2021.16", "vm, 2 cores, MPICH 5.0.2", "vm, 2 cores, Open MPI 5.0.11")
OVER_TCP = "vm, 2 cores, TCP, MPICH 5.0.2"


@pytest.fixture(scope="module")
def store() -> Store:
    return sk.store.open(FOLDER, readonly=True)


def test_every_pattern_is_measured_with_every_library(store: Store) -> None:
    found = store.query("SELECT DISTINCT platform, pattern FROM points WHERE clock = 'real'")
    for library in LIBRARIES:
        there = set(found[found["platform"] == library]["pattern"])
        assert there == set(PATTERNS) - {"kernel"}, library
    assert set(found[found["platform"] == "vm, 2 cores"]["pattern"]) == {"kernel"}


def test_operations_were_repeated_until_their_mean_was_known(store: Store) -> None:
    names = ", ".join(f"'{library}'" for library in LIBRARIES)
    points = store.query(
        f"SELECT * FROM points WHERE platform IN ({names}) AND pattern IN ('collective', 'rma', 'simple') AND metric = 'time'"
    )
    assert set(points["allowed_stderr"]) == {0.02}
    assert set(points["cut"]) == {"1,4"}
    assert bool(points["verified"].all())
    done = points[points["status"] == "converged"]
    assert len(done) > len(points) / 4
    assert bool((done["stderr"] <= 0.02).all())


def test_processes_that_share_cores_are_runs_of_their_own(store: Store) -> None:
    shared = store.query(
        "SELECT run_id, count(DISTINCT oversubscribed) AS kinds FROM points WHERE clock = 'real' GROUP BY run_id"
    )
    assert set(shared["kinds"]) == {1}


def test_refinement_closes_in_on_the_limit_that_was_set(store: Store) -> None:
    points = store.query(f"SELECT x, median(q1) AS t FROM points WHERE platform = '{OVER_TCP}' GROUP BY x ORDER BY x")
    x, t = points["x"].to_numpy(), points["t"].to_numpy()
    steps = t[1:] / t[:-1]
    at = steps.argmax()
    assert x[at] < 12000 <= x[at + 1]
    assert x[at + 1] / x[at] < 1.1, "the first pass has powers of two"
    run = store.runs(machine="vm, 2 cores, TCP")["run_id"].iloc[0]
    switches = store.record(run)["measured"]["environment"]
    assert (switches["UCX_RNDV_THRESH"], switches["UCX_TLS"], switches["MPIR_CVAR_NOLOCAL"]) == ("12000", "tcp,self", "1")
