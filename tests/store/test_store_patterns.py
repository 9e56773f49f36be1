"""Work units and messages in a store: which suites they are, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import scalkit as sk
from scalkit.bench.arguments import operations
from scalkit.plots.store.site import page
from scalkit.store.runs.columns import pattern_of
from scalkit.support.native import sources

OPS = ("Master_worker[Recv_any]", "Master_worker[Waitany:20us]")


def _file(folder: Path, name: str, head: dict[str, Any], records: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    base = {"rec": "env", "schema": 1, "mpi_library": "MPICH Version: 5.0.2", "host": "vm", "processes_per_node": head["p"]}
    end = {"rec": "end", "records": len(records) + 1, "status": "complete", "wall_s": 1.0}
    lines = [{**base, "started": "2026-01-02T03:04:05Z", **head}, *records, end]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def farm(folder: Path, all_workers: tuple[int, ...], sizes: tuple[int, ...], runs: int = 2) -> Path:
    random = np.random.default_rng(4)
    for run in range(runs):
        for workers in all_workers:
            n, p = 10 * workers, workers + 1
            records = []
            for op in OPS:
                for size in sizes:
                    t = random.integers(3000 * n, 3500 * n, 6)
                    one = {"rec": "units", "op": op, "p": p, "size_B": size, "result_B": 16, "work_ns": 0, "units": n}
                    one |= {"pass": 0, "verified": True, "t_ns": t.tolist(), "watched_ns": t.tolist(), "ready_ns": [100]}
                    one |= {"collect_ns": (t // 2).tolist(), "busy_ns": (t // 4).tolist(), "worked_ns": [0] * 6}
                    records.append(one)
            head = {"run_id": f"farm-r{run:02d}", "program": "sk_master_worker", "p": p, "parameter": {"workers": workers}}
            _file(folder, f"master-worker-p{p:04d}-r{run:02d}", head, records)
    return folder


def messages(folder: Path) -> Path:
    random = np.random.default_rng(5)

    def trip(op: str, p: int, size: int, number: int = 0, **detail: int) -> dict[str, Any]:
        times = random.integers(1000 + size, 1200 + 2 * size, 5).tolist()
        return {"rec": "trip", "op": op, "p": p, "size_B": size, **detail, "pass": number, "t_ns": times, "verified": True}

    for run in range(2):
        between_two = [trip("Round_trip", 2, size, number) for size in (0, 8, 64, 512) for number in (0, 1)]
        between_two += [trip("Strided", 2, 4096, stride=stride) for stride in (0, 1, 2, 4)]
        _file(folder, f"messages-p0002-r{run:02d}", {"run_id": f"m-r{run:02d}", "program": "sk_p2p", "p": 2}, between_two)
        for p in (2, 4):
            rounds = [trip("Perfect_matching", p, 1024, round=number) for number in range(3)]
            _file(folder, f"bisection-p{p:04d}-r{run:02d}", {"run_id": f"m-r{run:02d}", "program": "sk_p2p", "p": p}, rounds)
    return folder


def test_suites_of_a_master_over_workers_come_back(tmp_path: Path) -> None:
    folder = farm(tmp_path / "farm", (1, 2, 4, 8, 16), (64,))
    store = sk.store.open(tmp_path / "store")
    assert len(store.put(folder).added) == 2
    suites = store.suites()
    assert set(suites["pattern"]) == {"master-worker"}
    assert set(suites["x_name"]) == {"workers"}
    assert set(suites["fixed"]) == {'{"msg_By":64}'}
    units = {(row.metric, row.unit) for row in suites.itertuples()}
    assert units == {("time", "ns"), ("master_share", "[ppm]"), ("idle_share", "[ppm]")}
    loaded, read = store.load(), sk.read(folder)
    np.testing.assert_allclose(loaded["time"], read["time"], atol=0.51e-9)
    for share in ("master_share", "idle_share"):
        np.testing.assert_allclose(loaded[share], read[share], atol=0.51e-6)
        assert loaded[share].attrs == read[share].attrs
    assert (loaded.attrs["parameter"], loaded.attrs["message_size_B"]) == ("workers", 64)
    verdict = sk.validate(loaded, {OPS[0]: "1"})[OPS[0]]
    assert verdict.answer == sk.validate(read, {OPS[0]: "1"})[OPS[0]].answer
    found = store.compare([f"op={op},metric=master_share" for op in OPS])
    assert (found.curves[0].x_name, found.curves[0].unit, found.curves[0].fixed) == ("workers", "1", "64 B")
    assert 0.5 < found.curves[0].y.min() < found.curves[0].y.max() < 1.0
    assert not sk.store.validate(store.path).refused
    assert "workers" in page(store)


def test_suites_of_a_master_over_the_size(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    store.put(farm(tmp_path / "farm", (1, 3), (8, 64, 512)))
    suites = store.suites(metric="time")
    assert set(suites["x_name"]) == {"msg_By"}
    assert set(suites["fixed"]) == {'{"p":2}', '{"p":4}'}
    tree = store.load(op=OPS[1])
    assert [ds.attrs["parameter"] for ds in (node.to_dataset() for node in tree.leaves)] == ["S", "S"]
    curve = store.compare([f"op={OPS[1]},metric=time,p=4"]).curves[0]
    assert (curve.x.tolist(), curve.fixed) == ([8, 64, 512], "p = 4")
    both = store.compare([f"op={OPS[1]},metric=time"]).curves
    assert [(curve.fixed, curve.x.tolist()) for curve in both] == [("p = 2", [8, 64, 512]), ("p = 4", [8, 64, 512])]


def test_a_dataset_with_shares_can_be_filed(tmp_path: Path) -> None:
    ds = sk.read(farm(tmp_path / "farm", (1, 2, 4), (64,)))
    store = sk.store.open(tmp_path / "store")
    assert len(store.put(ds, machine="vm").added) == 2
    assert set(store.suites(metric="idle_share")["unit"]) == {"[ppm]"}
    assert not sk.store.validate(store.path).refused


def test_messages_are_suites_over_size_stride_and_processes(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    assert len(store.put(messages(tmp_path / "messages")).added) == 2
    suites = store.suites()
    assert set(suites["pattern"]) == {"point-to-point"}
    over = {(row.op, row.x_name, row.fixed) for row in suites.itertuples()}
    assert over == {
        ("Round_trip", "msg_By", '{"p":2}'),
        ("Strided", "stride", '{"msg_By":4096,"p":2}'),
        ("Perfect_matching", "p", '{"msg_By":1024}'),
    }
    assert store.compare(["Round_trip"]).curves[0].x.tolist() == [0, 8, 64, 512]
    assert store.compare(["Strided"]).curves[0].x.tolist() == [0, 1, 2, 4]
    points = store.points(op="Perfect_matching")
    assert set(points["n"]) == {15}  # three rounds of five, repetitions of one thing
    strided = store.load(op="Strided")
    assert (strided.attrs["parameter"], strided["stride"].values.tolist()) == ("stride", [1, 2, 4])
    assert json.loads(strided.attrs["notes"]) == ["left out, for 0 has no place on the axis: 2 at stride = 0"]
    trips = store.load(op="Round_trip")
    assert trips["time"].shape == (1, 3, 2, 10)
    assert not sk.store.validate(store.path).refused


def test_the_groups_of_what_is_timed_are_of_one_pattern() -> None:
    wanted = {"paper": "collective", "nonblocking": "collective", "rma": "rma", "simple": "simple"}
    wanted |= {"point-to-point": "point-to-point", "send-modes": "point-to-point", "substitutes": "collective"}
    tree = sources("microbench")
    found = {group: {pattern_of(op, "sk_time") for op in operations(tree, "collectives", group)} for group in wanted}
    assert found == {group: {pattern} for group, pattern in wanted.items()}
    assert pattern_of("MPI_Reduce_local", "sk_time") == "simple"
    assert {pattern_of(op, "sk_time") for op in ("Win_create_and_free", "MPI_Win_allocate")} == {"rma"}
    assert {pattern_of(op, "sk_time") for op in ("Comm_dup_and_free", "MPI_Comm_split")} == {"collective"}
