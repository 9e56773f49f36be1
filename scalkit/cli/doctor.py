"""Say what scalkit needs and finds here, what each lack means, and how to go on."""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata

from rich.text import Text

from scalkit.cli.terminal.printed import print_json, printed, table_of, terminal
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.support.extras import EXTRAS, install_command, missing, sentence

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Finding:
    """One thing that scalkit may need.

    `need`: short name, as for ``--need``.
    `found`: what was found, or why it does not work.
    `lack`: what it means when it is missing, and how to go on.
    """

    need: str
    what: str
    here: bool
    found: str
    lack: str


def run(args: argparse.Namespace) -> int:
    """Look, print, and return 0, or 2 if something needed is missing."""
    names = [name for name in _CHECKS if name in args.need] or list(_CHECKS)
    findings = [finding for name in names for finding in _CHECKS[name](args)]
    if args.json:
        print_json([asdict(finding) for finding in findings])
    else:
        _print(findings)
    return 2 if args.need and not all(finding.here for finding in findings) else 0


def _print(findings: Sequence[Finding]) -> None:
    marks = {True: printed("yes", style="green"), False: printed("no", style="bold red")}
    rows = ((marks[finding.here], printed(finding.what), Text(finding.found)) for finding in findings)
    console = terminal()
    console.print(table_of(("", "what", "found"), rows))
    for finding in findings:
        if not finding.here:
            console.print(printed(f"{finding.what}: {finding.lack}"), soft_wrap=True)


def _python(args: argparse.Namespace) -> list[Finding]:
    here = sys.version_info >= (3, 11)
    found = f"{platform.python_version()} at {sys.executable}"
    return [Finding("python", "Python 3.11 or newer", here, found, "scalkit does not run; install a newer Python.")]


def _compiler(args: argparse.Namespace) -> list[Finding]:
    return [
        _program("compiler", "C compiler", ("cc", "gcc", "clang"), "nothing can be measured; apt-get install gcc libc6-dev."),
        _program("compiler", "make", ("make",), "nothing can be measured; apt-get install make."),
    ]


def _mpi(args: argparse.Namespace) -> list[Finding]:
    """Compile and start two ranks for real: nothing less shows that compiler and launcher belong together."""
    from scalkit.bench.libraries.mpi import cores, find_mpi

    brings = f"{install_command('mpi')} brings one"
    lack = f"nothing can be measured here; {brings}, or name yours with --mpicc and --mpiexec."

    def found() -> str:
        mpi = find_mpi(args.mpicc, args.mpiexec)
        said = f"{mpi.name} (MPI {mpi.standard}), {mpi.mpicc}, {mpi.mpiexec}, {cores()} cores"
        return "\n".join((said, *mpi.passed_over))

    return _tried("mpi", "MPI library that starts two ranks in one world", lack, found)


def _virtual(args: argparse.Namespace) -> list[Finding]:
    """Let two ranks meet in virtual time."""
    from scalkit.bench.libraries.mpi import find_mpi
    from scalkit.bench.virtual.mpi import proved, virtual
    from scalkit.bench.virtual.network import read_network

    brings = f"{install_command('mpi')} brings one that can"
    lack = f"run times with more processes than cores do not decide, all else works; {brings}."

    def found() -> str:
        return proved(virtual(find_mpi(args.mpicc, args.mpiexec), read_network("cluster"))).name

    return _tried("virtual", "that library in virtual time", lack, found)


def _simulator(args: argparse.Namespace) -> list[Finding]:
    """Let two ranks meet on the first simulated machine."""
    from scalkit.bench.libraries.platforms import load_platform, platform_names
    from scalkit.bench.libraries.simulator import simulate

    lack = "'scalkit measure --platform' does not work, all else does; apt-get install libsimgrid-dev."

    def found() -> str:
        return f"{simulate(load_platform(platform_names()[0])).library}; {', '.join(platform_names())}"

    return _tried("simulator", "simulated machines (SimGrid SMPI)", lack, found)


def _browser(args: argparse.Namespace) -> list[Finding]:
    lack = "figures of a store are saved as CSV only, and tests of pages are skipped; apt-get install chromium."
    named = os.environ.get("SCALKIT_CHROMIUM")
    return [_program("browser", "Chromium", (named,) if named else _BROWSERS, lack)]


def _tried(need: str, what: str, lack: str, found: Callable[[], str]) -> list[Finding]:
    """Return what was found, or why it does not work."""
    from scalkit.cli.terminal.progress import terminated_like_interrupted

    try:
        with terminated_like_interrupted():
            return [Finding(need, what, True, found(), lack)]
    except (BuildError, LaunchError, UsageError) as error:
        return [Finding(need, what, False, str(error), lack)]


def _extra(name: str, args: argparse.Namespace) -> list[Finding]:
    """Look for the packages that an extra brings."""
    absent, there = missing(name), EXTRAS[name].packages
    found = "without " + ", ".join(absent) if absent else ", ".join(f"{one} {metadata.version(one)}" for one in there)
    return [Finding(name, f"scalkit[{name}]", not absent, found, f"{sentence(name, absent[0])}" if absent else "")]


_CHECKS: dict[str, Callable[[argparse.Namespace], list[Finding]]] = {
    "python": _python,
    "compiler": _compiler,
    "mpi": _mpi,
    "virtual": _virtual,
    "simulator": _simulator,
    **{name: partial(_extra, name) for name in EXTRAS},
    "browser": _browser,
}


def _program(need: str, what: str, names: Sequence[str], lack: str) -> Finding:
    paths = [path for path in map(shutil.which, names) if path]
    return Finding(need, what, bool(paths), paths[0] if paths else f"no {' or '.join(names)} on PATH", lack)
