"""What somebody else sent is refused with its reason if anything is wrong with it, and merged if nothing is."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hostile_submissions import CASES, FLAGGED, good
from hypothesis import Phase, given, settings
from needs import needs_ssh_keygen

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, StoreError, UsageError
from scalkit.store import merge as merging
from scalkit.store.filed.dataset import runs_of
from scalkit.store.flags import Group, flag
from scalkit.store.runs.content import RunContent, decoded, encoded
from scalkit.store.statements import in_effect
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.examine import findings
from scalkit.store.submissions.report import report_of, with_flags

Plan = Any
"""A store by its place, or two plans to merge."""

DATA = Path(__file__).resolve().parents[2] / "data"

ESCAPING = """
import ctypes, json, os, sys
from pathlib import Path
from scalkit.store.submissions.sandbox import confine
own, elsewhere = map(Path, sys.argv[1:])
told = {"confined": confine(own), "refused": []}
import socket, subprocess
tries = {
    "socket": lambda: socket.socket(),
    "connect": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "program": lambda: subprocess.run(["true"]),
    "system": lambda: os.system("true"),
}
for name, attempt in tries.items():
    try:
        attempt()
    except PermissionError:
        told["refused"].append(name)
libc = ctypes.CDLL(None, use_errno=True)
told["socket of C"] = os.strerror(ctypes.get_errno()) if libc.socket(2, 1, 0) < 0 else "made"
told["interfaces"] = [line.split(":")[0].strip() for line in Path("/proc/self/net/dev").read_text().splitlines()[2:]]
(own / "file").write_text("x")
told["own"] = "written"
try:
    elsewhere.write_text("x")
except OSError as error:
    told["elsewhere"] = type(error).__name__
print(json.dumps(told))
"""
"""Tries what code hidden in a file would try, once the process is confined."""


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return good(tmp_path_factory.mktemp("good") / "store")


def test_there_are_at_least_180() -> None:
    assert len(CASES) >= 155
    assert len(FLAGGED) >= 25


@pytest.fixture(scope="module")
def made(submission: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return every case as a path: of single files each in a folder of its own below ``files``."""
    root = tmp_path_factory.mktemp("hostile")
    paths = {}
    for number, (name, (_, make)) in enumerate(CASES.items()):
        into = root / "each" / str(number)
        into.mkdir(parents=True)
        paths[name] = make(submission, into)
        if paths[name].suffix == ".parquet":
            (root / "files").mkdir(exist_ok=True)
            into.rename(root / "files" / str(number))
            paths[name] = root / "files" / str(number) / paths[name].name
    return paths


def test_hostile_files_are_refused_with_their_reason(made: dict[str, Path]) -> None:
    files = {name: path for name, path in made.items() if path.suffix == ".parquet"}
    folder = next(iter(files.values())).parents[1]
    report = sk.store.validate(folder, policy=Policy(max_values=1_000_000))
    assert report.accepted == ()
    found = {one.file: [code for code, _ in one.refused] for one in report.refused}
    assert found == {str(path.relative_to(folder)): [CASES[name][0]] for name, path in files.items()}


READING = """
import json, resource, sys
from pathlib import Path
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.examine import findings
from scalkit.store.submissions.report import report_of, with_flags
from scalkit.store.submissions.examine import findings
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
scratch, policy = Path(sys.argv[1]), Policy(max_values=1_000_000)
for number, path in enumerate(map(Path, json.load(sys.stdin))):
    (scratch / str(number)).mkdir()
    found = list(findings(path, scratch / str(number), policy, set(), False, lambda name: None))
    print(json.dumps([code for one in found for code, _ in one.get("refused", ())]), flush=True)
"""
"""Reads many submissions in one process that nothing confines but its memory."""


def test_hostile_files_folders_and_zips_are_refused_by_their_reader_alone(made: dict[str, Path], tmp_path: Path) -> None:
    """The reader finds each fault itself, not by the limits of its process; what is in a run twice, whoever compares runs."""
    paths = json.dumps([str(path) for path in made.values()])
    run = subprocess.run([sys.executable, "-c", READING, tmp_path], input=paths, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = dict(zip(made, map(json.loads, run.stdout.splitlines()), strict=True))
    codes = {name: CASES[name][0] for name in made}
    assert found == {name: [] if code == "raw-duplicated" else [code] for name, code in codes.items()}


@pytest.mark.parametrize("name", FLAGGED)
def test_implausible_runs_and_copies_are_flagged_with_their_reason(name: str, submission: Path, tmp_path: Path) -> None:
    code, make = FLAGGED[name]
    (tmp_path / "scratch").mkdir()
    (tmp_path / "made").mkdir()
    path = make(submission, tmp_path / "made")
    found = list(findings(path, tmp_path / "scratch", Policy(), set(), False, lambda name: None))
    report = with_flags(report_of(path, found, ""), tmp_path / "scratch" / "clean", Policy())
    assert not report.refused
    assert not report.ok
    assert [code for one in report.flagged for code, _ in one.flags] == [code]
    assert f"{report.flagged[0].file}: flagged: " in str(report)


@pytest.mark.slow
def test_hostile_folders_and_zips_are_refused_with_their_reason(made: dict[str, Path]) -> None:
    others = {name: path for name, path in made.items() if path.suffix != ".parquet"}
    with ThreadPoolExecutor(2) as pool:
        reports = dict(zip(others, pool.map(sk.store.validate, others.values()), strict=True))
    found = {name: [code for one in report.refused for code, _ in one.refused] for name, report in reports.items()}
    assert found == {name: [CASES[name][0]] for name in others}


def test_a_zip_that_leads_upwards_writes_nothing_there(made: dict[str, Path]) -> None:
    with pytest.raises(DataError, match=r"^the name '../../evil\.parquet' leads out of the folder\.$"):
        sk.store.open(made["zip that leads upwards"])
    assert not list(made["zip that leads upwards"].parents[2].rglob("evil*"))


def test_the_good_one_is_accepted_as_folder_zip_and_file(submission: Path, tmp_path: Path) -> None:
    run = next((submission / "runs").iterdir())
    archive = tmp_path / "good.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for one in (run, submission / "scalkit-store.json"):
            opened.write(one, one.relative_to(submission))
    for path in (submission, archive, run):
        report = sk.store.validate(path)
        assert report.ok, str(report)
        assert report.accepted == (run.stem,)


def test_real_runs_are_accepted(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for name in ("quickstart", "libraries-times/mpich-5.0.2", "simulated/daint", "mafia/m1"):
        store.put(DATA / name)
    report = sk.store.validate(tmp_path / "s")
    assert report.ok, str(report)
    assert len(report.accepted) == len(store)


def test_who_reads_is_limited(submission: Path) -> None:
    small = sk.store.validate(submission, policy=Policy(memory_bytes=64 << 20))
    assert [code for one in small.refused for code, _ in one.refused] == ["reader-died"]
    slow = sk.store.validate(submission, policy=Policy(wall_s=0.01))
    assert "took more than" in slow.refused[0].refused[0][1]


def test_who_reads_has_no_network_no_programs_and_one_place_to_write(submission: Path, tmp_path: Path) -> None:
    """Every means that is said to be in force is, against code that goes around Python, too."""
    confined = sk.store.validate(submission).confined
    assert confined[-1] == "audit hook"
    (tmp_path / "own").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ESCAPING, str(tmp_path / "own"), str(tmp_path / "elsewhere")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["confined"] == list(confined)
    assert told["refused"] == ["socket", "connect", "program", "system"]
    assert told["own"] == "written"
    if "seccomp" in confined:
        assert told["socket of C"] == "Permission denied"
    if "network name space" in confined:
        assert told["interfaces"] == ["lo"]
    if "landlock" in confined:
        assert told["elsewhere"] == "PermissionError"
        assert not (tmp_path / "elsewhere").exists()


def test_merge_takes_what_is_valid_and_new_once(submission: Path, made: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(submission, other)
    theirs = sk.store.open(other)
    second = theirs.put(DATA / "libraries" / "mpich-5.0.2").added
    theirs.retract(second[0], "wrong clock", by="them")
    shutil.copy(made["time of nothing"], other / "runs")
    mine = sk.store.open(tmp_path / "mine")
    first = mine.merge(other)
    assert len(first.added) == 3
    assert [code for one in first.refused for code, _ in one.refused] == ["not-positive"]
    assert first.statements == 1
    assert mine.retractions() == theirs.retractions()
    assert len(mine) == 2
    again = mine.merge(other)
    assert (again.added, len(again.skipped), again.statements) == ((), 3, 0)
    assert list((mine.path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("reason", "by", "code"),
    [("\u202e", "", "text-control"), ("x" * 70_000, "", "text-long"), ('a < "b"', "<b>", "markup-in-name")],
)
def test_retractions_are_checked(submission: Path, tmp_path: Path, reason: str, by: str, code: str) -> None:
    other = tmp_path / "other"
    shutil.copytree(submission, other)
    theirs = sk.store.open(other)
    run_id = theirs.folder.run_ids()[0]
    theirs.folder.add_records("statements", [{"run_id": run_id, "reason": reason, "by": by, "when": ""}])
    mine = sk.store.open(tmp_path / "mine")
    merged = mine.merge(other)
    assert [(one.file, one.refused[0][0]) for one in merged.refused] == [("statements", code)]
    assert (len(mine), merged.statements, mine.retractions()) == (len(merged.added), 0, [])


def test_merge_names_runs_that_others_retracted_or_leaves_them(submission: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    careful, mine, theirs = (
        sk.store.open(shutil.copytree(submission, path)) for path in (tmp_path / "careful", tmp_path / "mine", other)
    )
    (run_id,) = theirs.folder.run_ids()
    theirs.retract(run_id, "wrong clock", by="them")
    (new,) = theirs.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"), machine="vm").added
    theirs.retract(new, "noise", by="them")
    assert f"retracted there: {run_id[:12]}: 'wrong clock', by them" in str(sk.store.validate(other))
    left = careful.merge(other, retractions=False)
    assert ([one.run_id for one in left.left], left.hidden, len(careful)) == ([run_id], (), 2)
    assert "  1 run retracted there stays in the answers here:" in str(left).splitlines()
    merged = mine.merge(other)
    assert [(one.run_id, one.by, one.platform) for one in merged.hidden] == [(run_id, "them", "good machine")]
    lines = str(merged).splitlines()
    assert lines[0] == "1 added, 1 there already, 0 refused, 2 statements taken over."
    assert lines[1] == "  1 run that was here is hidden now, as it is retracted there:"
    assert lines[2].startswith(f"    {run_id[:12]} (good machine): 'wrong clock', by them, 20")
    assert (len(mine), mine.merge(other).hidden) == (0, ())
    json.dumps(merged.to_json())


def test_put_refuses_what_others_would_with_the_same_sentence(submission: Path, tmp_path: Path) -> None:
    texts = [("machine", "<b>vm</b>"), ("machine", "x" * 201), ("machine", ""), ("site", "=1+1"), ("user", "a\u200bb")]
    texts += [("contributor", "@me"), ("licence", "e\u0301"), ("notes", "x" * 5000)]
    sentences = {}
    for field, text in texts:
        record, table = decoded(next((submission / "runs").iterdir()), "x")
        record["measured" if field in ("machine", "site") else "filing"][field] = text
        run = RunContent.of(record["measured"], record["filing"], table)
        folder = tmp_path / "theirs" / str(len(sentences))
        folder.mkdir(parents=True)
        (folder / f"{run.run_id}.parquet").write_bytes(encoded(run))
        sentences[folder.name] = (field, text)
    refused = sk.store.validate(tmp_path / "theirs").refused
    assert len(refused) == len(texts)
    store = sk.store.open(tmp_path / "s")
    for one in refused:
        field, text = sentences[Path(one.file).parent.name]
        with pytest.raises(UsageError) as error:
            store.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"), **{"machine": "vm", field: text})
        assert str(error.value) == one.refused[0][1]
    assert len(store) == 0


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
    text = f"it has the very repetitions of the run {original[:12]}"
    assert text in str(merged)
    assert [(one["run_id"], one["reason"], one["found"]) for one in mine.retractions()] == [(copy, text, "raw-duplicated")]
    assert mine.runs()["run_id"].tolist() == [original]
    assert mine.folder.copies() == (Group(((original,), (copy,)), ((original, copy),)),)
    again = sk.store.open(tmp_path / "again")
    again.merge(forged.path)
    again.merge(submission)
    assert _files(again) == _files(mine)


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
    assert "  1 new run is flagged and in the answers, as people accepted or signed them:" in str(merged)
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
    assert "scalkit store restore" in printed
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
    forged.folder.set_copies([Group(((copied,), (original,)))])
    merged = mine.merge(forged.path)
    assert (merged.flagged, len(mine)) == ((), 2)
    mine.merge(made)
    other = sk.store.open(tmp_path / "other")
    for path in (made, forged.path, submission):
        other.merge(path)
    assert _files(other) == _files(mine)
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
    mine.folder.set_copies([Group((("a" * 32,), ("b" * 32,)))])
    mine.merge(submission)
    clean.merge(submission)
    assert _files(mine) == _files(clean)


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
    ((first,), (second,)) = mine.folder.copies()[0].units
    assert mine.runs()["run_id"].tolist() == [first]
    mine.folder.add_records("flags", [flag(first, "clock-stopped", "it stood still")])
    assert mine.runs()["run_id"].tolist() == [second]
    mine.restore(first, "the clock was right")
    assert mine.runs()["run_id"].tolist() == [first]


def test_verify_names_flags_that_do_not_follow(submission: Path, tmp_path: Path) -> None:
    mine = sk.store.open(shutil.copytree(submission, tmp_path / "mine"))
    (run_id,) = mine.folder.run_ids()
    mine.folder.add_records("flags", [flag(run_id, "clock-stopped", "forged")])
    found = mine.verify()
    assert (found.ok, found.intact) == (False, (run_id,))
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


def _files(store: sk.store.Store) -> dict[str, bytes]:
    """Return the content of a store by name, without what is not yet written."""
    paths = [path for path in store.path.rglob("*") if path.is_file()]
    return {str(path.relative_to(store.path)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[sk.store.Store]:
    """Return three stores: all have one run, each filed by others; they contradict each other about it and about another."""
    folder = tmp_path_factory.mktemp("sites")
    stores = [sk.store.open(folder / f"site{k}") for k in range(3)]
    shared = sk.measurements([2, 4], [[1e-6, 2e-6], [3e-6, 4e-6]], name="MPI_Scan")
    for k, store in enumerate(stores):
        store.put(shared, machine="shared", contributor=f"contributor {k}")
        store.put(sk.measurements([2, 4], [[1e-6 * (k + 2), 2e-6], [3e-6, 4e-6]], name="MPI_Scan"), machine=f"machine {k}")
    (run_id,) = stores[0].runs(machine="shared")["run_id"]
    when = {"when": "2026-11-01T12:00:00Z"}
    for k, more in enumerate(({}, {"restored": "yes"}, {})):
        statement = {"run_id": run_id, "reason": f"reason {k}", "by": f"site {k}", **when, **more}
        stores[k].folder.add_records("statements", [statement])
    (other,) = stores[1].runs(machine="machine 1")["run_id"]
    stores[1].retract(other, "wrong clock")
    return stores


@pytest.fixture(scope="module")
def copied_sites(tmp_path_factory: pytest.TempPathFactory, sites: list[sk.store.Store]) -> list[sk.store.Store]:
    """Return the same stores with more in each: copies of each other's runs, of its own runs, and signed statements."""
    folder = tmp_path_factory.mktemp("copied")
    stores = [sk.store.open(shutil.copytree(one.path, folder / one.path.name)) for one in sites]
    raw = np.rint(np.random.default_rng(2).lognormal(np.log(2e4), 0.1, (3, 40)))
    noisy = np.rint(raw * np.random.default_rng(3).normal(1, 0.005, raw.shape))
    for store, name, times in (
        (stores[0], "original", raw),
        (stores[1], "noisy", noisy),
        (stores[2], "part", raw[:, :30]),
        (stores[2], "again", raw),
        (stores[2], "constant", np.full((3, 40), 1.0) * [[7001], [8009], [9013]]),
    ):
        store.put(sk.measurements([2, 4, 8], times * 1e-9, name="MPI_Scan"), machine=name)
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    sk.store.trust("friend@lab.org", f"{key}.pub", signers=folder / "signers")
    (noisy_id,) = stores[1].runs(machine="noisy")["run_id"]
    stores[1].sign(key, noisy_id, name="friend@lab.org")
    (constant,) = stores[2].runs(machine="constant", retracted=True)["run_id"]
    stores[2].restore(constant, "it was a simulator", by="friend@lab.org", key=key)
    stores[2].retract(constant, "so it does not belong here", by="somebody")
    return [sk.store.open(one.path, signers=folder / "signers") for one in stores]


PLANS = st.recursive(st.integers(0, 2), lambda plans: st.tuples(plans, plans), max_leaves=5)


@needs_ssh_keygen
@pytest.mark.slow
@settings(max_examples=10, deadline=None, phases=[Phase.generate])  # shrinking would merge for minutes
@given(plan=PLANS.filter(lambda plan: not isinstance(plan, int)))
def test_random_merges_give_the_same_bytes_and_hide_the_same_runs(
    plan: Plan, copied_sites: list[sk.store.Store], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Copies, signatures and statements that contradict each other included; into empty stores and into what is there."""
    folder = tmp_path_factory.mktemp("plan")
    signers = copied_sites[0].path.parent / "signers"

    def made(plan: Plan) -> Path:
        path = folder / f"s{len(list(folder.iterdir()))}"
        if isinstance(plan, int):
            return Path(shutil.copytree(copied_sites[plan].path, path))
        into, other = (made(part) for part in plan)
        sk.store.open(into, signers=signers).merge(other)
        return into

    def leaves(plan: Plan) -> set[int]:
        return {plan} if isinstance(plan, int) else leaves(plan[0]) | leaves(plan[1])

    found = sk.store.open(made(plan), signers=signers)
    whole = sk.store.open(folder / "whole", signers=signers)
    for k in sorted(leaves(plan)):
        whole.merge(copied_sites[k].path)
    assert _files(found) == _files(whole)
    assert found.retractions() == whole.retractions()
    assert found.points().equals(whole.points())
    if leaves(plan) == {0, 1, 2}:
        hidden = set(whole.runs(retracted=True)["machine"]) - set(whole.runs()["machine"])
        assert len({"original", "part", "again"} & hidden) >= 2
        assert not {"noisy", "constant"} & hidden  # a friend whom the reader trusts signed them


def _merged(path: Path, others: Sequence[sk.store.Store]) -> sk.store.Store:
    store = sk.store.open(path)
    for other in others:
        store.merge(other.path)
    return store


def test_merging_in_another_order_gives_the_same_bytes(sites: list[sk.store.Store], tmp_path: Path) -> None:
    one = _merged(tmp_path / "one", [sites[0], sites[1]])
    other = _merged(tmp_path / "other", [sites[1], sites[0], sites[1]])
    assert _files(one) == _files(other)
    assert one.retractions() == other.retractions()


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
def test_merging_three_stores_is_a_join(sites: list[sk.store.Store], tmp_path: Path, order: tuple[int, ...]) -> None:
    """In any order, twice, in pairs, into a copy of one of them: the same bytes, and the same runs are hidden."""
    ordered = [sites[k] for k in order]
    whole = _merged(tmp_path / "whole", ordered)
    files = _files(whole)
    copied = sk.store.open(shutil.copytree(ordered[0].path, tmp_path / "copied"))
    pair = _merged(tmp_path / "pair", ordered[1:])
    for store in (
        _merged(tmp_path / "pairs", [pair, ordered[0]]),
        _merged(copied.path, [pair]),
        _merged(whole.path, ordered[:1]),
    ):
        assert _files(store) == files
        assert store.retractions() == whole.retractions()
        assert store.points().equals(whole.points())
    assert [len(one) for one in (whole.folder.statements(), whole.runs(retracted=True))] == [4, 4]


STATEMENTS = st.lists(
    st.builds(
        lambda run, reason, when, restored: {
            "run_id": run * 32,
            "reason": reason,
            "by": "",
            "when": f"2026-11-01T12:00:0{when}Z",
            **({"restored": "yes"} if restored else {}),
        },
        st.sampled_from("ab"),
        st.sampled_from(["first", "second", "trusted"]),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=8,
)


@given(STATEMENTS, st.randoms())
def test_what_is_retracted_does_not_depend_on_the_order_of_statements(
    statements: list[dict[str, str]], rng: random.Random
) -> None:
    def is_trusted(statement: Mapping[str, str]) -> bool:
        return statement["reason"] == "trusted"

    shuffled = rng.sample(statements, len(statements))
    for signed in ((), ("a" * 32,)):
        effective = in_effect(statements, is_trusted, signed)
        assert effective == in_effect([*shuffled, *statements], is_trusted, signed)
        for run_id in {one["run_id"] for one in statements}:
            own = [one for one in statements if one["run_id"] == run_id]
            counted = [one for one in own if is_trusted(one)] or own
            last = [one for one in counted if one["when"] == max(one["when"] for one in counted)]
            is_hidden = run_id in {one["run_id"] for one in effective}
            if run_id in signed and not is_trusted(last[0]):
                assert not is_hidden
            elif len({"restored" in one for one in last}) == 1:
                assert is_hidden == ("restored" not in last[0])


def test_nothing_to_validate(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^there is nothing at '.*none'; name a store, a zip of one, or a run's Parquet file\.$"):
        sk.store.validate(tmp_path / "none")
