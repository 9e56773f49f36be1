"""`scalkit lab`: the copy of the notebooks, what it never overwrites, and a real JupyterLab on it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE_S, wait_until

from scalkit.cli import lab, main
from scalkit.cli.lab import command, copy_notebooks, sentences_of
from scalkit.errors import UsageError
from scalkit.reports import bundled
from scalkit.support.extras import sentence

ROOT = Path(__file__).resolve().parents[2]
FIRST = "00_quickstart.ipynb"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the notebooks of an installed scalkit, with two of them."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "a.ipynb").write_text("one")
    (folder / "b.ipynb").write_text("two")
    (folder / "01_lesson.ipynb").write_text("needs more than scalkit")
    monkeypatch.setattr(lab, "bundled", lambda name: folder)
    return folder


def test_notebooks_that_need_only_scalkit_are_copied(tmp_path: Path) -> None:
    new, _ = copy_notebooks(tmp_path / "mine")
    assert new == ["00_quickstart.ipynb", "guidelines.ipynb", "which_operation.ipynb"]
    assert (tmp_path / "mine" / FIRST).read_bytes() == bundled(f"notebooks/{FIRST}").read_bytes()


def test_the_wheel_ships_the_notebooks_that_need_only_scalkit() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    shipped = {Path(name).name for name in included if name.startswith("notebooks")}
    own = re.compile(r"^(import|from) (lessons|exercises|onesided)\b", re.MULTILINE)
    notebooks = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb")}
    sources = {name: "".join(_lines_of_code(text)) for name, text in notebooks.items()}
    lessons = {name for name in sources if own.search(sources[name]) or re.match(r"0[1-9]_", name)}
    assert shipped == set(notebooks) - lessons
    assert set(copy_names()) <= shipped


def _lines_of_code(text: str) -> Iterator[str]:
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            yield from (*cell["source"], "\n")


def copy_names() -> list[str]:
    """Return the names of the notebooks of the checkout that are copied."""
    every = (ROOT / "notebooks").glob("*.ipynb")
    return [path.name for path in every if not any(path.match(one) for one in lab._NOT_COPIED)]


def test_the_second_call_copies_nothing(source: Path, tmp_path: Path) -> None:
    assert copy_notebooks(tmp_path / "mine") == (["a.ipynb", "b.ipynb"], [])
    assert copy_notebooks(tmp_path / "mine") == ([], [])
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["a.ipynb", "b.ipynb"]


def test_a_file_that_is_there_is_kept(source: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    copy_notebooks(mine)
    (mine / "a.ipynb").write_text("my work")
    assert copy_notebooks(mine) == ([], ["a.ipynb"])
    assert (mine / "a.ipynb").read_text() == "my work"
    (mine / "a.ipynb").rename(mine / "mine.ipynb")
    assert copy_notebooks(mine) == (["a.ipynb"], [])
    assert (mine / "mine.ipynb").read_text() == "my work"


def test_copies_are_told_in_sentences(tmp_path: Path) -> None:
    said = sentences_of(tmp_path, ["a.ipynb", "b.ipynb"], ["c.ipynb"])
    assert said[0] == f"Copied 2 notebooks to {tmp_path}."
    assert said[1] == "Kept c.ipynb, which differs from scalkit's; rename yours and run this again to get it."
    assert said[2].startswith("The lessons, 01 to 08, are in the repository: https://")


def test_places_that_do_not_do(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"^'.*file' is a file; name a folder for the notebooks\.$"):
        copy_notebooks(tmp_path / "file")
    with pytest.raises(UsageError, match=r"^'.*' is where the notebooks come from; name another folder for the copies\.$"):
        copy_notebooks(source)
    wrong = r"^cannot write the notebooks to '.*below': Not a directory; name another folder\.$"
    with pytest.raises(UsageError, match=wrong):
        copy_notebooks(tmp_path / "file" / "below")
    assert sorted(path.name for path in source.glob("*")) == ["01_lesson.ipynb", "a.ipynb", "b.ipynb"]


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
    words = [sys.executable, "-m", "scalkit", "lab", "mine", "--no-browser"]
    lab = subprocess.Popen(words, cwd=tmp_path, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert lab.stdout is not None
        said = ""
        while not (address := re.search(r"http://(localhost|127\.0\.0\.1):\d+\S+token=\S+", said)):
            line = lab.stdout.readline()
            assert line, said
            said += line
        assert f"\nJupyterLab opens {FIRST} in {tmp_path / 'mine'}; Ctrl-C ends it.\n" in said
        assert f"/lab/tree/{FIRST}" in address[0]
        assert b"JupyterLab" in read(address[0])
        listed = address[0].replace(f"/lab/tree/{FIRST}", "/api/contents")
        names = {entry["name"] for entry in json.loads(read(listed))["content"]}
        assert FIRST in names
    finally:
        lab.terminate()
        lab.communicate()
    assert lab.returncode in (0, -15)
