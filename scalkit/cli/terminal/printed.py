"""Text of the terminal: JSON, tables, and names from files, which may hold what moves the cursor."""

import json
import os
import sys
import textwrap
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scalkit.support.text import plain


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


def print_part(console: Console, title: str, lines: Iterable[str], more: int = 0) -> None:
    """Print a title and indented lines, and how many more --json has; nothing if there are none."""
    width = max(console.width - 4, 30)
    for number, line in enumerate(lines):
        if number == 0:
            console.print(printed(title, style="bold"))
        for k, part in enumerate(textwrap.wrap(line, width, break_long_words=False) or [""]):
            console.print(printed(f"{'  ' if k == 0 else '    '}{part}"), soft_wrap=True)
    if more > 0:
        console.print(printed(f"  and {more} more; --json has all"))


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


def aligned(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return rows as lines whose columns stand below each other, flush left or right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.rjust if right else str.ljust, row, widths)).rstrip() for row in rows]
