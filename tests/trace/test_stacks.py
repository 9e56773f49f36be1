"""Call paths of real programs: lines of call sites, and the functions around calls, by frame pointers and unwound."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from launching import environment

from scalkit.bench import Mpi
from scalkit.errors import DataError
from scalkit.trace import analyse
from scalkit.trace.calls.profile import write_lines
from scalkit.trace.local.part import load
from scalkit.trace.waits.each_wait import each_wait

COROUTINE = """
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t here, there;
/* Its stack is no thread's, and what lies where its frame pointer leads is no address at all. */
static void coroutine(void)
{
    uintptr_t *frame = __builtin_frame_address(0);
    uintptr_t kept = frame[0];
    frame[0] = (uintptr_t)(frame + 1) + ((uintptr_t)1 << 33 & ~(uintptr_t)7);
    MPI_Barrier(MPI_COMM_WORLD);
    frame[0] = kept;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    getcontext(&there);
    there.uc_stack.ss_sp = malloc(1 << 18);
    there.uc_stack.ss_size = 1 << 18;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    MPI_Finalize();
    return 0;
}
"""
PROGRAM = """
#include <mpi.h>
#include <time.h>
#define FUNCTION static __attribute__((noinline)) void
FUNCTION meet(int ms)
{
    struct timespec nap = { 0, ms * 1000000 };
    nanosleep(&nap, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}
FUNCTION first(int rank) { meet(30 * rank); __asm__ volatile(""); }
FUNCTION second(int rank) { meet(0); meet(40 * rank); __asm__ volatile(""); }
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    first(rank);
    second(rank);
    MPI_Finalize();
    return 0;
}
"""


def recorded(mpi: Mpi, folder: Path, flags: list[str], *options: str, text: str = PROGRAM) -> Path:
    source, program = folder / "prog.c", folder / "prog"
    source.write_text(text)
    subprocess.run([mpi.mpicc, "-O2", *flags, str(source), "-o", str(program)], check=True, env=environment(mpi))
    words = [sys.executable, "-m", "scalkit", "trace", "run", "--record-only", "--dir", str(folder / "t")]
    words += ["--mpicc", mpi.mpicc, *options, "--"]
    forward = {"LD_PRELOAD": "", "SCALKIT_TRACE": "", "SCALKIT_TRACE_STACKS": "", "SCALKIT_TRACE_LINES": ""}
    command = mpi.command(2, str(program), forward=forward)
    found = subprocess.run([*words, *command], env=environment(mpi), capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    return folder / "t"


@pytest.mark.mpi
def test_a_call_site_is_a_line_of_the_source(mpi: Mpi, tmp_path: Path) -> None:
    folder = recorded(mpi, tmp_path, ["-g"])
    names = [str(name) for name in analyse(folder)["path_name"].values]
    assert "program/MPI_Barrier@prog.c:9" in names
    assert not list(folder.glob("*.sites"))
    (folder / "lines.json").write_text("[1]")
    with pytest.raises(DataError, match=r"lines.json is no JSON object of call sites .*; delete it"):
        load(folder)
    (folder / "lines.json").unlink()
    assert any("MPI_Barrier@meet+0x" in str(name) for name in analyse(folder)["path_name"].values)


@pytest.mark.mpi
@pytest.mark.parametrize(("how", "flags"), [("frame-pointers", ["-fno-omit-frame-pointer"]), ("unwind", [])])
def test_functions_around_a_call_are_steps_of_its_path(mpi: Mpi, tmp_path: Path, how: str, flags: list[str]) -> None:
    folder = recorded(mpi, tmp_path, flags, "--stacks", how)
    ds, trace = analyse(folder), load(folder)
    severity = ds["severity"].sum("location")
    paths = {str(name).partition("@")[0]: k for k, name in enumerate(ds["path_name"].values)}
    inner = "meet()/MPI_Barrier"
    calls = {name: int(severity.sel(metric="visits")[k]) for name, k in paths.items() if name.endswith(inner)}
    assert calls == {f"program/main()/first()/{inner}": 2, f"program/main()/second()/{inner}": 4}
    barriers = np.flatnonzero(trace.is_call("MPI_Barrier")).reshape(2, 4)
    enter, leave = (trace.calls[name][barriers] for name in ("enter", "leave"))
    waits = np.minimum(enter.max(axis=0), leave) - enter
    assert each_wait(trace).wait[barriers].tolist() == waits.tolist()
    expected: Counter[str] = Counter()
    of_barriers = trace.calls["path"][barriers].ravel().tolist()
    for wait, path in zip(waits.ravel().tolist(), of_barriers, strict=True):
        expected[trace.definitions.text(path).partition("@")[0]] += wait
    found = {name: int(severity.sel(metric="wait_at_barrier")[k]) for name, k in paths.items()}
    assert +Counter(found) == +expected
    # Functions have no time of their own, and take none away: all outside of calls is the program's.
    inside = int((trace.calls["leave"] - trace.calls["enter"]).sum())
    begins = trace.calls["enter"].reshape(2, -1)[:, 0]
    ends = trace.calls["leave"].reshape(2, -1)[:, -1]
    time = severity.sel(metric="time")
    assert (time >= 0).all()
    assert int(time[paths["program/main()"]]) == 0
    assert int(time[paths["program"]]) == int((ends - begins).sum()) - inside


@pytest.mark.mpi
def test_a_stack_that_is_no_threads_is_not_followed(mpi: Mpi, tmp_path: Path) -> None:
    flags = ["-fno-omit-frame-pointer", "-rdynamic"]
    ds = analyse(recorded(mpi, tmp_path, flags, "--stacks", "frame-pointers", text=COROUTINE))
    paths = [str(name).partition("+")[0] for name in ds["path_name"].values]
    assert "program/MPI_Barrier@coroutine" in paths


def test_a_text_that_is_two_lines_has_none(tmp_path: Path) -> None:
    write_lines(tmp_path)
    assert not (tmp_path / "lines.json").exists()
    (tmp_path / "000000.sites").write_text('{"site": "f+0x1", "object": "/no/such/file", "address": 1}\n{"site": "f+')
    write_lines(tmp_path)
    assert list(tmp_path.iterdir()) == []
