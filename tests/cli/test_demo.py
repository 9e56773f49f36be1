"""`scalkit demo`: the answers on bundled measurements, whatever the working directory is."""

from __future__ import annotations

from scalkit.cli import main


def test_the_demo_shows_both_answers(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    said = capsys.readouterr().out
    assert "No problem: 15 fine" in said
    assert "1 to fix" in said or "fix" in said.split("planted in MPI_Comm_dup")[1]
    assert "print(sk.check(sum" in said
