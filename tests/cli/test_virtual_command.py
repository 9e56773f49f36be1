"""`scalkit virtual` and `scalkit measure --clock virtual`: what they print, their exit status, and their refusals."""

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
    words = ["virtual", "-n", "1..4", "--out", str(out), "--mpi", mpi.mpicc]
    assert main([*words, "--", str(program)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("prog, ")
    assert said[0].endswith(" in virtual time on cluster: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time")
    assert said[1].split() == ["p", "completion", "in", "MPI,", "mean", "max", "messages", "bytes"]
    assert [line.split()[0] for line in said[2:5]] == ["1", "2", "4"]
    assert said[5:] == [
        "Messages through shared memory, contention of links and network hardware are left out.",
        f"Run files in {out}",
    ]
    assert main([*words, "--json", "--", str(program)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["p"] for one in told["launches"]] == [1, 2, 4]
    assert told["virtual"]["L_s"] == 1e-6
    expected = tmp_path / "mine.toml"
    expected.write_text('[expectations]\nprog = "log(p)"\nreduce = "log(p)"\n')
    assert main(["validate", str(out), "--expect", str(expected), "--min-points", "3"]) == 0
    assert "time, virtual" in capsys.readouterr().out


@pytest.mark.mpi
def test_what_failed_is_said_and_ends_with_two(mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["virtual", "-n", "1", "--out", str(tmp_path / "runs"), "--mpi", mpi.mpicc, "--", "false"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "scalkit virtual: program-p0001-r00 ended with status 1. The last lines:\n" in said.err


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
        (["virtual", "--timeout", "0", "--", "true"], "scalkit virtual: --timeout 0: a positive number of seconds is needed.\n"),
        (
            ["virtual", "--network", "foo", "--", "true"],
            "scalkit virtual: the network 'foo' is unknown; choose cluster, ethernet, fat-tree, dragonfly, a TOML file, or "
            "numbers such as L=1us,o=0.3us,g=0.1us,G=0.08ns/B.\n",
        ),
        (
            ["virtual", "-n", "x", "--", "true"],
            "scalkit virtual: -n x: numbers of processes are needed, such as -n 2,4,8,16,32.\n",
        ),
    ],
)
def test_refusals(words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([words[0], "--out", str(tmp_path / "runs"), *words[1:]]) == 2
    assert capsys.readouterr().err == message
