"""`scalkit store`: what it files, lists, compares, advises, refuses."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.cli import main

DATA = Path(__file__).parents[2] / "data"
DAINT = str(DATA / "simulated" / "daint")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "results"
    assert (
        main(
            [
                "store",
                "put",
                str(path),
                DAINT,
                str(DATA / "libraries-times" / "mpich-5.0.2"),
                "--user",
                "me",
                "--licence",
                "CC0-1.0",
            ]
        )
        == 0
    )
    return path


def _json(capsys: pytest.CaptureFixture[str], *arguments: object) -> object:
    capsys.readouterr()
    assert main(["store", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_put_says_what_is_new(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s"
    assert main(["store", "put", str(path), DAINT]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["added"] * 3
    assert lines[3] == f"{path}: 3 runs."
    assert main(["store", "put", str(path), DAINT]) == 0
    assert capsys.readouterr().out.startswith("there already ")


def test_lists(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = _json(capsys, "runs", filled, "--where", "machine=daint*")
    assert isinstance(runs, list)
    assert {run["user"] for run in runs} == {"me"}
    assert len(runs) == 3
    assert main(["store", "runs", str(filled)]) == 0
    assert "vm, MPICH 5.0.2" in capsys.readouterr().out
    suites = _json(capsys, "runs", filled, "--suites", "--where", "op=MPI_Bcast|MPI_Reduce", "metric=time")
    assert isinstance(suites, list)
    assert {suite["op"] for suite in suites} == {"MPI_Bcast", "MPI_Reduce"}
    assert main(["store", "runs", str(filled), "--suites", "--where", "op=MPI_Bcast"]) == 0
    assert "p = 2 to 1024" in capsys.readouterr().out
    assert main(["store", "runs", str(filled), "--where", "machine=none"]) == 0
    assert capsys.readouterr().out == "No run fits; leave out --where, or file some with 'scalkit store put'.\n"


def test_load_writes_netcdf(filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "all.nc"
    assert main(["store", "load", str(filled), "--out", str(out), "--where", "machine=daint*"]) == 0
    assert sk.read(out).sizes["function"] == 8
    assert main(["store", "load", str(filled), "--out", str(out)]) == 2
    assert "what fits cannot be one file: daint, simulated" in capsys.readouterr().err


def test_compare_and_advise(filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choices = ["op=MPI_Bcast,machine=daint*", "op=Bcast_binary_tree,machine=daint*"]
    told = _json(capsys, "compare", filled, *choices, "--out", tmp_path / "plot.csv")
    assert isinstance(told, dict)
    assert told["curves"][0]["clock"] == "simulated"
    assert (tmp_path / "plot.csv").read_text().count("\n") == 21
    assert main(["store", "compare", str(filled), *choices]) == 0
    assert "; simulated." in capsys.readouterr().out
    advice = _json(capsys, "advise", filled, "Bcast", "--where", "machine=daint*", "p=1024", "--c", "ifdef")
    assert isinstance(advice, dict)
    assert advice["settings"][0]["segments"][0]["winner"] == "MPI_Bcast"
    assert "Not measured on a machine: daint" in advice["c"]
    assert main(["store", "advise", str(filled), "MPI_Bcast", "--c", "runtime"]) == 0
    assert "static int sk_platform(void)" in capsys.readouterr().out
    assert main(["store", "advise", str(filled), "MPI_Bcast"]) == 0
    assert "Not measured: Bcast_send_recv, Bcast_allgatherv." in capsys.readouterr().out


def test_examples_of_the_page_run_on_the_bundled_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (DATA.parent / "docs" / "store.md").read_text(encoding="utf-8")
    block = page.split("```")[1]
    lines = [re.split(r" {3,}", line)[0] for line in block.strip().splitlines()]
    reading = [shlex.split(line)[1:] for line in lines if line.split()[2] in ("runs", "compare", "advise")]
    assert len(reading) == 3
    for words in reading:
        given = [
            str(DATA / "store") if word == "results" else word.replace("gather.pdf", str(tmp_path / "gather.csv"))
            for word in words
        ]
        assert main(given) == 0, words
        assert len(capsys.readouterr().out.splitlines()) > 4
    assert len((tmp_path / "gather.csv").read_text().splitlines()) > 10


def test_validate_merge_retract_restore(filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    shutil.copytree(filled, theirs)
    (theirs / "runs" / f"{'0' * 32}.parquet").write_bytes(b"no parquet")
    assert main(["store", "validate", str(theirs)]) == 1
    assert "8 accepted, 1 refused." in capsys.readouterr().out
    assert main(["store", "merge", str(mine), str(theirs)]) == 1
    out = capsys.readouterr().out
    assert "8 added, 0 there already, 1 refused." in out
    assert "[not-parquet]" in out
    run_id = sk.store.open(mine).folder.run_ids()[0]
    assert main(["store", "retract", str(mine), run_id[:10], "--reason", "wrong clock"]) == 0
    assert capsys.readouterr().out == f"retracted {run_id}: wrong clock\n"
    assert len(_json(capsys, "runs", mine)) == 7  # type: ignore[arg-type]
    assert len(_json(capsys, "runs", mine, "--retracted")) == 8  # type: ignore[arg-type]
    assert main(["store", "retract", str(mine), run_id[:10], "--restore", "--reason", "the clock was right"]) == 0
    assert capsys.readouterr().out == f"restored {run_id}: the clock was right\n"
    assert len(_json(capsys, "runs", mine)) == 8  # type: ignore[arg-type]


def test_what_is_wrong_is_said(filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        (["runs", tmp_path / "none"], "there is no store at"),
        (["runs", filled, "--where", "machine"], "--where 'machine' is no NAME=VALUE, as in machine=vm."),
        (["runs", filled, "--where", "retracted=true"], "--where cannot choose by 'retracted'; see 'scalkit store --help'."),
        (["advise", filled, "MPI_Bcast", "--where", "op=x"], "--where cannot choose by 'op'; see 'scalkit store --help'."),
        (["put", tmp_path / "s", tmp_path / "none"], "there is nothing at"),
        (["compare", filled, "MPI_None"], "nothing in the store fits 'op=MPI_None'"),
        (["advise", filled, "MPI_None"], "no substitutes of 'MPI_None' are known"),
        (["merge", tmp_path / "s", tmp_path / "none"], "there is nothing at"),
        (["retract", tmp_path / "s", "zz", "--reason", "x"], "there is no store at"),
        (["sign", tmp_path / "s", "--key", "k"], "there is no store at"),
        (["retract", filled, "zz", "--reason", "x"], "there is no run 'zz'"),
    ):
        assert main(["store", *map(str, arguments)]) == 2
        assert f"scalkit store: {words}" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()
