"""A pile of hand-ins, of which some are broken or hostile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scalkit as sk
from exercises import simulated
from grade import main
from scalkit.session.file import dataset_to_text

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = {"halo_exchange": "log(p)", "gather_blocks": "p", "build_plan": "p*log(p)", "sum_all": "log(p)"}

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def pile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two good hand-ins: ada found the fault, bob worked on the bundled data."""
    folder = tmp_path_factory.mktemp("pile")
    sk.Session(simulated("06-new"), EXPECTED).select("sum_all").save(folder / "ada.json")
    bob = sk.Session(ROOT / "data" / "quickstart", "mpi").select("MPI_Comm_create")
    bob.expect("log(p)").undo().expect("1").save(folder / "bob.json")
    return folder


def broken(pile: Path, name: str, edit: Edit) -> str:
    """Write bob's session with a change and return its path."""
    plain = json.loads((pile / "bob.json").read_text())
    edit(plain)
    path = pile / name
    path.write_text(json.dumps(plain))
    return str(path)


def grade(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    status = main([str(word) for word in words])
    return status, capsys.readouterr().out


def test_verdicts_and_steps(pile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = grade(capsys, pile / "ada.json", pile / "bob.json")
    assert status == 0
    assert out.startswith("ada: sum_all (time), expected log(p), model p, fix\n")
    assert "\nbob: MPI_Comm_create (object_memory), expected 1, model 1, fine\n" in out
    assert "  MPI_Comm_create stays constant, as claimed; anything faster than " in out
    assert " is excluded.\n  1. expect 1 of MPI_Comm_create\n" in out
    assert out.endswith("2 of 2 hand-ins read.\n")


def test_exercise_is_checked_on_each(pile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = grade(capsys, "--exercise", "06-hand-in", pile / "ada.json", pile / "bob.json")
    assert status == 0
    ada, bob = out.split("bob: ")
    assert ada.endswith("  solved\n")
    assert "  not solved: This session is about other measurements than the exercise.\n" in bob


@pytest.mark.slow
def test_malformed_ones_get_one_sentence_and_stop_nobody(pile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (pile / "text.json").write_text("dear teacher")
    (pile / "binary.json").write_bytes(b"\xff\xfe\x00")
    (pile / "deep.json").write_text("[" * 100_000)
    (pile / "list.json").write_text("[1]")
    (pile / "other.json").write_text('{"format": "x"}')
    (pile / "huge.json").touch()
    os.truncate(pile / "huge.json", 20_000_001)
    edits: dict[str, Edit] = {
        "newer.json": lambda s: s.update(schema=2),
        "nodata.json": lambda s: s.update(data=None),
        "cut.json": lambda s: s.pop("present"),
        "selected.json": lambda s: s.update(selected=3),
        "code.json": lambda s: s["present"].update(
            expectations={"MPI_Bcast": {"expectation": "__import__('os')", "deviation": None, "parameter": "p"}}
        ),
        "netcdf.json": lambda s: s["data"].update(netcdf="AAAA"),
        "foreign.json": lambda s: s["data"].update(sha256="0" * 64),
    }
    wrong = [broken(pile, name, edit) for name, edit in edits.items()]
    names = ("text", "binary", "deep", "list", "other", "huge", "gone")
    files = [*(pile / f"{name}.json" for name in names), *wrong, pile, pile / "ada.json"]
    status, out = grade(capsys, *files)
    assert status == 2
    assert out.endswith(f"1 of {len(files)} hand-ins read.\n")
    problems = [line.removeprefix(f"{pile}").partition(": ") for line in out.splitlines() if line.startswith(str(pile))]
    said = {name.removeprefix("/") or pile.name: problem for name, _, problem in problems}
    assert "ada.json" not in said
    assert said.pop("text.json") == "it is no JSON, so it was not saved as a session; ask for the file anew."
    assert said["gone.json"] == said[pile.name] == "there is no such file; name a session file."
    assert said["list.json"] == said["nodata.json"] == "it is JSON, but no session; ask for the file anew."
    assert said["huge.json"].startswith("it is larger than 20000000 bytes")
    assert said["newer.json"] == "the session has schema 2, this scalkit reads 1; install a newer scalkit."
    assert said["foreign.json"].startswith("it is about measurements that are not here; name them with --data")
    for problem in said.values():
        assert 10 < len(problem) < 300
        assert problem.count(". ") == 0


def test_paths_in_a_session_are_not_followed(pile: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    os.mkfifo(trap)  # reading it would wait for ever
    own = broken(pile, "trap.json", lambda s: s["data"].update(paths=[str(trap)], sha256="0" * 64))
    assert grade(capsys, own)[0] == 2
    assert grade(capsys, broken(pile, "moved.json", lambda s: s["data"].update(paths=["/home/jovyan/data"])))[0] == 0


def test_own_measurements_by_option_or_inside(pile: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from scalkit.measure import write_netcdf

    data = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f")
    write_netcdf(data, tmp_path / "own.nc")
    session = sk.Session(tmp_path / "own.nc", {"f": "log(p)"})
    session.save(tmp_path / "eve.json")
    assert grade(capsys, tmp_path / "eve.json")[0] == 2
    assert grade(capsys, tmp_path / "eve.json", "--data", tmp_path / "own.nc")[0] == 0
    session.save(tmp_path / "eve.json", with_data=True)
    assert grade(capsys, tmp_path / "eve.json")[0] == 0
    plain = json.loads((tmp_path / "eve.json").read_text())
    plain["data"]["netcdf"] = dataset_to_text(sk.measurements([2, 4, 8, 16, 32], [9, 9, 9, 9, 9], name="f"))
    (tmp_path / "eve.json").write_text(json.dumps(plain))
    status, out = grade(capsys, tmp_path / "eve.json")
    assert status == 2
    assert "the measurements inside the session are not those" in out


def test_names_of_steps_cannot_drive_the_terminal(pile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[2J\r[bold]evil[/bold]"
    own = broken(pile, "\x1b[31mmallory.json", lambda s: s["past"][0].update(step=name))
    status, out = grade(capsys, own)
    assert status == 0
    assert "\x1b" not in out
    assert "\r" not in out
    assert "  1. ?[2J?[bold]evil[/bold]" in out


def test_exercise_without_a_session_is_refused(pile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--exercise", "01-order", str(pile / "ada.json")]) == 2
    assert capsys.readouterr().err == ("grade.py: the exercise '01-order' is answered in words; name one about a session.\n")
