"""Rules that a program follows at run time: from a profile, and followed by programs under the layer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scalkit.bench import Mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.guidelines.choices import Choice
from scalkit.guidelines.profile import Profile
from scalkit.guidelines.rules import rules_of
from scalkit.support.native import build, sources

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, p, given[64], got[256] = {0}, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < 64; i++)
        given[i] = rank * 1000 + i;
    for (int n = 1; n <= 64; n *= 2)
        MPI_Gather(given, n, MPI_INT, got, n, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 64 * p; i++)
        wrong += rank == 0 && got[i] != i / 64 * 1000 + i % 64;
    if (rank == 0)
        printf("wrong %d\n", wrong);
    MPI_Finalize();
    return wrong;
}
"""


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "gather.c").write_text(PROGRAM)
    subprocess.run([mpi.mpicc, "-o", str(folder / "gather"), str(folder / "gather.c")], check=True)
    return folder / "gather"


@pytest.fixture
def crowded(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings(mpi.kind, oversubscribed=True).items():
        monkeypatch.setenv(name, value)


def gather(p: int, size: int, use: str = "MPI_Gatherv", **where: str) -> Choice:
    terms = ((1.0, use),) if use != "MPI_Gather" else ()
    return Choice("operation", "MPI_Gather", use, terms, where, p, size, ratio=1.5)


def lines(*choices: Choice, library: str = "") -> list[str]:
    return rules_of(Profile(choices), library).text().splitlines()[1:]


def test_a_range_ends_where_the_call_itself_is_as_fast() -> None:
    sizes = {8: "MPI_Gatherv", 16: "MPI_Gatherv", 32: "MPI_Gather", 64: "MPI_Gatherv", 128: "MPI_Allgather"}
    found = lines(*(gather(4, size, use) for size, use in sizes.items()))
    assert found == [
        "MPI_Gather MPI_Gatherv 4 4 8 16",
        "MPI_Gather MPI_Gatherv 4 4 64 64",
        "MPI_Gather MPI_Allgather 4 4 128 128",
    ]


def test_between_two_numbers_of_processes_the_sizes_of_both_count() -> None:
    found = lines(*(gather(4, size) for size in (8, 16, 32)), *(gather(8, size) for size in (16, 64)), gather(9, 1))
    assert found == [
        "MPI_Gather MPI_Gatherv 4 4 8 32",
        "MPI_Gather MPI_Gatherv 8 8 16 64",
        "MPI_Gather MPI_Gatherv 9 9 1 1",
        "MPI_Gather MPI_Gatherv 5 7 16 32",
    ]


def test_what_cannot_be_followed_is_counted() -> None:
    unsure = replace(gather(4, 8), decides=False)
    unknown = gather(4, 16, "my_gather")
    here, there = gather(4, 32, topology="cart"), gather(4, 32, "MPI_Gather", topology="moore")
    waits = replace(gather(4, 8, "MPI_Neighbor_alltoall"), level="MPI_Ineighbor_alltoall")
    found = rules_of(Profile((unsure, unknown, here, there, waits)))
    assert (found.rules, found.left_out) == ((), 4)


def test_a_profile_of_several_libraries_needs_the_one() -> None:
    both = (gather(4, 8, library="MPICH 5.0.2"), gather(4, 8, "MPI_Allgather", library="Intel MPI 2021"))
    assert lines(*both, library="MPICH 5.0.2") == ["MPI_Gather MPI_Gatherv 4 4 8 8"]
    assert lines(*both, library="Intel MPI 2021 for Linux") == ["MPI_Gather MPI_Allgather 4 4 8 8"]
    with pytest.raises(
        DataError, match=r"the profile is of Intel MPI 2021, MPICH 5.0.2, and 'Open MPI' is none of them; name an mpicc"
    ):
        lines(*both, library="Open MPI")
    with pytest.raises(DataError, match="the profile has 'many' where a number of processes or bytes must stand"):
        lines(replace(both[0], p="many"), library="MPICH 5.0.2")


@pytest.mark.mpi
@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize("checked", [False, True])
def test_a_program_follows_a_profile(
    mpi: Mpi, program: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    monkeypatch.setenv("SCALKIT_TUNE_CHECK", str(int(checked)))
    path = tmp_path / "fast.json"
    path.write_text(Profile(tuple(gather(3, size) for size in (24, 48, 96))).to_json())
    words = ["guidelines", "--use", str(path), "--mpi", mpi.mpicc, "--json"]
    assert main([*words, "--", *mpi.command(3, str(program))]) == 0
    said = capfd.readouterr().out
    assert said.startswith("wrong 0\n")
    assert json.loads(said.removeprefix("wrong 0\n")) == {
        "rules": 1,
        "left_out": 0,
        "calls": {"MPI_Gather": 21},
        "replaced": [{"call": "MPI_Gather", "use": "MPI_Gatherv", "followed": 9, "different": 0}],
        "checked": checked,
    }
    words.remove("--json")
    assert main([*words, "--", *mpi.command(2, str(program))]) == 0
    assert "  MPI_Gather: none, of 14\n" in capfd.readouterr().out


@pytest.mark.mpi
@pytest.mark.usefixtures("crowded")
def test_files_that_are_none_are_refused(mpi: Mpi, program: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fast.json"
    path.write_text(Profile((gather(3, 24, "my_gather"),)).to_json())
    assert main(["guidelines", "--use", str(path), "--mpi", mpi.mpicc]) == 2
    assert "holds nothing that a program can follow: 1 of its choices are better than the call" in capfd.readouterr().err
    layer = build(sources("microbench"), mpi.mpicc, makefile="tune/Makefile").program("libscalkit_tune.so")
    rules = tmp_path / "fast.rules"
    for text, why in (
        ("scalkit-rules 1\nMPI_Gather MPI_Bcast 2 2 1 1\n", "line 2: 'MPI_Bcast' is no known substitute"),
        (None, "No such"),
    ):
        rules.unlink(missing_ok=True)
        if text:
            rules.write_text(text)
        words = ["env", f"LD_PRELOAD={layer}", f"SCALKIT_TUNE={rules}", str(program)]
        done = subprocess.run(mpi.command(2, *words), capture_output=True, text=True, env=os.environ, check=False)
        assert done.returncode != 0
        assert done.stderr.count("scalkit tune: no rules can be read from") == 1
        assert why in done.stderr


@pytest.mark.slow
@pytest.mark.mpi
def test_the_benchmark_of_the_layer_runs(mpi: Mpi) -> None:
    command = [sys.executable, "benchmarks/tune_overhead.py", "--mpi", mpi.mpicc, "--launches", "1", "--bytes", "64", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert set(found["cost"]["layer"]) == set(found["cost"]["plain"]) == {"MPI_Bcast", "MPI_Gather", "MPI_Allreduce"}
    assert all(value > 0 for value in found["64 B"]["layer"].values())
