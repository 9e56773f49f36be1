"""Follows the jobs of a campaign: a bar on a terminal, a line for each change elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from scalkit.errors import LaunchError

if TYPE_CHECKING:
    from scalkit.bench.campaign.file import CampaignFile
    from scalkit.bench.jobs.batch import Status

_PATIENCE = 10
"""So many times in a row Slurm may leave a question unanswered."""


def watched(file: CampaignFile, every_s: float, stream: TextIO) -> Status:
    """Look at a campaign again and again until none of its jobs will do anything any more; return how it stands then.

    `every_s` in s: between two questions to Slurm.
    `stream`: where progress is shown.
    Raises UsageError if nothing was submitted; LaunchError if Slurm does not answer ten times in a row.
    """
    from scalkit.bench.jobs.batch import look

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
            line = _line(status) if status else ""
            for text in ([line] if line and lines[-1:] != [line] else []) + list(texts):
                stream.write(f"{text}\n")
            lines.append(line)
            stream.flush()

        yield write
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("asking Slurm", total=None)

        def update(status: Status | None, *texts: str) -> None:
            for text in texts:
                bar.console.print(text, markup=False, highlight=False)
            if status:
                bar.update(task, total=status.total, completed=status.done, description=_jobs(status))

        yield update


def _line(status: Status) -> str:
    return f"[{status.done}/{status.total}] {_jobs(status)}"


def _jobs(status: Status) -> str:
    words: dict[str, int] = {}
    for job in status.working:
        words[job.state.lower()] = words.get(job.state.lower(), 0) + 1
    return "jobs: " + (", ".join(f"{number} {word}" for word, number in sorted(words.items())) or "all ended")
