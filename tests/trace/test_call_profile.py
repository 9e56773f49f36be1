"""Profiles without a trace: real programs are counted, also those that are killed; bad files are refused or said."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import environment, launch
from needs import needs_gfortran

from scalkit.bench import Mpi
from scalkit.errors import DataError
from scalkit.support import native
from scalkit.trace.calls.profile import Profile, Site, of_object, read_profile

KERNEL = Path(__file__).resolve().parents[2] / "microbench"
SOURCE = KERNEL / "trace/tests/everything.c"

PLACES = """
#include <mpi.h>
#include <time.h>
static void give(int to, int n, int *data) { MPI_Send(data, n, MPI_INT, to, 0, MPI_COMM_WORLD); }
int main(int argc, char **argv)
{
    int rank, data[100] = { 0 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 10; k++)
        if (rank == 0)
            give(1, 100, data);
        else
            MPI_Recv(data, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        struct timespec nap = { 0, 30000000 };
        nanosleep(&nap, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
"""

FORTRAN = """
program main
  implicit none
  integer :: error, k
  call mpi_init(error)
  do k = 1, 7
    call mpi_barrier(WORLD, error)
  end do
  call mpi_finalize(error)
end program
"""

PYTHON = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
for k in range(5):
    comm.Allreduce(np.arange(10.0), np.empty(10))
"""


@pytest.fixture(scope="module")
def library(mpi: Mpi) -> Path:
    return native.build(KERNEL, mpi.mpicc, makefile="trace/Makefile").program("libskprofile.so")


@pytest.fixture(scope="module")
def places(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(mpi, tmp_path_factory.mktemp("places"), PLACES, "-g", "-O1", "-fno-inline")


@pytest.fixture(scope="module")
def everything(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(mpi, tmp_path_factory.mktemp("everything"), SOURCE.read_text(), f"-I{KERNEL}", f"-I{SOURCE.parent}", "-ldl")


def compiled(mpi: Mpi, folder: Path, text: str, *words: str) -> Path:
    source, program = folder / "places.c", folder / "places"
    source.write_text(text)
    subprocess.run([mpi.mpicc, "-std=gnu11", str(source), "-o", str(program), *words], check=True, env=environment(mpi))
    return program


def profile(mpi: Mpi, library: Path, folder: Path, n: int, *command: str) -> tuple[subprocess.CompletedProcess[str], Profile]:
    done = launch(mpi, n, *command, LD_PRELOAD=str(library), SCALKIT_TRACE=str(folder))
    return done, read_profile(folder)


def made(text: str) -> int:
    return sum(int(calls) for calls in re.findall(r"rank \d+ made (\d+) calls", text))


@pytest.mark.mpi
def test_each_place_has_its_calls_bytes_and_line(mpi: Mpi, library: Path, places: Path, tmp_path: Path) -> None:
    done, found = profile(mpi, library, tmp_path, 2, str(places))
    assert (done.returncode, done.stderr, found.problems) == (0, "", [])
    calls = {one.function: one for one in found.calls}
    assert {name: (one.calls, one.bytes, one.locations) for name, one in calls.items()} == {
        "MPI_Init": (2, 0, 2),
        "MPI_Send": (10, 4000, 1),
        "MPI_Recv": (10, 0, 1),
        "MPI_Barrier": (2, 0, 2),
        "MPI_Finalize": (2, 0, 2),
    }
    barrier = calls["MPI_Barrier"]
    assert 0 < barrier.least_s <= barrier.most_s < barrier.time_s < found.mpi_s < found.time_s
    assert barrier.least_s + barrier.most_s == pytest.approx(barrier.time_s)
    assert barrier.most_at_s == pytest.approx(barrier.most_s)
    if shutil.which("addr2line"):
        source = places.with_suffix(".c")
        assert calls["MPI_Send"].where == f"give {source}:4"
        assert barrier.where == f"main {source}:19"
    assert calls["MPI_Send"].site.startswith("give+0x")


@pytest.mark.mpi
def test_places_in_a_program_that_was_changed_have_no_lines(mpi: Mpi, library: Path, places: Path, tmp_path: Path) -> None:
    copy = tmp_path / "prog"
    shutil.copy(places, copy)
    profile(mpi, library, tmp_path / "p", 2, str(copy))
    copy.write_bytes(copy.read_bytes() + b"x")
    found = read_profile(tmp_path / "p")
    if shutil.which("addr2line"):
        assert found.problems == [f"{copy} was changed since: no lines of its source for 3 places"]
    assert {one.where.partition("+")[0] for one in found.calls if one.site} == {"give", "main"}
    copy.unlink()
    assert any("No such file" in one for one in read_profile(tmp_path / "p").problems) == bool(shutil.which("addr2line"))


@pytest.mark.mpi
@pytest.mark.parametrize(("n", "words"), [(1, ()), (3, ()), (2, ("threads",))])
def test_every_call_is_counted(mpi: Mpi, library: Path, everything: Path, tmp_path: Path, n: int, words: tuple[str, ...]) -> None:
    done, found = profile(mpi, library, tmp_path, n, str(everything), *words)
    assert (done.returncode, done.stderr, found.problems) == (0, "", [])
    assert sum(one.calls for one in found.calls) == made(done.stdout)


@pytest.mark.mpi
@pytest.mark.parametrize("end", ["abort", "exit", "mpi-abort", "segmentation"])
def test_a_program_that_gives_up_loses_nothing(mpi: Mpi, library: Path, everything: Path, tmp_path: Path, end: str) -> None:
    done, found = profile(mpi, library, tmp_path, 1, str(everything), end)
    assert done.returncode != 0
    assert found.problems == ["location 0 did not come to the end of MPI_Finalize; what it did until its last call counts"]
    assert sum(one.calls for one in found.calls) == made(done.stdout)
    assert 0 < found.mpi_s < found.time_s


@needs_gfortran
@pytest.mark.mpi
def test_calls_of_fortran_are_counted_once(mpi: Mpi, library: Path, tmp_path: Path) -> None:
    from mpi4py import MPI

    linkage, source, program = KERNEL / "trace/tests/fortran_linkage.c", tmp_path / "prog.f90", tmp_path / "prog"
    shared = ["-shared", "-fPIC", "-DLIBRARY=MPI_", str(linkage), "-o", str(tmp_path / "libfortran.so")]
    subprocess.run([mpi.mpicc, *shared], check=True, env=environment(mpi))
    source.write_text(FORTRAN.replace("WORLD", str(MPI.COMM_WORLD.py2f())))
    linked = ["-g", str(source), "-o", str(program), f"-L{tmp_path}", "-lfortran", f"-Wl,-rpath,{tmp_path}"]
    shown = subprocess.run([mpi.mpicc, "-show"], capture_output=True, text=True, check=True, env=environment(mpi)).stdout
    subprocess.run(["gfortran", *linked, *shlex.split(shown)[1:]], check=True)
    done, found = profile(mpi, library, tmp_path / "p", 2, str(program))
    assert (done.returncode, done.stderr) == (0, "")
    assert {one.function: one.calls for one in found.calls} == {"MPI_Init": 2, "MPI_Barrier": 14, "MPI_Finalize": 2}
    if shutil.which("addr2line"):
        assert [one.where for one in found.calls if one.function == "MPI_Barrier"] == [f"MAIN__ {source}:7"]


@pytest.mark.mpi
def test_calls_of_mpi4py_have_the_names_of_its_methods(mpi: Mpi, library: Path, tmp_path: Path) -> None:
    done, found = profile(mpi, library, tmp_path, 2, sys.executable, "-c", PYTHON)
    assert (done.returncode, done.stderr) == (0, "")
    reduced = [one for one in found.calls if one.function.startswith("MPI_Allreduce")]
    assert [(one.calls, one.bytes) for one in reduced] == [(10, 800)]
    assert "Allreduce" in reduced[0].where


@pytest.mark.slow
@pytest.mark.mpi
def test_the_command_shows_a_table_and_writes_a_page(mpi: Mpi, places: Path, tmp_path: Path) -> None:
    folder = tmp_path / "<b>"
    words = [sys.executable, "-m", "scalkit", "trace", "run", "--profile-only", "--no-open", "--dir", str(folder)]
    command = mpi.command(2, str(places), forward={"LD_PRELOAD": "", "SCALKIT_TRACE": ""})
    given = [*words, "--mpicc", mpi.mpicc, "--", "sh", "-c", f"{shlex.join(command)}; : '<i>'"]
    for _ in range(2):  # the second replaces the first
        found = subprocess.run(given, env=environment(mpi), capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
    assert re.search(r"^2 processes, [\d.]+ \w+ of all together; [\d.]+ \w+ of it, [\d.]+ %, in MPI$", found.stdout, re.MULTILINE)
    assert re.search(r"^MPI_Send +10 +[\d.]+ \w+ +[\d.]+ % +4,?000 B +1$", found.stdout, re.MULTILINE), found.stdout
    told = json.loads((folder / "calls.json").read_text())
    assert {one["function"]: one["calls"] for one in told["calls"]}["MPI_Recv"] == 10
    page = (folder / "calls.html").read_text()
    assert "&lt;i&gt;" in page
    assert "<i>" not in page
    shown = subprocess.run([*words[:4], "analyse", str(folder), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == told


def damaged(folder: Path, data: bytes) -> str:
    (folder / "profile.json").write_text('{"format": "scalkit profile", "schema": 1, "locations": 1, "run": "0000000000000000"}')
    (folder / "000000.profile").write_bytes(data)
    with pytest.raises(DataError) as found:
        read_profile(folder)
    return str(found.value)


def head(rows: int, *, run: int = 0, ticks: int = 1000, location: int = 0) -> bytes:
    numbers = np.array([rows, run, 0, 0, 0, 0, ticks, ticks, 1, 0], "<i8").tobytes()
    return b"SKPROFI1" + np.array([location, 0x01020304], "<u4").tobytes() + numbers


def test_times_of_all_locations_are_put_together(tmp_path: Path) -> None:
    facts = {"format": "scalkit profile", "schema": 1, "locations": 2, "run": "0000000000000000"}
    (tmp_path / "profile.json").write_text(json.dumps(facts))
    for location, (calls, ticks, least, most) in enumerate([(3, 60, 10, 30), (2, 70, 5, 65)]):
        row = np.array([calls, ticks, least, most, 8], "<i8").tobytes()
        text = b'{"row":0,"function":"MPI_Barrier"}\n'
        path = tmp_path / f"{location:06d}.profile"
        path.write_bytes(head(1, location=location) + row + text)
    found = read_profile(tmp_path)
    (barrier,) = found.calls
    assert (barrier.calls, barrier.bytes, barrier.locations, barrier.most_at) == (5, 16, 2, 1)
    times = (barrier.time_s, barrier.least_s, barrier.most_s, barrier.most_at_s)
    assert times == pytest.approx([1e-9 * ns for ns in (130, 5, 65, 70)])
    assert (found.mpi_s, found.time_s) == pytest.approx((130e-9, 2000e-9))


def test_what_is_damaged_is_refused_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no profile in"):
        read_profile(tmp_path)
    (tmp_path / "profile.json").write_text("[]")
    with pytest.raises(DataError, match="is not the header of a profile of schema 1"):
        read_profile(tmp_path)
    (tmp_path / "profile.json").write_text('{"format": "scalkit profile", "schema": 1, "locations": -3}')
    with pytest.raises(DataError, match="there are -3 locations; a number from 1 on is needed"):
        read_profile(tmp_path)
    one = np.array([1, 10, 10, 10, 0], "<i8").tobytes()
    negative = np.array([1, -10, 10, 10, 0], "<i8").tobytes()
    row = b'{"row":0,"function":"MPI_Send"}\n'
    assert "0 bytes, and 96 are its head" in damaged(tmp_path, b"")
    assert "does not begin as a profile" in damaged(tmp_path, b"x" * 200)
    assert "shorter than the 1000000000000 rows" in damaged(tmp_path, head(10**12) + one)
    assert "is of another run than profile.json" in damaged(tmp_path, head(1, run=5) + one + row)
    assert "its clock does not run" in damaged(tmp_path, head(1, ticks=0) + one + row)
    assert "row 0 has a negative number" in damaged(tmp_path, head(1) + negative + row)
    assert "it describes row 1 of 1" in damaged(tmp_path, head(1) + one + row.replace(b"0", b"1"))
    assert "000000.profile cannot be read" in damaged(tmp_path, head(1) + one + b"{\n")
    (tmp_path / "000000.profile").write_bytes(head(1) + one + row + b'{"row":')  # the end was cut off
    (found,) = read_profile(tmp_path).calls
    assert (found.function, found.calls, found.time_s) == ("MPI_Send", 1, pytest.approx(1e-8))


def test_names_of_code_without_lines() -> None:
    def named(text: str, file: str = "/lib/MPI.so") -> str:
        return of_object(Site(text, file, 0, 0, 0))

    assert named("__pyx_pw_6mpi4py_3MPI_4Comm_73Sendrecv+0x3e9") == "mpi4py.MPI.Comm.Sendrecv"
    assert named("__pyx_f_6mpi4py_3MPI_PyMPI_bcast_p2p+0x22c") == "mpi4py.MPI.PyMPI_bcast_p2p"
    assert named("solve+0x10") == "solve+0x10 in MPI.so"
    assert named("", "") == ""
