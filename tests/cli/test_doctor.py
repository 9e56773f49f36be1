"""`scalkit doctor`: what is here, what is missing and what that means, for people and for make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scalkit.bench import find_mpi
from scalkit.cli import main
from scalkit.errors import BuildError, LaunchError
from scalkit.support.extras import EXTRAS, install_command, sentence


def test_table_names_everything_and_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for word in (
        "Python 3.11 or newer",
        "C compiler",
        "make",
        "MPI library",
        *(f"scalkit[{name}]" for name in EXTRAS),
        "Chromium",
    ):
        assert word in shown


def test_what_is_missing_comes_with_its_consequence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["doctor", "--need", "compiler"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == [
        "C compiler: nothing can be measured; apt-get install gcc libc6-dev.",
        "make: nothing can be measured; apt-get install make.",
    ]


def test_the_browser_is_the_one_that_the_environment_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("#!/bin/sh\n", encoding="utf-8")
    mine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("SCALKIT_CHROMIUM", str(mine))
    assert main(["doctor", "--need", "browser", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["found"] == str(mine)
    monkeypatch.setenv("SCALKIT_CHROMIUM", str(tmp_path / "gone"))
    assert main(["doctor", "--need", "browser", "--json"]) == 2
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["found"] == f"no {tmp_path / 'gone'} on PATH"
    assert finding["lack"].startswith("figures of a store are saved as CSV only")


@pytest.mark.mpi
def test_need_of_mpi_is_met_only_by_two_ranks_in_one_world(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        mpi = find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")
    assert main(["doctor", "--need", "mpi", "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["here"]
    assert finding["found"].startswith(f"{mpi.name} (MPI {mpi.standard}), ")
    wrong = tmp_path / "mpiexec"
    wrong.write_text('#!/bin/sh\nfor last; do :; done\nwhile [ $# -gt 2 ]; do shift; done\n"$@"; "$@"\n')
    wrong.chmod(0o755)
    assert main(["doctor", "--need", "mpi", "--json", "--mpicc", mpi.mpicc, "--mpiexec", str(wrong)]) == 2
    (finding,) = json.loads(capsys.readouterr().out)
    assert not finding["here"]
    assert "starts two separate programs instead of two ranks in one world" in finding["found"]
    assert install_command("mpi") in finding["lack"]


def test_need_of_mpi_without_any(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("scalkit.bench.libraries.mpi._own_folders", lambda: [str(tmp_path)])
    assert main(["doctor", "--need", "mpi", "--json"]) == 2
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["found"].startswith("no MPI compiler 'mpicc' on PATH or in ")


@pytest.mark.slow
@pytest.mark.mpi
def test_broken_compiler_that_comes_first_is_named(tmp_path: Path) -> None:
    try:
        mpi = find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")
    wrong = tmp_path / "mpicc"
    wrong.write_text("#!/bin/sh\nexit 3\n")
    wrong.chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"], str(Path(mpi.mpicc).parent)))
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    reason = f"{wrong} was passed over: compiling "
    words = ["memory", "-n", "2", "--runs", "1", "--ops", "MPI_Comm_dup", "--out", str(tmp_path / "out")]
    for command in (["doctor", "--need", "mpi", "--json"], ["measure", *words]):
        whole = [sys.executable, "-m", "scalkit", *command]
        done = subprocess.run(whole, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert reason in done.stdout
    assert tomllib.loads((tmp_path / "out/campaign.toml").read_text())["mpi"]["passed_over"][0].startswith(reason)


def test_package_that_is_not_installed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    assert main(["doctor", "--need", "lab"]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == f"scalkit[lab]: {sentence('lab', 'jupyterlab')}"


def test_python_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--need", "python", "--json"]) == 0
    assert sys.executable in json.loads(capsys.readouterr().out)[0]["found"]
