"""Options that contradict each other or name nothing: one sentence, status 2, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalkit.cli import docs, main

MEASURE = ["measure", "collectives", "-n", "2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["measure", "memory", "-n", "5..7"], "-n 5..7: there is no power of two from 5 to 7; write as in -n 2..1024."),
        ([*MEASURE, "--size", "5..7"], "--size 5..7: there is no power of two from 5 to 7; write as in --size 8..65536."),
        ([*MEASURE, "--size", "64,8"], "--size 64,8: name each size once, ascending."),
    ],
)
def test_measure(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--out", "runs"]) == 2
    assert capsys.readouterr().err == f"scalkit measure: {message}\n"
    assert list(tmp_path.iterdir()) == []


def test_several_sizes_need_a_folder_of_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "campaign.toml"
    record.write_text("schema = 1\n")
    assert main([*MEASURE, "--size", "8,64", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said == (
        f"scalkit measure: --out {tmp_path} is a file or holds one campaign; several message sizes need a folder for theirs.\n"
    )
    assert record.read_text() == "schema = 1\n"


def test_page_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(docs, "_SITE", tmp_path)
    assert main(["docs", "--no-open"]) == 2
    message = f"scalkit docs: the documentation is not at {tmp_path}; in a checkout 'make docs' builds it.\n"
    assert capsys.readouterr().err == message
    (tmp_path / "index.html").write_text("")
    assert main(["docs", "none", "--no-open"]) == 2
    assert capsys.readouterr().err == (
        "scalkit docs: the documentation has no page 'none'; leave it out, and search from the first page.\n"
    )
    assert main(["docs", "index.html", "--no-open"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/index.html\n"


def test_page_that_no_browser_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(docs, "_SITE", tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    (tmp_path / "index.html").write_text("")
    assert main(["docs"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/index.html\nNo browser could be opened; open that file by hand.\n"
