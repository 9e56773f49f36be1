"""What changed on a machine over the versions of a library, or over time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.store.store import Store
from scalkit.store.views.over_time import _place
from tests.measure.run_records import END, cell, env

VERSIONS = ("4.9.0", "4.10.1", "4.11.0", "5.0.0")
SLOW_SINCE = "4.11.0"


def _run(folder: Path, version: str, day: int, host: str = "node1", library: str = "MPICH") -> Path:
    """Write a campaign: MPI_Bcast slower by a half since one version, MPI_Barrier as ever."""
    rng = np.random.default_rng(day)
    out = folder / f"{host}-{version}"
    out.mkdir(parents=True)
    for p in (2, 4, 8, 16, 32):
        records = [
            env(
                p,
                run_id=f"{out.name}-r00",
                host=host,
                mpi_library=f"{library} Version:      {version}",
                started=f"2026-01-{day:02d}T03:04:05Z",
                oversubscribed=False,
            )
        ]
        slow = 1.5 if VERSIONS.index(version) >= VERSIONS.index(SLOW_SINCE) else 1.0
        for op, factor in (("MPI_Bcast", slow), ("MPI_Barrier", 1.0)):
            times = 1e5 * np.log2(2 * p) * factor * rng.lognormal(0, 0.01, 30)
            records.append(cell(op, p, t_ns=tuple(times.astype(int).tolist())))
        (out / f"time-p{p:04d}-r00.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in [*records, END]))
    return out


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store whose newest version was filed first."""
    made = sk.store.open(tmp_path / "store")
    for day, version in enumerate(reversed(VERSIONS), 1):
        made.put([str(_run(tmp_path / "runs", version, day))], machine="cluster")
    return made


def test_the_version_that_made_it_slower_is_named(store: Store) -> None:
    found = store.history()
    assert found.labels == VERSIONS
    assert found.first_bad == SLOW_SINCE
    assert [(step.function, round(step.change.factor, 1)) for step in found.failures] == [("MPI_Bcast", 1.5)]
    by_day = store.history("day", op="MPI_Bcast")
    assert by_day.labels[0] == "2026-01-01"
    assert by_day.first_bad is None
    assert by_day.steps[0].change.factor == pytest.approx(1 / 1.5, rel=0.02)


def test_candidates_stand_before_what_they_are_candidates_for() -> None:
    versions = "4.9.0 4.10.1 5.0.0a1 5.0.0-rc2 5.0.0rc12 5.0.0 5.0.0-1 5.0.0.1 5.0.1 5.0.10 2021.16".split()
    assert sorted([*versions[5:], *versions[:5]], key=_place) == versions


def test_the_command(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(store.path)
    assert main(["store", "history", path]) == 1
    said = capsys.readouterr().out
    assert f"The first bad commit is {SLOW_SINCE}: MPI_Bcast got worse" in said
    assert main(["store", "history", path, "--json", "--where", "op=MPI_Barrier"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == list(VERSIONS)
    assert main(["store", "history", path, "--tolerance", "3"]) == 2
    assert "--tolerance is 3" in capsys.readouterr().err


def test_what_is_no_history_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a history is by version, day, campaign, not by 'year'"):
        store.history("year")
    with pytest.raises(DataError, match="nothing in the store fits"):
        store.history(op="MPI_Nothing")
    with pytest.raises(DataError, match="there is no history: everything: a history needs two commits or more, got 1"):
        store.history(mpi_version="5.0.0")
    store.put([str(_run(tmp_path / "others", "5.0.0", 9, "node2"))], machine="other")
    with pytest.raises(DataError, match=r"of several machines, 'cluster', 'other'; .* --where machine='cluster'"):
        store.history()
