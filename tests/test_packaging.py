"""Builds the sdist and, from it, the wheel; tries the wheel in a clean environment, away from the checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scalkit.support.native import without_blanks

ROOT = Path(__file__).resolve().parents[1]
_SPEC = importlib.util.spec_from_file_location("environment", ROOT / "tests/core/environment.py")
environment = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(environment)

MUST_SHIP = [
    "scalkit/py.typed",
    "scalkit/_shipped/microbench/Makefile",
    "scalkit/_shipped/notebooks/00_quickstart.ipynb",
    "scalkit/_shipped/notebooks/90_report.ipynb",
    "scalkit/_shipped/notebooks/which_operation.ipynb",
    "scalkit/_shipped/data/quickstart/campaign.toml",
    "scalkit/_shipped/data/store/scalkit-store.json",
    "scalkit/_shipped/data/guidelines/classic/mpich.nc",
    "scalkit/_shipped/data/guidelines/real/mpich/campaign.toml",
    "scalkit/_shipped/data/guidelines/neighbourhood/openmpi/campaign.toml",
    "scalkit/judge/verdict.schema.json",
    "scalkit/widgets/ruler/ruler.js",
    "scalkit/widgets/ruler/ruler.css",
    "scalkit/reports/vendor/plotly-cartesian.min.js",
    "scalkit/plots/store/site.js",
]

pytestmark = pytest.mark.slow


def _run(*args: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(a) for a in args], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{args}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="module")
def clean(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bin folder of a new environment that holds the wheel and what it says that reports need."""
    folder = tmp_path_factory.mktemp("clean") / "env"
    wheel = next(built.glob("*.whl"))
    needed = map(Requirement, _metadata(wheel).get_all("Requires-Dist", ()))
    wanted = [str(one) for one in needed if not one.marker or one.marker.evaluate({"extra": "report"})]
    environment.make_with(folder, [text.partition(";")[0] for text in wanted])
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-q", "--disable-pip-version-check"]
    _run(*pip, "--no-deps", "--no-index", wheel, cwd=folder)
    return folder / "bin"


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(opened.read(name))


def test_wheel_holds_what_it_needs(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert [name for name in MUST_SHIP if name not in names] == []
    assert any(name.startswith("scalkit/_shipped/data/quickstart/") and name.endswith(".jsonl") for name in names)
    assert any(name.endswith(".c") for name in names)
    assert not [name for name in names if "mafia/" in name or "onesided/" in name or "/lessons/" in name]
    assert sum(name.startswith("scalkit/_shipped/data/store/runs/") for name in names) >= 15
    found = (path.relative_to(ROOT) for path in (ROOT / "scalkit").rglob("*") if path.is_file())
    sources = {path.as_posix() for path in found if not {"__pycache__", "_shipped"} & set(path.parts)}
    assert sources - set(names) == set()
    assert not [name for name in names if name.endswith((".o", ".so", ".pyc")) or "/build/" in name]
    # half of it are measurements that notebooks open without a network
    assert next(built.glob("*.whl")).stat().st_size < 8_000_000


def test_sdist_holds_the_tests_and_the_docs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.split("/", 1)[-1] for name in sdist.getnames()}
    wanted = {"Makefile", "constraints.txt", "tests/conftest.py", "docs/architecture.md", "microbench/Makefile"}
    assert wanted <= names


def test_wheel_reports_on_its_bundled_run(clean: Path, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}} | {"HOME": str(tmp_path)}
    where = "from scalkit.reports import bundled; print(bundled('data/quickstart'))"
    run = _run(clean / "python", "-c", where, cwd=tmp_path, env=env).stdout.strip()
    assert str(ROOT) not in run
    out = tmp_path / "report.html"
    done = subprocess.run([clean / "scalkit", "report", run, "--out", out], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode in {0, 1}, done.stderr
    assert out.stat().st_size > 100_000


@pytest.mark.mpi
def test_wheel_builds_its_microbenchmarks(clean: Path, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    env |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "CFLAGS": "-O0"}
    env["PATH"] = os.pathsep.join([env["PATH"], str(without_blanks(Path(sys.prefix)) / "bin")])
    args = ["measure", "memory", "-n", "2,3", "--runs", "1", "--budget", "20", "--out", tmp_path / "runs"]
    _run(clean / "scalkit", *args, cwd=tmp_path, env=env)
    assert len(list((tmp_path / "runs").glob("memory-*.jsonl"))) == 2
