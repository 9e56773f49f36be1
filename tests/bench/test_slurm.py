"""Campaigns on a real Slurm: submitted, watched, collected; jobs that are rejected, cancelled, or can never begin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from waiting import wait_until

import scalkit as sk
from scalkit.bench import Mpi
from scalkit.cli import main
from scalkit.support.native import build, sources
from tests.bench.slurm_cluster import missing_programs, running

pytestmark = pytest.mark.mpi

SMALL = """\
measure = ["collectives"]
functions = ["MPI_Bcast"]
processes = [2, 4]
runs = 2
seed = 7
max_reps = 20
"""
LONG = """\
measure = ["collectives"]
processes = [2]
sizes = [67108864]
runs = 1
min_reps = 100
max_reps = 1000000
"""
"""The first operation takes seconds, all of them minutes, whatever the times are: each is repeated 100 times."""


@pytest.fixture(scope="module")
def cluster(mpi: Mpi) -> Iterator[None]:
    if missing_programs():
        pytest.skip(f"needs Slurm: no {', '.join(missing_programs())} on PATH (make system-deps)")
    if os.geteuid() != 0:
        pytest.skip("needs root, to start Slurm")
    with pytest.MonkeyPatch.context() as patch, running() as configuration:
        patch.setenv("SLURM_CONF", str(configuration))
        patch.setenv("PATH", f"{Path(mpi.mpicc).parent}{os.pathsep}{os.environ['PATH']}")
        build(sources("microbench"), mpi.mpicc, library=mpi.library)
        yield


@pytest.fixture
def campaign(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


def _jobs(file: Path) -> dict[str, dict[str, str]]:
    book = json.loads((file.parent / "runs/mine/jobs/jobs.json").read_text())
    return {job["name"]: job for job in book["jobs"]}


@pytest.mark.usefixtures("cluster")
def test_submitted_watched_and_read(campaign: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = campaign(f'{SMALL}[slurm]\npartition = "main"\n')
    assert main(["campaign", "submit", str(file)]) == 0
    assert re.match(r"job r00 is \d+: 2 launches\njob r01 is \d+: 2 launches\n'scalkit", capsys.readouterr().out)
    assert main(["campaign", "submit", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == []

    assert main(["campaign", "submit", str(file), "--wait", "--every", "0.5"]) == 0
    said = capsys.readouterr()
    out = file.parent / "runs/mine"
    assert said.out == f"4 of 4 launches in {out}\n"
    assert said.err.endswith("[4/4] jobs: all ended\n")
    ds = sk.read(out)
    assert dict(ds.sizes) | {"repetition": 0} == {"function": 1, "p": 2, "run": 2, "repetition": 0}
    assert (ds["n_repetitions"] == 20).all()
    record = tomllib.loads((out / "campaign.toml").read_text())
    assert {name: job["state"] for name, job in record["jobs"].items()} == {"r00": "COMPLETED", "r01": "COMPLETED"}
    assert (record["failures"], record["remarks"]) == ([], [])
    first = json.loads((out / "time-p0002-r01.jsonl").read_text().splitlines()[0])
    assert first["run_id"] == f"{record['id']}-r01"

    (out / "time-p0004-r01.jsonl").unlink()
    (out / "jobs/r01/time-p0004-r01.jsonl").unlink()
    assert main(["campaign", "submit", str(file), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["jobs"]
    assert [(job["name"], job["launches"]) for job in again] == [("r01.2", ["time-p0004-r01"])]


@pytest.mark.usefixtures("cluster")
def test_srun_starts_the_processes_too(campaign: Callable[[str], Path]) -> None:
    text = SMALL.replace("runs = 2", "runs = 1").replace("[2, 4]", "[2]")
    options = 'launcher = "srun"\nsrun_mpi = "pmi2"\noptions = ["--nodes=1"]\n'
    file = campaign(f"{text}processes_per_node = [2]\n[slurm]\n{options}")
    assert main(["campaign", "submit", str(file)]) == 0
    assert main(["campaign", "submit", str(file), "--wait", "--every", "0.5"]) == 0
    record = tomllib.loads((file.parent / "runs/mine/campaign.toml").read_text())
    assert (list(record["jobs"]), Path(record["mpi"]["mpiexec"]).name) == (["r00"], "srun")
    assert sk.read(file.parent / "runs/mine")["p"].values.tolist() == [2]


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_cancelled_job_keeps_what_it_measured(campaign: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = campaign(f"{LONG}[slurm]\n")
    assert main(["campaign", "submit", str(file)]) == 0
    part = file.parent / "runs/mine/jobs/r00/time-p0002-r00.jsonl.part"
    wait_until(lambda: part.is_file() and '"rec":"cell"' in part.read_text(), "a first time")
    number = _jobs(file)["r00"]["number"]
    subprocess.run(["scancel", number], check=True)
    capsys.readouterr()
    assert main(["campaign", "submit", str(file), "--wait", "--every", "0.5"]) == 2
    said = capsys.readouterr()
    reason = f"job r00 ({number}) left 1 launch out: it was cancelled; what it measured until then is kept."
    assert f"{reason}\n" in said.err
    out = file.parent / "runs/mine"
    assert said.out == f"0 of 1 launch in {out}\n'scalkit campaign submit {file}' submits the 1 missing again.\n"
    ds = sk.read(out)
    assert ds.attrs["truncated"] == "time-p0002-r00.jsonl.part"
    assert (ds["n_repetitions"] > 0).any()
    record = tomllib.loads((out / "campaign.toml").read_text())
    assert record["failures"] == ["job r00: it was cancelled."]
    assert main(["campaign", "collect", str(file), "--json"]) == 2
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["reasons"], outcome["missing"]) == ([reason], ["time-p0002-r00.jsonl"])


@pytest.mark.usefixtures("cluster")
def test_rejected_then_mended(campaign: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = campaign(f'{SMALL}[slurm]\npartition = "nowhere"\n')
    assert main(["campaign", "submit", str(file)]) == 2
    assert capsys.readouterr().err == (
        "scalkit campaign: Slurm rejected r00, r01: invalid partition specified: nowhere; "
        "Batch job submission failed: Invalid partition name specified.\n"
    )
    assert main(["campaign", "collect", str(file)]) == 2
    assert "job r01 was rejected: invalid partition specified: nowhere; " in capsys.readouterr().err
    campaign(f'{SMALL.replace("runs = 2", "runs = 1")}[slurm]\npartition = "main"\n')
    assert main(["campaign", "submit", str(file)]) == 2
    assert "holds a campaign with other arguments: runs was 2, is now 1. Restore" in capsys.readouterr().err
    campaign(f'{SMALL}[slurm]\npartition = "main"\nlines = ["exit 0"]\n')
    assert main(["campaign", "submit", str(file)]) == 0
    assert {name: bool(job["number"]) for name, job in _jobs(file).items()} == {"r00": True, "r01": True}


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("keys", "slurm", "message"),
    [
        (
            "processes = [2, 4, 8, 16]",
            'time = "00:00:30"',
            "time of [slurm] is 30 s, and the 4 launches of job r00 need 47 s at the least; give more.",
        )
    ],
)
def test_time_that_is_not_enough(
    campaign: Callable[[str], Path], capsys: pytest.CaptureFixture[str], keys: str, slurm: str, message: str
) -> None:
    file = campaign(f'measure = ["memory"]\n{keys}\n[slurm]\n{slurm}\n')
    assert main(["campaign", "run", "--check", str(file)]) == 2
    assert capsys.readouterr().err == f"scalkit campaign: {file}: {message}\n"


@pytest.mark.usefixtures("cluster")
def test_job_that_can_never_begin(campaign: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Slurm takes a job beyond the limits of its partition, and never starts it: nobody waits for that."""
    file = campaign(f"{LONG}[slurm]\ntime = 120\n")
    assert main(["campaign", "submit", str(file)]) == 0
    assert main(["campaign", "submit", str(file), "--wait", "--every", "0.5"]) == 2
    number = _jobs(file)["r00"]["number"]
    expected = rf"job r00 \({number}\) cannot begin: Partition(TimeLimit|Config); 'scancel {number}' and mend the file\."
    assert re.search(expected, capsys.readouterr().err)
    subprocess.run(["scancel", number], check=True)


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_values_reach_the_job_as_they_are(campaign: Callable[[str], Path]) -> None:
    """Quotes, dollars and blanks in the file are text, in the script of the job and in what Slurm reads of it."""
    table = """[slurm]
environment = { OMP_NUM_THREADS = "$(touch broken) 'x' \\"y\\" ; rm" }
lines = ["echo \\"said: $OMP_NUM_THREADS\\"", "exit 0"]
options = ["--comment=a 'b' $c; d"]
"""
    file = campaign(SMALL.replace("runs = 2", "runs = 1") + table)
    assert main(["campaign", "submit", str(file)]) == 0
    main(["campaign", "submit", str(file), "--wait", "--every", "0.5"])
    log = file.parent / "runs/mine/jobs/r00.out"
    assert log.read_text() == "said: $(touch broken) 'x' \"y\" ; rm\n"
    assert not Path("broken").exists()
