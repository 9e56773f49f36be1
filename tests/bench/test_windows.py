"""Windows of messages, persistent and partitioned operations and those in place, with real ranks, checked and judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needs import needs_simgrid
from shown import markup

import scalkit as sk
from scalkit.bench import Mpi
from scalkit.bench.arguments import operations
from scalkit.cli import main
from scalkit.measure.processes import bandwidths
from scalkit.reports.pages.verdicts import open_verdicts
from scalkit.support.native import sources

GROUPS = ("bandwidth", "persistent", "partitioned", "in-place")


def _measured(mpi: Mpi, out: Path, *words: str) -> int:
    here = ["--mpi", mpi.mpicc, "--mpiexec", mpi.mpiexec, "--runs", "1", "--seed", "3", "--out", str(out)]
    return main(["measure", "collectives", *here, *words])


@pytest.mark.mpi
@pytest.mark.parametrize(("clock", "p"), [("real", 2), ("virtual", 3)])
def test_all_of_them_give_what_they_must(
    clock: str, p: int, mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    words = ("--ops", ",".join(GROUPS), "-n", str(p), "--clock", clock, "--size", "800", "--datatype", "double")
    assert _measured(mpi, out, *words, "--min-reps", "5", "--max-reps", "5") == 0
    records = [json.loads(line) for line in (out / f"time-p000{p}-r00.jsonl").read_text().splitlines()]
    cells = {one["op"]: one for one in records if one["rec"] == "cell"}
    skipped = {one["op"] for one in records if one["rec"] == "skip"}
    tree = sources("microbench")
    assert {*cells, *skipped} == {op for group in GROUPS for op in operations(tree, "collectives", group)}
    assert all("[persistent]" in op or "[partitioned]" in op for op in skipped), "what MPI 3 does not have"
    assert all(one["verified"] for one in cells.values())
    assert {op: one["messages"] for op, one in cells.items() if "messages" in one} == {
        "Bw[x64]": 64,
        "Bibw[x64]": 128,
        "Mbw_mr[x64]": 64,
    }
    said = capsys.readouterr().out.splitlines()
    assert said[-4].split() == ["function", "at", "bandwidth", "messages"]
    assert [line.split()[0] for line in said[-3:]] == ["Bibw[x64]", "Bw[x64]", "Mbw_mr[x64]"]


@pytest.mark.mpi
def test_windows_do_not_grow_in_virtual_time(mpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    assert _measured(mpi, out, "--ops", "bandwidth", "-n", "2,4,6,8,10", "--size", "65536", "--clock", "virtual") == 0
    data = sk.read(out)
    result = sk.validate(data, "mpi-all")
    assert [(v.function, v.answer) for v in result.verdicts if v.answer != "fine"] == []
    found = data["bandwidth"].median("run").to_series()
    assert found["Bibw[x64]", 2] == pytest.approx(2 * found["Bw[x64]", 2], rel=0.1), "both ways at once"
    assert found["Mbw_mr[x64]", 8] == pytest.approx(4 * found["Bw[x64]", 8], rel=0.05), "four pairs"
    page = open_verdicts([str(out)], "mpi-all")
    table = markup(page, "summary.verdicts")
    assert all(text in table for text in ("messages a second", *bandwidths(data)[0]))


@pytest.mark.mpi
@needs_simgrid
def test_what_a_library_lacks_is_said(tmp_path: Path) -> None:
    out = tmp_path / "sim"
    words = ["measure", "collectives", "--platform", "juropa", "-n", "2", "--ops", "partitioned,bandwidth,MPI_Scan[persistent]"]
    assert main([*words, "--runs", "1", "--seed", "3", "--out", str(out)]) == 0
    notes = json.loads(sk.read(out).attrs["notes"])
    assert sorted(note.partition(": ")[2] for note in notes) == [
        "MPI_Scan[persistent] was skipped at 2 processes: this MPI library has no persistent collectives, which came with MPI 4",
        "Ping_pong[partitioned] was skipped at 2 processes: this MPI library has no partitioned messages, which came with MPI 4",
    ]


def test_a_wrong_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "collectives", "--ops", "bandwith", "--out", "runs/none"]) == 2
    assert "--ops: 'bandwith' cannot be measured by collectives (did you mean 'bandwidth'?)" in capsys.readouterr().err
