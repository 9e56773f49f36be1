"""Prints an assessment of guidelines: the table of violations, sentences, what to do, and what models predict."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.cli.tables.printed import printed
from scalkit.markup import counted

if TYPE_CHECKING:
    from rich.console import Console

    from scalkit.guidelines import Assessment, Guideline
    from scalkit.guidelines.predictions import Prediction

_WIDTH = 160


def show(
    found: Assessment,
    predictions: Sequence[Prediction],
    status: int,
    *,
    by: str | None = None,
    most: int = 20,
    written: Sequence[Path] = (),
    along: str | None = None,
) -> None:
    """Print an assessment to standard output, and where files were written; `along`: what predictions were asked for."""
    from rich.console import Console

    from scalkit.guidelines.remedies import remedies

    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    if len(found):
        _table(console, found, by)
    rows = found.violations.index.tolist()
    sentences = [
        f"{found.sentence(row)}{'' if found.columns['decides'][row] else ' (does not decide)'}" for row in rows[:most]
    ]
    _part(console, "Violations, those that decide first, then by size", sentences, len(rows) - most)
    advice = [one.sentence for one in remedies(found)]
    _part(console, "What to do", advice[:most], len(advice) - most)
    said = [one.sentence for one in predictions if one.is_violation]
    if predictions and not said:
        said = [f"No violation is predicted up to {predictions[0].parameter} = {predictions[0].highest:g}."]
    if along is not None and not predictions:
        said = [f"No setting has five values of {along} to fit a model to."]
    _part(console, "Predicted by models, not measured", said[:most], len(said) - most)
    _part(console, "To keep in mind", found.warnings)
    for path in written:
        console.print(printed(f"Written: {path}"))
    console.print(printed(f"{found.headline[:1].upper()}{found.headline[1:]}. Exit status {status}.", style="bold"))


def _table(console: Console, found: Assessment, by: str | None) -> None:
    from rich.table import Table

    cells = found.table(by)
    table = Table(
        caption="violated tests/tests (groups with a violation/groups)", caption_justify="left", title_justify="left"
    )
    table.add_column("Guideline")
    for head in cells.columns:
        table.add_column(printed(str(head)), justify="right")
    for name, row in cells.iterrows():
        shown = [printed(cell, style="" if cell.startswith("0/") else "red") for cell in row]
        table.add_row(printed(str(name)), *shown)
    console.print(table)


def _part(console: Console, title: str, lines: Iterable[str], more: int = 0) -> None:
    """Print a title and indented lines; nothing if there are none."""
    width = max(console.width - 4, 30)
    for number, line in enumerate(lines):
        if number == 0:
            console.print(printed(title, style="bold"))
        for k, part in enumerate(textwrap.wrap(line, width, break_long_words=False) or [""]):
            console.print(printed(f"{'  ' if k == 0 else '    '}{part}"), soft_wrap=True)
    if more > 0:
        console.print(printed(f"  and {more} more; --most shows them, --json has all"))


def show_catalogues(sets: Mapping[str, Sequence[Guideline]]) -> None:
    """Print sets of guidelines: name, relations and meaning."""
    width = min(shutil.get_terminal_size((120, 24)).columns, 120) if sys.stdout.isatty() else 120
    lines = []
    for name, those in sets.items():
        lines += [f"{name} ({counted(len(those), 'guideline')}), as in --guideline {name}", ""]
        families = dict.fromkeys(one.name for one in those)
        for family in families:
            mine = [one for one in those if one.name == family]
            lines.append(f"  {family}")
            lines += [f"      {one}" for one in mine]
            lines += textwrap.wrap(mine[0].meaning, width, initial_indent="      ", subsequent_indent="      ")
            lines.append("")
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")
