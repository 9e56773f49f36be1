"""Programs in Fortran in virtual time, by every way to use MPI: with the library's own, or with a small one above its C."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from scalkit.bench import Mpi
from scalkit.bench.virtual.mpi import VirtualMpi, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import BuildError, UsageError
from scalkit.formats.read import read
from scalkit.support.native import sources
from tests.bench.virtual_programs import program_campaign

HERE = Path(__file__).parent
SMALL = HERE / "small"  # an MPI of Fortran above any of C; elsewhere, since mpif.h beside a program would come first
REGION = sources("microbench") / "include/scalkit"
WAYS = {"mpif.h": (), "mpi": ("-DMPI=mpi",), "mpi_f08": ("-DMPI=mpi_f08",)}
MESSAGE_NS = 3000  # L + 2 o


@pytest.fixture(scope="module")
def above(mpi: Mpi) -> VirtualMpi:
    """Return the library of this machine in virtual time."""
    if shutil.which("gfortran") is None:
        pytest.skip("needs gfortran (make system-deps)")
    try:
        return virtual(mpi, read_network("L=2us,o=0.5us,g=0.3us,G=0.1ns/B"))
    except (BuildError, UsageError) as error:
        pytest.skip(f"needs the layer of virtual time: {error}")


def built(mpi: VirtualMpi, way: str, prefix: str, folder: Path) -> Path:
    """Return the program, above the C functions with that prefix, or above the library's own Fortran where it is empty."""
    program, fortran = folder / "sums", str(Path(mpi.mpicc).with_name("mpif90"))
    linker, flags = fortran, []
    if prefix:  # the compiler of C knows where the library is
        linker, fortran, flags = mpi.mpicc, "gfortran", ["binding.o", "mpi.o", "-lgfortran"]
        subprocess.run([mpi.mpicc, "-c", f"-DPREFIX={prefix}", SMALL / "binding.c"], cwd=folder, check=True)
        subprocess.run(["gfortran", f"-I{SMALL}", "-c", SMALL / "mpi.f90"], cwd=folder, check=True)
    for source in (REGION / "region.f90", HERE / "sums.F90"):
        given = [f"-I{SMALL}"] if prefix else []
        subprocess.run([fortran, *given, *WAYS[way], "-c", source], cwd=folder, check=True)
    subprocess.run([linker, "-o", program, "region.o", "sums.o", REGION / "region.c", *flags], cwd=folder, check=True)
    return program


def times_ns(mpi: VirtualMpi, program: Path, folder: Path) -> tuple[float, float]:
    """Return what the region takes with 2 and with 4 processes, which must have added up their ranks."""
    campaign = program_campaign(folder / "runs", (str(program),), (2, 4), mpi)
    assert not campaign.run().failures
    assert "24.000000000000000" in (folder / "runs" / "command-p4-r00.txt").read_text()
    two, four = 1e9 * read(folder / "runs")["time"].sel(function="sum").min(("run", "repetition")).to_numpy()
    return float(two), float(four)


@pytest.mark.mpi
@pytest.mark.parametrize("prefix", ["MPI_", "PMPI_"])
@pytest.mark.parametrize("way", WAYS)
def test_programs_in_fortran_above_the_library_of_c(above: VirtualMpi, tmp_path: Path, way: str, prefix: str) -> None:
    two, four = times_ns(above, built(above, way, prefix, tmp_path), tmp_path)
    assert MESSAGE_NS <= two < MESSAGE_NS + 50  # and a header
    assert four == pytest.approx(2 * two, abs=2)


if Path(shutil.which("mpicc") or "").with_name("mpif90").is_file():  # the wheel of MPICH has none

    @pytest.mark.mpi
    @pytest.mark.parametrize("way", WAYS)
    def test_programs_in_fortran(above: VirtualMpi, tmp_path: Path, way: str) -> None:
        two, four = times_ns(above, built(above, way, "", tmp_path), tmp_path)
        assert MESSAGE_NS <= two < four
