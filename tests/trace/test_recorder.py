"""The recorder: real programs are recorded and analysed; nothing is lost, and a crash leaves what was written."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from launching import environment, launch
from needs import needs_otf2
from recorded import FOR_OTHERS, FOR_TARGETS, analysed, waits_for_others, waits_for_targets
from waiting import wait_until

from scalkit.bench import Mpi
from scalkit.cli.trace import text_of
from scalkit.errors import DataError
from scalkit.support import native
from scalkit.trace import analyse
from scalkit.trace.files.otf2 import read_otf2, write_otf2
from scalkit.trace.local.part import LocalTrace, load
from scalkit.trace.results.summary import summary

KERNEL = Path(__file__).resolve().parents[2] / "microbench"

PYTHON = """
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
window = MPI.Win.Allocate(80, 8, comm=comm)
here = np.arange(10.0)
window.Lock_all()
for k in range(5):
    window.Get(here, (comm.rank + 1) % comm.size)
    window.Flush((comm.rank + 1) % comm.size)
window.Unlock_all()
comm.allreduce(1)
window.Free()
"""


@pytest.fixture(scope="module")
def library(mpi: Mpi) -> Path:
    return native.build(KERNEL, mpi.mpicc, makefile="trace/Makefile").program("libsktrace.so")


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("program") / "everything"
    source = KERNEL / "trace/tests/everything.c"
    command = [mpi.mpicc, "-std=gnu11", "-O1", f"-I{KERNEL}", str(source), "-o", str(built), "-ldl"]
    subprocess.run(command, check=True, env=environment(mpi))
    return built


def record(mpi: Mpi, library: Path, folder: Path, n: int, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return launch(mpi, n, *command, LD_PRELOAD=str(library), SCALKIT_TRACE=str(folder), **more)


def names(trace: LocalTrace) -> Counter[str]:
    return Counter(trace.definitions.region(int(path)) for path in trace.calls["path"])


@pytest.mark.mpi
@pytest.mark.parametrize(("n", "buffer"), [(1, "65536"), (3, "16")])
def test_every_call_is_recorded(mpi: Mpi, library: Path, program: Path, tmp_path: Path, n: int, buffer: str) -> None:
    found = record(mpi, library, tmp_path, n, str(program), SCALKIT_TRACE_BUFFER=buffer)
    assert (found.returncode, found.stderr) == (0, "")
    made = {int(rank): int(calls) for rank, calls in re.findall(r"rank (\d+) made (\d+) calls", found.stdout)}
    trace = load(tmp_path)
    assert Counter(trace.calls["location"].tolist()) == made
    seen = names(trace)
    assert seen["MPI_Rget"] == seen["MPI_Mrecv"] == seen["MPI_Init"] == n
    assert seen["MPI_Get_c"] == (n if int(mpi.standard.partition(".")[0]) >= 4 else 0)
    if "MPI_Barrier_init" in seen:
        assert seen["MPI_Allreduce_init"] == seen["MPI_Comm_idup_with_info"] == seen["MPI_Barrier_init"] == n
    kinds = Counter((trace.transfers["kind"] & 0xFF).tolist())
    both = 7 * n + seen["MPI_Isendrecv"] + seen["MPI_Isendrecv_replace"]
    assert seen["MPI_Isendrecv"] == (n if seen["MPI_Isendrecv_replace"] else 0)
    assert kinds == {1: 2 * n + (n > 1), 2: 2 * n + seen["MPI_Get_c"], 3: 2 * n, 4: 4 * n, 5: both, 6: both}
    assert (trace.transfers["done"][trace.transfers["kind"] & 0xFF >= 5] >= 0).all()
    worlds = [scope.members.tolist() for scope in trace.definitions.scopes if scope.name == "MPI_COMM_WORLD"]
    assert worlds == [list(range(n))]


@pytest.mark.mpi
def test_who_was_late_in_scans_neighbourhoods_windows_and_files(mpi: Mpi, library: Path, tmp_path: Path) -> None:
    command = [mpi.mpicc, str(KERNEL / "trace/tests/late.c"), "-o", str(tmp_path / "late")]
    subprocess.run(command, check=True, env=environment(mpi))
    found = record(mpi, library, tmp_path / "t", 4, str(tmp_path / "late"), str(tmp_path / "file"))
    assert (found.returncode, found.stderr) == (0, "")
    trace = load(tmp_path / "t")
    files = {name: n for name, n in names(trace).items() if "File" in name}
    assert files == dict.fromkeys([f"MPI_File_{name}" for name in ("open", "write_at_all", "iread_at", "close")], 4)
    calls = trace.calls
    near = trace.is_call("MPI_Neighbor_allgather", "MPI_Ineighbor_allgather")
    groups = [set(trace.groups[at][peer]) for at, peer in zip(calls["location"][near], calls["peer"][near], strict=True)]
    assert groups == [{1, 3}] * 2 + [{0, 2}] * 2 + [{1, 3}] * 2 + [{0, 2}] * 2
    waits = waits_for_others(trace)
    assert analysed(analyse(tmp_path / "t"), FOR_OTHERS) == waits
    assert ("early_scan", 0) not in waits
    # In these all wait for the last one, whoever it is.
    assert {"wait_at_init", "wait_at_window"} <= {metric for metric, _ in waits}


@pytest.mark.mpi
@pytest.mark.parametrize("prefix", ["MPI_", "PMPI_"])
def test_a_call_of_fortran_is_recorded_once(mpi: Mpi, library: Path, tmp_path: Path, prefix: str) -> None:
    """Libraries whose functions of Fortran call those of C by either name; benchmarks/trace_fortran.py has real ones."""
    source, program = str(KERNEL / "trace/tests/fortran_linkage.c"), tmp_path / "program"
    shared = ["-shared", "-fPIC", f"-DLIBRARY={prefix}", source, "-o", str(tmp_path / "libfortran.so")]
    subprocess.run([mpi.mpicc, *shared], check=True, env=environment(mpi))
    linked = [source, "-o", str(program), f"-L{tmp_path}", "-lfortran", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([mpi.mpicc, *linked], check=True, env=environment(mpi))
    found = record(mpi, library, tmp_path / "t", 2, str(program))
    assert (found.returncode, found.stderr) == (0, "")
    trace = load(tmp_path / "t")
    assert names(trace) == dict.fromkeys(
        ["MPI_Init", "MPI_Comm_dup", "MPI_Isend", "MPI_Recv", "MPI_Waitany", "MPI_Barrier", "MPI_Finalize"], 2
    )
    assert sorted(zip(trace.transfers["kind"] & 0xFF, trace.transfers["peer"], strict=True)) == [(5, 0), (5, 1), (6, 0), (6, 1)]
    assert (trace.transfers["bytes"] == 12).all()
    assert (trace.transfers["done"] >= 0).all()
    sites = [trace.definitions.text(k) for k in range(len(trace.definitions.paths))]
    assert sum("@main+0x" in one for one in sites) == 5


@pytest.mark.mpi
def test_threads_that_make_communicators_do_not_wait_for_each_other_for_ever(
    mpi: Mpi, library: Path, program: Path, tmp_path: Path
) -> None:
    found = record(mpi, library, tmp_path, 2, str(program), "threads")
    assert (found.returncode, found.stderr) == (0, "")
    made = {int(rank): int(calls) for rank, calls in re.findall(r"rank (\d+) made (\d+) calls", found.stdout)}
    trace = load(tmp_path)
    assert Counter(trace.calls["location"].tolist()) == made
    numbers = Counter(scope.key[1:] for scope in trace.definitions.scopes)
    assert len(numbers) == len(trace.definitions.scopes) >= 200
    assert int((trace.marks["entered"] >= 0).sum()) == 2 * 100


@pytest.mark.mpi
def test_processes_that_are_spawned_are_not_recorded(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    alone = launch(mpi, 2, str(program), "spawn")
    if alone.returncode != 0:
        pytest.skip(f"{mpi.name} starts no process from a program, status {alone.returncode}: {alone.stderr.strip()[-200:]}")
    found = record(mpi, library, tmp_path, 2, str(program), "spawn")
    assert (found.returncode, found.stderr) == (0, "")
    made = {int(rank): int(calls) for rank, calls in re.findall(r"rank (\d+) made (\d+) calls", found.stdout)}
    trace = load(tmp_path)
    assert Counter(trace.calls["location"].tolist()) == made
    seen = names(trace)
    assert seen["MPI_Comm_spawn"] == seen["MPI_Comm_disconnect"] == seen["MPI_Bcast"] == 2
    assert {scope.name for scope in trace.definitions.scopes} == {"MPI_COMM_WORLD", ""}  # and that of one process
    assert (trace.calls["scope"][trace.is_call("MPI_Bcast")] == -1).all()


@pytest.mark.slow
@pytest.mark.mpi
def test_delays_are_found_where_they_are(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    """The program of test_simulated.py has delays of known length, in regions of the user."""
    found = record(mpi, library, tmp_path, 2, str(program), "delay")
    assert (found.returncode, found.stderr) == (0, "")
    ds, waits = analyse(tmp_path), waits_for_others(load(tmp_path))
    assert analysed(ds, FOR_OTHERS) == waits
    assert (ds["cause_by"].values == 1 - ds["cause_location"].values).all()
    metrics = ds["metric"].values[ds["cause_metric"].values]
    for metric in FOR_OTHERS:
        blamed = ds["cause_severity"].values[metrics == metric]
        assert int(blamed.sum()) == waits[metric, 0] + waits[metric, 1], metric
    paths = [str(name) for name in ds["path_name"].values]
    assert int(ds["severity"].sel(metric="visits")[paths.index("program/work")].sum()) == 2 * 2
    assert any("/MPI_Barrier@main+0x" in name for name in paths)  # the program exports nothing


@pytest.mark.mpi
@pytest.mark.parametrize("transport", ["tcp", "shared memory"])
def test_waiting_for_progress_is_real_with_tcp(mpi: Mpi, library: Path, program: Path, tmp_path: Path, transport: str) -> None:
    """Over TCP no get ends before its target calls MPI, whenever that is."""
    if mpi.kind != "MPICH":
        pytest.skip("the variables that choose the transport are those of MPICH")
    more = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"} if transport == "tcp" else {}
    found = record(mpi, library, tmp_path, 2, str(program), "progress", **more)
    assert (found.returncode, found.stderr) == (0, "")
    ds, waits = analyse(tmp_path), waits_for_targets(load(tmp_path))
    assert analysed(ds, FOR_TARGETS) == waits
    assert ("wait_for_progress", 1) not in waits
    if transport == "tcp":
        assert ("without_progress", 0) not in waits
    assert int(ds["severity"].sel(metric="rma_operations").sum()) == 3


@pytest.mark.mpi
def test_large_counts_of_mpi4py_are_seen(mpi: Mpi, library: Path, tmp_path: Path) -> None:
    found = record(mpi, library, tmp_path, 2, sys.executable, "-c", PYTHON)
    assert (found.returncode, found.stderr) == (0, "")
    trace = load(tmp_path)
    seen = names(trace)
    assert seen["MPI_Get"] + seen["MPI_Get_c"] == 10
    assert seen["MPI_Win_flush"] == 10
    assert int(trace.transfers["bytes"][trace.transfers["kind"] & 0xFF == 2].sum()) == 10 * 80


@pytest.mark.mpi
@needs_otf2
def test_what_was_recorded_comes_back_from_otf2(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    found = record(mpi, library, tmp_path / "plain", 2, str(program))
    assert (found.returncode, found.stderr) == (0, "")
    write_otf2(tmp_path / "plain", tmp_path / "archive")
    read_otf2(tmp_path / "archive/traces.otf2", tmp_path / "back")
    plain, back = (analyse(tmp_path / one, causes=False) for one in ("plain", "back"))
    unknown = plain["metric"].values.tolist().index("late_neighbour")  # archives do not say who neighbours are
    plain = plain.sel(cause=plain["cause_metric"] != unknown)
    plain["severity"][unknown] = 0
    for name in ("severity", "path_name", "cause_location", "cause_by", "cause_path", "cause_severity"):
        assert back[name].values.tolist() == plain[name].values.tolist(), name


@pytest.mark.mpi
def test_calls_are_as_many_as_a_counter_saw(mpi: Mpi, program: Path) -> None:
    if mpi.launcher != "MPICH":
        pytest.skip("hands variables on by themselves; benchmarks/trace_foreign.py says how others do")
    words = [sys.executable, str(KERNEL.parent / "benchmarks/trace_foreign.py"), "--mpicc", mpi.mpicc, "--mpiexec", mpi.mpiexec]
    words += ["--no-python", "--processes", "2", "--command", f"everything:{program}"]
    found = subprocess.run(words, env=environment(mpi), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    counted, recorded = re.findall(r"\d+", found.stdout.splitlines()[1])[:2]  # the profile is of another run, which may poll more
    assert int(counted) > 100
    assert recorded == counted


@pytest.mark.slow
@pytest.mark.mpi
def test_a_killed_process_loses_no_record_of_any(mpi: Mpi) -> None:
    words = [sys.executable, str(KERNEL.parent / "benchmarks/trace_kills.py"), "--kills", "2", "--processes", "3"]
    found = subprocess.run(words, env=environment(mpi), capture_output=True, text=True, check=False)
    assert re.fullmatch(r"2 kills, [1-9]\d* calls of 3 processes each, 0 lost\n", found.stdout), found.stderr


@pytest.mark.mpi
def test_what_survives_a_kill_is_analysed(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    found = record(mpi, library, tmp_path, 1, str(program), "crash")
    assert found.returncode != 0
    trace = load(tmp_path, keep_going=True)
    assert [problem.kind for problem in trace.problems] == ["truncated"]
    assert "has no end: the process ended outside of any call, after this record" in str(trace.problems[0])
    assert int(trace.calls["number"][-1]) == len(trace.calls["number"]) - 1
    assert trace.definitions.region(int(trace.calls["path"][-1])) == "MPI_Barrier"  # the last thing that it did
    assert int(analyse(tmp_path, keep_going=True)["severity"].sel(metric="visits").sum()) == len(trace.calls["enter"])
    (tmp_path / "000000.live").write_bytes(b"SKTLIVE1")  # damaged: what the blocks say is still there
    assert len(load(tmp_path, keep_going=True).calls["enter"]) == 0


@pytest.mark.mpi
def test_each_program_gets_a_folder_of_its_own(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    assert record(mpi, library, tmp_path, 2, str(program), "delay").stderr == ""
    said = f"scalkit trace: there is a trace of another program already; this one goes to {tmp_path}/2.\n"
    assert record(mpi, library, tmp_path, 1, str(program), "delay").stderr == said
    assert (load(tmp_path).header.locations, load(tmp_path / "2").header.locations) == (2, 1)
    shutil.copy(tmp_path / "2/000000.sktrace", tmp_path)
    with pytest.raises(DataError, match=r"location 0: 000000.sktrace is of another run than trace.json \(\w{16}, \w{16}\)"):
        load(tmp_path)


@pytest.mark.mpi
def test_where_nothing_more_can_be_written_is_said(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    found = record(mpi, library, tmp_path, 1, str(program), "full", SCALKIT_TRACE_BUFFER="16")
    assert found.returncode == 0, found.stderr
    said = "scalkit trace: location 0: the trace cannot be written: File too large; what was recorded so far can be read.\n"
    assert found.stderr == said
    trace = load(tmp_path, keep_going=True)
    text = "has no end: the recorder could write nothing after this record (File too large)"
    assert [problem.text for problem in trace.problems] == [f"000000.sktrace {text}"]
    numbers = trace.calls["number"].tolist()
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 16


@pytest.mark.mpi
@pytest.mark.parametrize("end", ["abort", "exit", "mpi-abort", "segmentation", "overflow", "quit"])
def test_a_program_that_gives_up_loses_nothing(mpi: Mpi, library: Path, program: Path, tmp_path: Path, end: str) -> None:
    found = record(mpi, library, tmp_path, 1, str(program), end)
    assert found.returncode != 0
    made = re.findall(r"rank 0 made (\d+) calls", found.stdout)
    trace = load(tmp_path, keep_going=True)
    assert [problem.kind for problem in trace.problems] == ["truncated"]
    assert [str(len(trace.calls["enter"]))] == made


@pytest.mark.mpi
def test_a_thread_that_records_meanwhile_loses_nothing(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    runs = []

    def has_recorded_meanwhile() -> bool:
        """Run it once; on a busy machine it may end before its thread has called anything."""
        runs.append(tmp_path / str(len(runs)))
        found = record(mpi, library, runs[-1], 1, str(program), "busy", SCALKIT_TRACE_BUFFER="16")
        assert found.returncode != 0
        trace = load(runs[-1], keep_going=True)
        assert [problem.kind for problem in trace.problems] == ["truncated"]
        numbers = trace.calls["number"].tolist()
        assert numbers == list(range(len(numbers)))
        return len(numbers) > 16

    wait_until(has_recorded_meanwhile, "a run in which the thread fills a buffer")


@pytest.mark.mpi
def test_a_program_that_recovers_is_recorded_to_its_end(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    found = record(mpi, library, tmp_path, 1, str(program), "recovers")
    assert (found.returncode, found.stderr) == (0, "")
    trace = load(tmp_path)
    assert [str(len(trace.calls["enter"]))] == re.findall(r"rank 0 made (\d+) calls", found.stdout)


@pytest.mark.mpi
def test_a_child_of_a_process_records_nothing(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    assert record(mpi, library, tmp_path, 1, str(program), "fork").returncode == 0
    assert b'"child"' not in (tmp_path / "000000.sktrace").read_bytes()
    assert load(tmp_path).problems == []


@pytest.mark.mpi
def test_clocks_are_measured_and_agree(mpi: Mpi, library: Path, program: Path, tmp_path: Path) -> None:
    found = record(mpi, library, tmp_path, 2, str(program), "delay", SCALKIT_TRACE_MEASURE_CLOCKS="1")
    assert (found.returncode, found.stderr) == (0, "")
    from scalkit.trace.files.reader import read_header, read_location

    clock = read_location(read_header(tmp_path), 1).tables["clock"]
    assert len(clock["local"]) == 2
    assert (clock["error"] > 0).all()
    assert (abs(clock["offset"]) <= clock["error"]).all()


@pytest.mark.mpi
def test_one_command_for_the_first_insight(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "scalkit", "trace", "run", "--no-open", "--dir", str(tmp_path / "t")]
    command = mpi.command(2, str(program), "delay", forward={"LD_PRELOAD": "", "SCALKIT_TRACE": ""})
    twice = f"{shlex.join(command)}; {shlex.join(command)}"
    given = [*words, "--mpicc", mpi.mpicc, "--", "sh", "-c", twice]
    found = subprocess.run(given, env=environment(mpi), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    for folder in (tmp_path / "t", tmp_path / "t/2"):
        ds = analyse(folder)
        assert analysed(ds, FOR_OTHERS) == waits_for_others(load(folder))
        assert f"{text_of(ds)}\nwrote {folder / 'waits.html'}\n" in found.stdout
        told = json.loads((folder / "waits.verdict.json").read_text())
        assert told["title"] == f"Who waits for whom in sh -c {twice}?"
        assert told["answer"].startswith("On 2 processes 0.0 % of the time is waiting for progress.")
    assert found.stdout.endswith(f"wrote {tmp_path / 't' / '2' / 'waits.html'}\n")


@pytest.mark.slow
@pytest.mark.mpi
def test_the_command(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "scalkit",
        "trace",
        "run",
        "--record-only",
        "--dir",
        str(tmp_path / "t"),
        "--mpicc",
        mpi.mpicc,
        "--",
    ]
    command = mpi.command(2, str(program), "delay", forward={"LD_PRELOAD": "", "SCALKIT_TRACE": ""})
    found = subprocess.run([*words, *command], env=environment(mpi), capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[-1].endswith(f"see them with: scalkit trace analyse {tmp_path / 't'}")
    told = subprocess.run(
        [*words[:4], "analyse", str(tmp_path / "t"), "--json"], capture_output=True, text=True, check=True
    ).stdout
    totals = summary(analyse(tmp_path / "t"))["totals"]
    assert json.loads(told)["totals"] == totals
    n_calls = sum(map(int, re.findall(r"rank \d made (\d+) calls", found.stdout)))
    assert totals["visits"] == n_calls + 2 * 2  # each rank enters a region twice
    (tmp_path / "t/notes.md").write_text("of somebody\n")
    command = mpi.command(1, str(program), "exit", forward={"LD_PRELOAD": "", "SCALKIT_TRACE": ""})
    found = subprocess.run([*words, *command], env=environment(mpi), capture_output=True, text=True, check=False)
    assert found.returncode == 1
    made = re.findall(r"rank 0 made (\d+) calls", found.stdout)[0]
    assert re.search(
        rf"' ended with status \d+: location 0 did not come to MPI_Finalize; recorded until then: {made} calls in .*"
        r"; see them with: scalkit trace analyse .* --keep-going$",
        found.stdout.splitlines()[-1],
    )
    assert (tmp_path / "t/notes.md").is_file()  # only what is of the last trace was replaced
