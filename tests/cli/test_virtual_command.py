"""`scalkit measure --clock virtual`: what it prints, its exit status, and its refusals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.virtual.mpi import virtual
from scalkit.bench.virtual.network import read_network
from scalkit.cli import main
from scalkit.errors import BuildError, LaunchError, UsageError

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
extern void sk_virtual_region(const char *) __attribute__((weak));
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, in = 1, out = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (sk_virtual_region)
        sk_virtual_region("reduce");
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sk_virtual_region)
        sk_virtual_region(NULL);
    if (rank == 0)
        printf("of %d\n", out);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    """Return the library of this machine, if it runs in virtual time."""
    try:
        found = find_mpi()
        virtual(found, read_network("cluster"))
    except (BuildError, LaunchError, UsageError) as error:
        pytest.skip(f"needs an MPI library in virtual time: {error}")
    return found


@pytest.mark.mpi
def test_a_program_is_run_at_each_number_of_processes(mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, program, out = tmp_path / "prog.c", tmp_path / "prog", tmp_path / "runs"
    source.write_text(PROGRAM)
    subprocess.run([mpi.mpicc, "-o", str(program), str(source)], check=True)
    words = ["measure", "--clock", "virtual", "-p", "p=1..4", "--out", str(out), "--mpi", mpi.mpicc]
    words += ["--command", f"mpiexec -n {{p}} {program}"]
    assert main([*words, "--compute", "none"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("Measuring prog at 3 points over p, 1 run, into ")
    assert said[0].endswith("; computing costs no time")
    assert said[2].split() == ["p", "completion", "in", "MPI,", "mean", "max", "messages", "bytes"]
    assert [line.split()[0] for line in said[3:6]] == ["1", "2", "4"]
    assert said[6] == "Messages through shared memory, contention of links and network hardware are left out."
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fresh"] == 0
    assert (out / "command-p4-r00.txt").read_text() == "of 4\n"
    expected = tmp_path / "mine.toml"
    expected.write_text('[expectations]\nprog = "log(p)"\nreduce = "log(p)"\n')
    assert main(["validate", str(out), "--expect", str(expected), "--min-points", "3"]) == 0
    assert "time, virtual" in capsys.readouterr().out


@pytest.mark.mpi
def test_measure_says_whose_clock_it_reads(mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "runs")
    words = ["measure", "collectives", "memory", "--clock", "virtual", "-n", "2,3", "--memory-n", "2", "--out", out]
    assert main([*words, "--ops", "MPI_Barrier,MPI_Comm_dup", "--mpi", mpi.mpicc]) == 0
    said = capsys.readouterr().out
    assert (
        "Run times are those of a virtual clock: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time; memory is "
        "counted by this machine.\n"
    ) in said
    assert "describe the scheduler" not in said
    assert said.endswith(f"3 launches in {out}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["measure", "collectives", "--network", "cluster"],
            "scalkit measure: --network is the machine of a virtual clock; add --clock virtual.\n",
        ),
        (
            ["measure", "collectives", "--per-node", "4"],
            "scalkit measure: --per-node places processes on a simulated machine; name one with --platform, or add --clock "
            "virtual.\n",
        ),
        (
            ["measure", "collectives", "--clock", "virtual", "--platform", "juropa"],
            "scalkit measure: --clock virtual is for MPI libraries, --platform for SimGrid; leave one of them out.\n",
        ),
        (
            ["measure", "master-worker", "--memory-n", "2"],
            "scalkit measure: --memory-n does not go with master-worker; leave it out.\n",
        ),
        (
            ["measure", "--clock", "virtual", "--network", "foo", "--command", "mpiexec -n 2 true"],
            "scalkit measure: the network 'foo' is unknown; choose cluster, ethernet, fat-tree, dragonfly, a TOML file, or "
            "numbers such as L=1us,o=0.3us,g=0.1us,G=0.08ns/B.\n",
        ),
    ],
)
def test_refusals(words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([words[0], "--out", str(tmp_path / "runs"), *words[1:]]) == 2
    assert capsys.readouterr().err == message
