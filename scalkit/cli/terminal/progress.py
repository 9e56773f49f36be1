"""Progress of campaigns and jobs on the terminal, and signals that end them."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO

from scalkit.bench.campaign.file import CampaignFile
from scalkit.bench.campaign.loop import Progress
from scalkit.bench.jobs.batch import Status, look
from scalkit.bench.process import summary
from scalkit.errors import LaunchError
from scalkit.support.task_bar import bar

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
    from rich.markup import escape

    with bar(stream) as shown:
        task = shown.add_task("starting", total=None)

        def show(progress: Progress) -> None:
            count = f"[{progress.done}/{progress.total}]"
            description = f"{count} {_what(progress)}"
            shown.update(task, description=escape(description), total=progress.total, completed=progress.done)
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


def _left(progress: Progress) -> str:
    """Return the time left in words, or the elapsed time while the time left is unknown."""
    if progress.left_s is None:
        return f"{duration(progress.elapsed_s)} so far"
    return f"about {duration(progress.left_s)} left"


_PATIENCE = 10
"""So many times in a row Slurm may leave a question unanswered."""


def watched(file: CampaignFile, every_s: float, stream: TextIO) -> Status:
    """Look at a campaign again and again until none of its jobs will do anything any more; return how it stands then.

    `every_s` in s: between two questions to Slurm.
    `stream`: where progress is shown.
    Raises UsageError if nothing was submitted; LaunchError if Slurm does not answer ten times in a row.
    """
    unanswered, last, told = 0, "", set[str]()
    while True:
        lines: list[str] = []
        try:
            status = look(file)
        except LaunchError as error:
            unanswered += 1
            if unanswered == _PATIENCE:
                raise
            lines = [str(error)] if unanswered == 1 else []
        else:
            unanswered = 0
            line = f"[{status.done}/{status.total}] {_jobs(status)}"
            lines = [*([line] if line != last else []), *(reason for reason in status.reasons if reason not in told)]
            last = line
            told.update(status.reasons)
        stream.write("".join(f"{text}\n" for text in lines))
        stream.flush()
        if not unanswered and not status.working:
            return status
        time.sleep(every_s)


def _jobs(status: Status) -> str:
    words: dict[str, int] = {}
    for job in status.working:
        words[job.state.lower()] = words.get(job.state.lower(), 0) + 1
    return "jobs: " + (", ".join(f"{number} {word}" for word, number in sorted(words.items())) or "all ended")
