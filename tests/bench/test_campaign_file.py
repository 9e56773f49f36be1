"""Campaign files: what is wrong is named with its line; what is right becomes folders and jobs."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scalkit as sk
from scalkit.bench import Mpi
from scalkit.bench.campaign.file import Library, read_campaign
from scalkit.bench.campaign.here import prepare_here
from scalkit.bench.jobs.batch import submit
from scalkit.bench.jobs.collecting import planned_jobs
from scalkit.cli import main
from scalkit.errors import UsageError
from scalkit.support.schema_errors import schema_errors

FIRST = 'measure = ["collectives"]\nprocesses = [2, 4]\n'
WORDS = "letters, digits and _.:,@+/=[]*&|()- is needed"


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('measure = ["colectives"]\nprocesses = [2]', 1, "(did you mean 'collectives'?); choose from collectives, memory"),
        (f"{FIRST}sede = 3", 3, "\"sede\" is unknown (did you mean 'seed'?); known are algorithms, "),
        (f"{FIRST}runs = 0", 3, "runs is 0; a whole number from 1 to 99 is needed."),
        (f"{FIRST}runs = 2.5", 3, "runs is 2.5; a whole number from 1 to 99 is needed."),
        (f"{FIRST}runs = true", 3, "runs is true; a whole number from 1 to 99 is needed."),
        ('measure = ["memory"]\nprocesses = [\n  2,\n  1,\n]', 4, "processes[1] is 1; a whole number from 2 to 9999"),
        ('measure = ["memory"]\nprocesses = [4, 2, 4]', 2, "processes has 4 twice; a list of numbers of processes"),
        ('measure = ["memory"]\nprocesses = 4', 2, "processes is 4; a list of numbers of processes is needed"),
        ('measure = ["memory"]', None, "there is no 'processes'; a list of numbers of processes is needed"),
        (f"{FIRST}budget_s = nan", 3, "budget_s is nan; a positive number of seconds is needed."),
        (f"{FIRST}budget_s = inf", 3, "budget_s is inf; a positive number of seconds is needed."),
        (f"{FIRST}seed = 2026-11-21", 3, "seed is 2026-11-21; a whole number from 0 to "),
        (
            'measure = ["memory"]\nprocesses = [2, 64]\nruns = 1\nbudget_s = 10',
            4,
            "budget_s is 10, and one launch of memory with 64 processes needs 40 s; all 2 launches need 47 s at the least.",
        ),
        (f'{FIRST}functions = ["MPI_Bcasr"]', 3, "functions: 'MPI_Bcasr' cannot be measured by collectives (did you mean "),
        (f'{FIRST}functions = ["MPI_Comm_dup"]', 3, "cannot be measured by collectives; measure memory, too."),
        (f'{FIRST}datatype = "double"\nsizes = [8, 12]', 4, "sizes 12 datatype double: a positive multiple of 8 B is needed."),
        (f'{FIRST}[libraries.mine]\nmpicc = "x"', 3, "the library 'mine' is not used; add it to mpi, or leave it out."),
        (f'{FIRST}mpi = ["mine"]\n[libraries.mime]', 4, "the library 'mime' is not used (did you mean 'mine'?); add it"),
        (f'{FIRST}own_functions = ["a.c"]', 3, "own_functions and 'functions' in measure go together; add the other"),
        (
            'measure = ["functions"]\nprocesses = [2]\nown_functions = ["a.c"]',
            3,
            "a.c': there is no such file; name a C file, as in ./my_bcast.c",
        ),
        (f'{FIRST}platform = "juroba"', 3, "platform 'juroba' is unknown (did you mean 'juropa'?); choose from"),
        (f'platform = "juropa"\n{FIRST[:-2]}, 5000]', 3, "juropa has 1024 hosts, which is room for 1024 processes"),
        (f'platform = "juropa"\nmpi = ["a"]\n{FIRST}', 2, "mpi does not go with platform: a simulated machine has no MPI"),
        (f'{FIRST}algorithms = {{ bcast = "flattree" }}', 3, "algorithms are chosen for simulated machines only; name a"),
        (f'platform = "juropa"\nalgorithms = {{ foo = "x" }}\n{FIRST}', 2, "no algorithm can be chosen for 'foo'; known"),
        ('platform = "juropa"\nmeasure = ["memory"]\nprocesses = [2]', 2, "memory cannot be simulated; leave it out"),
        (f'{FIRST}[slurm]\npartition = "a\\n#SBATCH --x"', 4, f'slurm.partition is "a\\n#SBATCH --x"; text of {WORDS}.'),
        (f'{FIRST}[slurm]\npartition = "a\\n"', 4, f'slurm.partition is "a\\n"; text of {WORDS}.'),
        (f'{FIRST}[slurm]\noptions = ["--a=b\\n"]', 4, 'slurm.options[0] is "--a=b\\n"; an option of sbatch is needed'),
        (f'{FIRST}[slurm]\noptions = ["--a", "rm"]', 4, 'slurm.options[1] is "rm"; an option of sbatch is needed'),
        (f'{FIRST}[slurm]\nlines = ["a\\nb"]', 4, 'slurm.lines[0] is "a\\nb"; one line of text is needed.'),
        (f'{FIRST}[slurm]\nenvironment = {{ "A B" = "c" }}', 4, 'slurm.environment."A B" is no name here; names of var'),
        (f'{FIRST}[slurm]\nenvironment = {{ "A\\n" = "c" }}', 4, 'slurm.environment."A\\n" is no name here; names of var'),
        (f'{FIRST}[slurm]\ntime = "1:00"', 4, 'slurm.time is "1:00"; minutes, or a time such as "00:30:00" or'),
        (f'{FIRST}title = "a\\u0085b\\u0001"', 3, "one line of text is needed."),
        (f"{FIRST}x = ]", 3, "column 5: this is not valid TOML: invalid value."),
    ],
)
def test_what_is_wrong_is_named_with_its_line(written: Callable[[str], Path], text: str, line: int | None, message: str) -> None:
    path = written(text)
    with pytest.raises(UsageError) as caught:
        read_campaign(path)
    said = str(caught.value)
    assert said.startswith(f"{path}, line {line}" if line else f"{path}: "), said
    assert message in said
    assert "\n" not in said


def test_all_errors_are_named_up_to_a_dozen(written: Callable[[str], Path]) -> None:
    path = written("".join(f"x{n:02d} = 1\n" for n in range(20)) + FIRST)
    with pytest.raises(UsageError) as caught:
        read_campaign(path)
    lines = str(caught.value).splitlines()
    assert [re.search(r"line (\d+)", line)[1] for line in lines[:-1]] == [str(n) for n in range(1, 13)]  # type: ignore[index]
    assert lines[-1] == f"{path} has more errors than these: 20 in all."


@pytest.mark.parametrize(("content", "why"), [(b"\xff", "it is no text in UTF-8"), (b"# " + b"x" * 10**6, "is larger")])
def test_what_is_no_campaign_file(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        read_campaign(path)
    with pytest.raises(UsageError, match="Is a directory; name a TOML file"):
        read_campaign(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["measure", "processes", "slurm", "libraries", "mpi", "budget_s", "platform", "time", "x"])


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_any_table_is_told_in_sentences(table: dict[str, Any]) -> None:
    schema = json.loads((Path(sk.__file__).parent / "bench/campaign/campaign.schema.json").read_text())
    errors = schema_errors(table, schema, {}, "mine.toml")
    assert all(re.fullmatch(r"mine\.toml(:| has more) .*\.", error, re.DOTALL) for error in errors)
    assert errors or {"measure", "processes"} <= set(table)


def test_one_folder_for_each_library_size_and_placement(written: Callable[[str], Path]) -> None:
    keys = 'out = "here"\nmpi = ["a", "b"]\nsizes = [8, 64]\nprocesses_per_node = [4]\nbudget_s = 100\nruns = 2\n'
    file = read_campaign(written(f'{FIRST}{keys}[libraries.a]\nmpicc = "cc a"\nmodules = ["A/1"]\n[slurm]\n'))
    assert [variant.name for variant in file.variants] == ["a-8B", "a-64B", "b-8B", "b-64B"]
    assert {variant.arguments.budget_s for variant in file.variants} == {25.0}
    assert {variant.arguments.processes_per_node for variant in file.variants} == {4}
    assert file.variants[1].folder(file.out) == file.path.parent / "here/a-64B"
    assert file.variants[0].library == Library("a", "cc a", modules=("A/1",))
    assert not file.variants[2].library.is_own
    names = [name for name, _, _ in planned_jobs(file)]
    assert names[:5] == ["a-8B-r00", "a-64B-r00", "b-8B-r00", "b-64B-r00", "a-8B-r01"]


def test_script_of_a_job(written: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    table = """[slurm]
account = "me"
time = "01:00:00"
modules = ["GCC/12 'x'"]
environment = { A = "$(rm) 'b'" }
lines = ["ulimit -s unlimited"]
options = ["--mail-user=a b;c"]
"""
    path = written(f"{FIRST}processes_per_node = [2]\nruns = 1\n{table}")
    (path.parent / "scripts").mkdir()
    (job,) = submit(read_campaign(path), path.parent / "scripts")
    script = path.parent / f"scripts/{job.name}.sh"
    lines = script.read_text().splitlines()
    folder = path.parent.absolute() / "runs/mine/jobs/r00"
    assert lines[:10] == [
        "#!/bin/bash",
        "#SBATCH --job-name=scalkit-r00",
        f"#SBATCH --output={folder}.out",
        "#SBATCH --no-requeue",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=2",
        "#SBATCH --time=01:00:00",
        "#SBATCH --account=me",
        "#SBATCH '--mail-user=a b;c'",
        "# Written by scalkit for mine.toml: job r00.",
    ]
    assert lines[-4:-1] == [
        """module load 'GCC/12 '"'"'x'"'"'' || exit 1""",
        """export A='$(rm) '"'"'b'"'"''""",
        "ulimit -s unlimited",
    ]
    told = json.loads(shlex.split(lines[-1])[-1])
    assert (told["base"], told["folder"], told["budget_s"]) == (str(path.parent.absolute()), str(folder), 2880.0)
    assert sorted(told["launches"]) == ["time-p0002-r00", "time-p0004-r00"]
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert main(["campaign", "submit", str(path), "--scripts", str(script.parent)]) == 0
    assert capsys.readouterr().out == f"{script}\n"


def test_words_without_a_batch_system(
    written: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(FIRST)
    assert main(["campaign", "submit", str(path)]) == 2
    assert capsys.readouterr().err == (f"scalkit campaign: {path} has no table [slurm]; add one, even if it is empty.\n")
    assert main(["campaign", "collect", str(path)]) == 2
    assert f"nothing of {path} was submitted; 'scalkit campaign submit {path}' does." in capsys.readouterr().err
    monkeypatch.setenv("PATH", "/nowhere")
    written(f"{FIRST}[slurm]\n")
    assert main(["campaign", "submit", str(path)]) == 2
    assert "there is no 'sbatch' and no 'squeue' on PATH; submit where Slurm's commands are" in capsys.readouterr().err
    assert main(["campaign", "submit", str(path), "--wait", "--every", "0"]) == 2
    assert "--every 0: a positive number of seconds is needed." in capsys.readouterr().err


@pytest.mark.mpi
def test_measured_here_library_by_library(mpi: Mpi, written: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    keys = 'max_reps = 20\nfunctions = ["MPI_Bcast"]\nsizes = [8, 64]\nruns = 2\nmpi = ["a"]\n'
    path = written(f'{FIRST.replace("2, 4", "2")}{keys}[libraries.a]\nmpicc = "{mpi.mpicc}"\n')
    assert main(["campaign", "run", str(path)]) == 0
    said = capsys.readouterr()
    out = path.parent / "runs/mine"
    assert said.out.endswith(f"2 launches in {out / '8B'}\n2 launches in {out / '64B'}\n")
    assert [line.split(":")[0] for line in said.err.splitlines()] == [
        f"[{n}/4] {size} collectives p=2 run {run}"
        for n, (run, size) in enumerate([(0, "8B"), (0, "64B"), (1, "8B"), (1, "64B")], 1)
    ]
    ds = sk.read([out / "8B", out / "64B"], parameter=["p", "S"])
    assert ds["S"].values.tolist() == [8, 64]
    (out / "64B/time-p0002-r01.jsonl").unlink()
    assert main(["campaign", "run", str(path), "--json"]) == 0
    outcomes = json.loads(capsys.readouterr().out)["campaigns"]
    assert [(one["launches"], one["done"], one["fresh"], one["missing"]) for one in outcomes] == [(2, 2, 0, []), (2, 2, 1, [])]


def test_a_placement_that_needs_several_nodes(written: Callable[[str], Path]) -> None:
    path = written(f"{FIRST}processes_per_node = [1]\n")
    with pytest.raises(UsageError, match="4 processes with 1 on a node need several nodes, and this machine is one; leave"):
        prepare_here(read_campaign(path))
