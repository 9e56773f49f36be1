"""`scalkit convert`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalkit.cli import main
from scalkit.formats.read import read

DATA = Path(__file__).parents[1] / "data" / "readers"


def test_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bcast.jsonl"
    folders = [str(DATA / "osu" / f"p{p:02d}") for p in (2, 4, 8, 16, 32)]
    assert main(["convert", *folders, str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"read {', '.join(folders[:3])} and 2 more (10 files) as OSU Micro-Benchmarks 7.4: "
        "12 functions, 5 points of p, 1 run; time [s]",
        f"wrote {out} as Extra-P JSON Lines",
    ]
    assert read(out)["p"].values.tolist() == [2, 4, 8, 16, 32]


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "imb.nc"
    cut = tmp_path / "imb.txt"
    cut.write_bytes((DATA / "imb" / "mpi1.txt").read_bytes()[:3000])
    assert main(["convert", "--json", "--parameter", "p, S", str(cut), str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["written"] == {"path": str(out), "title": "netCDF-3"}
    assert told["read"]["parameters"] == ["p", "S"]
    assert (told["read"]["format"], told["read"]["truncated"]) == ("Intel MPI Benchmarks 2021.10", "imb.txt")
    assert told["read"]["metrics"] == {"time": "s"}
    assert "the file was cut there" in told["read"]["notes"][0]
    assert read(out).attrs["truncated"] == "imb.txt"


def test_the_number_of_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "osu.txt"
    path.write_text((DATA / "osu" / "p08" / "osu_barrier.txt").read_text())
    out = tmp_path / "osu.csv"
    assert main(["convert", str(path), str(out)]) == 2
    assert "which does not say the number of processes" in capsys.readouterr().err
    assert not out.exists()
    assert main(["convert", "--processes", "8", str(path), str(out)]) == 0
    assert read(out)["p"].values.tolist() == [8]
    assert main(["convert", "--processes", "0", str(path), str(out), "--force"]) == 2
    assert "--processes is 0; a number from 1 on is needed." in capsys.readouterr().err


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.csv"
    out.write_text("mine")
    assert main(["convert", str(DATA / "csv" / "long.csv"), str(out)]) == 2
    assert capsys.readouterr().err == (
        f"scalkit convert: {out} is there already; choose another name, or replace it with --force.\n"
    )
    assert out.read_text() == "mine"
    assert main(["convert", "--force", str(DATA / "csv" / "long.csv"), str(out)]) == 0
    assert out.read_text().startswith("function,p,run,")
    assert main(["convert", str(DATA / "csv" / "long.csv"), str(tmp_path / "a.xls")]) == 2
    assert "says no format; known are .jsonl (Extra-P JSON Lines)" in capsys.readouterr().err


def test_the_help_shows_how(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    assert "scalkit convert runs/allreduce model.jsonl" in capsys.readouterr().out
