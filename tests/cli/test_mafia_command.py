"""`scalkit mafia` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalkit.cli import main


def test_measures_resumes_and_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mafia", "--out", str(tmp_path / "m"), "-k", "3-7", "-n", "2000", "-d", "9", "--runs", "1", "--max-reps", "5"]
    assert main(words) == 0
    first = capsys.readouterr()
    assert first.err.startswith(f"Measuring 1 x 5 launches into {tmp_path}/m\n[1/5] mafia-k")
    assert [line.split(",")[0] for line in first.out.splitlines()[2::3]] == ["gen", "dedup", "pcount", "unjoin"]
    assert main(words) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (first.out, f"Measuring 1 x 5 launches into {tmp_path}/m\n")


def test_few_settings_have_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mafia", "--out", str(tmp_path / "m"), "-k", "1,3", "-n", "2000", "--runs", "1", "--max-reps", "1"]
    assert main(words) == 0
    assert capsys.readouterr().out == "A verdict needs 5 values of k; here are 2.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-k", "three"], "-k three: numbers are needed, as in -k 3-16 or -k 3,5,8."),
        (["-k", "3-4-5"], "-k 3-4-5: numbers are needed, as in -k 3-16 or -k 3,5,8."),
        (["-k", "8-3"], "k = nothing: ascending numbers from 1 to 20 are needed, as in 3,4,5."),
        (["--cc", "/no/cc"], None),
    ],
)
def test_wrong_use_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str | None) -> None:
    assert main(["mafia", "--out", str(tmp_path / "m"), *words]) == 2
    err = capsys.readouterr().err
    assert said is None or err == f"scalkit mafia: {said}\n"
    assert said is not None or "cannot run the compiler '/no/cc'" in err
