"""Campaign files about a command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.bench.command.file import CommandFile, read_either
from scalkit.cli import main
from scalkit.errors import UsageError

FILE = """\
title = "sums"
command = "sh -c 'expr {n} + {k}'"
parameters = { n = "1000..8000", k = [1, 2] }
set = { SEEN = "{n}" }
runs = 1
max_reps = 3
seed = 5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


def test_it_is_measured_and_resumed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "run", "--check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["launches"] == 8
    assert main(["campaign", "run", str(file)]) == 0
    assert "scalkit validate" in capsys.readouterr().out
    data = sk.read(file.parent / "runs/mine")
    assert dict(data.sizes) | {"n": 4, "k": 2} == dict(data.sizes)
    assert main(["campaign", "run", str(file)]) == 0
    assert "nothing was missing: 8 launches" in capsys.readouterr().out


def test_points_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("n,k\n10,1\n20,2\n")
    (tmp_path / "mine.toml").write_text('command = "expr {n} + {k}"\npoints = "points.csv"\n')
    read = read_either(tmp_path / "mine.toml")
    assert isinstance(read, CommandFile)
    assert read.arguments.points == ((("n", 10), ("k", 1)), (("n", 20), ("k", 2)))
    assert (read.arguments.runs, read.out) == (5, tmp_path / "runs/mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("command = 3\n", "mine.toml, line 1: command is 3; a command in one line is needed, such as"),
        ('command = "true"\nrun = 3\n', "\"run\" is unknown (did you mean 'runs'?)"),
        ('command = "true {n}"\n', 'there are no parameters: add n = "1,2,4" in [parameters], or'),
        ('command = "true {n}"\nparameters = { n = [0] }\n', "line 2: "),
        ('command = "true {n}"\nparameters = { n = "8..2" }\n', "the range ends before it begins"),
        ('command = "true"\nmin_reps = 5\nmax_reps = 3\n', "mine.toml: min_reps 5 is greater than max_reps 3; lower the first"),
        ('command = "true {n}"\nparameters = { n = "a" }\n', 'write n = "100,1000,10000" in [parameters], or n'),
        ('command = "true {n}"\npoints = "gone.csv"\n', "gone.csv: No such file or directory; name a CSV file."),
        ('command = "true"\npoints = "a"\n[parameters]\nn = [1]\n', "parameters and points both say where to measure"),
        ('command = "true"\ntimeout_s = nan\n', "mine.toml, line 2: timeout_s is nan; a positive number of seconds is needed."),
        ('command = "true"\nbudget_s = inf\n', "mine.toml, line 2: budget_s is inf; a positive number of seconds is needed."),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(said)):
        read_either(tmp_path / "mine.toml")


def test_one_repetition_a_launch_is_enough_where_no_other_number_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('command = "true"\nmax_reps = 1\n')
    read = read_either(tmp_path / "mine.toml")
    assert isinstance(read, CommandFile)
    assert (read.arguments.min_reps, read.arguments.max_reps) == (1, 1)


def test_the_command_is_quoted_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('command = "./app --runs 5 --points x"\nparameters = { n = [1] }\n')
    with pytest.raises(UsageError, match=r"no place in command \./app --runs 5 --points x: write \{n\}"):
        read_either(tmp_path / "mine.toml")


def test_a_wrong_point_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("n,k\n\n10,1\n20,-2\n")
    (tmp_path / "mine.toml").write_text('command = "expr {n} + {k}"\npoints = "points.csv"\n')
    with pytest.raises(UsageError, match=r"points .*points\.csv, line 4: k = -2: whole numbers from 1 on are needed\.$"):
        read_either(tmp_path / "mine.toml")


def test_what_a_command_cannot_do_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "submit", str(file)]) == 2
    said = f"{file} measures a command, which is one job: submit a script that runs 'scalkit campaign run {file}'."
    assert said in capsys.readouterr().err
