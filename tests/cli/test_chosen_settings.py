"""`-n` of validate, `--expectation` of validate and report: which settings and which expectations count."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import combine, write_netcdf

ROOT = Path(__file__).resolve().parents[2]
SIMULATED = str(ROOT / "data/simulated/juropa")
P = 2.0 ** np.arange(1, 9)


@pytest.fixture
def run(tmp_path: Path) -> str:
    parts = [
        sk.measurements(P, 1e-6 * (2 + np.log2(P)), name="bcast"),
        sk.measurements(P, 3 * P, metric="visits", unit="1", name="bcast"),
    ]
    path = tmp_path / "run.nc"
    write_netcdf(combine(parts), path)
    return str(path)


def told(capsys: pytest.CaptureFixture[str], *args: str) -> dict:
    assert main(["validate", *args, "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def settings(result: dict, function: str) -> list[float]:
    (verdict,) = [one for one in result["verdicts"] if one["function"] == function]
    return verdict["x"]


@pytest.mark.parametrize(
    ("text", "counts"), [("4..1024", [2**i for i in range(2, 11)]), ("4,8,16,64,1024", [4, 8, 16, 64, 1024])]
)
def test_only_these_numbers_of_processes(text: str, counts: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    result = told(capsys, SIMULATED, "-n", text)
    assert settings(result, "MPI_Bcast") == counts


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            (SIMULATED, "-n", "4,5,8"),
            "nothing was measured with 5 processes; it was with 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024.",
        ),
        ((SIMULATED, "-n", "2000..4000"), "nothing was measured with 2000..4000 processes; it was with 2, 4,"),
        ((SIMULATED, "-n", "many"), "-n 'many': numbers of processes are needed, as in -n 4,8,16 or -n 4..1024."),
        (
            (str(ROOT / "data/mafia/m3"), "--expect", "mafia", "-n", "4"),
            "-n chooses numbers of processes, and these measurements are over k; leave it out.",
        ),
    ],
)
def test_wrong_numbers(args: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", *args]) == 2
    assert said in capsys.readouterr().err


def test_expectations_on_the_command_line(run: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    alone = told(capsys, run, "--expectation", "bcast = log(p)", "--expectation", "bcast (visits) = p")
    assert {one["metric"]: one["match"] for one in alone["verdicts"]} == {"time": "total", "visits": "total"}
    assert alone["expectations"] == "the command line"

    file = tmp_path / "e.toml"
    file.write_text('rules = ["bcast <= 2*bcast"]\n[expectations]\nbcast = "p"\n', encoding="utf-8")
    both = told(capsys, run, "--expect", str(file), "--expectation", "bcast=log(p)")
    assert [one["expectation"] for one in both["verdicts"]] == ["log(p)"]
    assert both["unexpected"] == ["bcast (visits)"]
    assert len(both["rules"]) == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--expectation", "bcast"], "--expectation is 'bcast'; write it as in 'MPI_Bcast = log(p)'."),
        (["--expectation", "bcast = "], "--expectation is 'bcast = '; write it as"),
        (["--expectation", "b=p", "--expectation", "b = 1"], "--expectation says twice what is expected of 'b'; leave one out."),
        (["--expectation", "bcast=p+"], "function 'bcast': "),
        (["--expectation", "bcast=p", "--baseline", "b.json"], "--expectation and --baseline both say what is expected"),
    ],
)
def test_wrong_expectations(args: list[str], said: str, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", run, *args]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_a_report_of_an_expectation_on_the_command_line(run: str, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert main(["report", run, "--expectation", "bcast (visits) = p", "--out", str(out)]) == 0
    result = json.loads(out.with_suffix(".verdict.json").read_text(encoding="utf-8"))
    assert [(one["function"], one["metric"]) for one in result["verdicts"]] == [("bcast", "visits")]
