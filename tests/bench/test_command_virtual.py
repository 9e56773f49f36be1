"""A command over several parameters in virtual time: the same times again, regions, resumed, and what is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.bench import Mpi
from scalkit.cli import main
from scalkit.support.native import sources

PROGRAM = """
#include <mpi.h>
#include <scalkit/region.h>
#include <stdlib.h>
static char block[1 << 16];
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), rank, p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    SK_REGION_BEGIN("chain");
    if (rank > 0)
        MPI_Recv(block, n, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < p - 1)
        MPI_Send(block, n, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    SK_REGION_END("chain");
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def command(mpi: Mpi, tmp_path: Path) -> list[str]:
    """Return the words that measure a chain of messages with this library by a virtual clock."""
    (tmp_path / "links.c").write_text(PROGRAM)
    program = tmp_path / "links"
    include = f"-I{sources('microbench') / 'include'}"
    subprocess.run([mpi.mpicc, include, "-o", program, tmp_path / "links.c"], check=True)
    here = ["--mpi", mpi.mpicc, "--mpiexec", mpi.mpiexec, "--clock", "virtual"]
    return ["measure", "--command", f"mpiexec -n {{p}} {program} {{n}}", *here]


@pytest.mark.slow
@pytest.mark.mpi
def test_a_chain_grows_with_its_links(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = ["-p", "p=2,3,5,7,9", "-p", "n=16,1024"]
    one, two = (tmp_path / name for name in ("one", "two"))
    assert main([*command, *points, "--out", str(one)]) == 0
    assert "times of a virtual clock" in capsys.readouterr().out
    assert main([*command, *points, "--out", str(two)]) == 0
    first, second = (sk.read(out) for out in (one, two))
    assert first["time"].dropna("repetition").equals(second["time"].dropna("repetition")), "to the nanosecond"
    chain = first.sel(n=16)
    assert chain.attrs["clock"] == "virtual"
    times = chain["time"].sel(function="chain").squeeze(drop=True).values * 1e9
    each = times[-1] / 8
    assert times == pytest.approx(each * (chain["p"].values - 1), rel=0.05), "a message more for each process more"
    assert 1500 < each < 2000, "L + 2 o, and the bytes"
    (verdict,) = sk.validate(chain.sel(function=["chain"]), {"chain": "p"}).verdicts
    assert verdict.answer == "fine"
    capsys.readouterr()
    assert main([*command, *points, "--out", str(one)]) == 0
    assert "nothing was missing: 10 launches" in capsys.readouterr().out
    assert main([*command, *points, "--network", "ethernet", "--out", str(one)]) == 2
    assert "holds a campaign with other arguments: clock was " in capsys.readouterr().err


@pytest.mark.mpi
def test_a_program_without_mpi_is_said(mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["measure", "--clock", "virtual", "--mpi", mpi.mpicc, "--mpiexec", mpi.mpiexec]
    assert main([*words, "--command", "mpiexec -n {p} true", "-p", "p=2", "--out", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert "the command ended, but not in virtual time: does 'true' call MPI_Init and MPI_Finalize, and use the library" in said
    assert not list((tmp_path / "x").glob("*.jsonl")), json.dumps(said)


@pytest.mark.parametrize(
    "text", ["./app 8", "mpiexec ./app", "mpiexec -n four ./app", "mpiexec -n 2 --bind-to core ./app", "mpiexec -n 0 ./app"]
)
def test_a_command_must_begin_with_its_launcher(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "--clock", "virtual", "--command", text, "--out", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err == (
        f"scalkit measure: --command {text}: in virtual time scalkit starts the ranks itself; write 'mpiexec -n {{p}} PROGRAM "
        "...', without other options of mpiexec, or leave --clock virtual out.\n"
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--clock", "virtual", "--mpi", "a", "--mpi", "b"], "--mpi b: a command runs with one library; name one."),
        (["--clock", "virtual", "--ops", "all"], "--ops does not go with --command; leave it out."),
        (["--compute", "cpu"], "--compute does not go with --command; leave it out."),
        (["--network", "ethernet"], "--network does not go with --command; leave it out."),
        (["--per-node", "2"], "--per-node does not go with --command; leave it out."),
    ],
)
def test_what_does_not_go_with_it(options: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["measure", "--command", "mpiexec -n 2 true", *options, "--out", str(tmp_path / "x")]
    assert main(words) == 2
    assert capsys.readouterr().err == f"scalkit measure: {text}\n"


@pytest.mark.mpi
def test_a_file_says_the_same_as_the_options(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = "L=2us,o=0.5us,g=0.1us,G=0.1ns/B"
    own = tmp_path / "mine.toml"
    text = f'command = "{command[2]}"\nparameters = {{ p = [2, 3], n = [16] }}\n'
    own.write_text(f'{text}clock = "virtual"\nnetwork = "{network}"\nper_node = 1\n')
    assert main(["campaign", "run", str(own)]) == 0
    assert "times of a virtual clock" in capsys.readouterr().out
    words = [*command[:3], "--clock", "virtual", "--network", network, "--per-node", "1", "-p", "p=2,3", "-p", "n=16"]
    assert main([*words, "--out", str(tmp_path / "there")]) == 0
    here, there = (sk.read(out) for out in (tmp_path / "runs/mine", tmp_path / "there"))
    assert here["time"].equals(there["time"])
    assert here.sizes["repetition"] == here.sizes["run"] == 1, "it repeats exactly"
    capsys.readouterr()
    for more, said in (
        (f'network = "{network}"', 'network belongs to a virtual clock; add clock = "virtual", or leave it out.'),
        ('clock = "virtuel"', "line 3: clock is \"virtuel\" (did you mean 'virtual'?); choose from real, virtual."),
    ):
        own.write_text(f"{text}{more}\n")
        assert main(["campaign", "run", str(own)]) == 2
        assert said in capsys.readouterr().err
    own.write_text('command = "./app {p}"\nparameters = { p = [2, 3] }\nclock = "virtual"\n')
    assert main(["campaign", "run", "--check", str(own)]) == 2
    assert 'or leave clock = "virtual" out.' in capsys.readouterr().err
