"""The index grows by segments: filing a run writes little of it again, and what is gone is in no answer."""

import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.store import index, segments
from scalkit.store.segments import segments_of


def _run(seed: int) -> xr.Dataset:
    return sk.measurements([2, 4, 8], np.random.default_rng(seed).lognormal(-10, 0.1, (3, 5)), name="MPI_Bcast")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_FRESH_WRITTEN", 0)
    monkeypatch.setattr(segments, "FULL", 9)
    monkeypatch.setattr(index, "FULL", 9)


def _written(store: sk.store.Store) -> set[Path]:
    return {one.path for one in segments_of(store.folder.index)}


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_filing_a_run_leaves_full_segments_as_they_are(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    before: set[Path] = set()
    full: set[Path] = set()
    for number in range(30):
        store.put(_run(number), machine=f"machine {number}")
        assert len(store.points()) == 3 * (number + 1)
        now = _written(store)
        assert full <= now, "a full segment was written again"
        assert len(now - before) == 1
        sizes = {one.path: len(one.stamps) for one in segments_of(store.folder.index)}
        full = {path for path, size in sizes.items() if size >= 9}
        assert sum(sizes.values()) == number + 1
        assert len(sizes) - len(full) <= 4
        before = now
    assert len(full) >= 3
    again = sk.store.open(tmp_path / "store")
    assert again.points().equals(store.points())
    assert _written(again) == before


@pytest.mark.usefixtures("small")
def test_many_runs_at_once_are_indexed_in_parts(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    for number in range(20):
        store.put(_run(number), machine=f"machine {number}")
    assert len(sk.store.open(tmp_path / "store").runs()) == 20
    sizes = sorted(len(one.stamps) for one in segments_of(store.folder.index))
    assert sizes == [2, 9, 9]


@pytest.mark.usefixtures("small")
def test_what_is_gone_or_replaced_is_in_no_answer_and_leaves_the_index(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    ids = [store.put(_run(number), machine=f"machine {number}").added[0] for number in range(9)]
    assert len(store.runs()) == 9
    for run_id in ids[:3]:
        (store.folder.runs / f"{run_id}.parquet").unlink()
    os.utime((store.folder.runs / f"{ids[3]}.parquet"), (1, 1))  # another stamp
    assert sorted(store.points()["run_id"].unique()) == sorted(ids[3:])
    assert sorted(sk.store.open(tmp_path / "store").runs()["run_id"]) == sorted(ids[3:])
    for run_id in ids[4:8]:
        (store.folder.runs / f"{run_id}.parquet").unlink()
    store.put(_run(99), machine="another")
    assert len(store.runs()) == 3
    inside = [run_id for one in segments_of(store.folder.index) for run_id in one.stamps]
    assert ids[0] not in inside
    assert ids[3] in inside


@pytest.mark.usefixtures("small")
def test_a_broken_segment_or_list_is_made_again(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    for number in range(12):
        store.put(_run(number), machine=f"machine {number}")
        store.runs()
    expected = store.points()
    for broken in ("runs.parquet", "points.parquet", "segments.json"):
        next(store.folder.index.rglob(broken)).write_bytes(b"PAR1" if broken == "runs.parquet" else b"{")
        if broken == "points.parquet":
            next(store.folder.index.rglob(broken)).unlink()
        assert sk.store.open(tmp_path / "store").points().equals(expected), broken


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kept", [0, 0.5, 0.99])
def test_measurements_of_a_segment_that_are_cut_off_are_read_again(tmp_path: Path, kept: float) -> None:
    store = sk.store.open(tmp_path / "store")
    for number in range(5):
        store.put(_run(number), machine=f"machine {number}")
        store.runs()
    expected, read_before = store.points(), sk.store.open(tmp_path / "store")
    assert len(read_before.runs()) == 5
    for path in store.folder.index.rglob("points.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[: int(kept * len(content))])
    assert read_before.points().equals(expected)
    for path in store.folder.index.rglob("points.parquet"):
        path.write_bytes(b"PAR1")
    store.put(_run(99), machine="another")
    assert len(store.points()) == 18, "what cannot be joined is read from the runs"
    assert sk.store.open(tmp_path / "store").problems == ()


@pytest.mark.usefixtures("small")
def test_what_killed_writers_left_goes_after_a_while(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    store.put(_run(1), machine="one")
    assert len(store.runs()) == 1
    listed = _written(store)
    left = [store.folder.index / name for name in ("segments.json-0123", "new-0123", "0123456789abcdef")]
    for path in left:
        path.mkdir() if "json" not in path.name else path.write_text("{")
        os.utime(path, (1, 1))
    young = store.folder.index / "segments.json-4567"
    young.write_text("{")
    store.put(_run(2), machine="another")
    assert len(store.runs()) == 2
    assert not any(path.exists() for path in left)
    assert young.exists()
    assert all(path.exists() for path in listed | _written(store)), "what others still read stays for a while"


@pytest.mark.usefixtures("small")
def test_a_flipped_byte_of_a_segment_is_no_wrong_answer(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "store")
    store.put(_run(1), machine="one")
    expected = store.points()
    for path in store.folder.index.rglob("points.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[:200] + bytes(255 - byte for byte in content[200:600]) + content[600:])
    assert sk.store.open(tmp_path / "store").points().equals(expected)


@pytest.mark.usefixtures("small")
def test_a_folder_on_the_way_to_the_index_is_no_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user=somebody"))
    store = sk.store.open(tmp_path / "store")
    store.put(_run(1), machine="one", user="me")
    assert list(store.runs()["user"]) == ["me"]
