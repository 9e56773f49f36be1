"""`scalkit lab`: the copy of the notebooks, what it never overwrites, and a real JupyterLab on it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from waiting import PATIENCE_S, wait_until

from scalkit.cli import main
from scalkit.cli.lab import command
from scalkit.errors import UsageError
from scalkit.extras import sentence
from scalkit.reports import bundled, copies
from scalkit.reports.copies import copy_notebooks

FIRST = "00_quickstart.ipynb"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the notebooks of an installed scalkit, with two of them."""
    folder = tmp_path / "shipped"
    (folder / "more").mkdir(parents=True)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "a-checkpoint.ipynb").write_text("old")
    (folder / "a.ipynb").write_text("one")
    (folder / "more" / "b.ipynb").write_text("two")
    monkeypatch.setattr(copies, "bundled", lambda name: folder)
    return folder


def test_all_notebooks_are_copied(tmp_path: Path) -> None:
    done = copy_notebooks(tmp_path / "mine")
    shipped = sorted(path.name for path in bundled("notebooks").glob("*.ipynb"))
    copied = sorted(path.name for path in (tmp_path / "mine").glob("*.ipynb"))
    assert copied == [one for one in shipped if one[0] != "9" and one != "explore.ipynb"]
    assert len(copied) < len(shipped)
    assert FIRST in done.new
    assert (tmp_path / "mine" / FIRST).read_bytes() == bundled(f"notebooks/{FIRST}").read_bytes()


def test_lessons_come_without_solutions(tmp_path: Path) -> None:
    done = copy_notebooks(tmp_path / "mine")
    lessons = sorted((tmp_path / "mine" / "teach").glob("*.ipynb"))
    assert [f"teach/{path.name}" for path in lessons] == [name for name in done.new if name.startswith("teach/")]
    assert lessons
    for path in lessons:
        tags = [tag for cell in json.loads(path.read_text())["cells"] for tag in cell["metadata"].get("tags", [])]
        assert "blank" in tags
        assert not {"solution", "teacher"} & set(tags)


def test_the_second_call_says_nothing_and_changes_nothing(source: Path, tmp_path: Path) -> None:
    first = copy_notebooks(tmp_path / "mine")
    assert first.new == ("a.ipynb", "more/b.ipynb")
    assert first.sentences == (f"Copied 2 notebooks to {tmp_path / 'mine'}.",)
    assert copy_notebooks(tmp_path / "mine").sentences == ()
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [".scalkit-notebooks.json", "a.ipynb", "more"]


def test_what_was_changed_is_kept_and_the_rest_brought_up_to_date(source: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    copy_notebooks(mine)
    (mine / "a.ipynb").write_text("my work")
    done = copy_notebooks(mine)
    assert (done.kept, done.outdated) == (("a.ipynb",), ())
    assert done.sentences == ("Kept as you changed it: a.ipynb.",)
    (source / "a.ipynb").write_text("one, better")
    (source / "more" / "b.ipynb").write_text("two, better")
    done = copy_notebooks(mine)
    assert (done.updated, done.outdated) == (("more/b.ipynb",), ("a.ipynb",))
    assert (mine / "a.ipynb").read_text() == "my work"
    assert (mine / "more" / "b.ipynb").read_text() == "two, better"
    assert done.sentences == (
        "Brought up to date: more/b.ipynb.",
        "Kept as you changed it: a.ipynb.",
        "scalkit has a newer version of a.ipynb; rename yours and run this again to get it.",
    )
    (mine / "a.ipynb").rename(mine / "mine.ipynb")
    assert copy_notebooks(mine).sentences == (f"Copied 1 notebook to {mine}.",)
    assert (mine / "mine.ipynb").read_text() == "my work"


@pytest.mark.parametrize("record", [None, "", "[1]", '{"a.ipynb": 5}'])
def test_a_file_that_scalkit_did_not_write_is_kept(source: Path, tmp_path: Path, record: str | None) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "a.ipynb").write_text("of somebody else")
    if record is not None:
        (mine / ".scalkit-notebooks.json").write_text(record)
    assert "a.ipynb" in copy_notebooks(mine).kept
    assert (mine / "a.ipynb").read_text() == "of somebody else"


def test_places_that_do_not_do(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"^'.*file' is a file; name a folder for the notebooks\.$"):
        copy_notebooks(tmp_path / "file")
    with pytest.raises(UsageError, match=r"^'.*' is where the notebooks come from; name another folder for the copies\.$"):
        copy_notebooks(source)
    wrong = r"^cannot write the notebooks to '.*below': Not a directory; name another folder\.$"
    with pytest.raises(UsageError, match=wrong):
        copy_notebooks(tmp_path / "file" / "below")
    assert sorted(path.name for path in source.glob("*")) == [".ipynb_checkpoints", "a.ipynb", "more"]


def test_wrong_port(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--port", "70000"]) == 2
    assert capsys.readouterr().err == "scalkit lab: --port 70000: a number from 1 to 65535 is needed.\n"


def test_without_jupyterlab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    monkeypatch.chdir(tmp_path)
    assert main(["lab"]) == 2
    assert capsys.readouterr().err == f"scalkit lab: {sentence('lab', 'jupyterlab')}\n"
    assert not list(tmp_path.iterdir())


def test_words_of_the_start(tmp_path: Path) -> None:
    assert "--port=8765" in command(tmp_path, browser=False, port=8765)
    words = command(tmp_path, browser=True, port=None)
    assert words[:3] == [sys.executable, "-m", "jupyterlab"]
    assert not [word for word in words if word.startswith(("--no-browser", "--port"))]
    assert ("--allow-root" in words) == (os.geteuid() == 0)


def read(address: str) -> bytes:
    """Return a page of a server that says its address a moment before it listens."""
    found: list[bytes] = []

    def answers() -> bool:
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
                found.append(answer.read())
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
        return bool(found)

    wait_until(answers, f"an answer of {address}")
    return found[0]


@pytest.mark.slow
def test_jupyterlab_opens_the_quick_start(tmp_path: Path) -> None:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_"))} | {"HOME": str(tmp_path)}
    words = [sys.executable, "-m", "scalkit.cli", "lab", "mine", "--no-browser"]
    lab = subprocess.Popen(words, cwd=tmp_path, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert lab.stdout is not None
        said = ""
        while not (address := re.search(r"http://(localhost|127\.0\.0\.1):\d+\S+token=\S+", said)):
            line = lab.stdout.readline()
            assert line, said
            said += line
        assert f"{tmp_path / 'mine'}.\nJupyterLab opens {FIRST} in {tmp_path / 'mine'}; Ctrl-C ends it.\n" in said
        assert f"/lab/tree/{FIRST}" in address[0]
        assert b"JupyterLab" in read(address[0])
        listed = address[0].replace(f"/lab/tree/{FIRST}", "/api/contents")
        names = {entry["name"] for entry in json.loads(read(listed))["content"]}
        assert FIRST in names
    finally:
        lab.terminate()
        lab.communicate()
    assert lab.returncode in (0, -15)
