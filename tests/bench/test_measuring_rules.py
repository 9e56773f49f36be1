"""Rules of when to stop and what to keep, with real ranks, by command, by campaign file, and for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import needs_simgrid

import scalkit as sk
from scalkit.bench import Arguments, Mpi, prepare
from scalkit.bench.campaign.file import read_campaign
from scalkit.bench.campaign.refinement import Refinement
from scalkit.cli import main
from scalkit.errors import UsageError
from scalkit.measure.quarter_means import Cut, relative_error


def _cells(path: Path) -> list[dict[str, Any]]:
    return [one for one in map(json.loads, path.read_text().splitlines()) if one["rec"] == "cell"]


@pytest.mark.mpi
def test_until_the_standard_error(mpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    path = tmp_path / "mine.toml"
    path.write_text(
        'measure = ["collectives"]\nprocesses = [2]\nfunctions = ["MPI_Gather", "MPI_Bcast"]\nruns = 1\nseed = 4\nout = "runs"\n'
        "standard_error = 0.9\ncut_quartiles = [1, 4]\nmin_reps = 30\nmax_reps = 60\nper_process = true\n"
        f'mpi = ["own"]\n[libraries.own]\nmpicc = "{mpi.mpicc}"\nmpiexec = "{mpi.mpiexec}"\n'
    )
    assert main(["campaign", "run", str(path)]) == 0
    for op in ("MPI_Bcast", "MPI_Gather"):
        cells = [cell for cell in _cells(out / "time-p0002-r00.jsonl") if cell["op"] == op]
        t_ns = np.array([t for cell in cells for t in cell["t_ns"]])
        flagged = [i + s for cell, s in zip(cells, _starts(cells), strict=True) for i in cell["late_at"]]
        kept = np.delete(t_ns, flagged)
        last = cells[-1]
        status = "converged" if len(kept) >= 30 and last["stderr"] <= 0.9 else "capped"
        assert (last["status"], last["rep_min"], last["rep_max"], last["allowed_stderr"]) == (status, 30, 60, 0.9)
        assert (last["cut"], last["auto_refined"], "precision" in last) == ([1, 1], False, False)
        assert len(t_ns) == 60 if status == "capped" else 30 <= len(t_ns) <= 60
        assert last["stderr"] == pytest.approx(relative_error(kept, Cut(1, 1)), rel=1e-6), "C and Python agree"
        for cell in cells:
            assert [max(row) for row in cell["process_ns"]] == cell["t_ns"]
            assert [row[0] for row in cell["process_ns"]] == cell["root_ns"]
    store = sk.store.open(tmp_path / "store")
    (run_id,) = store.put(out).added
    row = store.table(run_id).to_pylist()[0]
    wanted = ("rep_min", "rep_max", "allowed_stderr", "cut", "auto_refined", "status")
    told = [cell for cell in _cells(out / "time-p0002-r00.jsonl") if cell["op"] == row["op"]][-1]
    assert [row[key] for key in wanted] == [30, 60, 0.9, "1,4", False, told["status"]]
    assert row["stderr"] == pytest.approx(told["stderr"], rel=1e-6)
    assert store.record(run_id)["measured"]["switches"]["arguments"]["cut_quartiles"] == [1, 4]


def _starts(cells: list[dict[str, Any]]) -> list[int]:
    return np.cumsum([0, *(cell["n"] for cell in cells)])[:-1].tolist()


@pytest.mark.slow
@pytest.mark.mpi
def test_more_numbers_of_processes_where_the_curve_bends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sim"
    path = tmp_path / "mine.toml"
    path.write_text(
        'measure = ["collectives"]\nplatform = "juropa"\nprocesses = [2, 8, 32]\nfunctions = ["MPI_Barrier"]\nruns = 1\n'
        'seed = 2\nout = "sim"\nalgorithms = { barrier = "ompi_basic_linear" }\n'
        '[refine]\nover = "processes"\nmax_points = 5\nallowed = 0.01\n'
    )
    assert main(["campaign", "run", str(path)]) == 0
    said = capsys.readouterr()
    inserted = json.loads((out / "refinement.json").read_text())["inserted"]
    assert len(inserted) == 2
    assert f"measuring {inserted[0]['x']} processes" in said.err
    assert sorted([2, 8, 32, *(one["x"] for one in inserted)]) == sk.read(out)["p"].values.tolist()
    last = f"3 points in the first pass, 2 where the curve bends: {out / 'refinement.json'}\n"
    assert said.out.endswith(f"5 launches in {out}\n{last}")


FIRST = 'measure = ["collectives"]\nprocesses = [2]\n'
REFINED = 'sizes = [4096, 8192, 16384]\n[refine]\nover = "sizes"\nmax_points = 4\n'


@pytest.mark.mpi
@needs_simgrid
def test_a_campaign_file_says_it_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    rules = "runs = 1\nmin_reps = 10\nmax_reps = 50\nstandard_error = 0.03\ncut_quartiles = [4]\nper_process = true\n"
    machine = 'platform = "juropa"\nfunctions = ["Ping_pong"]\n'
    path.write_text(FIRST + rules + machine + REFINED)
    file = read_campaign(path)
    one = file.variants[0].arguments
    assert (one.min_reps, one.max_reps, one.standard_error, one.cut_quartiles, one.per_process) == (10, 50, 0.03, (4,), True)
    assert one.refine == Refinement("sizes", max_points=4)
    assert main(["campaign", "run", "--check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "until the standard error is 3 % of the mean without quarter 4, with 10 to 50 repetitions\n" in said
    assert "refines sizes where lines from both sides miss by more than 10 %, up to 4 points\n" in said
    assert main(["campaign", "run", str(path)]) == 0
    out = tmp_path / "runs" / "mine"
    assert len([folder for folder in out.iterdir() if folder.is_dir()]) == 4
    assert sk.read(out, parameter=["p", "S"])["process_time"].sizes["S"] == 4
    assert len(sk.store.open(tmp_path / "store").put(out).added) == 1


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{FIRST}min_reps = 500", 3, "min_reps 500 is greater than max_reps 400; lower the first or raise the second."),
        (f"{FIRST}max_reps = 10", 3, "min_reps 20 is greater than max_reps 10; lower the first or raise the second."),
        (f"{FIRST}standard_error = 2", 3, "standard_error is 2; a share of the mean between 0 and 1 is needed, such as 0.02."),
        (f"{FIRST}cut_quartiles = [2]", 0, "quartiles to cut: 2 is not possible; choose 1,4 or 4 or 1 or 3,4 or 1,2, or none."),
        (
            f"{FIRST}cut_quartiles = [5]",
            3,
            "cut_quartiles[0] is 5; a quarter by its number is needed, 1 the lowest, 4 the highest.",
        ),
        (f"{FIRST}per_process = 1", 3, "per_process is 1; true or false is needed."),
        (f'{FIRST}[refine]\nover = "bytes"', 4, 'refine.over is "bytes"; choose from sizes, processes.'),
        (
            f'{FIRST}[refine]\nover = "processes"',
            2,
            "processes 2: refinement of processes needs a first pass of at least 3 of them.",
        ),
        (f'{FIRST}sizes = [8]\n[refine]\nover = "sizes"', 3, "sizes 8: refinement of sizes needs a first pass of at least 3"),
        (f'{FIRST}{REFINED}[slurm]\npartition = "a"', 4, "refine measures point after point, which jobs cannot; leave out"),
        ('measure = ["memory"]\nprocesses = [2]\n' + REFINED, 4, "refine follows run times; add 'collectives' to measure"),
    ],
)
def test_wrong_rules_are_named_with_their_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_campaign(path)
    where = f"{path}, line {line}" if line else str(path)
    assert f"{where}: {message}" in str(caught.value)


@pytest.mark.mpi
def test_from_python(mpi: Mpi, tmp_path: Path) -> None:
    rules: dict[str, Any] = {"min_reps": 5, "max_reps": 5, "standard_error": 1e-9}
    arguments = Arguments(("collectives",), (2,), 1, 7, ops=("MPI_Bcast",), **rules)
    prepare(tmp_path / "runs", arguments, mpi).run()
    (*_, last) = _cells(tmp_path / "runs" / "time-p0002-r00.jsonl")
    assert (last["status"], last["rep_max"]) == ("capped", 5)
    assert sk.read(tmp_path / "runs")["status"].values.ravel().tolist() == ["capped"]
