"""Processes, ports and files that a run of the test suite leaves behind.

`python leftovers.py [--signal INT --after SECONDS] -- COMMAND ...` runs a command, ends it by a signal if asked to, and lists
what is there afterwards and was not there before; the exit status is 1 if there is anything.

`guarded()` starts `python leftovers.py --guard RUN FOLDER`, which waits until its parent has ended in whatever way, kills the
processes of that run, and removes its folder and its shared memory.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

RUN_VARIABLE = "SCALKIT_RUN"
"""Environment variable that marks all processes of one run of the suite; it survives every change of parents."""
SHARED_MEMORY = Path("/dev/shm")
MPI_FILES = (
    "/dev/shm/mpich_*",
    "/dev/shm/sm_segment.*",
    "/dev/shm/vader_segment.*",
    "/dev/shm/osc_*",
    "/tmp/hydra_hwloc_xmlfile_*",
)
"""Files that MPI libraries and MPICH's launcher leave when they are killed; no variable moves them to another folder."""
MPI_LAUNCHERS = ("mpiexec", "mpirun", "hydra_pmi_proxy", "prte", "orted")
"""Beginnings of the names of programs that start ranks."""
SECONDS_TO_SETTLE = 10.0
"""Time for processes that were asked to end. `leftovers.py` looks again until nothing is left or this time is over."""


def processes_of(run: str) -> Iterator[psutil.Process]:
    """Iterate over the processes of a run, without this one."""
    for process in psutil.process_iter():
        try:
            is_of_run = process.environ().get(RUN_VARIABLE) == run
        except psutil.Error:
            continue
        if is_of_run and process.pid != os.getpid():
            yield process


def end_processes(run: str, seconds: float = SECONDS_TO_SETTLE) -> list[str]:
    """Kill the processes of a run; return their commands."""
    commands = []
    end = time.monotonic() + seconds
    # Processes that start others while they are being killed need a second look.
    while processes := list(processes_of(run)):
        for process in processes:
            try:
                if process.status() != psutil.STATUS_ZOMBIE:
                    commands.append(f"{process.pid}: {' '.join(process.cmdline())[:300]}")
                process.kill()
            except psutil.Error:
                continue
        psutil.wait_procs(processes, timeout=1)
        if time.monotonic() > end:
            break
    return commands


def remove_files(folder: Path, before: set[str]) -> None:
    """Remove the temporary folder of a run, and the files of MPI that are new and that nobody uses any more."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in unused(files_of_mpi() - before):
        path.unlink(missing_ok=True)


def files_of_mpi() -> set[str]:
    """Return the paths of the files of `MPI_FILES` that belong to this user."""
    paths = set()
    for pattern in MPI_FILES:
        for path in glob.glob(pattern):
            with contextlib.suppress(OSError):
                if os.lstat(path).st_uid == os.getuid():
                    paths.add(path)
    return paths


def unused(new: set[str]) -> list[Path]:
    """Return those files that no process has open or mapped; none while another MPI program starts, which opens them later."""
    if not new:
        return []
    for process in psutil.process_iter():
        try:
            if process.name().startswith(MPI_LAUNCHERS) and process.status() != psutil.STATUS_ZOMBIE:
                return []
            new -= {item.path for item in process.memory_maps()} | {item.path for item in process.open_files()}
        except psutil.Error:
            continue
    return [Path(path) for path in sorted(new)]


def guard(run: str, folder: Path) -> None:
    """Wait for the end of standard input, which the parent holds open as long as it lives; then clean up."""
    before = files_of_mpi()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("guarding", flush=True)
    sys.stdin.read()
    end_processes(run)
    remove_files(folder, before)


@contextmanager
def guarded() -> Iterator[dict[str, str]]:
    """Provide the environment of a run, and clean up after it, also if this process is killed."""
    run, folder = uuid.uuid4().hex, Path(tempfile.mkdtemp(prefix="scalkit-"))
    folder.chmod(0o711)  # munge, which Slurm needs, refuses a socket that other users cannot reach
    watcher = subprocess.Popen(
        [sys.executable, __file__, "--guard", run, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert watcher.stdin
    assert watcher.stdout
    if not watcher.stdout.readline():
        raise RuntimeError(f"the guard of {folder} did not start")
    try:
        # What Jupyter and IPython keep of their users goes with the run, too.
        own = {f"JUPYTER_{kind}_DIR": str(folder / "jupyter" / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        own |= {"IPYTHONDIR": str(folder / "ipython"), RUN_VARIABLE: run, "TMPDIR": str(folder)}
        yield {**os.environ, **own}
    finally:
        watcher.stdin.close()
        wait_with_progress(watcher)
        shutil.rmtree(folder, ignore_errors=True)


def _print_line(text: str) -> None:
    print(text, flush=True)


def wait_with_progress(
    watcher: subprocess.Popen[bytes], seconds: float = 15.0, show: Callable[[str], None] = _print_line
) -> None:
    """Wait until the guard has cleaned up; show a line every so many seconds."""
    begin = time.monotonic()
    while True:
        try:
            watcher.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            show(f"removing temporary files, for {time.monotonic() - begin:.0f} s so far")


@dataclass(frozen=True)
class Snapshot:
    """Things that a program can leave behind."""

    processes: frozenset[str]
    ports: frozenset[str]
    files: frozenset[str]

    def since(self, before: Snapshot) -> list[str]:
        """Return a line for each thing that is here and was not there before."""
        kinds = (
            ("process", self.processes - before.processes),
            ("port", self.ports - before.ports),
            ("file", self.files - before.files),
        )
        return [f"{kind} {name}" for kind, names in kinds for name in sorted(names)]


def snapshot() -> Snapshot:
    """Return the processes, listening ports and temporary files of this user."""
    processes, ports = set(), set()
    own = {os.getpid()}
    for process in psutil.process_iter():
        try:
            if process.uids().real != os.getuid() or process.pid in own:
                continue
            words = process.cmdline()
            if not words and process.status() != psutil.STATUS_ZOMBIE:
                continue  # a thread of the kernel, which comes and goes by itself
            processes.add(f"{process.pid}: {' '.join(words)[:200]}")
            connections = process.net_connections("inet")
            ports |= {f"{c.laddr.port} of {process.pid}" for c in connections if c.status == psutil.CONN_LISTEN}
        except psutil.Error:
            continue
    folders = {Path(tempfile.gettempdir()), Path("/tmp"), SHARED_MEMORY}
    files = {str(path) for folder in folders if folder.is_dir() for path in folder.iterdir()}
    return Snapshot(frozenset(processes), frozenset(ports), frozenset(files))


def compare(command: list[str], number: int | None, after: float, settle: float) -> list[str]:
    """Run a command, perhaps until a signal ends it; return a line for each thing that is left after `settle` seconds."""
    before = snapshot()
    process = subprocess.Popen(command, start_new_session=True)
    if number is not None:
        time.sleep(after)
        # To the group, as a terminal does it.
        os.killpg(process.pid, number)
    process.wait()
    end = time.monotonic() + settle
    while (left := snapshot().since(before)) and time.monotonic() < end:
        time.sleep(0.5)
    return left


def main() -> int:
    parser = argparse.ArgumentParser(description="List what a command leaves behind: processes, ports, temporary files.")
    parser.add_argument("--signal", choices=("INT", "TERM", "KILL"), help="end the command by this signal")
    parser.add_argument("--after", type=float, default=60.0, help="seconds until the signal is sent (default 60)")
    parser.add_argument("--settle", type=float, default=3 * SECONDS_TO_SETTLE, help="seconds to wait for what still ends")
    parser.add_argument("--guard", nargs=2, metavar=("RUN", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help="the command and its arguments, after --")
    arguments = parser.parse_args()
    if arguments.guard:
        guard(arguments.guard[0], Path(arguments.guard[1]))
        return 0
    if not arguments.command:
        parser.error("a command is needed, as in: leftovers.py -- make test")
    number = signal.Signals[f"SIG{arguments.signal}"] if arguments.signal else None
    left = compare(arguments.command, number, arguments.after, arguments.settle)
    print("\n".join([f"left behind: {len(left)}", *left]))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
