"""`scalkit model messages`, as a user calls it: a real library above the layer of virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalkit.bench import find_mpi
from scalkit.bench.virtual.mpi import proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.cli import main
from scalkit.errors import BuildError, LaunchError, UsageError


@pytest.mark.slow
@pytest.mark.mpi
def test_trees_of_a_real_library_are_named_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        mpi = find_mpi()
        proved(virtual(mpi, read_network("cluster")))
    except (BuildError, LaunchError, UsageError) as error:
        pytest.skip(f"no library runs in virtual time here: {error}")
    if "MPICH Version: 5" not in " ".join(mpi.library.split()):
        pytest.skip("its messages are known of MPICH 5")
    monkeypatch.setenv("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial")
    monkeypatch.setenv("MPIR_CVAR_DEVICE_COLLECTIVES", "none")
    page = tmp_path / "messages.html"
    words = ["model", "messages", "--ops", "Bcast,Barrier", "-n", "5", "--sizes", "8,1KiB", "--out", str(page)]
    assert main(words) == 0
    end = "each message is sent and arrives when that algorithm's does."
    lines = [f"MPI_Bcast of {size} with 5 processes: binomial, 4 messages in 3 rounds; {end}" for size in ("8 B", "1 KiB")]
    lines.insert(1, f"MPI_Barrier with 5 processes: dissemination, 15 messages in 3 rounds; {end}")
    assert capsys.readouterr().out.splitlines() == [*lines, f"wrote {page}"]
    text = page.read_text()
    assert text.count("<h2>") == 3
    assert "<script src" not in text
    assert main([*words[:-2], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["flows"][0]
    assert (told["algorithms"], told["match"], told["rounds"]) == (["binomial"], "to the nanosecond", 3)
    assert [row[:3] + row[5:] for row in told["messages"]] == [[0, 4, 40, 1], [0, 2, 40, 2], [0, 1, 40, 3], [2, 3, 40, 3]]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--ops", "Scan"], "--ops 'MPI_Scan': no algorithms are known of it; choose from MPI_Barrier, MPI_Bcast, "),
        (["-n", "1"], "-n 1 --sizes 1KiB: at least 2 processes and a size are needed."),
        (["--out", __file__], "is there already; choose another name, or delete it."),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "messages", *words]) == 2
    assert why in capsys.readouterr().err
