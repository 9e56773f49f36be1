"""A bar for work in tasks that lasts: on a terminal only, and not before a second has passed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

__all__ = ["task_bar"]

_PATIENCE_S = 1.0


@contextmanager
def task_bar(
    stream: TextIO, what: str, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of the number of tasks done and of all, which shows a bar until the context ends.

    Parameters
    ----------
    stream : text file
        Where to; nothing is shown if it is no terminal.
    what : str
        What is done, before the bar.
    clock : callable
        Returns seconds. Less than one since the first call shows nothing.
    """
    if not stream.isatty():
        yield lambda done, total: None
        return
    with ExitStack() as stack:
        began: list[float] = []
        shown: list[Callable[[int], None]] = []

        def report(done: int, total: int) -> None:
            now = clock()
            if not began:
                began.append(now)
            if not shown and done < total and now - began[0] >= _PATIENCE_S:
                shown.append(stack.enter_context(_bar(stream, what, total)))
            for show in shown:
                show(done)

        yield report


@contextmanager
def _bar(stream: TextIO, what: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done, refresh=True)
