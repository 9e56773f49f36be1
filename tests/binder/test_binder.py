"""The folder binder/, without Docker: versions that resolve, scripts that run, settings that reach the programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scalkit.support.native import without_blanks

ROOT = Path(__file__).resolve().parents[2]
BINDER = ROOT / "binder"
SCRIPTS = ("postBuild", "start")


def _lines(name: str) -> list[str]:
    text = (BINDER / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _environment(home: Path) -> dict[str, str]:
    """Return an environment as in a fresh image: the programs of this Python, and nothing of the user.

    Whether something is compiled again does not depend on how well it is compiled.
    """
    path = os.pathsep.join([str(without_blanks(Path(sys.prefix)) / "bin"), os.environ["PATH"]])
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "CFLAGS": "-O0"}


def test_an_image_would_be_built_of_every_file_in_its_order() -> None:
    words = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "python=3.12" in done.stderr
    recipe = done.stdout
    steps = [
        r"^FROM \S*buildpack-deps:",
        rf"^apt-get install --yes --no-install-recommends {' '.join(_lines('apt.txt'))} &&",
        r"^COPY --chown=\S+ src/ \$\{REPO_DIR\}/$",
        r'^RUN \S+pip install --no-cache-dir -r "binder/requirements.txt"$',
        r"^RUN \./binder/postBuild$",
        r'^ENV R2D_ENTRYPOINT="\$\{REPO_DIR\}/binder/start"$',
        r"^ENTRYPOINT ",
    ]
    places = [re.search(step, recipe, re.MULTILINE) for step in steps]
    assert all(places), [step for step, place in zip(steps, places, strict=True) if place is None]
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_can_be_run(name: str) -> None:
    path = BINDER / name
    assert os.access(path, os.X_OK)
    assert path.read_bytes().startswith(b"#!/bin/bash\n")
    assert b"\r" not in path.read_bytes()
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0


def test_the_python_is_one_that_scalkit_knows() -> None:
    (line,) = _lines("runtime.txt")
    found = re.fullmatch(r"python-3\.(\d+)", line)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert found
    assert int(found[1]) >= int(re.fullmatch(r">=3\.(\d+)", project["requires-python"])[1])
    assert f"Programming Language :: Python :: 3.{found[1]}" in project["classifiers"]


def _brought(optional: dict[str, list[str]], extras: Iterable[str]) -> Iterator[str]:
    """Yield what extras require; one may name others, as in ``scalkit[lab,report]``."""
    for text in (text for extra in extras for text in optional[extra]):
        one = Requirement(text)
        yield from _brought(optional, one.extras) if one.name == "scalkit" else [text]


def test_the_versions_are_those_that_passed_together() -> None:
    pins, own = _lines("requirements.txt")
    assert pins == "-c ../constraints.txt"
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", own)[1].split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *_brought(project["optional-dependencies"], extras)]
    pinned: dict[str, list[str]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pinned.setdefault(Requirement(line).name.lower(), []).append(line)
    for text in wanted:
        one = Requirement(text)
        (version,) = {
            str(pin.specifier).removeprefix("==")
            for pin in map(Requirement, pinned[one.name.lower()])
            if not pin.marker or pin.marker.evaluate({"python_version": "3.12"})
        }
        assert one.specifier.contains(version), (text, version)
    assert "mpich" in {Requirement(text).name for text in wanted}


def test_start_hands_over_with_settings_for_few_cores(tmp_path: Path) -> None:
    done = subprocess.run([BINDER / "start", "env"], env=_environment(tmp_path), capture_output=True, text=True, check=True)
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert seen["OMP_NUM_THREADS"] == "1"
    assert seen["MPIR_CVAR_CH4_PROGRESS_THROTTLE"] == "1"
    assert seen["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"
    failed = subprocess.run([BINDER / "start", "sh", "-c", "exit 7"], env=_environment(tmp_path), check=False)
    assert failed.returncode == 7
    assert (BINDER / "start").read_text(encoding="utf-8").endswith('\nexec "$@"\n')


@pytest.mark.mpi
@pytest.mark.slow
def test_after_post_build_nothing_is_compiled_any_more(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    lessons = tmp_path / "repository" / "notebooks" / "teach"
    shutil.copytree(ROOT / "notebooks" / "teach", lessons)
    done = subprocess.run(
        [BINDER / "postBuild"], cwd=lessons.parents[1], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (built,) = (tmp_path / ".cache" / "scalkit" / "native").glob("microbench-*")
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file()}
    assert {"sk_time", "sk_memory"} <= {path.name for path in before}
    words = ["scalkit", "measure", "memory", "-n", "3", "--runs", "1", "--ops", "MPI_Comm_dup", "--out", tmp_path / "runs"]
    again = subprocess.run([BINDER / "start", *words], env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*") if path.is_file()} == before
    (settings,) = (tmp_path / ".jupyter").rglob("notification.jupyterlab-settings")
    assert json.loads(settings.read_text(encoding="utf-8")) == {"fetchNews": "false", "checkForUpdates": False}
    opens = json.loads((tmp_path / ".jupyter" / "jupyter_lab_config.json").read_text(encoding="utf-8"))
    assert (ROOT / opens["LabApp"]["default_url"].removeprefix("/lab/tree/")).is_file()
    stripped = list(lessons.glob("*.ipynb"))
    assert len(stripped) == 6
    assert not any('"solution"' in path.read_text(encoding="utf-8") for path in stripped)
