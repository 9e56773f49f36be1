"""Campaign files about a command, and the scripts of jobs that measure a whole campaign."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tiers import slow_unless

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
JOB = """
[job]
nodes = 2
processes_per_node = 4
time = "01:30:00"
queue = "batch"
account = "me"
modules = ["GCC/12 x"]
environment = { A = "b c" }
lines = ["ulimit -s unlimited"]
options = ["--exclusive"]
"""
ASKED = {
    "slurm": "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n#SBATCH --time=90\n"
    "#SBATCH --partition=batch\n#SBATCH --account=me\n",
    "pbs": "#PBS -l select=2:ncpus=4:mpiprocs=4\n#PBS -l walltime=01:30:00\n#PBS -q batch\n#PBS -A me\n",
    "lsf": '#BSUB -n 8\n#BSUB -R "span[ptile=4]"\n#BSUB -W 01:30\n#BSUB -q batch\n#BSUB -P me\n',
    "flux": "#flux: --nodes=2\n#flux: --exclusive\n#flux: --time-limit=90m\n#flux: --queue=batch\n#flux: --bank=me\n",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(FILE + JOB)
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
        ('command = "true"\n[job]\ntime = "00:00:00"\n', "line 3: job.time is "),
        ('command = "true"\n[job]\nqueue = "a b"\n', "line 3: "),
        ('command = "true"\n[job]\noptions = ["a\\nb"]\n', "line 3: "),
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


@pytest.mark.parametrize("system", [slow_unless(system, "slurm") for system in ASKED])
def test_the_script_of_a_job_asks_and_runs(file: Path, system: str, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text().replace("[job]", f'[job]\nsystem = "{system}"'))
    assert main(["campaign", "submit", str(file), "--scripts", str(file.parent / "scripts")]) == 0
    script = file.parent / f"scripts/mine.{system}.sh"
    assert str(script) in capsys.readouterr().out
    text = script.read_text()
    assert ASKED[system] in text
    assert "module load 'GCC/12 x' || exit 1\nexport A='b c'\nulimit -s unlimited\n" in text
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    script.write_text(text.replace("module load", ": module load"))
    assert subprocess.run(["bash", str(script)], check=False, cwd="/").returncode == 0
    assert len(list((file.parent / "runs/mine").glob("*.jsonl"))) == 8


def test_a_name_of_a_file_is_never_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "it's $(false)\ntouch made\n.toml"
    file.write_text('command = "true"\nruns = 1\nmax_reps = 3\n[job]\nsystem = "lsf"\nnodes = 1\n')
    assert main(["campaign", "submit", str(file), "--scripts", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert shlex.split(told["command"]) == ["bsub", "<", told["file"]]
    assert subprocess.run(["bash", told["file"]], check=False, cwd=tmp_path).returncode == 0
    assert not (tmp_path / "made").exists()


def test_what_a_command_cannot_do_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "submit", str(file)]) == 2
    assert "measures a command, which is one job: write its script with" in capsys.readouterr().err
    file.write_text(FILE)
    assert main(["campaign", "submit", str(file), "--scripts", str(file.parent)]) == 2
    assert "does not say what one job is asked for; add a table [job]" in capsys.readouterr().err
