"""Compiles a tree of C sources with its own Makefile into a cache, once for each compiler, flags and sources."""

import functools
import hashlib
import logging
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scalkit.errors import BuildError

_log = logging.getLogger(__name__)
_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCE_SUFFIXES = (".c", ".h", ".def", ".mk", ".awk")
_ENVIRONMENT = ("CFLAGS", "CPPFLAGS", "LDFLAGS", "MPIFLAGS")
_OF_AN_OUTER_MAKE = ("MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MAKEFILES")
_LAST_LINES = 12
_QUESTION_S = 20.0


@dataclass(frozen=True)
class Build:
    """A compiled tree.

    `folder`: where the programs are.
    `log`: what make printed.
    `fresh`: whether it was compiled now rather than found in the cache.
    `sources`: SHA-256 of the sources.
    """

    folder: Path
    log: Path
    fresh: bool
    sources: str

    def program(self, name: str) -> Path:
        """Return the path of a program. Raises BuildError if the Makefile did not make it."""
        path = self.folder / name
        if not path.is_file():
            raise BuildError(f"the build in {self.folder} has no program {name!r}, see {self.log}; delete that folder.")
        return path


def sources(name: str) -> Path:
    """Return the folder of a C tree: that of the checkout, or the copy shipped inside the package.

    Raises BuildError if neither is there.
    """
    checkout, shipped = _PACKAGE.parent / name, _PACKAGE / "_shipped" / name
    places = [checkout, shipped] if (_PACKAGE.parent / "pyproject.toml").is_file() else [shipped]
    for place in places:
        if (place / "Makefile").is_file():
            return place
    tried = " or ".join(str(place) for place in places)
    raise BuildError(f"the C sources {name!r} are not at {tried}; install scalkit again.")


def cache_folder(name: str) -> Path:
    """Return the folder in which this user's files of one kind are kept, which need not exist yet.

    `name`: ``"native"`` for builds, ``"mpi"`` for libraries, ``"hosts"``, ``"stores"``.

    It is below ``XDG_CACHE_HOME``, or below ``~/.cache`` if that variable has no absolute path. If the home directory
    cannot be written, it is below a folder of this user in the directory of temporary files, and a warning says so.
    Raises BuildError if others can write that one.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():
        return base / "scalkit" / name
    try:
        base = Path.home() / ".cache"
        reason = "" if _can_be_written(base / "scalkit") else f"{base} cannot be written"
    except RuntimeError:  # in a container, for a user of whom the system knows only the number
        reason = "this user has no home directory"
    if not reason:
        return base / "scalkit" / name
    folder = own_temporary_folder()
    _warn_once(f"scalkit: {reason}; files are kept in {folder} (XDG_CACHE_HOME names another place).")
    return folder / name


def settings_folder() -> Path:
    """Return the folder of this user's settings, which need not exist yet.

    It is below ``XDG_CONFIG_HOME``, or below ``~/.config`` if that variable has no absolute path.
    Raises BuildError if this user has no home directory.
    """
    base = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if base.is_absolute():
        return base / "scalkit"
    try:
        return Path.home() / ".config" / "scalkit"
    except RuntimeError as error:  # in a container, for a user of whom the system knows only the number
        raise BuildError("this user has no home directory for settings; name a folder with XDG_CONFIG_HOME.") from error


def own_temporary_folder() -> Path:
    """Return this user's own folder in the directory of temporary files, and create it if it is missing.

    Raises BuildError if it cannot be made, or if others can write to it: programs in it are run.
    """
    folder = Path(tempfile.gettempdir()) / f"scalkit-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise BuildError(f"cannot make {folder}: {error.strerror or error}; name a place with XDG_CACHE_HOME.") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o022:
        raise BuildError(
            f"{folder} is not a folder that only this user can write to; name a place of your own with XDG_CACHE_HOME."
        )
    return folder


def without_blanks(folder: Path) -> Path:
    """Return a path of `folder` that contains no blanks.

    Compiler wrappers of MPI libraries do not quote paths. A folder whose path has blanks is reached through a symbolic
    link in the cache, or in the directory of temporary files if the path of the cache has blanks as well.
    Raises BuildError if the link cannot be made.
    """
    if not has_blanks(folder):
        return folder
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:20]
    links = cache_folder("links")
    links = own_temporary_folder() / "links" if has_blanks(links) else links
    link = links / name
    try:
        if not (link.is_symlink() and link.readlink() == folder):
            links.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=links) as beside:
                (Path(beside) / name).symlink_to(folder)
                (Path(beside) / name).replace(link)
    except OSError as error:
        raise BuildError(
            f"compilers of MPI libraries need a path without blanks, and the link {link} to {str(folder)!r} cannot be made: "
            f"{error.strerror or error}; name a place without blanks with XDG_CACHE_HOME."
        ) from error
    return link


def has_blanks(path: Path) -> bool:
    """Return whether a path contains white space."""
    return any(letter.isspace() for letter in str(path))


def _can_be_written(folder: Path) -> bool:
    """Return whether a folder can be written, or could be made."""
    # os.path.exists is false for places below a folder that this user may not enter; Path.exists raises there.
    nearest = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


@functools.cache
def _warn_once(text: str) -> None:
    _log.warning("%s", text)


def sources_hash(tree: Path) -> str:
    """Return the SHA-256 of names and contents of all sources of a tree; tests are left out."""
    digest = hashlib.sha256()
    for path in _source_files(tree):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(tree).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def show_command(mpicc: str) -> str:
    """Return what `mpicc -show` prints: the compiler behind the wrapper and its options; empty if it cannot say.

    Raises BuildError if there is no such program.
    """
    for option in ("-show", "--showme"):
        status, text = _said([mpicc, option])
        if status == 0:
            return text.strip()
    return ""


def build(tree: Path, mpicc: str, *, library: str = "", makefile: str = "Makefile", timeout_s: float = 600.0) -> Build:
    """Return the programs of a C tree, compiled with `mpicc` if they are not in the cache.

    `tree`: with a Makefile that understands ``make MPICC=... BUILD=... SOURCE=...``; it is copied and never written to.
    `mpicc`: name or path of the compiler.
    `library`: version of the MPI library, so that a new one leads to a new build.
    `makefile`: its path below `tree`; another one makes other programs of the same sources, perhaps without MPI.
    `timeout_s` in s.
    Raises BuildError if make, mpicc or the C compiler is missing, the compilation fails, or the cache cannot be
    written.

    The cache folder is named by a hash of sources, compiler, ``mpicc -show``, ``CFLAGS`` and kin, and `library`. It
    appears by renaming, so that a killed build leaves nothing behind. Of several processes that want the same build, one
    compiles, and the others wait for it.
    """
    shown = show_command(mpicc)
    digest = sources_hash(tree)
    flags = {name: os.environ[name] for name in _ENVIRONMENT if os.environ.get(name)}
    parts: tuple[str, ...] = (
        digest,
        str(shutil.which(mpicc)),
        shown,
        _compiler_version(mpicc),
        repr(sorted(flags.items())),
        library,
    )
    parts += () if makefile == "Makefile" else (makefile,)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
    target = cache_folder("native") / f"{tree.name}-{key}"
    if (target / "build.log").is_file():
        return Build(target, target / "build.log", fresh=False, sources=digest)
    _require_tools(mpicc, shown)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _only_builder(target), tempfile.TemporaryDirectory(prefix="scalkit-build-") as name:
            is_fresh = not (target / "build.log").is_file()  # another process may have built it meanwhile
            if is_fresh:
                _make(tree, makefile, Path(name), mpicc, timeout_s, target)
                _put(Path(name) / "out", target)
    except OSError as error:
        raise BuildError(
            f"cannot keep the build in {target.parent}: {error.strerror or error}; make room there, or name another "
            "place with XDG_CACHE_HOME."
        ) from error
    return Build(target, target / "build.log", fresh=is_fresh, sources=digest)


@contextmanager
def _only_builder(target: Path) -> Iterator[None]:
    """Wait until no other process builds `target`; where the system has no locks, they build side by side."""
    path = target.with_name(f".{target.name}.lock")
    with path.open("w", encoding="utf-8") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except (ModuleNotFoundError, OSError):
            pass  # such as a network file system without locks; the build still appears in one step
        try:
            yield
        finally:
            # Who waits holds the same file, and finds the build; who comes later does not ask for the lock.
            path.unlink(missing_ok=True)


def _source_files(tree: Path) -> Iterator[Path]:
    for path in sorted(tree.rglob("*")):
        inner = path.relative_to(tree).parts
        is_source = path.suffix in _SOURCE_SUFFIXES or path.name == "Makefile"
        if is_source and path.is_file() and not {"tests", "build"} & set(inner):
            yield path


def _compiler_version(mpicc: str) -> str:
    status, text = _said([mpicc, "--version"])
    return text.strip() if status == 0 else ""


def _said(command: list[str]) -> tuple[int | None, str]:
    """Return the exit status of a short command, None if it hangs, and its standard output."""
    with tempfile.TemporaryFile() as output:
        try:
            status = _run(command, os.environ, output.fileno(), subprocess.DEVNULL, _QUESTION_S)
        except OSError as error:
            raise BuildError(
                f"cannot run the compiler {command[0]!r}: {error.strerror or error}; install an MPI library or name its compiler."
            ) from error
        output.seek(0)
        return status, output.read().decode("utf-8", errors="replace")


def _require_tools(mpicc: str, shown: str) -> None:
    if shutil.which("make") is None:
        raise BuildError("compiling needs 'make', which is not on PATH; install it (Debian: apt-get install make).")
    words = shown.split()
    if words and shutil.which(words[0]) is None:
        raise BuildError(
            f"{mpicc!r} calls the C compiler {words[0]!r}, which is not on PATH; install one "
            "(Debian: apt-get install gcc libc6-dev)."
        )


def _make(tree: Path, makefile: str, stage: Path, mpicc: str, timeout_s: float, target: Path) -> None:
    """Run make on a copy of the tree in `stage`; the programs and the log are in ``stage/out`` then.

    Make sees relative paths only: it cannot hold the blanks that the path of `stage` may have.
    """
    for path in _source_files(tree):
        copy = stage / "src" / path.relative_to(tree)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    out = stage / "out"
    out.mkdir()
    jobs = min(4, os.cpu_count() or 1)
    command = [
        "make",
        "-C",
        str(stage / "src"),
        f"--file={makefile}",
        f"-j{jobs}",
        f"MPICC={shlex.quote(mpicc)}",
        "BUILD=../out",
        "SOURCE=./",
    ]
    environment = {name: value for name, value in os.environ.items() if name not in _OF_AN_OUTER_MAKE}
    log = out / "build.log"
    with log.open("w", encoding="utf-8") as stream:
        stream.write(f"$ {shlex.join(command)}\n")
        stream.flush()
        status = _run(command, environment, stream.fileno(), subprocess.STDOUT, timeout_s)
    if status != 0:
        kept = _keep_log(log, target)
        word = f"did not finish within {timeout_s:g} s" if status is None else f"failed (status {status})"
        text = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = "\n".join(f"  {line}" for line in text[-_LAST_LINES:])
        raise BuildError(
            f"compiling {tree} with {mpicc!r} {word}, see {kept}; MPI 3.0 or newer is needed, check '{mpicc} -show'. "
            f"It ended with:\n{last}"
        )


def _run(command: list[str], environment: Mapping[str, str], out: int, err: int, timeout_s: float) -> int | None:
    """Return the exit status, None after the time limit; no child stays behind."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=dict(environment), start_new_session=True
    )
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def _keep_log(log: Path, target: Path) -> Path:
    kept = target.with_name(f"{target.name}.failed.log")
    shutil.copyfile(log, kept)
    return kept


def _put(out: Path, target: Path) -> None:
    """Move the files of `out` to `target` in one step; if another process was faster, its build stays."""
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        for path in out.iterdir():
            if path.is_file():
                shutil.copy2(path, beside / path.name)
        beside.chmod(0o755)
        try:
            beside.rename(target)
        except OSError:
            if not (target / "build.log").is_file():
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
