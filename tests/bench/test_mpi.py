"""Finding a compiler and a launcher that belong together; every lack in a sentence."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.libraries.mpi import candidates, cores, probe, settings
from scalkit.bench.libraries.targets import place_processes
from scalkit.errors import BuildError, LaunchError
from scalkit.support.extras import install_command

pytestmark = pytest.mark.mpi


def _script(path: Path, body: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_two_ranks_meet_in_one_world(mpi: Mpi) -> None:
    assert mpi.kind == mpi.launcher
    assert re.match(r"\d\.\d$", mpi.standard)
    assert mpi.library
    assert mpi.show


def test_launcher_of_another_library_starts_separate_programs(mpi: Mpi, tmp_path: Path, launcher: Callable[[str], str]) -> None:
    """What the launcher of another library does: start the program as often as asked, each a world of its own."""
    drop = "while [ $# -gt 2 ]; do shift; done"
    lines = f'case "$*" in *--version*) ;; *) {drop}; "$@" & "$@"; wait; exit 0;; esac'
    wrong = launcher(lines)
    message = (
        f"{wrong!r} starts two separate programs instead of two ranks in one world: it does not belong to the library of "
        f"{mpi.mpicc!r} ({mpi.name}). Name the launcher of that library with --mpiexec."
    )
    with pytest.raises(LaunchError, match=f"^{re.escape(message)}$"):
        find_mpi(mpi.mpicc, wrong)


def test_launcher_that_is_passed_over(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = f'case "$1" in --version) exec \'{mpi.mpiexec}\' "$@";; *) echo no allocation >&2; exit 9;; esac'
    wrong = _script(tmp_path / "mpiexec", body)
    pairs = [(mpi.mpicc, wrong), (mpi.mpicc, mpi.mpiexec)]
    monkeypatch.setattr("scalkit.bench.libraries.mpi.candidates", lambda mpicc, mpiexec: iter(pairs))
    assert find_mpi().passed_over == (
        f"{mpi.mpicc} with {wrong} was passed over: {wrong!r} with two ranks of {mpi.name} ended with status 9; check that "
        "launcher and library belong together and work.",
    )


def test_launcher_that_dies(mpi: Mpi, launcher: Callable[[str], str]) -> None:
    wrong = launcher('case "$*" in *--version*) ;; *) echo no allocation >&2; exit 9;; esac')
    message = (
        f"{wrong!r} with two ranks of {mpi.name} ended with status 9; check that launcher and library belong together and "
        "work. The last lines:\n  no allocation"
    )
    with pytest.raises(LaunchError, match=f"^{re.escape(message)}$"):
        probe(mpi.mpicc, wrong)


def test_launcher_that_hangs(
    mpi: Mpi, tmp_path: Path, launcher: Callable[[str], str], time_limit: Callable[[Path], None]
) -> None:
    hangs = tmp_path / "hangs"
    time_limit(hangs)
    wrong = launcher(f'case "$*" in *--version*) ;; *) touch {hangs}; exec sleep 6000;; esac')
    with pytest.raises(LaunchError, match=rf"^'{re.escape(wrong)}' with two ranks of .* did not end within \d+ s; check that"):
        probe(mpi.mpicc, wrong)


def test_compiler_without_mpi(tmp_path: Path, own_cache: Path) -> None:
    compiler = _script(tmp_path / "bin/mpicc", 'case "$1" in -show*) echo cc;; *) exec cc "$@";; esac')
    start = f"compiling {Path(find_mpi.__code__.co_filename).parent / 'probe'} with {compiler!r} failed (status 2), see "
    with pytest.raises(BuildError, match=f"^{re.escape(start)}") as caught:
        probe(compiler, "/bin/true")
    assert "mpi.h" in str(caught.value)


def test_program_that_cannot_say_its_library(tmp_path: Path, own_cache: Path) -> None:
    body = """while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done
[ "$1" = -o ] || exit 1
printf '#!/bin/sh\\nexit 3\\n' > "$2" && chmod +x "$2\""""
    compiler = _script(tmp_path / "bin/mpicc", body)
    message = (
        f"a program compiled with {compiler!r} ended with status 3; check that its MPI library can be loaded. "
        "The last lines:\n  (it printed nothing)"
    )
    with pytest.raises(LaunchError, match=f"^{re.escape(message)}$"):
        probe(compiler, "/bin/true")


def test_named_programs_that_are_not_there(tmp_path: Path) -> None:
    message = "the compiler '/no/mpicc' is not there or may not be run; give its path."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        find_mpi("/no/mpicc")
    message = "the launcher '/no/mpiexec' is not there or may not be run; give its path."
    with pytest.raises(LaunchError, match=f"^{re.escape(message)}$"):
        find_mpi(None, "/no/mpiexec")


def test_no_mpi_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("scalkit.bench.libraries.mpi._own_folders", lambda: [str(tmp_path / "env")])
    message = (
        f"no MPI compiler 'mpicc' on PATH or in {tmp_path}/env; install an MPI library "
        f"({install_command('mpi')} brings one) or name its compiler."
    )
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        find_mpi()
    compiler = _script(tmp_path / "mpicc", "exit 0")
    message = f"no launcher 'mpiexec' or 'mpirun' beside {compiler} or on PATH; name the one of that library with --mpiexec."
    with pytest.raises(LaunchError, match=f"^{re.escape(message)}$"):
        find_mpi()


def test_path_comes_before_the_environment_of_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("path", "env"):
        for name in ("mpicc", "mpiexec"):
            _script(tmp_path / folder / name, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr("scalkit.bench.libraries.mpi._own_folders", lambda: [str(tmp_path / "env")])
    pairs = [tuple(Path(program).parent.name for program in pair) for pair in candidates()]
    assert pairs == [("path", "path"), ("env", "env"), ("env", "path")]
    (pair,) = candidates(str(tmp_path / "env/mpicc"), str(tmp_path / "path/mpiexec"))
    assert pair == (str(tmp_path / "env/mpicc"), str(tmp_path / "path/mpiexec"))


def test_a_broken_one_on_path_does_not_hide_a_working_one(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mpicc", "mpiexec"):
        _script(tmp_path / name, "echo broken >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("scalkit.bench.libraries.mpi._own_folders", lambda: [str(Path(mpi.mpicc).parent)])
    found = find_mpi()
    assert found.mpicc == mpi.mpicc
    (reason,) = found.passed_over
    start, end = f"{tmp_path}/mpicc was passed over: compiling ", f", check '{tmp_path}/mpicc -show'."
    assert reason.startswith(start)
    assert reason.endswith(end)
    monkeypatch.setattr("scalkit.bench.libraries.mpi._own_folders", list)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{_tools(tmp_path)}")
    with pytest.raises(BuildError, match=r"failed \(status 2\), see "):
        find_mpi()


def _tools(folder: Path) -> str:
    """Return a folder with make and the shell's tools, but no MPI."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("make", "cc", "sh", "mkdir"):
        (tools / name).symlink_to(shutil.which(name) or "/bin/false")
    return str(tools)


def test_settings_only_where_needed_and_never_over_the_users() -> None:
    throttle = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"}
    assert set(settings("MPICH", oversubscribed=True, environment={})) == throttle
    assert settings("MPICH", oversubscribed=False, environment={}) == {}
    for library, wanted in (
        ("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx\n", {"UCX_MEM_EVENTS": "no"}),
        ("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ofi\n", {}),
        ("MPICH Version:\t4.1.2\nMPICH Device:\tch4:ucx\n", {}),
    ):
        assert settings("MPICH", library=library, oversubscribed=False, environment={}) == wanted
    given = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "0"}
    assert set(settings("MPICH", oversubscribed=True, environment=given)) == throttle - set(given)
    assert settings("Intel MPI", oversubscribed=True, environment={}) == {"I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "3"}
    crowded, alone = (settings("Open MPI", oversubscribed=more, environment={}) for more in (True, False))
    assert crowded["OMPI_MCA_osc"] == "^ucx"
    assert alone == crowded | {"OMPI_MCA_mpi_yield_when_idle": "0"}
    assert settings("other", oversubscribed=True, environment={}) == {}


def test_processes_are_placed() -> None:
    placed = place_processes(Mpi("cc", "mpiexec", "MPICH", "MPICH 5", "5.0", "MPICH"), 1)
    assert placed.command(4, "prog") == ["mpiexec", "-ppn", "1", "-n", "4", "prog"]
    assert place_processes(placed, None) is placed


def test_command_of_each_launcher() -> None:
    mpich = Mpi("cc", "mpiexec", "MPICH", "MPICH 5", "5.0", "MPICH")
    assert mpich.command(4, "prog", "--x=1", forward={"LD_PRELOAD": "a"}) == ["mpiexec", "-n", "4", "prog", "--x=1"]
    openmpi = Mpi("cc", "mpiexec", "Open MPI", "Open MPI v5.0.11, package: x", "3.1", "Open MPI")
    assert openmpi.command(4, "prog", forward={"LD_PRELOAD": "a", "OMPI_MCA_osc": "b"}) == (
        ["mpiexec", "--oversubscribe", "-x", "LD_PRELOAD", "-n", "4", "prog"]
    )
    assert openmpi.name == "Open MPI v5.0.11"
    assert cores() >= 1
