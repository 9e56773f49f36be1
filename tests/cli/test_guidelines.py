"""`scalkit guidelines` as a user types it: table, sentences, files, exit status, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalkit.cli import main
from scalkit.guidelines.profile import load_profile

TEXT = "MPI_Gather <= MPI_Allgather"


def csv(path: Path, slow: float = 1.3, crowded: bool = False, runs: int = 14) -> Path:
    rng = np.random.default_rng(5)
    lines = ["# unit: s", "operation,p,size,run,oversubscribed,time"]
    for name, factor in (("MPI_Gather", slow), ("MPI_Allgather", 1.0)):
        for p in (2, 4, 8, 16, 32):
            for size in (8, 64):
                for run in range(runs):
                    time = factor if size == 8 else 1.0
                    values = 1e-6 * time * p**0.5 * rng.lognormal(0, 0.01, 5)
                    lines += [f"{name},{p},{size},{run},{crowded},{value:.6g}" for value in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> str:
    return str(csv(tmp_path / "t.csv"))


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(["guidelines", *words]) == status
    captured = capsys.readouterr()
    return captured.out if status < 2 else captured.err


def test_table_sentences_and_status(capsys: pytest.CaptureFixture[str], table: str) -> None:
    out = said(capsys, table, "--guideline", TEXT, status=1)
    assert "5/10 (5/5)" in out
    assert out.count(f"{TEXT} is violated at p=") == 5
    assert "Call MPI_Allgather instead of MPI_Gather, for p = 2 to 32, size = 8. The latter takes 1." in " ".join(out.split())
    assert out.rstrip().endswith("Exit status 1.")
    fine = said(capsys, table, "--guideline", "MPI_Allgather <= MPI_Gather", "--guideline", "a <= b")
    assert "0/10 (0/5)" in fine
    assert "a <= b was not tested: a, b were not measured." in fine
    untested = said(capsys, table, "--guideline", "a <= b", "--fail-on", "untested", status=1)
    assert "No guideline could be tested. Exit status 1." in untested


def test_crowded_and_too_few_runs_do_not_decide(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = said(capsys, str(csv(tmp_path / "c.csv", crowded=True)), "--guideline", TEXT)
    assert out.count("(does not decide)") == 5
    assert "Exit status 0." in out
    few = str(csv(tmp_path / "f.csv", runs=3))
    assert "10 undecidable. Exit status 0." in said(capsys, few, "--guideline", TEXT)
    assert "Exit status 1." in said(capsys, few, "--guideline", TEXT, "--fail-on", "undecidable", status=1)


def test_json_holds_everything(capsys: pytest.CaptureFixture[str], table: str) -> None:
    content = json.loads(
        said(capsys, table, "--guideline", TEXT, "--json", "--p-threshold", "0.01", "--strictness", "paper", status=1)
    )
    assert (content["exit_status"], content["counts"]["violated"]) == (1, 5)
    assert content["thresholds"]["p"] == 0.01
    assert {one["test"] for one in content["tests"]} == {"rank-sum"}
    assert [(one["instead_of"], one["use"], one["decides"]) for one in content["remedies"]] == [
        ("MPI_Gather", "MPI_Allgather", True)
    ]


def test_profile(capsys: pytest.CaptureFixture[str], table: str, tmp_path: Path) -> None:
    profile = tmp_path / "p.json"
    words = (table, "--guideline", TEXT, "--profile", str(profile))
    assert f"Written: {profile}" in said(capsys, *words, status=1)
    assert {(one.level, one.use) for one in load_profile(profile).choices if one.p == one.size == 8} == {
        ("MPI_Gather", "MPI_Allgather")
    }
    again = said(capsys, *words, status=2)
    assert again == f"scalkit guidelines: {profile} is there already; choose another name, or replace it with --force.\n"
    assert main(["guidelines", *words, "--force"]) == 1


def test_the_catalogues_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys)
    assert out.startswith("neighbourhood (")
    assert "GL12\n  reorder=1 <= reorder=0\n  Ranks are reordered to communicate faster" in out
    assert said(capsys, "--guideline", "a <= b").endswith("a <= b\n  a <= b\n")
    rows = json.loads(said(capsys, "--json"))
    assert {row["set"] for row in rows} == {"neighbourhood", "classic"}
    assert all(row["meaning"] for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{}", "--mpi", "mpicc"], "--mpi is about a program that follows a profile; name it with --use."),
        (["{}", "--guideline", "a <"], "cannot read the guidelines 'a <': No such file or directory."),
        (["{}", "--v-threshold", "1"], "the threshold of the ratio is 1.0; it must be above 1, as in 1.03."),
        (["{}", "--value", "speed"], "there is no column 'speed' with the measured values; there are operation, p, size"),
        (["nowhere"], "there is no file or folder 'nowhere'; name measurements, such as a run folder or a CSV file."),
        (["{}", "--profile", "{}/x.json"], "is not there; make it first, or choose another one."),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], table: str, words: list[Any], message: str) -> None:
    assert message in said(capsys, *(word.replace("{}", table) for word in words), status=2)


def test_neighbourhood_campaigns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    moore = {"op": "MPI_Neighbor_alltoall", "size_B": 8, "topology": "moore", "n_dim": 2, "n_finite": 0, "radius": 1}
    for run in range(12):
        env = {"rec": "env", "schema": 1, "run_id": f"abc-r{run:02d}", "program": "sk_neighbours", "p": 4, "experiments": 2}
        records: list[dict[str, Any]] = [env]
        for number, (order, mean) in enumerate((("rand", 1000), ("fmaj", 1500))):
            times = rng.normal(mean, 20, 9).astype(int).tolist()
            own = {"rec": "cell", "experiment": number, "line": number + 2, "p": 4, "order": order, "late_at": []}
            records.append({**own, **moore, "n": 9, "t_ns": times, "local_ns": [t // 2 for t in times]})
        records.append({"rec": "end", "records": len(records), "status": "complete"})
        text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records)
        (tmp_path / f"{run}.jsonl").write_text(text, encoding="utf-8")
    out = " ".join(said(capsys, str(tmp_path), "--guideline", "neighbourhood", status=1).split())
    assert "1 of 1 test violated (GL11). Exit status 1." in out
    assert "Choose order=rand instead of order=fmaj, for p = 4, size = 8. The latter takes 1.5" in out
    local = json.loads(said(capsys, str(tmp_path), "--value", "local", "--json", status=1))
    assert local["tests"][0]["ratio"] == pytest.approx(1.5, rel=0.02)
