"""Verdicts over MPI ranks: to the last bit those of one rank, one voice, one exit status."""

from __future__ import annotations

import json
import operator
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launching import environment, find
from launching import launch as launch_program

import scalkit as sk
from scalkit.bench import Mpi
from scalkit.judge.along_one import TASK, in_turn
from scalkit.measure import Series, combine, series, write_netcdf
from scalkit.support.extras import install_command

P = np.array([2, 4, 8, 16, 32, 64, 128])
SHAPES = {"log(p)": np.log2(P), "p^(1/2)": P**0.5, "p": P * 1.0, "p*log(p)": P * np.log2(P)}
N = 2 * TASK + 13

TELL = """
import operator
import sys
import tempfile
from functools import partial

from scalkit.judge.along_one import over_ranks

told = []
with over_ranks(int(sys.argv[1]), lambda done, total: told.append((done, total))) as mapper:
    if mapper is not None:
        print(list(mapper(operator.neg, range(50))) == [-k for k in range(50)], told[0], told[-1], told == sorted(told))
        print(list(mapper(operator.neg, [])))
        try:
            list(mapper(partial(operator.truediv, 1), [1, 2, 0, "not a number", 4]))
        except (TypeError, ZeroDivisionError) as error:
            print(type(error).__name__)
tempfile.NamedTemporaryFile(dir=sys.argv[2], delete=False).close()
"""

WAIT = """
import sys
import time
from pathlib import Path

from scalkit.judge.along_one import over_ranks

is_interrupted = Path(sys.argv[1])


def wait(task):
    while task > 0 and not is_interrupted.exists():
        time.sleep(0.02)


status = 0
try:
    with over_ranks(3, lambda done, total: print(done, flush=True)) as mapper:
        if mapper is not None:
            try:
                mapper(wait, range(1000))
            except KeyboardInterrupt:
                is_interrupted.touch()
                raise
except KeyboardInterrupt:
    status = 130
sys.exit(status)
"""
"""Tasks of which only the first one ends before the interrupt."""


COMMAND = """
import os
import sys
from pathlib import Path

from waiting import wait_until

from scalkit.cli import main

is_over = Path(sys.argv.pop(1)) / "rank 0 has ended"
rank = int(os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or 0)
try:
    sys.exit(main())
finally:
    if rank == 0:
        sys.stdout.flush()
        sys.stderr.flush()
        is_over.touch()
    else:
        wait_until(is_over.exists, "the end of rank 0")
"""
"""The command `scalkit`, whose ranks end after rank 0: a launcher ends all of them as soon as one fails, also one that speaks."""


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    return find()


def launch(mpi: Mpi, n: int, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return launch_program(mpi, n, sys.executable, *words, **more)


def validated(mpi: Mpi, n: int, folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``scalkit validate`` on `n` ranks, with a new folder in which they tell each other how far they are."""
    ended = folder / f"ended-{len(list(folder.glob('ended-*')))}"
    ended.mkdir()
    paths = os.pathsep.join(filter(None, (more.pop("PYTHONPATH", ""), str(Path(__file__).parents[1]))))
    return launch(mpi, n, "-c", COMMAND, str(ended), "validate", *words, PYTHONPATH=paths, **more)


def measured(rng: np.random.Generator, place: int, growth: str) -> Series:
    repetitions = 1 + place % 11
    y = 1e-6 * (1 + SHAPES[growth])[:, None] * (1 + 0.03 * np.abs(rng.standard_normal((len(P), repetitions))))
    if place % 4 == 0:
        y[2, 1:] = np.nan
    if place % 6 == 5:
        y[:, 2:] = np.nan
    return series(sk.measurements(P, y, name=f"f{place}"))[0]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return a netCDF file of more than two tasks of series, and expectations for them, some of them missed."""
    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(7)
    few = combine(
        [
            sk.measurements(P, 1e-6 * (1 + y)[:, None] * (1 + 0.02 * rng.random((len(P), 6))), name=growth)
            for growth, y in SHAPES.items()
        ]
    )
    places = np.arange(N) % len(SHAPES)
    wide = few.isel(function=places).assign_coords(function=[f"f{k:03d}" for k in range(N)])
    wide["time"] = wide["time"] * (1 + 0.02 * rng.random(wide["time"].shape))
    write_netcdf(wide, folder / "many.nc")
    names = list(SHAPES)
    lines = [f'f{k:03d} = "{names[(k + (k % 50 == 49)) % len(names)]}"' for k in range(N)]
    (folder / "expect.toml").write_text("[expectations]\n" + "\n".join(lines) + "\n")
    return str(folder / "many.nc"), str(folder / "expect.toml")


@pytest.mark.slow
@pytest.mark.mpi
def test_what_is_printed_does_not_depend_on_the_number_of_ranks(mpi: Mpi, many: tuple[str, str], tmp_path: Path) -> None:
    words = [many[0], "--expect", many[1], "--json"]
    command = [sys.executable, "-m", "scalkit", "validate", *words]
    alone = subprocess.run(command, capture_output=True, text=True, check=False)
    assert alone.returncode == 1
    assert len(json.loads(alone.stdout)["verdicts"]) == N
    for n in (1, 3):
        found = validated(mpi, n, tmp_path, *words)
        assert (found.returncode, found.stderr) == (1, "")
        assert found.stdout == alone.stdout


@pytest.mark.mpi
def test_only_rank_0_writes_and_all_end_with_its_status(mpi: Mpi, many: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    kept, junit = out / "baseline.json", out / "verdicts.xml"
    words = [many[0], "--expect", many[1], "--junit", str(junit), "--save-baseline", str(kept)]
    found = validated(mpi, 2, tmp_path, *words)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.count("Exit status 1.") == 1
    assert sorted(out.iterdir()) == [kept, junit]
    again = validated(mpi, 2, tmp_path, many[0], "--baseline", str(kept))
    assert (again.returncode, again.stderr) == (0, "")
    assert f"Compared with {kept}\n" in again.stdout
    assert "got worse" not in again.stdout


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["/nowhere"], "scalkit validate: there are no measurements at '/nowhere'; "),
        (["x.nc", "--wrong"], "scalkit: error: unrecognized arguments: --wrong\n"),
    ],
)
def test_wrong_use_is_said_once(mpi: Mpi, words: list[str], message: str, tmp_path: Path) -> None:
    found = validated(mpi, 2, tmp_path, *words)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count(message) == 1
    assert found.stderr.count("scalkit validate: ") + found.stderr.count("error: ") == 1


@pytest.mark.slow
@pytest.mark.mpi
def test_tasks_and_errors_keep_their_order(mpi: Mpi, tmp_path: Path) -> None:
    expected = "True (0, 50) (50, 50) True\n[]\nZeroDivisionError\n"
    for n in (1, 2, 3):
        ended = tmp_path / str(n)
        ended.mkdir()
        found = launch(mpi, n, "-c", TELL, str(n), str(ended))
        assert (found.returncode, found.stderr, found.stdout) == (0, "", expected)
        assert len(list(ended.iterdir())) == n


@pytest.mark.slow
@pytest.mark.mpi
def test_an_interrupt_ends_all_ranks(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind != "MPICH":
        pytest.skip("the launcher of MPICH passes an interrupt on")
    command = mpi.command(3, sys.executable, "-c", WAIT, str(tmp_path / "interrupted"))
    with subprocess.Popen(command, env=environment(mpi), stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert [started.stdout.readline(), started.stdout.readline()] == ["0\n", "1\n"]
        started.send_signal(signal.SIGINT)
        rest = started.stdout.read()
    assert started.returncode == 130
    assert "1000\n" not in rest


@pytest.mark.slow
@pytest.mark.mpi
def test_without_mpi4py(mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ModuleNotFoundError(\"No module named 'mpi4py'\", name='mpi4py')\n")
    found = validated(mpi, 2, tmp_path, "x.nc", PYTHONPATH=str(tmp_path))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == (
        "scalkit validate: 2 ranks were started, and to share the work they need mpi4py; install it on all nodes "
        f"({install_command('mpi4py')}), or start scalkit without a launcher.\n"
    )


def launched_by_slurm(rank: int, **more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "scalkit", "validate", "/nowhere"]
    given = {**os.environ, "SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "2", **more}
    return subprocess.run(words, env=given, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.mpi
def test_a_launcher_of_another_library(mpi: Mpi) -> None:
    if mpi.kind != "MPICH":
        pytest.skip("other libraries want to join the job")
    found = launched_by_slurm(0, **environment(mpi))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == (
        f"scalkit validate: 2 ranks were started, but {mpi.name}, which mpi4py loads, knows of 1; name the library of the "
        "launcher, as in MPI4PY_LIBMPI=/path/to/libmpi.so, or start with the launcher of this one.\n"
    )
    assert (other := launched_by_slurm(1, **environment(mpi))).returncode == 2
    assert other.stdout + other.stderr == ""


@pytest.mark.extra
def test_a_library_that_cannot_be_loaded() -> None:
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    found = launched_by_slurm(0, MPI4PY_LIBMPI="/nowhere/libmpi.so")
    assert found.returncode == 2
    assert found.stderr.startswith("scalkit validate: 2 ranks were started, but mpi4py cannot load an MPI library (")
    assert found.stderr.endswith("); name it, as in MPI4PY_LIBMPI=/path/to/libmpi.so.\n")
    assert found.stderr.count("\n") == 1


def test_in_turn_reports_and_keeps_the_order() -> None:
    told: list[tuple[int, int]] = []
    mapper = in_turn(lambda done, total: told.append((done, total)))
    assert list(mapper(operator.neg, [1, 2, 3])) == [-1, -2, -3]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    with pytest.raises(ZeroDivisionError):
        list(mapper(partial(operator.truediv, 1), [1, 0, "not a number"]))


@pytest.mark.slow
def test_a_library_may_compute_tasks_in_any_order(many: tuple[str, str]) -> None:
    def backwards(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        assert [len(task) for task in tasks] == [TASK, TASK, N - 2 * TASK]
        return [function(task) for task in reversed(tasks)][::-1]

    data = sk.read(many[0])
    assert sk.validate(data, many[1], mapper=backwards).to_json() == sk.validate(data, many[1]).to_json()
