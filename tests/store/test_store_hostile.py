"""What somebody else sent is refused with its reason if anything is wrong with it, and merged if nothing is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hostile_submissions import CASES, FLAGGED, good

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.store.runs.content import RunContent, decoded, encoded
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.examine import findings
from scalkit.store.submissions.report import report_of, with_flags

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
    found = list(findings(path, scratch / str(number), policy, set(), lambda name: None))
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
    found = list(findings(path, tmp_path / "scratch", Policy(), set(), lambda name: None))
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
    assert "  1 run retracted there and still in the answers here:" in str(left).splitlines()
    merged = mine.merge(other)
    assert [(one.run_id, one.by, one.platform) for one in merged.hidden] == [(run_id, "them", "good machine")]
    lines = str(merged).splitlines()
    assert lines[0] == "1 added, 1 there already, 0 refused, 2 statements taken over."
    assert lines[1] == "  1 run hidden now, as retracted there:"
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


def test_nothing_to_validate(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^there is nothing at '.*none'; name a store, a zip of one, or a run's Parquet file\.$"):
        sk.store.validate(tmp_path / "none")
