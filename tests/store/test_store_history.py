"""What changed on a machine over the versions of a library, or over time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.history import history
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
    assert main(["history", path]) == 1
    said = capsys.readouterr().out
    assert f"The first bad version is {SLOW_SINCE}: MPI_Bcast got worse" in said
    assert main(["history", path, "--json", "--where", "op=MPI_Barrier"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == list(VERSIONS)
    assert main(["history", path, "--tolerance", "3"]) == 2
    assert "--tolerance is 3" in capsys.readouterr().err
    assert main(["history", path, path, "--where", "op=MPI_Barrier"]) == 2
    assert "--where chooses runs of a store; name the folder or the zip of one" in capsys.readouterr().err


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


def _with(folder: Path, **env: object) -> None:
    """Change what the launches of a campaign say of what they were measured with."""
    for path in folder.glob("*.jsonl"):
        first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([json.dumps({**json.loads(first), **env}), *rest, ""]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kernel": "Linux 6.2"}, "kernel, from Linux 6.1 to Linux 6.2"),
        ({"cpu": "Xeon 2"}, "CPU, from Xeon 1 to Xeon 2"),
        ({"compiler": "13.1"}, "compiler, from 12.2 to 13.1"),
        ({"provenance": {"settings": {"UCX_TLS": "tcp"}}}, "UCX_TLS, from sm to tcp"),
    ],
    ids=["kernel", "CPU", "compiler", "setting"],
)
def test_a_version_is_not_blamed_where_something_else_changed(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    store = sk.store.open(tmp_path / "store")
    before = {"kernel": "Linux 6.1", "cpu": "Xeon 1", "compiler": "12.2", "provenance": {"settings": {"UCX_TLS": "sm"}}}
    folders = [_run(tmp_path / "runs", version, day) for day, version in enumerate(VERSIONS, 1)]
    for version, folder in zip(VERSIONS, folders, strict=True):
        is_late = VERSIONS.index(version) >= VERSIONS.index(SLOW_SINCE)
        _with(folder, **(before | changed if is_late else before))
        store.put([str(folder)], machine="cluster")
    of_store = store.history()
    assert of_store.first_bad is None
    assert of_store.steps[0].also_changed == (said,)
    name = said.partition(",")[0]
    assert of_store.headline == (
        f"MPI_Bcast got worse at {SLOW_SINCE}, where more than the version changed: {name}; 2 functions over 4 versions"
    )
    of_folders = history([(folder.name, sk.read(folder)) for folder in folders])
    assert of_folders.first_bad is None
    library = f"MPI library, from MPICH Version: 4.10.1 to MPICH Version: {SLOW_SINCE}"
    assert of_folders.steps[0].also_changed == tuple(sorted((library, said)))
    assert (of_store.exit_status(), of_folders.exit_status()) == (1, 1)
    assert f"; changed as well: {said}" in of_store.steps[0].sentence


def test_the_network_counts_between_nodes(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    for day, version in enumerate(VERSIONS, 1):
        folder = _run(tmp_path / "runs", version, day)
        _with(folder, hosts=["node1", "node2"])
        network = "InfiniBand HDR" if VERSIONS.index(version) < VERSIONS.index(SLOW_SINCE) else "Ethernet 10 Gb/s"
        store.put([str(folder)], machine="cluster", network=network)
    (step, *_) = store.history().steps
    assert step.also_changed == ("network, from InfiniBand HDR to Ethernet 10 Gb/s",)


def test_days_are_dates_in_utc(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    for day, version in enumerate(VERSIONS, 1):
        folder = _run(tmp_path / "runs", version, day)
        _with(folder, started=f"2026-01-{day + 1:02d}T01:04:05+02:00")
        store.put([str(folder)], machine="cluster")
    assert store.history("day").labels == ("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04")
    undated = _run(tmp_path / "runs", "5.0.0", 5, host="node2")
    _with(undated, started="")
    store.put([str(undated)], machine="cluster")
    with pytest.raises(DataError, match=r"^the run [0-9a-f]{12} does not say when it began \(''\); choose others, as with "):
        store.history("day")


@pytest.mark.parametrize(("cpu", "changed"), [("Xeon 1", ()), ("", ("machine, from node1 to node2",))])
def test_another_node_counts_only_where_its_cpu_is_not_known(tmp_path: Path, cpu: str, changed: tuple[str, ...]) -> None:
    """Nodes of a cluster, and virtual machines of a CI service, have other names from run to run."""
    commits = []
    for day, version in enumerate(VERSIONS, 1):
        host = "node2" if VERSIONS.index(version) >= VERSIONS.index(SLOW_SINCE) else "node1"
        folder = _run(tmp_path / "runs", version, day, host=host)
        _with(folder, cpu=cpu, mpi_library="MPICH Version: 5.0.0")
        commits.append((version, sk.read(folder)))
    found = history(commits)
    assert found.steps[0].also_changed == changed
    assert found.first_bad == (None if changed else SLOW_SINCE)
