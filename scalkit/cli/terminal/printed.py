"""Text of the terminal: JSON, tables, names from files, which may hold what moves the cursor; and progress."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from scalkit.bench import Progress
from scalkit.bench.campaign.file import CampaignFile
from scalkit.bench.jobs.batch import Status, look
from scalkit.bench.process import summary
from scalkit.errors import LaunchError
from scalkit.task_bar import bar
from scalkit.text import plain


def printed(text: str, style: str = "") -> Text:
    """Return a text for rich, without markup and with control characters in words."""
    return Text(plain(text), style=style)


def terminal(width: int = 160) -> Console:
    """Return what prints tables to standard output; a file gets lines of this width."""
    is_rank = "OMPI_COMM_WORLD_SIZE" in os.environ  # to its ranks Open MPI gives terminals of its own
    is_read = sys.stdout.isatty() and not is_rank
    return Console(width=None if is_read else width, force_terminal=False if is_rank else None, highlight=False)


def table_of(heads: Iterable[str], rows: Iterable[Iterable[Text]], right: Collection[str] = (), **how: Any) -> Table:
    """Return a table; the columns below some of its heads are flush right."""
    table = Table(**how)
    for head in heads:
        table.add_column(printed(head), justify="right" if head in right else "left")
    for row in rows:
        table.add_row(*row)
    return table


def print_json(value: Any) -> None:
    """Print a value as JSON, for programs."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_either(as_json: bool, value: Any, text: str) -> None:
    """Print a value as JSON where programs read it, else a text."""
    sys.stdout.write((json.dumps(value, indent=2) if as_json else text) + "\n")


def say(text: str, *, as_json: bool = False) -> None:
    """Print a line at once; to standard error where the output is JSON."""
    (sys.stderr if as_json else sys.stdout).write(text + "\n")
    sys.stdout.flush()


def say_step(done: int, total: int) -> None:
    """Say how many steps of a report are done, for programs that read along."""
    sys.stderr.write(f"[{done}/{total}] report\n")
    sys.stderr.flush()


def aligned(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return rows as lines whose columns stand below each other, flush left or right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.rjust if right else str.ljust, row, widths)).rstrip() for row in rows]


_ENDING = (signal.SIGTERM, signal.SIGHUP)


def duration(seconds: float) -> str:
    """Return a time for people: "8 s", "2 min 05 s", "1 h 04 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


@contextmanager
def progress_printer(stream: TextIO) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows progress on `stream` until the context ends."""
    if stream.isatty():
        with _bar(stream) as show:
            yield show
    else:
        yield lambda progress: _line(stream, progress)


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Say after Ctrl-C that what was measured into `out` is kept."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"What was measured is kept in {out}; the same command resumes.\n")
        raise


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Treat a request to terminate and the end of the terminal like Ctrl-C, so that no MPI process stays behind.

    A signal that is ignored, as SIGHUP under nohup, stays ignored; a handler of a preloaded library, which Python cannot put
    back, becomes that of the system.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _interrupt(number: int, frame: object) -> NoReturn:
    """Interrupt once: a closed terminal may send more than one signal, and ending the processes takes its time."""
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def _bar(stream: TextIO) -> Iterator[Callable[[Progress], None]]:
    last: list[tuple[Progress, float]] = []

    def left() -> str:
        return _left(last[-1][0], time.monotonic() - last[-1][1]) if last else ""

    with bar(stream, left) as shown:
        task = shown.add_task(f"{'starting':<24}", total=None)

        def show(progress: Progress) -> None:
            last[:] = [(progress, time.monotonic())]
            shown.update(task, description=f"{_what(progress):<24}", total=progress.total, completed=progress.done)
            for text in (progress.failure, *progress.remarks):
                if text:
                    shown.console.print(summary(text), markup=False, highlight=False)

        yield show


def _line(stream: TextIO, progress: Progress) -> None:
    if progress.launch is None or not progress.ended:
        return
    ending = f"failed: {summary(progress.failure)}" if progress.failure else "done"
    ending += ", with wrong results" if progress.remarks else ""
    rest = _left(progress) if progress.done < progress.total else f"{duration(progress.elapsed_s)} in all"
    stream.write(f"[{progress.done}/{progress.total}] {_what(progress)}: {ending}; {rest}\n")
    stream.flush()


def _what(progress: Progress) -> str:
    launch = progress.launch
    if launch is None:
        return "starting"
    variant = f"{progress.variant} " if progress.variant else ""
    return f"{variant}{launch.kind} p={launch.p} run {launch.run}"


def _left(progress: Progress, since_s: float = 0.0) -> str:
    """Return the time left, `since_s` seconds after the progress was reported."""
    if progress.left_s is None:
        return f"{duration(progress.elapsed_s + since_s)} so far"
    return f"about {duration(max(0.0, progress.left_s - since_s))} left"


_PATIENCE = 10
"""So many times in a row Slurm may leave a question unanswered."""


def watched(file: CampaignFile, every_s: float, stream: TextIO) -> Status:
    """Look at a campaign again and again until none of its jobs will do anything any more; return how it stands then.

    `every_s` in s: between two questions to Slurm.
    `stream`: where progress is shown.
    Raises UsageError if nothing was submitted; LaunchError if Slurm does not answer ten times in a row.
    """
    unanswered, told = 0, set[str]()
    with _shown(stream) as show:
        while True:
            try:
                status = look(file)
            except LaunchError as error:
                unanswered += 1
                if unanswered == _PATIENCE:
                    raise
                if unanswered == 1:
                    show(None, str(error))
            else:
                unanswered = 0
                new = [reason for reason in status.reasons if reason not in told]
                told.update(new)
                show(status, *new)
                if not status.working:
                    return status
            time.sleep(every_s)


@contextmanager
def _shown(stream: TextIO) -> Iterator[Callable[..., None]]:
    """Yield a function of a status, or None, and texts."""
    if not stream.isatty():
        lines: list[str] = []

        def write(status: Status | None, *texts: str) -> None:
            line = f"[{status.done}/{status.total}] {_jobs(status)}" if status else ""
            for text in ([line] if line and lines[-1:] != [line] else []) + list(texts):
                stream.write(f"{text}\n")
            lines.append(line)
            stream.flush()

        yield write
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with RichProgress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("asking Slurm", total=None)

        def update(status: Status | None, *texts: str) -> None:
            for text in texts:
                bar.console.print(text, markup=False, highlight=False)
            if status:
                bar.update(task, total=status.total, completed=status.done, description=_jobs(status))

        yield update


def _jobs(status: Status) -> str:
    words: dict[str, int] = {}
    for job in status.working:
        words[job.state.lower()] = words.get(job.state.lower(), 0) + 1
    return "jobs: " + (", ".join(f"{number} {word}" for word, number in sorted(words.items())) or "all ended")


_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI and others with Hydra; srun --mpi=pmi2
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),  # srun; a batch script has only the first
)
_PAUSE_S = 1.0


@dataclass(frozen=True)
class Launched:
    """What the launcher says: the rank, and how many there are, or None if it does not say."""

    rank: int
    size: int | None


def launched(environment: Mapping[str, str] | None = None) -> Launched | None:
    """Return what a launcher says of this process; None if there is none, or it started only this one."""
    given = os.environ if environment is None else environment
    for rank, size in _VARIABLES:
        if given.get(rank, "").isdecimal() and given.get(size, "").isdecimal():
            return Launched(int(given[rank]), int(given[size])) if int(given[size]) > 1 else None
    if given.get("PMIX_RANK", "").isdecimal():  # other launchers with PMIx
        return Launched(int(given["PMIX_RANK"]), None)
    return None


def only_rank_0_speaks(command: Callable[[], int]) -> int:
    """Return the status of a command; drop what other ranks than 0 print, which is the same again.

    What MPI itself writes stays. A launcher may end all ranks when one fails, so that rank 0 gets the time to say why.
    """
    here = launched()
    if here is None or here.rank == 0:
        return command()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        try:
            status = command()
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 2
    if status != 0:
        time.sleep(_PAUSE_S)
    return status
