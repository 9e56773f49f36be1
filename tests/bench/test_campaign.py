"""Campaigns with real ranks: what is written, resuming, launches that die or hang, a full disk, planted bugs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import wait_until

from scalkit.bench import Arguments, Mpi, prepare
from scalkit.bench.campaign.folder import Folder, write_whole
from scalkit.bench.campaign.loop import Progress
from scalkit.bench.libraries.mpi import cores
from scalkit.cli import main
from scalkit.errors import LaunchError, UsageError
from scalkit.formats.read import read
from scalkit.judge import validate
from scalkit.measure import series
from scalkit.support.native import build

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parents[2]
BUDGET_S = 600.0
"""More than any machine needs: a budget that is used up would leave repetitions out."""
LONG_S = 6000.0
"""Of programs that are ended: far longer than any wait, so that their end is not their own."""


def _arguments(**changes: Any) -> Arguments:
    base = {"kinds": ("collectives",), "counts": (2, 4), "runs": 1, "seed": 7, "ops": ("MPI_Bcast",), "max_reps": 20}
    return Arguments(**{**base, "budget_s": BUDGET_S, **changes})


def _memory(**changes: Any) -> Arguments:
    return _arguments(kinds=("memory",), **{"ops": ("MPI_Comm_dup",), **changes})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def _names(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir())


def test_what_a_campaign_writes(mpi: Mpi, out: Path) -> None:
    told: list[Progress] = []
    arguments = _arguments(kinds=("collectives", "memory"), ops=("MPI_Bcast", "MPI_Comm_dup", "MPI_memory"), runs=2)
    result = prepare(out, arguments, mpi).run(on_progress=told.append)
    assert (result.done, result.fresh, result.total, result.failures, result.missing) == (8, 8, 8, (), ())
    runs = [f"{stem}-p{p:04d}-r{run:02d}.jsonl" for stem in ("memory", "time") for p in (2, 4) for run in (0, 1)]
    assert _names(out) == ["campaign.toml", *runs]
    record = tomllib.loads((out / "campaign.toml").read_text())
    assert sorted(record["plan"]) == sorted(name.removesuffix(".jsonl") for name in runs)
    assert (record["arguments"]["seed"], record["mpi"]["library"], record["failures"]) == (7, mpi.library, [])
    assert [(p.done, p.ended) for p in told] == [(0, False)] + [(n + e, bool(e)) for n in range(8) for e in (0, 1)]

    ds = read(out)
    assert ds["function"].values.tolist() == ["MPI_Bcast", "MPI_Comm_dup", "MPI_memory"]
    assert dict(ds.sizes) == {"function": 3, "p": 2, "run": 2, "repetition": ds.sizes["repetition"]}
    assert {one.metric for one in series(ds)} == {"time", "object_memory", "process_memory"}
    assert json.loads(ds.attrs["campaign"])["id"] == record["id"]
    first = json.loads((out / runs[0]).read_text().splitlines()[0])
    assert first["run_id"] == f"{record['id']}-r00"
    assert first["provenance"]["sources"] == record["sources"]["sha256"]
    assert first["provenance"]["settings"] == record.get("settings", {})
    for name, value in record.get("settings", {}).items():
        assert first["environment"][name] == value


def test_another_campaign_is_set_aside_on_demand(mpi: Mpi, out: Path) -> None:
    prepare(out, _memory(), mpi).run()
    first = (out / "campaign.toml").read_bytes()
    with pytest.raises(UsageError, match=r"seed was 7, is now 8\. .* or rename this one\."):
        prepare(out, _memory(seed=8), mpi)
    (out.parent / "runs.1").mkdir()
    campaign = prepare(out, _memory(seed=8), mpi, set_aside=True)
    assert campaign.aside == out.parent / "runs.2"
    assert (campaign.aside / "campaign.toml").read_bytes() == first
    assert campaign.run().fresh == 2
    assert prepare(out, _memory(seed=8), mpi, set_aside=True).aside is None


@pytest.mark.slow
def test_two_campaigns_give_the_same_models_of_memory(mpi: Mpi, out: Path) -> None:
    objects = ("MPI_Comm_create", "MPI_Comm_dup", "MPI_Win_create", "MPI_Cart_create")
    models = []
    for seed in (1, 2):
        arguments = _memory(ops=objects, counts=(2, 3, 4, 5, 6), seed=seed)
        assert not prepare(out / str(seed), arguments, mpi).run().missing
        result = validate(read(out / str(seed)), "mpi")
        models.append({v.function: (str(v.model), v.match) for v in result})
    assert len(models[0]) == 7
    assert models[0] == models[1]


def test_second_call_does_only_what_is_missing(mpi: Mpi, out: Path) -> None:
    prepare(out, _memory(), mpi).run()
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.jsonl")}
    (out / "memory-p0004-r00.jsonl").unlink()
    result = prepare(out, _memory(), mpi).run()
    assert (result.done, result.fresh) == (2, 1)
    assert (out / "memory-p0002-r00.jsonl").stat().st_mtime_ns == before["memory-p0002-r00.jsonl"]
    assert prepare(out, _memory(), mpi).run().fresh == 0


@pytest.mark.slow
def test_memory_of_objects_repeats_exactly(mpi: Mpi, out: Path) -> None:
    arguments = _memory(ops=("MPI_Comm_dup", "MPI_Comm_create", "MPI_Win_create", "MPI_Cart_create"), runs=5)
    prepare(out, arguments, mpi).run()
    found = series(read(out))
    assert {one.values.shape for one in found} == {(2, 3)}
    assert all(one.noise == 0 and one.exact and one.decides and (one.y > 0).all() for one in found)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"runs": 2}, "runs was 1, is now 2"),
        ({"counts": (2, 8)}, "counts was 2,4, is now 2,8"),
        ({"ops": ()}, "ops was MPI_Comm_dup, is now empty"),
        ({"budget_s": None, "seed": 8}, f"budget_s was {BUDGET_S}, is now absent; seed was 7, is now 8"),
    ],
)
def test_other_arguments_in_the_same_folder(mpi: Mpi, out: Path, changes: dict[str, Any], difference: str) -> None:
    prepare(out, _memory(), mpi).run()
    message = (
        f"{out} holds a campaign with other arguments: {difference}. Repeat its arguments to resume it, "
        "measure into another folder, or rename this one."
    )
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        prepare(out, _memory(**changes), mpi)


def test_another_library_or_other_programs_in_the_same_folder(mpi: Mpi, out: Path) -> None:
    prepare(out, _memory(), mpi).run()
    name = mpi.library.splitlines()[0]
    shown = name if len(name) <= 60 else name[:57] + "..."
    start, rest = f"{out} holds a campaign begun under other conditions: ", "measure into another folder, or rename this one."
    message = f"{start}MPI library was {shown}, is now Other 1. Restore them to resume it, {rest}"
    facts = prepare(out, _memory(), mpi).facts
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        Folder(out).require_same(_memory(), {**facts, "mpi": {"library": "Other 1"}})
    message = f"{start}hash of the microbenchmarks was "
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        Folder(out).require_same(_memory(), {**facts, "sources": {"sha256": "0123"}})


@pytest.mark.slow
def test_other_conditions_in_the_same_folder(mpi: Mpi, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun with a variable that changes what is measured, repeated without it: their numbers do not belong together."""
    with monkeypatch.context() as patch:
        patch.setenv("SKFAULT", "none")
        patch.setenv("UCX_TOKEN", "secret")
        prepare(out, _memory(), mpi).run()
        (out / "memory-p0004-r00.jsonl").unlink()
        assert prepare(out, _memory(), mpi).run().fresh == 1
    assert "secret" not in (out / "campaign.toml").read_text()
    start, rest = (
        f"{out} holds a campaign begun under other conditions: ",
        (". Restore them to resume it, measure into another folder, or rename this one."),
    )
    with pytest.raises(UsageError, match=f"^{re.escape(f'{start}SKFAULT was none, is now absent{rest}')}$"):
        prepare(out, _memory(), mpi)
    campaign = prepare(out, _memory(), mpi, set_aside=True)
    assert campaign.aside == out.parent / "runs.1"
    campaign.run()
    monkeypatch.setattr("scalkit.bench.provenance.cores", lambda: 9999)
    message = f"{start}cores was {cores()}, is now 9999{rest}"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        prepare(out, _memory(), mpi)
    monkeypatch.undo()
    assert prepare(out, _memory(), mpi).run().missing == ()


@pytest.mark.slow
def test_wrong_results_are_kept_marked_and_named(
    mpi: Mpi, out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that ends with 4 wrote a complete file: it is put in place, and nothing is given up."""
    faults = build(ROOT / "tests/faults", mpi.mpicc, library=mpi.library)
    monkeypatch.setenv("LD_PRELOAD", str(faults.program("libskfault.so")))
    monkeypatch.setenv("SKFAULT", "bcast_wrong")
    told: list[Progress] = []
    arguments = _arguments(runs=3, ops=("MPI_Bcast", "MPI_Reduce"))
    result = prepare(out, arguments, mpi).run(on_progress=told.append)
    assert (result.done, result.failures, result.missing) == (6, (), ())
    assert sorted(remark.partition(" gives a wrong result with ")[0] for remark in result.remarks) == [
        f"time-p{p:04d}-r{run:02d}: MPI_Bcast" for p in (2, 4) for run in range(3)
    ]
    assert [len(one.remarks) for one in told if one.ended] == [1] * 6
    assert tomllib.loads((out / "campaign.toml").read_text())["remarks"] == list(result.remarks)
    assert not list(out.glob("*.part"))
    verified = read(out)["verified"]
    assert not verified.sel(function="MPI_Bcast").any()
    assert verified.sel(function="MPI_Reduce").all()

    (out / "time-p0004-r01.jsonl").unlink()
    again = prepare(out, arguments, mpi).run()
    assert (again.fresh, sorted(again.remarks)) == (1, sorted(result.remarks))
    words = ["collectives", "-n", "2,4", "--runs", "3", "--seed", "7", "--ops", "MPI_Bcast,MPI_Reduce"]
    words += ["--max-reps", "20", "--budget", str(BUDGET_S), "--out", str(out)]
    assert main(["measure", *words]) == 0
    said = capsys.readouterr()
    assert f"scalkit measure: {again.remarks[0]}\n" in said.err
    assert said.out.endswith(f"nothing was missing: 6 launches in {out}\n")


@pytest.mark.parametrize(
    ("lines", "ending", "last"),
    [
        ("echo boom >&2; exit 9", "ended with status 9", "boom"),
        ("kill -SEGV $$", "was killed by SIGSEGV", "(it printed nothing)"),
    ],
)
def test_launch_that_dies(mpi: Mpi, out: Path, launcher: Callable[[str], str], lines: str, ending: str, last: str) -> None:
    """The rest goes on; what failed is named; the same call with a sound launcher completes it."""
    wrong = launcher(f'case "$*" in *--expect-np=4*) {lines};; esac')
    result = prepare(out, _memory(), replace(mpi, mpiexec=wrong)).run()
    assert result.failures == (f"memory-p0004-r00 {ending}. The last lines:\n  {last}",)
    assert [launch.name for launch in result.missing] == ["memory-p0004-r00"]
    assert tomllib.loads((out / "campaign.toml").read_text())["failures"] == list(result.failures)
    assert read(out)["p"].values.tolist() == [2]
    assert prepare(out, _memory(), mpi).run().missing == ()
    assert tomllib.loads((out / "campaign.toml").read_text())["failures"] == []


def test_launch_that_hangs_keeps_what_it_measured(
    mpi: Mpi, out: Path, launcher: Callable[[str], str], time_limit: Callable[[Path], None]
) -> None:
    measured = out.with_name("measured")
    lines = f'"$real" "$@"; touch {measured}; sleep {LONG_S}'
    wrong = launcher(f'case "$*" in *--expect-np=4*) {lines};; esac')
    time_limit(measured)
    result = prepare(out, _memory(), replace(mpi, mpiexec=wrong)).run(timeout_s=LONG_S)
    (failure,) = result.failures
    assert re.match(r"memory-p0004-r00 did not end within \d+ s\. The last lines:\n", failure)
    assert _names(out) == ["campaign.toml", "memory-p0002-r00.jsonl", "memory-p0004-r00.jsonl.part"]
    assert read(out)["p"].values.tolist() == [2, 4]


def test_after_two_failures_the_other_runs_are_not_tried(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> None:
    wrong = launcher('case "$*" in *--expect-np=4*) exit 9;; esac')
    result = prepare(out, _memory(runs=3), replace(mpi, mpiexec=wrong)).run()
    assert sorted(launch.name for launch in result.missing) == [f"memory-p0004-r{run:02d}" for run in range(3)]
    assert result.failures[-1] == "memory-p0004-r02 was not tried: memory failed 2 times with 4 processes."


def test_wrong_number_of_ranks_stops_everything(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> None:
    """A launcher that starts one rank fewer: the program itself notices."""
    wrong = launcher('[ "$1" = -n ] && n=$(($2 - 1)) && shift 2 && exec "$real" -n $n "$@"')
    if mpi.kind != "MPICH":
        pytest.skip("the wrapper knows the options of MPICH's launcher")
    with pytest.raises(LaunchError, match=r"^memory-p000\d-r00 ended with status 3\. The last lines:\n") as caught:
        prepare(out, _memory(), replace(mpi, mpiexec=wrong)).run()
    assert str(caught.value).endswith("Every other launch would end like this; what was measured before is kept.")


def test_full_disk(mpi: Mpi, out: Path) -> None:
    prepare(out, _memory(), mpi).run()
    (out / "memory-p0004-r00.jsonl").unlink()
    (out / "memory-p0004-r00.jsonl.part").symlink_to("/dev/full")
    with pytest.raises(LaunchError, match=r"^memory-p0004-r00 ended with status 2\.") as caught:
        prepare(out, _memory(), mpi).run()
    assert "No space left on device" in str(caught.value)
    assert not (out / "memory-p0004-r00.jsonl").exists()
    (out / "memory-p0004-r00.jsonl.part").unlink()
    assert prepare(out, _memory(), mpi).run().missing == ()


def test_launcher_that_went_away(mpi: Mpi, out: Path) -> None:
    result = prepare(out, _memory(), replace(mpi, mpiexec="/no/mpiexec")).run()
    message = "cannot start '/no/mpiexec': No such file or directory; check that it may be run."
    assert result.failures[0] == message


def test_run_file_that_was_not_written(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> None:
    """Also where an older launch left something: the launcher ended with 0, but it started nothing."""
    wrong = launcher("echo no nodes; exit 0")
    campaign = prepare(out, _memory(), replace(mpi, mpiexec=wrong))
    campaign.run()
    (out / "memory-p0004-r00.jsonl.part").write_text('{"rec":"end"}\n')
    result = campaign.run()
    assert set(result.failures) == {
        f"{launch.name}: {wrong!r} ended with status 0, but the program wrote nothing; check that this launcher starts "
        "programs, or name another with --mpiexec. The last lines:\n  no nodes"
        for launch in result.missing
    }
    assert len(result.missing) == 2
    assert not list(out.glob("*.jsonl"))


def test_run_file_without_an_end(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> None:
    """A launcher that says 0 although its program died."""
    path = out / "memory-p0004-r00.jsonl.part"
    wrong = launcher(f"""case "$*" in *--expect-np=4*) echo '{{"rec":"run"}}' >'{path}'; exit 0;; esac""")
    result = prepare(out, _memory(), replace(mpi, mpiexec=wrong)).run()
    assert result.failures == (
        f"memory-p0004-r00 ended with status 0, but {path} has no end; check that the launcher waits for its programs. "
        "The last lines:\n  (it printed nothing)",
    )
    assert [launch.name for launch in result.missing] == ["memory-p0004-r00"]


def test_run_file_that_cannot_be_put_in_place(mpi: Mpi, out: Path) -> None:
    prepare(out, _memory(), mpi).run()
    (out / "memory-p0004-r00.jsonl").unlink()
    (out / "memory-p0004-r00.jsonl").mkdir()
    (failure,) = prepare(out, _memory(), mpi).run().failures
    assert failure == f"cannot put {out}/memory-p0004-r00.jsonl in place: Is a directory; check the folder."


def _command(out: Path, mpi: Mpi, *more: str) -> list[str]:
    words = ["measure", "collectives", "-n", "2,4", "--runs", "2", "--seed", "1", "--out", str(out)]
    words += ["--ops", "MPI_Bcast", "--max-reps", "20", "--mpi", mpi.mpicc, "--mpiexec", mpi.mpiexec]
    return [sys.executable, "-m", "scalkit", *words, *more]


@contextmanager
def _started(command: list[str], has_begun: Callable[[], object], what: str) -> Iterator[subprocess.Popen[str]]:
    """Yield the process of a command as soon as it is as far as it has to be."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
        wait_until(has_begun, what, process)
        yield process


@contextmanager
def _held(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> Iterator[subprocess.Popen[str]]:
    """Yield a campaign whose ranks of the second run do not come to an end: they warm up for days."""
    endless = "--warmup=10000000 --passes=10000 --max-reps=1000000 --budget=100000000"
    held = launcher(f'case "$*" in *-r01.jsonl.part*) exec "$real" "$@" {endless};; esac')
    command = _command(out, replace(mpi, mpiexec=held))
    with _started(command, lambda: list(out.glob("*-r01.jsonl.part")), "a second run") as process:
        yield process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_and_resumed(mpi: Mpi, out: Path, launcher: Callable[[str], str], number: signal.Signals) -> None:
    with _held(mpi, out, launcher) as process:
        process.send_signal(number)
        _, messages = process.communicate()
    assert process.returncode == 130
    assert f"What was measured is kept in {out}; the same command resumes.\n" in messages
    wait_until(lambda: not _ranks_writing_to(out), "the end of all ranks")
    assert sorted(path.name for path in out.glob("*.jsonl")) == ["time-p0002-r00.jsonl", "time-p0004-r00.jsonl"]
    done = subprocess.run(_command(out, mpi, "--json"), capture_output=True, text=True, cwd=ROOT)
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"], outcome["fresh"], outcome["missing"]) == (0, 0, 2, [])
    assert len(list(out.glob("*.jsonl"))) == 4


@pytest.mark.slow
def test_closed_terminal_that_sends_more_than_one_signal(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> None:
    """The launcher needs a while to end: signals that come meanwhile do not leave it behind."""
    begun, ending, may_end = (out.with_name(name) for name in ("begun", "ending", "may-end"))
    end = f"touch {ending}; until [ -e {may_end} ]; do sleep 0.05; done; exit 1"
    wrong = launcher(f"""case "$*" in *--out=*) trap '{end}' TERM; touch {begun}; sleep {LONG_S} & wait;; esac""")
    command = _command(out, replace(mpi, mpiexec=wrong))
    with _started(command, begun.exists, "a launch") as process:
        process.send_signal(signal.SIGHUP)
        wait_until(ending.exists, "a launcher that is told to end", process)
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
        may_end.touch()
        process.communicate()
    assert process.returncode == 130
    wait_until(lambda: not _ranks_writing_to(out), "the end of all ranks")


@pytest.mark.slow
def test_ignored_end_of_the_terminal_stays_ignored(mpi: Mpi, out: Path) -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *_command(out, mpi)]
    with _started(command, lambda: list(out.glob("*.jsonl*")), "a launch") as process:
        process.send_signal(signal.SIGHUP)
        _, messages = process.communicate()
    assert process.returncode == 0, messages


@pytest.mark.slow
def test_killed_outright_and_resumed(mpi: Mpi, out: Path, launcher: Callable[[str], str]) -> None:
    """The ranks that it left behind hold the folder until they end; then the same command resumes."""

    def again() -> subprocess.CompletedProcess[str]:
        return subprocess.run(_command(out, mpi), capture_output=True, text=True, cwd=ROOT)

    with _held(mpi, out, launcher) as process:
        process.kill()
        process.communicate()
    busy = f"another 'scalkit measure', or a launch that it left behind, is writing to {out}; wait for its end.\n"
    assert again().stderr.endswith(busy)
    for pid in _ranks_writing_to(out):
        os.kill(int(pid), signal.SIGKILL)
    answers: list[subprocess.CompletedProcess[str]] = []

    def is_free() -> bool:
        answers.append(again())
        return not answers[-1].stderr.endswith(busy)

    wait_until(is_free, "a folder that nobody holds")
    assert answers[-1].returncode == 0, answers[-1].stderr
    assert len(list(out.glob("*.jsonl"))) == 4
    assert read(out).attrs["truncated"] == ""


def test_a_record_that_was_half_written_is_in_nobodys_way(mpi: Mpi, out: Path) -> None:
    out.mkdir()
    (out / ".campaign.toml.77-0123abcd").write_text("schema = ")
    assert prepare(out, _memory(), mpi).run().fresh == 2


def _ranks_writing_to(out: Path, mark: str = "") -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if f"{mark}{out}".encode() in line:
            found.append(entry.name)
    return [pid for pid in found if pid != str(os.getpid())]


def test_two_at_once_in_one_folder(mpi: Mpi, out: Path) -> None:
    campaign = prepare(out, _memory(), mpi)
    message = f"another 'scalkit measure', or a launch that it left behind, is writing to {out}; wait for its end."
    with Folder(out).locked(), pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        campaign.run()


@pytest.mark.slow
def test_leak_in_comm_dup_shows_exactly(mpi: Mpi, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that loses 64 bytes for every process: the growth of each object differs by exactly that."""
    arguments = _memory(ops=("MPI_Comm_dup", "MPI_Comm_create"), counts=(2, 4, 8))
    prepare(out, arguments, mpi).run()
    sound = {one.function: one.y for one in series(read(out))}
    faults = build(ROOT / "tests/faults", mpi.mpicc, library=mpi.library)
    monkeypatch.setenv("LD_PRELOAD", str(faults.program("libskfault.so")))
    monkeypatch.setenv("SKFAULT", "dup_leak")
    prepare(tmp_path / "leaking", arguments, mpi).run()
    leaking = {one.function: one.y for one in series(read(tmp_path / "leaking"))}
    np.testing.assert_array_equal(leaking["MPI_Comm_create"], sound["MPI_Comm_create"])
    extra = leaking["MPI_Comm_dup"] - sound["MPI_Comm_dup"]
    assert (extra >= 64 * np.array([2, 4, 8])).all()
    assert (extra <= 64 * np.array([2, 4, 8]) + 16).all()
    first = json.loads((tmp_path / "leaking/memory-p0002-r00.jsonl").read_text().splitlines()[0])
    assert first["provenance"]["environment"]["LD_PRELOAD"] == str(faults.program("libskfault.so"))


def test_folders_that_cannot_be_used(tmp_path: Path, mpi: Mpi) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=f"^--out {re.escape(str(tmp_path))}/file is a file; name a folder\\.$"):
        prepare(tmp_path / "file", _memory(), mpi)
    message = f"--out {tmp_path} has other files but no campaign.toml; name a new folder."
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        prepare(tmp_path, _memory(), mpi)
    for path, reason in (
        (tmp_path / ("x" * 300), "File name too long"),
        (Path("a\0b"), "(stat: )?embedded null (byte|character in path)"),
    ):
        with pytest.raises(UsageError, match=rf"^--out '.* cannot be used: {reason}; name another\.$"):
            prepare(path, _memory(), mpi)
    message = f"cannot use the folder {tmp_path}/file/x: Not a directory; choose another."
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"), Folder(tmp_path / "file/x").locked():
        pass


def test_campaign_record_that_cannot_be_used(tmp_path: Path, mpi: Mpi) -> None:
    path = tmp_path / "campaign.toml"
    path.write_text("schema = = 1")
    start = re.escape(f"cannot read {path}: ")
    with pytest.raises(UsageError, match=f"^{start}.*; restore it, or measure into another folder\\.$"):
        prepare(tmp_path, _memory(), mpi)
    path.write_text("schema = 2")
    message = f"{path} has the schema 2; this scalkit knows up to 1: update it."
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        prepare(tmp_path, _memory(), mpi)


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "no/campaign.toml"
    message = f"cannot write {path}: No such file or directory; make room or choose another folder."
    with pytest.raises(LaunchError, match=f"^{re.escape(message)}$"):
        write_whole(path, "x")
