"""What is implausible, and what is a copy, is flagged: for everybody alike, and until a person accepts it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_submissions import FLAGGED, good
from store_content import files_of

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import StoreError
from scalkit.store import merge as merging
from scalkit.store.filed.dataset import runs_of
from scalkit.store.flags import flag
from scalkit.store.runs.content import encoded


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return good(tmp_path_factory.mktemp("good") / "store")


def test_merge_flags_measurements_that_are_here_under_another_name(submission: Path, tmp_path: Path) -> None:
    mine = sk.store.open(tmp_path / "mine")
    mine.merge(submission)
    (first,) = mine.folder.run_ids()
    forged = sk.store.open(tmp_path / "forged")
    (copied,) = forged.put(mine.load(), machine="forged machine").added
    merged = mine.merge(forged.path)
    assert merged.added == (copied,)
    original, copy = sorted((first, copied))  # both say that they began at the same time
    assert [(one.run_id, one.was_here) for one in merged.flagged] == [(copy, copy == first)]
    text = f"it has repetitions of the run {original[:12]}, or parts of them, as they are or changed"
    assert text in str(merged)
    assert [(one["run_id"], one["reason"], one["found"]) for one in mine.retractions()] == [(copy, text, "raw-copied")]
    assert mine.runs()["run_id"].tolist() == [original]
    assert mine.folder.copies() == (((original,), (copy,)),)
    again = sk.store.open(tmp_path / "again")
    again.merge(forged.path)
    again.merge(submission)
    assert files_of(again) == files_of(mine)


def test_a_person_accepts_what_is_flagged(submission: Path, tmp_path: Path) -> None:
    """By restoring it, or by retracting what it is said to be a copy of; merges bring the flag back to nobody."""
    (tmp_path / "made").mkdir()
    path = FLAGGED["copy with a noise of 1 %"][1](submission, tmp_path / "made")
    mine = sk.store.open(tmp_path / "mine")
    (flagged,) = mine.merge(path).flagged
    assert len(mine) == 1
    mine.restore(flagged.run_id, "another machine with the same noise", by="me")
    assert len(mine) == 2
    assert (mine.merge(path).flagged, len(mine)) == ((), 2)
    theirs = sk.store.open(tmp_path / "theirs")
    merged = theirs.merge(mine.path)
    assert (merged.flagged, len(theirs)) == ((), 2)
    assert merged.accepted == (
        f"{flagged.run_id[:12]}: {flagged.reason!r}, accepted by me ('another machine with the same noise')",
    )
    assert "  1 run flagged and in the answers, as people accepted or signed that:" in str(merged)
    assert "flagged, and accepted by me (" in str(sk.store.validate(mine.path))
    assert sk.store.validate(mine.path).ok
    other = sk.store.open(tmp_path / "other")
    other.merge(path)
    (original,) = set(other.folder.run_ids()) - {flagged.run_id}
    other.retract(original, "the machine's name was wrong")
    assert other.runs()["run_id"].tolist() == [flagged.run_id]


def test_put_flags_what_is_implausible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ds = sk.measurements([2, 4, 8], [[2.0011e-5] * 20, [3e-5] * 20, [4e-5] * 20], name="f")
    store = sk.store.open(tmp_path / "s")
    filed = store.put(ds, machine="vm")
    ((run_id, text),) = filed.flagged
    assert text == "all 20 repetitions of f at x = 2 took 20011 ns to the tick"
    assert len(store) == 0
    assert store.put(ds, machine="vm").flagged == ()
    ds.to_netcdf(tmp_path / "f.nc")
    assert main(["store", "put", str(tmp_path / "cli"), str(tmp_path / "f.nc"), "--machine", "vm"]) == 0
    printed = capsys.readouterr().out
    assert re.search(rf"^flagged [0-9a-f]{{32}}: {re.escape(text)}$", printed, re.M)
    assert "scalkit store retract STORE RUN --restore" in printed
    store.restore(run_id, "the clock is that of a simulator", by="me")
    assert len(store) == 1


def test_flags_that_others_bring_are_not_believed(submission: Path, tmp_path: Path) -> None:
    """Neither do they hide a run, nor do they keep a copy in the answers, whoever comes first."""
    (tmp_path / "made").mkdir()
    made = FLAGGED["copy with a noise of 1 %"][1](submission, tmp_path / "made")
    mine = sk.store.open(tmp_path / "mine")
    mine.merge(submission)
    (original,) = mine.folder.run_ids()
    forged = sk.store.open(tmp_path / "forged")
    forged.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"), machine="vm")
    forged.folder.add_records("flags", [flag(original, "clock-stopped", "forged by me")])
    (copied,) = {path.stem for path in made.glob("*.parquet")} - {original}
    forged.folder.set_copies([((copied,), (original,))])
    merged = mine.merge(forged.path)
    assert (merged.flagged, len(mine)) == ((), 2)
    mine.merge(made)
    other = sk.store.open(tmp_path / "other")
    for path in (made, forged.path, submission):
        other.merge(path)
    assert files_of(other) == files_of(mine)
    assert {one["run_id"] for one in mine.retractions()} == {max((original, copied), key=_began(mine))}


def _began(store: sk.store.Store) -> Callable[[str], tuple[str, str]]:
    started = dict(zip(*(store.runs(retracted=True)[name] for name in ("run_id", "started")), strict=True))
    return lambda run_id: (started[run_id] or "unknown", run_id)


def test_one_run_in_two_files_is_no_copy_of_itself(submission: Path, tmp_path: Path) -> None:
    (run,) = (submission / "runs").iterdir()
    for name in ("one", "two"):
        (tmp_path / "made" / name).mkdir(parents=True)
        shutil.copy(run, tmp_path / "made" / name)
    mine = sk.store.open(tmp_path / "mine")
    assert mine.merge(tmp_path / "made").flagged == ()
    assert (len(mine), mine.folder.copies()) == (1, ())


@pytest.mark.parametrize("content", [b"[]", b"null", b'{"copies":[]}', b"x", b""])
def test_a_damaged_list_of_copies_is_named(submission: Path, tmp_path: Path, content: bytes) -> None:
    folder = Path(shutil.copytree(submission, tmp_path / "s"))
    (folder / "copies.json").write_bytes(content)
    with pytest.raises(StoreError, match=r"^copies\.json in '.*' is damaged; delete it, the next merge makes it anew\.$"):
        sk.store.open(folder)
    sk.store.open(tmp_path / "mine").merge(folder)  # where it counts for nothing


def test_what_a_killed_merge_left_is_cleared_by_the_next(submission: Path, tmp_path: Path) -> None:
    mine, clean = (sk.store.open(tmp_path / name) for name in ("mine", "clean"))
    mine.folder.add_records("flags", [flag("a" * 32, "clock-stopped", "it stood still")])
    mine.folder.set_copies([(("a" * 32,), ("b" * 32,))])
    mine.merge(submission)
    clean.merge(submission)
    assert files_of(mine) == files_of(clean)


def test_two_merges_at_once_miss_no_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one runs between the comparison of the first and its writing."""
    rng = np.random.default_rng(3)
    times = np.rint(rng.lognormal(np.log(2e4), 0.1, (3, 40))) * 1e-9
    for name in ("p", "q"):
        sk.store.open(tmp_path / name).put(sk.measurements([2, 4, 8], times, name="f"), machine=name)
    mine, other = (sk.store.open(tmp_path / "mine") for _ in range(2))
    compare = merging._copies
    waiting = [tmp_path / "q"]

    def interrupted(*arguments: Any) -> Any:
        found = compare(*arguments)
        if waiting:
            other.merge(waiting.pop())
        return found

    monkeypatch.setattr(merging, "_copies", interrupted)
    mine.merge(tmp_path / "p")
    assert len(mine.folder.run_ids()) == 2
    assert len(mine) == 1


def test_honest_runs_of_a_coarse_clock_are_neither_refused_nor_copies(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    store = sk.store.open(tmp_path / "s")
    for run in range(2):
        times = np.floor(rng.lognormal(np.log(5), 0.3, (300, 8))) * 1e-6
        store.put(sk.measurements(list(range(2, 302)), np.maximum(times, 1e-6), name="f"), machine=f"vm {run}")
    report = sk.store.validate(store.path)
    assert (report.ok, len(report.accepted)) == (True, 2)


def test_an_implausible_copy_hides_itself_and_not_the_original(submission: Path, tmp_path: Path) -> None:
    mine = sk.store.open(tmp_path / "mine")
    mine.merge(FLAGGED["copy with a noise of 1 %"][1](submission, tmp_path))
    ((first,), (second,)) = mine.folder.copies()[0]
    assert mine.runs()["run_id"].tolist() == [first]
    mine.folder.add_records("flags", [flag(first, "clock-stopped", "it stood still")])
    assert mine.runs()["run_id"].tolist() == [second]
    mine.restore(first, "the clock was right")
    assert mine.runs()["run_id"].tolist() == [first]


def test_validate_names_flags_that_do_not_follow(submission: Path, tmp_path: Path) -> None:
    mine = sk.store.open(shutil.copytree(submission, tmp_path / "mine"))
    (run_id,) = mine.folder.run_ids()
    mine.folder.add_records("flags", [flag(run_id, "clock-stopped", "forged")])
    found = sk.store.validate(mine.path)
    assert (found.ok, found.accepted) == (False, (run_id,))
    assert re.search(r"flags/[0-9a-f]{32}\.json says of the run .* what does not follow from it: 'forged'; delete", str(found))


def test_a_campaign_that_went_on_is_no_copy_of_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    times = np.rint(rng.lognormal(np.log(2e4), 0.1, (4, 40))) * 1e-9
    for name, p in (("early", [2, 4]), ("late", [2, 4, 8, 16])):
        ds = sk.measurements(p, times[: len(p)], name="f")
        ds = ds.assign_attrs(mpi_library="MPICH", started="2026-11-01T00:00:00Z")
        for one in runs_of(ds, {"machine": "vm", "campaign": "c", "label": "l"}, {}):
            sk.store.open(tmp_path / name).folder.add(one.run_id, encoded(one))
    mine = sk.store.open(tmp_path / "mine")
    for name in ("early", "late"):
        assert mine.merge(tmp_path / name).flagged == ()
    assert len(mine) == 2


def test_a_damaged_run_is_named_and_the_others_are_merged(submission: Path, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    made = FLAGGED["copy with a noise of 1 %"][1](submission, tmp_path / "made")
    mine = sk.store.open(tmp_path / "mine")
    mine.merge(submission)
    (original,) = mine.folder.run_ids()
    assert len(mine.runs()) == 1  # so that the index has it
    path = mine.folder.runs / f"{original}.parquet"
    status, content = path.stat(), bytearray(path.read_bytes())
    content[200:260] = bytes(60)
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    (tmp_path / "alone").mkdir()
    (copied,) = {path.stem for path in made.glob("*.parquet")} - {original}
    shutil.copy(made / f"{copied}.parquet", tmp_path / "alone")
    merged = mine.merge(tmp_path / "alone")
    assert merged.added == (copied,)
    assert merged.notes == (f"the run {original[:12]} is damaged and was not compared with others.",)
    repaired = mine.merge(submission)
    assert (repaired.repaired, len(repaired.flagged)) == ((original,), 1)
    assert mine.merge(submission).flagged == ()
