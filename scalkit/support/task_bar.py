"""A bar for work in tasks that lasts: where a person looks on, and not before a second has passed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[int, int], None]
"""Is called with the number of tasks that are done, and of all."""

_PATIENCE_S, _BETWEEN_S = 1.0, 0.1


def is_watched(stream: TextIO | None) -> bool:
    """Return whether somebody sees a bar: on a terminal that redraws lines, or in a notebook that no program executes."""
    if stream is not None and stream.isatty():
        return os.environ.get("TERM") not in ("dumb", "unknown")
    if "ipykernel" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", False))  # what executes notebooks answers no questions


@contextmanager
def task_bar(
    stream: TextIO | None, what: str, clock: Callable[[], float] = time.monotonic, *, wanted: bool = True
) -> Iterator[Report]:
    """Yield a function of the number of tasks done and of all, which shows a bar until the context ends.

    `stream`: where to; nothing is shown if it is no terminal, unless this is a notebook.
    `what`: what is done, before the bar.
    `clock`: returns seconds. Less than one since the first call shows nothing.
    `wanted`: whether there may be a bar at all.
    """
    if not (wanted and is_watched(stream)):
        yield lambda done, total: None
        return
    with ExitStack() as stack:
        began: list[float] = []
        drawn: list[float] = []
        shown: list[Callable[[int], None]] = []

        def report(done: int, total: int) -> None:
            now = clock()
            if not began:
                began.append(now)
            if not shown and done < total and now - began[0] >= _PATIENCE_S:
                progress = stack.enter_context(bar(stream))
                task = progress.add_task(what, total=total)
                shown.append(lambda done: progress.update(task, completed=done, refresh=True))
            if shown and (done == total or not drawn or now - drawn[-1] >= _BETWEEN_S):
                shown[0](done)
                drawn[:] = [now]

        yield report


@contextmanager
def bar(stream: TextIO | None) -> Iterator[Progress]:
    """Yield rich's progress with our columns: what is done, a bar, how much of it, and the time left.

    `stream`: where to; what is printed meanwhile stays in the text above the bar if it is printed to a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    # Elsewhere what is printed meanwhile shall stay where it goes.
    ours = sys.stdout is not None and sys.stdout.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream), transient=True, redirect_stdout=ours) as progress:
        yield progress
