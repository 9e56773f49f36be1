"""What launchers of MPI programs say of a process, and who speaks."""

from __future__ import annotations

import sys

import pytest

from scalkit.cli import main
from scalkit.cli.terminal.ranks import Launched, launched, only_rank_0_speaks


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"PMI_RANK": "2", "PMI_SIZE": "8"}, Launched(2, 8)),
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, None),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, Launched(0, 4)),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"}, None),
        ({"PMIX_RANK": "3"}, Launched(3, None)),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "PMIX_RANK": "1"}, Launched(1, 2)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "64"}, None),  # a batch script
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "64", "PMI_RANK": "1", "PMI_SIZE": "2"}, Launched(1, 2)),
        ({"PMI_RANK": "", "PMI_SIZE": "x"}, None),
    ],
)
def test_launched(environment: dict[str, str], expected: Launched | None) -> None:
    assert launched(environment) == expected


@pytest.mark.parametrize(("rank", "text"), [("0", "a\n"), ("1", "")])
def test_only_rank_0_speaks(rank: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        sys.stdout.write("a\n")
        sys.stderr.write("a\n")
        return 3

    monkeypatch.setenv("PMI_RANK", rank)
    monkeypatch.setenv("PMI_SIZE", "2")
    assert only_rank_0_speaks(command) == 3
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (text, text)
    sys.stdout.write("b\n")
    assert capsys.readouterr().out == "b\n"


def test_leaving_is_a_status_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setenv("PMI_SIZE", "2")
    assert main(["validate", "--help"]) == 0
    assert main(["validate", "--wrong"]) == 2
    assert capsys.readouterr() == ("", "")
